"""The AEC environment: PettingZoo's checkers, and equality with Env."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

import endodoi as ed

SOUTH, NORTH = "player_0", "player_1"
VARIANTS = ["en-dodoi", "en-gehe", "cross-endodoi"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"render_mode": "ansi"},
    {"render_mode": "rgb_array"},
    {"random_opening_plies": 3},
    {"max_plies": 12},
    {"endless": "draw"},
    {"illegal": "raise"},
]

# What the checker says of every observation that is a dictionary, unless the game is one of
# PettingZoo's own, whose names it knows.
OF_DICTIONARIES = {
    "Observation is not a NumPy array",
    (
        "Observation space for each agent probably should be gymnasium.spaces.box or "
        "gymnasium.spaces.discrete"
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_checkers_pass_without_a_warning(variant: str, options: dict[str, Any]) -> None:
    # Warnings are errors in these tests.
    api_test(ed.pettingzoo.env(variant=variant, **options), num_cycles=300)
    seed_test(lambda: ed.pettingzoo.env(variant=variant, **options))


@pytest.mark.parametrize("variant", VARIANTS)
def test_of_dictionaries_the_checker_says_that_they_are_no_arrays_and_nothing_else(
    variant: str,
) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        api_test(ed.pettingzoo.env(variant=variant, mask_in_obs=True), num_cycles=300)
        seed_test(lambda: ed.pettingzoo.env(variant=variant, mask_in_obs=True))
        api_test(ed.pettingzoo.raw_env(variant=variant, mask_in_obs=True), num_cycles=20)
    assert {str(warning.message) for warning in seen} == OF_DICTIONARIES


@pytest.mark.parametrize("opening", [0, 3])
def test_seeded_games_are_those_of_env(opening: int) -> None:
    options: dict[str, Any] = {"columns": 6, "random_opening_plies": opening}
    aec, env = ed.pettingzoo.env(mask_in_obs=True, **options), ed.Env(**options)
    rng = np.random.default_rng(1)
    for game in range(30):
        seed = None if game % 3 else game
        aec.reset(seed=seed)
        view, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            agent = aec.agent_selection
            assert agent == (SOUTH, NORTH)[info["to_play"]]
            seen, _, _, _, its = aec.last()
            assert (seen["observation"] == view).all()
            assert (seen["action_mask"] == info["action_mask"]).all()
            assert (its["action_mask"] == info["action_mask"]).all()
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            view, reward, terminated, _, info = env.step(action)
            aec.step(action)
        assert aec.rewards == {agent: reward, (NORTH if agent == SOUTH else SOUTH): -reward}
        assert aec.terminations == {SOUTH: True, NORTH: True}
        assert aec.truncations == {SOUTH: False, NORTH: False}
        for its in aec.infos.values():
            assert not its["action_mask"].any()
            assert its["outcome"] == info["outcome"]
            assert its["captured"].tolist() == info["captured"].tolist()
            assert (its["plies"], its["end_reason"]) == (info["plies"], info["end_reason"])
        aec.step(None)
        aec.step(None)
        assert aec.agents == []


def test_observe_works_in_initial_middle_and_final_positions() -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6)
    env.reset(seed=2)
    plies = 0
    while True:
        position = env.unwrapped.position
        board, captured = position.board, position.captured
        for agent, own in ((SOUTH, 0), (NORTH, 1)):
            seen = env.observe(agent)
            view = [*board[own], *board[1 - own], captured[own], captured[1 - own], position.quiet]
            assert seen["observation"].tolist() == view
            assert env.observation_space(agent).contains(seen)
            moves = position.legal_moves() if agent == env.agent_selection else []
            assert np.flatnonzero(seen["action_mask"]).tolist() == moves
        south_to_move = position.to_move == "south"
        state = env.state()
        assert state.tolist() == [*env.observe(SOUTH)["observation"], 0 if south_to_move else 1]
        assert env.unwrapped.state_space.contains(state)
        if position.is_over:
            break
        env.step(position.legal_moves()[plies % len(position.legal_moves())])
        plies += 1
    assert plies > 10


def test_an_observation_belongs_to_who_asked() -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6)
    env.reset(seed=1)
    first = env.observe(SOUTH)
    expected = copy.deepcopy(first)
    first["observation"][:] = -1
    first["action_mask"][:] = -1
    second = env.observe(SOUTH)
    assert (second["observation"] == expected["observation"]).all()
    assert (second["action_mask"] == expected["action_mask"]).all()


@pytest.mark.parametrize("action", [3, -1, 6, np.int8(3)])
def test_an_illegal_move_ends_the_game_as_a_loss_of_its_mover(action: Any) -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6)
    env.reset(seed=1)
    env.step(0)
    # South's first move empties the pits 2 and 3 of North.
    assert env.agent_selection == NORTH
    env.step(action)
    assert env.rewards == {SOUTH: 1.0, NORTH: -1.0}
    assert env.terminations == {SOUTH: True, NORTH: True}
    assert env.truncations == {SOUTH: False, NORTH: False}
    for agent in (SOUTH, NORTH):
        assert ed.GameTable.END_REASONS[env.infos[agent]["end_reason"]] == "illegal"
        assert env.infos[agent]["outcome"] == 1
    strict = ed.pettingzoo.env(mask_in_obs=True, columns=6, illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(ed.BatchError, match="action 9 is illegal"):
        strict.step(9)
    strict.step(0)


@pytest.mark.parametrize("action", [0.0, True, None, "0"])
def test_actions_that_are_no_integers_are_refused(action: Any) -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6)
    env.reset(seed=1)
    with pytest.raises(ed.ArgumentTypeError, match="actions"):
        env.step(action)
    assert env.agent_selection == SOUTH


def test_a_cut_game_is_truncated_for_both_and_won_by_none() -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6, max_plies=3, random_opening_plies=1)
    env.reset(seed=1)
    for _ in range(2):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    assert env.rewards == {SOUTH: 0.0, NORTH: 0.0}
    assert env.terminations == {SOUTH: False, NORTH: False}
    assert env.truncations == {SOUTH: True, NORTH: True}
    assert ed.GameTable.END_REASONS[env.infos[SOUTH]["end_reason"]] == "max_plies"
    assert env.infos[NORTH]["plies"] == 3


def test_the_aec_env_ignores_unknown_options() -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6)
    options = {"mask": 1}
    env.reset(seed=1, options=options)
    assert options == {"mask": 1}


def test_copies_in_mid_game_go_on_as_the_original() -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6, random_opening_plies=2)
    env.reset(seed=4)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    twins = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    for _ in range(3):
        while env.agents:
            seen, reward, terminated, truncated, _ = env.last()
            for twin in twins:
                theirs = twin.last()
                assert (theirs[0]["observation"] == seen["observation"]).all()
                assert theirs[1:4] == (reward, terminated, truncated)
            action = None if terminated or truncated else int(seen["action_mask"].argmax())
            for one in (env, *twins):
                one.step(action)
        # The opening of the next episode too.
        for one in (env, *twins):
            one.reset()


def test_key_names_are_options() -> None:
    env = ed.pettingzoo.env(
        mask_in_obs=True, columns=6, observation_key="observations", mask_key="mask"
    )
    env.reset(seed=1)
    assert set(env.observe(SOUTH)) == set(env.observation_space(SOUTH)) == {"observations", "mask"}


@pytest.mark.parametrize("mask_in_obs", [False, True])
def test_pettingzoos_wrappers_play_whole_games(mask_in_obs: bool) -> None:
    env = OrderEnforcingWrapper(
        AssertOutOfBoundsWrapper(
            TerminateIllegalWrapper(
                ed.pettingzoo.raw_env(columns=6, mask_in_obs=mask_in_obs), illegal_reward=-1
            )
        )
    )
    for seed in range(5):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            _, _, terminated, truncated, info = env.last()
            over = terminated or truncated
            env.step(None if over else env.action_space(agent).sample(info["action_mask"]))
        assert env.agents == []


def test_calls_before_reset_and_after_the_end_are_refused() -> None:
    env = ed.pettingzoo.raw_env(columns=6, max_plies=1)
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.step(0)
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.observe(SOUTH)
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.state()
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    env.step(None)
    env.step(None)
    with pytest.raises(ed.BatchError, match=r"call reset\(\) first"):
        env.step(0)


def test_the_board_is_rendered_as_text() -> None:
    env = ed.pettingzoo.env(mask_in_obs=True, columns=6, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == str(env.unwrapped.position)
    assert "ansi" in env.metadata["render_modes"]
    silent = ed.pettingzoo.env(mask_in_obs=True, columns=6)
    silent.reset(seed=1)
    assert silent.render() is None
    silent.close()


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(ed.ArgumentTypeError, match="colums"):
        ed.pettingzoo.env(mask_in_obs=True, colums=6)
