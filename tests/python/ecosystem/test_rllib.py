"""The multi-agent environment for RLlib, and PPO with masked actions on it."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi.examples import rllib_self_play

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.ecosystem

SOUTH, NORTH = "player_0", "player_1"


def first_legal(observations: Mapping[str, Any]) -> dict[str, int]:
    """Return the lowest legal column of the only agent."""
    ((agent, seen),) = observations.items()
    return {agent: int(seen["action_mask"].argmax())}


@pytest.mark.parametrize("opening", [0, 3])
def test_seeded_games_are_those_of_env(opening: int) -> None:
    options: dict[str, Any] = {"columns": 6, "random_opening_plies": opening}
    ours, env = ed.rllib.MultiAgentEnv(options), ed.Env(**options)
    rng = np.random.default_rng(1)
    for game in range(20):
        seed = None if game % 3 else game
        observations, _ = ours.reset(seed=seed)
        view, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            ((agent, seen),) = observations.items()
            assert agent == (SOUTH, NORTH)[info["to_play"]]
            assert (seen["observations"] == view).all()
            assert (seen["action_mask"] == info["action_mask"]).all()
            assert ours.get_observation_space(agent).contains(seen)
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            view, reward, terminated, _, info = env.step(action)
            observations, rewards, ended, cut, infos = ours.step({agent: action})
            other = NORTH if agent == SOUTH else SOUTH
            assert rewards == {agent: reward, other: -reward}
            assert ended["__all__"] == terminated
            assert not any(cut.values())
        assert ended == {SOUTH: True, NORTH: True, "__all__": True}
        for own, seen in enumerate(observations[agent] for agent in (SOUTH, NORTH)):
            assert not seen["action_mask"].any()
            assert seen["observations"][12:14].tolist() == [
                info["captured"][own],
                info["captured"][1 - own],
            ]
        for its in infos.values():
            assert (its["outcome"], its["plies"]) == (info["outcome"], info["plies"])
            assert its["end_reason"] == info["end_reason"]


def test_key_names_are_options_and_rllibs_are_the_default() -> None:
    observations, _ = ed.rllib.MultiAgentEnv(columns=4).reset(seed=1)
    assert set(observations[SOUTH]) == {"observations", "action_mask"}
    env = ed.rllib.MultiAgentEnv({"columns": 4, "observation_key": "x"}, mask_key="mask")
    observations, _ = env.reset(seed=1)
    assert set(observations[SOUTH]) == {"x", "mask"}


def test_a_cut_game_is_truncated_for_both() -> None:
    env = ed.rllib.MultiAgentEnv(columns=6, max_plies=2)
    observations, _ = env.reset(seed=1)
    observations, _, _, cut, _ = env.step(first_legal(observations))
    assert cut == {NORTH: False, "__all__": False}
    _, rewards, ended, cut, infos = env.step(first_legal(observations))
    assert rewards == {SOUTH: 0.0, NORTH: 0.0}
    assert cut == {SOUTH: True, NORTH: True, "__all__": True}
    assert not any(ended.values())
    assert ed.GameTable.END_REASONS[infos[SOUTH]["end_reason"]] == "max_plies"


def test_an_illegal_move_loses_and_a_wrong_call_is_refused() -> None:
    env = ed.rllib.MultiAgentEnv(columns=6)
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.step({SOUTH: 0})
    env.reset(seed=1)
    for wrong in ({NORTH: 0}, {}, {SOUTH: 0, NORTH: 0}):
        with pytest.raises(ed.BatchError, match="expected one of player_0"):
            env.step(wrong)
    _, rewards, ended, _, _ = env.step({SOUTH: 9})
    assert rewards == {SOUTH: -1.0, NORTH: 1.0}
    assert ended["__all__"]
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.step({SOUTH: 0})
    with pytest.raises(ed.BatchError, match="unknown key 'mask'"):
        env.reset(options={"mask": 1})
    with pytest.raises(ed.ArgumentTypeError, match="colums"):
        ed.rllib.MultiAgentEnv({"colums": 6})
    with pytest.raises(ed.ArgumentTypeError, match="opponent"):
        ed.rllib.MultiAgentEnv(opponent="random")


def test_copies_in_mid_game_go_on_as_the_original() -> None:
    env = ed.rllib.MultiAgentEnv(columns=6, random_opening_plies=2)
    observations, _ = env.reset(seed=4)
    observations, *_ = env.step(first_legal(observations))
    twins = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    for _ in range(5):
        action = first_legal(observations)
        observations, *_ = env.step(action)
        for twin in twins:
            twin.step(action)
            assert twin.position == env.position


def test_ppo_trains_both_sides_without_an_illegal_move(capsys: pytest.CaptureFixture[str]) -> None:
    # The example's environment raises on one.
    words = ["--columns", "4", "--iterations", "2", "--batch", "256", "--seed", "1"]
    words += ["--runners", "2"]
    result = rllib_self_play.main(words)
    played = result["env_runners"]
    assert played["num_env_steps_sampled_lifetime"] >= 512
    returns = played["agent_episode_returns_mean"]
    # What one wins the other loses.
    assert returns[SOUTH] == pytest.approx(-returns[NORTH])
    losses = result["learners"]["both_sides"]
    assert np.isfinite(losses["policy_loss"])
    assert losses["num_module_steps_trained_lifetime"] > 512
    assert capsys.readouterr().out.count("mean return of South") == 2
