"""What users of such environments ran into elsewhere, one test for each: none of it happens here.

Each test is named after the case. Cases that need other libraries are in `test_pettingzoo.py` and
in the folder `ecosystem`; a few stand where the rest of their subject is tested.
"""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import endodoi as ed
from endodoi import Env, VectorEnv

IDS = ["endodoi/EnDodoi-v0", "endodoi/EnGehe-v0", "endodoi/CrossEndodoi-v0"]
MODES = ["next_step", "same_step", "disabled"]


def first_legal(infos: dict[str, Any]) -> Any:
    return infos["action_mask"].argmax(axis=-1)


def until_an_end(env: VectorEnv, infos: dict[str, Any]) -> Any:
    """Step until a game ends and return that step."""
    while True:
        result = env.step(first_legal(infos))
        infos = result[4]
        if (result[2] | result[3]).any():
            return result


# Vector API and autoreset


def test_infos_cover_all_rows_after_a_partial_reset() -> None:
    env = VectorEnv(5, columns=4, autoreset_mode="disabled", seed=1)
    _, infos = env.reset()
    _, _, terminated, _, infos = until_an_end(env, infos)
    _, infos = env.reset(options={"reset_mask": terminated})
    assert infos["_action_mask"].all()
    assert infos["_to_play"].all()
    for row in range(5):
        legal = np.flatnonzero(infos["action_mask"][row]).tolist()
        assert legal == env.position(row).legal_moves()


@pytest.mark.parametrize("mode", MODES)
def test_options_passed_to_reset_are_never_changed(mode: str) -> None:
    env = VectorEnv(4, columns=4, autoreset_mode=mode, opponent="random", seed=1)
    env.reset()
    options = {"reset_mask": np.array([True, False, True, False])}
    env.reset(options=options)
    assert list(options) == ["reset_mask"]
    assert options["reset_mask"].tolist() == [True, False, True, False]


def test_an_unknown_option_key_raises_and_resets_nothing() -> None:
    env = VectorEnv(2, columns=4, seed=1)
    env.reset()
    env.step([0, 1])
    before = env.get_state()
    with pytest.raises(ed.BatchError, match="unknown key 'mask'"):
        env.reset(options={"mask": np.ones(2, bool)})
    assert env.get_state() == before


@pytest.mark.parametrize("mode", AutoresetMode)
def test_autoreset_mode_is_in_the_metadata_as_the_enum_and_an_attribute(
    mode: AutoresetMode,
) -> None:
    for given in (mode, mode.value):
        env = VectorEnv(2, columns=4, autoreset_mode=given)
        assert env.metadata["autoreset_mode"] is mode
        assert env.autoreset_mode is mode
    assert VectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("opponent", [None, "random"])
def test_stepping_a_finished_row_in_disabled_mode_raises_before_any_row_changes(
    opponent: str | None,
) -> None:
    env = VectorEnv(5, columns=4, autoreset_mode="disabled", opponent=opponent, seed=1)
    _, infos = env.reset()
    _, _, terminated, _, infos = until_an_end(env, infos)
    before = env.get_state()
    row = int(terminated.argmax())
    with pytest.raises(ed.BatchError, match=f"row {row}: the game is over"):
        env.step(first_legal(infos))
    assert env.get_state() == before


@pytest.mark.parametrize("mode", MODES)
def test_arrays_are_fresh_by_default_and_shared_only_on_request(mode: str) -> None:
    for opponent in (None, "random"):
        settings: dict[str, Any] = {"columns": 4, "opponent": opponent, "autoreset_mode": mode}
        env = VectorEnv(3, **settings, seed=1)
        first = env.reset()
        kept = copy.deepcopy(first)
        second = env.step(first_legal(first[1]))
        assert (first[0] == kept[0]).all()
        assert not np.shares_memory(first[0], second[0])
        shared = VectorEnv(3, **settings, copy=False, seed=1)
        views, infos = shared.reset()
        assert shared.step(first_legal(infos))[0] is views


@pytest.mark.parametrize("env_id", IDS)
def test_both_entry_points_are_registered_as_strings(env_id: str) -> None:
    spec = gymnasium.spec(env_id)
    assert isinstance(spec.entry_point, str)
    assert isinstance(spec.vector_entry_point, str)
    assert spec.to_json()


