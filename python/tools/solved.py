"""Write the page of the boards that are solved from what was proven.

    python python/tools/solved.py           write docs/solved.md from docs/solved.jsonl
    python python/tools/solved.py --check   tell whether the page is up to date
    python python/tools/solved.py --prove --columns 2 3 4 [--seconds 300]
                                            prove what docs/solved.jsonl lacks, then write the page

Each line of docs/solved.jsonl is one start: what was proven, at what cost. A line that holds only
bounds is proven again with ``--prove``, and the tighter bounds are kept; ``--seeds-per-pit 2``
leaves out all other starts.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import endodoi as ed
from docstrings import write_table
from endodoi.places import write_text
from written_page import finish

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCS = Path(__file__).parents[2] / "docs"
DATA = DOCS / "solved.jsonl"
PAGE = DOCS / "solved.md"
SEEDS = range(1, 7)
#: The names of the rules in the data and on the page, and what makes them.
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "stays": ("En Dodoi, a lone seed stays", {"variant": "en-dodoi"}),
    "taken": ("En Dodoi, a lone seed is taken", {"variant": "en-dodoi", "lone_capture": "taken"}),
    "cross": ("Cross-Endodoi", {"variant": "cross-endodoi"}),
}

HEAD = """\
# Solved boards

What the first player wins with perfect play, in seeds: all that South captures less all that North
captures, E1's rest included, from the start with `k` seeds in each of the `2 x C` pits. Endless
sowings are illegal (S6), endless play gains nothing for either side (E3). `a to b` are proven
bounds where the value is not known; an empty cell was not tried. Time alone limits the page: every
two seeds by which a bound comes in cost about twice the positions, and the last ones most.

Every value is proven by `endodoi solve`: null-window searches above an endgame table, none of
whose bounds depends on the way a position was reached (see `src/search/solver`). The values up to
2x6 with four seeds were found by an independent program as well; all positions of small boards are
compared, in the tests, with tables made by retrograde analysis.
"""

COST = """\
## What the proofs took

`table` is the most seeds of a position in the endgame table, which the solver builds by itself
unless one is given; its time is part of the seconds. Several threads visit more nodes. Columns
count from 0 at South's left; `...` stands where other openings may be as good. The machine was a
virtual one with two busy cores (Zen 4), so that seconds say little more than the order of
magnitude; a start with bounds had a minute or two of a part of one of them. The solver has changed
since some of the values were proven: the same proof may take other positions now. One value again:

```console
endodoi solve --columns 6 --seeds-per-pit 4
```

All that the page lacks, with a limit of five minutes each:

```console long
python python/tools/solved.py --prove --columns 2 3 4 5 6 7 8 --seconds 300
```
"""


def read() -> dict[tuple[str, int, int], dict[str, Any]]:
    """Return what was proven, by rules, columns and seeds in each pit."""
    lines = DATA.read_text(encoding="utf-8").splitlines() if DATA.exists() else []
    found = [json.loads(line) for line in lines]
    return {(one["rules"], one["columns"], one["seeds_per_pit"]): one for one in found}


def shown(one: dict[str, Any] | None) -> str:
    """Return the value of a start, or its bounds."""
    if one is None:
        return ""
    lower, upper = one["lower"], one["upper"]
    return f"**{lower}**" if lower == upper else f"{lower} to {upper}"


def best_openings(one: dict[str, Any]) -> str:
    """Return the best first moves of a start whose value is known."""
    if one["lower"] < one["upper"]:
        return ""
    others = [] if one["complete"] else ["..."]
    return ", ".join([*map(str, one["best_openings"]), *others])


def page(proven: dict[tuple[str, int, int], dict[str, Any]]) -> str:
    """Return the page."""
    parts = [HEAD]
    columns = sorted({key[1] for key in proven})
    for rules, (title, _) in RULES.items():
        rows = [[f"2x{c}", *(shown(proven.get((rules, c, k))) for k in SEEDS)] for c in columns]
        head = ["board", *(f"k = {k}" for k in SEEDS)]
        parts += [f"## {title}\n", write_table([head, *rows]) + "\n"]
    parts.append(COST)
    costs = [
        [
            f"2x{c}",
            str(k),
            rules,
            shown(one).replace("*", ""),
            best_openings(one),
            f"{one['nodes']:,}",
            f"{one['seconds']:,.1f}",
            str(one["table_seeds"]),
            str(one["threads"]),
        ]
        for (rules, c, k), one in sorted(proven.items(), key=lambda item: order(item[0]))
    ]
    names = ["board", "k", "rules", "value", "best openings"]
    parts.append(write_table([[*names, "nodes", "seconds", "table", "threads"], *costs]))
    return "\n".join(parts).rstrip() + "\n"


def order(key: tuple[str, int, int]) -> tuple[int, int, int]:
    """Return the place of a start on the page: by columns, seeds and rules."""
    rules, columns, seeds = key
    return columns, seeds, list(RULES).index(rules)


def narrowed(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Return what two proofs of one start say together, with the cost of the one that says more."""
    if old is None:
        return new
    lower, upper = max(old["lower"], new["lower"]), min(old["upper"], new["upper"])
    better = new if new["upper"] - new["lower"] < old["upper"] - old["lower"] else old
    return {**better, "lower": lower, "upper": upper}


def prove(columns: list[int], seconds: float, threads: int, seeds: Iterable[int] = SEEDS) -> None:
    """Prove the starts that are missing or open, and keep each as soon as it is there."""
    for c, k, rules in itertools.product(columns, seeds, RULES):
        known = read()
        one = known.get((rules, c, k))
        if one is not None and one["lower"] == one["upper"]:
            continue
        fields = RULES[rules][1]
        ruleset = ed.Ruleset.from_dict({**fields, "columns": c, "seeds_per_pit": k})
        solver = ed.Solver(ruleset, num_threads=threads)
        found = solver.solve(ed.Position.start(ruleset), seconds=seconds)
        new = {
            "columns": c,
            "seeds_per_pit": k,
            "rules": rules,
            "lower": found.lower,
            "upper": found.upper,
            "best_openings": list(found.best_moves),
            "complete": found.exact,
            "nodes": found.nodes,
            "seconds": round(found.seconds, 3),
            "table_seeds": solver.table_seeds,
            "threads": threads,
        }
        known[rules, c, k] = narrowed(one, new)
        lines = [json.dumps(known[key]) for key in sorted(known, key=order)]
        write_text(DATA, "\n".join(lines) + "\n")
        print(f"2x{c} k={k} {rules}: {found}", file=sys.stderr)


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Write docs/solved.md.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--columns", type=int, nargs="+", default=[2, 3, 4, 5])
    parser.add_argument("--seeds-per-pit", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    if asked.prove:
        prove(asked.columns, asked.seconds, asked.threads, asked.seeds_per_pit)
    return finish(PAGE, page(read()), check=asked.check)


if __name__ == "__main__":
    sys.exit(main())
