"""Agents of small random weights, for the tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

import endodoi as ed
from endodoi import _core

if TYPE_CHECKING:
    from pathlib import Path

SIX = ed.Ruleset(columns=6)
GUMBEL = {"channels": 4, "blocks": 1, "policy_units": 3, "value_units": 5}
VALUE = {"columns": 6, "levels": 5, "units": 8, "hidden": 4}


def layout(learner: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of the two small networks above."""
    if learner == "value":
        shapes: dict[str, tuple[int, ...]] = {"pits": (60, 8), "bias": (8,), "hidden": (8, 4)}
        return {**shapes, "hidden_bias": (4,), "out": (4, 1), "out_bias": (1,)}
    stem = {"stem.taps": (192, 4), "stem.globals": (16, 4), "stem.bias": (4,)}
    block = {"taps": (24, 4), "pool": (16, 4), "bias": (4,), "out": (4, 4), "out_bias": (4,)}
    policy = {"pit": (4, 3), "pool": (16, 3), "bias": (3,), "out": (3, 1), "features": (32, 1)}
    value = {"pool": (16, 5), "globals": (16, 5), "bias": (5,), "out": (5, 4), "out_bias": (4,)}
    parts: dict[str, dict[str, tuple[int, ...]]] = {
        "block0": block,
        "policy": policy,
        "value": value,
    }
    more = {f"{part}.{name}": shape for part in parts for name, shape in parts[part].items()}
    return {**stem, **more}


def write(path: Path, learner: str, ruleset: ed.Ruleset = SIX, seed: int = 1) -> Path:
    """Write an agent of small random weights."""
    rng = np.random.default_rng(seed)
    tensors = {
        name: rng.normal(0, 0.2, shape).astype(np.float32)
        for name, shape in layout(learner).items()
    }
    _core.write_agent(path, json.dumps(metadata(learner, ruleset)), tensors)
    return path


def metadata(learner: str, ruleset: ed.Ruleset = SIX) -> dict[str, Any]:
    """Return what the file of such an agent says."""
    search = {"depth": 2} if learner == "value" else {"simulations": 8}
    network = VALUE if learner == "value" else GUMBEL
    return {
        "learner": learner,
        "ruleset": ruleset.to_dict(),
        "network": network,
        "step": 7,
        "games": 9,
        **search,
    }


def positions(games: int = 40, seed: int = 3) -> tuple[Any, Any]:
    """Return observations and masks of open games."""
    env = ed.VectorEnv(games, SIX, random_opening_plies=9)
    observations, infos = env.reset(seed=seed)
    return observations, infos["action_mask"]
