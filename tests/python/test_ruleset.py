"""Ruleset: values, equality, refusals."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import Ruleset

FIELDS = {
    "variant": "cross-endodoi",
    "columns": 5,
    "seeds_per_pit": 2,
    "direction": "anticlockwise",
    "lone_capture": "taken",
    "endless": "draw",
    "lap_limit": 77,
    "quiet_limit": 9,
}


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("en-dodoi", (8, 4, "anticlockwise", 320)),
        ("en-gehe", (50, 4, "anticlockwise", 2000)),
        ("cross-endodoi", (6, 3, "parity", 240)),
    ],
)
def test_variants_have_the_defaults_of_the_rules(
    variant: str, expected: tuple[int, int, str, int]
) -> None:
    rules = Ruleset(variant)
    assert (rules.columns, rules.seeds_per_pit, rules.direction, rules.quiet_limit) == expected
    assert (rules.lone_capture, rules.endless, rules.lap_limit) == ("stays", "illegal", 10_000)
    assert rules.variant == variant


def test_every_field_is_a_property_and_survives_every_copy() -> None:
    rules = Ruleset(**FIELDS)  # type: ignore[arg-type]
    assert {name: getattr(rules, name) for name in FIELDS} == FIELDS
    assert rules.to_dict() == FIELDS
    copies = [
        Ruleset.from_dict(rules.to_dict()),
        pickle.loads(pickle.dumps(rules)),
        copy.deepcopy(rules),
        eval(repr(rules)),  # noqa: S307
    ]
    for other in copies:
        assert other == rules
        assert hash(other) == hash(rules)


def test_equality_compares_resolved_fields_and_the_name() -> None:
    assert Ruleset(columns=8, quiet_limit=320) == Ruleset()
    assert Ruleset(columns=50) != Ruleset("en-gehe")
    assert Ruleset() != "en-dodoi"


def test_a_ruleset_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Ruleset().columns = 3  # type: ignore[misc]


@pytest.mark.parametrize("number", [6, np.int8(6), np.uint64(6), np.array(6)])
def test_integers_of_any_type_are_read(number: Any) -> None:
    assert Ruleset(columns=number).columns == 6


@pytest.mark.parametrize("value", [6.0, True, np.float32(6), np.True_, "6", [6]])
def test_what_is_no_integer_is_refused_with_field_and_value(value: Any) -> None:
    with pytest.raises(
        ed.ArgumentTypeError, match=r"columns is .*, expected a whole number"
    ) as info:
        Ruleset(columns=value)
    assert info.value.field == "columns"
    assert info.value.value is value or info.value.value == value


@pytest.mark.parametrize(
    ("field", "value", "low", "high"),
    [
        ("columns", 0, 1, 64),
        ("columns", 65, 1, 64),
        ("seeds_per_pit", -3, 1, 64),
        ("lap_limit", 1_000_001, 1, 1_000_000),
        ("quiet_limit", 32_768, 1, 32_767),
    ],
)
def test_numbers_out_of_range_name_field_value_and_range(
    field: str, value: int, low: int, high: int
) -> None:
    with pytest.raises(ed.RulesetError) as info:
        Ruleset.from_dict({field: value})
    assert str(info.value) == f"{field} is {value}, expected {low} to {high}"
    error = info.value
    assert (error.field, error.value, error.low, error.high) == (field, value, low, high)


def test_a_number_beyond_64_bits_is_named_as_given() -> None:
    with pytest.raises(ValueError, match=f"columns is {10**30}"):
        Ruleset(columns=10**30)


@pytest.mark.parametrize("field", ["variant", "direction", "lone_capture", "endless"])
def test_unknown_names_list_the_known_ones(field: str) -> None:
    with pytest.raises(ed.RulesetError, match=f'{field} is "foo", expected one of') as info:
        Ruleset.from_dict({field: "foo"})
    assert getattr(Ruleset(), field) in info.value.expected


def test_unknown_keys_are_refused_and_named() -> None:
    with pytest.raises(ed.RulesetError, match=r"column is no field .* expected one of variant"):
        Ruleset.from_dict({"column": 6})
    with pytest.raises(ed.ArgumentTypeError, match="expected a dictionary"):
        Ruleset.from_dict([("columns", 6)])  # type: ignore[arg-type]


def test_none_stands_for_the_default_in_a_dictionary_too() -> None:
    assert Ruleset.from_dict({"variant": "en-gehe", "columns": None}) == Ruleset("en-gehe")
