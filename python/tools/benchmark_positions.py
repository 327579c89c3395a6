"""Value the positions of the benchmark suite by perfect play.

    python python/tools/benchmark_positions.py           write the files of the suite's positions
    python python/tools/benchmark_positions.py --check   tell whether they hold just that

Every move of every position is solved anew: about a minute of processor time for each board. A
change of these files is a new version of the suite.
"""

from __future__ import annotations

import argparse
import json
import sys

import endodoi as ed
from endodoi.benchmark_suite import FOLDER, Part, Suite, load_suite
from endodoi.places import write_text


def lines_of(suite: Suite, part: Part, num_threads: int | None) -> str:
    """Return the file of a part: a position and the worth of its moves in each line."""
    exam = ed.arena.Exam(
        ruleset=part.ruleset,
        positions=suite.scales["full"].positions,
        seed=suite.positions_seed,
        num_threads=num_threads,
    )
    if exam.reference != "perfect":
        raise SystemExit(f"{part.name} was valued by {exam.reference}, expected perfect play")
    asked = zip(exam.positions, exam.margins, strict=True)
    return "".join(
        json.dumps({"position": position.to_text(), "margins": list(margins.items())}) + "\n"
        for position, margins in asked
    )


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--threads", type=int)
    asked = parser.parse_args()
    stale, suite = False, load_suite()
    for part in suite.parts:
        if part.file is None:
            continue
        path, text = FOLDER / part.file, lines_of(suite, part, asked.threads)
        if not asked.check:
            write_text(path, text)
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path.name} holds other positions or values", file=sys.stderr)
            stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
