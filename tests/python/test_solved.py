"""The page of solved boards: written from its data, which hold the golden values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import endodoi as ed
import solved

GOLDEN = Path(__file__).parents[1] / "data" / "golden.json"


def test_the_page_is_what_the_script_writes() -> None:
    assert solved.PAGE.read_text(encoding="utf-8") == solved.page(solved.read())


def test_the_data_hold_the_golden_values() -> None:
    proven = solved.read()
    values = json.loads(GOLDEN.read_text(encoding="utf-8"))["values"]
    assert values
    for value in values:
        one = proven[value["rules"], value["columns"], value["seeds"]]
        assert (one["lower"], one["upper"]) == (value["value"], value["value"]), value


@pytest.mark.parametrize("rules", solved.RULES)
def test_small_boards_are_proven_again(rules: str) -> None:
    for (named, columns, seeds), one in solved.read().items():
        if named != rules or columns > 4:
            continue
        fields = {**solved.RULES[rules][1], "columns": columns, "seeds_per_pit": seeds}
        found = ed.solve(ed.Position.start(ed.Ruleset.from_dict(fields)))
        assert (found.value, list(found.best_moves)) == (one["lower"], one["best_openings"]), one


def test_tighter_bounds_of_two_proofs_are_kept() -> None:
    old = {"lower": -10, "upper": 8, "nodes": 1}
    new = {"lower": -12, "upper": 4, "nodes": 2}
    assert solved.narrowed(None, new) == new
    assert solved.narrowed(old, new) == {"lower": -10, "upper": 4, "nodes": 2}
    assert solved.narrowed(new, old) == {"lower": -10, "upper": 4, "nodes": 2}


def test_missing_values_are_proven_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solved, "DATA", tmp_path / "solved.jsonl")
    solved.prove([2], seconds=60, threads=1)
    kept = solved.read()
    assert len(kept) == len(solved.RULES) * len(solved.SEEDS)
    assert kept["stays", 2, 4]["lower"] == kept["stays", 2, 4]["upper"] == 6
    text = solved.page(kept)
    assert "**6**" in text
    assert "2x2" in text
