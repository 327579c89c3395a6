"""Print the table of `make bench` and write it as JSON.

    python tests/benches/bench.py [--seconds 0.15] [--boards 2x6 ...] [--json FILE]

Every row is measured in turn, a slice at a time, round after round, so that whatever else the
machine does falls on all rows alike; the best slice counts. Before that, every row plays the same
games and gives the answers of the scalar twin, or nothing is printed. docs/speed.md tells what the
rows are.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocol import ROOT, BenchError, Row, Worker, build_rows, check_file, write_json
from table import (
    BATCHES,
    BOARDS,
    COLUMNS,
    TWIN,
    Cell,
    Column,
    Line,
    Table,
    compare,
    cores,
    digits,
    heading,
    machine,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent

#: Batches of fewer rows are stepped by one thread, however many there are.
SHARED_FROM = 1024

#: The batch that sentences tell of.
USUAL_BATCH = 4096

#: How many times as long as other slices those of games are: a call starts and ends slowly.
GAMES_SLICE = 3

#: The section of the other simulators.
OTHERS = "others, each with a game of its own"

#: What the other simulators' lines are called, by worker.
PEERS = {
    "openspiel": ("OpenSpiel", "mancala 2x6"),
    "pgx": ("Pgx", "connect four"),
    "envpool": ("EnvPool", "CartPole"),
}

LEGEND = """
Millions of plies a second, and how many times the scalar twin's of the same column:
one game after another, one position after another. Random games draw among the non-empty
pits and again where the sowing is endless ("pits drawn"), or sow every move of every ply
("exact mask"), as steps do. The Python lines are ed.simulate and VectorEnv.step.
"""


class Bench:
    """A run: the processes that measure and the cells measured."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.table = Table()
        self.slice = options.seconds / options.rounds
        self.rust = Worker("the Rust rows", [str(options.program or build_rows())])
        self.python = None
        if not options.rust_only:
            self.python = Worker("the Python rows", [sys.executable, str(HERE / "ours.py")])
        self.workers: dict[Line, Worker] = {}
        self.versions: dict[str, str] = {}
        about = self.rust.ask(do="sets")
        self.sets: list[str] = about["sets"]
        self.version: str = about["version"]

    def lines(self) -> Iterator[Line]:
        """Return the lines of a board: each set of instructions, the last one with all threads."""
        for by in ("Rust", "Python") if self.python else ("Rust",):
            if by == "Rust":
                yield TWIN
            for engine in self.sets:
                yield Line(by, engine, 1)
            if self.options.threads > 1:
                yield Line(by, self.sets[-1], self.options.threads)

    def cells(self, board: str) -> list[Cell]:
        """Return the cells of a board, nothing measured yet."""
        return [
            Cell(board, line, column)
            for line in self.lines()
            for column in COLUMNS
            if self.is_measured(line, column)
        ]

    def is_measured(self, line: Line, column: Column) -> bool:
        """Tell whether a cell says something of its own."""
        if column.what != self.options.only and self.options.only is not None:
            return False
        if column.what == "steps":
            shared = column.batch >= SHARED_FROM or line.threads == 1
            return shared and column.batch in self.options.batches
        # One game after another is the twin itself.
        return line.engine != "scalar"

    def request(self, cell: Cell) -> dict[str, Any]:
        """Return what the worker of a cell is asked with."""
        if cell.line in self.workers:
            return {"what": cell.column.what, "batch": cell.column.batch}
        board = BOARDS[cell.board]
        row = Row(
            what=cell.column.what,
            variant=board.variant,
            columns=board.columns,
            engine=cell.line.engine,
            threads=cell.line.threads,
            draw=cell.column.draw,
            batch=cell.column.batch,
        )
        if cell.line.by != "Python" or cell.column.what == "games":
            return {"row": row}
        state = self.folder / f"{cell.board}-{cell.column.batch}.state"
        if not state.exists():
            self.rust.ask(do="state", row=row, path=str(state))
        return {"row": row, "state": str(state)}

    def worker(self, cell: Cell) -> Worker:
        """Return the process that measures a cell."""
        if cell.line in self.workers:
            return self.workers[cell.line]
        return self.python if self.python and cell.line.by == "Python" else self.rust

    def check(self, cells: Sequence[Cell]) -> None:
        """Have every cell of a board answered, and hold it against the twin's answer.

        Raises
        ------
        BenchError
            If one differs.
        """
        board = cells[0].board
        for column in dict.fromkeys(cell.column for cell in cells):
            answers = []
            for cell in (cell for cell in cells if cell.column == column):
                answer = self.worker(cell).ask(do="check", **self.request(cell))["answer"]
                answers.append((cell.line, answer))
            compare(board, column, answers)

    def measure(self, cells: Sequence[Cell]) -> None:
        """Measure cells in turn, round after round."""
        for _ in range(self.options.rounds):
            for cell in cells:
                seconds = self.slice * (GAMES_SLICE if cell.column.what == "games" else 1)
                ask = self.worker(cell).ask
                answer = ask(do="time", seconds=seconds, **self.request(cell))
                cell.rates.append(answer["plies"] / answer["seconds"])

    def run(self, board: str) -> None:
        """Measure and print a board; the other simulators are measured with the first one."""
        cells = self.cells(board)
        self.check(cells)
        others = self.others() if not self.table.cells else []
        self.measure([*cells, *others])
        self.table.cells += [*cells, *others]
        print(self.table.section(board), flush=True)
        for worker in (self.rust, self.python):
            if worker:
                worker.ask(do="drop")
        for worker in self.workers.values():
            worker.close()

    def others(self) -> list[Cell]:
        """Start the other simulators and return their cells; one that is missing has none."""
        if self.options.peers == "no":
            return []
        cells = []
        for name, (by, game) in PEERS.items():
            for threads in sorted({1, self.options.threads if name != "openspiel" else 1}):
                worker = Worker(by, [sys.executable, str(HERE / "peers.py"), name, str(threads)])
                about = worker.ask(do="about")
                if "missing" in about:
                    worker.close()
                    self.missing(by, about["missing"])
                    break
                self.versions[by] = about["version"]
                line = Line(by, game, threads)
                self.workers[line] = worker
                cells += [
                    Cell(OTHERS, line, column) for column in peer_columns(by, self.options.batches)
                ]
        return cells

    def missing(self, by: str, why: str) -> None:
        """Say that a simulator is not there.

        Raises
        ------
        BenchError
            If it was asked for.
        """
        text = f"{by} is not measured ({why}); pip install 'endodoi[bench]' brings it"
        if self.options.peers == "yes":
            raise BenchError(text)
        print(text, file=sys.stderr)

    def short(self) -> Iterator[str]:
        """Return sentences that hold figures of the table against each other."""
        rate, best, threads = self.table.rate, self.sets[-1], self.options.threads
        usual = Column("steps", "mask", usual_batch(self.options.batches))
        for board in self.options.boards if threads > 1 else ():
            parts = []
            for column in (COLUMNS[0], usual):
                one = rate(board, Line("Rust", best, 1), column)
                more = rate(board, Line("Rust", best, threads), column)
                if one and more:
                    parts.append(f"{column.sentence} x{digits(more / one)}")
            if parts:
                yield f"{board}, {threads} threads against one: {', '.join(parts)}"
        board = self.options.boards[0]
        for line in self.workers:
            for column in peer_columns(line.by, [usual.batch]):
                ours = COLUMNS[0] if column.what == "games" else usual
                by = "Rust" if column.what == "games" else "Python"
                mine = rate(board, Line(by, best, line.threads), ours)
                theirs = rate(OTHERS, line, column)
                if mine and theirs:
                    yield (
                        f"{board} against {line.label}: {by}, {ours.sentence} "
                        f"x{digits(mine / theirs)}"
                    )

    def close(self) -> None:
        """End the processes."""
        for worker in (self.rust, self.python, *self.workers.values()):
            if worker:
                worker.close()


