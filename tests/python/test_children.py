"""VectorEnv.children: what every legal column leads to, against Position."""

from __future__ import annotations

import numpy as np
import pytest

import endodoi as ed
from endodoi import Ruleset, VectorEnv
from test_vector_env import RULES, draw


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_children_are_what_position_plays(rules: Ruleset) -> None:
    env, rng = VectorEnv(70, rules), np.random.default_rng(1)
    with pytest.raises(ed.BatchError, match="not been reset"):
        env.children()
    _, infos = env.reset(seed=2)
    for _ in range(25):
        *_, infos = env.step(draw(rng, infos["action_mask"]))
    before = env.get_state()
    views, captured, ends = env.children()
    assert env.get_state() == before
    seen = 0
    for row in range(70):
        position = env.position(row)
        own = 0 if position.to_move == "south" else 1
        for column in range(rules.columns):
            if column not in position.legal_moves():
                assert not views[row, column].any()
                assert (captured[row, column], ends[row, column]) == (0, -1)
                continue
            child = position.play(column)
            assert views[row, column].tolist() == child.observation().tolist()
            assert captured[row, column] == child.captured[own] - position.captured[own]
            code = int(ends[row, column])
            assert (ed.GameTable.END_REASONS[code] if code >= 0 else None) == child.end_reason
            seen += 1
    assert seen > 70