@pytest.mark.parametrize("opponent", [None, "random"])
def test_max_episode_steps_injected_by_make_vec_cuts_as_time_limit_does(
    opponent: str | None,
) -> None:
    settings: dict[str, Any] = {
        "num_envs": 6,
        "max_episode_steps": 4,
        "opponent": opponent,
        "columns": 6,
    }
    ours = gymnasium.make_vec(IDS[0], **settings)
    theirs = gymnasium.make_vec(IDS[0], **settings, vectorization_mode="sync")
    seeds: list[int | None] = [5, 4, 3, 2, 1, 0]
    _, infos = ours.reset(seed=seeds)  # type: ignore[arg-type]
    theirs.reset(seed=seeds)  # type: ignore[arg-type]
    for step in range(1, 15):
        actions = first_legal(infos)
        _, _, terminated, truncated, infos = ours.step(actions)
        _, _, ended, cut, _ = theirs.step(actions)
        assert (truncated == (cut & ~ended)).all()
        assert (terminated == ended).all()
        assert truncated.any() == (step % 5 == 4)


@pytest.mark.parametrize("opponent", [None, "random", "greedy"])
@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.filterwarnings("error")
def test_check_env_passes_without_a_warning(env_id: str, opponent: str | None) -> None:
    columns = 20 if "Gehe" in env_id else 4
    env = gymnasium.make(env_id, columns=columns, opponent=opponent, disable_env_checker=True)
    check_env(env.unwrapped)


# Masks and illegal moves


@pytest.mark.parametrize("mode", MODES)
def test_masks_are_int8_and_right_after_reset_partial_reset_autoreset_and_at_the_end(
    mode: str,
) -> None:
    env = VectorEnv(30, columns=4, opponent="random", autoreset_mode=mode, seed=1)
    _, infos = env.reset()
    over = np.zeros(30, bool)
    for step in range(60):
        masks = infos["action_mask"]
        assert masks.dtype == np.int8
        for row in range(30):
            legal = [] if over[row] else env.position(row).legal_moves()
            assert np.flatnonzero(masks[row]).tolist() == legal
        if mode == "disabled" and over.any():
            _, infos = env.reset(options={"reset_mask": over})
            over = np.zeros(30, bool)
        elif step % 9 == 8:
            some = np.arange(30) % 7 == 0
            _, infos = env.reset(options={"reset_mask": some | over})
            over = np.zeros(30, bool)
        else:
            _, _, terminated, truncated, infos = env.step(first_legal(infos))
            over = (terminated | truncated) & (mode != "same_step")
            if "final_info" in infos:
                assert not infos["final_info"]["action_mask"].any()


def test_a_space_samples_with_the_mask_as_it_comes() -> None:
    env = Env(columns=6, opponent="random")
    _, info = env.reset(seed=1)
    assert isinstance(env.action_space, spaces.Discrete)
    for _ in range(20):
        assert info["action_mask"][env.action_space.sample(info["action_mask"])] == 1


def test_key_names_of_dictionary_observations_are_options() -> None:
    env = VectorEnv(
        2, columns=4, mask_in_obs=True, observation_key="observations", mask_key="action_mask"
    )
    assert isinstance(env.single_observation_space, spaces.Dict)
    assert set(env.single_observation_space.spaces) == {"observations", "action_mask"}


def test_an_illegal_move_names_row_action_and_legal_columns_and_never_aborts() -> None:
    env = VectorEnv(3, columns=4, opponent="greedy", seed=1)
    env.reset()
    for action in (-1, 4, 2**40, -(2**63)):
        with pytest.raises(ed.BatchError, match=rf"row 2: action {action} is illegal.*legal col"):
            env.step([0, 0, action])
    single = Env(columns=4, opponent="greedy")
    single.reset(seed=1)
    _, reward, terminated, _, info = single.step(4)
    assert (reward, terminated) == (-1, True)
    assert ed.GameTable.END_REASONS[info["end_reason"]] == "illegal"


# Rules and ends


