"""What the choices of a learner are worth on 2x6, for docs/trainer.md.

    python tests/benches/ablation.py gumbel --games 1500 --seeds 1 2 3 --out runs/gumbel
    python tests/benches/ablation.py value --games 45000 --seeds 1 2 3 --out runs/value

Trains an agent with the defaults and with one setting changed at a time, by the same number of
games and with each seed, on one thread. Then every agent chooses in the 500 solved positions of the
benchmark's board 2x6, alone and with search. Prints a line for each agent, and a table with the
means over the seeds and half of their range. Called again it goes on: what is trained or measured
is not done anew.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import endodoi as ed
from trained import examined, seconds_of_children

#: What is changed, in words, and the settings.
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "gumbel": {
        "none": {},
        "c_scale 1": {"selfplay.c_scale": 1.0},
        "margin_weight 0": {"selfplay.margin_weight": 0.0},
        "margin_weight 1": {"selfplay.margin_weight": 1.0},
        "outcome 1": {"value_target.outcome": 1.0},
        "lambda 0.5": {"value_target.lambda": 0.5},
        "opening_share 0": {"selfplay.opening_share": 0.0},
        "quick_share 0.5": {"selfplay.quick_share": 0.5},
        "simulations 16": {"selfplay.simulations": 16, "selfplay.first_simulations": 16},
        "first_simulations 8": {"selfplay.first_simulations": 8},
        "loss.margin 1": {"loss.margin": 1.0},
        "ratio 12": {"replay.ratio": 12.0},
    },
    "value": {
        "none": {},
        "units 64": {"value.units": 64},
        "units 256": {"value.units": 256},
        "depth 1": {"value.depth": 1},
        "depth 3": {"value.depth": 3},
        "lambda 0.5": {"value_target.lambda": 0.5},
        "lambda 0.95": {"value_target.lambda": 0.95},
        "explore 0": {"value.explore": 0.0},
        "explore 0.4": {"value.explore": 0.4},
        "opening_share 0": {"selfplay.opening_share": 0.0},
        "ratio 4": {"replay.ratio": 4.0},
        "table_seeds 12": {"value.table_seeds": 12},
    },
}

#: What all agents of a learner have, those with the defaults too. Narrow sums cost half the time.
BASE: dict[str, dict[str, Any]] = {"gumbel": {}, "value": {"value.units": 128}}

#: Solved positions of the benchmark, at most as many as it has.
POSITIONS = 500

#: How agents play, and what of it is shown.
SEARCHES = {"gumbel": ("none", "sims=64"), "value": ("none", "depth=4", "depth=8")}


def train(run: Path, learner: str, change: str, seed: int, games: int) -> None:
    """Train an agent, unless that is done, and note the processor time."""
    if (run / "cost.json").exists():
        return
    before = seconds_of_children()
    ed.train(
        learner=learner,
        columns=6,
        games=games,
        seed=seed,
        workers=1,
        settings={"evaluation.every": 0, "evaluation.final_games": 0}
        | BASE[learner]
        | CHANGES[learner][change],
        out=run,
        plot=False,
        progress=False,
    )
    seconds = seconds_of_children() - before
    (run / "cost.json").write_text(json.dumps({"seconds": seconds}), encoding="utf-8")


def measure(run: Path, learner: str) -> dict[str, float]:
    """Return what an agent's moves lose, and what it cost."""
    kept = run / "measured.json"
    if not kept.exists():
        found = json.loads((run / "cost.json").read_text(encoding="utf-8"))
        for search in SEARCHES[learner]:
            player = f"agent:{run / 'agent.safetensors'}@{search}"
            for name, value in examined(player, POSITIONS).items():
                found[f"{search} {name}"] = value
        kept.write_text(json.dumps(found), encoding="utf-8")
    measured: dict[str, float] = json.loads(kept.read_text(encoding="utf-8"))
    return measured


def shown(values: list[float], digits: int) -> str:
    """Return the mean of some runs, with half of their range."""
    half = (max(values) - min(values)) / 2
    return f"{statistics.mean(values):.{digits}f} ± {half:.{digits}f}"


def main() -> None:
    """Train, measure, and print a line for each agent and a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("learner", choices=list(CHANGES))
    options.add_argument("--games", type=int, required=True)
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--out", type=Path, required=True, help="folder of the runs")
    given = options.parse_args()
    searches = SEARCHES[given.learner]
    found: dict[str, list[dict[str, float]]] = {change: [] for change in CHANGES[given.learner]}
    for seed in given.seeds:
        for change, runs in found.items():
            run = given.out / f"{change.replace(' ', '-')}-{seed}"
            train(run, given.learner, change, seed, given.games)
            runs.append(measure(run, given.learner))
            line = ", ".join(f"{name} {value:.4g}" for name, value in runs[-1].items())
            print(f"{change}, seed {seed}: {line}", flush=True)
    print(f"| changed | {' | '.join(searches)} | processor time |\n|{'---|' * (len(searches) + 2)}")
    for change, runs in found.items():
        cells = [
            f"{shown([run[f'{search} optimal'] for run in runs], 1)} %, "
            f"{shown([run[f'{search} lost'] for run in runs], 2)}"
            for search in searches
        ]
        seconds = statistics.mean(run["seconds"] for run in runs)
        print(f"| {change} | {' | '.join(cells)} | {seconds:.0f} s |")


if __name__ == "__main__":
    main()
