"""Env: Gymnasium's checker, and equality with the rows of VectorEnv."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

import endodoi as ed
from endodoi import Env, Position, Ruleset, VectorEnv
from endodoi.registration import ENV_IDS


@pytest.mark.parametrize("env_id", ENV_IDS)
@pytest.mark.parametrize(
    "options", [{}, {"mask_in_obs": True}, {"render_mode": "ansi"}, {"random_opening_plies": 3}]
)
def test_check_env_passes_without_a_warning(env_id: str, options: dict[str, Any]) -> None:
    # Warnings are errors in these tests.
    check_env(gymnasium.make(env_id, **options).unwrapped)


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_make_builds_the_variant(env_id: str) -> None:
    for name in (env_id, f"endodoi:{env_id}"):
        env = gymnasium.make(name).unwrapped
        assert isinstance(env, Env)
        assert env.ruleset == Ruleset(ENV_IDS[env_id])
    limited = gymnasium.make(env_id, max_episode_steps=2)
    _, info = limited.reset(seed=1)
    truncated = False
    for _ in range(2):
        action = int(info["action_mask"].argmax())
        *_, truncated, info = limited.step(action)
    assert truncated


def test_one_game_as_position_plays_it() -> None:
    env = Env(columns=6)
    observation, info = env.reset(seed=3)
    position = Position.start(env.ruleset)
    terminated = False
    plies = 0
    while not terminated:
        assert np.flatnonzero(info["action_mask"]).tolist() == position.legal_moves()
        mover = 1 if position.to_move == "south" else -1
        action = position.legal_moves()[plies % len(position.legal_moves())]
        observation, reward, terminated, truncated, info = env.step(action)
        position = position.play(action)
        plies += 1
        assert (observation == position.observation()).all()
        assert env.position == position
        assert type(reward) is float
        assert type(terminated) is type(truncated) is bool
    sign = {"south": 1, "north": -1, "draw": 0}[str(position.outcome)]
    assert (reward, info["outcome"]) == (sign * mover, sign)
    assert (info["plies"], info["captured"].tolist()) == (plies, list(position.captured))
    assert ed.GameTable.END_REASONS[info["end_reason"]] == position.end_reason
    with pytest.raises(ed.BatchError, match="the game is over"):
        env.step(0)


def test_an_illegal_action_loses_by_default_or_raises() -> None:
    env = Env(columns=6)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(9)
    assert (reward, terminated, info["outcome"]) == (-1.0, True, -1)
    strict = Env(columns=6, illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(ed.BatchError, match="action 9 is illegal"):
        strict.step(9)
    strict.step(np.int8(0))


@pytest.mark.parametrize("action", [0.0, True, None, "0"])
def test_actions_that_are_no_integers_are_refused(action: Any) -> None:
    env = Env()
    env.reset(seed=1)
    with pytest.raises(ed.ArgumentTypeError, match="actions"):
        env.step(action)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, "x"])
def test_a_seed_that_is_none_is_refused_by_its_name(seed: Any) -> None:
    with pytest.raises(ed.EndodoiError, match=r"^seed is "):
        Env(columns=6, seed=seed)
    with pytest.raises(ed.EndodoiError, match=r"^seed is "):
        Env(columns=6).reset(seed=seed)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ed.BatchError, match="unknown key 'reset_mask', expected no options"):
        Env().reset(options={"reset_mask": None})


@pytest.mark.parametrize("mask_in_obs", [False, True])
@pytest.mark.parametrize(
    "rules",
    [Ruleset(columns=4), Ruleset("cross-endodoi", columns=3), Ruleset(columns=4, endless="draw")],
    ids=str,
)
def test_vector_env_equals_gymnasiums_own_over_our_env(rules: Ruleset, mask_in_obs: bool) -> None:
    rows, options = 12, {"random_opening_plies": 2, "max_plies": 40, "mask_in_obs": mask_in_obs}
    ours = VectorEnv(rows, rules, illegal="loss", **options)  # type: ignore[arg-type]
    theirs = SyncVectorEnv([lambda: Env(rules, **options)] * rows)  # type: ignore[arg-type]
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    seeds: list[int | None] = [1000 + 7 * row for row in range(rows)]
    check_equal(ours.reset(seed=seeds), theirs.reset(seed=seeds))
    rng = np.random.default_rng(2)
    games, masks = 0, ours.reset(seed=seeds)[1]["action_mask"]
    theirs.reset(seed=seeds)
    for _ in range(400):
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        # Now and then a move that may be illegal.
        actions = np.where(rng.random(rows) < 0.02, rng.integers(rules.columns), actions)
        got, expected = ours.step(actions), theirs.step(actions)
        check_equal(got, expected)
        masks = got[4]["action_mask"]
        games += int((got[2] | got[3]).sum())
    assert games > 200
    theirs.close()


def check_equal(got: Any, expected: Any) -> None:
    """Compare everything that a reset or a step returns, infos and their masks included."""
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected:
            check_equal(got[key], expected[key])
    elif isinstance(expected, tuple):
        for one, other in zip(got, expected, strict=True):
            check_equal(one, other)
    else:
        assert np.array_equal(got, expected)
        if got.dtype != np.float32:
            assert got.dtype == expected.dtype


def test_env_is_the_row_of_a_vector_env_with_its_seed() -> None:
    vector = VectorEnv(3, columns=8, random_opening_plies=6)
    observations, _ = vector.reset(seed=5)
    for row in range(3):
        env = Env(columns=8, random_opening_plies=6)
        seed = vector.batch.row_seed(row)
        assert (env.reset(seed=seed)[0] == observations[row]).all()
        assert (
            Env(columns=8, random_opening_plies=6, seed=seed).reset()[0] == observations[row]
        ).all()


def test_copies_in_mid_game_go_on_as_the_original() -> None:
    env = Env(columns=6, random_opening_plies=2)
    env.reset(seed=4)
    env.step(env.position.legal_moves()[0])
    twins = [
        pickle.loads(pickle.dumps(env)),
        copy.deepcopy(env),
        Env(columns=6, random_opening_plies=2),
    ]
    twins[2].set_state(env.get_state())
    while not env.position.is_over:
        action = env.position.legal_moves()[-1]
        env.step(action)
        for twin in twins:
            twin.step(action)
            assert twin.position == env.position
    expected = env.reset()[0]
    assert all((twin.reset()[0] == expected).all() for twin in twins)


def test_the_board_is_rendered_as_text() -> None:
    env = Env(columns=6, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == str(env.position)
    assert Env().render() is None
