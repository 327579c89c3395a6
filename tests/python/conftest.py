"""Golden data and helpers of the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from endodoi import Position, Ruleset
from small_cards import lowest, small

if TYPE_CHECKING:
    from endodoi.arena import ReportCard

GOLDEN = Path(__file__).parents[1] / "data" / "golden.json"


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return data


@pytest.fixture(scope="session")
def card() -> ReportCard:
    return small(lowest, ["2x8", "2x6"])


def golden_ruleset(rules: dict[str, Any]) -> Ruleset:
    return Ruleset(
        "cross-endodoi" if rules["cross"] else "en-dodoi",
        columns=rules["columns"],
        seeds_per_pit=rules["seeds"],
        lone_capture=rules["lone_capture"],
        endless=rules["endless"],
        lap_limit=rules["lap_limit"],
        quiet_limit=rules["quiet_limit"],
    )


def golden_position(entry: dict[str, Any], ruleset: Ruleset) -> Position:
    columns = ruleset.columns
    return Position.from_board(
        entry["board"][:columns],
        entry["board"][columns:],
        to_move=("south", "north")[entry["side"]],
        captured=entry["captured"],
        quiet=entry["quiet"],
        ruleset=ruleset,
    )
