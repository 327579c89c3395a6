"""Endgame studies: proven again from nothing, told in words, their command and their page."""

from __future__ import annotations

import doctest
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import endodoi as ed
import find_studies
import study_page
from endodoi import studies
from endodoi.cli import main
from endodoi.study_text import board_text, move_text, replay_text

if TYPE_CHECKING:
    from pathlib import Path

ALL = studies.load_all()
SIX = ed.Ruleset(columns=6)


def lone(text: str) -> ed.Position:
    """Return a position of En Gehé from the columns with seeds: "S 24,48 | N 2x3"."""
    rows = []
    for part in text.split(" | "):
        row = [0] * 50
        for entry in part.split(" ")[1].split(","):
            column, _, seeds = entry.partition("x")
            row[int(column)] = int(seeds or 1)
        rows.append(row)
    captured = (400 - sum(map(sum, rows))) // 2
    return ed.Position.from_board(
        *rows, captured=(captured, captured), ruleset=ed.Ruleset("en-gehe")
    )


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.title)
def test_a_study_is_proven_again_from_nothing(study: studies.Study) -> None:
    proof = study.prove()
    assert proof.holds, proof.faults
    assert proof.nodes > 0


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.title)
def test_a_study_keeps_what_the_page_promises(study: studies.Study) -> None:
    position = study.position
    assert study.ruleset == ed.Ruleset("en-gehe")
    assert position.to_move == study.outcome == "south"
    assert position.board.sum() + sum(position.captured) == 400
    south, north = study.tempi
    assert south < north
    assert position.sow(study.key).captured == 0
    *_, end = study.positions()
    assert end.outcome == "south"
    assert end.captured[0] - end.captured[1] == study.margin
    assert study.only[0] == 0
    assert {one.column for one in study.tries} == {*position.legal_moves()} - {study.key}
    assert set(study.comments) <= {*range(len(study.solution) + 1)}


def test_the_collection_has_variety() -> None:
    assert 6 <= len(ALL) <= 20
    assert len({study.text for study in ALL}) == len({*studies.names()}) == len(ALL)
    behind = [north - south for south, north in (study.tempi for study in ALL)]
    assert max(behind) > 110
    sacrifices = [study for study in ALL if "sacrifice" in study.theme]
    assert any(north - south > 110 for south, north in (one.tempi for one in sacrifices))
    for study in sacrifices:
        pairs = zip(study.positions(), study.solution, strict=False)
        assert sum(p.sow(c).captured for p, c in pairs if p.to_move == "north") >= 2


def test_tempi_are_the_steps_to_the_other_row() -> None:
    position = ed.Position.from_text("0,0,0,0,2,1/1,0,0,0,0,0 S 0-0 0", SIX)
    assert studies.tempi(position) == (2 * 2 + 1, 6)
    assert studies.tempi(ed.Position.start(SIX)) == (4 * 21, 4 * 21)


def test_a_single_step_along_the_own_row_takes_one_tempo_of_the_mover() -> None:
    steps = 0
    for study in ALL:
        for position, column in zip(study.positions(), study.solution, strict=False):
            sowing, after = position.sow(column), position.play(column)
            if sowing.seeds_sown > 1 or sowing.end != "empty" or after.is_over:
                continue
            mover = int(position.to_move == "north")
            before, left = studies.tempi(position), studies.tempi(after)
            assert left[mover] == before[mover] - 1
            assert left[1 - mover] == before[1 - mover]
            steps += 1
    assert steps > 100


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"value": 100}, "the value is"),
        ({"solution": (49, *ALL[0].solution[1:])}, "the winning moves are"),
        ({"solution": ALL[0].solution[:-1]}, "does not end the game"),
        ({"only": ()}, "the only moves are"),
        ({"tries": (replace(ALL[0].tries[0], value=99),)}, "try"),
        ({"text": ALL[0].text.replace(" S ", " N ")}, "the"),
    ],
)
def test_a_study_that_says_something_wrong_does_not_hold(
    change: dict[str, object], fault: str
) -> None:
    proof = replace(ALL[0], **change).prove()  # type: ignore[arg-type]
    assert not proof.holds
    assert any(fault in one for one in proof.faults), proof.faults


