"""Players: legality, definitions, rules, specifications."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import Position, Ruleset, VectorEnv, policies

if TYPE_CHECKING:
    from collections.abc import Callable

SIX = Ruleset(columns=6)


def margin(position: Position, side: str) -> int:
    south, north = position.captured
    return south - north if side == "south" else north - south


def value(position: Position, depth: int, side: str) -> int:
    """Return the captured difference for `side` after `depth` plies of best play."""
    if depth == 0 or position.is_over:
        return margin(position, side)
    children = [value(position.play(c), depth - 1, side) for c in position.legal_moves()]
    return max(children) if position.to_move == side else min(children)


def best(position: Position, depth: int) -> int:
    """Return the lowest column of the greatest value."""
    side = position.to_move
    values = [value(position.play(c), depth - 1, side) for c in position.legal_moves()]
    return position.legal_moves()[values.index(max(values))]


@pytest.mark.parametrize("rules", [SIX, Ruleset("cross-endodoi", columns=4)], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_alphabeta_plays_the_lowest_best_column_of_both_sides(rules: Ruleset, depth: int) -> None:
    env = VectorEnv(24, rules, random_opening_plies=3, seed=1)
    player = policies.AlphaBeta(depth, ruleset=rules)
    random = policies.Random(seed=2)
    observations, infos = env.reset()
    assert isinstance(observations, np.ndarray)
    for _ in range(8):
        masks = infos["action_mask"]
        actions = player(observations, masks)
        assert actions.dtype == np.int64
        for row in range(24):
            position = env.position(row)
            assert actions[row] == (0 if position.is_over else best(position, depth))
        if depth == 1:
            assert (policies.Greedy(ruleset=rules)(observations, masks) == actions).all()
        observations, *_, infos = env.step(random(observations, masks))


def test_random_plays_every_legal_column_evenly_and_by_its_seed() -> None:
    masks = np.tile(np.array([1, 0, 1, 1], np.int8), (30_000, 1))
    views = np.zeros((30_000, 11), np.int16)
    actions = policies.Random(seed=1)(views, masks)
    counts = np.bincount(actions, minlength=4)
    assert counts[1] == 0
    assert (abs(counts[[0, 2, 3]] - 10_000) < 400).all()
    again = policies.Random(seed=1)
    assert (again(views, masks) == actions).all()
    assert (again(views, masks) != actions).any()
    assert (policies.Random(seed=2)(views, masks) != actions).any()
    assert policies.Random()(views[:1], masks[:1] * 0).tolist() == [0]


def test_a_single_game_needs_no_axis_of_rows() -> None:
    env = ed.Env(columns=6)
    observation, info = env.reset(seed=1)
    for player in (policies.Greedy(ruleset=SIX), policies.Random()):
        action = player(observation, info["action_mask"])
        assert action.shape == ()
        env.step(int(action))
        env.reset()


def test_players_that_look_ahead_must_know_the_rules() -> None:
    observations, infos = VectorEnv(2, SIX).reset()
    for player in (policies.Greedy(), policies.AlphaBeta(2), policies.from_spec("alphabeta:3")):
        with pytest.raises(ed.PolicyError, match=r"not know the rules .* ruleset=env\.ruleset"):
            player(observations, infos["action_mask"])


def test_a_ruleset_of_other_games_is_noticed() -> None:
    observations, infos = VectorEnv(2, SIX).reset()
    assert isinstance(observations, np.ndarray)
    masks = infos["action_mask"]
    with pytest.raises(ed.PolicyError, match="is the ruleset that of the games"):
        policies.Greedy(ruleset=Ruleset())(observations, masks)
    masks[1, 3] = 0
    with pytest.raises(ed.PolicyError, match="row 1: the mask allows columns"):
        policies.Greedy(ruleset=SIX)(observations, masks)
    with pytest.raises(ed.PolicyError, match="observations has 2 rows, but action_masks 1"):
        policies.Greedy(ruleset=SIX)(observations, masks[:1])


@pytest.mark.parametrize("spec", ["random", "greedy", "alphabeta:4", "mcts:800"])
def test_specifications_make_players_and_name_them(spec: str) -> None:
    player = policies.from_spec(spec, ruleset=SIX)
    assert player.name == player.spec == spec
    assert spec in repr(player)
    for other in (pickle.loads(pickle.dumps(player)), copy.deepcopy(player)):
        assert other.spec == spec
        assert other.ruleset == player.ruleset


@pytest.mark.parametrize(
    "spec", ["", "foo", "alphabeta", "alphabeta:0", "alphabeta:65", "mcts:0", "agent:"]
)
def test_unknown_specifications_list_the_known_forms(spec: str) -> None:
    with pytest.raises(
        ed.PolicyError, match=r"expected random, greedy, perfect\[@table=FILE\], alphabeta:N"
    ) as info:
        policies.from_spec(spec)
    assert info.value.player == spec


def test_alphabeta_analysis_tells_value_and_line() -> None:
    position = Position.start(SIX).play(2)
    found = policies.AlphaBeta(depth=4).analyse(position)
    assert found.column == best(position, 4)
    assert found.value == value(position, 4, "north")
    assert found.depth == 4
    assert found.nodes > 4
    assert found.principal_variation[0] == found.column
    end = position
    for column in found.principal_variation:
        end = end.play(column)
    assert margin(end, "north") == found.value
    over = Position.from_text("0,0/1,1 S 3-3 0", Ruleset(columns=2))
    with pytest.raises(ed.PolicyError, match="alphabeta:4: the game is over"):
        policies.AlphaBeta(4).analyse(over)


def test_alphabeta_limits_by_nodes_and_seconds() -> None:
    position = Position.start(SIX)
    deep = policies.AlphaBeta(nodes=20_000, table_mib=1)
    found = deep.analyse(position)
    assert found == deep.analyse(position)
    assert 15_000 < found.nodes <= 20_020
    fixed = policies.AlphaBeta(found.depth).analyse(position)
    assert (fixed.column, fixed.value) == (found.column, found.value)
    assert len(found.principal_variation) > 1
    quick = policies.AlphaBeta(seconds=0.05, threads=2, ruleset=SIX)
    assert quick.spec == "alphabeta:seconds=0.05@threads=2"
    assert pickle.loads(pickle.dumps(quick)).spec == quick.spec
    observation = position.observation()
    mask = np.ones(6, np.int8)
    assert int(quick(observation, mask)) in range(6)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ed.PolicyError, "nothing given, expected exactly one of depth, nodes and seconds"),
        ({"depth": 2, "nodes": 9}, ed.PolicyError, "depth and nodes given"),
        ({"depth": 0}, ed.ArgumentValueError, "depth is 0, expected 1 to 64"),
        ({"nodes": 0}, ed.ArgumentValueError, "nodes is 0, expected 1 to"),
        ({"nodes": 1.5}, ed.ArgumentTypeError, "nodes is 1.5"),
        ({"seconds": 0}, ed.ArgumentValueError, "seconds is 0, expected more than 0"),
        ({"seconds": float("nan")}, ed.ArgumentValueError, "seconds is nan"),
        ({"seconds": "1"}, ed.ArgumentTypeError, "seconds is '1'"),
        ({"depth": 2, "threads": 257}, ed.ArgumentValueError, "threads is 257, expected 1 to 256"),
        ({"nodes": 2, "threads": 2}, ed.ArgumentValueError, "threads is 2, expected 1 where nodes"),
        ({"depth": 2, "table_mib": -1}, ed.ArgumentValueError, "table_mib is -1, expected 0 to"),
    ],
)
def test_settings_of_alphabeta_out_of_range_are_named(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        policies.AlphaBeta(**arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("call", ["choose", "analyse", "simulate", "step"])
def test_ctrl_c_is_heard_inside_a_position(call: str) -> None:
    rules = Ruleset(columns=10)
    start = Position.start(rules)
    player = policies.AlphaBeta(64, ruleset=rules)
    env = VectorEnv(1, rules, opponent="alphabeta:64", agent_side="south")
    env.reset(seed=1)
    calls: dict[str, Callable[[], object]] = {
        "choose": lambda: player(start.observation(), np.ones(10, np.int8)),
        "analyse": lambda: player.analyse(start),
        "simulate": lambda: ed.simulate(1, ruleset=rules, south="alphabeta:64"),
        "step": lambda: env.step(np.array([0])),
    }
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        calls[call]()
    timer.join()


@pytest.mark.parametrize("depth", [True, 2.0, "2"])
def test_a_depth_that_is_no_integer_is_refused(depth: Any) -> None:
    with pytest.raises(ed.ArgumentTypeError, match="depth"):
        policies.AlphaBeta(depth)


def test_observations_that_are_no_integers_are_refused() -> None:
    with pytest.raises(ed.ArgumentTypeError, match="observations"):
        policies.Random()(np.zeros((2, 15)), np.ones((2, 6), np.int8))


def test_an_agent_that_is_none_is_refused(tmp_path: Any) -> None:
    with pytest.raises(ed.AgentError, match="no such agent") as info:
        policies.Agent.load(tmp_path / "no such agent")
    assert info.value.path.endswith("no such agent")
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"x" * 100)
    with pytest.raises(ed.AgentError, match="not a complete safetensors file"):
        policies.Agent.load(broken)
    with pytest.raises(ed.AgentError, match="holds no"):
        policies.Agent.load(tmp_path)
    with pytest.raises(ed.PolicyError, match="simulations is -1"):
        policies.Agent.load(broken, simulations=-1)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_the_seed_of_a_player_is_checked_when_it_is_made(seed: Any) -> None:
    with pytest.raises(ed.EndodoiError, match=r"^seed is "):
        policies.Random(seed=seed)
    with pytest.raises(ed.EndodoiError, match=r"^seed is "):
        policies.from_spec("random", seed=seed)
