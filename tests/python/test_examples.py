"""The programs of `endodoi.examples` that need no heavy library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi.examples import pettingzoo_random, puffer_buffers

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("program", [pettingzoo_random.main, puffer_buffers.main])
def test_programs_tell_their_arguments(
    program: Callable[[list[str]], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        program(["--help"])
    assert done.value.code == 0
    assert "--seed" in capsys.readouterr().out


def test_random_agents_play_through_pettingzoo(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--columns", "4", "--games", "40", "--seed", "2"]
    wins = pettingzoo_random.main(words)
    assert sum(wins.values()) == 40
    assert min(wins["player_0"], wins["player_1"]) > 5
    assert pettingzoo_random.main(words) == wins
    assert capsys.readouterr().out.count("South won") == 2


def test_every_worker_fills_its_own_rows_of_the_buffer_in_place() -> None:
    told = puffer_buffers.main(["--columns", "4", "--games", "16", "--steps", "60", "--seed", "3"])
    buffers = told["buffers"]
    assert told["ended"] > 10
    assert (buffers["observations"][:, :10].sum(axis=1) == 32).all()
    assert buffers["action_mask"].any(axis=1).all()
    assert set(np.unique(buffers["to_play"])) == {0, 1}


def test_slices_of_one_buffer_hold_what_fresh_arrays_would() -> None:
    rows, columns = 5, 4
    buffers = puffer_buffers.make_buffers(2 * rows, columns)
    parts = [slice(0, rows), slice(rows, 2 * rows)]
    options: dict[str, Any] = {"columns": columns, "autoreset_mode": "same_step"}
    filled = [
        ed.VectorEnv(rows, out={name: array[part] for name, array in buffers.items()}, **options)
        for part in parts
    ]
    fresh = [ed.VectorEnv(rows, **options) for _ in parts]
    for seed, (one, other) in enumerate(zip(filled, fresh, strict=True)):
        one.reset(seed=seed)
        other.reset(seed=seed)
    rng = np.random.default_rng(1)
    for _ in range(60):
        mask = buffers["action_mask"]
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        for part, one, other in zip(parts, filled, fresh, strict=True):
            got, expected = one.step(actions[part]), other.step(actions[part])
            names = ("observations", "rewards", "terminated", "truncated")
            pairs = {name: (got[i], expected[i]) for i, name in enumerate(names)}
            for name in ("action_mask", "to_play"):
                pairs[name] = (got[4][name], expected[4][name])
            for name, (array, wanted) in pairs.items():
                assert np.shares_memory(array, buffers[name][part])
                assert (buffers[name][part] == wanted).all()
