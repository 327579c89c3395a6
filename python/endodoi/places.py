"""Places that files are written to, checked before the work begins."""

from __future__ import annotations

import errno
import os

__all__ = ["check_place"]


def check_place(path: str) -> None:
    """Refuse a place where no file can be written.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    IsADirectoryError
        If the path is that of a folder.
    """
    folder = os.path.dirname(path) or "."  # noqa: PTH120
    if not os.path.isdir(folder):  # noqa: PTH112
        raise FileNotFoundError(errno.ENOENT, "there is no such folder; make it first", folder)
    if os.path.isdir(path):  # noqa: PTH112
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file", path)
