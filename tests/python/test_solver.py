"""solve, analyse, Solver and their commands; the player ``perfect``."""

from __future__ import annotations

import itertools
import json
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi.cli import main
from endodoi.solver import SolveProgress, progress_text
from endodoi.solver_commands import outcome_text

if TYPE_CHECKING:
    from endodoi import Position, Ruleset

FOUR = ed.Ruleset(columns=4)
SIX = ed.Ruleset(columns=6)
START = ed.Position.start(FOUR)
#: Too long for any test.
LONG = ed.Position.start(ed.Ruleset(columns=8, seeds_per_pit=6))
EXAM = Path(__file__).parents[1] / "data" / "exam-2x6.jsonl"


def start(variant: str = "en-dodoi", **fields: Any) -> Position:
    return ed.Position.start(ed.Ruleset(variant, **fields))


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (start(columns=2, seeds_per_pit=1), 4),
        (start(columns=3, seeds_per_pit=2), -2),
        (start(columns=3, seeds_per_pit=4, lone_capture="taken"), -8),
        (start(columns=4), 8),
        (start("cross-endodoi", columns=3, seeds_per_pit=3), 9),
        (start("cross-endodoi", columns=4, seeds_per_pit=2), -2),
    ],
)
def test_known_exact_values(position: Position, value: int) -> None:
    solution = ed.solve(position, num_threads=1)
    assert (solution.value, solution.lower, solution.upper) == (value, value, value)
    assert solution.exact
    assert solution.seconds > 0


def test_solve_and_analyse_agree_with_each_other_and_with_the_exam() -> None:
    solver = ed.Solver(SIX, num_threads=1)
    for line in EXAM.read_text(encoding="utf-8").splitlines()[:12]:
        asked = json.loads(line)
        board, diff = asked["board"], asked["diff"]
        captured = (max(diff, 0), max(-diff, 0))
        position = ed.Position.from_board(board[:6], board[6:], captured=captured, ruleset=SIX)
        analysis = solver.analyse(position)
        assert [move.column for move in analysis] == asked["moves"]
        assert [move.value for move in analysis] == asked["values"]
        solution = solver.solve(position)
        assert solution.value == max(asked["values"]) == analysis.lower == analysis.upper
        assert solution.best_moves == analysis.best_moves
        assert solution.exact
        assert analysis.exact


def test_the_value_counts_what_is_still_to_come() -> None:
    taken = ed.Position.from_board(
        *START.board, captured=(10, 3), to_move="north", quiet=7, ruleset=FOUR
    )
    assert ed.solve(taken).value == ed.solve(START).value == 8


def test_the_value_of_a_game_that_is_over_is_0() -> None:
    over = ed.Position.from_board([0, 0], [1, 2], ruleset=ed.Ruleset(columns=2))
    assert over.is_over
    solution = ed.solve(over)
    assert (solution.value, solution.best_moves, solution.exact) == (0, (), True)
    analysis = ed.analyse(over)
    assert (len(analysis), analysis.lower, analysis.upper, analysis.exact) == (0, 0, 0, True)


def test_threads_memory_and_tables_change_nothing() -> None:
    alone = ed.solve(START, num_threads=1)
    table = ed.tables.build(FOUR, 8)
    assert ed.solve(START, num_threads=2, memory=1 << 20) == alone
    assert ed.solve(START, table=table) == alone
    assert ed.analyse(START, table=table) == ed.analyse(START, num_threads=2)


def test_a_table_may_be_a_file_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "four.edt"
    ed.tables.build(FOUR, 6, out=path)
    assert ed.solve(START, table=path).value == 8
    assert ed.solve(START, table=str(path)).value == 8
    with pytest.raises(ed.TableError) as info:
        ed.solve(start(columns=3), table=path)
    assert info.value.kind == "ruleset"
    with pytest.raises(ed.SolveError) as refused:
        ed.solve(start(columns=3), table=ed.tables.build(FOUR, 4))
    assert refused.value.field == "ruleset"
    with pytest.raises(ed.ArgumentTypeError) as wrong:
        ed.solve(START, table=7)  # type: ignore[arg-type]
    assert wrong.value.field == "table"


def test_solutions_are_values() -> None:
    solution = ed.solve(START)
    assert pickle.loads(pickle.dumps(solution)) == solution
    assert repr(solution).startswith("Solution(value=8, lower=8, upper=8, best_moves=(2,), exact=")
    assert json.loads(json.dumps(solution.to_dict()))["best_moves"] == [2]
    with pytest.raises(AttributeError):
        solution.value = 1  # type: ignore[misc]
    analysis = ed.analyse(START)
    assert pickle.loads(pickle.dumps(analysis)) == analysis
    assert analysis[2].value == 8
    assert json.loads(json.dumps(analysis.to_dict()))["moves"][2]["value"] == 8


