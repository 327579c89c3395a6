"""Step vector environments that write into slices of one buffer, as PufferLib lays it out.

    python -m endodoi.examples.puffer_buffers --workers 2 --games 1024

The learner reads the whole buffer, each environment fills its own rows of it in place: nothing is
copied or allocated between the rules and the network's input.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import endodoi as ed


def make_buffers(rows: int, columns: int) -> dict[str, Any]:
    """Return one array for each thing that a step tells, with room for all rows."""
    return {
        "observations": np.zeros((rows, 2 * columns + 3), np.int16),
        "rewards": np.zeros(rows, np.float32),
        "terminated": np.zeros(rows, bool),
        "truncated": np.zeros(rows, bool),
        "action_mask": np.zeros((rows, columns), np.int8),
        "to_play": np.zeros(rows, np.int8),
    }


def main(words: list[str] | None = None) -> dict[str, Any]:
    """Play random moves and return the buffers and the number of games that ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2, help="vector environments")
    parser.add_argument("--games", type=int, default=256, help="games of each of them")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)

    buffers = make_buffers(arguments.workers * arguments.games, arguments.columns)
    parts = [
        slice(worker * arguments.games, (worker + 1) * arguments.games)
        for worker in range(arguments.workers)
    ]
    envs = [
        ed.VectorEnv(
            arguments.games,
            columns=arguments.columns,
            autoreset_mode="same_step",
            out={name: buffer[part] for name, buffer in buffers.items()},
        )
        for part in parts
    ]
    for worker, env in enumerate(envs):
        env.reset(seed=arguments.seed + worker)
    rng = np.random.default_rng(arguments.seed)
    ended, begun = 0, time.perf_counter()
    for _ in range(arguments.steps):
        # The learner's part: one batch of all rows.
        mask = buffers["action_mask"]
        actions = (rng.random(mask.shape, np.float32) * mask).argmax(axis=1)
        for env, part in zip(envs, parts, strict=True):
            env.step(actions[part])
        ended += int((buffers["terminated"] | buffers["truncated"]).sum())
    plies = arguments.steps * len(actions)
    print(f"{plies} plies, {ended} games, {plies / (time.perf_counter() - begun):,.0f} plies/s")
    return {"buffers": buffers, "ended": ended}


if __name__ == "__main__":
    main()
