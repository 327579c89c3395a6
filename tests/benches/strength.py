"""How strong the trainer's agents are, by seed and by the minute, for docs/trainer.md.

    python tests/benches/strength.py 2x6-value --seeds 1 2 3 --workers 1 --out runs/strength
    python tests/benches/strength.py 2x8-value --seeds 1 --out runs/strength --plot curve.png

Trains an agent from scratch for every row and seed, with the defaults for the minutes of its row,
and keeps a copy of it by the minute. Then every agent meets what its row names: on 2x6 the 500
solved positions of the benchmark, elsewhere opponents, both sides of openings of four random plies.
Prints a line for each agent and minute, and a table; `--plot` draws strength against minutes.
Called again it goes on: what is trained or measured is not done anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import endodoi as ed
from endodoi.learning_curve import find_figures
from endodoi.places import write_figure
from trained import examined, seconds_of_children

#: Stands where a player meets the solved positions, not an opponent.
EXAM = "exam"

#: Of the network that grows: widths that suit large boards, on the small one already.
NARROW = {
    "network.channels": 16,
    "network.blocks": 2,
    "network.policy_units": 16,
    "network.value_units": 32,
}

#: What every run has. The agent's file is at most so many seconds behind the run.
QUIET = {"evaluation.every": 0, "evaluation.final_games": 0, "output.checkpoint": 10}


@dataclass(frozen=True)
class Stage:
    """Training on one board.

    Attributes
    ----------
    columns : int
    minutes : float
    settings : dict
    """

    columns: int
    minutes: float
    settings: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A learner on a board.

    Attributes
    ----------
    learner, variant : str
    stages : tuple of Stage
        Trained one after the other, each from the agent of the one before; the last one's board is
        the one to play on.
    meets : tuple of (str, str, int)
        A search, what the agent meets with it, and how many games or positions.
    curve : tuple of (str, str, int)
        The same, for every copy.
    """

    learner: str
    variant: str
    stages: tuple[Stage, ...]
    meets: tuple[tuple[str, str, int], ...]
    curve: tuple[str, str, int]

    def ruleset(self) -> ed.Ruleset:
        """Return the rules to play by."""
        return ed.Ruleset(self.variant, columns=self.stages[-1].columns)


def small(learner: str, *searches: str) -> Row:
    """Return a row of 2x6 over solved positions; the curve is of the second search."""
    meets = tuple((search, EXAM, 500) for search in searches)
    return Row(learner, "en-dodoi", (Stage(6, 10, {}),), meets, meets[1])


def middle(columns: int) -> Row:
    """Return a row of learner `value` on 2x8 or 2x10."""
    meets = tuple(("depth=4", opponent, 400) for opponent in ("alphabeta:6", "alphabeta:8"))
    return Row("value", "en-dodoi", (Stage(columns, 10, {}),), meets, meets[0])


ROWS = {
    "2x6-value": small("value", "none", "depth=6", "depth=8"),
    "2x6-gumbel": small("gumbel", "none", "sims=64", "sims=256"),
    "2x8-value": middle(8),
    "2x10-value": middle(10),
    "2x50-value": Row(
        "value",
        "en-gehe",
        (Stage(50, 10, {}),),
        (("none", "greedy", 200), ("none", "alphabeta:2", 200), ("depth=3", "alphabeta:4", 100)),
        ("none", "alphabeta:2", 200),
    ),
    "2x50-gumbel": Row(
        "gumbel",
        "en-gehe",
        (
            Stage(10, 8, NARROW),
            Stage(20, 6, {"optimiser.learning_rate": 0.002}),
            Stage(40, 6, {"optimiser.learning_rate": 0.002}),
            Stage(50, 10, {"optimiser.learning_rate": 0.002}),
        ),
        (
            *(("none", opponent, 200) for opponent in ("greedy", "alphabeta:2", "alphabeta:4")),
            ("sims=16", "alphabeta:4", 100),
        ),
        ("none", "alphabeta:4", 200),
    ),
}


def copy_agent(folder: Path, stage: Path, minute: float) -> None:
    """Keep the agent that a stage has at a minute of the whole run."""
    shutil.copy(stage / "agent.safetensors", folder / f"minute-{minute:05.2f}.safetensors")


class Copies:
    """Keeps a copy of a stage's agent at half a minute and at every minute before its last."""

    def __init__(self, folder: Path, stage: Path, before: float, minutes: float) -> None:
        self.folder = folder
        self.stage = stage
        self.before = before
        self.minutes = minutes
        self.next = 0.5

    def __call__(self, report: dict[str, Any]) -> None:
        """Look at a report of the run."""
        minute = report["seconds"] / 60
        if self.next <= minute < self.minutes:
            copy_agent(self.folder, self.stage, self.before + minute)
            self.next = float(int(minute) + 1)


