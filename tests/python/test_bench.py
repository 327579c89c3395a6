"""The bench: what it prints and writes, and that a wrong answer stops it."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

import bench
import counts
from protocol import BenchError, Row, Worker, build_rows
from table import COLUMNS, TWIN, Line, compare, digits

if TYPE_CHECKING:
    from pathlib import Path

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not there")

SMALL = ["--seconds", "0.001", "--rounds", "1", "--boards", "2x6", "--batches", "1", "64"]

ROW = {"board", "by", "engine", "threads", "what", "draw", "batch", "unit"} | {
    "best",
    "median",
    "runs",
    "times_twin",
}


@pytest.fixture(scope="session")
def program() -> Path:
    return build_rows(release=False)


def run(program: Path, path: Path, *flags: str) -> int:
    return bench.main([*SMALL, "--program", str(program), "--json", str(path), *flags])


@needs_cargo
def test_the_table_and_its_json(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "bench.json"
    assert run(program, path, "--threads", "1", "--peers", "no") == 0
    printed = capsys.readouterr().out
    found: dict[str, Any] = json.loads(path.read_text())
    assert list(path.parent.iterdir()) == [path]
    assert found["schema"] == 1
    assert {"date", "version", "commit", "cpu", "cores", "threads", "peers"} <= set(found)
    rows = found["rows"]
    assert all(set(row) == ROW and len(row["runs"]) == 1 and row["best"] > 0 for row in rows)
    figures = {(row["by"], row["engine"], row["what"], row["draw"], row["batch"]) for row in rows}
    assert len(figures) == len(rows)
    for figure in (
        ("Rust", "twin", "games", "pits", None),
        ("Rust", "twin", "games", "mask", None),
        ("Rust", "twin", "steps", "mask", 64),
        ("Rust", "scalar", "steps", "mask", 1),
        ("Rust", "portable", "games", "pits", None),
        ("Python", "portable", "games", "pits", None),
        ("Python", "portable", "steps", "mask", 64),
    ):
        assert figure in figures
    twins = [row for row in rows if row["engine"] == "twin"]
    assert all(row["times_twin"] == 1 for row in twins)
    assert "2x6\n  Rust, twin" in printed
    assert "exact mask" in printed


@needs_cargo
def test_a_simulator_that_is_asked_for_must_be_there(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = Worker("peer", [sys.executable, str(bench.HERE / "peers.py"), "openspiel", "1"])
    about = worker.ask(do="about")
    worker.close()
    if "version" in about:
        pytest.skip("OpenSpiel is installed")
    path = tmp_path / "bench.json"
    assert run(program, path, "--rust-only", "--only", "games", "--peers", "yes") == 1
    assert "pip install 'endodoi[bench]'" in capsys.readouterr().err
    assert not path.exists()


@needs_cargo
def test_a_wrong_answer_stops_the_bench(
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = Worker.ask

    def lie(worker: Worker, **request: Any) -> dict[str, Any]:
        answer = ask(worker, **request)
        if request["do"] == "check" and request["row"]["engine"] == "portable":
            answer["answer"][-1] ^= 1
        return answer

    monkeypatch.setattr(Worker, "ask", lie)
    path = tmp_path / "bench.json"
    assert run(program, path, "--rust-only", "--peers", "no") == 1
    said = capsys.readouterr().err
    assert "Rust, portable gives another answer than Rust, twin" in said
    assert not path.exists()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_seconds_that_nobody_can_measure_are_refused(
    seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        bench.read_options([f"--seconds={seconds}"])
    assert "must be above 0" in capsys.readouterr().err


def test_a_board_named_twice_is_measured_once() -> None:
    options = bench.read_options(["--boards", "2x8", "2x6", "2x8", "--batches", "64", "1", "64"])
    assert (options.boards, options.batches) == (["2x8", "2x6"], [1, 64])


@needs_cargo
def test_a_file_that_cannot_be_written_stops_the_bench_before_it_begins(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "bench.json"):
        assert run(program, path, "--peers", "no") == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("error: ")


def test_answers_are_held_against_the_first_one() -> None:
    other = Line("Rust", "avx2", 1)
    compare("2x6", COLUMNS[0], [(TWIN, [1, 2]), (other, [1, 2])])
    for wrong in ([1, 3], [1], [1, 2, 3], []):
        with pytest.raises(BenchError, match="avx2 gives another answer"):
            compare("2x6", COLUMNS[0], [(TWIN, [1, 2]), (other, wrong)])


def test_a_worker_that_ends_is_named() -> None:
    worker = Worker("the worker", [sys.executable, "-c", "pass"])
    with pytest.raises(BenchError, match="the worker ended"):
        worker.ask(do="sets")
    worker.close()


def test_three_digits() -> None:
    assert [digits(value) for value in (0.0123, 0.5678, 9.876, 10, 123.4, 1234.5)] == [
        "0.01",
        "0.57",
        "9.88",
        "10.0",
        "123",
        "1234",
    ]
    assert digits(0.0123, small=3) == "0.012"


@needs_cargo
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not there")
def test_instructions_are_counted(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "GAMES", {6: 8})
    count = counts.Count(program)
    row = Row(
        what="games",
        variant="en-dodoi",
        columns=6,
        engine="twin",
        threads=1,
        draw="pits",
        batch=0,
    )
    games = count.games(row)
    steps = count.steps({**row, "what": "steps", "draw": "mask", "batch": 8})
    # A mask sows several moves, and a sowing has several laps.
    assert steps["ply"] > games["ply"] > games["lap"] > 10


def test_without_valgrind_nothing_is_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert counts.main([]) == 0
    assert "valgrind was not found" in capsys.readouterr().out
