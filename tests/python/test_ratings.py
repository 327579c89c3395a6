"""Ratings: a second computation, names and order, flags, odd input."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import endodoi as ed

Pair: TypeAlias = tuple[str, str, int, int]

ELO = 400 / np.log(10)


def league(
    strengths: dict[str, float], *, first_move: float, draws: float, pairs: int, seed: int
) -> list[Pair]:
    """Draw results of a round robin under Davidson's model with a first-move term."""
    generator = np.random.default_rng(seed)

    def result(south: str, north: str) -> int:
        ahead = (strengths[south] - strengths[north] + first_move) / ELO
        chances = np.array([np.exp(ahead / 2), draws, np.exp(-ahead / 2)])
        return int(generator.choice([1, 0, -1], p=chances / chances.sum()))

    played: list[Pair] = []
    for a, b in combinations(strengths, 2):
        played += [(a, b, result(a, b), -result(b, a)) for _ in range(pairs)]
    return played


def slow_fit(
    played: list[Pair], names: list[str], prior: float
) -> tuple[npt.NDArray[np.float64], float, float]:
    """Climb the same likelihood by plain gradient steps, game by game."""
    place = {name: i for i, name in enumerate(names)}
    games = []
    for a, b, as_south, as_north in played:
        games += [(place[a], place[b], as_south), (place[b], place[a], -as_north)]
    south, north, result = np.array(games).T
    at = np.zeros(len(names) + 2)
    for _ in range(60_000):
        ahead = at[south] - at[north] + at[-2]
        parts = np.exp(np.stack([ahead / 2, np.full(len(ahead), at[-1]), -ahead / 2]))
        win, draw, loss = parts / parts.sum(axis=0)
        slope = (result - (win - loss)) / 2
        gradient = np.zeros(len(at))
        np.add.at(gradient, south, slope)
        np.add.at(gradient, north, -slope)
        gradient[-2] = slope.sum()
        gradient[-1] = ((result == 0) - draw).sum()
        gradient[:-1] -= prior * np.tanh(at[:-1] / 2) / 2
        gradient[-1] += prior * (0.5 - np.exp(at[-1]) / (2 + np.exp(at[-1])))
        at += gradient / len(games)
        if np.abs(gradient).max() < 1e-9:
            break
    return (at[:-2] - at[:-2].mean()) * ELO, float(at[-2] * ELO), float(np.exp(at[-1]))


@pytest.fixture(scope="module")
def played() -> list[Pair]:
    strengths = {"x": -120.0, "y": 0.0, "z": 20.0, "w": 100.0}
    return league(strengths, first_move=30, draws=0.2, pairs=40, seed=5)


def test_a_second_computation_finds_the_same(played: list[Pair]) -> None:
    found = ed.arena.ratings(played, prior=2)
    names = [player.name for player in found.players]
    ratings, first_move, draws = slow_fit(played, names, prior=2)
    np.testing.assert_allclose([player.rating for player in found.players], ratings, atol=1e-4)
    assert found.first_move.elo.value == pytest.approx(first_move, abs=1e-4)
    assert found.draws.parameter.value == pytest.approx(draws, abs=1e-6)
    assert names[0] == "w"
    assert names[-1] == "x"


def test_ratings_do_not_depend_on_names_or_order(played: list[Pair]) -> None:
    found = ed.arena.ratings(played)
    names = {"x": "b", "y": "d", "z": "a", "w": "c"}
    order = np.random.default_rng(1).permutation(len(played))
    shuffled = [played[i] for i in order]
    again = ed.arena.ratings([(names[b], names[a], -n, -s) for a, b, s, n in shuffled])
    # Who stands first in a pair changes sides: as South and as North change places as well.
    for name, other in names.items():
        one, two = found[name], again[other]
        assert one.rating == pytest.approx(two.rating, abs=1e-6)
        assert one.high == pytest.approx(two.high, abs=1e-6)


def test_every_form_of_a_pair_is_read(played: list[Pair]) -> None:
    found = ed.arena.ratings(played)
    keys = ("a", "b", "as_south", "as_north")
    as_dicts = [dict(zip(keys, pair, strict=True), note=1) for pair in played]
    assert ed.arena.ratings(as_dicts) == found
    numbers = {name: i for i, name in enumerate("xyzw")}
    array = np.array([(numbers[a], numbers[b], s, n) for a, b, s, n in played])
    by_number = ed.arena.ratings(array)
    assert [p.rating for p in by_number.players] == [p.rating for p in found.players]
    assert by_number.players[0].name == "3"


def test_first_move_advantage_is_fitted_with_its_error() -> None:
    """First-move advantage is fitted with its error. Draw rate reported."""
    even = league({"x": 0.0, "y": 0.0}, first_move=120, draws=0.1, pairs=400, seed=2)
    found = ed.arena.ratings(even)
    elo, score = found.first_move.elo, found.first_move.score
    assert elo.low < 120 < elo.high
    assert 5 < elo.high - elo.low < 120
    assert 0.5 < score.low < score.value < score.high < 1
    drawn = sum((s == 0) + (n == 0) for _, _, s, n in even) / 800
    assert found.draws.rate.value == pytest.approx(drawn)
    assert found.draws.rate.low < drawn < found.draws.rate.high


