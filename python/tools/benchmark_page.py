"""Write the page of the benchmark from the report cards that come with the package.

    python python/tools/benchmark_page.py                write docs/benchmark.md
    python python/tools/benchmark_page.py --check        tell whether the page is up to date
    python python/tools/benchmark_page.py --play greedy  play what the cards of these players (all
                                                         without a name) lack, then write the page

Cards stand in python/endodoi/suite/cards; one that is removed is played anew. Without --play
nothing is played.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import endodoi as ed
from docstrings import write_table
from endodoi.benchmark_suite import load_suite
from endodoi.report_card import card_file, stored_cards
from endodoi.report_card_text import margin, mean_text, share_text
from written_page import finish

if TYPE_CHECKING:
    from endodoi.benchmark_suite import Part
    from endodoi.report_card import CardPart, ReportCard

PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"

#: The players of the package and the boards that they are measured on: of an agent its own.
ROWS: dict[str, list[str]] = {
    "random": ["2x6", "cross-2x6", "2x8", "2x10", "2x50"],
    "greedy": ["2x6", "cross-2x6", "2x8", "2x10", "2x50"],
    "alphabeta:4": ["2x6", "cross-2x6", "2x8", "2x10", "2x50"],
    # Eight plies on 2x50 take too long.
    "alphabeta:8": ["2x6", "cross-2x6", "2x8", "2x10"],
    "agent:en-dodoi-2x6": ["2x6"],
    "agent:cross-endodoi-2x6": ["cross-2x6"],
    "agent:en-dodoi-2x8": ["2x8"],
    "agent:en-dodoi-2x10": ["2x10"],
    "agent:en-gehe-2x50": ["2x50"],
}

HEAD = """\
<!-- Written by python/tools/benchmark_page.py from python/endodoi/suite. -->

# Benchmark

A fixed suite of boards, opponents and positions that gives every player one report card, to be
compared across papers and years.

```console
endodoi benchmark --player greedy --part 2x6 --small    # a try: 20 games, 50 positions
```

```console long
endodoi benchmark --player mine.py:policy --out runs/card --against greedy alphabeta:4
endodoi benchmark --player agent:runs/first --part 2x6 cross-2x6 --json
endodoi benchmark --card runs/card/card.json --markdown
```

```python
import endodoi as ed

card = ed.arena.benchmark("greedy", parts=["2x6"], scale="small")
print(card)
card["2x6"].overall.games                   # 120
card.write_json("card.json")
assert ed.arena.ReportCard.read("card.json") == card
print(card.compare(ed.arena.stored_cards()["alphabeta:4"]))
```

`mine.py:policy` is the function `policy(observations, action_masks)` of the file `mine.py`. It is
asked for all games that wait for it at once, and tells the boards apart by the columns of the
masks. Any specification does as well: `alphabeta:6`, `mcts:400`, `agent:FILE@depth=4`.

## What is played
"""

RULES = """\
- **Games.** {games} against each opponent: {openings} openings of {plies} random plies, the same
  against every opponent and for every player, each from both sides. A draw is half a point, the
  margin is in seeds. On 2x50 `alphabeta:8` is left out: {games} games between
  `greedy` and `alphabeta:6` take four minutes of processor time, two plies more many times that.
- **Positions.** {positions} positions of random games on the boards that are solved, the value of
  each move known by perfect play ([regret.md](regret.md)). `python
  python/tools/benchmark_positions.py --check` solves them again.
- **Intervals** are of 95 %. The unit is the opening: the two games of a pair, in the line `all` all
  games of that opening together, so that nothing is counted twice. Games that repeat others are no
  new evidence; the card counts the distinct ones.
- **Faults.** Who raises or moves illegally loses that game; such a choice in a position counts as
  the move that loses most. The card says how often that was and what went wrong first.
- **A board that a player cannot play**, as an agent of another size, is named with the reason, and
  the rest goes on.
- **Overall.** Each board has a line `all`: the mean over all its games. There is no number across
  boards: a point on 2x6 is none on 2x50.
- **The same player, the same card**, on any number of threads: it holds no date and no times. A
  player that searches for some seconds instead of some plies is the exception.
- **Versions.** Whatever changes in the suite makes a new version; this is version {version}. Cards
  of different versions are not compared. A card states version, scale, rules and package.
