"""Build the balanced books of openings, and prove them again.

    python python/tools/books.py 6 7 8           build python/endodoi/books/en-dodoi-2x6.txt ...
    python python/tools/books.py --check [6 7 8] [--sample 20] [--seed 1]
                                                 prove a sample of the positions again

A book holds positions of random play, South to move, whose captured difference at the end with
perfect play is at most two seeds. Building takes minutes to an hour for each board.
"""

from __future__ import annotations

import argparse
import random
import sys

import endodoi as ed
from endodoi.books import FOLDER, book_name

#: Random plies of each board, and how many positions after them: few enough for long games, enough
#: for proofs in about a second.
PARTS = {6: {8: 240}, 7: {20: 110, 24: 130}, 8: {30: 200}}
WORTH, SEED = 2, 1


def build(columns: int) -> None:
    """Build the book of a board."""
    ruleset = ed.Ruleset(columns=columns)
    parts = [
        ed.arena.book(
            ruleset, positions=positions, plies=plies, worth=WORTH, seed=SEED, progress=True
        )
        for plies, positions in PARTS[columns].items()
    ]
    after = ", ".join(
        f"{len(part)} after {plies} plies"
        for plies, part in zip(PARTS[columns], parts, strict=True)
    )
    made = ed.arena.Book(
        ruleset,
        tuple(position for part in parts for position in part),
        tuple(margin for part in parts for margin in part.margins),
        f"{ruleset}: {after} of random play (seed {SEED}), each worth at most {WORTH} seeds.",
    )
    FOLDER.mkdir(exist_ok=True)
    made.write(FOLDER / f"{book_name(ruleset)}.txt")


def check(columns: int, sample: int, seed: int) -> bool:
    """Prove a sample of a book again and tell whether all of it holds."""
    ruleset = ed.Ruleset(columns=columns)
    path = FOLDER / f"{book_name(ruleset)}.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = [line.split("\t") for line in lines if not line.startswith("#")]
    chosen = random.Random(seed).sample(entries, min(sample, len(entries)))  # noqa: S311
    solver = ed.Solver(ruleset)
    wrong = 0
    for text, margin in chosen:
        position = ed.Position.from_text(text, ruleset)
        value = solver.solve(position, progress=False).value
        south, north = position.captured
        if value is None or south - north + value != int(margin) or abs(int(margin)) > WORTH:
            print(f"{path.name}: {text} is not worth {margin}, but {value}")
            wrong += 1
    print(f"{path.name}: {len(chosen) - wrong} of {len(chosen)} hold, {len(entries)} in all")
    return wrong == 0


def main() -> int:
    """Build or check the books that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("columns", type=int, nargs="*", choices=list(PARTS), metavar="COLUMNS")
    parser.add_argument("--check", action="store_true", help="prove a sample again")
    parser.add_argument("--sample", type=int, default=20, help="positions of each (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default 1)")
    options = parser.parse_args()
    boards = options.columns or list(PARTS)
    if options.check:
        failed = [board for board in boards if not check(board, options.sample, options.seed)]
        return 1 if failed else 0
    for board in boards:
        build(board)
    return 0


if __name__ == "__main__":
    sys.exit(main())
