"""The command ``endodoi arena``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from endodoi.player_files import load_players
from endodoi.standings import Standings
from endodoi.tournament import tournament

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import TypeAlias

    from endodoi._core import Ruleset

    # argparse has no public name for it.
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001

__all__ = ["add_arena"]

#: Status after a Ctrl-C.
INTERRUPTED = 130

EXAMPLES = """\
examples:
  endodoi arena --columns 6 --players random greedy alphabeta:4
  endodoi arena --columns 6 --openings balanced --players greedy alphabeta:2 --games 200
  endodoi arena --players mine.py:policy greedy alphabeta:4 --gauntlet --out runs/mine
  endodoi arena --columns 6 --players alphabeta:seconds=0.05 mine.py:policy --seconds-per-move 0.1

mine.py:policy is the function policy(observations, action_masks) -> actions of the file mine.py.
With --out the tournament goes on where it stopped when the command is given again. Ctrl-C prints
the standings of the pairs finished.
"""


def add_arena(
    commands: Commands,
    rules: argparse.ArgumentParser,
    ruleset_of: Callable[[argparse.Namespace], Ruleset],
    printable: Callable[[str], str],
    check_picture: Callable[[str, str | None], None],
) -> None:
    """Add the command that plays tournaments.

    Parameters
    ----------
    commands
        Where it is added.
    rules
        The options that name the rules.
    ruleset_of
        What reads these options.
    printable
        What makes a text fit for the output.
    check_picture
        What refuses a picture that could not be written.
    """
    parser = commands.add_parser(
        "arena",
        parents=[rules],
        help="let players meet each other and rank them",
        description="Lets players meet each other, each opening from both sides, and ranks them.",
        epilog=EXAMPLES,
    )

    def run(options: argparse.Namespace) -> int:
        if options.plot is not None:
            check_picture(options.plot, None)
        return arena_command(options, ruleset_of(options), printable)

    parser.set_defaults(run=run)
    parser.add_argument(
        "--players",
        nargs="+",
        required=True,
        metavar="PLAYER",
        help="random, greedy, perfect, alphabeta:N, mcts:N, agent:FILE_RUN_OR_NAME, "
        "committee:PLAYER+PLAYER... or FILE.py:NAME",
    )
    parser.add_argument(
        "--games", type=int, default=100, help="games of each pairing, even (default 100)"
    )
    parser.add_argument(
        "--openings",
        default="4",
        metavar="PLIES|balanced|FILE",
        help="random plies (default 4), the balanced book, or a file of positions",
    )
    parser.add_argument(
        "--gauntlet",
        type=int,
        nargs="?",
        const=1,
        metavar="N",
        help="only the first player, or the first N, meets the others",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all games (default 0)")
    parser.add_argument("--max-plies", type=int, help="plies after which a game is cut (E4)")
    parser.add_argument(
        "--seconds-per-move", type=float, metavar="S", help="a player that takes longer loses"
    )
    parser.add_argument("--threads", type=int, help="threads (default: one for each core)")
    parser.add_argument("--out", metavar="FOLDER", help="folder of records and results; goes on")
    parser.add_argument("--plot", metavar="FILE", help="picture of the standings (.png ...)")
    parser.add_argument("--json", action="store_true", help="print the standings as JSON")


def arena_command(
    options: argparse.Namespace, ruleset: Ruleset, printable: Callable[[str], str]
) -> int:
    """Play a tournament and print its standings; after a Ctrl-C, those of the pairs finished."""
    openings = options.openings
    status = 0
    try:
        standings = tournament(
            load_players(options.players),
            ruleset=ruleset,
            games=options.games,
            seed=options.seed,
            openings=int(openings) if openings.lstrip("-").isdigit() else openings,
            gauntlet=options.gauntlet,
            max_plies=options.max_plies,
            seconds_per_move=options.seconds_per_move,
            num_threads=options.threads,
            out=options.out,
        )
    except KeyboardInterrupt as interrupt:
        finished = getattr(interrupt, "standings", None)
        if not isinstance(finished, Standings):
            raise
        standings = finished
        print(f"endodoi: interrupted after {standings.games} games", file=sys.stderr)
        status = INTERRUPTED
    print(standings.to_json() if options.json else printable(str(standings)))
    if options.plot is not None:
        standings.plot(options.plot)
    return status
