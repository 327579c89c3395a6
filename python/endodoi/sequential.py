"""Two players against each other until a sequential test decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from endodoi.faults import KINDS, faults_in, games_of
from endodoi.progress import Progress
from endodoi.sprt import Sprt
from endodoi.tournament import Chunk, counted_from
from endodoi.two_players import plan_of_two

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from endodoi._core import GameRecord, Ruleset
    from endodoi.faults import PlayedGame
    from endodoi.policies import PolicyFunction
    from endodoi.sprt import SprtResult
    from endodoi.tournament import OpeningsLike, Tournament

__all__ = ["sprt"]

#: The most games of a test.
MAX_GAMES = 10_000_000

#: Pairs that are played at once at first, and later at most.
FIRST_PAIRS, MOST_PAIRS = 32, 2048


def sprt(
    a: str | PolicyFunction,
    b: str | PolicyFunction,
    *,
    ruleset: Ruleset,
    elo0: float,
    elo1: float,
    alpha: float = 0.05,
    beta: float = 0.05,
    model: str = "logistic",
    max_games: int = 20_000,
    openings: OpeningsLike = 4,
    names: Sequence[str] | None = None,
    seed: int = 0,
    max_plies: int | None = None,
    seconds_per_move: float | None = None,
    num_threads: int | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> SprtResult:
    """Play two players against each other until it is known by how much `a` is stronger.

    Games are played in pairs, each opening from both sides, many at once, and tested after each
    pair in order: the decision does not depend on threads or on how many are played at once. A
    pair that repeats an earlier one, by the same moves from the same position after the opening, is
    no new evidence and is left out; `repeated` counts them. A player that raises, chooses an
    illegal column or is late loses that game; `faults` counts such games and says what went wrong
    first.

    Parameters
    ----------
    a, b : str or policy
        As the players of `tournament`.
    ruleset : Ruleset
        The rules of every game.
    elo0, elo1, alpha, beta, model
        As in `Sprt`.
    max_games : int
        Games after which the test ends without a decision, an even number of at most 10,000,000.
    openings : int, "balanced", path, or sequence of str or Position
        As in `tournament`: so many random plies, or a book of one position for every two games of
        `max_games`.
    names : sequence of str, optional
        The names of the two players; by default their specifications or those of the functions.
    seed, max_plies, seconds_per_move, num_threads, progress
        As in `tournament`.

    Returns
    -------
    result : SprtResult

    Raises
    ------
    SprtError, ArenaError
        If an argument is out of range.
    PolicyError
        If a player cannot be made or cannot play by the rules.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``result`` holds what the pairs before say.

    Examples
    --------
    >>> import endodoi as ed
    >>> six = ed.Ruleset(columns=6)
    >>> found = ed.arena.sprt("greedy", "random", ruleset=six, elo0=0, elo1=100)
    >>> found.accepted
    'H1'
    """
    test = Sprt(elo0, elo1, alpha=alpha, beta=beta, model=model)
    plan = plan_of_two(
        a,
        b,
        ruleset=ruleset,
        max_games=max_games,
        most=MAX_GAMES,
        seed=seed,
        openings=openings,
        names=names,
        max_plies=max_plies,
        seconds_per_move=seconds_per_move,
    )
    told = Evidence(test)
    pair, pairs = 0, plan.games // 2
    with Progress(plan.games, progress) as shown:
        tell = shown.tell
        while pair < pairs and not told.decided:
            # What is played beyond the decision is in vain: a quarter at most, after the start.
            last = min(pair + max(FIRST_PAIRS, min(pair // 4, MOST_PAIRS)), pairs)
            counting = counted_from(2 * pair, tell)
            try:
                games = plan.play(
                    [Chunk(0, 1, pair, last)], num_threads=num_threads, progress=counting
                )
            except BaseException as interruption:
                interruption.result = told.result(plan)  # type: ignore[attr-defined]
                raise
            told.add(plan, games_of(plan, games), pair)
            pair = last
    return told.result(plan)


class Evidence:
    """What the pairs so far say."""

    def __init__(self, test: Sprt) -> None:
        self.test = test
        self.counts = [0] * 5
        self.repeated = 0
        self.failed: list[PlayedGame] = []
        self.decided = False
        self.seen: set[tuple[object, ...]] = set()

    def add(self, plan: Tournament, games: Sequence[PlayedGame], pair: int) -> None:
        """Count pairs in order, from the one of this number up to the one that decides."""
        first = plan.names[0]
        fresh: list[int] = []
        counted: list[PlayedGame] = []
        # For each pair that is new, the repeated ones before it.
        repeated_before: list[int] = []
        repeated = self.repeated
        for number, two in enumerate(zip(games[::2], games[1::2], strict=True), start=pair):
            position, opening = plan.opening(number)
            for column in opening:
                position = position.play(column)
            game, other = (played.record for played in two)
            after = (tuple(record.moves[len(opening) :]) for record in (game, other))
            moves = (position.to_text(), *after)
            if moves in self.seen:
                repeated += 1
                continue
            self.seen.add(moves)
            fresh.append(half_points(game, first) + half_points(other, first))
            repeated_before.append(repeated)
            counted += two
        self.counts, played = self.test.decide(self.counts, fresh)
        ended = counted[: 2 * played]
        self.failed += [game for game in ended if game.record.end_reason in KINDS]
        self.decided = self.test.result(self.counts).accepted is not None
        self.repeated = repeated_before[played - 1] if self.decided else repeated

    def result(self, plan: Tournament) -> SprtResult:
        """Return the result with the settings of the games."""
        found = self.test.result(self.counts)
        settings = {**plan.settings, **found.settings}
        players = (plan.names[0], plan.names[1])
        return replace(
            found,
            players=players,
            repeated=self.repeated,
            faults=faults_in(players, self.failed),
            settings=settings,
        )


def half_points(record: GameRecord, name: str) -> int:
    """Return the half points of a player in a game: 2 won, 1 drawn or cut, 0 lost."""
    if record.outcome not in ("south", "north"):
        return 1
    return 2 * int(record.players[record.outcome == "north"] == name)