def peer_columns(by: str, batches: Sequence[int]) -> list[Column]:
    """Return the columns in which another simulator is measured."""
    if by == "OpenSpiel":
        return [COLUMNS[0], Column("steps", "mask", 1)]
    return [Column("steps", "mask", rows) for rows in batches]


def usual_batch(batches: Sequence[int]) -> int:
    """Return the batch that sentences tell of: 4,096 rows where they are measured."""
    return min(batches, key=lambda rows: abs(rows - USUAL_BATCH))


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--seconds", type=float, default=0.15, help="seconds of measuring for each figure")
    add("--rounds", type=int, default=5, help="slices that these seconds are cut into")
    add("--boards", nargs="+", choices=list(BOARDS), default=list(BOARDS), metavar="BOARD")
    add("--batches", nargs="+", type=int, choices=BATCHES, default=list(BATCHES), metavar="ROWS")
    add("--only", choices=("games", "steps"), help="measure only random games, or only steps")
    add("--threads", type=int, default=cores(), help="threads of the lines with more than one")
    add("--peers", choices=("auto", "yes", "no"), default="auto", help="the other simulators")
    add("--rust-only", action="store_true", help="leave out what is called from Python")
    add("--program", type=Path, help="the Rust rows, where they are built already")
    add("--json", type=Path, default=ROOT / "target" / "bench.json", metavar="FILE")
    options = parser.parse_args(arguments)
    if not 0 < options.seconds < math.inf or options.rounds < 1 or options.threads < 1:
        parser.error("--seconds, --rounds and --threads must be above 0")
    options.boards = list(dict.fromkeys(options.boards))
    options.batches = sorted(set(options.batches))
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; return the exit status."""
    options = read_options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            bench = Bench(options, Path(folder))
            try:
                run(bench)
            finally:
                bench.close()
        except BrokenPipeError:
            # Who read the table has seen enough; nothing more can be written there at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except (BenchError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
    return 0


def run(bench: Bench) -> None:
    """Print the table and write the JSON."""
    options, here = bench.options, machine()
    check_file(options.json)
    about: dict[str, Any] = {
        **here,
        "version": bench.version,
        "seconds": options.seconds,
        "rounds": options.rounds,
        "threads": options.threads,
    }
    commit = (here["commit"] or "no commit")[:12]
    print(f"endodoi {bench.version} ({commit}), {here['cores']} cores, {here['cpu']}")
    print(LEGEND, heading(), sep="\n")
    for board in options.boards:
        bench.run(board)
    if bench.versions:
        print(bench.table.section(OTHERS))
    print("", *bench.short(), sep="\n")
    write_json(options.json, bench.table.to_dict({**about, "peers": bench.versions}))
    print(f"written: {options.json}")


if __name__ == "__main__":
    sys.exit(main())
