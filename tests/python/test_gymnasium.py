"""The vector environment in the hands of Gymnasium: its wrappers and `make_vec`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from endodoi import Env, Ruleset, VectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


def doubled(env: Any) -> Any:
    """Wrap an environment so that it shows float32 observations, each number doubled."""
    space = spaces.Box(-np.inf, np.inf, env.single_observation_space.shape, np.float32)
    return wrappers.VectorizeTransformObservation(
        env,
        gymnasium.wrappers.TransformObservation,
        func=lambda view: np.float32(view) * 2,
        observation_space=space,
    )


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "NormalizeObservation": wrappers.NormalizeObservation,
    "NormalizeReward": wrappers.NormalizeReward,
    "ClipReward": lambda env: wrappers.ClipReward(env, -0.5, 0.5),
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda reward: reward * 2),
    "FlattenObservation": wrappers.FlattenObservation,
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float32),
    "VectorizeTransformObservation": doubled,
}


def compare(ours: Any, theirs: Any) -> None:
    """Compare the parts of a result, the times of RecordEpisodeStatistics left out."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs.keys() - {"t", "_t"}:
            compare(ours[key], theirs[key])
    elif isinstance(theirs, tuple):
        for mine, reference in zip(ours, theirs, strict=True):
            compare(mine, reference)
    elif theirs.dtype == object:
        for mine, reference in zip(ours, theirs, strict=True):
            assert (mine is None) == (reference is None)
            assert mine is None or np.allclose(mine, reference)
    else:
        assert np.allclose(ours, theirs)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_vector_wrappers_show_what_they_show_over_sync_vector_env(
    wrap: Callable[[Any], Any], opponent: str | None, mode: AutoresetMode
) -> None:
    settings: dict[str, Any] = {"columns": 3, "seeds_per_pit": 2, "opponent": opponent}
    plain = VectorEnv(6, **settings, autoreset_mode=mode)
    sync = SyncVectorEnv([lambda: Env(**settings)] * 6, autoreset_mode=mode)
    try:
        theirs = wrap(sync)
    except (AssertionError, ValueError) as refusal:
        with pytest.raises(type(refusal)):
            wrap(plain)
        return
    ours = wrap(plain)
    seeds = [3, 1, 4, 1, 5, 9]
    got, wanted = ours.reset(seed=seeds), theirs.reset(seed=seeds)
    compare(got, wanted)
    infos, games = got[1], 0
    for _ in range(80):
        actions = infos["action_mask"].argmax(axis=1)
        got, wanted = ours.step(actions), theirs.step(actions)
        compare(got, wanted)
        infos, over = got[4], got[2] | got[3]
        games += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            _, infos = ours.reset(options={"reset_mask": over.copy()})
            theirs.reset(options={"reset_mask": over.copy()})
            if wrap is wrappers.RecordEpisodeStatistics:
                # Over SyncVectorEnv, which takes the mask out of the options, it forgets all rows.
                theirs.episode_returns[:] = ours.episode_returns
                theirs.episode_lengths[:] = ours.episode_lengths
    assert games > 20


def test_record_episode_statistics_keeps_the_other_rows_after_a_partial_reset() -> None:
    env = wrappers.RecordEpisodeStatistics(
        VectorEnv(6, columns=3, opponent="random", autoreset_mode="disabled")
    )
    _, infos = env.reset(seed=2)
    lengths, games = np.zeros(6, int), 0
    for _ in range(80):
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        lengths += 1
        if terminated.any():
            assert (infos["episode"]["l"] == lengths)[terminated].all()
            games += int(terminated.sum())
            lengths[terminated] = 0
            _, infos = env.reset(options={"reset_mask": terminated})
    assert games > 20


def test_dict_info_to_list_makes_a_dictionary_for_each_row() -> None:
    for mode in MODES:
        listed = wrappers.DictInfoToList(VectorEnv(3, columns=2, seed=1, autoreset_mode=mode))
        _, infos = listed.reset()
        assert [sorted(info) for info in infos] == [["action_mask", "to_play"]] * 3
        terminated = np.zeros(3, bool)
        while not terminated.any():
            actions = [int(info["action_mask"].argmax()) for info in infos]
            _, _, terminated, _, infos = listed.step(np.array(actions))
        ended = infos[int(terminated.argmax())]
        ended = ended["final_info"] if mode is AutoresetMode.SAME_STEP else ended
        assert {"outcome", "captured", "plies", "end_reason"} <= set(ended)


def test_vector_wrappers_of_gymnasium_work() -> None:
    env = wrappers.RecordEpisodeStatistics(VectorEnv(16, columns=3, seeds_per_pit=2, seed=1))
    _, infos = env.reset(seed=1)
    games = 0
    for _ in range(60):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
        if "episode" in infos:
            games += int(infos["_episode"].sum())
            assert (
                infos["episode"]["l"][infos["_episode"]] == infos["plies"][infos["_plies"]]
            ).all()
    assert games > 16


def test_make_vec_takes_both_entry_points_and_the_cap_that_gymnasium_adds() -> None:
    env = gymnasium.make_vec("endodoi/CrossEndodoi-v0", num_envs=3, max_episode_steps=4)
    assert isinstance(env.unwrapped, VectorEnv)
    assert env.unwrapped.ruleset == Ruleset("cross-endodoi")
    env.reset(seed=1)
    assert env.spec is not None
    sync = gymnasium.make_vec("endodoi/EnGehe-v0", num_envs=2, vectorization_mode="sync", columns=4)
    assert isinstance(sync, gymnasium.vector.SyncVectorEnv)
    sync.reset(seed=[1, 2])
    sync.close()
