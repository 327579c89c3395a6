"""Many games between two players on the machines of a Ray cluster."""

from __future__ import annotations

import re
import warnings
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import ray

from endodoi import _core
from endodoi.game_file import ROWS
from endodoi.numbers_given import check_range
from endodoi.progress import Progress
from endodoi.ray_cluster import RETRIES, check_version, finished_tasks, result_of, session
from endodoi.ray_parts import GameFolder, read_part, write_part
from endodoi.ray_players import Carried, carry, local_player, unpacked
from endodoi.simulation import GameTable, Plan, plain
from endodoi.summary import Summary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from endodoi._core import Ruleset
    from endodoi.policies import PolicyFunction

__all__ = ["play", "simulate", "warn_once", "warnings_caught"]

#: A simulation is split into so many parts, unless they were too small or too large.
PARTS = 1024

#: Games of the smallest and of the largest part: of two random players, which play a million games
#: in the time that others take for one, of players that hardly search, and of any others. A part is
#: in memory while it is played.
RANDOM_PART, QUICK_PART, OTHER_PART = (ROWS, 8 * ROWS), (1024, ROWS), (16, ROWS)

#: Players that hardly search.
QUICK = re.compile(r"random|greedy|alphabeta:[1-4]|agent:.*@none", re.DOTALL)

#: The most games of a simulation, as the core has it.
MAX_GAMES = 10**12

#: The most games of a part that may be asked for, and the most threads.
MOST_GAMES, MOST_THREADS = 64 * ROWS, 1024


@overload
def simulate(
    games: int,
    *,
    ruleset: Ruleset,
    south: str | PolicyFunction = ...,
    north: str | PolicyFunction = ...,
    seed: int = ...,
    num_threads: int | None = ...,
    random_opening_plies: int = ...,
    max_plies: int | None = ...,
    offers: bool = ...,
    sample: int | None = ...,
    first: int = ...,
    out: None = ...,
    progress: bool | str | Callable[[int], object] | None = ...,
    address: str | None = ...,
    games_per_task: int | None = ...,
) -> GameTable: ...
@overload
def simulate(
    games: int,
    *,
    ruleset: Ruleset,
    south: str | PolicyFunction = ...,
    north: str | PolicyFunction = ...,
    seed: int = ...,
    num_threads: int | None = ...,
    random_opening_plies: int = ...,
    max_plies: int | None = ...,
    offers: bool = ...,
    sample: int | None = ...,
    first: int = ...,
    out: str | os.PathLike[str],
    progress: bool | str | Callable[[int], object] | None = ...,
    address: str | None = ...,
    games_per_task: int | None = ...,
) -> Summary: ...
def simulate(
    games: int,
    *,
    ruleset: Ruleset,
    south: str | PolicyFunction = "random",
    north: str | PolicyFunction = "random",
    seed: int = 0,
    num_threads: int | None = None,
    random_opening_plies: int = 0,
    max_plies: int | None = None,
    offers: bool = False,
    sample: int | None = None,
    first: int = 0,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
    address: str | None = None,
    games_per_task: int | None = None,
) -> GameTable | Summary:
    """Play many games on a Ray cluster: the same games, and the same table, as `endodoi.simulate`.

    The games are split by their numbers into tasks. Game i depends on (seed, i) alone, so neither
    the cluster nor the split changes any; a task whose worker or machine dies is done again.

    Parameters
    ----------
    games, ruleset, seed, random_opening_plies, max_plies, offers, sample, first, progress
        As in `endodoi.simulate`. Progress counts the games of finished tasks.
    south, north : str or policy
        As in `endodoi.simulate`, or ``"FILE.py:NAME"``, a function in a file. The file of an agent
        and the text of such a file are sent to the workers, other functions are pickled: they
        travel with the code of their module, but not with other modules of yours. A function that
        remembers something remembers it in every worker apart.
    num_threads : int, optional
        Threads of a task, for which it takes as many processors of the cluster; by default 1.
    out : path, optional
        A folder for Parquet files, one a task, that the workers write: it must be the same folder
        on all machines. Together, by name, the files hold the rows that ``endodoi.simulate(...,
        out=)`` writes, and any of them the settings; `GameTable.read_parquet` and the libraries
        that read Parquet read the folder as one table. It has a temporary name, which ends in
        ``.partial``, until it is complete; the same call goes on with what an ended process left
        there.
    address : str, optional
        ``"auto"`` for the running cluster of this machine, ``"local"`` for a session of this
        machine alone, or a cluster's address. By default the Ray session of this process, else the
        cluster that ``RAY_ADDRESS`` names, else ``"local"``.
    games_per_task : int, optional
        Games of a task, 1 to 8,388,608; by default a 1,024th of the games, but 131,072 to
        1,048,576 between two random players, 1,024 to 131,072 between players that hardly search,
        and 16 to 131,072 between others.

    Returns
    -------
    GameTable or Summary
        With `out` the summary of the games.

    Raises
    ------
    SimulationError, PolicyError, AgentError, MissingExtraError, OSError
        As `endodoi.simulate`; PolicyError also if a player cannot be sent to the workers.
    ClusterError
        If the cluster cannot be reached, a task's workers die again and again, a machine has
        another version of the package, or a machine writes to another folder.
    KeyboardInterrupt
        On Ctrl-C. Tasks under way are cancelled; the attributes are those of `endodoi.simulate`,
        of the finished tasks up to the first unfinished one.

    Examples
    --------
    >>> import endodoi as ed
    >>> here = ed.simulate(1000, ruleset=ed.Ruleset(columns=6), seed=1)
    >>> there = ed.ray.simulate(1000, ruleset=ed.Ruleset(columns=6), seed=1)  # doctest: +SKIP
    >>> here == there  # doctest: +SKIP
    True
    """
    result: GameTable | Summary = play(
        games,
        ruleset,
        (south, north),
        keep="table" if out is None else "files",
        out=out,
        address=address,
        games_per_task=games_per_task,
        offers=offers,
        progress=progress,
        num_threads=num_threads,
        seed=seed,
        first=first,
        random_opening_plies=random_opening_plies,
        max_plies=max_plies,
        sample=sample,
    )
    return result


