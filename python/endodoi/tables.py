"""Endgame tables: the exact value of every position with few seeds.

A value is what the side to move still takes less what the other side still takes, with perfect
play. The rest that goes to the other side when a side is stuck counts (E1), play without end gains
nothing for either side, and the quiet limit (E3) is not looked at. A table holds for one number of
columns, one direction (S5), lone capture (C2) and lap limit (S6); other rules are refused. Endless
sowings have to be illegal (``endless="illegal"``).

Examples
--------
>>> import endodoi as ed
>>> ruleset = ed.Ruleset(columns=2)
>>> table = ed.tables.build(ruleset, 16)
>>> table.positions
4845
>>> table.value(ed.Position.start(ruleset))
6
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from endodoi._core import EndgameTable
from endodoi.errors import TableError
from endodoi.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from endodoi._core import Ruleset

__all__ = ["EndgameTable", "build", "info", "open", "verify"]

#: How progress is told, as in `endodoi.simulate`.
Told: TypeAlias = "bool | str | Callable[[int], object] | None"


def build(
    ruleset: Ruleset,
    max_seeds: int,
    *,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    num_threads: int | None = None,
    progress: Told = None,
) -> EndgameTable:
    """Work out the values of all positions with up to ``max_seeds`` seeds.

    While it is built a table takes one byte a position, and two more for each one with exactly
    ``max_seeds`` seeds: 55 MB for 2x6 up to 16 seeds. Ctrl-C stops it within a second.

    Parameters
    ----------
    ruleset : Ruleset
        The rules; ``seeds_per_pit`` and ``quiet_limit`` do not matter.
    max_seeds : int
        The most seeds on the board, 0 to 127; the positions are at most 2^34.
    out : path, optional
        File to write the table to; the table returned is that of the file. In a folder it gets the
        name that tells its rules, as ``en-dodoi-2x6-stays-16.edt``.
    force : bool
        Whether a file that is there already is replaced.
    num_threads : int, optional
        1 to 1,024; the default is one for every core the process may use. The values do not depend
        on it.
    progress : bool, callable, "tqdm" or None
        A function that takes the positions done; ``"tqdm"`` a bar of tqdm; True a line on the error
        output; None as True on a terminal and in a notebook, else nothing.

    Returns
    -------
    table : EndgameTable

    Raises
    ------
    TableError
        If a number is out of its range, the positions are too many, memory is short,
        ``endless="draw"``, there is such a file already, or it cannot be written.
    KeyboardInterrupt
        At Ctrl-C; no file is left behind.
    """
    path = None
    if out is not None:
        path = Path(out)
        if path.is_dir():
            path /= EndgameTable.file_name(ruleset, max_seeds)
        check_new(path, force=force)
    with Progress(0, progress, unit="position") as shown:
        shown.games = positions(ruleset.columns, max_seeds)
        table = EndgameTable.build(
            ruleset, max_seeds, num_threads=num_threads, progress=shown.function
        )
    if path is None:
        return table
    table.save(path, replace=force)
    return EndgameTable.open(path, ruleset)


def check_new(path: Path, *, force: bool) -> None:
    """Refuse a file that could not be written once the table is built.

    Raises
    ------
    TableError
        If there is such a file, unless it is to be replaced, or no such folder.
    """
    if path.exists() and not force:
        raise TableError(f"{path}: there is such a file already", kind="exists", path=path)
    if not path.parent.is_dir():
        raise TableError(f"{path}: there is no such folder; make it first", kind="io", path=path)


def positions(columns: int, max_seeds: int) -> int:
    """Return how many positions with up to some seeds there are on a board.

    Examples
    --------
    >>> positions(6, 16)
    30421755
    """
    ways = 1
    for pit in range(1, 2 * columns + 1):
        ways = ways * (max_seeds + pit) // pit
    return ways


def open(  # noqa: A001
    path: str | os.PathLike[str], ruleset: Ruleset | None = None
) -> EndgameTable:
    """Open the file of a table; its values are read when they are asked for.

    The file must not be cut or changed in place while the table is in use. Building it again
    replaces it as a whole and does no harm.

    Parameters
    ----------
    path : path
        The file.
    ruleset : Ruleset, optional
        The rules that its values must hold under; the default takes a table of any rules.

    Returns
    -------
    table : EndgameTable

    Raises
    ------
    TableError
        If the file cannot be read, is no table, is cut off, has a damaged header, or the table is
        for other rules. ``kind`` tells which, ``path`` the file.
    """
    return EndgameTable.open(path, ruleset)


def verify(
    path: str | os.PathLike[str],
    *,
    all_positions: bool = False,
    num_threads: int | None = None,
    progress: Told = None,
) -> EndgameTable:
    """Check the file of a table: every checksum, and values against the moves of their positions.

    Parameters
    ----------
    path : path
        The file.
    all_positions : bool
        Check the value of every position, not only of a sample, against the positions that its
        moves lead to.
    num_threads : int, optional
        1 to 1,024; the default is one for every core the process may use.
    progress : bool, callable, "tqdm" or None
        As in `build`.

    Returns
    -------
    table : EndgameTable
        The table, which is sound.

    Raises
    ------
    TableError
        As `open`, or which block is damaged, or which position contradicts its moves.
    """
    table = EndgameTable.open(path)
    with Progress(table.positions, progress, unit="position") as shown:
        table.verify(all_positions=all_positions, num_threads=num_threads, progress=shown.function)
    return table


def info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the file of a table says of it.

    Returns
    -------
    info : dict
        ``path``, ``ruleset`` (a dict as of ``Ruleset.to_dict``), ``max_seeds``, ``positions``,
        ``bytes`` of the file.

    Raises
    ------
    TableError
        As `open`.
    """
    table = EndgameTable.open(path)
    return {
        "path": os.fspath(path),
        "ruleset": table.ruleset.to_dict(),
        "max_seeds": table.max_seeds,
        "positions": table.positions,
        "bytes": Path(path).stat().st_size,
    }
