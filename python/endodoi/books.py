"""Books of openings: positions that pairs of games start from."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi._core import Position, read_book
from endodoi.errors import ArgumentTypeError, BookError
from endodoi.simulation import plain

if TYPE_CHECKING:
    from endodoi._core import Ruleset

__all__ = ["balanced", "read_openings"]

#: Where the shipped books lie: one for each board.
FOLDER = Path(__file__).parent / "books"


def balanced(ruleset: Ruleset) -> list[Position]:
    """Return the shipped book of a board: positions worth at most two seeds.

    The captured difference at the end with perfect play, seeds captured before included, is at
    most two in each of them, proven by the exact solver.

    Raises
    ------
    BookError
        If there is none for these rules; the message lists those there are.
    """
    path = FOLDER / f"{book_name(ruleset)}.txt"
    usual = _core.Ruleset(ruleset.variant, columns=ruleset.columns)
    if ruleset != usual or not path.is_file():
        names = sorted(path.stem for path in FOLDER.glob("*.txt"))
        raise BookError(
            f"there is no balanced book for {ruleset}, only for {', '.join(names)} with their "
            "usual rules; make one with ed.arena.book",
            value=str(ruleset),
        )
    return read_book(path.read_text(encoding="utf-8"), ruleset)


def book_name(ruleset: Ruleset) -> str:
    """Return the name of the shipped book of a board."""
    return f"{ruleset.variant}-2x{ruleset.columns}"


def read_openings(openings: Any, ruleset: Ruleset) -> tuple[int | list[Position], Any]:
    """Return openings as the core takes them, and as settings show them.

    Raises
    ------
    ArgumentTypeError
        If they are neither a number nor a book.
    BookError
        If a book cannot be used.
    OSError
        If its file cannot be read.
    """
    if isinstance(openings, str) and openings == "balanced":
        return shown_book(balanced(ruleset), "balanced")
    if isinstance(openings, (str, os.PathLike)):
        text = Path(openings).read_text(encoding="utf-8")
        return shown_book(read_book(text, ruleset), Path(openings).name)
    if isinstance(openings, (list, tuple)):
        return shown_book([read_one(one, i, ruleset) for i, one in enumerate(openings)], None)
    number = plain(openings)
    if isinstance(number, bool) or not isinstance(number, int):
        raise ArgumentTypeError(
            f"openings is {openings!r} ({type(openings).__name__}), expected a number of random "
            'plies, "balanced", a file or a list of positions',
            field="openings",
            value=openings,
        )
    return number, number


def read_one(one: object, index: int, ruleset: Ruleset) -> Position:
    """Return one position of a list."""
    if isinstance(one, Position):
        return one
    if isinstance(one, str):
        return Position.from_text(one, ruleset)
    raise ArgumentTypeError(
        f"openings[{index}] is {one!r} ({type(one).__name__}), expected a position or its text",
        field=f"openings[{index}]",
        value=one,
    )


def shown_book(positions: list[Position], name: str | None) -> tuple[list[Position], Any]:
    """Return a book and what tells it from others."""
    text = "\n".join(position.to_text() for position in positions)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return positions, {"book": name, "positions": len(positions), "sha256": digest}