def test_time_limits_give_bounds() -> None:
    solution = ed.solve(LONG, seconds=0.05)
    assert not solution.exact
    assert solution.value is None
    assert -96 <= solution.lower < solution.upper <= 96
    analysis = ed.analyse(LONG, seconds=0.05)
    assert [move.column for move in analysis] == list(range(8))
    assert not analysis.exact
    assert any(move.value is None for move in analysis)


def test_an_interrupt_has_the_bounds_attached() -> None:
    told: list[SolveProgress] = []

    def interrupt(now: SolveProgress) -> None:
        told.append(now)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as info:
        ed.solve(LONG, progress=interrupt)
    solution: ed.Solution = info.value.solution  # type: ignore[attr-defined]
    assert solution.lower < solution.upper
    with pytest.raises(KeyboardInterrupt) as info:
        ed.analyse(LONG, progress=interrupt)
    analysis: ed.Analysis = info.value.analysis  # type: ignore[attr-defined]
    assert len(analysis) == 8
    assert told[0].lower <= told[0].upper
    assert all(now.seconds >= 0 for now in told)


def test_a_stopped_solve_goes_on() -> None:
    solver = ed.Solver(SIX, num_threads=1)
    position = ed.Position.start(SIX).play(0)
    bounds = [solver.solve(position, seconds=0.2) for _ in range(3)]
    for earlier, later in itertools.pairwise(bounds):
        assert earlier.lower <= later.lower <= later.upper <= earlier.upper


def test_errors_by_field() -> None:
    def refused(**arguments: Any) -> ed.SolveError:
        with pytest.raises(ed.SolveError) as info:
            ed.solve(START, **arguments)
        return info.value

    assert (refused(seconds=0).field, refused(seconds=-1.5).value) == ("seconds", -1.5)
    assert (refused(num_threads=0).field, refused(num_threads=2000).value) == ("num_threads", 2000)
    assert (refused(memory=0).field, refused(memory=7).field) == ("memory", "memory")
    with pytest.raises(ed.SolveError, match="endless") as info:
        ed.solve(start(columns=3, endless="draw"))
    assert info.value.field == "endless"
    for arguments in ({"seconds": "1"}, {"seconds": True}, {"memory": 1.5}, {"progress": "tqdm"}):
        name = next(iter(arguments))
        with pytest.raises(ed.EndodoiError) as wrong_value:
            ed.solve(START, **arguments)
        assert vars(wrong_value.value)["field"] == name
    with pytest.raises(ed.ArgumentTypeError):
        ed.solve(START.to_text())  # type: ignore[arg-type]
    with pytest.raises(ed.SolveError) as other:
        ed.Solver(FOUR).solve(start(columns=3))
    assert other.value.field == "ruleset"


def test_progress_is_told_in_words() -> None:
    now = SolveProgress(-2, 10, 4, 12, 34_567, 8.2, 9, None)
    text = "value -2 to +10, is it +4 or more? 12 plies, 34,567 positions, 8 s"
    assert progress_text(now) == text
    building = now._replace(building=(5, 25, 100))
    assert progress_text(building).endswith("table at 5 seeds, 25% of 100 positions")


def test_outcomes_in_words() -> None:
    position = ed.Position.from_board(
        [1, 1], [1, 1], captured=(3, 1), ruleset=ed.Ruleset(columns=2)
    )
    assert outcome_text(position, 2, 2) == "south wins by 4"
    assert outcome_text(position, -2, -2) == "a draw"
    assert outcome_text(position, 0, 2) == "south wins by 2 to 4"
    assert outcome_text(position, -4, -3) == "north wins by 1 to 2"
    assert outcome_text(position, -3, 1) == "open: north wins by 1 to south wins by 3"
    north = ed.Position.from_board(
        [1, 1], [1, 1], captured=(3, 1), to_move="north", ruleset=ed.Ruleset(columns=2)
    )
    assert outcome_text(north, 4, 4) == "north wins by 2"


def test_the_command_solves(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--columns", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "4,4,4,4/4,4,4,4 S 0-0 0",
        "value       +8 for south",
        "best moves  2",
        "outcome     south wins by 8",
    ]
    arguments = ["--seeds-per-pit", "2", "--lone-capture", "taken", "--threads", "1", "--json"]
    assert main(["solve", "--columns", "4", *arguments, "--memory", "64M"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["value"], found["exact"]) == (4, True)
    assert found["ruleset"]["lone_capture"] == "taken"


def test_the_command_solves_a_position_with_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "three.edt"
    ed.tables.build(ed.Ruleset(columns=3), 5, out=path, progress=False)
    text = "4,4,4/4,4,4 S 0-0 0"
    assert main(["solve", "--position", text, "--table", str(path)]) == 0
    assert "value       +4 for south" in capsys.readouterr().out
    assert main(["solve", "--columns", "2", "--table", str(path)]) == 2
    assert str(path) in capsys.readouterr().err
    assert main(["solve", "--columns", "3", "--endless", "draw"]) == 2
    assert "endless" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["solve", "--memory", "much"])


