"""The command ``endodoi play``."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from endodoi.command_line import INTERRUPTED
from endodoi.command_options import position_of, ruleset_of
from endodoi.errors import ArgumentValueError
from endodoi.places import check_place
from endodoi.play_game import Game
from endodoi.play_lines import play_lines
from endodoi.play_records import Records
from endodoi.play_terminal import can_play, play_terminal

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands

__all__ = ["add_play"]

#: Who plays where nobody is named.
OPPONENT = "agent:en-dodoi-2x6"

#: The largest port.
MAX_PORT = 65535

EXAMPLES = """\
examples:
  endodoi play
  endodoi play --opponent alphabeta:6 --columns 8 --side north
  endodoi play --opponent agent:en-gehe-2x50 --web
  endodoi play --opponent greedy --columns 6 --record game.jsonl
  endodoi play --opponent perfect --position "0,3,1,2/2,0,0,1 N 4-5 0" --side north --hint
  printf '2\\nhint\\nquit\\n' | endodoi play --opponent greedy --columns 6

In a terminal: arrows or digits choose a column, enter plays it, u takes a move back, h says what
the moves are worth (proven where that takes a second), s saves the record, n begins again, q
leaves.
Without a terminal, columns and commands are read line by line; help lists them.
"""


def add_play(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the command that plays against a person."""
    parser = commands.add_parser(
        "play",
        parents=[rules],
        help="play against an agent, in the terminal or the browser",
        description="Plays against you, in the terminal or the browser. Without options of rules, "
        "an agent plays the rules that it was trained on.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=play_command)
    parser.add_argument(
        "--opponent",
        default=OPPONENT,
        metavar="PLAYER",
        help=f"random, greedy, perfect, alphabeta:N, mcts:N or agent:... (default {OPPONENT})",
    )
    parser.add_argument(
        "--side", default="south", help="yours: south (default), north or random; South begins"
    )
    parser.add_argument(
        "--position", dest="text", metavar="TEXT", help='begin there, as "4,4/4,4 S 0-0 0"'
    )
    parser.add_argument("--seed", type=int, help="seed of draws (default: another one each time)")
    parser.add_argument(
        "--hint", action="store_true", help="begin with what the moves are worth (not with --web)"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write the games there when you leave, and for s; a new file",
    )
    parser.add_argument(
        "--speed", type=float, default=1.0, help="speed of sowings, 0 shows their ends (default 1)"
    )
    parser.add_argument("--lines", action="store_true", help="read lines, even in a terminal")
    parser.add_argument("--web", action="store_true", help="play in the browser")
    parser.add_argument(
        "--no-browser", action="store_true", help="with --web, print the address alone"
    )
    parser.add_argument("--port", type=int, default=0, help="with --web (default: a free one)")


def play_command(options: argparse.Namespace) -> int:
    """Play until the person leaves."""
    check_options(options)
    start = position_of(options) if options.text is not None else None
    ruleset = ruleset_of(options) if names_rules(options) else None

    def game(seed: int | None) -> Game:
        return Game(options.opponent, ruleset=ruleset, side=options.side, start=start, seed=seed)

    first = last = game(options.seed)
    status = 0
    try:
        if options.record is not None:
            check_place(options.record)
        records = Records(options.record)
        if options.web:
            return serve(first, records, options)
        try:
            if options.lines or not (sys.stdin.isatty() and sys.stdout.isatty() and can_play()):
                if options.hint:
                    print(first.hint().text)
                play_lines(first, sys.stdin, sys.stdout, records=records)
            else:
                last = play_terminal(
                    first,
                    lambda: game(None),
                    records=records,
                    speed=options.speed,
                    hint=options.hint,
                )
        except KeyboardInterrupt as interrupt:
            last = getattr(interrupt, "game", first)
            status = INTERRUPTED
        if options.record is not None:
            print(f"wrote {records.save(last)}")
    except OSError as error:
        # Not the output that `main` gives up.
        if isinstance(error, BrokenPipeError):
            raise
        print(f"endodoi: {error}", file=sys.stderr)
        return 1
    return status


def check_options(options: argparse.Namespace) -> None:
    """Refuse numbers outside their ranges.

    Raises
    ------
    ArgumentValueError
        If there is one.
    """
    if not 0 <= options.speed <= 1000:  # noqa: PLR2004
        raise ArgumentValueError(
            f"speed is {options.speed}, expected 0 to 1000", field="speed", value=options.speed
        )
    if not 0 <= options.port <= MAX_PORT:
        raise ArgumentValueError(
            f"port is {options.port}, expected 0 to {MAX_PORT}",
            field="port",
            value=options.port,
            low=0,
            high=MAX_PORT,
        )


def names_rules(options: argparse.Namespace) -> bool:
    """Tell whether the options say anything of the rules."""
    fields = (
        "columns",
        "seeds_per_pit",
        "direction",
        "lone_capture",
        "endless",
        "lap_limit",
        "quiet_limit",
    )
    given = any(getattr(options, field) is not None for field in fields)
    return given or options.variant != "en-dodoi"


def serve(game: Game, records: Records, options: argparse.Namespace) -> int:
    """Serve a game to the browser until a Ctrl-C."""
    # Imports what no other command needs.
    import webbrowser  # noqa: PLC0415

    from endodoi.play_web import PlayServer  # noqa: PLC0415

    server = PlayServer(game, port=options.port, records=records)
    print(f"open {server.url}", flush=True)
    print("Ctrl-C ends the server", file=sys.stderr)
    if not options.no_browser:
        # A browser in this terminal would not return before it is left.
        threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
    try:
        server.serve()
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        server.server.server_close()
    if options.record is not None:
        print(f"wrote {records.save(server.table.game)}")
    return 0