def play(
    games: int,
    ruleset: Ruleset,
    players: tuple[str | PolicyFunction, str | PolicyFunction],
    *,
    keep: str,
    out: str | os.PathLike[str] | None,
    address: str | None,
    games_per_task: int | None,
    offers: bool,
    progress: bool | str | Callable[[int], object] | None,
    num_threads: int | None,
    **numbers: int | None,
) -> Any:
    """Play games on a cluster and return their table, or their summary.

    Parameters
    ----------
    keep : {"table", "files", "counts"}
        What becomes of the games: a table, files in `out`, or the summary alone.
    """
    carried = (carry(players[0], "south"), carry(players[1], "north"))
    local = (local_player(carried[0], players[0]), local_player(carried[1], players[1]))
    plan = Plan(games, ruleset, local, progress=progress, num_threads=num_threads, **numbers)
    plan.settings.update(south=carried[0].name, north=carried[1].name)
    empty = check(plan, offers=offers)
    part = part_size(plan, games_per_task)
    folder = None if out is None else GameFolder(out, plan.settings, offers=offers)
    job = Job.of(plan, carried, offers=offers, part=part, table=keep == "table", folder=folder)
    collected = Collected(job, plan, empty)
    try:
        with session(address), Progress(job.games, progress) as shown:
            collected.collect(shown.function, folder)
    except BaseException as interruption:
        collected.keep(interruption, folder)
        raise
    finally:
        if folder is not None:
            folder.release()
    return collected.result()


