"""The command."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

METRICS = [
    {
        "seconds": 2.0 * step,
        "games": 10 * step,
        "positions": 1000 * step,
        "positions_per_second": 500.0,
        "policy_loss": 1.5 / step,
        "value_loss": 1.0 / step,
        "margin_loss": None if step == 1 else 0.5 / step,
        **(
            {"scores": {"seconds": 2.0 * step, "games": 10, "score": {"greedy": 0.1 * step}}}
            if step % 3 == 0
            else {}
        ),
    }
    for step in range(1, 9)
]
RESULTS = {"results": [{"opponent": "greedy", "games": 40, "score": 0.6, "low": 0.5, "high": 0.7}]}


def test_simulate_prints_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "--columns", "6", "--games", "300", "--seed", "1"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    summary = ed.simulate(300, ruleset=ed.Ruleset(columns=6), seed=1).summary()
    assert text == f"{summary}\n"
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == summary.to_dict()


def test_simulate_takes_players_rules_and_caps(capsys: pytest.CaptureFixture[str]) -> None:
    rule_options = ["--variant", "cross-endodoi", "--seeds-per-pit", "4"]
    players = ["--south", "greedy", "--north", "alphabeta:2"]
    limits = ["--games", "20", "--threads", "1", "--max-plies", "30"]
    arguments = ["simulate", *rule_options, *players, *limits, "--json"]
    assert main(arguments) == 0
    numbers = json.loads(capsys.readouterr().out)
    rules = ed.Ruleset("cross-endodoi", seeds_per_pit=4)
    table = ed.simulate(20, ruleset=rules, south="greedy", north="alphabeta:2", max_plies=30)
    assert numbers == table.summary().to_dict()


def test_simulate_writes_a_file_and_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("matplotlib")
    out, picture = tmp_path / "games.parquet", tmp_path / "games.svg"
    arguments = ["simulate", "--columns", "6", "--games", "300", "--first", "40", "--offers"]
    assert main([*arguments, "--out", str(out), "--plot", str(picture)]) == 0
    table = ed.simulate(300, ruleset=ed.Ruleset(columns=6), first=40, offers=True)
    assert capsys.readouterr().out == f"{table.summary()}\n"
    plies = parquet.read_table(out)["plies"].to_numpy()
    assert (plies == table.to_numpy()["plies"]).all()
    assert b"<svg" in picture.read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [out.name, picture.name]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--out", "nowhere/games.parquet"], 1, "there is no such folder; make it first"),
        (["--plot", "nowhere/games.png"], 1, "there is no such folder; make it first"),
        (["--plot", "games.txt"], 2, "--plot is 'games.txt', expected a name that ends in .png"),
        (["--out", "."], 1, "this is a folder; name a file"),
        (["--out", "games.png", "--plot", "./games.png"], 2, "the file of --out too"),
    ],
)
def test_places_are_refused_before_the_games(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--games", str(10**11), *arguments]) == status
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_games(
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Modes bind everybody but the superuser.
    monkeypatch.setattr(os, "access", lambda folder, _mode: folder != str(tmp_path))
    assert main(["simulate", "--games", str(10**11), option, str(tmp_path / "games.png")]) == 1
    assert "the folder cannot be written to" in capsys.readouterr().err


def run_command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "endodoi", *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, **options)


def test_an_output_without_the_sign_of_intervals_gets_a_plain_one() -> None:
    ascii_ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run_command("simulate", "--games", "9", "--columns", "6", env=ascii_)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b" +- " in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="outputs are closed by a shell")
def test_a_closed_output_is_no_failure() -> None:
    command = f"{shlex.quote(sys.executable)} -m endodoi simulate --games 9 --columns 6 >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_interrupted_simulation_sums_up_the_games_finished() -> None:
    program = (
        "import sys; from endodoi.cli import main; print('ready', flush=True);"
        "sys.exit(main(['simulate', '--games', str(10**11), '--json']))"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.fullmatch(r"endodoi: interrupted after \d+ games\n", err)
    assert json.loads(out)["games"] > 0


def test_show_and_perft(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--columns", "6", "--play", "0"]) == 0
    position = ed.Position.start(ed.Ruleset(columns=6)).play(0)
    assert capsys.readouterr().out == f"{position}\n{position.to_text()}\n"
    assert main(["show", "--columns", "6", position.to_text()]) == 0
    assert capsys.readouterr().out == f"{position}\n{position.to_text()}\n"
    # A text tells its own number of columns.
    assert main(["show", position.to_text()]) == 0
    assert capsys.readouterr().out == f"{position}\n{position.to_text()}\n"
    assert main(["perft", "--columns", "6", "3"]) == 0
    assert [int(line.split()[1]) for line in capsys.readouterr().out.splitlines()] == [6, 28, 129]


def test_version_names_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert f"endodoi   {ed.__version__}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--columns", "65"], "columns is 65, expected 1 to 64"),
        (["simulate", "--games", "-1"], "games is -1"),
        (["simulate", "--south", "foo"], 'player is "foo"'),
        (["simulate", "--direction", "up"], 'direction is "up", expected one of'),
        (["perft", "0"], "depth is 0, expected 1 or more"),
        (["show", "4,4"], "the text has 1 fields"),
        (["show", "--columns", "6", "--play", "0", "2"], "column 2 of north is empty"),
    ],
)
def test_refusals_are_one_line_on_the_error_output(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_the_direction_is_a_rule_like_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perft", "--columns", "6", "--direction", "parity", "2"]) == 0
    rules = ed.Ruleset(columns=6, direction="parity")
    expected = ed.Position.start(rules).perft(2)
    assert int(capsys.readouterr().out.split()[-1]) == expected


@pytest.mark.parametrize("arguments", [["show"], ["perft", "--columns", "2", "60"]])
def test_an_output_that_is_closed_ends_the_command_without_a_word(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = f"import sys; from endodoi.cli import main; sys.exit(main({arguments}))"
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_unknown_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "--colums", "6"])
    assert "unrecognized arguments: --colums 6" in capsys.readouterr().err


@pytest.fixture
def fake_trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in for endodoi-train: write a run as it does, and say what it was given."""
    run = tmp_path / "runs" / "one"
    script = tmp_path / "trainer.py"
    script.write_text(
        f"""\
import json, pathlib, signal, sys, time
run = pathlib.Path({str(run)!r})
run.mkdir(parents=True, exist_ok=True)
(run / "arguments.json").write_text(json.dumps(sys.argv[1:]))
if "--fail" in sys.argv:
    sys.exit("the reason")
with (run / "metrics.jsonl").open("w") as file:
    for report in json.loads({json.dumps(json.dumps(METRICS))}):
        print(json.dumps(report), file=file)
    file.write('{{"seconds": 3')
if "--wait" in sys.argv:
    def stop(number, frame):
        print(f"stopped; go on with: endodoi-train --resume {{run}}")
        sys.exit(0)
    signal.signal(signal.SIGINT, stop)
    print("ready", flush=True)
    time.sleep(60)
(run / "evaluation.json").write_text({json.dumps(json.dumps(RESULTS))})
(run / "agent.safetensors").write_text("x")
print("the table")
print(f"agent:          {{run}}/agent.safetensors")
"""
    )
    # The first line of a script cannot name a Python whose path holds a space.
    program = tmp_path / "endodoi-train"
    command = shlex.join([sys.executable, str(script)])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ENDODOI_TRAIN", str(program))
    return run


