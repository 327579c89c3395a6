"""The command ``endodoi``."""

from __future__ import annotations

import json
import os
import platform
import sys
from typing import TYPE_CHECKING

from endodoi._core import __version__
from endodoi.agent_commands import add_agents
from endodoi.arena_commands import add_arena
from endodoi.benchmark_commands import add_benchmark
from endodoi.command_line import (
    INTERRUPTED,
    Parser,
    interrupted_after,
    kept_by,
    printable,
    refuse_unknown,
)
from endodoi.command_options import (
    CONTESTANTS,
    add_ray,
    add_threads,
    check_picture,
    on_ray,
    position_of,
    refuse_same,
    rules_parser,
    ruleset_of,
)
from endodoi.doctor_commands import add_completion, add_doctor
from endodoi.errors import ArgumentValueError, EndodoiError, TrainError
from endodoi.match_commands import add_matches
from endodoi.pictures import write_png, write_svg
from endodoi.play_commands import add_play
from endodoi.player_files import load_named
from endodoi.regret_commands import add_regret
from endodoi.replay_commands import add_replay
from endodoi.simulation import Plan, Summary
from endodoi.solver_commands import add_solve
from endodoi.study_commands import add_studies
from endodoi.table_commands import add_tables
from endodoi.training import find_trainer
from endodoi.training_commands import add_training, train_command

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from endodoi._core import Position, Sowing
    from endodoi.command_line import Commands

__all__ = ["main"]

#: Status of a failed output, of a refused argument, as argparse itself gives it, and of an output
#: that is closed, as by `head`.
FAILED, REFUSED, CLOSED = 1, 2, 141

EXAMPLES = """\
examples:
  endodoi show --columns 6 --play 0
  endodoi simulate --columns 6 --games 1000000 --seed 1
  endodoi solve --columns 6
  endodoi agents
  endodoi train --columns 6 --minutes 5
  endodoi doctor

`endodoi COMMAND --help` has examples of each command.
"""

PERFT_EXAMPLES = """\
examples:
  endodoi perft --columns 6 8
  endodoi perft --variant cross-endodoi 6 "1,6,7,6,6,6/1,0,7,6,1,1 N 0-0 2"
"""

SIMULATE_EXAMPLES = """\
examples:
  endodoi simulate --columns 6 --games 1000000 --seed 1
  endodoi simulate --variant cross-endodoi --games 10000000 --out games.parquet --plot games.png
  endodoi simulate --columns 6 --games 60000 --offers
  endodoi simulate --south alphabeta:4 --north greedy --games 400 --opening-plies 4 --json
  endodoi simulate --columns 6 --games 1000000000 --ray auto --out /shared/games

--out needs pyarrow (pip install 'endodoi[arrow]'), --plot matplotlib (pip install 'endodoi[plot]').
--ray needs Ray (pip install 'endodoi[ray]'); --out is a folder of files then, on all machines.
Ctrl-C keeps the games finished: they are in the file, and the summary is of them.
"""

