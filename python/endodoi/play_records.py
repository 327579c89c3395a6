"""Records of games played by a person."""

from __future__ import annotations

import errno
import os
from itertools import count
from typing import TYPE_CHECKING

from endodoi.places import written_whole

if TYPE_CHECKING:
    from endodoi.play_game import Game

__all__ = ["Records"]

#: Name of records that are given none.
NAME = "endodoi-game"


class Records:
    """The games of one sitting, which go to one file, one JSON object a line.

    Parameters
    ----------
    path : str, optional
        The file, which must not be there yet; by default a new one in this folder, once a game is
        saved.

    Raises
    ------
    FileExistsError
        If there is such a file: its games would be lost.
    """

    def __init__(self, path: str | None = None) -> None:
        if path is not None:
            refuse_existing(path)
        self.path = path
        self.lines: list[str] = []

    def keep(self, game: Game) -> None:
        """Remember a game that is left for another one."""
        if game.ply:
            self.lines.append(game.record().to_json())

    def save(self, game: Game, path: str | None = None) -> str:
        """Write the games kept and the one at hand; return the name of the file.

        Parameters
        ----------
        game : Game
        path : str, optional
            Another file for them, which must not be there yet.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        if path is not None and path != self.path:
            refuse_existing(path)
        elif self.path is None:
            names = (f"{NAME}-{number}.jsonl" for number in count(1))
            self.path = next(name for name in names if not os.path.lexists(name))
        place = path or self.path or NAME
        lines = [*self.lines, game.record().to_json()]
        with (
            written_whole(place) as partial,
            open(partial, "w", encoding="utf-8", newline="\n") as file,  # noqa: PTH123
        ):
            file.write("".join(f"{line}\n" for line in lines))
        return place


def refuse_existing(path: str) -> None:
    """Refuse a file that is there.

    Raises
    ------
    FileExistsError
        If it is.
    """
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "this file is there already; name a new one", path)