def test_train_passes_its_options_on_and_draws_the_learning_curve(
    fake_trainer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    options = ["--columns", "6", "--minutes", "0.5", "--quiet", "--steps", "9"]
    assert main(["train", *options]) == 0
    given = json.loads((fake_trainer / "arguments.json").read_text())
    assert given == ["--columns=6", "--minutes=0.5", "--quiet", "--steps", "9"]
    picture = fake_trainer / "learning-curve.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the table"
    assert lines[-1] == f"picture:        {picture}"
    assert not list(fake_trainer.glob(".*"))


def test_train_without_matplotlib_says_what_is_missing(
    fake_trainer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["train"]) == 0
    assert "pip install 'endodoi[plot]'" in capsys.readouterr().err
    assert not (fake_trainer / "learning-curve.png").exists()


def test_train_fails_as_the_program_does(
    fake_trainer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--fail"]) == 1
    assert "endodoi-train failed with status 1" in capsys.readouterr().err
    assert not (fake_trainer / "learning-curve.png").exists()


def test_the_function_returns_where_everything_is(fake_trainer: Path) -> None:
    result = ed.train(columns=6, minutes=0.5, seed=3, quiet=True, plot=False)
    assert result.run == fake_trainer
    assert result.finished
    assert result.agent == fake_trainer / "agent.safetensors"
    assert result.metrics.exists()
    assert result.evaluation == RESULTS
    assert result.learning_curve is None
    given = json.loads((fake_trainer / "arguments.json").read_text())
    assert given == ["--columns=6", "--minutes=0.5", "--seed=3", "--quiet"]
    with pytest.raises(ed.AgentError):
        result.load()


def test_an_interrupt_is_passed_on_and_the_run_can_be_resumed(fake_trainer: Path) -> None:
    command = [sys.executable, "-m", "endodoi", "train", "--wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert f"--resume {fake_trainer}" in rest


def test_a_trainer_that_is_not_there_names_the_command_that_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ENDODOI_TRAIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    assert main(["train"]) == 1
    message = capsys.readouterr().err
    assert "was not found" in message
    assert "`make train`" in message
    monkeypatch.setenv("ENDODOI_TRAIN", str(tmp_path / "nothing"))
    with pytest.raises(ed.TrainError, match="which is no program"):
        ed.train()


def test_a_trainer_on_the_path_or_in_the_build_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from endodoi.training import find_trainer  # noqa: PLC0415

    monkeypatch.delenv("ENDODOI_TRAIN", raising=False)
    program = tmp_path / "endodoi-train"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert find_trainer() == str(program)


def test_a_run_without_measurements_has_no_learning_curve(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from endodoi.learning_curve import draw_learning_curve  # noqa: PLC0415

    with pytest.raises(ed.TrainError, match="holds no measurements"):
        draw_learning_curve(tmp_path)
