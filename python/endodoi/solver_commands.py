"""The commands ``endodoi solve`` and ``endodoi analyse``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from endodoi.command_line import INTERRUPTED, kept_by
from endodoi.command_options import add_threads, position_of
from endodoi.solver import Analysis, Solution, Solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from endodoi._core import Position
    from endodoi.command_line import Commands

__all__ = ["add_solve", "add_solver_options"]

#: What a solver answers with.
Known = TypeVar("Known", Solution, Analysis)

#: Letters after a number of bytes.
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

SOLVE_EXAMPLES = """\
examples:
  endodoi solve --columns 6
  endodoi solve --columns 7 --seconds 600 --memory 4G --json
  endodoi solve --columns 8 --seconds 3600 --resume 2x8.edp
  endodoi solve --position "0,0,3,1/2,0,0,1 N 4-5 0" --table en-dodoi-2x4-stays-16.edt

Ctrl-C, and the end of --seconds, print what the value is at least and at most.
"""

ANALYSE_EXAMPLES = """\
examples:
  endodoi analyse "2,7,0,6,1,6/6,6,0,0,6,6 N 2-0 0"
  endodoi analyse --variant cross-endodoi --json

The value of a move is the seeds that the side to move takes from here on, that move's capture
included, less those that the other side takes.
"""


def add_solve(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the commands of the solver."""
    solve = commands.add_parser(
        "solve",
        parents=[rules],
        help="prove how many seeds perfect play wins",
        description="Proves how many seeds perfect play wins, and with which moves.",
        epilog=SOLVE_EXAMPLES,
    )
    solve.set_defaults(run=solve_command)
    solve.add_argument(
        "--position", dest="text", metavar="TEXT", help='as "4,4/4,4 S 0-0 0" (default: the start)'
    )
    analyse = commands.add_parser(
        "analyse",
        parents=[rules],
        help="prove the value of every legal move",
        description="Proves the value of every legal move of a position.",
        epilog=ANALYSE_EXAMPLES,
    )
    analyse.set_defaults(run=analyse_command)
    analyse.add_argument(
        "text", nargs="?", metavar="TEXT", help='as "4,4/4,4 S 0-0 0" (default: the start)'
    )
    for parser in (solve, analyse):
        parser.add_argument("--seconds", type=float, help="time after which bounds are printed")
        parser.add_argument(
            "--resume",
            metavar="FILE",
            help="go on from what FILE holds, if it is there, and write it when this ends",
        )
        add_solver_options(parser)
        parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_solver_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command with a solver takes."""
    parser.add_argument("--table", metavar="FILE", help="endgame table of these rules")
    add_threads(parser)
    parser.add_argument(
        "--memory", type=bytes_of, metavar="SIZE", help="memory of positions, as 512M or 4G"
    )


def bytes_of(text: str) -> int:
    """Read a number of bytes, with K, M or G after it.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none.
    """
    letter = text[-1:].upper() if text[-1:].upper() in UNITS else ""
    digits = text[: len(text) - len(letter)]
    if not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size, expected one as 512M or 4G")
    return int(digits) * UNITS[letter]


def solver_of(options: argparse.Namespace, position: Position) -> Solver:
    """Return the solver that the options ask for, with what it knew when it was last stopped."""
    solver = Solver(
        position.ruleset,
        table=options.table,
        num_threads=options.threads,
        memory=options.memory,
    )
    if options.resume and Path(options.resume).exists():
        solver.load(options.resume)
    return solver


def answer(
    options: argparse.Namespace,
    position: Position,
    ask: Callable[[Solver], Known],
    kind: type[Known],
) -> tuple[Known, int]:
    """Ask a solver, and keep what it knows where that is wanted.

    Returns
    -------
    known
        What it answered; after a Ctrl-C, what it knew by then.
    status : int
        The status that the command ends with.
    """
    status = 0
    solver = solver_of(options, position)
    try:
        known = ask(solver)
    except KeyboardInterrupt as interrupt:
        known, status = kept_by(interrupt, kind.__name__.lower(), kind), INTERRUPTED
        print("endodoi: interrupted: these are the bounds known by now", file=sys.stderr)
    if options.resume:
        solver.save(options.resume)
    return known, status


def solve_command(options: argparse.Namespace) -> int:
    """Print the value of a position; after a Ctrl-C, its bounds."""
    position = position_of(options)
    solution, status = answer(
        options, position, lambda solver: solver.solve(position, seconds=options.seconds), Solution
    )
    if options.json:
        print(json.dumps({**question(position), **solution.to_dict()}))
        return status
    best = " ".join(map(str, solution.best_moves)) or "none"
    print(position.to_text())
    print(f"value       {bounds_text(solution.lower, solution.upper)} for {position.to_move}")
    print(f"{'best moves' if solution.exact else 'good moves'}  {best}")
    print(f"outcome     {outcome_text(position, solution.lower, solution.upper)}")
    print(f"searched    {solution.nodes:,} positions in {solution.seconds:.1f} s")
    return status


def analyse_command(options: argparse.Namespace) -> int:
    """Print the value of every legal move; after a Ctrl-C, their bounds."""
    position = position_of(options)
    analysis, status = answer(
        options,
        position,
        lambda solver: solver.analyse(position, seconds=options.seconds),
        Analysis,
    )
    if options.json:
        print(json.dumps({**question(position), **analysis.to_dict()}))
        return status
    print(position.to_text())
    if position.is_over:
        print(f"the game is over: {outcome_text(position, 0, 0)}")
        return status
    values = [bounds_text(move.lower, move.upper) for move in analysis]
    width = max(len("value"), *map(len, values))
    print(f"column  {'value':>{width}}  outcome for {position.to_move} to move")
    for move, value in zip(analysis, values, strict=True):
        mark = "*" if move.column in analysis.best_moves else " "
        outcome = outcome_text(position, move.lower, move.upper)
        print(f"{move.column:>5} {mark}  {value:>{width}}  {outcome}")
    print(f"* {'best' if analysis.exact else 'may be best'}")
    return status


def question(position: Position) -> dict[str, Any]:
    """Return what was asked as JSON can hold it."""
    return {"position": position.to_text(), "ruleset": position.ruleset.to_dict()}


def bounds_text(lower: int, upper: int) -> str:
    """Return a value, or what it is at least and at most."""
    return f"{lower:+d}" if lower == upper else f"{lower:+d} to {upper:+d}"


def outcome_text(position: Position, lower: int, upper: int) -> str:
    """Return in words how a game ends whose rest is worth so much to the side to move."""
    south, north = position.captured
    sign = 1 if position.to_move == "south" else -1
    ends = sorted(south - north + sign * value for value in (lower, upper))
    words = [margin_text(margin) for margin in ends]
    if words[0] == words[1]:
        return words[0]
    if ends[0] > 0:
        return f"south wins by {ends[0]} to {ends[1]}"
    if ends[1] < 0:
        return f"north wins by {-ends[1]} to {-ends[0]}"
    return f"open: {words[0]} to {words[1]}"


def margin_text(margin: int) -> str:
    """Return in words what a captured difference, South's less North's, means."""
    if margin == 0:
        return "a draw"
    return f"{'south' if margin > 0 else 'north'} wins by {abs(margin)}"
