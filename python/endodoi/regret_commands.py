"""The command ``endodoi regret``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from endodoi.command_line import printable
from endodoi.command_options import CONTESTANTS, add_ray, on_ray, ruleset_of
from endodoi.player_files import load_named
from endodoi.regret import Exam
from endodoi.solver_commands import add_solver_options

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands
    from endodoi.regret import Regret

__all__ = ["add_regret"]

EXAMPLES = """\
examples:
  endodoi regret --columns 6 --player random greedy alphabeta:6
  endodoi regret --player agent:runs/first --positions 2000 --json
  endodoi regret --columns 8 --player mcts:800 mine.py:policy --reference alphabeta:10
  endodoi regret --columns 6 --player agent:runs/first --positions 20000 --ray auto

All players choose in the same positions of random games. Without --reference moves are measured by
perfect play up to 2x6 with four seeds in a pit, by a search on larger boards. --ray needs Ray (pip
install 'endodoi[ray]'); --table is a file of all machines then, --memory that of a task.
"""


def add_regret(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the command that measures what a player's moves lose."""
    parser = commands.add_parser(
        "regret",
        parents=[rules],
        help="measure how many seeds a player's moves lose",
        description="Measures how many seeds the moves of players lose against perfect play.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=regret_command)
    parser.add_argument(
        "--player",
        nargs="+",
        required=True,
        metavar="PLAYER",
        help=CONTESTANTS,
    )
    parser.add_argument("--positions", type=int, default=500, help="positions (default 500)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the positions (default 0)")
    parser.add_argument("--reference", help="perfect or alphabeta:N (default: as suits the board)")
    parser.add_argument(
        "--seconds",
        type=float,
        help="time after which a position is left to alphabeta:12 (default 60; none up to 2x6)",
    )
    add_solver_options(parser)
    add_ray(parser)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def regret_command(options: argparse.Namespace) -> int:
    """Print what the moves of the players lose."""
    found = measure(options)
    if options.json:
        print(json.dumps([regret.to_dict() for regret in found]))
        return 0
    print(f"{options.positions} positions, moves measured by {found[0].reference}")
    print(printable(table_of(found)))
    return 0


def measure(options: argparse.Namespace) -> list[Regret]:
    """Let the players choose in the same positions, here or on a cluster."""
    arguments: dict[str, Any] = {
        "ruleset": ruleset_of(options),
        "positions": options.positions,
        "seed": options.seed,
        "reference": options.reference,
        "seconds": options.seconds,
        "table": options.table,
        "num_threads": options.threads,
        "memory": options.memory,
    }
    if options.ray is None:
        players = [load_named(player) for player in options.player]
        exam = Exam(**arguments)
        return [exam.regret(player) for player in players]
    found: list[Regret] = on_ray("ray_arena").regrets(
        options.player, progress=None, address=options.ray, **arguments
    )
    return found


def table_of(found: list[Regret]) -> str:
    """Return the tables of several players under one line of headings."""
    widths = [max(len(regret.player), len("player")) for regret in found]
    lines: list[str] = []
    for regret, width in zip(found, widths, strict=True):
        table = regret.text.splitlines()
        lines += [
            line[:width].ljust(max(widths)) + line[width:] for line in table[len(lines) > 0 :]
        ]
    return "\n".join(lines)
