"""VectorEnv: against Position, edges, arguments, copies."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

import endodoi as ed
from endodoi import Position, Ruleset, VectorEnv

RULES = [
    Ruleset(columns=6),
    Ruleset("cross-endodoi", columns=5),
    Ruleset(columns=4, endless="draw", lone_capture="taken"),
    Ruleset(columns=3, seeds_per_pit=1, quiet_limit=4),
    Ruleset("en-gehe", columns=20),
]


def draw(rng: np.random.Generator, masks: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Draw a legal column of every row, 0 where there is none."""
    weights = rng.random(masks.shape) * masks
    actions: npt.NDArray[np.int64] = weights.argmax(axis=1)
    return actions


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_row_plays_as_position_does(rules: Ruleset) -> None:
    rows, rng = 70, np.random.default_rng(5)
    env = VectorEnv(rows, rules)
    observations, infos = env.reset(seed=3)
    positions = [Position.start(rules)] * rows
    plies, games = [0] * rows, 0
    for _ in range(150):
        actions = draw(rng, infos["action_mask"])
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert not truncated.any()
        for row in range(rows):
            before = positions[row]
            if before.is_over:
                positions[row], plies[row] = Position.start(rules), 0
                assert rewards[row] == 0
                assert not terminated[row]
            else:
                positions[row] = before.play(int(actions[row]))
                plies[row] += 1
            now = positions[row]
            assert env.position(row) == now
            assert observations[row].tolist() == now.observation().tolist()
            assert np.flatnonzero(infos["action_mask"][row]).tolist() == now.legal_moves()
            assert infos["to_play"][row] == (now.to_move == "north")
            assert terminated[row] == (now.is_over and not before.is_over)
            if terminated[row]:
                games += 1
                sign = {"south": 1, "north": -1, "draw": 0}[str(now.outcome)]
                mover = 1 if before.to_move == "south" else -1
                assert rewards[row] == sign * mover
                assert infos["_outcome"][row]
                assert infos["outcome"][row] == sign
                assert infos["captured"][row].tolist() == list(now.captured)
                assert infos["plies"][row] == plies[row]
                reason = ed.GameTable.END_REASONS[infos["end_reason"][row]]
                assert reason == now.end_reason
            elif "_outcome" in infos:
                assert not infos["_outcome"][row]
    assert games > 50


def test_shapes_and_dtypes_are_the_documented_ones() -> None:
    env = VectorEnv(5, columns=4, seed=1)
    observations, infos = env.reset()
    assert set(infos) == {"action_mask", "_action_mask", "to_play", "_to_play"}
    described = {"observation": observations, **infos}
    while "outcome" not in infos:
        actions = infos["action_mask"].argmax(axis=1)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        described |= {"reward": rewards, "terminated": terminated, "truncated": truncated, **infos}
    assert {key: (value.dtype.name, value.shape) for key, value in described.items()} == {
        "observation": ("int16", (5, 11)),
        "reward": ("float32", (5,)),
        "terminated": ("bool", (5,)),
        "truncated": ("bool", (5,)),
        "action_mask": ("int8", (5, 4)),
        "to_play": ("int8", (5,)),
        "outcome": ("int8", (5,)),
        "captured": ("int16", (5, 2)),
        "plies": ("int32", (5,)),
        "end_reason": ("int8", (5,)),
        **{
            f"_{key}": ("bool", (5,))
            for key in ("action_mask", "to_play", "outcome", "captured", "plies", "end_reason")
        },
    }
    assert observations in env.observation_space
    assert env.single_action_space == spaces.Discrete(4)
    assert env.action_space.contains(env.action_space.sample())


def test_masks_in_observations_take_the_names_given() -> None:
    env = VectorEnv(3, columns=4, mask_in_obs=True, observation_key="observations", mask_key="m")
    observations, infos = env.reset(seed=1)
    assert isinstance(observations, dict)
    assert list(observations) == ["observations", "m"]
    assert observations in env.observation_space
    assert (observations["m"] == infos["action_mask"]).all()
    assert not np.shares_memory(observations["m"], infos["action_mask"])
    with pytest.raises(ed.BatchError, match="mask_key"):
        VectorEnv(1, mask_in_obs=True, mask_key="observation")


def test_terminal_rows_show_an_empty_mask_and_ignore_their_next_action() -> None:
    env = VectorEnv(2, columns=2, seeds_per_pit=1, seed=1)
    _, infos = env.reset()
    terminated = np.zeros(2, bool)
    while not terminated.any():
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert (infos["action_mask"][terminated] == 0).all()
    observations, rewards, terminated, _, infos = env.step([-5, 99])
    assert observations[0].tolist() == Position.start(env.ruleset).observation().tolist()
    assert not rewards.any()
    assert not terminated.any()