def train(folder: Path, row: Row, seed: int, workers: int) -> None:
    """Train an agent through its stages, unless that is done, and note the processor time."""
    if (folder / "cost.json").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    before = seconds_of_children()
    minute, start = 0.0, None
    for place, stage in enumerate(row.stages):
        run = folder / f"{place}-2x{stage.columns}"
        ed.train(
            learner=None if start else row.learner,
            variant=row.variant,
            columns=stage.columns,
            minutes=stage.minutes,
            seed=seed,
            workers=workers,
            start=start,
            settings=QUIET | stage.settings,
            out=run,
            plot=False,
            progress=Copies(folder, run, minute, stage.minutes),
        )
        minute += stage.minutes
        copy_agent(folder, run, minute)
        start = run / "agent.safetensors"
    seconds = seconds_of_children() - before
    (folder / "cost.json").write_text(json.dumps({"seconds": seconds}), encoding="utf-8")


def measure(agent: Path, row: Row, meeting: tuple[str, str, int]) -> dict[str, float]:
    """Return what an agent scores or loses, from a file beside it where that is known."""
    search, opponent, count = meeting
    kept = agent.with_name(f"{agent.stem} {search} {opponent}.json".replace(":", "-"))
    if not kept.exists():
        player = f"agent:{agent}@{search}"
        if opponent == EXAM:
            found = examined(player, count)
        else:
            games = ed.arena.tournament(
                {"agent": player, "opponent": opponent}, ruleset=row.ruleset(), games=count
            ).pairings[0]
            found = {"score": games.score, "low": games.low, "high": games.high}
        kept.write_text(json.dumps(found), encoding="utf-8")
    measured: dict[str, float] = json.loads(kept.read_text(encoding="utf-8"))
    return measured


def shown(found: dict[str, float]) -> str:
    """Return a measurement in words."""
    if "score" in found:
        return f"{found['score']:.2f} ({found['low']:.2f} to {found['high']:.2f})"
    return f"{found['optimal']:.1f} %, {found['lost']:.2f}"


def curve(folder: Path, row: Row) -> list[tuple[float, float]]:
    """Return the minutes of a run's copies and what they were measured by."""
    points = []
    for agent in sorted(folder.glob("minute-*.safetensors")):
        minute = float(agent.stem.removeprefix("minute-"))
        found = measure(agent, row, row.curve)
        print(f"{folder.name}, minute {minute:g}: {shown(found)}", flush=True)
        points.append((minute, found.get("score", found.get("lost", 0.0))))
    return points


def draw(curves: dict[str, list[list[tuple[float, float]]]], path: Path) -> None:
    """Draw a panel for every row, with a line for every seed."""
    across = min(3, len(curves))
    down = -(-len(curves) // across)
    figure = find_figures()(figsize=(4 * across, 2.8 * down), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).flat
    for (name, lines), axes in zip(curves.items(), places, strict=False):
        search, opponent, _ = ROWS[name].curve
        how = "alone" if search == "none" else search.replace("=", " ")
        what = "seeds lost a move" if opponent == EXAM else f"score against {opponent}"
        for points in lines:
            axes.plot(*zip(*points, strict=True), "o-", markersize=3)
        axes.set(title=f"{name.replace('-', ' ')}, {how}", xlabel="minutes", ylabel=what)
        axes.set_xlim(0)
        axes.set_ylim(0, None if opponent == EXAM else 1)
        axes.grid(alpha=0.3)
    for axes in places:
        axes.set_axis_off()
    write_figure(figure, path)


def rows_of_table(name: str, folders: list[Path]) -> list[str]:
    """Return what the last agents of some runs are measured by, and what they cost."""
    row = ROWS[name]
    agents = [max(folder.glob("minute-*.safetensors")) for folder in folders]
    lines = []
    for meeting in row.meets:
        cells = [shown(measure(agent, row, meeting)) for agent in agents]
        lines.append(f"| {name} | {meeting[0]}, {meeting[1]} | {' | '.join(cells)} |")
    costs = [json.loads((folder / "cost.json").read_text("utf-8")) for folder in folders]
    cells = [f"{cost['seconds']:.0f} s" for cost in costs]
    return [*lines, f"| {name} | processor time | {' | '.join(cells)} |"]


def main() -> None:
    """Train, measure, print, and draw where that is asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("rows", nargs="+", choices=list(ROWS))
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--workers", type=int, default=0, help="threads, 0 for every core")
    options.add_argument("--out", type=Path, required=True, help="folder of the runs")
    options.add_argument("--plot", type=Path, help="picture of strength against minutes")
    given = options.parse_args()
    lines: list[str] = []
    curves: dict[str, list[list[tuple[float, float]]]] = {name: [] for name in given.rows}
    for name in given.rows:
        folders = [given.out / f"{name}-{seed}" for seed in given.seeds]
        for folder, seed in zip(folders, given.seeds, strict=True):
            train(folder, ROWS[name], seed, given.workers)
            curves[name].append(curve(folder, ROWS[name]))
        lines += rows_of_table(name, folders)
    seeds = [f"seed {seed}" for seed in given.seeds]
    print(f"| row | what | {' | '.join(seeds)} |\n|{'---|' * (len(seeds) + 2)}")
    print("\n".join(lines))
    if given.plot:
        draw(curves, given.plot)


if __name__ == "__main__":
    main()
