"""Game records."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import endodoi as ed
from endodoi import GameRecord, Position, Ruleset

START = Position.start(Ruleset(columns=2, seeds_per_pit=1))


def a_game() -> list[int]:
    position, moves = START, []
    while not position.is_over:
        moves.append(position.legal_moves()[-1])
        position = position.play(moves[-1])
    return moves


def test_a_record_tells_the_whole_game() -> None:
    record = GameRecord.of_moves(START, np.array(a_game()), players=("me", "you"))
    end = record.replay()
    assert record.moves == a_game()
    assert len(record) == len(a_game())
    assert record.players == ("me", "you")
    assert (record.captured, record.outcome) == (end.captured, end.outcome)
    assert record.end_reason == end.end_reason
    assert record.ruleset == START.ruleset
    assert record.start == START.to_text()
    line = record.to_json()
    assert "\n" not in line
    assert json.loads(line)["moves"] == a_game()
    assert GameRecord.from_json(line) == record
    assert pickle.loads(pickle.dumps(record)) == record


def test_a_game_that_goes_on_is_recorded_as_cut_e4() -> None:
    record = GameRecord.of_moves(START, a_game()[:1])
    assert (record.outcome, record.end_reason) == (None, "max_plies")


def test_records_that_lie_are_refused() -> None:
    fields = json.loads(GameRecord.of_moves(START, a_game()).to_json())
    with pytest.raises(ed.RecordError, match="captured") as info:
        GameRecord.from_json(json.dumps({**fields, "captured": [9, 9]}))
    assert info.value.field == "captured"
    with pytest.raises(ed.RecordError, match="not a game record"):
        GameRecord.from_json("{")
    with pytest.raises(ed.RecordError, match="move 0") as info:
        GameRecord.of_moves(START, [7])
    assert info.value.ply == 0
    with pytest.raises(ed.RecordError):
        GameRecord.of_moves(START, [-1])
