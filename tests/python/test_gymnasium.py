"""The vector environment in the hands of Gymnasium: its wrappers and `make_vec`."""

from __future__ import annotations

import gymnasium

from endodoi import Ruleset, VectorEnv


def test_vector_wrappers_of_gymnasium_work() -> None:
    from gymnasium.wrappers import vector as wrappers  # noqa: PLC0415

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
    listed = wrappers.DictInfoToList(VectorEnv(3, columns=6, seed=1))
    _, info_list = listed.reset()
    assert [sorted(info) for info in info_list] == [["action_mask", "to_play"]] * 3


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
