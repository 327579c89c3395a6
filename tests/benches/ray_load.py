"""Processor time and bytes of games and training on Ray, from which docs/ray.md plans.

    python tests/benches/ray_load.py simulate --games 8000000
    python tests/benches/ray_load.py workers --games 8000
    python tests/benches/ray_load.py train --minutes 0.5

Processor time is counted, not the time of the clock, so that other work on the machine hardly
matters. Needs Ray, and Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import ray

import endodoi as ed

TICKS = os.sysconf("SC_CLK_TCK")
SIX = ed.Ruleset(columns=6)


def processor_seconds(*words: str) -> float:
    """Return the processor time of the running processes whose command has one of these words."""
    total = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, UnicodeDecodeError):
            continue
        if any(word in command for word in words):
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def show(values: dict[str, float]) -> None:
    """Print values, one a line."""
    for name, value in values.items():
        print(f"{name:44} {value:>14,.6g}")


def measure_simulation(games: int, part: int) -> None:
    """Play games with two workers of one processor each, as a table and as files."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    simulate: Any = ed.ray.simulate
    options: dict[str, Any] = {"ruleset": SIX, "seed": 1}
    simulate(4, games_per_task=1, **options)
    began = time.process_time()
    ed.simulate(games, num_threads=1, **options)
    alone = time.process_time() - began
    show({"one thread: processor s for a million": alone / games * 1e6})
    tasks = -(-games // part)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "games"
        kinds: dict[str, dict[str, Any]] = {"table": {}, "files": {"out": out}}
        for name, kept in kinds.items():
            worker, caller, clock = workers(), time.process_time(), time.perf_counter()
            simulate(games, games_per_task=part, **options, **kept)
            worked, called = workers() - worker, time.process_time() - caller
            show(
                {
                    f"{name}: workers, processor s for a million": worked / games * 1e6,
                    f"{name}: caller, processor ms a task": called / tasks * 1e3,
                    f"{name}: games a second by the clock": games / (time.perf_counter() - clock),
                }
            )
        size = sum(path.stat().st_size for path in out.iterdir())
        show({"files: bytes a game": size / games})
    columns = ed.simulate(1000, **options).to_numpy().values()
    show({"table: bytes a game": sum(column.nbytes for column in columns) / 1000})
    ray.shutdown()


def measure_workers(games: int, rounds: int) -> None:
    """Play games that take longer with one worker and with two, in turn."""
    speeds: dict[int, list[float]] = {1: [], 2: []}
    costs: dict[int, list[float]] = {1: [], 2: []}
    options: dict[str, Any] = {"ruleset": SIX, "south": "alphabeta:6", "north": "alphabeta:4"}
    for count in [1, 2] * rounds:
        ray.init(num_cpus=count, include_dashboard=False, log_to_driver=False)
        ed.ray.simulate(2 * count, games_per_task=1, **options)
        before, began = workers(), time.perf_counter()
        ed.ray.simulate(games, random_opening_plies=4, games_per_task=games // 64, **options)
        speeds[count].append(games / (time.perf_counter() - began))
        costs[count].append((workers() - before) / games * 1e3)
        ray.shutdown()
    one, two = (statistics.median(speeds[count]) for count in (1, 2))
    show(
        {
            "one worker: games a second": one,
            "two workers: games a second": two,
            "ratio by the clock": two / one,
            "one worker: processor ms a game": statistics.median(costs[1]),
            "two workers: processor ms a game": statistics.median(costs[2]),
        }
    )


def workers() -> float:
    """Return the processor time of Ray's workers."""
    return processor_seconds("ray::")


def measure_training(minutes: float, learner: str) -> None:
    """Train with one actor and tell what is carried and what the learner takes."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        seen = {"actor": 0.0, "learner": 0.0}

        def watch(_report: dict[str, Any]) -> None:
            seen["actor"] = processor_seconds("endodoi-train selfplay")
            seen["learner"] = processor_seconds("endodoi-train learn")

        caller = time.process_time()
        ed.ray.train(
            columns=6,
            learner=learner,
            minutes=minutes,
            seed=1,
            actors=1,
            out=run,
            plot=False,
            progress=watch,
            settings={"evaluation": {"every": 0, "final_games": 0}},
        )
        caller = time.process_time() - caller
        log = json.loads((run / "ray.jsonl").read_text().splitlines()[-1])
        last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
        positions, chunks = last["positions"], last["queue"]["chunks"]
        show(
            {
                "positions": positions,
                "positions a second by the clock": positions / last["seconds"],
                "positions a chunk": positions / chunks,
                "bytes of a chunk": log["chunk_bytes"] / log["chunks"],
                "bytes of games in progress with it": log["games_bytes"] / log["chunks"],
                "bytes of both a game": (log["chunk_bytes"] + log["games_bytes"])
                / log["chunks"]
                * chunks
                / last["games"],
                "bytes of a weight update": log["weight_bytes"],
                "weight updates a minute": log["weights"] / minutes,
                "actor: positions a processor s": positions / seen["actor"],
                "learner: positions a processor s": positions / seen["learner"],
                "caller: processor ms a chunk": caller / chunks * 1e3,
                "staleness_max": last["queue"]["staleness_max"],
            }
        )
    ray.shutdown()


def main() -> None:
    """Measure what the words name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["simulate", "workers", "train"])
    parser.add_argument("--games", type=int, default=8_000_000)
    parser.add_argument("--part", type=int, default=1 << 20, help="games of a task")
    parser.add_argument("--rounds", type=int, default=3, help="how often one and two workers play")
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--learner", default="value")
    words = parser.parse_args()
    if words.what == "simulate":
        measure_simulation(words.games, words.part)
    elif words.what == "workers":
        measure_workers(words.games, words.rounds)
    else:
        measure_training(words.minutes, words.learner)


if __name__ == "__main__":
    main()