def test_an_undefeated_player_gets_a_finite_flagged_rating() -> None:
    """Ratings do not depend on names or order; an undefeated player gets a finite, flagged one."""
    pairs = [("best", "x", 1, 1), ("best", "y", 1, 1)] * 50
    pairs += [("x", "y", 1, -1), ("x", "y", -1, 1), ("x", "y", 1, 0), ("x", "y", 0, -1)] * 5
    found = ed.arena.ratings(pairs)
    best = found["best"]
    assert best.flag == "undefeated"
    assert np.isfinite([best.rating, best.low, best.high]).all()
    assert found.players[0] is best
    assert found.likelihood_of_superiority("best", "x") > 0.99
    assert found["x"].flag is None
    assert "undefeated" in str(found)


def test_groups_that_never_met_are_flagged() -> None:
    even = [(1, -1), (-1, 1), (0, 1), (-1, 0)]
    pairs = [(a, b, s, n) for a, b in ("xy", "zw") for s, n in even]
    assert [player.flag for player in ed.arena.ratings(pairs).players] == ["separate"] * 4


def test_a_result_can_be_printed_written_and_pickled(played: list[Pair]) -> None:
    found = ed.arena.ratings(played)
    read = json.loads(json.dumps(found.to_dict()))
    assert read["players"][0]["name"] == "w"
    assert read["first_move"]["elo"]["value"] == found.first_move.elo.value
    np.testing.assert_allclose(found.superiority + found.superiority.T, np.ones((4, 4)), atol=1e-12)
    assert pickle.loads(pickle.dumps(found)) == found
    lines = str(found).splitlines()
    assert len(lines) == 7
    assert lines[0].split()[:2] == ["player", "rating"]
    assert lines[5].startswith("first move +")
    assert found.to_markdown().count("\n") == 8
    with pytest.raises(KeyError):
        found["nobody"]
    with pytest.raises(KeyError):
        found.likelihood_of_superiority("w", "nobody")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "players is 0, expected 1 to 2000"),
        ([("x", "x", 1, 1)], "pair 0 is between players 0 and 0, expected two of 1"),
        ([("x", "y", 1, 1), ("x", "y", 2, 1)], "result of pair 1 is 2, expected -1, 0 or 1"),
    ],
)
def test_what_cannot_be_rated_is_refused(pairs: Any, message: str) -> None:
    with pytest.raises(ed.RatingError, match=message) as error:
        ed.arena.ratings(pairs)
    assert pickle.loads(pickle.dumps(error.value)).field == error.value.field


@pytest.mark.parametrize(
    "pair", ["abcd", ("x", "y", 1), {"a": "x", "b": "y"}, 5, ("x", "y", 0.5, 1)]
)
def test_what_is_no_pair_is_refused_by_its_place(pair: Any) -> None:
    with pytest.raises(ed.ArgumentTypeError, match=r"pairs\[1\]"):
        ed.arena.ratings([("x", "y", 1, 1), pair])


@pytest.mark.parametrize("prior", [0, -1, 1001, float("nan")])
def test_a_prior_out_of_range_is_refused(prior: float) -> None:
    with pytest.raises(ed.RatingError, match="prior is"):
        ed.arena.ratings([("x", "y", 1, 1)], prior=prior)
    with pytest.raises(ed.ArgumentTypeError, match="prior is True"):
        ed.arena.ratings([("x", "y", 1, 1)], prior=True)


def test_a_number_of_many_digits_is_told_in_few() -> None:
    with pytest.raises(ed.RatingError, match=r"^prior is 1e\+300, expected 0\.001 to 1000$"):
        ed.arena.ratings([("x", "y", 1, 1)], prior=1e300)


def test_what_rounds_to_zero_has_no_minus() -> None:
    found = ed.arena.ratings([("x", "y", 1, 1), ("x", "y", 1, -1)])
    low = replace(found.first_move.elo, value=-0.2, low=-0.4)
    shown = replace(found, first_move=replace(found.first_move, elo=low))
    assert "first move +0 (+0 to " in str(shown)


def test_a_name_is_shown_in_one_line() -> None:
    found = ed.arena.ratings([("x\ny", "z", 1, 1)])
    for text in (str(found), found.to_markdown()):
        assert r"x\ny " in text
        assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("pairs", [None, 3, "x y 1 1"])
def test_what_is_no_list_of_pairs_is_refused(pairs: Any) -> None:
    with pytest.raises(ed.ArgumentTypeError, match=f"pairs is {pairs!r} .*, expected pairs of"):
        ed.arena.ratings(pairs)


def test_a_tournament_rates_its_players_by_the_same_function() -> None:
    """Its pairs, given to `ratings` by hand, lead to its standings."""
    players = ["random", "mcts:2", "mcts:8", "random"]
    six = ed.Ruleset(columns=6)
    plan = ed.arena.Tournament(players, ruleset=six, games=60, seed=3)
    games = plan.play(plan.chunks())
    columns = games.to_numpy()
    # As South and as North, seen from the first player of the pairing.
    results = np.where(columns["south"] == 0, columns["winner"], -columns["winner"])
    pairs = [
        (plan.names[a], plan.names[b], int(south), int(north))
        for a, b, south, north in zip(
            columns["a"][::2], columns["b"][::2], results[::2], results[1::2], strict=True
        )
    ]
    found, standings = ed.arena.ratings(pairs), plan.standings(games)
    for player in standings.players:
        mine = found[player.name]
        assert (mine.wins, mine.draws, mine.losses) == (player.wins, player.draws, player.losses)
        assert player.rating == pytest.approx(mine.rating, abs=1e-6)
        assert (player.low, player.high) == pytest.approx((mine.low, mine.high), abs=1e-6)
    assert standings.first_move.elo["value"] == pytest.approx(found.first_move.elo.value, abs=1e-6)