def test_the_command_analyses(capsys: pytest.CaptureFixture[str]) -> None:
    position = START.play(2)
    assert main(["analyse", position.to_text()]) == 0
    text = capsys.readouterr().out
    analysis = ed.analyse(position)
    for move in analysis:
        mark = "*" if move.column in analysis.best_moves else " "
        assert f"{move.column:>5} {mark}" in text
        assert f"{move.value:+d}" in text
    assert "south wins by 8" in text
    assert main(["analyse", position.to_text(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["position"] == position.to_text()
    assert [move["value"] for move in found["moves"]] == [move.value for move in analysis]
    assert main(["analyse", "0,0/1,2 S 0-0 0"]) == 0
    assert "the game is over: north wins by 3" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["solve", "analyse"])
def test_an_interrupted_command_prints_the_bounds(command: str) -> None:
    arguments = [command, "--columns", "8", "--seeds-per-pit", "6", "--memory", "64M", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "endodoi", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The command is ready for it once its modules are loaded.
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted" in err
    found = json.loads(out)
    assert found["lower"] < found["upper"]
    assert not found["exact"]


def test_perfect_plays_a_best_move() -> None:
    player = ed.policies.from_spec("perfect", ruleset=FOUR)
    position = START
    while not position.is_over and position.quiet < 20:
        legal = position.legal_moves()
        mask = np.array([column in legal for column in range(4)], dtype=np.int8)
        column = int(player(position.observation(), mask))
        assert column == ed.solve(position).best_moves[0]
        position = position.play(column)
    assert position.outcome in ("south", None)


def test_perfect_plays_in_simulations_and_environments() -> None:
    table = ed.simulate(20, ruleset=FOUR, south="perfect", north="random", seed=1)
    assert (table.to_numpy()["winner"] == 1).all()
    again = ed.simulate(20, ruleset=FOUR, south="perfect", north="random", seed=1, num_threads=1)
    assert table == again
    env = ed.VectorEnv(2, FOUR, opponent="perfect", agent_side="north")
    observations, infos = env.reset(seed=1)
    policy = ed.policies.Random(seed=1)
    for _ in range(200):
        actions = policy(observations, infos["action_mask"])
        observations, rewards, ended, _, infos = env.step(actions)
        if ended.any():
            break
    assert ended.any()
    assert (rewards[ended] == -1).all()


def test_perfect_refuses_rules_it_cannot_solve() -> None:
    large = ed.Ruleset("en-gehe")
    draws = ed.Ruleset(columns=4, endless="draw")

    def refusal(act: Any) -> str:
        with pytest.raises(ed.PolicyError) as info:
            act()
        assert info.value.player == "perfect"
        return str(info.value)

    rules: list[Ruleset] = [large, draws]
    for ruleset in rules:
        messages = [
            refusal(lambda ruleset=ruleset: ed.simulate(2, ruleset=ruleset, south="perfect")),
            refusal(lambda ruleset=ruleset: ed.VectorEnv(2, ruleset, opponent="perfect")),
        ]
        assert all(message.startswith("player perfect cannot play") for message in messages)


def test_a_solver_goes_on_from_its_file(tmp_path: Path) -> None:
    ruleset = ed.Ruleset(columns=5)
    start = ed.Position.start(ruleset)
    first = ed.Solver(ruleset, num_threads=1)
    solution = first.solve(start)
    first.save(tmp_path / "proofs.edp")
    second = ed.Solver(ruleset, num_threads=1)
    second.load(tmp_path / "proofs.edp")
    again = second.solve(start)
    assert again == solution
    assert again.nodes < solution.nodes
    with pytest.raises(ed.SolveError, match="another ruleset"):
        ed.Solver(ed.Ruleset(columns=6)).load(tmp_path / "proofs.edp")
    (tmp_path / "cut.edp").write_bytes((tmp_path / "proofs.edp").read_bytes()[:-3])
    with pytest.raises(ed.SolveError, match=r"cut.edp.*cut short"):
        second.load(tmp_path / "cut.edp")
    assert second.solve(start) == solution


def test_the_command_resumes_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["solve", "--columns", "5", "--threads", "1", "--json"]
    command += ["--resume", str(tmp_path / "proofs.edp")]
    shown = []
    for _ in range(2):
        assert main(command) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[0]["value"] == shown[1]["value"]
    assert shown[1]["nodes"] < shown[0]["nodes"]
