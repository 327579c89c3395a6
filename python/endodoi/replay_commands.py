"""The command ``endodoi replay``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from endodoi.command_options import refuse_same
from endodoi.errors import ArgumentValueError
from endodoi.places import check_place
from endodoi.replays import MOST_GAMES, Replay, records_of

if TYPE_CHECKING:
    import argparse

    from endodoi._core import GameRecord
    from endodoi.command_line import Commands

__all__ = ["add_replay"]

EXAMPLES = """\
examples:
  endodoi replay game.jsonl --html game.html
  endodoi replay games.jsonl --game 7 --html game-7.html --svg game-7.svg
  cat games/*.jsonl | endodoi replay - --html games.html
  endodoi replay - --game 2 --gif game.gif < games.jsonl

The page is one file that loads nothing from elsewhere. --gif needs Pillow, which comes with
matplotlib (pip install 'endodoi[plot]').
"""


def add_replay(commands: Commands) -> None:
    """Add the command that shows recorded games."""
    parser = commands.add_parser(
        "replay",
        help="show recorded games as a page or a moving picture",
        description="Shows recorded games, one JSON object a line, with every sowing seed by seed.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=replay_command)
    parser.add_argument("file", help="records, one JSON object a line; - for the standard input")
    parser.add_argument(
        "--game",
        type=int,
        metavar="N",
        help=f"one game, counted from 1 (default: all of a file of at most {MOST_GAMES})",
    )
    parser.add_argument("--html", metavar="FILE", help="page with controls")
    parser.add_argument("--svg", metavar="FILE", help="picture of one game that moves")
    parser.add_argument("--gif", metavar="FILE", help="the same as a GIF")


def replay_command(options: argparse.Namespace) -> int:
    """Write the games in the forms asked for."""
    places = {name: getattr(options, name) for name in ("html", "svg", "gif")}
    places = {name: place for name, place in places.items() if place is not None}
    if not places:
        raise ArgumentValueError("nothing to write: give --html, --svg or --gif", field="html")
    refuse_same(places)
    try:
        for place in places.values():
            check_place(place)
        games = read_games(options.file, options.game)
        shown = Replay(games)
        if len(games) > 1 and set(places) != {"html"}:
            raise ArgumentValueError(
                f"{options.file} has {len(games)} games, but a picture shows one: choose it with "
                "--game N",
                field="game",
                value=None,
                low=1,
                high=len(games),
            )
        for name, place in places.items():
            getattr(shown, name)(place)
            print(f"wrote {place}")
    except OSError as error:
        # Not the output that `main` gives up.
        print(f"endodoi: {error}", file=sys.stderr)
        return 1
    return 0


def read_games(file: str, game: int | None) -> list[GameRecord]:
    """Read all games of a file, or one of them.

    Raises
    ------
    RecordError
        If a line up to the game chosen is no record.
    ArgumentValueError
        If there is no such game, or there are too many for one page.
    """
    if game is not None and game < 1:
        raise ArgumentValueError(
            f"game is {game}, expected 1 or more", field="game", value=game, low=1
        )
    with ExitStack() as stack:
        lines = sys.stdin.buffer if file == "-" else stack.enter_context(Path(file).open("rb"))
        records = records_of(lines, "standard input" if file == "-" else file)
        if game is None:
            games = list(islice(records, MOST_GAMES + 1))
        else:
            games = list(islice(records, game))
    if game is not None:
        if len(games) < game:
            raise ArgumentValueError(
                f"game is {game}, but {file} has {len(games)}",
                field="game",
                value=game,
                low=1,
                high=len(games),
            )
        return games[-1:]
    if not games:
        raise ArgumentValueError(f"{file} has no games", field="file", value=file)
    if len(games) > MOST_GAMES:
        raise ArgumentValueError(
            f"{file} has more than {MOST_GAMES} games: choose one with --game N",
            field="game",
            value=None,
            low=1,
        )
    return games