def test_a_worse_reply_in_a_line_is_a_fault() -> None:
    for study in ALL:
        for one in study.tries:
            position = study.position.play(one.column)
            worse = [
                move.column
                for move in ed.analyse(position, num_threads=1)
                if move.value is not None and move.value < -one.value
            ]
            if worse:
                wrong = replace(one, refutation=(worse[0],))
                proof = replace(study, tries=(wrong,)).prove()
                assert proof.faults == (f"try {one.column}: {worse[0]} at ply 1 is no best move",)
                return
    pytest.fail("no try leaves a worse reply")


def test_studies_are_named_and_numbered() -> None:
    assert studies.names() == tuple(study.title for study in ALL)
    assert [study.number for study in ALL] == [*range(1, len(ALL) + 1)]
    assert studies.load(2) is studies.load(ALL[1].title) is ALL[1]


@pytest.mark.parametrize("number", [0, -1, len(ALL) + 1])
def test_an_unknown_number_names_the_range(number: int) -> None:
    with pytest.raises(ed.ArgumentValueError, match=f"is {number}, expected 1 to {len(ALL)}"):
        studies.load(number)


def test_an_unknown_title_or_type_is_refused() -> None:
    with pytest.raises(ed.ArgumentValueError, match="'none such', expected a title"):
        studies.load("none such")
    for wrong in (1.0, True, None):
        with pytest.raises(ed.ArgumentTypeError, match="expected a number or a title"):
            studies.load(wrong)  # type: ignore[arg-type]


def test_a_board_shows_opposite_pits_above_each_other() -> None:
    lines = board_text(lone("S 0,24,49x2 | N 49,2x3")).split("\n")
    rows = [line[7:57] for line in lines[1:3]]
    assert (rows[0][0], rows[0][47], rows[1][0], rows[1][24], rows[1][49]) == tuple("13112")
    for row, columns in ((lines[0], {49: 0, 40: 9, 0: 49}), (lines[3], {0: 0, 40: 40, 49: 49})):
        assert all(row[7 + place :].startswith(str(c)) for c, place in columns.items())
    assert max(map(len, lines)) <= 80


def test_a_board_with_many_seeds_in_a_pit_has_wider_pits() -> None:
    lines = board_text(lone("S 3x12 | N 49")).split("\n")
    assert lines[1].startswith("        1 . .")
    assert lines[2].startswith("        . . .12 .")
    assert lines[3].startswith("South  0                   10")


def test_moves_are_told_in_words() -> None:
    start = ed.Position.start(SIX)
    assert move_text(start, 0) == "5 laps with 26 seeds, the last to 2, captures 2"
    assert move_text(start, 4) == "5 laps with 26 seeds, the last to North's 0"
    single = ed.Position.from_text("0,1,0,0,0,3/0,0,0,0,0,0 S 0-0 0", SIX)
    assert move_text(single, 1) == "one seed to 2"
    assert move_text(single, 5) == "3 seeds to North's 2"


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.title)
def test_a_replay_tells_every_move_in_80_columns(study: studies.Study) -> None:
    *told, text = replay_text(study).split("\n")
    assert text == f"The position: {study.text}"
    assert max(map(len, told)) <= 80
    words = " ".join(" ".join(told).split())
    for ply, column in enumerate(study.solution):
        side = ("South", "North")[ply % 2]
        mark = "!" if ply in study.only else ""
        assert f"{side} {column}{mark}" in words
    for one in study.tries:
        assert f" {one.column} loses by" in words or f" {one.column} draws" in words


def test_the_command_lists_the_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studies"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert "tempi" in head
    assert len(lines) == len(ALL)
    for study, line in zip(ALL, lines, strict=True):
        south, north = study.tempi
        assert line.split()[0] == str(study.number)
        assert study.title in line
        assert f" {south - north} " in line


