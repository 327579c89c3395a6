"""The command ``endodoi arena``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endodoi._core import different_names
from endodoi.command_line import interrupted_after, kept_by, printable
from endodoi.command_options import (
    CONTESTANTS,
    add_contest_options,
    add_openings,
    add_ray,
    check_picture,
    on_ray,
    openings_of,
    ruleset_of,
)
from endodoi.player_files import load_players
from endodoi.standings import Standings
from endodoi.tournament import tournament

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands

__all__ = ["add_arena"]

EXAMPLES = """\
examples:
  endodoi arena --columns 6 --players random greedy alphabeta:4
  endodoi arena --columns 6 --openings balanced --players greedy alphabeta:2 --games 200
  endodoi arena --players mine.py:policy greedy alphabeta:4 --gauntlet --out runs/mine
  endodoi arena --columns 6 --players alphabeta:seconds=0.05 mine.py:policy --seconds-per-move 0.1
  endodoi arena --players alphabeta:8 agent:runs/first --games 10000 --ray auto --out runs/match

mine.py:policy is the function policy(observations, action_masks) -> actions of the file mine.py.
With --out the tournament goes on where it stopped when the command is given again. Ctrl-C prints
the standings of the pairs finished. --ray needs Ray (pip install 'endodoi[ray]').
"""


def add_arena(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the command that plays tournaments."""
    parser = commands.add_parser(
        "arena",
        parents=[rules],
        help="let players meet each other and rank them",
        description="Lets players meet each other, each opening from both sides, and ranks them.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=arena_command)
    parser.add_argument(
        "--players",
        nargs="+",
        required=True,
        metavar="PLAYER",
        help=CONTESTANTS,
    )
    parser.add_argument(
        "--games", type=int, default=100, help="games of each pairing, even (default 100)"
    )
    add_openings(parser)
    parser.add_argument(
        "--gauntlet",
        type=int,
        nargs="?",
        const=1,
        metavar="N",
        help="only the first player, or the first N, meets the others",
    )
    add_contest_options(parser)
    add_ray(parser)
    parser.add_argument("--out", metavar="FOLDER", help="folder of records and results; goes on")
    parser.add_argument("--plot", metavar="FILE", help="picture of the standings (.png ...)")
    parser.add_argument("--json", action="store_true", help="print the standings as JSON")


def arena_command(options: argparse.Namespace) -> int:
    """Play a tournament and print its standings; after a Ctrl-C, those of the pairs finished."""
    if options.plot is not None:
        check_picture(options.plot, None)
    status = 0
    try:
        standings = play(options)
    except KeyboardInterrupt as interrupt:
        standings = kept_by(interrupt, "standings", Standings)
        status = interrupted_after(standings.games, "game")
    print(standings.to_json() if options.json else printable(str(standings)))
    if options.plot is not None:
        standings.plot(options.plot)
    return status


def play(options: argparse.Namespace) -> Standings:
    """Play a tournament, here or on a cluster."""
    arguments: dict[str, Any] = {
        "ruleset": ruleset_of(options),
        "games": options.games,
        "seed": options.seed,
        "openings": openings_of(options),
        "gauntlet": options.gauntlet,
        "max_plies": options.max_plies,
        "seconds_per_move": options.seconds_per_move,
        "num_threads": options.threads,
        "out": options.out,
    }
    if options.ray is None:
        return tournament(load_players(options.players), **arguments)
    players = dict(zip(different_names(options.players), options.players, strict=True))
    played: Standings = on_ray("ray_arena").tournament(players, address=options.ray, **arguments)
    return played
