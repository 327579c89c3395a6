"""Strength of training on Ray beside that of one machine, for docs/ray.md.

    python tests/benches/ray_strength.py --games 40000 --seeds 1 2 3 --out runs/strength

Trains an agent by the same number of games with each seed, in one program and on a Ray session of
this machine with two actors, with the same settings. Then measures every agent alone, without
search: seeds lost a move, and the score against alphabeta:4.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import endodoi as ed

SIX = ed.Ruleset(columns=6)
PLACES = ("one program", "Ray, two actors")


def train(place: str, run: Path, games: int, seed: int) -> None:
    """Train an agent in one of the places, unless that is done."""
    if (run / "done").exists():
        return
    options: dict[str, Any] = {
        "columns": 6,
        "learner": "value",
        "games": games,
        "seed": seed,
        "settings": {"workers": 1, "evaluation": {"every": 0, "final_games": 0}},
        "out": run,
        "plot": False,
        "progress": False,
    }
    if place == PLACES[0]:
        ed.train(**options)
    else:
        ed.ray.train(actors=2, address="local", **options)
    (run / "done").touch()


def last_line(run: Path) -> dict[str, Any]:
    """Return the last measurements of a run."""
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    line: dict[str, Any] = json.loads(lines[-1])
    return line


def measure(exam: ed.arena.Exam, run: Path, place: str, seed: int, games: int) -> dict[str, Any]:
    """Return what a run's agent loses and scores."""
    player = f"agent:{run / 'agent.safetensors'}@none"
    regret = exam.regret(player).all
    pair = ed.arena.tournament([player, "alphabeta:4"], ruleset=SIX, games=games, seed=1)
    standing, last = pair.players[0], last_line(run)
    return {
        "place": place,
        "seed": seed,
        "games": last["games"],
        "positions": last["positions"],
        "steps": last["step"],
        "staleness": (last.get("queue") or {}).get("staleness"),
        "optimal": regret.optimal.share,
        "lost": regret.seeds_lost.mean,
        "lost_half": regret.seeds_lost.half,
        "score": standing.score,
        "low": standing.low,
        "high": standing.high,
    }


def main() -> None:
    """Train, measure, and print a line for each agent and the means."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", type=int, default=40_000)
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options.add_argument("--positions", type=int, default=500)
    options.add_argument("--match", type=int, default=400, help="games against alphabeta:4")
    options.add_argument("--out", type=Path, required=True, help="folder of the runs")
    given = options.parse_args()
    runs = [
        (place, seed, given.out / f"{number}-{seed}")
        for seed in given.seeds
        for number, place in enumerate(PLACES)
    ]
    for place, seed, run in runs:
        train(place, run, given.games, seed)
        print(f"trained: {place}, seed {seed}", flush=True)
    exam = ed.arena.Exam(ruleset=SIX, positions=given.positions, num_threads=1)
    found = [measure(exam, run, place, seed, given.match) for place, seed, run in runs]
    for line in found:
        print(json.dumps(line))
    for place in PLACES:
        own = [line for line in found if line["place"] == place]
        means = {name: sum(line[name] for line in own) / len(own) for name in ("lost", "score")}
        print(f"{place}: {means['lost']:.3f} seeds lost a move, score {means['score']:.3f}")


if __name__ == "__main__":
    main()
