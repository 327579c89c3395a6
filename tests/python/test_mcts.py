"""The player that searches by Monte Carlo: choices, analysis, errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import Position, Ruleset, VectorEnv, policies

SIX = Ruleset(columns=6)


def views(rows: int) -> tuple[Any, Any]:
    observations, infos = VectorEnv(rows, SIX, seed=1, random_opening_plies=4).reset()
    return observations, infos["action_mask"]


def test_choices_are_legal_and_depend_on_seed_row_and_calls_alone() -> None:
    observations, masks = views(64)
    player = policies.Mcts(30, ruleset=SIX, seed=3)
    actions = player(observations, masks)
    assert masks[np.arange(64), actions].all()
    again = policies.Mcts(30, ruleset=SIX, seed=3)
    assert (again(observations, masks) == actions).all()
    assert (again(observations, masks) != actions).any()
    alone = policies.from_spec("mcts:30", ruleset=SIX, seed=3)
    assert (alone(observations[:5], masks[:5]) == actions[:5]).all()
    assert (policies.Mcts(30, ruleset=SIX, seed=4)(observations, masks) != actions).any()


def test_it_plays_in_simulations_and_as_an_opponent() -> None:
    player = policies.Mcts(50)
    table = ed.simulate(40, ruleset=SIX, south=player, north="random", seed=2, num_threads=1)
    assert table == ed.simulate(40, ruleset=SIX, south="mcts:50", seed=2, num_threads=2)
    assert (table.to_numpy()["winner"] == 1).mean() > 0.7
    boards = []
    for opponent in (player, "mcts:50"):
        env = VectorEnv(4, SIX, opponent=opponent, agent_side="south", seed=5)
        _, infos = env.reset()
        for _ in range(3):
            observations, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
        boards.append(observations)
    assert (boards[0] == boards[1]).all()


def test_an_analysis_tells_of_every_column() -> None:
    position = Position.from_text("4,0,4,4,4,4/4,4,4,4,4,4 S 0-0 0", SIX)
    player = policies.Mcts(500, seed=1)
    found = player.analyse(position)
    assert found.simulations == found.visits.sum() == 500
    assert found.visits.dtype == np.int64
    assert found.values.dtype == np.float64
    assert found.visits.shape == found.values.shape == (6,)
    assert found.visits[1] == 0
    assert np.isnan(found.values).tolist() == [False, True, False, False, False, False]
    assert found.column == found.visits.argmax() == found.principal_variation[0]
    assert found.value == found.values[found.column]
    assert found.proven is None
    assert found.proofs == [None] * 6
    for column in found.principal_variation:
        position = position.play(column)
    again = player.analyse(Position.from_text("4,0,4,4,4,4/4,4,4,4,4,4 S 0-0 0", SIX))
    assert (again.visits == found.visits).all()


@pytest.mark.parametrize(
    "text", ["1,0,1/0,1,0 S 5-5 0", "0,1,0/1,0,1 N 5-5 0"], ids=["south", "north"]
)
def test_a_search_finds_a_win_in_one_for_both_sides(text: str) -> None:
    found = policies.Mcts(1000).analyse(Position.from_text(text, Ruleset(columns=3)))
    assert (found.column, found.value, found.proven) == (0, 1.0, "win")
    assert found.proofs[0] == "win"
    assert found.simulations < 1000


def test_a_game_decided_by_captures_is_not_searched() -> None:
    position = Position.from_text("4,4,4,4,4,4/4,4,4,4,4,4 S 0-50 0", SIX)
    found = policies.Mcts(10).analyse(position)
    assert (found.simulations, found.proven, found.value) == (0, "loss", -1.0)
    assert found.proofs == ["loss"] * 6
    assert found.principal_variation == []


@pytest.mark.parametrize("simulations", [True, 800.0, "800"])
def test_simulations_that_are_no_whole_number_are_refused(simulations: Any) -> None:
    with pytest.raises(ed.ArgumentTypeError, match=r"^simulations is "):
        policies.Mcts(simulations)


@pytest.mark.parametrize("simulations", [0, -1, 1_000_001])
def test_simulations_out_of_range_are_refused(simulations: int) -> None:
    message = rf"^simulations is {simulations}, expected 1 to 1000000$"
    with pytest.raises(ed.ArgumentValueError, match=message):
        policies.Mcts(simulations)


def test_a_finished_game_is_refused() -> None:
    over = Position.from_text("0,0/1,1 S 3-3 0", Ruleset(columns=2))
    with pytest.raises(ed.PolicyError, match=r"player mcts:10: the game is over \(stuck\)"):
        policies.Mcts(10).analyse(over)


def test_an_agent_that_is_none_is_refused(tmp_path: Any) -> None:
    with pytest.raises(ed.AgentError, match="no such agent"):
        policies.Mcts(10, agent=tmp_path / "no such agent")


def test_players_pickle_with_their_settings() -> None:
    player = policies.Mcts(20, ruleset=SIX, seed=9)
    observations, masks = views(16)
    for other in (pickle.loads(pickle.dumps(player)), copy.deepcopy(player)):
        assert (other.spec, other.simulations, other.seed) == ("mcts:20", 20, 9)
        assert (
            other(observations, masks)
            == policies.Mcts(20, ruleset=SIX, seed=9)(observations, masks)
        ).all()
