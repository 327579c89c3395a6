"""Games that players lost by their own fault, in matches and tests."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from endodoi.wording import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from endodoi._core import GameRecord, Games
    from endodoi.tournament import Tournament

__all__ = ["PlayedGame", "PlayerFaults", "faults_in", "faults_text", "games_of"]

#: The ways to lose a game without the rules, in the order they are told.
KINDS = ("illegal", "error", "late")


class PlayedGame(NamedTuple):
    """A game and what went wrong in it.

    Attributes
    ----------
    record : GameRecord
    failure : str or None
        The message, where a player lost by its own fault.
    """

    record: GameRecord
    failure: str | None


@dataclass(frozen=True)
class PlayerFaults:
    """Games that a player lost by its own fault.

    Attributes
    ----------
    name : str
    illegal, error, late : int
        Games lost by an illegal move, by a failure to choose, by a move that took too long.
    failure : str or None
        What went wrong the first time. Not compared.
    """

    name: str
    illegal: int = 0
    error: int = 0
    late: int = 0
    failure: str | None = field(default=None, compare=False)


def games_of(plan: Tournament, games: Games) -> list[PlayedGame]:
    """Return the records of games with what went wrong."""
    _, notes = plan._core.records(games)  # noqa: SLF001
    failures = [json.loads(note)["failure"] for note in notes]
    return [PlayedGame(*both) for both in zip(plan.records(games), failures, strict=True)]


def faults_in(names: Sequence[str], games: Iterable[PlayedGame]) -> tuple[PlayerFaults, ...]:
    """Count for each player the games that it lost by its own fault."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    failures: dict[str, str | None] = dict.fromkeys(names)
    for record, failure in games:
        if record.end_reason not in KINDS:
            continue
        loser = record.players[record.outcome == "south"]
        counts[loser][record.end_reason] += 1
        failures[loser] = failures[loser] or failure
    return tuple(PlayerFaults(name, **counts[name], failure=failures[name]) for name in names)


def faults_text(players: Iterable[PlayerFaults]) -> list[str]:
    """Return a line for each player that lost games by its own fault."""
    lines = []
    for player in players:
        lost = [f"{games} {kind}" for kind in KINDS if (games := getattr(player, kind))]
        if lost:
            name, why = readable(player.name), readable(player.failure or "nothing said")
            lines.append(f"{name} lost games by its own fault: {', '.join(lost)}; at first: {why}")
    return lines
