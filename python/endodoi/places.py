"""Places that files are written to: checked before the work begins, and written as a whole."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi.numbers_given import wrong_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

__all__ = [
    "check_place",
    "claim",
    "folder_at",
    "held_back",
    "write_figure",
    "write_text",
    "written_whole",
]


def check_place(path: str | os.PathLike[str]) -> str:
    """Return the path of the file to be written, links followed; refuse where none can be.

    Raises
    ------
    ArgumentTypeError
        If it is no path.
    FileNotFoundError
        If the folder does not exist, or the path is empty.
    PermissionError
        If nothing can be written to the folder.
    IsADirectoryError
        If the path is that of a folder.
    FileExistsError
        If it is that of a device or a pipe, which must not be replaced by a file.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise wrong_type(path, "path", "the path of a file")
    path = os.fsdecode(path)
    if not path:
        raise FileNotFoundError(errno.ENOENT, "the path of the file is empty", path)
    folder = os.path.dirname(path) or "."  # noqa: PTH120
    if not os.path.isdir(folder):  # noqa: PTH112
        raise FileNotFoundError(errno.ENOENT, "there is no such folder; make it first", folder)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "the folder cannot be written to", folder)
    if os.path.isdir(path):  # noqa: PTH112
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file", path)
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        raise FileExistsError(errno.EEXIST, "this is a device or a pipe; name a file", path)
    return os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114


def folder_at(path: object) -> Path:
    """Return the path of a folder that is there or can be made.

    Raises
    ------
    ArgumentTypeError
        If it is no path.
    OSError
        If it is empty or a file.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type(path, "out", "the path of a folder")
    if not os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, "out is empty, expected the path of a folder", path)
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "out is a file, expected a folder", str(path))
    return folder


def claim(path: str) -> int | None:
    """Open a temporary file for this writer alone; the descriptor holds the claim.

    What a killed process has left there is free to be claimed. None where the system knows no
    locks.

    Raises
    ------
    BlockingIOError
        If another writer holds it.
    OSError
        If it cannot be opened.
    """
    if os.name != "posix":
        return None
    fcntl: Any = importlib.import_module("fcntl")
    while True:
        claimed = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(claimed, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(claimed)
            raise BlockingIOError(errno.EAGAIN, "another process is at work here", path) from None
        except OSError:
            # A file system without locks.
            return claimed
        # The other writer may have given its file the final name in between.
        if os.path.exists(path) and os.path.samestat(os.fstat(claimed), os.stat(path)):  # noqa: PTH110, PTH116
            return claimed
        os.close(claimed)


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give a temporary name to write to; what is written there gets its name if all went well.

    Raises
    ------
    OSError
        As `check_place`.
    """
    place = check_place(path)
    folder, name = os.path.split(place)
    partial = os.path.join(folder, f".{name}.{os.getpid()}.partial")  # noqa: PTH118
    try:
        yield partial
        os.replace(partial, place)  # noqa: PTH105
    finally:
        if os.path.exists(partial):  # noqa: PTH110
            os.remove(partial)  # noqa: PTH107


def write_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture in the format of its ending, PNG without one, as `write_text` does."""
    ending = os.path.splitext(os.fsdecode(path))[1].lstrip(".")  # noqa: PTH122
    with written_whole(path) as partial:
        figure.savefig(partial, dpi=120, format=ending or "png")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file under a temporary name and rename it."""
    with written_whole(path) as partial, open(partial, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold a Ctrl-C back until the block is left."""
    before: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *received: held.append(received))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for received in held[:1]:
            before(*received)
