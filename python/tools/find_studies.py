"""Find endgame studies of En Gehé, and work out their solutions.

    python python/tools/find_studies.py search --goal sacrifice --seed 1 --minutes 5 --out FILE
    python python/tools/find_studies.py compose "POSITION"

The search climbs from random positions to ones that show more of what is wanted and writes each
with its score as a line of JSON. A position counts only if South wins, with one move alone, which
captures nothing. ``compose`` prints the entry of a position for python/endodoi/studies.json; title,
theme and comments are for its author to write.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import endodoi as ed
from endodoi.studies import study_of, tempi

RULES = ed.Ruleset("en-gehe")
COLUMNS = RULES.columns
SEEDS = 2 * COLUMNS * RULES.seeds_per_pit
#: Seconds for a position of the search, and plies of a solution.
SECONDS, LONGEST = 1.0, 80
#: The most plies of a refutation.
REFUTATION = 12
#: Changes without a gain after which the search starts anew.
PATIENCE = 250

Rows = list[list[int]]


class OpenError(Exception):
    """A value that is not proven in time, or a solution that is too long."""


class Composer:
    """Works out solutions with one solver."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.solver = ed.Solver(RULES, num_threads=1)

    def analyse(self, position: ed.Position) -> ed.Analysis:
        """Return the value of every move.

        Raises
        ------
        OpenError
            If they take too long.
        """
        analysis = self.solver.analyse(position, seconds=self.seconds, progress=False)
        if not analysis.exact:
            raise OpenError
        return analysis

    def choose(self, position: ed.Position, winner: str) -> int:
        """Return a best move.

        The winner takes what it can and leaves little choice; the other side sets the hardest
        task. Ties go to the lowest column.
        """
        best = self.analyse(position).best_moves

        def rank(column: int) -> tuple[int, int, int]:
            captured = position.sow(column).captured
            after = position.play(column)
            if position.to_move == winner:
                return -captured, len(after.legal_moves()), column
            choices = LONGEST if after.is_over else len(self.analyse(after).best_moves)
            return choices, -captured, column

        return min(best, key=rank)

    def line(self, position: ed.Position, winner: str, plies: int) -> list[int]:
        """Return best moves of both sides, to the end of the game or for so many plies."""
        line: list[int] = []
        while not position.is_over and len(line) < plies:
            line.append(self.choose(position, winner))
            position = position.play(line[-1])
        return line

    def only(self, position: ed.Position, line: list[int]) -> list[int]:
        """Return the plies at which South has one best move among several."""
        plies = []
        for ply, column in enumerate(line):
            if position.to_move == "south":
                analysis = self.analyse(position)
                if len(analysis.best_moves) == 1 < len(analysis):
                    plies.append(ply)
            position = position.play(column)
        return plies

    def refutation(self, position: ed.Position) -> list[int]:
        """Return how a try fails: up to the last capture that is near, or the first plies."""
        line = self.line(position, "north", REFUTATION)
        captures = [0]
        for ply, column in enumerate(line, 1):
            if position.sow(column).captured:
                captures.append(ply)
            position = position.play(column)
        return line if position.is_over else line[: captures[-1] or REFUTATION // 2]

    def entry(self, position: ed.Position) -> dict[str, Any]:
        """Return the entry of a position in the file of studies, but for its words."""
        analysis = self.analyse(position)
        solution = self.line(position, "south", LONGEST)
        entry = {
            "title": "",
            "theme": "",
            "position": position.to_text(),
            "value": analysis.lower,
            "solution": solution,
            "only": self.only(position, solution),
            "comments": {},
            "tries": [
                {
                    "column": move.column,
                    "value": move.value,
                    "refutation": self.refutation(position.play(move.column)),
                    "comment": "",
                }
                for move in analysis
                if move.column != solution[0]
            ],
            "nodes": 0,
            "seconds": 0.0,
        }
        proof = study_of(0, entry).prove()
        return {**entry, "nodes": proof.nodes, "seconds": round(proof.seconds, 2)}


class Search:
    """Climbs from random positions to studies."""

    def __init__(self, goal: str, seed: int, seeds: tuple[int, int], pile: int) -> None:
        self.goal = goal
        self.random = random.Random(seed)  # noqa: S311
        self.low, self.high = seeds
        self.pile = pile
        self.composer = Composer(SECONDS)

    def start(self) -> Rows:
        """Return a random board, South's seeds rather late in their row and North's early."""
        rows: Rows = [[0] * COLUMNS, [0] * COLUMNS]
        for _ in range(self.random.randint(self.low, self.high)):
            side = self.random.randrange(2)
            step = min(COLUMNS - 1, int(self.random.expovariate(0.1)))
            rows[side][step if side else COLUMNS - 1 - step] += 1
        return rows

    def change(self, rows: Rows) -> Rows:
        """Return a board on which one to three seeds are moved, added or removed."""
        rows = [list(row) for row in rows]
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            (kind,) = self.random.choices(("step", "move", "add", "remove"), (10, 5, 3, 2))
            filled = [(side, c) for side in (0, 1) for c in range(COLUMNS) if rows[side][c]]
            side, column = self.random.choice(filled)
            if kind != "add":
                rows[side][column] -= 1
            if kind in {"add", "move"}:
                side, column = self.random.randrange(2), self.random.randrange(COLUMNS)
            if kind == "step":
                column += self.random.choice((-8, -3, -2, -1, 1, 2, 3, 8))
            if kind != "remove":
                rows[side][min(COLUMNS - 1, max(0, column))] += 1
        return rows

    def judge(self, rows: Rows) -> tuple[float, str] | None:
        """Return the score and the text of a board that is a study."""
        seeds = sum(map(sum, rows))
        if seeds % 2 or not self.low <= seeds <= self.high or max(map(max, rows)) > self.pile:
            return None
        captured = ((SEEDS - seeds) // 2,) * 2
        position = ed.Position.from_board(*rows, captured=captured, ruleset=RULES)
        if len(position.legal_moves()) < 2:  # noqa: PLR2004
            return None
        south, north = tempi(position)
        if south >= north:
            return None
        try:
            score = self.score(position, north - south)
        except OpenError:
            return None
        return None if score is None else (score, position.to_text())

    def score(self, position: ed.Position, behind: int) -> float | None:
        """Return how much of the goal a position shows, None if it is no study."""
        composer = self.composer
        values = {move.column: move.lower for move in composer.analyse(position)}
        winning = [column for column, value in values.items() if value > 0]
        if len(winning) != 1 or position.sow(winning[0]).captured:
            return None
        line = composer.line(position, "south", LONGEST)
        only = len(composer.only(position, line))
        refused = max(position.sow(column).captured for column in values)
        laps = position.sow(winning[0]).laps
        given, end = 0, position
        for column in line:
            given += end.sow(column).captured if end.to_move == "north" else 0
            end = end.play(column)
        if not end.is_over:
            return None
        cost = 4 * int(position.board.sum()) + 0.8 * len(line)
        if self.goal == "tempo":
            quiet = refused == 0 and laps == 1
            return 0.5 * min(behind, 60) + 10 * min(only, 12) - cost if quiet else None
        if self.goal == "relay":
            return 0.6 * min(behind, 110) + 6 * min(laps, 10) + 6 * min(only, 6) - cost
        if self.goal == "refusal":
            shown = 0.5 * min(behind, 80) + 8 * min(refused, 4) + 6 * min(only, 10)
            return shown - cost if refused else None
        return min(behind, 135) + 6 * min(refused + given, 6) + 4 * min(only, 8) - cost

    def run(self, minutes: float, out: Path) -> None:
        """Search, and write what is found."""
        end = time.monotonic() + 60 * minutes
        found: set[str] = set()
        while time.monotonic() < end:
            rows, best, idle = self.start(), None, 0
            while time.monotonic() < end and idle < PATIENCE:
                new = self.start() if best is None else self.change(rows)
                judged = self.judge(new)
                idle += best is not None
                if judged is None or (best is not None and judged[0] < best - 2):
                    continue
                if best is None or judged[0] > best:
                    idle = 0
                rows, best = new, judged[0]
                if judged[1] not in found:
                    found.add(judged[1])
                    with out.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps({"score": best, "position": judged[1]}) + "\n")


def main() -> int:
    """Search for studies, or compose one."""
    parser = argparse.ArgumentParser(description="Find endgame studies.")
    commands = parser.add_subparsers(dest="command", required=True)
    search = commands.add_parser("search")
    goals = ["sacrifice", "refusal", "relay", "tempo"]
    search.add_argument("--goal", choices=goals, default="sacrifice")
    search.add_argument("--seed", type=int, default=0)
    search.add_argument("--minutes", type=float, default=5.0)
    search.add_argument("--seeds", type=int, nargs=2, default=(6, 10), help="fewest and most")
    search.add_argument("--pile", type=int, default=2, help="most seeds in a pit")
    search.add_argument("--out", type=Path, required=True)
    compose = commands.add_parser("compose")
    compose.add_argument("position")
    asked = parser.parse_args()
    if asked.command == "search":
        Search(asked.goal, asked.seed, asked.seeds, asked.pile).run(asked.minutes, asked.out)
    else:
        print(json.dumps(Composer().entry(ed.Position.from_text(asked.position, RULES))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