def check(plan: Plan, *, offers: bool) -> _core.GameTable:
    """Let the core refuse what it refuses before anything is started; return an empty table."""
    games = plain(plan.games)
    countable = isinstance(games, int) and not isinstance(games, bool) and 0 <= games <= MAX_GAMES
    arguments = {**plan.arguments, "games": 0 if countable else plan.games}
    table: _core.GameTable = _core.simulate(**arguments, offers=offers, progress=None)[0]
    return table


def part_size(plan: Plan, games_per_task: int | None) -> int:
    """Return the games of a task.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the number asked for is none, or out of range.
    """
    if games_per_task is not None:
        return check_range(games_per_task, "games_per_task", 1, MOST_GAMES)
    players = [plan.settings[side] for side in ("south", "north")]
    quick = all(QUICK.fullmatch(player) for player in players)
    least, most = RANDOM_PART if plan.is_random else QUICK_PART if quick else OTHER_PART
    return min(max(-(-plan.games // PARTS), least), most)


@dataclass(frozen=True)
class Job:
    """A simulation as workers are told of it.

    Attributes
    ----------
    games, first, sample, part : int
        Games in all, the number of the first one, how many are followed, and games of a task.
    arguments : dict
        Those of the core that all tasks share.
    table : bool
        Whether the games are sent back.
    folder : str or None
        Where the games are written.
    """

    version: str
    games: int
    first: int
    sample: int
    part: int
    players: tuple[Carried, Carried]
    arguments: dict[str, Any]
    settings: dict[str, Any]
    offers: bool
    follow: bool
    table: bool
    folder: str | None

    @classmethod
    def of(
        cls,
        plan: Plan,
        players: tuple[Carried, Carried],
        *,
        offers: bool,
        part: int,
        table: bool,
        folder: GameFolder | None,
    ) -> Job:
        """Describe a simulation to workers."""
        shared = dict(plan.arguments)
        for name in ("south", "north", "games"):
            del shared[name]
        first, sample, threads = shared.pop("first"), shared.pop("sample"), shared["num_threads"]
        shared["num_threads"] = check_range(
            1 if threads is None else threads, "num_threads", 1, MOST_THREADS
        )
        ruleset = plan.arguments["ruleset"]
        return cls(
            version=_core.__version__,
            games=int(plan.games),
            first=int(first),
            sample=_core.sample_size(ruleset) if sample is None else int(sample),
            part=part,
            players=players,
            arguments=shared,
            settings=plan.settings,
            offers=offers,
            # A table of random games in memory is followed when its summary is asked for.
            follow=not (table and plan.is_random),
            table=table,
            folder=None if folder is None else folder.partial,
        )

    @property
    def tasks(self) -> int:
        """Tasks in all."""
        return -(-self.games // self.part)

    def rows(self, task: int) -> tuple[int, int]:
        """Return the first game of a task, from 0, and the first of the next one."""
        start = task * self.part
        return start, min(start + self.part, self.games)


@dataclass(frozen=True)
class Part:
    """What a worker sends back: counts, warnings, and the games if they are wanted."""

    counts: _core.Statistics
    warned: tuple[str, ...]
    columns: dict[str, npt.NDArray[Any]] | None


def play_part(job: Job, task: int) -> Part:
    """Play the games of a task; runs on a worker."""
    check_version(job.version)
    start, end = job.rows(task)
    sample = min(max(job.sample - start, 0), end - start)
    if job.folder is not None and not sample and not job.offers:
        written = read_part(job.folder, start, end - start, job.settings)
        if written is not None:
            return Part(written.statistics(), (), None)
    with warnings_caught() as warned:
        south, north = (unpacked(player) for player in job.players)
        played: tuple[_core.GameTable, BaseException | None] = _core.simulate(
            end - start,
            south=south,
            north=north,
            first=job.first + start,
            sample=sample,
            offers=job.offers,
            follow=job.follow,
            progress=None,
            **job.arguments,
        )
    table, interruption = played
    if interruption is not None:
        raise interruption
    if job.folder is not None:
        write_part(job.folder, start, table, job.settings, offers=job.offers)
    return Part(table.statistics(), tuple(warned), table.to_numpy() if job.table else None)


@contextmanager
def warnings_caught() -> Iterator[list[str]]:
    """Collect what is warned of while the block runs."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    texts.extend(str(warning.message) for warning in caught if warning.category is RuntimeWarning)


def warn_once(texts: tuple[str, ...], before: set[str]) -> None:
    """Warn of what workers warned of, of each player's failures once."""
    for text in texts:
        player = text.partition(";")[0]
        if player not in before:
            before.add(player)
            warnings.warn(text, RuntimeWarning, stacklevel=2)


class Collected:
    """The games of the tasks finished, in game order up to the first unfinished one."""

    def __init__(self, job: Job, plan: Plan, empty: _core.GameTable) -> None:
        self.job = job
        self.plan = plan
        self.counts = _core.Statistics()
        #: Counts of tasks that finished before an earlier one.
        self.early: dict[int, _core.Statistics] = {}
        self.done = 0
        self.warned: set[str] = set()
        #: What a progress function raised.
        self.refused: BaseException | None = None
        self.columns: dict[str, npt.NDArray[Any]] = {}
        if job.table:
            kinds = {name: column.dtype for name, column in empty.to_numpy().items()}
            if job.offers and job.games:
                kinds["offers"] = np.dtype(np.int32)
            self.columns = {name: np.empty(job.games, kind) for name, kind in kinds.items()}

    @property
    def games(self) -> int:
        """Games up to the first unfinished task."""
        return min(self.done * self.job.part, self.job.games)

    def collect(self, told: Callable[[int], object] | None, folder: GameFolder | None) -> None:
        """Let the cluster play and take in what it sends."""
        threads = self.job.arguments["num_threads"]
        if folder is not None:
            folder.begin([self.job.rows(task)[0] for task in range(self.job.tasks)])
        worker = ray.remote(num_cpus=threads, max_retries=RETRIES)(play_part)
        shared = ray.put(self.job)
        finished = 0
        tasks = finished_tasks(lambda task: worker.remote(shared, task), self.job.tasks, threads)
        with closing(tasks):
            for number, task in tasks:
                start, end = self.job.rows(number)
                what = f"games {self.job.first + start} to {self.job.first + end - 1}"
                self.take(number, result_of(task, what))
                if folder is not None:
                    folder.check(start)
                finished += end - start
                self.tell(told, finished)
        if folder is not None:
            folder.complete()

    def tell(self, told: Callable[[int], object] | None, games: int) -> None:
        """Say how many games are finished; what the function raises interrupts the simulation."""
        try:
            if told is not None:
                told(games)
        except BaseException as error:
            self.refused = error
            raise

    def take(self, task: int, part: Part) -> None:
        """Take in a finished task."""
        start, end = self.job.rows(task)
        for name, column in (part.columns or {}).items():
            self.columns[name][start:end] = column
        self.early[task] = part.counts
        while self.done in self.early:
            self.counts.add(self.early.pop(self.done))
            self.done += 1
        warn_once(part.warned, self.warned)

    def result(self) -> GameTable | Summary:
        """Return the games finished, or what they say together."""
        if not self.job.table:
            return Summary.of(self.counts.summary(), self.plan.settings)
        columns = {name: column[: self.games] for name, column in self.columns.items()}
        # Random games are followed when their summary is asked for.
        detail = None if self.plan.is_random and not self.job.offers else self.counts.detail
        core = _core.GameTable.from_numpy(columns, detail)
        return GameTable(core, self.plan.settings, plan=self.plan)

    def keep(self, interruption: BaseException, folder: GameFolder | None) -> None:
        """Give what is finished to an interruption; what a task raised is no interruption."""
        if not isinstance(interruption, KeyboardInterrupt) and interruption is not self.refused:
            return
        if folder is not None:
            folder.keep(self.games)
        name = "table" if self.job.table else "summary"
        setattr(interruption, name, self.result())
