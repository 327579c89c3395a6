"""The commands ``endodoi match`` and ``endodoi sprt``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from endodoi.command_line import interrupted_after, kept_by, printable
from endodoi.command_options import (
    CONTESTANTS,
    add_contest_options,
    add_openings,
    openings_of,
    ruleset_of,
)
from endodoi.places import check_place
from endodoi.play_records import refuse_existing
from endodoi.player_files import load_players
from endodoi.sequential import sprt
from endodoi.series import Match, match
from endodoi.sprt import SprtResult

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands

__all__ = ["add_matches"]

#: Status where a file cannot be written.
FAILED = 1

MATCH_EXAMPLES = """\
examples:
  endodoi match greedy alphabeta:4 --columns 6
  endodoi match agent:en-dodoi-2x6 mcts:800 --columns 6 --wins 7 --records match.jsonl
  endodoi match mine.py:policy committee:8xmcts:20 --columns 6 --seed 3

The sides alternate; two games in a row have the same random opening. Drawn games count for nobody.
"""

SPRT_EXAMPLES = """\
examples:
  endodoi sprt alphabeta:3 alphabeta:2 --columns 6 --elo0 0 --elo1 30
  endodoi sprt committee:8xmcts:20 mcts:20 --columns 6 --elo0 0 --elo1 50 --json
  endodoi sprt mine.py:policy greedy --elo0 -10 --elo1 0 --model normalized

Accepts H0 (the first player is stronger by elo0 or less) or H1 (by elo1 or more).
"""


def add_matches(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the commands that let two players meet."""
    parser = commands.add_parser(
        "match",
        parents=[rules],
        help="play a match: the first to win so many games (el ala)",
        description="Plays until one of two players has won so many games, with the tally.",
        epilog=MATCH_EXAMPLES,
    )
    parser.set_defaults(run=match_command)
    add_players(parser)
    parser.add_argument("--wins", type=int, default=5, help="games that win it (default 5)")
    parser.add_argument(
        "--max-games", type=int, metavar="N", help="even; it ends then (default 20 for each win)"
    )
    parser.add_argument(
        "--records", metavar="FILE", help="write the games to this new file, a JSON line each"
    )
    parser.add_argument("--json", action="store_true", help="print the match as JSON")
    parser = commands.add_parser(
        "sprt",
        parents=[rules],
        help="play until it is known which of two players is stronger",
        description="Plays pairs of games until a sequential probability ratio test decides.",
        epilog=SPRT_EXAMPLES,
    )
    parser.set_defaults(run=sprt_command)
    add_players(parser)
    parser.add_argument("--elo0", type=float, required=True, help="Elo points of H0")
    parser.add_argument("--elo1", type=float, required=True, help="Elo points of H1")
    parser.add_argument("--alpha", type=float, default=0.05, help="chance of a wrong H1 (0.05)")
    parser.add_argument("--beta", type=float, default=0.05, help="chance of a wrong H0 (0.05)")
    parser.add_argument(
        "--model", choices=("logistic", "normalized"), default="logistic", help="what points mean"
    )
    parser.add_argument(
        "--max-games", type=int, default=20_000, metavar="N", help="even (default 20000)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_players(parser: argparse.ArgumentParser) -> None:
    """Add the two players and what both commands know of their games."""
    parser.add_argument("players", nargs=2, metavar="PLAYER", help=CONTESTANTS)
    add_openings(parser)
    add_contest_options(parser)


def match_command(options: argparse.Namespace) -> int:
    """Play a match and print its score sheet; after a Ctrl-C, that of the games finished."""
    ruleset = ruleset_of(options)
    players = load_players(options.players)
    try:
        if options.records is not None:
            refuse_existing(check_place(options.records))
    except OSError as error:
        # Not the output that `main` gives up.
        print(f"endodoi: {error}", file=sys.stderr)
        return FAILED
    status = 0
    try:
        played = match(
            *players.values(),
            names=list(players),
            ruleset=ruleset,
            wins=options.wins,
            seed=options.seed,
            openings=openings_of(options),
            max_games=options.max_games,
            max_plies=options.max_plies,
            seconds_per_move=options.seconds_per_move,
            num_threads=options.threads,
        )
    except KeyboardInterrupt as interrupt:
        played = kept_by(interrupt, "match", Match)
        status = interrupted_after(len(played.games), "game")
    if options.records is not None:
        played.write_records(options.records)
    print(json.dumps(played.to_dict()) if options.json else printable(str(played)))
    return status


def sprt_command(options: argparse.Namespace) -> int:
    """Play a test and print its result; after a Ctrl-C, what the pairs finished say."""
    ruleset = ruleset_of(options)
    players = load_players(options.players)
    status = 0
    try:
        found = sprt(
            *players.values(),
            names=list(players),
            ruleset=ruleset,
            elo0=options.elo0,
            elo1=options.elo1,
            alpha=options.alpha,
            beta=options.beta,
            model=options.model,
            max_games=options.max_games,
            openings=openings_of(options),
            seed=options.seed,
            max_plies=options.max_plies,
            seconds_per_move=options.seconds_per_move,
            num_threads=options.threads,
        )
    except KeyboardInterrupt as interrupt:
        found = kept_by(interrupt, "result", SprtResult)
        status = interrupted_after(found.games, "game")
    print(json.dumps(found.to_dict()) if options.json else printable(str(found)))
    return status
