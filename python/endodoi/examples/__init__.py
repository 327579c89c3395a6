"""Programs that train on the environments: to read, to run and to start from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["needs"]


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """End the program with one line that names the extra where a library cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise SystemExit(
            f"this example cannot import {error.name}: pip install 'endodoi[{extra}]'"
        ) from error
