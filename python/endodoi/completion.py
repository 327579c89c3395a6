"""Scripts that complete the words of the command in a shell, written by shtab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from endodoi.command_line import actions_of, leaves_of
from endodoi.extras import lacking

if TYPE_CHECKING:
    import argparse

__all__ = ["SHELLS", "script"]

#: Shells whose completions are written and tested.
SHELLS = ("bash", "zsh", "fish")

#: Words that the core takes for these options, which it refuses by name itself.
WORDS = {
    "variant": ("en-dodoi", "en-gehe", "cross-endodoi"),
    "direction": ("anticlockwise", "parity"),
    "lone_capture": ("stays", "taken"),
    "endless": ("illegal", "draw"),
    "learner": ("value", "gumbel"),
}

#: What a player can be in one word without a colon, at which bash parts words.
PLAYERS = ("random", "greedy", "perfect")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Write the script of a shell for the words of a parser, which is changed for it.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of all commands.
    shell : str
        One of `SHELLS`.

    Raises
    ------
    MissingExtraError
        If shtab is not installed.
    """
    try:
        import shtab  # noqa: PLC0415
    except ImportError as error:
        raise lacking("completion needs shtab", "completion") from error
    places = {"FILE": shtab.FILE, "FOLDER": shtab.DIRECTORY, "RUN": shtab.DIRECTORY}
    for leaf in leaves_of(parser):
        for action in actions_of(leaf):
            if action.metavar in places:
                action.complete = places[action.metavar]  # type: ignore[attr-defined]
            elif action.metavar == "PLAYER":
                action.choices = PLAYERS
            elif action.dest in WORDS:
                action.choices = WORDS[action.dest]
    return shtab.complete(parser, shell=shell)
