"""Position and Sowing against the golden data, and at their edges."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import endodoi as ed
from conftest import golden_position, golden_ruleset
from endodoi import Position, Ruleset

SIX = Ruleset(columns=6)
START = Position.start(SIX)


def test_golden_positions_and_moves(golden: dict[str, Any]) -> None:
    moves = 0
    for entry in golden["sets"].values():
        ruleset = golden_ruleset(entry["rules"])
        for given in entry["positions"]:
            if given["end"] == "endless":
                continue  # A board does not tell that it ended by S6.
            position = golden_position(given, ruleset)
            # A stuck position is settled on entry: its board is empty then (E1).
            assert position.end_reason == given["end"]
            assert position.legal_moves() == given["legal"]
            for column in given["endless"]:
                assert position.sow(column).end == "endless"
            for move in given["moves"]:
                check_move(position, move)
                moves += 1
    assert moves > 500


def check_move(position: Position, move: dict[str, Any]) -> None:
    sowing = position.sow(move["col"])
    after = position.play(move["col"])
    assert after.end_reason == move["end"]
    assert list(after.captured) == move["captured"]
    assert after.quiet == move["quiet"]
    if move["end"] == "endless":
        assert sowing.end == "endless"
        assert after.outcome == "draw"
        return
    assert (sowing.laps, sowing.seeds_sown, sowing.last) == (
        move["laps"],
        move["sown"],
        move["last"],
    )
    if move["end"] != "stuck":
        assert after.board.ravel().tolist() == move["board"]
        assert sowing.captured == move["gain"]


def test_golden_games_and_perft(golden: dict[str, Any]) -> None:
    for name, entry in golden["sets"].items():
        start = Position.start(golden_ruleset(entry["rules"]))
        for depth, count in enumerate(entry["perft"], start=1):
            if count <= 2000:
                assert start.perft(depth) == count, name
        for game in entry["games"]:
            position = start
            for column in game["moves"]:
                position = position.play(column)
            assert list(position.captured) == game["captured"]
            assert position.end_reason == game["end"]
            record = ed.GameRecord.of_moves(start, game["moves"])
            assert record.replay() == position


def test_worked_example_of_the_rules() -> None:
    sowing = START.sow(0)
    assert (sowing.laps, sowing.seeds_sown, sowing.last, sowing.captured, sowing.end) == (
        5,
        26,
        2,
        2,
        "captured",
    )
    after = START.play(0)
    assert after.board.tolist() == [[2, 7, 0, 6, 1, 6], [6, 6, 0, 0, 6, 6]]
    assert after.board.dtype == np.int16
    assert (after.to_move, after.captured, after.quiet) == ("north", (2, 0), 0)
    assert after.to_text() == "2,7,0,6,1,6/6,6,0,0,6,6 N 2-0 0"
    assert after.observation().tolist() == [6, 6, 0, 0, 6, 6, 2, 7, 0, 6, 1, 6, 0, 2, 0]
    assert after.observation().dtype == np.int16


def test_the_trace_drops_every_seed_and_ends_where_the_sowing_does() -> None:
    sowing = START.sow(4)
    trace = sowing.trace()
    assert trace[:3] == [(1, 4, 0), (1, 5, 5), (1, 6, 5)]
    assert sum(seeds > 0 for _, _, seeds in trace) == sowing.seeds_sown == 26
    assert trace[-1] == (sowing.laps, sowing.last, 1)
    assert trace[: len(sowing.trace(1))] == sowing.trace(1)


def test_an_endless_sowing_can_be_looked_at_but_not_played_s6() -> None:
    # 2 1 0 2 / 1 0 1 2, North to move: column 3 never ends.
    position = Position.from_text("2,1,0,2/1,0,1,2 N 15-8 0", Ruleset(columns=4))
    sowing = position.sow(3)
    assert (sowing.end, sowing.last, sowing.captured, sowing.laps) == ("endless", None, 0, 10_000)
    assert max(lap for lap, _, _ in sowing.trace()) == 100
    with pytest.raises(ed.MoveError, match="endless sowing") as info:
        position.play(3)
    assert (info.value.reason, info.value.column, info.value.legal) == ("endless", 3, (0, 2))
    assert 3 not in position.legal_moves()


def test_an_end_by_s6_is_kept_by_pickles() -> None:
    rules = Ruleset(columns=4, endless="draw")
    position = Position.from_text("2,1,0,2/1,0,1,2 N 15-8 0", rules).play(3)
    assert (position.is_over, position.outcome, position.end_reason) == (True, "draw", "endless")
    assert position.to_text() == "2,1,0,2/1,0,1,2 N 15-8 0"
    for other in (pickle.loads(pickle.dumps(position)), copy.deepcopy(position)):
        assert other == position
        assert other.end_reason == "endless"
    assert eval(repr(position)) == position  # noqa: S307
    assert Position.from_text(position.to_text(), rules) != position


def test_a_stuck_position_is_settled_when_it_is_entered_e1() -> None:
    position = Position.from_text("2,0/2,1 S 0-0 0", Ruleset(columns=2))
    assert (position.is_over, position.end_reason, position.outcome) == (True, "stuck", "north")
    assert position.captured == (0, 5)
    assert not position.board.any()
    with pytest.raises(ed.MoveError, match="the game is over") as info:
        position.play(0)
    assert info.value.reason == "over"


def test_positions_are_values() -> None:
    other = Position.from_text(START.to_text(), SIX)
    assert other == START
    assert hash(other) == hash(START)
    assert other != START.play(0)
    assert other != Position.start(Ruleset(columns=6, quiet_limit=5))
    assert pickle.loads(pickle.dumps(START)) == START
    assert eval(repr(START.play(0))) == START.play(0)  # noqa: S307
    board = START.board
    board[:] = 0
    assert START.board.sum() == 48
    assert pickle.loads(pickle.dumps(START.sow(0))) == START.sow(0)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda row: np.array(row, np.uint8)])
def test_a_board_is_read_from_any_sequence(kind: Any) -> None:
    position = Position.from_board(
        kind([2, 7, 0, 6, 1, 6]),
        kind([6, 6, 0, 0, 6, 6]),
        to_move="north",
        captured=(2, 0),
        quiet=0,
        ruleset=SIX,
    )
    assert position == START.play(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"south": [4] * 5}, "the row of south has 5 pits, expected 6"),
        ({"north": [4, 4, 4, 4, 4, -1]}, "column 5 of north holds -1 seeds, expected 0 to 32767"),
        ({"captured": (0, 40_000)}, "captured by north is 40000, expected 0 to 32767"),
        ({"captured": (32_767, 0)}, "captured are 32815, expected at most 32767"),
        ({"quiet": 241}, "quiet is 241, expected 0 to 240"),
        ({"to_move": "east"}, 'to_move is "east", expected "south" or "north"'),
    ],
)
def test_a_board_that_is_none_is_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"south": [4] * 6, "north": [4] * 6, "ruleset": SIX, **change}
    with pytest.raises(ed.SetupError, match=message):
        Position.from_board(**arguments)


@pytest.mark.parametrize(
    "change", [{"south": [4.0] * 6}, {"north": "444444"}, {"captured": (0, True)}, {"captured": 3}]
)
def test_a_board_of_wrong_types_is_refused(change: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"south": [4] * 6, "north": [4] * 6, "ruleset": SIX, **change}
    with pytest.raises(ed.ArgumentTypeError, match=next(iter(change))):
        Position.from_board(**arguments)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4,4",
        "4,4/4,4 S 0-0",
        "4,4/4,4 E 0-0 0",
        "4,x/4,4 S 0-0 0",
        "4,4/4,4 S 0 0",
        "4,4/4 S 0-0 0",
        "\ud800",
    ],
)
def test_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ed.NotationError):
        Position.from_text(text, Ruleset(columns=2))


@pytest.mark.parametrize("column", [-1, 6, 10**20])
def test_a_column_that_does_not_exist_is_refused(column: int) -> None:
    with pytest.raises(ValueError, match=f"column is {column}"):
        START.play(column)


def test_an_empty_pit_is_refused_with_the_legal_columns() -> None:
    with pytest.raises(ed.MoveError, match=r"column 2 of north is empty") as info:
        START.play(0).play(2)
    assert info.value.legal == (0, 1, 4, 5)
    assert (info.value.reason, info.value.side) == ("empty", "north")


def test_perft_lets_other_threads_run() -> None:
    counted = threading.Event()

    def count() -> None:
        START.perft(9)
        counted.set()

    thread = threading.Thread(target=count)
    thread.start()
    turns = 0
    while not counted.is_set():
        turns += 1
        time.sleep(0)
    thread.join()
    assert turns > 10


def test_perft_stops_at_ctrl_c() -> None:
    program = "import endodoi as ed; print('ready', flush=True);"
    program += "ed.Position.start(ed.Ruleset()).perft(60)"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert err.rstrip().endswith(b"KeyboardInterrupt")


def test_the_picture_is_well_formed_and_shows_every_pit() -> None:
    picture = START.play(0)._repr_svg_()
    root = ET.fromstring(picture)  # noqa: S314
    texts = [element.text for element in root.iter() if element.text]
    assert picture.count("<circle") == 48
    numbers = [text for text in texts if text.isdigit()]
    labels = [str(column) for column in range(6)]
    pits = [str(seeds) for row in START.play(0).board for seeds in row]
    assert sorted(numbers) == sorted([*labels, *labels, *pits, "2", "0"])
    assert "North to move" in texts
    assert "North" in str(START)


def test_swapping_sides_changes_neither_view_nor_moves_b4() -> None:
    position = START.play(0).play(1).play(3)
    rows = position.board
    swapped = Position.from_board(
        rows[1],
        rows[0],
        to_move="south" if position.to_move == "north" else "north",
        captured=position.captured[::-1],
        quiet=position.quiet,
        ruleset=SIX,
    )
    assert (swapped.observation() == position.observation()).all()
    assert swapped.legal_moves() == position.legal_moves()
