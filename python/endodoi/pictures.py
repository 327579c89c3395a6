"""Boards as pixels, for the environments' render mode ``"rgb_array"``, and as files."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from endodoi._core import pixels
from endodoi.errors import ArgumentValueError
from endodoi.places import written_whole

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from endodoi._core import Batch, Position, Sowing

__all__ = ["LastMoves", "rgb", "rgb_of_rows", "write_png", "write_svg"]


def rgb(
    position: Position | Sowing, *, status: str | None = None, scale: int = 1
) -> npt.NDArray[np.uint8]:
    """Draw a position as pixels, or the one that a sowing leads to with its way.

    Parameters
    ----------
    position : Position or Sowing
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
    MoveError
        If the rules forbid the sowing.
    """
    return pixels(position, scale=scale, status=status)


def rgb_of_rows(
    batch: Batch, last_moves: LastMoves | None = None
) -> tuple[npt.NDArray[np.uint8], ...]:
    """Draw the board of every row of a batch, uint8 [H, W, 3] each, with the way of its last move.

    The line below a board is the last one of its text, which tells of games that were cut, too.
    """
    lines = [text.rsplit("\n", 1)[-1] for text in batch.render()]
    shown = [None] * len(lines) if last_moves is None else last_moves.sowings
    return tuple(
        rgb(shown[row] or batch.position(row), status=line) for row, line in enumerate(lines)
    )


class LastMoves:
    """The last move of every row of a batch, found out from the positions around each step."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.before: list[Position] = []
        self.sowings: list[Sowing | None] = [None] * batch.rows

    def forget(self, rows: npt.NDArray[np.bool_] | None = None) -> None:
        """Show no move in these rows, bool [B], or in all: games have begun or were replaced."""
        gone = [True] * self.batch.rows if rows is None else rows
        for row, sowing in enumerate(self.sowings):
            self.sowings[row] = None if gone[row] else sowing

    def remember(self) -> None:
        """Keep the positions before a step."""
        self.before = [self.batch.position(row) for row in range(self.batch.rows)]

    def follow(self, actions: Any) -> None:
        """Find the last moves of a step that played these columns, int [B] or int."""
        columns = np.asarray(actions).reshape(-1).tolist()
        for row, (before, column) in enumerate(zip(self.before, columns, strict=True)):
            after = self.batch.position(row)
            if after != before:
                self.sowings[row] = last_sowing(before, column, after)


def last_sowing(before: Position, column: int, after: Position) -> Sowing | None:
    """Return the sowing of `column`, or of the answer to it, that leads to a position.

    None if neither does: another game has begun.
    """
    if column not in before.legal_moves():
        return None
    between = before.play(column)
    if between == after:
        return before.sow(column)
    answers = (answer for answer in between.legal_moves() if between.play(answer) == after)
    answer = next(answers, None)
    return None if answer is None else between.sow(answer)


def write_svg(shown: Position | Sowing, path: str | os.PathLike[str]) -> None:
    """Write the picture of a position, or of a sowing, as an SVG file.

    Raises
    ------
    ArgumentValueError
        If the rules forbid the sowing.
    OSError
        If the file cannot be written.
    """
    text = shown._repr_svg_()
    if text is None:
        raise ArgumentValueError("the rules forbid this sowing", field="shown", value=shown)
    with written_whole(path) as partial, open(partial, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def write_png(shown: Position | Sowing, path: str | os.PathLike[str], *, scale: int = 2) -> None:
    """Write the picture of a position, or of a sowing, as a PNG file.

    Parameters
    ----------
    shown : Position or Sowing
    path : path
        The file.
    scale : int, default 2
        Pixels for each unit of the picture, 1 to 4.

    Raises
    ------
    ArgumentValueError
        If `scale` is outside its range.
    MoveError
        If the rules forbid the sowing.
    OSError
        If the file cannot be written.
    """
    picture = rgb(shown, scale=scale)
    height, width, _ = picture.shape
    # Every line of a PNG begins with the number of its filter, 0 for none.
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    with written_whole(path) as partial, open(partial, "wb") as file:  # noqa: PTH123
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in parts:
            check = zlib.crc32(kind + data)
            file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check))
