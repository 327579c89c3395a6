"""Options that several commands take, and what they ask for."""

from __future__ import annotations

import argparse
import importlib.util
import os
from importlib import import_module
from typing import TYPE_CHECKING

from endodoi._core import Position, Ruleset
from endodoi.errors import ArgumentValueError
from endodoi.extras import lacking
from endodoi.places import check_place

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "CONTESTANTS",
    "add_contest_options",
    "add_openings",
    "add_ray",
    "add_threads",
    "check_picture",
    "on_ray",
    "openings_of",
    "position_of",
    "refuse_same",
    "rules_parser",
    "ruleset_of",
]

#: Endings of the pictures that can be drawn.
PICTURES = ("png", "svg", "pdf", "jpg", "webp")

#: Whom a tournament, a match or a sequential test lets play.
CONTESTANTS = (
    "random, greedy, perfect, alphabeta:N, mcts:N, agent:FILE_RUN_OR_NAME, "
    "committee:PLAYER+PLAYER... or FILE.py:NAME"
)


def rules_parser() -> argparse.ArgumentParser:
    """Return the options that name the rules."""
    rules = argparse.ArgumentParser(add_help=False)
    group = rules.add_argument_group("rules")
    group.add_argument(
        "--variant", default="en-dodoi", help="en-dodoi (default), en-gehe or cross-endodoi"
    )
    group.add_argument("--columns", type=int, help="pits in a row (default: the variant's)")
    group.add_argument("--seeds-per-pit", type=int, help="seeds in a pit at the start")
    group.add_argument("--direction", help="anticlockwise or parity (S5)")
    group.add_argument("--lone-capture", help="stays or taken (C2)")
    group.add_argument("--endless", help="illegal or draw (S6)")
    group.add_argument("--lap-limit", type=int, help="laps after which a sowing is endless (S6)")
    group.add_argument("--quiet-limit", type=int, help="plies without capture that end a game (E3)")
    return rules


def ruleset_of(options: argparse.Namespace) -> Ruleset:
    """Return the rules that the options name."""
    return Ruleset(
        options.variant,
        columns=options.columns,
        seeds_per_pit=options.seeds_per_pit,
        direction=options.direction,
        lone_capture=options.lone_capture,
        endless=options.endless,
        lap_limit=options.lap_limit,
        quiet_limit=options.quiet_limit,
    )


def position_of(options: argparse.Namespace) -> Position:
    """Return the position that the options name; a text tells its own number of columns."""
    if options.text is None:
        return Position.start(ruleset_of(options))
    if options.columns is None:
        options.columns = options.text.partition("/")[0].count(",") + 1
    return Position.from_text(options.text, ruleset_of(options))


def add_openings(parser: argparse.ArgumentParser) -> None:
    """Add how the games of a contest begin."""
    parser.add_argument(
        "--openings",
        default="4",
        metavar="PLIES|balanced|FILE",
        help="random plies (default 4), the balanced book, or a file of positions",
    )


def openings_of(options: argparse.Namespace) -> int | str:
    """Return random plies, or what names a book."""
    text: str = options.openings
    return int(text) if text.lstrip("-").isdigit() else text


def add_contest_options(parser: argparse.ArgumentParser) -> None:
    """Add seed, limits and threads of a contest."""
    parser.add_argument("--seed", type=int, default=0, help="seed of all games (default 0)")
    parser.add_argument("--max-plies", type=int, help="plies after which a game is cut (E4)")
    parser.add_argument(
        "--seconds-per-move", type=float, metavar="S", help="a player that takes longer loses"
    )
    add_threads(parser)


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add how many threads work."""
    parser.add_argument("--threads", type=int, help="threads (default: one for each core)")


def add_ray(parser: argparse.ArgumentParser) -> None:
    """Add the cluster to work on."""
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster: auto, local or an address; --threads are those of a task",
    )


def on_ray(name: str) -> ModuleType:
    """Return a module of the package that works on a Ray cluster.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    """
    import_module("endodoi.ray")
    return import_module(f"endodoi.{name}")


def check_picture(path: str, games: str | None) -> None:
    """Refuse a picture that could not be written once the games are played.

    Parameters
    ----------
    path : str
        The picture.
    games : str or None
        The file of the games.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed; it is not loaded before it is needed.
    ArgumentValueError
        If the name's ending is that of no picture, or the games have that name.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise lacking("--plot needs matplotlib", "plot")
    ending = os.path.splitext(path)[1].lstrip(".").lower()  # noqa: PTH122
    if ending not in PICTURES:
        raise ArgumentValueError(
            f"--plot is {path!r}, expected a name that ends in .{', .'.join(PICTURES)}",
            field="plot",
            value=path,
        )
    check_place(path)
    if games is not None and os.path.realpath(path) == os.path.realpath(games):
        raise ArgumentValueError(
            f"--plot is {path!r}, which is the file of --out too", field="plot", value=path
        )


def refuse_same(places: dict[str, str]) -> None:
    """Refuse forms that would go to one file.

    Raises
    ------
    ArgumentValueError
        If two have the same place.
    """
    seen: dict[str, str] = {}
    for name, place in places.items():
        other = seen.setdefault(os.path.realpath(place), name)
        if other != name:
            raise ArgumentValueError(
                f"--{name} is {place!r}, which is the file of --{other} too",
                field=name,
                value=place,
            )
