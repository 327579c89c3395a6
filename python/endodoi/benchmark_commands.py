"""The command ``endodoi benchmark``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi.benchmark import Place, file_digests, play_suite, read_player
from endodoi.benchmark_suite import load_suite
from endodoi.command_line import interrupted_after, kept_by, printable
from endodoi.command_options import add_ray, add_threads, on_ray
from endodoi.errors import ArenaError, ArgumentValueError
from endodoi.player_files import load_player
from endodoi.report_card import ReportCard, stored_cards

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands

__all__ = ["add_benchmark"]

EXAMPLES = """\
examples:
  endodoi benchmark --player greedy --part 2x6
  endodoi benchmark --player mine.py:policy --small
  endodoi benchmark --player mine.py:policy --out runs/card --against greedy alphabeta:4
  endodoi benchmark --player agent:runs/first@depth=12 --ray auto --out runs/card
  endodoi benchmark --card runs/card/card.json --markdown

mine.py:policy is the function policy(observations, action_masks) -> actions of the file mine.py; it
tells the boards apart by the number of columns of the masks. --against takes files of cards and the
players whose cards come with the package. With --out boards that are finished are not played again.
--ray needs Ray (pip install 'endodoi[ray]').
"""


def add_benchmark(commands: Commands) -> None:
    """Add the command that plays the benchmark suite."""
    parser = commands.add_parser(
        "benchmark",
        help="measure a player by the fixed suite and print its report card",
        description="Plays the benchmark suite, a fixed set of boards, opponents and positions, "
        "and prints a report card that can be compared with those of others.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=benchmark_command)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--player",
        metavar="PLAYER",
        help="random, greedy, perfect, alphabeta:N, mcts:N, agent:FILE_RUN_OR_NAME or FILE.py:NAME",
    )
    what.add_argument("--card", metavar="FILE", help="print this card instead of playing")
    boards = [part.name for part in load_suite().parts]
    parser.add_argument(
        "--part",
        nargs="+",
        metavar="BOARD",
        help=f"boards: {', '.join(boards)} (default: all)",
    )
    parser.add_argument(
        "--small", action="store_true", help="20 games and 50 positions instead of 400 and 500"
    )
    parser.add_argument("--name", help="the player's name on the card")
    add_threads(parser)
    add_ray(parser)
    parser.add_argument("--out", metavar="FOLDER", help="folder of the card; goes on by boards")
    parser.add_argument(
        "--against", nargs="+", default=[], metavar="CARD", help="put these cards beside it"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the card as JSON")
    form.add_argument("--markdown", action="store_true", help="print it as Markdown")


def benchmark_command(options: argparse.Namespace) -> int:
    """Print the card of a player; after a Ctrl-C, that of the boards finished."""
    if options.card is not None:
        refuse_playing(options)
    others = [find_card(text) for text in options.against]
    status = 0
    try:
        card = ReportCard.read(options.card) if options.card is not None else play(options)
    except KeyboardInterrupt as interrupt:
        card = kept_by(interrupt, "card", ReportCard)
        status = interrupted_after(len(card.parts), "board")
    if options.json:
        cards = [card, *others]
        print(json.dumps([one.to_dict() for one in cards]) if others else card.to_json())
        return status
    shown = card.compare(*others) if others else card
    print(shown.to_markdown().rstrip("\n") if options.markdown else printable(str(shown)))
    return status


def refuse_playing(options: argparse.Namespace) -> None:
    """Refuse what says how to play where a card is read.

    Raises
    ------
    ArgumentValueError
        If there is such an option.
    """
    for name in ("part", "small", "name", "threads", "ray", "out"):
        value = getattr(options, name)
        if value is not None and value is not False:
            raise ArgumentValueError(
                f"--{name} does not go with --card, which plays nothing", field=name, value=value
            )


def play(options: argparse.Namespace) -> ReportCard:
    """Play the suite, here or on a cluster."""
    arguments: dict[str, Any] = {
        "parts": options.part,
        "scale": "small" if options.small else "full",
        "out": options.out,
    }
    name = options.player if options.name is None else options.name
    if options.ray is None:
        player, name = read_player(load_player(options.player), name)
        place = Place(player, options.threads)
        place.digests.update(file_digests(options.player))
        return play_suite(place, name, progress=None, **arguments)
    played: ReportCard = on_ray("ray_benchmark").benchmark(
        options.player, name=name, num_threads=options.threads, address=options.ray, **arguments
    )
    return played


def find_card(text: str) -> ReportCard:
    """Return the card of a file, or the one that comes with the package for a player.

    Raises
    ------
    ArenaError
        If there is neither.
    """
    if Path(text).is_file():
        return ReportCard.read(text)
    stored = stored_cards()
    if text not in stored:
        raise ArenaError(
            f"card is {text!r}, expected a file or one of {', '.join(stored)}",
            field="card",
            value=text,
        )
    return stored[text]
