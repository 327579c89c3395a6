"""Boards as pixels, for the environments' render mode ``"rgb_array"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from endodoi._core import pixels

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from endodoi._core import Batch, Position

__all__ = ["rgb", "rgb_of_rows"]


def rgb(position: Position, *, status: str | None = None, scale: int = 1) -> npt.NDArray[np.uint8]:
    """Draw a position as pixels.

    Parameters
    ----------
    position : Position
    status : str, optional
        Replaces the line that says whose turn it is or how the game ended.
    scale : int, default 1
        Pixels for each unit of the picture, 1 to 4.

    Returns
    -------
    ndarray of uint8 [H, W, 3]
        Red, green and blue; ``H`` and ``W`` are even and depend on the columns and `scale` alone.

    Raises
    ------
    ArgumentValueError
        If `scale` is outside its range.
    """
    return pixels(position, scale=scale, status=status)


def rgb_of_rows(batch: Batch) -> tuple[npt.NDArray[np.uint8], ...]:
    """Draw the board of every row of a batch, uint8 [H, W, 3] each.

    The line below a board is the last one of its text, which tells of games that were cut, too.
    """
    lines = [text.rsplit("\n", 1)[-1] for text in batch.render()]
    return tuple(rgb(batch.position(row), status=line) for row, line in enumerate(lines))
