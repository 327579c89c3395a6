"""Pages of the documentation that programs write."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from endodoi.places import write_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["finish"]


def finish(page: Path, text: str, *, check: bool) -> int:
    """Write a page, or check that it has this text, and return the exit status."""
    if not check:
        write_text(page, text)
        return 0
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return 0
    print(f"docs/{page.name} is out of date: make pages writes it", file=sys.stderr)
    return 1
