"""The benchmark suite on the machines of a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi.benchmark import Place, file_digests, play_suite, read_player
from endodoi.benchmark_exam import ask, sum_up
from endodoi.committee import Committee
from endodoi.numbers_given import check_range
from endodoi.ray_arena import (
    MOST_PAIRS,
    MOST_POSITIONS,
    Match,
    pairs_of_task,
    parts_of_exam,
    spans_of,
    threads_of_task,
    told_of,
)
from endodoi.ray_cluster import check_version, session
from endodoi.ray_players import Carried, CarriedFile, carry, unpacked
from endodoi.ray_simulation import warnings_caught

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from endodoi._core import Ruleset
    from endodoi.benchmark_suite import Part, Question
    from endodoi.policies import PolicyFunction
    from endodoi.report_card import CardRegret, ReportCard
    from endodoi.standings import Standings
    from endodoi.tournament import Tournament

__all__ = ["benchmark"]


def benchmark(
    player: str | PolicyFunction,
    *,
    parts: str | Sequence[str] | None = None,
    scale: str = "full",
    name: str | None = None,
    num_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
    address: str | None = None,
    pairs_per_task: int | None = None,
    positions_per_task: int | None = None,
) -> ReportCard:
    """Measure a player by the suite on a Ray cluster: the card of `endodoi.arena.benchmark`.

    The boards are played one after the other. The games of a board are split by opponent and
    opening into tasks as those of `endodoi.ray.tournament`, then its positions as those of
    `endodoi.ray.regret`.

    Parameters
    ----------
    player
        As in `endodoi.arena.benchmark`, or ``"FILE.py:NAME"``, a function in a file. It travels as
        in `endodoi.ray.simulate`.
    parts, scale, name, progress
        As in `endodoi.arena.benchmark`.
    num_threads : int, optional
        Threads of a task, for which it takes as many processors of the cluster; by default 1.
    out : path, optional
        As in `endodoi.arena.benchmark`: a folder of this machine, which goes on where it stopped,
        here or on a cluster.
    address : str, optional
        As in `endodoi.ray.simulate`.
    pairs_per_task, positions_per_task : int, optional
        As in `endodoi.ray.tournament` and `endodoi.ray.regret`. A committee that has functions
        among its members is asked for all positions in one task, because it draws by calls.

    Returns
    -------
    card : ReportCard

    Raises
    ------
    PolicyError, ArenaError, OSError
        As `endodoi.arena.benchmark`; PolicyError also if the player cannot be sent to the workers.
    ClusterError
        As `endodoi.ray.simulate`.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``card`` holds the boards finished before.

    Examples
    --------
    >>> card = ed.ray.benchmark("greedy", parts=["2x6"], scale="small")  # doctest: +SKIP
    """
    sent = carry(player, "player")
    if isinstance(sent, CarriedFile):
        read, shown = read_player(sent.unpack(), sent.name if name is None else name)
    else:
        read, shown = read_player(player, name)
        sent = carry(read, "player")
    if pairs_per_task is not None:
        check_range(pairs_per_task, "pairs_per_task", 1, MOST_PAIRS)
    if positions_per_task is not None:
        check_range(positions_per_task, "positions_per_task", 1, MOST_POSITIONS)
    place = ClusterPlace(
        read,
        sent,
        threads_of_task(num_threads),
        address=address,
        pairs=pairs_per_task,
        positions=positions_per_task,
    )
    place.digests.update(file_digests(player))
    return play_suite(place, shown, parts=parts, scale=scale, out=out, progress=progress)


class ClusterPlace(Place):
    """A cluster on which a benchmark is played.

    Parameters
    ----------
    player : str or policy
        The player as the core takes it.
    sent : Carried
        The same, ready to be sent.
    threads : int
        Threads of a task.
    address : str or None
        Where the cluster is.
    pairs, positions : int or None
        How much a task is.
    """

    def __init__(
        self,
        player: str | PolicyFunction,
        sent: Carried,
        threads: int,
        *,
        address: str | None,
        pairs: int | None,
        positions: int | None,
    ) -> None:
        super().__init__(player, threads)
        self.sent = sent
        self.threads = threads
        self.address = address
        self.pairs = pairs
        self.positions = positions

    def ready(self) -> AbstractContextManager[None]:
        """Return the session of all tasks."""
        return session(self.address)

    def play(self, plan: Tournament, tell: Callable[[int], object]) -> Standings:
        """Play the games of a board as tasks."""
        _, *opponents = zip(plan.names, plan._players, strict=True)  # noqa: SLF001
        carried = {plan.names[0]: self.sent}
        carried.update({name: carry(opponent, name) for name, opponent in opponents})
        pairs = pairs_of_task(plan, self.pairs)
        # The session is there already.
        return Match(plan, told_of(plan, carried), pairs, self.threads).play(None, tell, None)

    def examine(self, questions: Sequence[Question], part: Part, seed: int) -> CardRegret:
        """Let the player choose in the positions of a board as tasks."""
        spans = spans_of(len(questions), self.positions)
        if isinstance(self.player, Committee):
            spans = [(0, len(questions))]
        told = (_core.__version__, self.sent, questions, part.ruleset, seed)
        found = dict(parts_of_exam(ask_some, told, spans, self.threads))
        answers = [found[place] for place in range(len(spans))]
        columns = [column for chosen, _ in answers for column in chosen]
        failures = [failure for _, failed in answers for failure in failed]
        return sum_up(questions, part.ruleset, columns, failures)


def ask_some(
    told: tuple[str, Carried, Sequence[Question], Ruleset, int], places: tuple[int, int]
) -> tuple[Any, tuple[str, ...]]:
    """Let a player choose in some positions; runs on a worker."""
    version, sent, questions, ruleset, seed = told
    check_version(version)
    with warnings_caught() as warned:
        answers = ask(unpacked(sent), questions, ruleset, seed, places)
    return answers, tuple(warned)