- **Folder.** `--out` keeps the card after every board, and plays only those that are missing when
  the command is given again. Beside it stands the SHA-256 of the agents' files and of `mine.py`: a
  player whose file has changed is refused.
- **Time.** A whole card is 11,600 games and 1,000 positions: for `greedy` about a minute of
  processor time, which is that of the opponents. Players that think for longer share it out on a
  [Ray cluster](ray.md#tournaments-regret-and-the-benchmark): `--ray auto`.
"""

ROWS_TEXT = """\
## Players of the package

Scores against each opponent, all at full scale; of an agent on its own board. What is not
listed has not been measured. The whole cards are in `ed.arena.stored_cards()`, and `--against
alphabeta:4` puts one beside yours; `python python/tools/benchmark_page.py --play` plays what they
lack.
"""


def play(players: list[str], num_threads: int | None) -> None:
    """Play the boards that the cards of these players do not have yet."""
    for player in players:
        with tempfile.TemporaryDirectory() as folder:
            if card_file(player).is_file():
                shutil.copy(card_file(player), Path(folder) / "card.json")
            for board in ROWS[player]:
                card = ed.arena.benchmark(
                    player, parts=board, num_threads=num_threads, out=folder, progress=False
                )
                card.write_json(card_file(player))
            print(card, file=sys.stderr)


def boards() -> str:
    """Return the table of the boards."""
    suite = load_suite()
    rows = [["part", "rules", "opponents", "positions"]]
    for part in suite.parts:
        opponents = ", ".join(f"`{opponent}`" for opponent in part.opponents())
        positions = suite.scales["full"].positions if part.file else 0
        rows.append([f"`{part.name}`", str(part.ruleset), opponents, str(positions or "-")])
    return write_table(rows)


def scores(part: Part, found: dict[str, CardPart]) -> str:
    """Return the table of the scores on a board."""
    opponents = list(part.opponents())
    rows = [["player", "all", "95 %", "margin", *(f"`{opponent}`" for opponent in opponents)]]
    for player, board in found.items():
        overall = board.overall
        if overall is None:
            continue
        rows.append(
            [
                f"`{player}`",
                f"{overall.score:.3f}",
                f"{overall.low:.3f} to {overall.high:.3f}",
                margin(overall),
                *(f"{games.score:.3f}" for games in board.opponents),
            ]
        )
    return write_table(rows)


def regrets(found: dict[str, CardPart]) -> str:
    """Return the table of what moves lose on a board."""
    rows = [["player", "optimal moves", "change the outcome", "seeds lost a move"]]
    rows[0] += ["opening", "middle", "endgame"]
    for player, board in found.items():
        regret = board.regret
        if regret is None:
            continue
        rows.append(
            [
                f"`{player}`",
                share_text(regret.all.optimal),
                share_text(regret.all.outcome_changing),
                mean_text(regret.all.seeds_lost),
                *(
                    f"{phase.seeds_lost.mean:.2f}"
                    for phase in (regret.opening, regret.middle, regret.endgame)
                ),
            ]
        )
    return write_table(rows)


def page(cards: dict[str, ReportCard]) -> str:
    """Return the page."""
    suite = load_suite()
    full = suite.scales["full"]
    rules = RULES.format(
        games=full.games,
        openings=full.games // 2,
        plies=suite.opening_plies,
        positions=full.positions,
        version=suite.version,
    )
    parts = [HEAD, boards() + "\n", rules, ROWS_TEXT]
    order = [player for player in ROWS if player in cards]
    for part in suite.parts:
        found = {
            player: board
            for player in order
            for board in cards[player].parts
            if board.name == part.name and board.overall is not None
        }
        if not found:
            continue
        parts += [f"### {part.name}\n", scores(part, found) + "\n"]
        if part.file is not None:
            parts.append(regrets(found) + "\n")
    return "\n".join(parts).rstrip() + "\n"


def main() -> int:
    """Write the page, or check it, after playing what is asked for."""
    parser = argparse.ArgumentParser(description="Write docs/benchmark.md.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--play", nargs="*", choices=ROWS, metavar="PLAYER")
    parser.add_argument("--threads", type=int)
    asked = parser.parse_args()
    if asked.play is not None:
        play(asked.play or list(ROWS), asked.threads)
    return finish(PAGE, page(stored_cards()), check=asked.check)


if __name__ == "__main__":
    sys.exit(main())
