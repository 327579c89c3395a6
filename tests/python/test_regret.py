"""arena.regret, arena.Exam and the command."""

from __future__ import annotations

import json
import pickle
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi.cli import main

if TYPE_CHECKING:
    import numpy.typing as npt

THREE = ed.Ruleset(columns=3)


@pytest.fixture(scope="module")
def exam() -> ed.arena.Exam:
    return ed.arena.Exam(ruleset=THREE, positions=120, seed=3)


def lowest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def test_regret_of_perfect_is_0_and_of_random_is_not(exam: ed.arena.Exam) -> None:
    perfect = exam.regret("perfect")
    assert (perfect.all.positions, perfect.reference) == (120, "perfect")
    for part in (perfect.all, perfect.opening, perfect.middle, perfect.endgame):
        assert part.optimal.share == 1.0
        assert part.outcome_changing.share == 0.0
        assert part.seeds_lost.mean == 0.0
    random = exam.regret("random")
    assert random.all.optimal.high < 1.0
    assert random.all.seeds_lost.mean > 0.5
    assert 0 < random.all.outcome_changing.low < random.all.outcome_changing.share


def test_regret_agrees_with_the_solver(exam: ed.arena.Exam) -> None:
    solver = ed.Solver(THREE)
    regret = exam.regret("greedy")
    greedy = ed.policies.Greedy(ruleset=THREE)
    for answer, position in zip(regret.answers, exam.positions, strict=True):
        analysis = solver.analyse(position)
        values = {move.column: move.lower for move in analysis}
        mask = np.array([column in values for column in range(3)], dtype=np.int8)
        assert answer.position == position.to_text()
        assert answer.column == greedy(position.observation(), mask)
        assert answer.best_moves == analysis.best_moves
        best = max(values.values())
        assert answer.lost == best - values[answer.column]
        south, north = position.captured
        lead = south - north if position.to_move == "south" else north - south
        changed = np.sign(lead + best) != np.sign(lead + values[answer.column])
        assert answer.changes_outcome == changed
    lost = [answer.lost for answer in regret.answers]
    assert regret.all.seeds_lost.mean == pytest.approx(np.mean(lost))
    assert regret.all.optimal.count == lost.count(0)
    assert [answer.lost for answer in regret.worst(3)] == sorted(lost, reverse=True)[:3]


def test_a_function_is_a_player(exam: ed.arena.Exam) -> None:
    regret = exam.regret(lowest)
    assert regret.player == "lowest"
    firsts = [position.legal_moves()[0] for position in exam.positions]
    assert [answer.column for answer in regret.answers] == firsts


def test_what_a_function_raises_is_raised(exam: ed.arena.Exam) -> None:
    def broken(_views: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exam.regret(broken)

    def failing(_views: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        raise RuntimeError("tired")

    with pytest.raises(ed.PolicyError, match="tired"):
        exam.regret(failing)

    def outside(_views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.full(len(masks), 3)

    with pytest.raises(ed.RegretError) as info:
        exam.regret(outside)
    assert (info.value.player, info.value.value) == ("outside", 3)


def test_seed_and_threads(exam: ed.arena.Exam) -> None:
    again = ed.arena.regret("random", ruleset=THREE, positions=120, seed=3, num_threads=1)
    assert again == exam.regret("random")
    assert pickle.loads(pickle.dumps(again)) == again
    other = ed.arena.Exam(ruleset=THREE, positions=120, seed=4)
    assert other.positions != exam.positions


def test_numbers_for_json_and_for_people(exam: ed.arena.Exam) -> None:
    regret = exam.regret("greedy")
    numbers = json.loads(json.dumps(regret.to_dict()))
    assert numbers["settings"] == {"ruleset": THREE.to_dict(), "positions": 120, "seed": 3}
    assert numbers["player"] == "greedy"
    assert numbers["all"]["optimal"]["share"] == regret.all.optimal.share
    assert set(numbers) >= {"opening", "middle", "endgame", "reference"}
    lines = str(regret).splitlines()
    assert len(lines) == 5
    assert [line.split()[0] for line in lines[1:]] == ["greedy", "opening", "middle", "endgame"]


def test_a_reference_may_be_a_search() -> None:
    rules = ed.Ruleset(columns=8)
    regret = ed.arena.regret(
        "alphabeta:3", ruleset=rules, positions=30, reference="alphabeta:3", progress=False
    )
    assert regret.reference == "alphabeta:3"
    assert regret.all.optimal.share == 1.0
    default = ed.arena.Exam(ruleset=ed.Ruleset(columns=20), positions=3)
    assert default.reference == "alphabeta:4"


def test_positions_that_are_not_solved_in_time_are_left_to_a_search() -> None:
    exam = ed.arena.Exam(
        ruleset=ed.Ruleset(columns=6),
        positions=5,
        seed=1,
        seconds=0.001,
        table=ed.tables.build(ed.Ruleset(columns=6), 3),
    )
    assert re.fullmatch(
        r"perfect, alphabeta:12 where it took too long \([1-5] of 5\)", exam.reference
    )


def test_errors_by_field() -> None:
    def refused(**arguments: Any) -> ed.EndodoiError:
        with pytest.raises(ed.EndodoiError) as info:
            ed.arena.regret("greedy", **{"ruleset": THREE, "positions": 5, **arguments})
        return info.value

    for field, value in (("positions", 0), ("positions", -1), ("seconds", 0.0)):
        error = refused(**{field: value})
        assert isinstance(error, ed.RegretError)
        assert (error.field, error.value) == (field, value)
    assert refused(reference="best").field == "reference"  # type: ignore[attr-defined]
    assert refused(ruleset="en-dodoi").field == "ruleset"  # type: ignore[attr-defined]
    assert refused(seed=-1).field == "seed"  # type: ignore[attr-defined]
    assert refused(num_threads=0).field == "num_threads"  # type: ignore[attr-defined]
    assert isinstance(refused(table=ed.tables.build(ed.Ruleset(columns=2), 2)), ed.SolveError)
    few = refused(ruleset=ed.Ruleset(columns=1, seeds_per_pit=1), positions=10)
    assert isinstance(few, ed.RegretError)
    with pytest.raises(ed.PolicyError):
        ed.arena.regret("nobody", ruleset=THREE, positions=5)


def test_progress_is_told() -> None:
    told: list[int] = []
    ed.arena.Exam(ruleset=THREE, positions=50, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 50


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["regret", "--columns", "3", "--positions", "40", "--seed", "2"]
    assert main([*arguments, "--player", "random", "alphabeta:12", "perfect"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "40 positions, moves measured by perfect"
    assert len(lines) == 14
    assert len({line.index("%") for line in lines[2:] if "100.0 %" in line.split("(")[0]}) == 1
    assert main([*arguments, "--player", "greedy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    regret = ed.arena.regret("greedy", ruleset=THREE, positions=40, seed=2)
    assert found == [regret.to_dict()]
    assert main([*arguments, "--player", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
