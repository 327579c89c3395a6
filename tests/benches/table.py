"""The table of `make bench`: its lines, its columns, what it prints and writes."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from protocol import ROOT, BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Version of the JSON; it changes when a field changes its meaning or goes.
SCHEMA = 1

#: Rows of the batches that are stepped.
BATCHES = (1, 16, 64, 1024, 4096, 65_536)

#: Numbers below it have few digits that say anything.
SMALL = 0.1

#: Width of the label of a line, and of a cell.
LABEL, CELL = 30, 12


class Board(NamedTuple):
    """A board of a variant."""

    variant: str
    columns: int

    @property
    def name(self) -> str:
        """How it is asked for: 2x6, cross-2x6."""
        cross = "cross-" if self.variant == "cross-endodoi" else ""
        return f"{cross}2x{self.columns}"


#: The boards measured, by name.
BOARDS = {
    board.name: board
    for board in (
        Board("en-dodoi", 6),
        Board("en-dodoi", 8),
        Board("en-dodoi", 10),
        Board("en-gehe", 50),
        Board("cross-endodoi", 6),
    )
}


class Column(NamedTuple):
    """What a column of the table measures."""

    what: str
    draw: str
    batch: int

    @property
    def title(self) -> str:
        """Its heading."""
        if self.what == "steps":
            return f"{self.batch:,}"
        return {"pits": "pits drawn", "mask": "exact mask"}[self.draw]

    @property
    def sentence(self) -> str:
        """What it is called in a sentence."""
        if self.what == "steps":
            return f"steps of {self.batch:,} rows"
        return f"random games ({self.title})"


COLUMNS = (
    Column("games", "pits", 0),
    Column("games", "mask", 0),
    *(Column("steps", "mask", batch) for batch in BATCHES),
)


class Line(NamedTuple):
    """Who is measured in a line of the table."""

    by: str
    engine: str
    threads: int

    @property
    def label(self) -> str:
        """What stands in front of it."""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.by}, {self.engine}{threads}"


@dataclass
class Cell:
    """One figure of the table and the runs it comes from."""

    board: str
    line: Line
    column: Column
    rates: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """Plies a second of the least disturbed run."""
        return max(self.rates)

    def to_dict(self, twin: float | None) -> dict[str, Any]:
        """Return it as a row of the JSON; `twin` is the scalar twin's best rate."""
        games = self.column.what == "games"
        return {
            "board": self.board,
            **self.line._asdict(),
            "what": self.column.what,
            "draw": self.column.draw,
            "batch": None if games else self.column.batch,
            "unit": "plies/s",
            "best": self.best,
            "median": median(self.rates),
            "runs": self.rates,
            "times_twin": self.best / twin if twin else None,
        }


class Table:
    """The cells measured so far."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []

    def rate(self, board: str, line: Line, column: Column) -> float | None:
        """Return the best rate of a cell, None where there is none."""
        for cell in self.cells:
            if (cell.board, cell.line, cell.column) == (board, line, column):
                return cell.best
        return None

    def twin(self, board: str, column: Column) -> float | None:
        """Return the rate of the scalar twin; other games are held against that of 2x6."""
        board = board if board in BOARDS else "2x6"
        return self.rate(board, TWIN, column)

    def section(self, board: str) -> str:
        """Return the lines of one board as text."""
        cells = [cell for cell in self.cells if cell.board == board]
        lines = [board]
        for line in dict.fromkeys(cell.line for cell in cells):
            mine = {cell.column: cell for cell in cells if cell.line == line}
            texts = (self.text(mine.get(column)) for column in COLUMNS)
            lines.append(f"  {line.label:<{LABEL}}" + "".join(texts))
        return "\n".join(line.rstrip() for line in lines)

    def text(self, cell: Cell | None) -> str:
        """Return a cell as text: millions a second, and how many times the twin's."""
        if cell is None:
            return " " * CELL
        twin = self.twin(cell.board, cell.column)
        times = "" if twin is None or cell.line == TWIN else f"x{digits(cell.best / twin)}"
        return f"{digits(cell.best / 1e6, small=3):>6}{times:>{CELL - 6}}"

    def to_dict(self, about: dict[str, Any]) -> dict[str, Any]:
        """Return everything as the object that is written as JSON."""
        rows = [cell.to_dict(self.twin(cell.board, cell.column)) for cell in self.cells]
        return {"schema": SCHEMA, **about, "rows": rows}


TWIN = Line("Rust", "twin", 1)


def heading() -> str:
    """Return the heading of the table."""
    games, steps = "random games", "steps of a batch, by its rows"
    titles = "".join(f"{column.title:>{CELL}}" for column in COLUMNS)
    above = f"{'':<{LABEL + 2}}{games:>{2 * CELL}}{steps:^{len(BATCHES) * CELL}}"
    return f"{above.rstrip()}\n{'':<{LABEL + 2}}{titles}"


def digits(value: float, small: int = 2) -> str:
    """Return a number with three digits or all before its point; below 0.1 with `small` places."""
    before = len(str(int(value)))
    return f"{value:.{max(0, 3 - before) if value >= SMALL else small}f}"


def compare(board: str, column: Column, answers: Iterable[tuple[Line, Sequence[int]]]) -> None:
    """Hold the answers of one column against the first one.

    Raises
    ------
    BenchError
        If one differs.
    """
    expected: Sequence[int] | None = None
    for line, answer in answers:
        expected = answer if expected is None else expected
        if not answer or list(answer) != list(expected):
            raise BenchError(
                f"{board}, {column.what} {column.title}: {line.label} gives another answer "
                f"than {TWIN.label}"
            )


def machine() -> dict[str, Any]:
    """Return date, commit and processor."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    commit = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no")
    return {
        "date": now,
        "commit": commit and commit + ("+" if changed else ""),
        "cpu": cpu(),
        "cores": cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def cores() -> int:
    """Return how many cores the process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def git(*arguments: str) -> str | None:
    """Return what git says about the checkout, None where there is no git."""
    try:
        said = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()
