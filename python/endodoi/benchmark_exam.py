"""The exam of a benchmark: a player chooses in positions whose moves are valued already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from endodoi._core import Player, Position
from endodoi.committee import Committee
from endodoi.estimates import mean_of, share_of
from endodoi.regret import RegretPart
from endodoi.report_card import CardRegret

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from endodoi._core import Ruleset
    from endodoi.benchmark_suite import Question
    from endodoi.policies import PolicyFunction


__all__ = ["ask", "examine", "sum_up"]


class Answer(NamedTuple):
    """What a choice loses, and in which part of the game."""

    lost: int
    changes_outcome: bool
    phase: str


def examine(
    player: str | PolicyFunction, questions: Sequence[Question], ruleset: Ruleset, seed: int
) -> CardRegret:
    """Let a player choose in every position and sum up what its moves lose.

    A choice that is illegal, or fails, counts as the move that loses most.

    Parameters
    ----------
    player : str or policy
    questions : sequence of Question
        One at least.
    ruleset : Ruleset
    seed : int
        Seed of a player of the package that draws.

    Raises
    ------
    PolicyError
        If a player of the package cannot play by the rules.
    """
    columns, failures = ask(player, questions, ruleset, seed, (0, len(questions)))
    return sum_up(questions, ruleset, columns, failures)


def ask(
    player: str | PolicyFunction,
    questions: Sequence[Question],
    ruleset: Ruleset,
    seed: int,
    places: tuple[int, int],
) -> tuple[list[int | None], list[str]]:
    """Let a player choose in the positions of some places.

    A player of the package chooses there as among all positions.

    Returns
    -------
    columns : list of int or None
        The columns chosen, None where the player fails.
    failures : list of str
        What went wrong.

    Raises
    ------
    PolicyError
        If a player of the package cannot play by the rules.
    """
    first, last = places
    if not isinstance(player, str):
        positions = positions_of(questions[first:last], ruleset)
        return choices(with_rules(player, ruleset, seed), positions)
    observations, masks = shown(positions_of(questions, ruleset))
    # What a player draws depends on the place: those that are not asked for count as finished.
    masks[:first] = 0
    masks[last:] = 0
    columns = Player(player).choose(observations, masks, ruleset, seed, 0)[first:last]
    return columns.tolist(), []


def sum_up(
    questions: Sequence[Question],
    ruleset: Ruleset,
    columns: Sequence[int | None],
    failures: Sequence[str],
) -> CardRegret:
    """Sum up what a player chose in all positions, as `ask` returns it."""
    answers, told, illegal = [], list(failures), 0
    positions = positions_of(questions, ruleset)
    for asked, position, column in zip(questions, positions, columns, strict=True):
        if column is not None and column not in asked.margins:
            illegal += 1
            legal = ", ".join(map(str, asked.margins))
            told.append(f"column is {column}, expected one of {legal}")
        answers.append(answer(asked, position, column))
    parts = {
        phase: part_of([one for one in answers if phase in ("all", one.phase)])
        for phase in ("all", "opening", "middle", "endgame")
    }
    error = sum(column is None for column in columns)
    return CardRegret(**parts, illegal=illegal, error=error, failure=next(iter(told), None))


def positions_of(questions: Sequence[Question], ruleset: Ruleset) -> list[Position]:
    """Return the positions of questions."""
    return [Position.from_text(asked.position, ruleset) for asked in questions]


def with_rules(policy: PolicyFunction, ruleset: Ruleset, seed: int) -> PolicyFunction:
    """Return a committee that knows the rules which its members play by, else what is given."""
    if not isinstance(policy, Committee):
        return policy
    members, weights = policy._members, policy._weights  # noqa: SLF001
    return Committee(members, weights, ruleset=ruleset, seed=seed)


def shown(positions: Sequence[Position]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
    """Return the observations and masks that a player is shown."""
    observations = np.stack([position.observation() for position in positions])
    masks = np.zeros((len(positions), positions[0].ruleset.columns), np.int8)
    for row, position in enumerate(positions):
        masks[row, position.legal_moves()] = 1
    return observations, masks


def choices(
    policy: PolicyFunction, positions: Sequence[Position]
) -> tuple[list[int | None], list[str]]:
    """Return the columns that a function chooses, None where it fails, and what went wrong.

    It is asked for all positions at once; if that fails, for each alone.
    """
    try:
        return read_columns(policy(*shown(positions)), len(positions)), []
    except (Exception, SystemExit) as error:  # noqa: BLE001
        if len(positions) == 1:
            return [None], [f"{type(error).__name__}: {error}"]
    columns, failures = [], []
    for position in positions:
        column, failure = choices(policy, [position])
        columns += column
        failures += failure
    return columns, failures


def read_columns(answer: Any, rows: int) -> list[int | None]:
    """Return what a function chose as columns.

    Raises
    ------
    TypeError
        If it is not one whole number for each row.
    """
    chosen = np.asarray(answer)
    if chosen.shape != (rows,) or chosen.dtype.kind not in "iu":
        raise TypeError(
            f"actions are {chosen.dtype}{list(chosen.shape)}, expected whole numbers [{rows}]"
        )
    columns: list[int | None] = chosen.tolist()
    return columns


def answer(asked: Question, position: Position, column: int | None) -> Answer:
    """Return what a choice loses."""
    best = max(asked.margins.values())
    margin = min(asked.margins.values())
    if column is not None:
        margin = asked.margins.get(column, margin)
    left = int(position.board.sum())
    thirds = 3 * left / (left + sum(position.captured))
    phase = "opening" if thirds > 2 else "middle" if thirds > 1 else "endgame"  # noqa: PLR2004
    return Answer(best - margin, winner(best) != winner(margin), phase)


def winner(margin: int) -> int:
    """Return 1 for a game that is won, -1 for one that is lost, 0 for a draw."""
    return (margin > 0) - (margin < 0)


def part_of(answers: Sequence[Answer]) -> RegretPart:
    """Sum up answers."""
    count = len(answers)
    return RegretPart(
        positions=count,
        optimal=share_of(sum(one.lost == 0 for one in answers), count),
        outcome_changing=share_of(sum(one.changes_outcome for one in answers), count),
        seeds_lost=mean_of([one.lost for one in answers]),
    )
