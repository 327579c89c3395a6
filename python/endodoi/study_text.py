"""Studies in words: boards of lone seeds, moves and solutions as lines of text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from endodoi.studies import load_all

if TYPE_CHECKING:
    from endodoi._core import Position
    from endodoi.studies import Study, Try

__all__ = ["board_text", "headline", "list_text", "move_text", "replay_text"]

#: Single steps in a row that are told in one line, at least.
QUIET_RUN = 4

#: Letters in a line.
WIDTH = 80

#: A space that no line breaks at.
NO_BREAK = "\N{NO-BREAK SPACE}"

ONLY = "the only best move"


def board_text(position: Position) -> str:
    """Draw a board with few seeds, a letter a pit; empty pits are dots.

    North's row is above, from its right to its left, so that opposite pits face each other; the
    columns are marked in tens.
    """
    columns = position.ruleset.columns
    marks = sorted({*range(0, columns, 10), columns - 1})
    cell = max(len(str(int(position.board.max()))), 1)
    south, north = (
        "".join(f"{seeds or '.':>{cell}}" for seeds in map(int, row)) for row in position.board
    )
    north = "".join(north[at : at + cell] for at in range(len(north) - cell, -1, -cell))
    upper = ruler({(columns - 1 - mark) * cell: mark for mark in marks})
    lower = ruler({mark * cell: mark for mark in marks})
    captured_south, captured_north = position.captured
    return "\n".join(
        [
            f"North  {upper}",
            f"       {north}  captured {captured_north}",
            f"       {south}  captured {captured_south}",
            f"South  {lower}",
        ]
    )


def ruler(marks: dict[int, int]) -> str:
    """Return a line with numbers at their places; one that would touch the last is left out."""
    line = ""
    for place, number in sorted(marks.items()):
        if not line or place > len(line):
            line = f"{line:<{place}}{number}"
    return line


def headline(study: Study) -> str:
    """Return what a study asks."""
    south, north = study.tempi
    return f"South to move wins by {study.margin}, {standing(south - north)} ({south} to {north})"


def standing(ahead: int) -> str:
    """Return in words how far South is ahead in tempi."""
    if ahead == 0:
        return "level in tempi"
    return f"{abs(ahead)} tempi {'ahead' if ahead > 0 else 'behind'}"


def list_text() -> str:
    """Return a line for each study."""
    studies = load_all()
    width = max(len(study.title) for study in studies)
    rows = [
        f"{study.number:>3}  {study.title:<{width}}  {study.position.board.sum():>5}  "
        f"{study.tempi[0] - study.tempi[1]:>+5}  {study.margin:>+4}  {study.theme}"
        for study in studies
    ]
    head = f"{'':3}  {'':<{width}}  seeds  tempi  wins  theme"
    return "\n".join([head, *rows])


def side_name(position: Position) -> str:
    """Return the name of the side to move."""
    return position.to_move.capitalize()


def move_text(position: Position, column: int) -> str:
    """Tell a move in words: how it is sown, where it ends, what it captures."""
    columns = position.ruleset.columns
    sowing = position.sow(column)
    last = sowing.last
    if last is None:
        return f"{sowing.laps} laps and no end"
    own = (last < columns) == (position.to_move == "south")
    other = "North" if position.to_move == "south" else "South"
    place = f"{last % columns}" if own else f"{other}'s {last % columns}"
    if sowing.laps == 1:
        seeds = "one seed" if sowing.seeds_sown == 1 else f"{sowing.seeds_sown} seeds"
        text = f"{seeds} to {place}"
    else:
        text = f"{sowing.laps} laps with {sowing.seeds_sown} seeds, the last to {place}"
    return f"{text}, captures {sowing.captured}" if sowing.captured else text


def remarks(study: Study, ply: int, position: Position) -> list[str]:
    """Return what is to be noticed of a ply of the solution."""
    column = study.solution[ply]
    notes = []
    if ply in study.only:
        notes.append("the only move that wins" if ply == 0 else ONLY)
    if position.to_move == "north":
        return notes
    refused = most_captured(position)
    if refused > position.sow(column).captured:
        notes.append(f"refuses to take {refused}")
    if offered := most_captured(position.play(column)):
        notes.append(f"offers {offered}")
    return notes


def most_captured(position: Position) -> int:
    """Return the most that a legal move captures."""
    return max((position.sow(column).captured for column in position.legal_moves()), default=0)


def is_plain(study: Study, ply: int, position: Position) -> bool:
    """Tell whether a ply of the solution is a single step of which there is little to say."""
    sowing = position.sow(study.solution[ply])
    if ply == 0 or ply in study.comments or sowing.seeds_sown > 1 or sowing.captured:
        return False
    own = (sowing.last or 0) < position.ruleset.columns
    stays = own == (position.to_move == "south")
    return stays and set(remarks(study, ply, position)) <= {ONLY}


def solution_lines(study: Study) -> list[str]:
    """Return the solution, a line a ply; single steps in a row share one."""
    lines: list[str] = []
    run: list[tuple[int, Position]] = []
    for ply, position in enumerate(study.positions()):
        if ply < len(study.solution) and is_plain(study, ply, position):
            run.append((ply, position))
            continue
        lines += run_lines(study, run)
        run = []
        if ply in study.comments:
            lines += wrapped(study.comments[ply], " " * 6, " " * 6)
        if ply < len(study.solution):
            lines += ply_lines(study, ply, position)
    return lines


def run_lines(study: Study, run: list[tuple[int, Position]]) -> list[str]:
    """Return the lines of single steps in a row."""
    if len(run) < QUIET_RUN:
        return [line for ply, position in run for line in ply_lines(study, ply, position)]
    head = f"{run[0][0] + 1:>4}. to {run[-1][0] + 1}. "
    steps = [
        f"{side_name(position)} {study.solution[ply]}{'!' if ply in study.only else ''}"
        for ply, position in run
    ]
    return wrapped("single steps: " + joined(steps), head, " " * len(head))


def ply_lines(study: Study, ply: int, position: Position) -> list[str]:
    """Return the lines of one ply."""
    column = study.solution[ply]
    notes = "; ".join([move_text(position, column), *remarks(study, ply, position)])
    mark = "!" if ply in study.only else " "
    head = f"{ply + 1:>4}. {side_name(position)} {column:>2}{mark} "
    return wrapped(notes, head, " " * len(head))


def joined(moves: list[str]) -> str:
    """Return moves as one text that breaks between them only."""
    return ", ".join(move.replace(" ", NO_BREAK) for move in moves)


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Return the lines of a text, with what the first one and the others begin with."""
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def end_text(last: Position, end: Position) -> str:
    """Tell how the game ends, whose last position before the end is given."""
    south, north = end.captured
    result = f"{south} to {north}"
    winner = f"{end.outcome.capitalize()} wins" if end.outcome in {"south", "north"} else "a draw"
    if end.end_reason != "stuck":
        return f"{winner}, {result}."
    stuck, other = ("North", "South") if last.to_move == "south" else ("South", "North")
    return f"{stuck} is stuck and {other} takes what is left (E1): {winner}, {result}."


def try_lines(study: Study, one: Try) -> list[str]:
    """Tell why a try fails."""
    position = study.position
    margin = study.margin - study.value + one.value
    result = "draws" if margin == 0 else f"loses by {-margin}"
    moves = []
    for column in (one.column, *one.refutation):
        captured = position.sow(column).captured
        taken = f" takes {captured}" if captured else ""
        moves.append(f"{side_name(position)} {column}{taken}")
        position = position.play(column)
    comment = f" {one.comment}" if one.comment else ""
    return wrapped(f"{result}: {joined(moves)}.{comment}", f"  {one.column:>2} ", " " * 5)


def replay_text(study: Study) -> str:
    """Return a study with its solution and its tries."""
    positions = list(study.positions())
    parts = [
        f"{study.number}. {study.title} ({study.theme})",
        f"{headline(study)}.",
        "",
        board_text(positions[0]),
        "",
        *solution_lines(study),
        *wrapped(end_text(positions[-2], positions[-1]), " " * 6, " " * 6),
        "",
        "The other first moves:",
        *(line for one in study.tries for line in try_lines(study, one)),
        "",
        f"The position: {study.text}",
    ]
    return "\n".join(parts)
