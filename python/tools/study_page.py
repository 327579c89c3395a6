"""Write the page of the endgame studies from the package.

python python/tools/study_page.py           write docs/studies.md
python python/tools/study_page.py --check   tell whether the page is up to date
python python/tools/study_page.py --prove   prove all studies again from nothing, write what it
                                            took to python/endodoi/studies.json, then the page
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from docstrings import write_table
from endodoi import studies
from endodoi.places import write_text
from endodoi.study_text import headline, replay_text
from written_page import finish

ROOT = Path(__file__).parents[2]
DATA = ROOT / "python" / "endodoi" / "studies.json"
PAGE = ROOT / "docs" / "studies.md"

HEAD = """\
<!-- Written by python/tools/study_page.py from python/endodoi/studies.json. -->

# Endgame studies

Ralf Gering is reported to have published a study on a 2x50 board in which South, more than 110
tempi behind, wins by sacrifices. It is not at hand; these are studies of the same kind, found by
search and proven by the solver. The rules are those of En Gehé (`en-gehe`), all but a few of the
400 seeds are captured, South is to move and wins, and the first move is the only one that wins.

```console
endodoi studies             # the list
endodoi studies 3           # replays the third
endodoi studies 3 --solve   # and proves it again, move by move
endodoi studies 3 --moves   # the columns alone; --json prints everything
```

```pycon
>>> import endodoi as ed
>>> study = ed.studies.load(3)
>>> study.position.legal_moves()
{legal}
>>> study.key, study.value, study.margin
{key}
>>> study.prove().holds
True

```

## Tempi

The tempi of a side are the steps that its seeds are away from the other row, each by itself: a
seed in column `c` of 50 has `50 - c`. A lone seed goes one pit a ply. While only lone seeds move,
and none meets another, the tempi are the moves that a side has before it is stuck, and then the
other side takes all that is left (E1): who has tempi to spare waits, who runs out of them loses
everything. So the side that is behind must change the count. It can

- **capture**: between a runner of South in column `a` and one of North in column `b` lie `49-a-b`
  steps. The step that makes it zero captures, so who is to move with an odd number of them wins
  the duel, if neither side has anything else to play; at two steps they hold each other;
- **wait**: one other step turns such a duel around;
- **sacrifice**: let the other side capture: its own seed leaves the board with the one it takes,
  and the turn falls to South;
- **relay**: a step onto a seed of one's own lifts both and sows on, so that one ply changes
  several distances.

`endodoi.studies.tempi(position)` counts them.

## How to read a solution

Columns count from 0 at the left of their owner, so South's go to the right on the board shown and
North's to the left, and South's column `c` lies opposite to North's `49 - c`. `!` marks a move of
South that is the only best one of several; every move shown is a best one, by proof. Where North
has several best moves the solution shows one that leaves South the fewest good answers. "Offers 2"
says that North can capture 2 next, "refuses to take 2" that South could have done so. "Loses by 2"
is how the whole game ends after another first move.
"""

COST = """
Positions and seconds are what it takes a solver that starts from nothing, on one thread of a busy
machine, to prove all moves of a study; `endodoi studies --solve` prints yours.
"""


def page() -> str:
    """Return the page."""
    collection = studies.load_all()
    third = studies.load(3)
    head = HEAD.format(
        legal=third.position.legal_moves(), key=(third.key, third.value, third.margin)
    )
    rows = [["", "title", "theme", "seeds", "tempi", "wins by", "positions", "seconds"]]
    for study in collection:
        south, north = study.tempi
        rows.append(
            [
                str(study.number),
                f"[{study.title}](#{anchor(study)})",
                study.theme,
                str(study.position.board.sum()),
                f"{south} to {north}",
                str(study.margin),
                f"{study.nodes:,}",
                f"{study.seconds:.1f}",
            ]
        )
    parts = [head, "## The collection\n", write_table(rows), COST]
    for study in collection:
        parts.append(f"## {heading(study)}\n")
        parts.append(f"{study.theme.capitalize()}. {headline(study)}.\n")
        parts.append(f"```text\n{replay_text(study).split(chr(10), 3)[3]}\n```\n")
    return "\n".join(parts).rstrip() + "\n"


def heading(study: studies.Study) -> str:
    """Return the heading of a study."""
    return f"{study.number}. {study.title}"


def anchor(study: studies.Study) -> str:
    """Return the anchor that the heading makes."""
    kept = "".join(
        letter for letter in heading(study).lower() if letter.isalnum() or letter in " -"
    )
    return kept.replace(" ", "-")


def prove() -> None:
    """Prove all studies again and keep what it took.

    Raises
    ------
    ValueError
        If one does not hold.
    """
    entries = json.loads(DATA.read_text(encoding="utf-8"))
    for number, entry in enumerate(entries, 1):
        proof = studies.study_of(number, entry).prove()
        if not proof.holds:
            raise ValueError(f"study {number}, {entry['title']}: {'; '.join(proof.faults)}")
        entry.update(nodes=proof.nodes, seconds=round(proof.seconds, 2))
    lines = ",\n".join(entry_text(entry) for entry in entries)
    write_text(DATA, f"[\n{lines}\n]\n")
    studies.load_all.cache_clear()


def entry_text(entry: dict[str, object]) -> str:
    """Return an entry of the file, one field a line."""
    fields = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in entry.items())
    return "{\n" + ",\n".join(fields) + "\n}"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Write docs/studies.md.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--prove", action="store_true")
    asked = parser.parse_args()
    if asked.prove:
        prove()
    return finish(PAGE, page(), check=asked.check)


if __name__ == "__main__":
    sys.exit(main())
