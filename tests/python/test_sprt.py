"""The sequential test: published values, an independent ratio."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from typing import Any

import pytest

import endodoi as ed


def test_known_values_are_reproduced() -> None:
    """SPRT names its model and reproduces known values: those that fastchess tests itself by."""
    for model, elos, counts, expected in [
        ("normalized", (0, 2), (365, 16618, 36229, 16974, 390), 2.25),
        ("normalized", (-1.75, 0.25), (127, 4883, 10712, 5150, 104), 3.01),
        ("logistic", (0.5, 2.5), (223, 9863, 21279, 10037, 246), -3.07),
        ("logistic", (0, 2), (871, 26175, 55983, 26678, 821), -4.98),
        ("logistic", (0.5, 2.5), (21184, 40708, 21404), -1.57),
    ]:
        found = ed.arena.Sprt(*elos, model=model).result(counts)
        assert round(found.llr, 2) == expected
        assert found.settings["model"] == model
        assert model in str(found)


def test_the_ratio_is_near_its_approximation_by_mean_and_variance() -> None:
    """Near no difference the ratio is close to the formula for a normal mean."""
    counts = (110, 260, 500, 270, 120)
    total = sum(counts)
    score = sum(i / 4 * n for i, n in enumerate(counts)) / total
    variance = sum(n * (i / 4 - score) ** 2 for i, n in enumerate(counts)) / total
    s0, s1 = (1 / (1 + 10 ** (-elo / 400)) for elo in (0, 10))
    expected = total * (s1 - s0) * (2 * score - s0 - s1) / variance / 2
    assert ed.arena.Sprt(0, 10).result(counts).llr == pytest.approx(expected, abs=0.01)


def test_bounds_and_decisions() -> None:
    test = ed.arena.Sprt(0, 50, alpha=0.05, beta=0.1)
    nothing = test.result([0] * 5)
    assert (nothing.lower, nothing.upper) == pytest.approx((math.log(0.1 / 0.95), math.log(18)))
    assert (nothing.accepted, nothing.games, nothing.llr) == (None, 0, 0)
    assert test.result([0, 5, 20, 40, 30]).accepted == "H1"
    assert test.result([30, 40, 20, 5, 0]).accepted == "H0"
    counts, played = test.decide([0] * 5, [4, 3, 4, 4, 3, 4] * 10)
    assert sum(counts) == played < 60


def test_a_result_can_be_written_and_pickled() -> None:
    won = ed.arena.Sprt(0, 10).result([0, 0, 0, 0, 30])
    assert won.elo == math.inf
    assert json.loads(json.dumps(won.to_dict(), allow_nan=False))["elo"] is None
    assert pickle.loads(pickle.dumps(won)) == won
    test = pickle.loads(pickle.dumps(ed.arena.Sprt(-5, 10, beta=0.1, model="normalized")))
    assert repr(test) == "<Sprt of -5 against +10 normalized Elo>"
    assert test.result([1, 2, 3, 4, 5]).settings["beta"] == 0.1
    lost = ed.arena.Sprt(0, 10).result([30, 0, 0])
    assert lost.elo == -math.inf


def test_what_rounds_to_zero_has_no_minus() -> None:
    found = replace(ed.arena.Sprt(0, 10).result([0, 1, 2, 1, 0]), elo=-0.01, llr=-0.001)
    assert "Elo +0.0 (" in str(found)
    assert "LLR +0.00 of" in str(found)
    assert ", +0 against +10 " in str(ed.arena.Sprt(-0.0, 10).result([0] * 5))
    assert repr(ed.arena.Sprt(-0.0, 10)) == "<Sprt of +0 against +10 logistic Elo>"
    assert "1 pair that repeats another is left out" in str(replace(found, repeated=1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elo0": 5, "elo1": 5}, "elo0 is 5 and elo1 5"),
        ({"elo0": 0, "elo1": 300}, "elo1 is 300, expected -200 to 200"),
        ({"elo0": -1e300, "elo1": 0}, r"elo0 is -1e\+300, expected -200 to 200"),
        ({"elo0": 0, "elo1": 5, "alpha": 0}, "alpha is 0, expected more than 0"),
        ({"elo0": 0, "elo1": 5, "beta": 0.7}, "beta is 0.7"),
        ({"elo0": 0, "elo1": 5, "model": "bayes"}, 'model is "bayes", expected'),
    ],
)
def test_what_is_out_of_range_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ed.SprtError, match=message):
        ed.arena.Sprt(**arguments)


@pytest.mark.parametrize("counts", [[1, 2], [1] * 6, [1, -1, 0], [0, 0, 10**9]])
def test_counts_that_are_none_are_refused(counts: list[int]) -> None:
    with pytest.raises(ed.SprtError, match="count"):
        ed.arena.Sprt(0, 5).result(counts)
