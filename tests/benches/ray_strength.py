"""Strength of training on Ray beside that of one program, for docs/ray.md.

    python tests/benches/ray_strength.py --games 10000 --seeds 1 2 3 --out runs/strength

Trains an agent on 2x6 by the same number of games with each seed, in one program and on a Ray
session of this machine with some actors, with the same settings. Then plays the benchmark's board
2x6 with every agent alone, without search: moves and seeds lost in its positions, scores. Called
again it goes on: what is trained or measured is not done anew. Needs Ray.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import endodoi as ed

PLACES = ("one program", "Ray")

#: The 97.5 % points of Student's distribution by degrees of freedom, from 1 to 29.
STUDENT = (
    *(12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045),
)


def train(place: str, run: Path, seed: int, given: argparse.Namespace) -> None:
    """Train an agent in one of the places, unless that is done."""
    if (run / "done").exists():
        return
    options: dict[str, Any] = {
        "columns": 6,
        "learner": "value",
        "games": given.games,
        "seed": seed,
        "settings": {
            "workers": 1,
            "evaluation": {"every": 0, "final_games": 0},
            "queue": {"chunks": given.chunks, "positions": given.positions},
        },
        "out": run,
        "plot": False,
        "progress": False,
    }
    if place == PLACES[0]:
        ed.train(**options)
    else:
        ed.ray.train(actors=given.actors, address="local", **options)
    (run / "done").touch()


def measure(run: Path) -> dict[str, float]:
    """Return what a run's agent loses and scores, and how much it learnt from."""
    player = f"agent:{run / 'agent.safetensors'}@none"
    card = ed.arena.benchmark(player, parts=["2x6"], name="alone", num_threads=1, out=run / "card")
    part = card["2x6"]
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    last, ages = json.loads(lines[-1]), [json.loads(line).get("queue") or {} for line in lines]
    if part.overall is None or part.regret is None:
        raise SystemExit(f"{run}: {part.cannot_play}")
    (against,) = (one for one in part.opponents if one.opponent == "alphabeta:4")
    steps = [age["staleness"] for age in ages if age.get("staleness") is not None]
    return {
        "games": last["games"],
        "steps": last["step"],
        "staleness": statistics.mean(steps) if steps else 0.0,
        "optimal": part.regret.all.optimal.share,
        "lost": part.regret.all.seeds_lost.mean,
        "score": part.overall.score,
        "alphabeta:4": against.score,
    }


def interval(values: list[float]) -> str:
    """Return the mean of independent runs with the half-width of its 95 % interval."""
    half = STUDENT[len(values) - 2] * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.3f} ± {half:.3f}"


def main() -> None:
    """Train, measure, and print a line for each agent and the means."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", type=int, default=10_000)
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="2 to 30")
    options.add_argument("--actors", type=int, default=2)
    options.add_argument("--chunks", type=int, default=2, help="chunks that wait for the learner")
    options.add_argument("--positions", type=int, default=1024, help="positions of a chunk")
    options.add_argument("--out", type=Path, required=True, help="folder of the runs")
    given = options.parse_args()
    degrees = len(given.seeds) - 1
    if not 1 <= degrees <= len(STUDENT):
        options.error(f"--seeds has {degrees + 1}, expected 2 to {len(STUDENT) + 1}")
    found: dict[str, list[dict[str, float]]] = {place: [] for place in PLACES}
    for seed in given.seeds:
        for number, place in enumerate(PLACES):
            run = given.out / f"{number}-{seed}"
            train(place, run, seed, given)
            found[place].append(measure(run))
            shown = ", ".join(f"{name} {value:.4g}" for name, value in found[place][-1].items())
            print(f"{place}, seed {seed}: {shown}", flush=True)
    for place, cards in found.items():
        for name in cards[0]:
            print(f"{place}, {name}: {interval([card[name] for card in cards])}")
    for name in ("optimal", "lost", "score", "alphabeta:4"):
        pairs = zip(*(found[place] for place in PLACES), strict=True)
        print(f"Ray less one program, {name}: {interval([b[name] - a[name] for a, b in pairs])}")


if __name__ == "__main__":
    main()