def test_an_illegal_action_is_refused_and_nothing_changes() -> None:
    env = VectorEnv(3, columns=6, seed=1)
    env.reset()
    env.step([0, 1, 2])
    before = env.get_state()
    with pytest.raises(ed.BatchError, match=r"row 1: action 7 is illegal: no such column") as info:
        env.step([0, 7, 0])
    assert (info.value.row, info.value.value) == (1, 7)
    assert info.value.legal == tuple(env.position(1).legal_moves())
    assert env.get_state() == before


def test_an_illegal_action_loses_the_game_if_that_was_asked_for() -> None:
    env = VectorEnv(2, columns=6, illegal="loss", seed=1)
    env.reset()
    observations, rewards, terminated, truncated, infos = env.step([6, 0])
    assert rewards.tolist() == [-1, 0]
    assert terminated.tolist() == [True, False]
    assert not truncated.any()
    assert ed.GameTable.END_REASONS[infos["end_reason"][0]] == "illegal"
    assert infos["outcome"].tolist() == [-1, 0]
    assert infos["action_mask"][0].tolist() == [0] * 6
    assert observations[0].tolist() == Position.start(env.ruleset).observation().tolist()


@pytest.mark.parametrize(
    "actions",
    [
        [0, 1],
        (0, 1),
        np.array([0, 1], np.uint8),
        np.array([0, 1], np.int32),
        np.array([0, 1], ">i8"),
        np.array([0, 7, 1, 7])[::2],
        [np.int16(0), 1],
    ],
)
def test_actions_of_every_integer_type_are_read(actions: Any) -> None:
    env = VectorEnv(2, columns=6, seed=1)
    env.reset()
    observations = env.step(actions)[0]
    start = Position.start(env.ruleset)
    assert observations[0].tolist() == start.play(0).observation().tolist()
    assert observations[1].tolist() == start.play(1).observation().tolist()


