"""A folder of Parquet files that the workers of a cluster write, one for each task."""

from __future__ import annotations

import errno
import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi.errors import ClusterError
from endodoi.game_file import GameFile, kept_text, load_arrow, read_games
from endodoi.places import claim, held_back
from endodoi.ray_cluster import node_name

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["GameFolder", "read_part", "write_part"]

#: Holds the folder for one simulation.
LOCK = ".lock"


class GameFolder:
    """A folder of games that has a temporary name until it is complete.

    Parameters
    ----------
    path : path
        The folder, which must be new or empty.
    settings : dict
        What is played.
    offers : bool
        Whether there is a column ``offers``.

    Attributes
    ----------
    partial : str
        Its temporary name.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    OSError
        If the folder holds something, cannot be made, or another simulation is writing to it.
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: dict[str, Any], *, offers: bool
    ) -> None:
        load_arrow()
        self.path = check_new_folder(path)
        self.settings = settings
        self.offers = offers
        self.partial = f"{self.path}.partial"
        Path(self.partial).mkdir(exist_ok=True)
        self.claimed = claim(str(Path(self.partial) / LOCK))

    def begin(self, starts: Iterable[int]) -> None:
        """Remove what an ended simulation left that is no part of this one."""
        expected = {part_name(start) for start in starts}
        for path in Path(self.partial).iterdir():
            if path.name not in expected and path.name != LOCK:
                path.unlink()

    def check(self, start: int) -> None:
        """Look whether a part that a worker has written is there.

        Raises
        ------
        ClusterError
            If it is not: the worker's folder is another one.
        """
        path = Path(self.partial) / part_name(start)
        if not path.exists():
            raise ClusterError(
                f"a worker wrote {path}, which is not to be seen here: the folder must be the same "
                "on all machines, as one on a shared file system",
            )

    def keep(self, games: int) -> None:
        """Complete the folder with the parts before a game alone."""
        last = part_name(games)
        for path in Path(self.partial).glob("games-*.parquet"):
            if path.name >= last:
                path.unlink()
        self.complete()

    def complete(self) -> None:
        """Give the folder its name; a Ctrl-C waits until that is done."""
        with held_back():
            folder = Path(self.partial)
            if not any(folder.glob("games-*.parquet")):
                self.write_nothing()
            for path in folder.glob(".*"):
                path.unlink()
            folder.replace(self.path)
            self.release()

    def write_nothing(self) -> None:
        """Write a part without games, so that there are columns to be read."""
        path = Path(self.partial) / part_name(0)
        with GameFile(path, self.settings, offers=self.offers) as file:
            file.complete()

    def release(self) -> None:
        """Let another simulation write to the folder; an empty one is removed."""
        if self.claimed is not None:
            os.close(self.claimed)
            self.claimed = None
        with suppress(OSError):
            if {path.name for path in Path(self.partial).iterdir()} <= {LOCK}:
                (Path(self.partial) / LOCK).unlink(missing_ok=True)
                Path(self.partial).rmdir()


def check_new_folder(path: str | os.PathLike[str]) -> str:
    """Return the whole path of a folder that can be made.

    Raises
    ------
    OSError
        If it is there and holds something, or the folder that it is to be in is missing or cannot
        be written to.
    """
    folder = Path(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100
    if not folder.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "there is no such folder; make it first", str(folder.parent)
        )
    if not os.access(folder.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "the folder cannot be written to", str(folder.parent))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "this is a file; name a folder", str(folder))
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "the folder holds files; name a new one", str(folder))
    return str(folder)


def part_name(start: int) -> str:
    """Return the name of the part whose first game has this place; names are in game order."""
    return f"games-{start:013d}.parquet"


def write_part(
    folder: str, start: int, table: _core.GameTable, settings: dict[str, Any], *, offers: bool
) -> None:
    """Write a part under a temporary name of its own and rename it; runs on a worker.

    A task that is done twice writes the same part twice.

    Raises
    ------
    ClusterError
        If this machine does not have the folder.
    OSError
        If the part cannot be written.
    """
    if not Path(folder).is_dir():
        raise ClusterError(
            f"there is no folder {folder} on {node_name()}: it must be the same on all machines, "
            "as one on a shared file system",
            node=node_name(),
        )
    path = Path(folder) / part_name(start)
    partial = Path(folder) / f".{path.name}.{uuid.uuid4().hex}"
    with GameFile(path, settings, offers=offers, partial=str(partial)) as file:
        file.write(table.to_numpy())
        file.complete()


def read_part(
    folder: str, start: int, games: int, settings: dict[str, Any]
) -> _core.GameTable | None:
    """Read a part that is there already, None if there is none of this simulation."""
    path = Path(folder) / part_name(start)
    if not path.exists():
        return None
    try:
        columns, kept = read_games(path)
    except (OSError, ValueError):
        return None
    if kept != kept_text(settings) or len(columns["winner"]) != games:
        return None
    return _core.GameTable.from_numpy(columns)
