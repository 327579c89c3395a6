"""How numbers and names are written in texts."""

from __future__ import annotations

__all__ = ["counted", "readable", "signed"]


def counted(count: int, thing: str) -> str:
    """Return how many things there are: 1 game, 2 games."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def readable(text: str) -> str:
    """Return a text in one line, its control characters shown as escapes."""
    letters = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(letters)


def signed(value: float, digits: int = 0) -> str:
    """Return a number with its sign and so many digits after the point; what rounds to 0 is +0."""
    # The sum of -0 and 0 is 0.
    return f"{round(value, digits) + 0.0:+.{digits}f}"