SHOW_EXAMPLES = """\
examples:
  endodoi show --columns 6
  endodoi show --columns 6 --play 2 0 3 --svg board.svg
  endodoi show "2,7,0,6,1,6/6,6,0,0,6,6 N 2-0 0" --png board.png --scale 1
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    try:
        try:
            return run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return CLOSED
    except OSError as error:
        drop_output()
        print(f"endodoi: {error}", file=sys.stderr)
        return FAILED


def drop_output() -> None:
    """Send what is still to be written nowhere, so that it does not fail again at the end."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def run(arguments: Sequence[str] | None) -> int:
    """Run the command that the arguments name and return its exit status."""
    parser = make_parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and options.run is not train_command:
        refuse_unknown(options.parser, rest)
    options.rest = rest
    try:
        status: int = options.run(options)
    except TrainError as error:
        print(f"endodoi: {error}", file=sys.stderr)
        return error.status if error.status and error.status > 0 else 1
    except EndodoiError as error:
        print(f"endodoi: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("endodoi: interrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser: argparse.ArgumentParser = Parser(
        prog="endodoi",
        description="The Maasai mancala games En Dodoi and En Gehé: simulate, train, look.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"endodoi {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    rules = rules_parser()

    add_simulate(commands, rules)
    add_training(commands)
    add_show_and_perft(commands, rules)
    add_solve(commands, rules)
    add_regret(commands, rules)
    add_arena(commands, rules)
    add_benchmark(commands)
    add_matches(commands, rules)
    add_tables(commands, rules)
    add_studies(commands)
    add_agents(commands)
    add_play(commands, rules)
    add_replay(commands)
    add_doctor(commands)
    add_completion(commands, parser)
    version = commands.add_parser(
        "version",
        help="say which versions are installed",
        description="Says which versions are installed and where the trainer is; "
        "`endodoi doctor` says more.",
        epilog="examples:\n  endodoi version\n",
    )
    version.set_defaults(run=version_command)
    return parser


def add_simulate(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the command that plays many games."""
    simulate_ = commands.add_parser(
        "simulate",
        parents=[rules],
        help="play many games and sum them up",
        description="Plays many games and prints what they say together, with 95 % intervals.",
        epilog=SIMULATE_EXAMPLES,
    )
    simulate_.set_defaults(run=simulate_command)
    simulate_.add_argument("--games", type=int, default=10_000, help="games (default 10000)")
    simulate_.add_argument("--seed", type=int, default=0, help="seed of all games (default 0)")
    simulate_.add_argument(
        "--first", type=int, default=0, help="number of the first game, for parts (default 0)"
    )
    player_help = f"{CONTESTANTS} (default random)"
    simulate_.add_argument("--south", default="random", metavar="PLAYER", help=player_help)
    simulate_.add_argument("--north", default="random", metavar="PLAYER", help=player_help)
    add_threads(simulate_)
    simulate_.add_argument("--max-plies", type=int, help="plies after which a game is cut (E4)")
    simulate_.add_argument(
        "--opening-plies", type=int, default=0, help="random plies at the start (default 0)"
    )
    simulate_.add_argument(
        "--sample", type=int, help="games followed move by move (default: as suits the board)"
    )
    simulate_.add_argument(
        "--offers",
        action="store_true",
        help="simulate every move: how many games offer an endless sowing, all games followed",
    )
    simulate_.add_argument(
        "--out",
        metavar="FILE",
        help="Parquet file for one row a game, written while they are played",
    )
    add_ray(simulate_)
    simulate_.add_argument("--plot", metavar="FILE", help="picture of the distributions (.png ...)")
    simulate_.add_argument("--json", action="store_true", help="print the summary as JSON")


def add_show_and_perft(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the commands that look at a position."""
    show = commands.add_parser(
        "show",
        parents=[rules],
        help="print a position, or draw it",
        description="Prints a position, and draws it with the way of the last move played.",
        epilog=SHOW_EXAMPLES,
    )
    show.set_defaults(run=show_command)
    show.add_argument("text", nargs="?", help='as "4,4/4,4 S 0-0 0" (default: the start)')
    show.add_argument("--play", type=int, nargs="*", default=[], help="columns to play first")
    show.add_argument("--svg", metavar="FILE", help="write a picture as SVG")
    show.add_argument("--png", metavar="FILE", help="write a picture as PNG")
    show.add_argument("--scale", type=int, default=2, help="size of the PNG, 1 to 4 (default 2)")

    perft = commands.add_parser(
        "perft",
        parents=[rules],
        help="count move sequences",
        description="Counts the sequences of legal moves of every length up to a depth.",
        epilog=PERFT_EXAMPLES,
    )
    perft.set_defaults(run=perft_command)
    perft.add_argument("depth", type=int, help="plies")
    perft.add_argument("text", nargs="?", help="the position (default: the start)")


def simulate_command(options: argparse.Namespace) -> int:
    """Play games and print their summary; after a Ctrl-C, that of the games finished."""
    status = 0
    try:
        if options.plot is not None:
            check_picture(options.plot, options.out)
        summary = play_games(options)
    except KeyboardInterrupt as interrupt:
        summary = kept_by(interrupt, "summary", Summary)
        status = interrupted_after(summary.games, "game")
    except OSError as error:
        # Not the output that `main` gives up.
        print(f"endodoi: {error}", file=sys.stderr)
        return FAILED
    print(json_lines(summary) if options.json else printable(str(summary)))
    if options.plot is not None:
        summary.plot(options.plot)
    return status


def play_games(options: argparse.Namespace) -> Summary:
    """Play games, here or on a cluster, and return their summary."""
    players = (options.south, options.north)
    numbers: dict[str, int | None] = {
        "seed": options.seed,
        "first": options.first,
        "random_opening_plies": options.opening_plies,
        "max_plies": options.max_plies,
        "num_threads": options.threads,
        "sample": options.sample,
    }
    if options.ray is not None:
        played: Summary = on_ray("ray_simulation").play(
            options.games,
            ruleset_of(options),
            players,
            keep="counts" if options.out is None else "files",
            out=options.out,
            address=options.ray,
            games_per_task=None,
            offers=options.offers,
            progress=None,
            **numbers,
        )
        return played
    south, north = map(load_named, players)
    plan = Plan(options.games, ruleset_of(options), (south, north), progress=None, **numbers)
    if options.out is None:
        return plan.stream(lambda _games: None, offers=options.offers)
    return plan.write(options.out, offers=options.offers)


def json_lines(summary: Summary) -> str:
    """Return a summary as JSON with one number, or group of numbers, in a line."""
    lines = (f"  {json.dumps(name)}: {json.dumps(x)}" for name, x in summary.to_dict().items())
    return "{\n" + ",\n".join(lines) + "\n}"


def show_command(options: argparse.Namespace) -> int:
    """Print a position after the columns that are to be played, and draw it."""
    position = position_of(options)
    shown: Position | Sowing = position
    for column in options.play:
        shown, position = position.sow(column), position.play(column)
    both = {"svg": options.svg, "png": options.png}
    written = {name: place for name, place in both.items() if place is not None}
    refuse_same(written)
    try:
        if options.svg is not None:
            write_svg(shown, options.svg)
        if options.png is not None:
            write_png(shown, options.png, scale=options.scale)
    except OSError as error:
        # Not the output that `main` gives up.
        print(f"endodoi: {error}", file=sys.stderr)
        return FAILED
    print(position)
    print(position.to_text())
    for place in written.values():
        print(f"wrote {place}")
    return 0


def perft_command(options: argparse.Namespace) -> int:
    """Print the number of move sequences of each depth."""
    position = position_of(options)
    if options.depth < 1:
        raise ArgumentValueError(
            f"depth is {options.depth}, expected 1 or more", field="depth", value=options.depth
        )
    for depth in range(1, options.depth + 1):
        print(f"{depth:3} {position.perft(depth):>20,}")
    return 0


def version_command(_options: argparse.Namespace) -> int:
    """Print versions and where the trainer is."""
    import gymnasium  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    print(f"endodoi   {__version__}")
    print(f"python    {platform.python_version()} ({platform.platform()})")
    print(f"numpy     {np.__version__}")
    print(f"gymnasium {gymnasium.__version__}")
    try:
        print(f"trainer   {find_trainer()}")
    except TrainError as error:
        print(f"trainer   {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
