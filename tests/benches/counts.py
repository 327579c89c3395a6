"""Print the instructions that a ply and a lap take, counted by Callgrind.

    python tests/benches/counts.py [--boards 2x6 ...] [--json FILE]

Counts do not depend on what else the machine does. Callgrind does not know AVX-512. Games are
counted as the difference between a run of some games and one of twice as many, so that neither the
start of the program nor that of the threads counts; steps are counted inside the step alone, its
moves given.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocol import ROOT, BenchError, Row, Worker, build_rows, write_json
from table import BOARDS, SCHEMA, machine

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Games of the shorter run, by columns; a hundred plies each or more are enough.
GAMES = {6: 2048, 8: 1536, 10: 1024, 50: 192}

#: Rows of the batch that is stepped, and its steps.
ROWS, STEPS = 64, 40


class Count:
    """A program under Callgrind."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def run(self, row: Row, size: int, *flags: str) -> tuple[int, dict[str, int]]:
        """Return the instructions of some work and what it says it did.

        Raises
        ------
        BenchError
            If Callgrind fails.
        """
        request = json.dumps({"do": "work", "row": row, "size": size})
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *flags]
        ran = subprocess.run(
            [*command, str(self.program), request], capture_output=True, text=True, check=False
        )
        counted = re.search(r"Collected : (\d+)", ran.stderr)
        if ran.returncode != 0 or counted is None:
            raise BenchError(f"valgrind: {ran.stderr.strip()}")
        return int(counted[1]), json.loads(ran.stdout)

    def games(self, row: Row) -> dict[str, float]:
        """Return the instructions of random games for each ply and each lap."""
        games = GAMES[row["columns"]]
        few, less = self.run(row, games)
        many, more = self.run(row, 2 * games)
        plies, laps = (more[name] - less[name] for name in ("plies", "laps"))
        return {"ply": (many - few) / plies, "lap": (many - few) / laps}

    def steps(self, row: Row) -> dict[str, float]:
        """Return the instructions of steps with exact masks for each ply."""
        flags = ("--collect-atstart=no", "--toggle-collect=*Run*play*")
        counted, did = self.run(row, STEPS, *flags)
        return {"ply": counted / did["plies"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--boards", nargs="+", choices=list(BOARDS), default=list(BOARDS), metavar="BOARD")
    add("--program", type=Path, help="the Rust rows, where they are built already")
    default = ROOT / "target" / "bench-instructions.json"
    add("--json", type=Path, default=default, metavar="FILE")
    options = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        print("valgrind was not found: no instructions are counted; its package brings Callgrind")
        return 0
    try:
        rows = count(options.program or build_rows(), options.boards)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    write_json(options.json, {"schema": SCHEMA, **machine(), "rows": rows})
    print(f"written: {options.json}")
    return 0


def count(program: Path, boards: Sequence[str]) -> list[dict[str, Any]]:
    """Print the instructions of every board and set; return them as rows of the JSON."""
    rust = Worker("the Rust rows", [str(program)])
    sets = ["twin", *(name for name in rust.ask(do="sets")["sets"] if name != "avx512")]
    rust.close()
    print(f"{'instructions':<22}{'games, a ply':>14}{'a lap':>10}{'steps, a ply':>14}")
    rows = []
    for name in boards:
        board = BOARDS[name]
        for engine in sets:
            row = Row(
                what="games",
                variant=board.variant,
                columns=board.columns,
                engine=engine,
                threads=1,
                draw="pits",
                batch=0,
            )
            counts = Count(program)
            # One game after another is the twin itself.
            games = counts.games(row) if engine != "scalar" else {}
            steps = counts.steps({**row, "what": "steps", "draw": "mask", "batch": ROWS})
            figures = (games.get("ply"), games.get("lap"), steps["ply"])
            texts = ("" if figure is None else f"{figure:,.0f}" for figure in figures)
            cells = "".join(
                f"{text:>{width}}" for text, width in zip(texts, (14, 10, 14), strict=True)
            )
            print(f"{name + ', ' + engine:<22}{cells}", flush=True)
            rows.append({"board": name, "engine": engine, "games": games, "steps": steps})
    return rows


if __name__ == "__main__":
    sys.exit(main())
