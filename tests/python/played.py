"""Games that tests look at."""

from __future__ import annotations

import numpy as np

from endodoi import GameRecord, Position, Ruleset


def play(
    ruleset: Ruleset,
    *,
    seed: int = 1,
    cap: int | None = None,
    players: tuple[str, str] = ("south", "north"),
) -> GameRecord:
    """A game of moves drawn from a seed."""
    draw = np.random.default_rng(seed)
    position = start = Position.start(ruleset)
    moves: list[int] = []
    while not position.is_over and (cap is None or len(moves) < cap):
        moves.append(int(draw.choice(position.legal_moves())))
        position = position.play(moves[-1])
    return GameRecord.of_moves(start, moves, players=players)


def positions_of(record: GameRecord) -> list[Position]:
    """The positions of a game, the first one included."""
    positions = [Position.from_text(record.start, record.ruleset)]
    for column in record.moves:
        positions.append(positions[-1].play(column))
    return positions


def endless_draw() -> GameRecord:
    """A game that an endless sowing ends (S6)."""
    rules = Ruleset(columns=2, endless="draw")
    start = Position.from_board([2, 0], [2, 1], ruleset=rules)
    return GameRecord.of_moves(start, [0])
