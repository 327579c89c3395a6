"""The vector environment in TorchRL: rollouts are the games that the environment plays itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

import endodoi as ed

pytestmark = pytest.mark.ecosystem

ROWS, COLUMNS = 6, 4


def make(mode: str, columns: int = COLUMNS, **options: Any) -> Any:
    return ed.VectorEnv(
        ROWS,
        columns=columns,
        autoreset_mode=mode,
        mask_in_obs=mode == "disabled",
        illegal="loss",
        max_plies=25,
        random_opening_plies=2,
        **options,
    )


def wrap(mode: str, **options: Any) -> Any:
    """Return the environment with random moves made legal."""
    env = GymWrapper(make(mode, **options), categorical_action_encoding=True)
    if isinstance(env, TransformedEnv):
        return env.append_transform(ActionMask())
    return TransformedEnv(env, ActionMask())


@pytest.mark.parametrize("mode", ["disabled", "same_step"])
@pytest.mark.parametrize("opponent", [None, "greedy"])
def test_a_rollout_is_what_the_environment_plays(mode: str, opponent: str | None) -> None:
    env = wrap(mode, opponent=opponent)
    torch.manual_seed(1)
    env.set_seed(5)
    rollout = env.rollout(150, break_when_any_done=False)
    # The seed's reset is followed by that of the rollout: its first games are the next episodes.
    plain = make("disabled", opponent=opponent)
    plain.reset(seed=5)
    seen, infos = plain.reset()
    ended = 0
    for step in range(150):
        played = rollout[:, step]
        assert (played["observation"].numpy() == seen["observation"]).all()
        assert (played["action_mask"].numpy() == infos["action_mask"]).all()
        actions = played["action"].numpy()
        # Random moves are legal.
        assert infos["action_mask"][np.arange(ROWS), actions].all()
        seen, rewards, terminated, truncated, infos = plain.step(actions)
        then = played["next"]
        assert (then["observation"].numpy() == seen["observation"]).all()
        assert (then["action_mask"].numpy() == infos["action_mask"]).all()
        assert (then["reward"][:, 0].numpy() == rewards).all()
        assert (then["terminated"][:, 0].numpy() == terminated).all()
        assert (then["truncated"][:, 0].numpy() == truncated).all()
        over = terminated | truncated
        ended += int(over.sum())
        if over.any():
            seen, infos = plain.reset(options={"reset_mask": over})
    assert ended > 20


@pytest.mark.parametrize("mode", ["disabled", "same_step"])
def test_the_specs_hold(mode: str) -> None:
    # Too wide for a game to end in the few steps of the check, which draws a move after the last.
    env = wrap(mode, opponent="random", columns=12)
    torch.manual_seed(1)
    check_env_specs(env)


def test_of_next_step_mode_the_wrapper_says_that_it_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match="SAME_STEP or DISABLED"):
        GymWrapper(make("next_step"), categorical_action_encoding=True)
