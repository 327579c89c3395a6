"""The adapter for Stable-Baselines3: its interface, and MaskablePPO on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

import endodoi as ed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.ecosystem, pytest.mark.filterwarnings("error")]

MODES = ["disabled", "next_step", "same_step"]


def make(mode: str = "disabled", rows: int = 6, **options: Any) -> Any:
    return ed.sb3.VecEnvAdapter(
        ed.VectorEnv(rows, columns=4, autoreset_mode=mode, **{"illegal": "loss", **options})
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask_in_obs", [False, True])
@pytest.mark.parametrize("opponent", [None, "random", "greedy"])
def test_the_adapter_equals_a_dummy_vec_env_over_our_env(
    mode: str, mask_in_obs: bool, opponent: str | None
) -> None:
    rows = 6
    options: dict[str, Any] = {
        "opponent": opponent,
        "mask_in_obs": mask_in_obs,
        "max_plies": 25,
        "random_opening_plies": 2,
    }
    ours = make(mode, rows, seed=list(range(rows)), **options)
    theirs = DummyVecEnv(
        [lambda row=row: ed.Env(columns=4, seed=row, **options) for row in range(rows)]
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    check_equal(ours.reset(), theirs.reset())
    legal = np.stack([info["action_mask"] for info in theirs.reset_infos])
    rng = np.random.default_rng(1)
    games = cut = 0
    for _ in range(200):
        masks = get_action_masks(ours)
        check_equal(masks, legal)
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        # Now and then a move that may be illegal.
        actions = np.where(rng.random(rows) < 0.02, rng.integers(4), actions)
        observations, rewards, dones, infos = ours.step(actions)
        expected = theirs.step(actions)
        check_equal(observations, expected[0])
        check_equal(rewards, expected[1])
        check_equal(dones, expected[2])
        for row, (info, other) in enumerate(zip(infos, expected[3], strict=True)):
            assert info["TimeLimit.truncated"] == other["TimeLimit.truncated"]
            now = theirs.reset_infos[row] if dones[row] else other
            legal[row] = now["action_mask"]
            assert (info["action_mask"] == now["action_mask"]).all()
            assert info["to_play"] == now["to_play"]
            assert ("terminal_observation" in info) == dones[row]
            if dones[row]:
                check_equal(info["terminal_observation"], other["terminal_observation"])
                for key in ("outcome", "plies", "end_reason"):
                    assert info[key] == other[key]
                assert info["captured"].tolist() == other["captured"].tolist()
                games += 1
                cut += info["TimeLimit.truncated"]
    assert games > 50
    assert cut > 2


def check_equal(got: Any, expected: Any) -> None:
    """Compare observations, rewards and ends."""
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected:
            check_equal(got[key], expected[key])
    else:
        assert np.array_equal(got, expected)
        assert got.dtype == expected.dtype


def test_maskable_ppo_gets_masks_from_the_natively_vectorised_adapter() -> None:
    env = make()
    assert is_masking_supported(env)
    assert env.has_attr("action_masks")
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.env_method("action_masks")
    env.reset()
    expected = [env.vector_env.position(row).legal_moves() for row in range(6)]
    masks = env.env_method("action_masks")
    assert [np.flatnonzero(mask).tolist() for mask in masks] == expected
    assert masks[0].dtype == np.int8
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    (one,) = env.get_attr("action_masks", indices=1)
    assert (one() == masks[1]).all()
    wrapped = VecNormalize(VecMonitor(env))
    assert is_masking_supported(wrapped)
    assert (get_action_masks(wrapped) == np.stack(masks)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask_in_obs", [False, True])
def test_maskable_ppo_trains_and_is_evaluated(mode: str, mask_in_obs: bool, tmp_path: Path) -> None:
    env = VecMonitor(make(mode, 8, max_plies=60, mask_in_obs=mask_in_obs, illegal="raise"))
    policy = "MultiInputPolicy" if mask_in_obs else "MlpPolicy"
    model = MaskablePPO(policy, env, n_steps=32, batch_size=64, n_epochs=2, seed=3, device="cpu")
    before = [weights.clone() for weights in model.policy.parameters()]
    # An illegal move would raise.
    model.learn(3 * 8 * 32)
    assert model.num_timesteps == 768
    after = list(model.policy.parameters())
    assert any((one != other).any() for one, other in zip(before, after, strict=True))
    assert len(model.ep_info_buffer) > 10
    assert all(1 <= episode["l"] <= 60 for episode in model.ep_info_buffer)
    scores, lengths = evaluate_policy(model, env, n_eval_episodes=16, return_episode_rewards=True)
    assert len(scores) == 16
    assert set(scores) <= {-1.0, 0.0, 1.0}
    assert max(lengths) <= 60
    model.save(tmp_path / "model")
    again = MaskablePPO.load(tmp_path / "model", env=env, device="cpu")
    observations = env.reset()
    masks = get_action_masks(env)
    actions, _ = model.predict(observations, action_masks=masks, deterministic=True)
    assert (masks[np.arange(8), actions] == 1).all()
    same, _ = again.predict(observations, action_masks=masks, deterministic=True)
    assert (actions == same).all()


def test_the_same_seed_trains_the_same() -> None:
    def train(seed: int) -> list[Any]:
        env = make(rows=4, max_plies=40, random_opening_plies=4, illegal="raise")
        model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=32, seed=seed, device="cpu")
        model.learn(128)
        return [weights.detach().numpy() for weights in model.policy.parameters()]

    one, same, other = train(1), train(1), train(2)
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=True))


def test_a_seed_is_that_of_the_vector_env_and_holds_for_one_reset() -> None:
    env = make(random_opening_plies=4)
    assert env.seed(7) == [None] * 6
    first = env.reset()
    plain = ed.VectorEnv(6, columns=4, random_opening_plies=4)
    assert (first == plain.reset(seed=7)[0]).all()
    assert (env.reset() == plain.reset()[0]).all()
    env.seed(7)
    assert (env.reset() == first).all()
    env.seed()
    assert (env.reset() != first).any()


def test_copies_go_to_the_learner() -> None:
    env = make(copy=False)
    observations = env.reset()
    masks = get_action_masks(env)
    kept, kept_masks = observations.copy(), masks.copy()
    _, rewards, _, infos = env.step(masks.argmax(axis=1))
    rewards[:] = 9
    mask = infos[0]["action_mask"].copy()
    env.step(get_action_masks(env).argmax(axis=1))
    assert (observations == kept).all()
    assert (masks == kept_masks).all()
    assert (infos[0]["action_mask"] == mask).all()


def test_attributes_and_methods_of_rows_and_of_all() -> None:
    env = make(render_mode="ansi")
    env.reset()
    assert env.get_attr("render_mode") == ["ansi"] * 6
    assert env.render_mode == "ansi"
    position = env.vector_env.position(1)
    assert env.env_method("render", indices=[1]) == [str(position)]
    assert env.env_method("position", indices=1) == [position]
    state = env.vector_env.get_state()
    assert env.env_method("get_state") == [state] * 6
    with pytest.raises(ed.BatchError, match="get_state concerns all 6 rows, but indices names 2"):
        env.env_method("get_state", indices=[0, 3])
    env.set_attr("note", "kept")
    assert env.get_attr("note", indices=[2]) == ["kept"]
    with pytest.raises(ed.BatchError, match="note concerns all 6 rows"):
        env.set_attr("note", "kept", indices=2)
    assert not env.has_attr("no_such_thing")
    assert env.env_is_wrapped(Monitor) == [False] * 6
    env.close()


def test_pictures_of_all_rows_make_one() -> None:
    env = make(rows=4, render_mode="rgb_array")
    env.reset()
    one = env.env_method("render", indices=0)[0]
    assert len(env.get_images()) == 4
    whole = env.render()
    assert whole.dtype == np.uint8
    assert whole.shape == (2 * one.shape[0], 2 * one.shape[1], 3)


def test_opponents_are_changed_while_games_run() -> None:
    env = ed.sb3.VecEnvAdapter(4, columns=4, seed=1)
    assert env.get_attr("opponent") == ["random"] * 4
    env.reset()
    asked = []

    def lowest(observations: Any, masks: Any) -> Any:
        asked.append(len(observations))
        return masks.argmax(axis=1)

    env.env_method("set_opponent", lowest)
    for _ in range(5):
        env.step(get_action_masks(env).argmax(axis=1))
    assert asked
    assert max(asked) <= 4


def test_settings_are_given_once_and_options_of_a_reset_are_refused() -> None:
    with pytest.raises(ed.ArgumentTypeError, match="settings already"):
        ed.sb3.VecEnvAdapter(ed.VectorEnv(2, columns=4), copy=False)
    env = ed.sb3.VecEnvAdapter(2, ed.Ruleset(columns=4), max_plies=9)
    env.set_options({"mask": 1})
    with pytest.raises(ed.BatchError, match="unknown key 'mask'"):
        env.reset()
