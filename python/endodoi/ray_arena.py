"""Tournaments and regret on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import ray

from endodoi import _core
from endodoi.core_policy import contestant
from endodoi.numbers_given import check_range
from endodoi.player_files import called
from endodoi.progress import Progress
from endodoi.ray_cluster import RETRIES, check_version, finished_tasks, result_of, session
from endodoi.ray_players import Carried, carry, local_player, unpacked
from endodoi.ray_simulation import warn_once, warnings_caught
from endodoi.regret import Exam
from endodoi.settings import check_ruleset
from endodoi.solver import open_table
from endodoi.tournament import Chunk, Rest, Tournament
from endodoi.tournament_folder import Folder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Sequence

    from endodoi._core import Games, Ruleset
    from endodoi.policies import PolicyFunction
    from endodoi.regret import Regret
    from endodoi.solver import TableLike
    from endodoi.standings import Standings
    from endodoi.tournament import OpeningsLike, Players

__all__ = [
    "Match",
    "pairs_of_task",
    "parts_of_exam",
    "regret",
    "regrets",
    "spans_of",
    "threads_of_task",
    "told_of",
    "tournament",
]

#: Chunks and parts of an exam are so many, unless they were too small.
PARTS = 1024

#: Pairs of games of a chunk by default, and positions of a part, at least: a worker builds a table
#: for the solver first.
LEAST_PAIRS, LEAST_POSITIONS = 8, 50

#: The most pairs, positions and threads of a task that may be asked for.
MOST_PAIRS, MOST_POSITIONS, MOST_THREADS = 1 << 12, 1_000_000, 1024


def tournament(
    players: Players,
    *,
    ruleset: Ruleset,
    games: int,
    seed: int = 0,
    openings: OpeningsLike = 4,
    gauntlet: int | None = None,
    max_plies: int | None = None,
    seconds_per_move: float | None = None,
    num_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
    address: str | None = None,
    pairs_per_task: int | None = None,
) -> Standings:
    """Let players meet on a Ray cluster: the standings are those of `endodoi.arena.tournament`.

    The schedule is split by pairing and opening into tasks. Which games a task plays decides
    nothing about them, as long as a player's choice depends on what it is shown alone.

    Parameters
    ----------
    players
        As in `endodoi.arena.tournament`, or ``"FILE.py:NAME"``, a function in a file. They travel
        as in `endodoi.ray.simulate`.
    ruleset, games, seed, openings, gauntlet, max_plies, seconds_per_move, progress
        As in `endodoi.arena.tournament`. Time for a move is measured on the worker: give each task
        a processor of its own.
    num_threads : int, optional
        Threads of a task, for which it takes as many processors of the cluster; by default 1.
    out : path, optional
        As in `endodoi.arena.tournament`: a folder of this machine, which goes on where it stopped,
        here or on a cluster.
    address : str, optional
        As in `endodoi.ray.simulate`.
    pairs_per_task : int, optional
        Pairs of games of a task, 1 to 4,096; by default a 1,024th of all, at least 8.

    Returns
    -------
    standings : Standings

    Raises
    ------
    ArenaError, BookError, PolicyError, OSError
        As `endodoi.arena.tournament`; PolicyError also if a player cannot be sent to the workers.
    ClusterError
        As `endodoi.ray.simulate`.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``standings`` holds those of the tasks finished before.

    Examples
    --------
    >>> six = ed.Ruleset(columns=6)  # doctest: +SKIP
    >>> ed.ray.tournament(["greedy", "alphabeta:4"], ruleset=six, games=400)  # doctest: +SKIP
    """
    carried, local = carried_players(players)
    plan = Tournament(
        local,
        ruleset=ruleset,
        games=games,
        seed=seed,
        openings=openings,
        gauntlet=gauntlet,
        max_plies=max_plies,
        seconds_per_move=seconds_per_move,
    )
    threads = threads_of_task(num_threads)
    match = Match(plan, told_of(plan, carried), pairs_of_task(plan, pairs_per_task), threads)
    with Progress(plan.games * len(plan.pairings), progress) as shown:
        tell = shown.tell
        if out is None:
            return match.play(None, tell, address)
        with Folder(out, plan.settings) as folder:
            standings = match.play(folder, tell, address)
            folder.write_results(standings)
            return standings


def carried_players(players: Players) -> tuple[dict[str, Carried] | list[Carried], Any]:
    """Return players ready to be sent, and as they play in this process."""
    if isinstance(players, Mapping):
        carried = {name: carry(player, f"players[{name!r}]") for name, player in players.items()}
        return carried, {name: local_player(carried[name], players[name]) for name in players}
    if not isinstance(players, (list, tuple)):
        # `Tournament` refuses it with its reason.
        return [], players
    listed = [carry(player, f"players[{place}]") for place, player in enumerate(players)]
    return listed, [local_player(sent, given) for sent, given in zip(listed, players, strict=True)]


def told_of(
    plan: Tournament, carried: dict[str, Carried] | list[Carried]
) -> tuple[str, dict[str, Any], Any]:
    """Return what a worker is told of a tournament."""
    arguments = {**plan._arguments, "openings": plan._openings}  # noqa: SLF001
    del arguments["players"]
    return _core.__version__, arguments, carried


def threads_of_task(num_threads: int | None) -> int:
    """Return the threads of a task.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no whole number, or out of range.
    """
    return check_range(1 if num_threads is None else num_threads, "num_threads", 1, MOST_THREADS)


def pairs_of_task(plan: Tournament, given: int | None) -> int:
    """Return the pairs of games of a task.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `threads_of_task`.
    """
    if given is not None:
        return check_range(given, "pairs_per_task", 1, MOST_PAIRS)
    return max(-(-plan.games * len(plan.pairings) // (2 * PARTS)), LEAST_PAIRS)


def spans_of(positions: int, given: int | None) -> list[tuple[int, int]]:
    """Return the first and the last place, which is not in it, of each task of an exam.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `threads_of_task`.
    """
    part = max(-(-positions // PARTS), LEAST_POSITIONS)
    if given is not None:
        part = check_range(given, "positions_per_task", 1, MOST_POSITIONS)
    return [(first, min(first + part, positions)) for first in range(0, positions, part)]


class Match:
    """A tournament on its way to a cluster and back."""

    def __init__(
        self, plan: Tournament, told: tuple[str, dict[str, Any], Any], pairs: int, threads: int
    ) -> None:
        self.plan = plan
        self.told = told
        self.pairs = pairs
        self.threads = threads
        self.parts: list[Games] = []

    def play(
        self, folder: Folder | None, tell: Callable[[int], object], address: str | None
    ) -> Standings:
        """Play what a folder does not hold yet and return the standings."""
        done: list[tuple[int, int, int, int]] = []
        if folder is not None:
            self.parts, done = folder.read(self.plan)
        try:
            rest = Rest(self.plan.pairings, self.plan.games // 2, done)
            chunks: list[Chunk] = []
            while some := rest.take(self.pairs):
                chunks += some
            with session(address):
                self.collect(chunks, folder, tell)
        except BaseException as interruption:
            interruption.standings = self.plan.standings(self.parts)  # type: ignore[attr-defined]
            raise
        return self.plan.standings(self.parts)

    def collect(
        self, chunks: list[Chunk], folder: Folder | None, tell: Callable[[int], object]
    ) -> None:
        """Let the cluster play chunks and take in their games."""
        worker = ray.remote(num_cpus=self.threads, max_retries=RETRIES)(play_chunk)
        shared = ray.put(self.told)
        finished = sum(map(len, self.parts))
        warned: set[str] = set()
        tasks = finished_tasks(
            lambda place: worker.remote(shared, chunks[place], self.threads),
            len(chunks),
            self.threads,
        )
        with closing(tasks):
            for place, task in tasks:
                chunk = chunks[place]
                what = f"pairs {chunk.first} to {chunk.last - 1} of players {chunk.a}, {chunk.b}"
                games, texts = result_of(task, what)
                warn_once(texts, warned)
                if folder is not None:
                    folder.write([chunk], self.plan, games)
                self.parts.append(games)
                finished += len(games)
                tell(finished)


def play_chunk(
    told: tuple[str, dict[str, Any], Any], chunk: Chunk, threads: int
) -> tuple[Games, tuple[str, ...]]:
    """Play a chunk; runs on a worker."""
    version, arguments, carried = told
    check_version(version)
    with warnings_caught() as warned:
        if isinstance(carried, dict):
            players: Any = {name: unpacked(player) for name, player in carried.items()}
        else:
            players = [unpacked(player) for player in carried]
        games = Tournament(players, **arguments).play([chunk], num_threads=threads)
    return games, tuple(warned)


def regret(
    policy: str | PolicyFunction,
    *,
    ruleset: Ruleset,
    positions: int = 500,
    seed: int = 0,
    reference: str | None = None,
    seconds: float | None = None,
    table: TableLike | None = None,
    num_threads: int | None = None,
    memory: int | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
    address: str | None = None,
    positions_per_task: int | None = None,
) -> Regret:
    """Measure on a Ray cluster what a player's moves lose: as `endodoi.arena.regret`.

    The positions are split into tasks, which value their moves and let the player choose. The
    result is that of one machine, unless the solver leaves positions to a search after `seconds`.

    Parameters
    ----------
    policy
        As in `endodoi.arena.regret`, or ``"FILE.py:NAME"``, a function in a file. It travels as in
        `endodoi.ray.simulate`.
    ruleset, positions, seed, reference, seconds, progress
        As in `endodoi.arena.regret`.
    table : path, optional
        The file of an endgame table for the solver, at the same place on all machines; without it
        each task builds a small one.
    num_threads : int, optional
        Threads of a task, for which it takes as many processors of the cluster; by default 1.
    memory : int, optional
        Bytes of the solver's memory of positions, of each task.
    address : str, optional
        As in `endodoi.ray.simulate`.
    positions_per_task : int, optional
        Positions of a task; by default a 1,024th of all, at least 50.

    Returns
    -------
    regret : Regret

    Raises
    ------
    RegretError, PolicyError, SolveError, TableError
        As `endodoi.arena.regret`; PolicyError also if the player cannot be sent to the workers.
    ClusterError
        As `endodoi.ray.simulate`.
    """
    (found,) = regrets(
        [policy],
        ruleset=ruleset,
        positions=positions,
        seed=seed,
        reference=reference,
        seconds=seconds,
        table=table,
        num_threads=num_threads,
        memory=memory,
        progress=progress,
        address=address,
        positions_per_task=positions_per_task,
    )
    return found


def regrets(
    policies: Sequence[str | PolicyFunction],
    *,
    ruleset: Ruleset,
    positions: int,
    num_threads: int | None,
    progress: bool | str | Callable[[int], object] | None,
    address: str | None,
    positions_per_task: int | None = None,
    **options: Any,
) -> list[Regret]:
    """Measure what the moves of several players lose in the same positions: as `regret`."""
    check_ruleset(ruleset)
    carried = [carry(policy, "policy") for policy in policies]
    threads = threads_of_task(num_threads)
    check_range(positions, "positions", 1, MOST_POSITIONS)
    spans = spans_of(int(positions), positions_per_task)
    options = {**options, "ruleset": ruleset, "positions": int(positions), "num_threads": threads}
    found: dict[int, tuple[_core.Exam, list[list[int]]]] = {}
    with session(address), Progress(positions, progress, unit="position") as shown:
        told = (_core.__version__, options, carried)
        done = 0
        with closing(parts_of_exam(examine, told, spans, threads)) as results:
            for place, result in results:
                found[place] = result
                done += spans[place][1] - spans[place][0]
                if shown.function is not None:
                    shown.function(done)
    parts = [found[place] for place in range(len(spans))]
    core = _core.Exam.join([exam for exam, _ in parts])
    whole = Exam._of(core, ruleset, positions, options["seed"])  # noqa: SLF001
    summed = []
    for place, (sent, policy) in enumerate(zip(carried, policies, strict=True)):
        columns = [column for _, chosen in parts for column in chosen[place]]
        player = called(sent.name, contestant(local_player(sent, policy), "policy"))
        summed.append(whole._sum_up(player, columns))  # noqa: SLF001
    return summed


def parts_of_exam(
    work: Callable[..., tuple[Any, tuple[str, ...]]],
    told: object,
    spans: list[tuple[int, int]],
    threads: int,
) -> Generator[tuple[int, Any]]:
    """Let workers do the parts of an exam and yield number and result of each as it is done."""
    worker = ray.remote(num_cpus=threads, max_retries=RETRIES)(work)
    shared = ray.put(told)
    warned: set[str] = set()
    tasks = finished_tasks(lambda place: worker.remote(shared, spans[place]), len(spans), threads)
    with closing(tasks):
        for place, task in tasks:
            first, last = spans[place]
            result, texts = result_of(task, f"positions {first} to {last - 1}")
            warn_once(texts, warned)
            yield place, result


def examine(
    told: tuple[str, dict[str, Any], list[Carried]], places: tuple[int, int]
) -> tuple[tuple[_core.Exam, list[list[int]]], tuple[str, ...]]:
    """Value some positions of an exam and let players choose in them; runs on a worker."""
    version, options, carried = told
    check_version(version)
    with warnings_caught() as warned:
        table = open_table(options["table"], options["ruleset"])
        exam = _core.Exam(**{**options, "table": table}, places=places)
        graded = [exam.grade(unpacked(player)) for player in carried]
    columns = [[answer[0] for answer in answers] for _, _, answers in graded]
    return (exam, columns), tuple(warned)
