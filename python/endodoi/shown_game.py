"""Positions, moves and games as the scripts of the pages take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endodoi._core import Position, Ruleset

if TYPE_CHECKING:
    from endodoi._core import GameRecord

__all__ = ["end_line", "end_note", "game_data", "move_data", "position_data", "rules_text"]

SIDES = ("south", "north")

#: How a side loses a game without the rules.
FORFEITS = {
    "illegal": "{mover} chose a move that is not legal and lost",
    "error": "{mover} failed to choose a move and lost",
    "late": "{mover} took too long and lost",
}


def position_data(position: Position) -> dict[str, Any]:
    """Return what is shown of a position."""
    return {
        "pits": position.board.reshape(-1).tolist(),
        "captured": list(position.captured),
        "mover": SIDES.index(position.to_move),
        "legal": position.legal_moves(),
        "over": position.is_over,
        "line": status_line(position),
    }


def move_data(position: Position, column: int) -> dict[str, Any]:
    """Return what a move does, lap by lap.

    ``laps`` has two numbers for each lap: the ring index of the pit lifted, and the seeds sown from
    it, negative where they are sown clockwise (S5). Of an endless sowing the first 100 laps are
    there, and ``cut`` tells so.
    """
    sowing = position.sow(column)
    columns = position.ruleset.columns
    laps: list[int] = []
    for _, pit, seeds in sowing.trace():
        if seeds == 0:
            laps += [pit, 0]
        elif laps[-1] == 0:
            laps[-1] = 1 if pit == (laps[-2] + 1) % (2 * columns) else -1
        else:
            laps[-1] += 1 if laps[-1] > 0 else -1
    taken: list[int] = []
    if sowing.captured and sowing.last is not None:
        # A lone seed is taken by itself (C2).
        taken = [sowing.last, 2 * columns - 1 - sowing.last][: min(sowing.captured, 2)]
    endless = sowing.end == "endless"
    length = "no end" if endless else f"{sowing.laps} lap{'s' if sowing.laps > 1 else ''}"
    takes = f", takes {sowing.captured}" if sowing.captured else ""
    return {
        "column": column,
        "mover": SIDES.index(position.to_move),
        "laps": laps,
        "cut": endless,
        "last": sowing.last,
        "taken": taken,
        "captured": sowing.captured,
        "short": length + takes,
        "text": f"{title(position.to_move)} sows column {column}, {length}{takes}",
    }


def game_data(record: GameRecord) -> dict[str, Any]:
    """Return a recorded game with all its positions.

    Raises
    ------
    RecordError
        If the record cannot be replayed.
    """
    position = Position.from_text(record.start, record.ruleset)
    positions, moves = [position_data(position)], []
    before = position
    for column in record.moves:
        moves.append(move_data(position, column))
        before, position = position, position.play(column)
        positions.append(position_data(position))
    line = end_line(record, position)
    if line is not None:
        positions[-1]["line"] = line
    return {
        "columns": record.ruleset.columns,
        "players": list(record.players),
        "rules": rules_text(record.ruleset),
        "result": result_text(record),
        "note": end_note(before, moves, position) or (f"{line}." if line else ""),
        "positions": positions,
        "moves": moves,
    }


def end_line(record: GameRecord, position: Position) -> str | None:
    """Say how a game ended by something else than the rules; None where the rules ended it."""
    if position.is_over:
        return None
    reason = record.end_reason or "max_plies"
    if reason in FORFEITS:
        return FORFEITS[reason].format(mover=title(position.to_move))
    return f"Cut after {len(record.moves)} plies, no outcome"


def end_note(before: Position, moves: list[dict[str, Any]], end: Position) -> str:
    """Say in a sentence why the rules ended a game; nothing where it goes on.

    Parameters
    ----------
    before : Position
        The position before the last move.
    moves : list
        The moves played.
    end : Position
        The position that they led to.
    """
    if not end.is_over:
        return ""
    if end.end_reason == "endless":
        return "The last sowing has no end (S6): the game is a draw. Its first laps are shown."
    if end.end_reason == "quiet":
        left = int(end.board.sum())
        return (
            f"{end.quiet} plies without a capture (E3): nobody takes the {seeds_text(left)} left."
        )
    stuck = end.to_move
    other = SIDES[1 - SIDES.index(stuck)]
    gained = sum(end.captured) - sum(before.captured)
    rest = gained - moves[-1]["captured"] if moves else 0
    note = f"{title(stuck)} has no legal move (E1)"
    if not rest:
        return f"{note}."
    go = "goes" if rest == 1 else "go"
    return f"{note}: the {seeds_text(rest)} left {go} to {title(other)}."


def status_line(position: Position) -> str:
    """Return the line that says whose turn it is, or how the game ended."""
    line: str = str(position).rsplit("\n", 1)[-1]
    return line[0].upper() + line[1:]


def result_text(record: GameRecord) -> str:
    """Return the outcome with the captured seeds."""
    south, north = record.captured
    seeds = f"{south} : {north}"
    if record.outcome is None:
        return f"no outcome, {seeds}"
    if record.outcome == "draw":
        return f"a draw, {seeds}"
    return f"{title(record.outcome)} wins, {seeds}"


def rules_text(ruleset: Ruleset) -> str:
    """Return the rules in a few words: the size, and what is not the variant's default."""
    usual = Ruleset(ruleset.variant, columns=ruleset.columns).to_dict()
    sizes = ("variant", "columns", "seeds_per_pit")
    changed = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in ruleset.to_dict().items()
        if name not in sizes and value != usual[name]
    ]
    size = f"{ruleset.variant}, 2x{ruleset.columns}, {ruleset.seeds_per_pit} seeds in each pit"
    return ", ".join([size, *changed])


def seeds_text(seeds: int) -> str:
    """Return a number of seeds in words."""
    return "1 seed" if seeds == 1 else f"{seeds} seeds"


def title(side: str) -> str:
    """Return a side's name as it stands in texts."""
    return side.capitalize()