def test_the_command_replays_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studies", "2"]) == 0
    assert capsys.readouterr().out == f"{replay_text(ALL[1])}\n"
    assert main(["studies", "2", "--moves"]) == 0
    assert capsys.readouterr().out == " ".join(map(str, ALL[1].solution)) + "\n"


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studies", "1", "--json", "--solve"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("proof")["holds"] is True
    assert told == ALL[0].to_dict()
    assert main(["studies", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [study.to_dict() for study in ALL]


def test_the_command_proves_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studies", "1", "--solve"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(replay_text(ALL[0]))
    assert "proven, " in text.splitlines()[-1]


def test_the_command_says_what_is_not_proven(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "load_all", lambda: (replace(ALL[0], value=100),))
    assert main(["studies", "--solve"]) == 1
    assert "not proven" in capsys.readouterr().out


def test_the_command_refuses_an_unknown_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["studies", "99"]) == 2
    assert f"study is 99, expected 1 to {len(ALL)}" in capsys.readouterr().err


def test_the_page_is_what_the_script_writes() -> None:
    assert study_page.PAGE.read_text(encoding="utf-8") == study_page.page()


def test_the_examples_of_the_page_and_of_the_module_run() -> None:
    result = doctest.testfile(str(study_page.PAGE), module_relative=False)
    assert result.attempted
    assert result.failed == 0
    result = doctest.testmod(studies)
    assert result.attempted
    assert result.failed == 0


def test_what_the_script_proves_it_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "studies.json"
    entries = json.loads(study_page.DATA.read_text(encoding="utf-8"))[:1]
    data.write_text(json.dumps([{**entries[0], "nodes": 0}]), encoding="utf-8")
    monkeypatch.setattr(study_page, "DATA", data)
    study_page.prove()
    assert json.loads(data.read_text(encoding="utf-8"))[0]["nodes"] == entries[0]["nodes"]
    data.write_text(json.dumps([{**entries[0], "value": 1}]), encoding="utf-8")
    with pytest.raises(ValueError, match="the value is"):
        study_page.prove()


def test_a_found_position_is_composed_as_it_stands_in_the_file() -> None:
    entries = json.loads(study_page.DATA.read_text(encoding="utf-8"))
    composed = find_studies.Composer().entry(ALL[0].position)
    for name in ("position", "value", "solution", "only"):
        assert composed[name] == entries[0][name]


def test_the_search_writes_studies_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = find_studies.Search("tempo", seed=1, seeds=(4, 6), pile=1)
    rows = ALL[0].position.board.tolist()
    judged = search.judge(rows)
    assert judged is not None
    assert judged[1] == ALL[0].text
    # North moves first or a pit holds too much: no study.
    assert search.judge([rows[1], rows[0]]) is None
    assert search.judge([[0] * 48 + [2, 0], rows[1]]) is None
    monkeypatch.setattr(search, "start", lambda: rows)
    search.run(0.02, tmp_path / "found.jsonl")
    lines = (tmp_path / "found.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["position"] == ALL[0].text
    for line in lines[1:]:
        position = ed.Position.from_text(json.loads(line)["position"], ed.Ruleset("en-gehe"))
        solution = ed.solve(position, num_threads=1)
        assert solution.lower > 0
        assert len(solution.best_moves) == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_change_moves_adds_or_removes_few_seeds(seed: int) -> None:
    search = find_studies.Search("sacrifice", seed=seed, seeds=(6, 8), pile=2)
    rows = search.start()
    assert 6 <= sum(map(sum, rows)) <= 8
    for _ in range(50):
        changed = search.change(rows)
        assert abs(sum(map(sum, changed)) - sum(map(sum, rows))) <= 3
        assert min(map(min, changed)) >= 0
        assert (
            sum(
                abs(a - b)
                for r, c in zip(rows, changed, strict=True)
                for a, b in zip(r, c, strict=True)
            )
            <= 6
        )