@pytest.mark.parametrize("opponent", [None, "random"])
def test_a_natural_end_on_exactly_the_cap_ply_is_terminated_never_truncated_never_both(
    opponent: str | None,
) -> None:
    def play(**settings: Any) -> tuple[bool, bool, float, dict[str, Any]]:
        env = Env(columns=3, opponent=opponent, **settings)
        _, info = env.reset(seed=5)
        while True:
            _, reward, terminated, truncated, info = env.step(first_legal(info))
            if terminated or truncated:
                return terminated, truncated, reward, info

    terminated, truncated, reward, info = play()
    assert (terminated, truncated) == (True, False)
    plies, outcome = int(info["plies"]), int(info["outcome"])
    natural = play(max_plies=plies)
    assert natural[:3] == (True, False, reward)
    assert natural[3]["outcome"] == outcome
    terminated, truncated, reward, info = play(max_plies=plies - 1)
    assert (terminated, truncated, reward, info["outcome"]) == (False, True, 0, 0)
    assert ed.GameTable.END_REASONS[info["end_reason"]] == "max_plies"


# Seeds


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 512])
def test_two_runs_are_bit_identical_and_distinct_rows_differ(rows: int) -> None:
    def run() -> list[bytes]:
        env = VectorEnv(rows, columns=6, opponent="random", random_opening_plies=2)
        views, infos = env.reset(seed=9)
        shown = [views.tobytes()]
        for _ in range(12):
            views, *_, infos = env.step(first_legal(infos))
            shown.append(views.tobytes())
        return shown

    first = run()
    assert first == run()
    if rows > 1:
        views = np.frombuffer(first[-1], np.int16).reshape(rows, -1)
        assert len(np.unique(views, axis=0)) > rows // 2


def test_reset_without_a_seed_goes_on_with_the_stream() -> None:
    def openings(seeds: list[int | None]) -> list[bytes]:
        env = VectorEnv(8, columns=6, random_opening_plies=4, opponent="random", seed=3)
        return [env.reset(seed=seed)[0].tobytes() for seed in seeds]

    assert openings([None, None, None]) == openings([3, None, None])
    assert len(set(openings([None, None, None]))) == 3
    assert openings([7, None, 7])[::2] == [openings([7])[0]] * 2


def test_lists_of_seeds_may_hold_none() -> None:
    env = VectorEnv(3, columns=6, random_opening_plies=4, opponent="random", seed=1)
    first = env.reset(seed=[5, 6, 7])[0]
    second = env.reset(seed=[5, None, np.uint64(2**64 - 1)])[0]
    assert (second[0] == first[0]).all()
    assert env.batch.episode(1) == 1
    assert env.batch.row_seed(2) == 2**64 - 1


# Arrays and objects


@pytest.mark.parametrize("name", [name for name in ed.errors.__all__ if name.endswith("Error")])
def test_public_exceptions_pickle(name: str) -> None:
    error = getattr(ed.errors, name)("what is wrong")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_public_classes_pickle() -> None:
    for thing in (ed.Ruleset(columns=6), ed.Position.start(ed.Ruleset(columns=6))):
        assert pickle.loads(pickle.dumps(thing)) == thing
    for env in (VectorEnv(2, columns=4, opponent="greedy"), Env(columns=4, opponent="greedy")):
        assert pickle.loads(pickle.dumps(env)).ruleset == env.ruleset


# Threads and signals


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux sets affinities")
def test_the_number_of_threads_respects_the_affinity_of_the_process() -> None:
    program = (
        "import os, endodoi as ed; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "print(ed.VectorEnv(65536, columns=6).batch.num_threads)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "1"


def test_threads_are_those_of_each_object() -> None:
    for threads in (1, 2, 3):
        env = VectorEnv(65536, columns=6, num_threads=threads)
        assert env.batch.num_threads == threads


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_ctrl_c_breaks_off_a_step_in_which_an_opponent_thinks_and_changes_nothing() -> None:
    env = VectorEnv(3000, columns=6, opponent="alphabeta:10", agent_side="south")
    _, infos = env.reset(seed=1)
    before = env.get_state()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        env.step(first_legal(infos))
    timer.join()
    assert env.get_state() == before
    env.set_opponent("random")
    env.step(first_legal(infos))


def test_the_core_imports_without_torch_and_with_a_wrong_torch(tmp_path: Any) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('a wrong torch')")
    program = "import sys, endodoi; assert 'torch' not in sys.modules; endodoi.VectorEnv(1)"
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
