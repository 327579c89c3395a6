"""Opponents inside `step`, in every autoreset mode, against Gymnasium's own vector environment."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import endodoi as ed
from endodoi import Env, Ruleset, VectorEnv

if TYPE_CHECKING:
    import numpy.typing as npt

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


def highest(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Play the highest legal column."""
    assert views.dtype == np.int16
    assert masks.dtype == np.int8
    assert masks.any(axis=1).all()
    actions: npt.NDArray[np.int64] = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    return actions


def lowest(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Play the lowest legal column."""
    assert len(views) == len(masks)
    actions: npt.NDArray[np.int64] = masks.argmax(axis=1)
    return actions


SETTINGS: dict[str, dict[str, Any]] = {
    "self-play": {},
    "self-play, openings": {"random_opening_plies": 3},
    "self-play, cut": {"max_plies": 9, "random_opening_plies": 1},
    "self-play, dict": {"mask_in_obs": True, "observation_key": "o"},
    "random": {"opponent": "random"},
    "random, openings": {"opponent": "random", "random_opening_plies": 3, "max_plies": 21},
    "random, north": {"opponent": "random", "agent_side": "north", "mask_in_obs": True},
    "greedy, south": {"opponent": "greedy", "agent_side": "south"},
    "alphabeta": {"opponent": "alphabeta:2", "random_opening_plies": 2},
    "function": {"opponent": highest},
    "function, north": {"opponent": highest, "agent_side": "north", "random_opening_plies": 1},
    "pool": {"opponent": ["random", highest, "greedy", lowest], "random_opening_plies": 1},
    "tiny": {"opponent": "random", "columns": 1, "seeds_per_pit": 2, "agent_side": "north"},
    "endless is a draw": {"opponent": "random", "endless": "draw", "columns": 3},
    "variant": {"opponent": "random", "variant": "cross-endodoi", "columns": 3},
}


def equal(ours: Any, theirs: Any, path: str = "infos") -> None:
    """Compare infos, and arrays of arrays, in every part."""
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), path
        for key, value in theirs.items():
            equal(ours[key], value, f"{path}[{key!r}]")
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        assert ours.dtype == object
        for row, value in enumerate(theirs):
            equal(ours[row], value, f"{path}[{row}]")
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, path
        assert np.array_equal(ours, theirs), path
    else:
        assert ours == theirs, path


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_each_of_the_three_autoreset_modes_is_row_by_row_the_same_as_sync_vector_env(
    settings: dict[str, Any], mode: AutoresetMode
) -> None:
    settings = {"columns": 4, **settings}
    rows, rng = 7, np.random.default_rng(8)
    seeds: list[int | None] = [11, 12, 13, 2**63, 5, 6, 1]
    ours = VectorEnv(rows, **settings, autoreset_mode=mode, illegal="loss")
    theirs = SyncVectorEnv([lambda: Env(**settings)] * rows, autoreset_mode=mode)
    got: Any = ours.reset(seed=seeds)
    wanted: Any = theirs.reset(seed=seeds)
    games = 0
    for _ in range(700):
        equal(got[0], wanted[0], "observations")
        for mine, reference in zip(got[1:-1], wanted[1:-1], strict=True):
            assert np.array_equal(mine, reference)
        equal(got[-1], wanted[-1])
        masks = got[-1]["action_mask"]
        actions = (rng.random(masks.shape) * (masks + 0.01)).argmax(axis=1)
        if mode is AutoresetMode.DISABLED and len(got) > 2 and (over := got[2] | got[3]).any():
            mask = {"reset_mask": over.copy()}
            got = ours.reset(options=mask)
            assert mask["reset_mask"].any()
            views, infos = theirs.reset(options={"reset_mask": over.copy()})
            equal(got[0], views, "observations")
            for key, values in infos.items():
                assert np.array_equal(got[1][key][over], values[over]), key
            wanted = (copy.deepcopy(got[0]), copy.deepcopy(got[1]))
            continue
        got, wanted = ours.step(actions), theirs.step(actions)
        games += int((got[2] | got[3]).sum())
    assert games > 100


class Counting:
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        self.calls += 1
        return highest(views, masks)


@pytest.mark.parametrize("side", ["south", "north", "alternate"])
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_function_is_called_at_most_once_a_step_with_the_rows_to_move(
    mode: AutoresetMode, side: Any
) -> None:
    counting = Counting()
    env = VectorEnv(50, columns=3, opponent=counting, agent_side=side, autoreset_mode=mode, seed=1)
    _, infos = env.reset()
    assert counting.calls <= 1
    games = 0
    for _ in range(80):
        counting.calls = 0
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        assert counting.calls <= 1
        games += int(terminated.sum())
        if mode is AutoresetMode.DISABLED and terminated.any():
            counting.calls = 0
            _, infos = env.reset(options={"reset_mask": terminated})
            assert counting.calls <= 1
    assert games > 100


def test_the_agent_plays_the_side_that_was_asked_for() -> None:
    rules = Ruleset(columns=6)
    for side, expected in (("south", 0), ("north", 1)):
        env = VectorEnv(4, rules, opponent="random", agent_side=side)  # type: ignore[arg-type]
        _, infos = env.reset(seed=[0, 1, 2, 3])
        assert infos["to_play"].tolist() == [expected] * 4
    env = VectorEnv(4, rules, opponent="random", autoreset_mode="same_step")
    _, infos = env.reset(seed=[0, 1, 2, 3])
    assert infos["to_play"].tolist() == [0, 1, 0, 1]
    ended = np.zeros(4, dtype=int)
    while not ended.all():
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        ended += terminated
        south = (np.arange(4) + ended) % 2 == 0
        assert (infos["to_play"] == np.where(south, 0, 1)).all()


def test_rewards_are_the_agents() -> None:
    env = VectorEnv(64, columns=4, opponent="random", seed=3)
    _, infos = env.reset()
    seen = set()
    for _ in range(60):
        sides = infos["to_play"]
        _, rewards, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        for row in np.flatnonzero(terminated):
            sign = 1 if sides[row] == 0 else -1
            assert rewards[row] == sign * infos["outcome"][row]
            seen.add((int(sides[row]), float(rewards[row])))
        assert not rewards[~terminated].any()
    assert len(seen) >= 4


def test_a_pool_is_sampled_per_episode() -> None:
    env = VectorEnv(
        300, columns=3, opponent=["random", "greedy", "random"], autoreset_mode="same_step"
    )
    _, infos = env.reset(seed=1)
    counts = np.bincount(infos["opponent"], minlength=3)
    assert counts.min() > 60
    assert infos["_opponent"].all()
    before = infos["opponent"].copy()
    changed = 0
    for _ in range(40):
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        assert (infos["opponent"] == before)[~terminated].all()
        if terminated.any():
            last = infos["final_info"]["opponent"]
            assert (last == before)[terminated].all()
            changed += int((infos["opponent"] != before)[terminated].sum())
        before = infos["opponent"].copy()
    assert changed > 100


def test_a_policy_is_swapped_in_while_the_env_runs() -> None:
    first, second = Counting(), Counting()
    env = VectorEnv(8, columns=4, opponent=first, agent_side="south", seed=1)
    _, infos = env.reset()
    _, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    calls = first.calls
    env.set_opponent(second)
    env.step(infos["action_mask"].argmax(axis=1))
    assert (first.calls, second.calls) == (calls, 1)
    env.set_opponent(["random", second])
    _, infos = env.reset()
    assert "opponent" in infos
    with pytest.raises(ed.BatchError, match="opponent is an empty list"):
        env.set_opponent(None)
    with pytest.raises(ed.BatchError, match="self-play cannot be changed into one with opponents"):
        VectorEnv(2, columns=4).set_opponent("random")


def test_a_function_that_fails_or_plays_illegally_changes_nothing() -> None:
    class Broken(Exception):  # noqa: N818  (any exception of the user's)
        pass

    answers: Any = None

    def fickle(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        if answers is None:
            return highest(views, masks)
        if isinstance(answers, BaseException):
            raise answers
        return answers

    env = VectorEnv(3, columns=6, opponent=fickle, agent_side="south", seed=1)
    env.reset()
    env.step([0, 1, 2])
    before = env.get_state()
    actions = [int(env.position(row).legal_moves()[0]) for row in range(3)]
    wrong: list[Any] = [
        (Broken("out of order"), Broken, "out of order"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (SystemExit(3), ed.PolicyError, r"player fickle ends the program: SystemExit\(3\)"),
        ([0, 9, 0], ed.PolicyError, "opponent fickle: row 1: action 9 is illegal: no such column"),
        ([0, 0], ed.PolicyError, "opponent fickle gave 2 actions, expected 3"),
        ([0.5, 0, 0], ed.errors.ArgumentTypeError, "expected a whole number"),
    ]
    for answer, kind, text in wrong:
        answers = answer
        with pytest.raises(kind, match=text):
            env.step(actions)
        assert env.get_state() == before
    answers = None
    env.step(actions)
    assert env.get_state() != before


def test_an_illegal_answer_loses_the_opponents_game_if_that_was_asked_for() -> None:
    def careless(views: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> Any:
        return np.full(len(views), 99)

    env = VectorEnv(2, columns=6, opponent=careless, agent_side="south", illegal="loss", seed=1)
    env.reset()
    _, rewards, terminated, _, infos = env.step([0, 99])
    assert rewards.tolist() == [1, -1]
    assert terminated.all()
    reason = ed.GameTable.END_REASONS.index("illegal")
    assert infos["end_reason"].tolist() == [reason, reason]


def test_copies_and_snapshots_in_mid_game_go_on_as_the_original() -> None:
    env = VectorEnv(20, columns=5, opponent=["random", highest], autoreset_mode="same_step", seed=4)
    _, infos = env.reset()
    for _ in range(30):
        _, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    state = env.get_state()
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    again = VectorEnv(20, columns=5, opponent=["random", highest], autoreset_mode="same_step")
    again.set_state(state)
    masks = infos["action_mask"]
    for _ in range(40):
        actions = masks.argmax(axis=1)
        expected = env.step(actions)
        masks = expected[-1]["action_mask"]
        for other in [*others, again]:
            got = other.step(actions)
            for mine, reference in zip(got, expected, strict=True):
                equal(mine, reference)
    with pytest.raises(ed.BatchError, match="with opponents, but this one is of self-play"):
        VectorEnv(20, columns=5, autoreset_mode="same_step").set_state(state)
    with pytest.raises(ed.BatchError, match="settings"):
        VectorEnv(20, columns=5, opponent="random").set_state(state)


@pytest.mark.parametrize("opponent", [3, 2.5, b"random", {"random"}, ed.policies.Greedy])
def test_what_is_no_opponent_is_refused(opponent: Any) -> None:
    with pytest.raises(
        ed.errors.ArgumentTypeError, match=r"opponent is .* expected a specification"
    ):
        VectorEnv(2, opponent=opponent)


def test_bad_opponents_name_the_field() -> None:
    with pytest.raises(ed.PolicyError, match='opponent is "gready", expected '):
        VectorEnv(2, opponent="gready")
    with pytest.raises(ed.PolicyError, match=r'opponent\[1\] is "alphabeta:0", expected '):
        VectorEnv(2, opponent=["random", "alphabeta:0"])
    with pytest.raises(ed.BatchError, match="opponent is an empty list"):
        Env(opponent=[])
    with pytest.raises(ed.errors.ArgumentTypeError, match=r"opponent\[1\] is 3"):
        Env(opponent=["random", 3])  # type: ignore[list-item]
    with pytest.raises(ed.BatchError, match='agent_side is "both", expected "south"'):
        VectorEnv(2, opponent="random", agent_side="both")  # type: ignore[arg-type]


def test_players_of_the_package_answer_as_their_specifications() -> None:
    rules = Ruleset(columns=6)
    given: list[Any] = [
        ed.policies.Greedy(),
        ed.policies.Greedy(ruleset=rules),
        "greedy",
        "alphabeta:1",
    ]
    games = []
    for opponent in given:
        env = VectorEnv(5, rules, opponent=opponent)
        _, infos = env.reset(seed=2)
        views = []
        for _ in range(30):
            view, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
            views.append(view)
        games.append(np.stack(views))
    assert all(np.array_equal(games[0], other) for other in games)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_games_against_opponents_depend_on_the_row_seed_alone(threads: int) -> None:
    def play(rows: list[int], **settings: Any) -> list[list[Any]]:
        env = VectorEnv(
            len(rows),
            columns=6,
            opponent=["random", "alphabeta:2"],
            random_opening_plies=2,
            **settings,
        )
        _, infos = env.reset(seed=rows)
        games: list[list[Any]] = [[] for _ in rows]
        for _ in range(25):
            view, reward, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
            for row, game in enumerate(games):
                game.append((view[row].tolist(), float(reward[row])))
        return games

    seeds = list(range(600))
    whole = play(seeds, num_threads=threads)
    assert whole[7] == play([7])[0]
    assert whole[100:103] == play([100, 101, 102])


def test_out_fills_the_arrays_of_the_user() -> None:
    rows, columns = 6, 4
    buffer = np.zeros(4096, dtype=np.uint8)
    views = buffer[: 2 * rows * 11].view(np.int16).reshape(rows, 11)
    out: dict[str, Any] = {
        "observations": views,
        "rewards": np.full(rows, 9, np.float32),
        "terminated": np.ones(rows, bool),
        "truncated": np.ones(rows, bool),
        "action_mask": np.zeros((rows, columns), np.int8),
        "to_play": np.zeros(rows, np.int8),
    }
    env = VectorEnv(rows, columns=columns, out=out, seed=1, opponent="random")
    other = VectorEnv(rows, columns=columns, seed=1, opponent="random")
    got: Any = env.reset()
    wanted: Any = other.reset()
    assert got[0] is views
    for _ in range(30):
        assert np.array_equal(views, wanted[0])
        assert got[-1]["action_mask"] is out["action_mask"]
        equal(got[-1], wanted[-1])
        actions = out["action_mask"].argmax(axis=1)
        got, wanted = env.step(actions), other.step(actions)
        for name, mine, reference in zip(
            ["observations", "rewards", "terminated", "truncated"], got, wanted, strict=False
        ):
            assert mine is out[name]
            assert np.array_equal(mine, reference)
    assert buffer.any()
    alone = VectorEnv(2, columns=4, out={"rewards": np.zeros(2, np.float32)}, seed=1)
    first, second = alone.reset()[0], alone.step([0, 0])[0]
    assert not np.shares_memory(first, second)
    again = pickle.loads(pickle.dumps(alone))
    assert np.array_equal(again.step([0, 0])[0], alone.step([0, 0])[0])


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ({"rewards": np.zeros(2)}, r"has dtype float64 .* expected float32"),
        ({"rewards": np.zeros(3, np.float32)}, r"shape \[3\], expected float32 and \[2\]"),
        ({"observations": np.zeros((2, 11), np.int16, order="F")}, "C order"),
        ({"terminated": np.zeros(4, bool)[::2]}, "C order"),
        ({"observation": np.zeros((2, 11), np.int16)}, 'unknown key "observation"'),
        ({"rewards": [0.0, 0.0]}, "expected a NumPy array"),
        ({"rewards": np.broadcast_to(np.float32(0), 2)}, "C order|read-only"),
    ],
)
def test_out_with_the_wrong_dtype_shape_or_order_says_expected_and_got(
    out: dict[str, Any], text: str
) -> None:
    with pytest.raises(ed.errors.EndodoiError, match=text):
        VectorEnv(2, columns=4, out=out)


def test_arrays_of_out_that_overlap_or_are_read_only_are_refused() -> None:
    shared = np.zeros(8, np.bool_)
    with pytest.raises(ed.BatchError, match="shares memory"):
        VectorEnv(8, columns=4, out={"terminated": shared, "truncated": shared})
    fixed = np.zeros(8, np.bool_)
    fixed.flags.writeable = False
    with pytest.raises(ed.BatchError, match="read-only"):
        VectorEnv(8, columns=4, out={"terminated": fixed})


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_function_that_calls_its_own_environment_is_refused_clearly(mode: AutoresetMode) -> None:
    def calls(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        if inner is not None:
            inner()
        return lowest(views, masks)

    inner: Any = None
    env = VectorEnv(
        3,
        columns=4,
        opponent=calls,
        agent_side="south",
        autoreset_mode=mode,
        render_mode="ansi",
        seed=1,
    )
    _, infos = env.reset()
    actions, before = infos["action_mask"].argmax(axis=1), env.get_state()
    for call in (
        lambda: env.step(actions),
        env.reset,
        lambda: env.set_opponent("greedy"),
        env.get_state,
        lambda: env.set_state(before),
        env.render,
        lambda: env.position(0),
        lambda: copy.deepcopy(env),
    ):
        inner = call
        with pytest.raises(ed.BatchError, match="in the middle of a step or reset"):
            env.step(actions)
        inner = None
        assert env.get_state() == before
    env.step(actions)
    assert env.get_state() != before


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_start_without_a_legal_move_is_reported_by_the_next_step_e1(mode: AutoresetMode) -> None:
    rules = Ruleset("cross-endodoi", columns=4, seeds_per_pit=4, lap_limit=3)
    assert ed.Position.start(rules).is_over
    for settings in ({}, {"opponent": "random", "agent_side": "south"}):
        env = VectorEnv(2, rules, autoreset_mode=mode, seed=1, **settings)  # type: ignore[arg-type]
        single = Env(rules, seed=1, **settings)  # type: ignore[arg-type]
        for _ in range(3):
            _, infos = env.reset()
            assert not infos["action_mask"].any()
            env = pickle.loads(pickle.dumps(env))
            _, rewards, terminated, truncated, infos = env.step([0, 99])
            assert terminated.all()
            assert not truncated.any()
            assert rewards.tolist() == [-1, -1]
            ends = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
            assert ends["outcome"].tolist() == [-1, -1]
            single.reset()
            assert single.step(0)[1:4] == (-1, True, False)
