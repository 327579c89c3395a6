"""Records of games played by a person."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING

from endodoi.places import written_whole

if TYPE_CHECKING:
    from endodoi.play_game import Game

__all__ = ["save_record"]

#: Name of records that are given none.
NAME = "endodoi-game"


def save_record(game: Game, path: str | None = None) -> str:
    """Write the record of a game and return the name of its file.

    Parameters
    ----------
    game : Game
    path : str, optional
        The file; by default a new one in this folder.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    if path is None:
        names = (f"{NAME}-{number}.jsonl" for number in count(1))
        path = next(name for name in names if not os.path.lexists(name))
    with (
        written_whole(path) as partial,
        open(partial, "w", encoding="utf-8", newline="\n") as file,  # noqa: PTH123
    ):
        file.write(game.record().to_json() + "\n")
    return path