class Tensor:
    """What NumPy sees of a tensor on the CPU."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return np.array(self.numbers, dtype=dtype)


@pytest.mark.parametrize("action", [1, np.uint8(1), np.array(1), [1], np.array([1]), Tensor([1])])
def test_one_row_takes_a_single_action(action: Any) -> None:
    env = VectorEnv(1, columns=6, seed=1)
    env.reset()
    env.step(action)
    assert env.position(0) == Position.start(env.ruleset).play(1)


@pytest.mark.parametrize(
    "actions", [[0.0, 1.0], np.zeros(2), [True, False], np.array([True, True]), [None, 0], "01"]
)
def test_actions_that_are_no_integers_are_refused(actions: Any) -> None:
    env = VectorEnv(2, columns=6, seed=1)
    env.reset()
    before = env.get_state()
    with pytest.raises(ed.ArgumentTypeError, match="actions"):
        env.step(actions)
    assert env.get_state() == before


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], np.zeros((2, 1), int), np.zeros(3, int)])
def test_actions_of_the_wrong_shape_are_refused(actions: Any) -> None:
    env = VectorEnv(2, columns=6, seed=1)
    env.reset()
    with pytest.raises(ed.BatchError, match="actions has"):
        env.step(actions)


def test_an_unsigned_action_does_not_wrap_around() -> None:
    env = VectorEnv(1, columns=6, seed=1)
    env.reset()
    with pytest.raises(ed.BatchError, match="illegal"):
        env.step(np.array([2**64 - 1], np.uint64))


def test_step_comes_after_reset() -> None:
    with pytest.raises(ed.BatchError, match="reset comes before step"):
        VectorEnv(1).step([0])


@pytest.mark.parametrize("mode", ["disabled", "Disabled", AutoresetMode.DISABLED])
def test_disabled_mode_waits_for_a_reset_of_the_finished_rows(mode: Any) -> None:
    env = VectorEnv(4, columns=2, seeds_per_pit=1, autoreset_mode=mode, seed=1)
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    _, infos = env.reset()
    over = env.step([0, 1, 0, 1])[2]
    while not over.any():
        masks = np.array([mask_of(env.position(row)) for row in range(4)])
        over = env.step(masks.argmax(axis=1))[2]
    before = env.get_state()
    with pytest.raises(ed.BatchError, match="autoreset is disabled") as info:
        env.step([0, 0, 0, 0])
    assert info.value.row == np.flatnonzero(over)[0]
    assert env.get_state() == before
    kept = [env.position(row) for row in np.flatnonzero(~over)]
    options = {"reset_mask": over}
    observations, infos = env.reset(options=options)
    assert list(options) == ["reset_mask"]
    assert [env.position(row) for row in np.flatnonzero(~over)] == kept
    start = Position.start(env.ruleset)
    assert all(env.position(row) == start for row in np.flatnonzero(over))
    assert infos["_action_mask"].all()
    assert observations.shape == (4, 7)


def mask_of(position: Position) -> npt.NDArray[np.int8]:
    mask = np.zeros(position.ruleset.columns, np.int8)
    mask[position.legal_moves()] = 1
    return mask


@pytest.mark.parametrize("mode", ["next_step", "NextStep", AutoresetMode.NEXT_STEP])
def test_next_step_mode_by_every_name(mode: Any) -> None:
    env = VectorEnv(1, autoreset_mode=mode)
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("mode", ["same", None, 3])
def test_an_unknown_mode_names_the_known_ones(mode: Any) -> None:
    with pytest.raises(ed.BatchError, match='expected "next_step", "same_step" or "disabled"'):
        VectorEnv(1, autoreset_mode=mode)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"mask": [True]}, ed.BatchError, "unknown key 'mask', expected one of reset_mask"),
        ({"reset_mask": np.ones(2, bool)}, ed.BatchError, r"has shape \(2,\), expected \(3,\)"),
        ({"reset_mask": np.zeros(3, bool)}, ed.BatchError, "holds no True"),
        ({"reset_mask": np.ones(3, int)}, ed.ArgumentTypeError, "expected bool"),
        ([("reset_mask", 1)], ed.ArgumentTypeError, "expected a dictionary"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: Any, kind: type[Exception], message: str
) -> None:
    env = VectorEnv(3, seed=1)
    with pytest.raises(kind, match=message):
        env.reset(options=options)


def trajectory(env: VectorEnv, steps: int, seed: Any) -> list[Any]:
    """Play the lowest legal column on even steps and the highest on odd ones."""
    observations, infos = env.reset(seed=seed)
    seen: list[Any] = [observations.copy()]
    for step in range(steps):
        masks = infos["action_mask"]
        low, high = masks.argmax(axis=1), masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        actions = np.where(masks.any(axis=1), low if step % 2 else high, 0)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        seen.append((observations.copy(), rewards, terminated, truncated))
    return seen


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(np.array_equal(one, other))


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_and_their_number_change_nothing(threads: int) -> None:
    options: dict[str, Any] = {"columns": 6, "random_opening_plies": 5, "max_plies": 30}
    expected = trajectory(VectorEnv(1500, num_threads=1, **options), 60, seed=9)
    assert equal(trajectory(VectorEnv(1500, num_threads=threads, **options), 60, seed=9), expected)


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 512])
def test_a_row_depends_on_its_seed_alone_not_on_the_batch(rows: int) -> None:
    options: dict[str, Any] = {"columns": 6, "random_opening_plies": 5}
    whole = VectorEnv(600, **options)
    seeds = [11 * row for row in range(600)]
    expected = trajectory(whole, 50, seed=seeds)
    part = trajectory(VectorEnv(rows, **options), 50, seed=seeds[:rows])
    assert equal(part[0], expected[0][:rows])
    for got, full in zip(part[1:], expected[1:], strict=True):
        assert equal(list(got), [array[:rows] for array in full])


def test_rows_and_neighbouring_seeds_have_different_openings() -> None:
    env = VectorEnv(64, columns=8, random_opening_plies=8)
    seen = {observation.tobytes() for seed in (0, 1) for observation in env.reset(seed=seed)[0]}
    assert len(seen) > 120


def test_an_unseeded_reset_goes_on_and_a_seeded_one_starts_again() -> None:
    env = VectorEnv(3, columns=8, random_opening_plies=6)
    first = env.reset(seed=4)[0]
    second = env.reset()[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(env.reset(seed=4)[0], first)
    assert np.array_equal(env.reset()[0], second)
    assert np.array_equal(VectorEnv(3, columns=8, random_opening_plies=6, seed=4).reset()[0], first)
    # A list of row seeds, with a row that goes on.
    seeds = [env.batch.row_seed(row) for row in range(3)]
    mixed = env.reset(seed=[seeds[0], None, seeds[2]])[0]
    assert np.array_equal(mixed[[0, 2]], first[[0, 2]])
    assert env.batch.episode(1) == 2


def test_rows_get_their_first_seed_when_they_are_first_reset() -> None:
    options: dict[str, Any] = {"columns": 8, "random_opening_plies": 6, "seed": 4}
    expected = VectorEnv(3, **options)
    games = [expected.reset()[0], expected.reset()[0]]
    env = VectorEnv(3, **options)
    only_first = {"reset_mask": np.array([True, False, False])}
    for game in games:
        assert np.array_equal(env.reset(options=only_first)[0][0], game[0])
    others = env.reset(options={"reset_mask": np.array([False, True, True])})[0]
    assert np.array_equal(others, [games[1][0], games[0][1], games[0][2]])


def test_without_any_seed_games_differ_between_environments() -> None:
    env = [VectorEnv(64, columns=8, random_opening_plies=8) for _ in range(2)]
    assert not np.array_equal(env[0].reset()[0], env[1].reset()[0])


@pytest.mark.parametrize("seed", [np.int64(7), np.uint8(7), np.array(7)])
def test_a_seed_may_be_of_any_integer_type(seed: Any) -> None:
    env = VectorEnv(2, columns=8, random_opening_plies=4)
    assert np.array_equal(env.reset(seed=seed)[0], env.reset(seed=7)[0])
    by_list = env.reset(seed=[1, 2])[0]
    assert np.array_equal(env.reset(seed=np.array([1, 2], np.uint16))[0], by_list)
    assert env.reset(seed=2**64 - 1)[0].shape == (2, 19)


@pytest.mark.parametrize(
    ("seed", "kind"),
    [
        (-1, ed.ArgumentValueError),
        (2**64, ed.ArgumentValueError),
        (1.0, ed.ArgumentTypeError),
        (True, ed.ArgumentTypeError),
        ("1", ed.ArgumentTypeError),
        ([1], ed.BatchError),
        ([1, -1], ed.ArgumentValueError),
    ],
)
def test_a_seed_that_is_none_is_refused(seed: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="seed"):
        VectorEnv(2).reset(seed=seed)


def test_a_game_is_cut_after_max_plies_opening_included_e4() -> None:
    env = VectorEnv(8, columns=8, max_plies=7, random_opening_plies=4, seed=2)
    _, infos = env.reset()
    truncated = np.zeros(8, bool)
    for step in range(3):
        assert not truncated.any()
        _, rewards, terminated, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
        assert not (terminated & truncated).any()
        if step == 2:
            assert (terminated | truncated).all()
            assert not rewards[truncated].any()
            assert (infos["plies"] == 7).all()
            reasons = {ed.GameTable.END_REASONS[code] for code in infos["end_reason"][truncated]}
            assert reasons == {"max_plies"}
    steps = VectorEnv(8, columns=8, max_episode_steps=3, random_opening_plies=4, seed=2)
    _, infos = steps.reset()
    for _ in range(3):
        *_, truncated, infos = steps.step(infos["action_mask"].argmax(axis=1))
    assert truncated.any()


def test_arrays_are_new_by_default_and_shared_on_request() -> None:
    fresh, shared = VectorEnv(3, seed=1), VectorEnv(3, seed=1, copy=False)
    first, _ = fresh.reset()
    kept = first.copy()
    fresh.step([0, 1, 2])
    assert np.array_equal(first, kept)
    first, infos = shared.reset()
    second, *_, again = shared.step([0, 1, 2])
    assert second is first
    assert infos["action_mask"] is again["action_mask"]
    assert not np.array_equal(second, kept)


def test_shared_infos_hold_what_new_ones_hold() -> None:
    fresh, shared = (VectorEnv(70, columns=3, seed=2, copy=copy) for copy in (True, False))
    _, infos = fresh.reset()
    shared.reset()
    rng = np.random.default_rng(3)
    ends: dict[str, Any] = {}
    for _ in range(80):
        actions = draw(rng, infos["action_mask"])
        *_, infos = fresh.step(actions)
        *_, got = shared.step(actions)
        assert got.keys() == infos.keys()
        for key, value in infos.items():
            assert value.dtype == got[key].dtype
            assert np.array_equal(value, got[key]), key
        if "outcome" in got:
            if ends:
                assert got["plies"] is ends["plies"]
                assert got["captured"] is not ends["captured"]
            ends = got
            got["captured"].flags.writeable = False
            got["_to_play"][:] = False
    assert ends


def test_copies_in_mid_game_go_on_as_the_original() -> None:
    env = VectorEnv(70, columns=6, random_opening_plies=3, max_plies=25, seed=5)
    trajectory(env, 13, seed=8)
    state = env.get_state()
    other = VectorEnv(70, columns=6, random_opening_plies=3, max_plies=25)
    other.set_state(state)
    twins = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env), other]
    rng = np.random.default_rng(1)
    for _ in range(60):
        masks = np.array([mask_of(env.position(row)) for row in range(70)])
        actions = draw(rng, masks)
        expected = env.step(actions)
        for twin in twins:
            got = twin.step(actions)
            assert equal(list(got[:4]), list(expected[:4]))
            assert all(np.array_equal(got[4][key], value) for key, value in expected[4].items())
    assert twins[0].ruleset == env.ruleset
    assert twins[0].observation_space == env.observation_space


def test_bad_snapshots_are_refused_and_change_nothing() -> None:
    env = VectorEnv(2, columns=6, seed=5)
    env.reset()
    before = env.get_state()
    bad = [b"", before[:-1], before + b"x", bytes(len(before)), VectorEnv(3, columns=6).get_state()]
    bad.append(VectorEnv(2, columns=7).get_state())
    for state in bad:
        with pytest.raises(ed.BatchError):
            env.set_state(state)
        assert env.get_state() == before


def test_unknown_keyword_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'column'; the fields"):
        VectorEnv(1, column=6)
    with pytest.raises(ed.RulesetError, match="columns is 7, but the ruleset given has 6"):
        VectorEnv(1, Ruleset(columns=6), columns=7)
    assert VectorEnv(1, Ruleset(columns=6), variant="en-dodoi").ruleset == Ruleset(columns=6)
    with pytest.raises(ed.ArgumentTypeError, match="expected a Ruleset"):
        VectorEnv(1, "en-gehe")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "setting",
    [
        {"max_plies": 0},
        {"max_plies": True},
        {"random_opening_plies": -1},
        {"random_opening_plies": 5, "max_plies": 5},
        {"num_threads": 0},
        {"illegal": "ignore"},
        {"render_mode": "human"},
        {"num_envs": -2},
        {"num_envs": 2.0},
        {"max_episode_steps": 0},
        {"max_episode_steps": True},
        {"max_episode_steps": "5"},
        {"max_episode_steps": 2**31},
        {"max_episode_steps": 2**70},
        {"copy": None},
        {"mask_in_obs": "yes"},
        {"illegal": None},
        {"agent_side": 0},
        {"out": 3},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": [1, 2, 3]},
        {"seed": [1, 2**64]},
    ],
)
def test_settings_out_of_range_name_the_field(setting: dict[str, Any]) -> None:
    field = next(iter(setting))
    with pytest.raises(ed.EndodoiError, match=field):
        VectorEnv(**{"num_envs": 2, **setting})


def test_a_mask_of_rows_may_be_any_view_of_an_array() -> None:
    env = VectorEnv(3, columns=6, seed=1)
    env.reset()
    before = [env.batch.episode(row) for row in range(3)]
    env.reset(options={"reset_mask": np.array([True, True, False, True, True, False])[::2]})
    assert [env.batch.episode(row) for row in range(3)] == [before[0] + 1, before[1], before[2] + 1]


@pytest.mark.parametrize("field", ["max_plies", "random_opening_plies"])
def test_a_setting_beyond_32_bits_is_named_as_it_was_given(field: str) -> None:
    setting: dict[str, Any] = {field: 2**40}
    with pytest.raises(ed.BatchError, match=f"{field} is {2**40}, expected"):
        VectorEnv(**{"num_envs": 1, **setting})


def test_boards_are_rendered_as_text() -> None:
    env = VectorEnv(2, columns=6, render_mode="ansi", seed=1)
    env.reset()
    env.step([0, 1])
    frames = env.render()
    assert frames is not None
    assert len(frames) == 2
    assert "North to move" in frames[0]
    assert VectorEnv(2).render() is None


def test_steps_of_several_environments_run_side_by_side() -> None:
    def play(seed: int) -> list[Any]:
        return trajectory(VectorEnv(600, columns=6, random_opening_plies=2), 40, seed)

    expected = [play(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert equal(list(pool.map(play, range(4))), expected)


def test_one_environment_in_two_threads_raises_or_works_but_stays_whole() -> None:
    env = VectorEnv(2000, columns=6, seed=1)
    _, infos = env.reset()
    errors: list[BaseException] = []

    def step() -> None:
        for _ in range(50):
            try:
                env.step(np.zeros(2000, np.int64))
            except (RuntimeError, ed.BatchError) as error:  # noqa: PERF203
                errors.append(error)

    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    env.reset(seed=1)
    assert (infos["action_mask"] == env.reset(seed=1)[1]["action_mask"]).all()
