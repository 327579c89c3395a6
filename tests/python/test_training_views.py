"""Training as users see it: the command, the function, its progress and its report.

A small program stands in for the trainer: it writes a run as the trainer does.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import training_progress
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def report_of(step: int) -> dict[str, Any]:
    """Return a report as the trainer writes them."""
    report: dict[str, Any] = {
        "seconds": 2.0 * step,
        "progress": step / 8,
        "iteration": step,
        "games": 10 * step,
        "positions": 1000 * step,
        "evaluations": 9000 * step,
        "step": step,
        "positions_per_second": 500.0,
        "entropy": 0.5,
        "loss": None if step == 1 else 3.0 / step,
        "policy_loss": 1.5 / step,
        "value_loss": 1.0 / step,
        "margin_loss": None if step == 1 else 0.5 / step,
    }
    if step % 3 == 0:
        moment = {"seconds": 2.0 * step, "step": step}
        report["scores"] = {**moment, "games": 10, "score": {"greedy": 0.1 * step}}
        report["regret"] = {
            **moment,
            "positions": 200,
            "reference": "perfect",
            "optimal": 0.1 * step,
            "outcome_changing": 0.1,
            "seeds_lost": 3.0 / step,
            "seeds_lost_half": 0.2,
        }
        report["best"] = {**moment, "by": "seeds_lost", "value": 3.0 / step, "count": 200}
    return report


def results_of(agent: str, step: int) -> dict[str, Any]:
    """Return the final games as the trainer writes them."""
    row = {
        "opponent": "greedy",
        "games": 40,
        "wins": 20,
        "draws": 8,
        "losses": 12,
        "score": 0.6,
        "low": 0.5,
        "high": 0.7,
        "margin": 2.5,
        "margin_half": 1.0,
        "score_as_south": 0.7,
        "score_as_north": 0.5,
        "distinct": 40,
    }
    return {
        "agent": agent,
        "step": step,
        "search": "32 simulations a move",
        "ruleset": ed.Ruleset(columns=6).to_dict(),
        "openings": 4,
        "seed": 0,
        "results": [row],
    }


METRICS = [report_of(step) for step in range(1, 9)]
RESULTS = results_of("runs/<one>/best.safetensors", 6)


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
(run / "config.toml").write_text("seed = 3\\n")
(run / "run.json").write_text(json.dumps({{"version": "0", "arguments": ["a", "<b>"]}}))
if "--fail" in sys.argv:
    sys.exit("the reason")
with (run / "metrics.jsonl").open("w") as file:
    for report in json.loads({json.dumps(json.dumps(METRICS))}):
        print(json.dumps(report), file=file)
    file.write('{{"seconds": 3')
def stop(number, frame):
    print(f"stopped; go on with: endodoi-train --resume {{run}}")
    (run / "checkpoint.safetensors").write_text("x")
    sys.exit(0)
waits = "--wait" in sys.argv or "--set=late=true" in sys.argv
if waits:
    signal.signal(signal.SIGINT, stop)
if "--progress=json" in sys.argv:
    print(json.dumps({{"say": "training"}}), flush=True)
    for report in json.loads({json.dumps(json.dumps(METRICS))}):
        print(json.dumps({{"report": report}}), flush=True)
if waits:
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
    assert lines[-3] == f"picture:        {picture}"
    assert lines[-2] == f"report:         {fake_trainer / 'report.html'}"
    command = f"endodoi play --opponent {shlex.quote(f'agent:{fake_trainer}')}"
    assert lines[-1] == f"play:           {command}"
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
    result = ed.train(columns=6, minutes=0.5, seed=3, progress=False, plot=False)
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


def test_the_report_is_one_page_that_needs_no_other_file(
    fake_trainer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    assert main(["train", "--quiet"]) == 0
    page = (fake_trainer / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    drawings = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)
    assert len(drawings) == 4
    for drawing in drawings:
        assert b"<svg" in base64.b64decode(drawing)
    for text in (
        f"<h1>one: {ed.Ruleset(columns=6)}</h1>",
        "runs/&lt;one&gt;/best.safetensors, step 6, 32 simulations a move",
        "<td>0.600</td><td>0.500 to 0.700</td>",
        "0.50 seeds lost a move, step 6",
        "seed = 3",
        "a &lt;b&gt;",
        "endodoi regret --variant en-dodoi --columns 6 \\\n",
        f"--player agent:{fake_trainer} alphabeta:6",
    ):
        assert text in page, text
    capsys.readouterr()
    other = fake_trainer / "other.html"
    assert main(["report", str(fake_trainer), "--out", str(other)]) == 0
    assert other.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert capsys.readouterr().out.splitlines()[0] == f"report:         {other}"


def test_a_run_still_going_on_or_of_another_learner_has_a_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from endodoi.learning_curve import draw_learning_curve  # noqa: PLC0415
    from endodoi.report import write_report  # noqa: PLC0415

    report = {"seconds": 3.0, "progress": 0.5, "games": 4, "positions": 90, "step": 2}
    report["positions_per_second"] = 30.0
    (tmp_path / "metrics.jsonl").write_text(json.dumps(report) + "\n")
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "They were not played." in page
    assert "50 %" in page
    assert page.count("<figure>") == 1
    (tmp_path / "metrics.jsonl").write_text(json.dumps({**report, "margin_loss": 0.5}) + "\n")
    assert write_report(tmp_path).read_text(encoding="utf-8").count("<figure>") == 2
    assert draw_learning_curve(tmp_path).read_bytes().startswith(b"\x89PNG")


def test_rules_that_are_not_usual_are_named_in_the_commands() -> None:
    from endodoi.report import rule_options  # noqa: PLC0415

    usual = ed.Ruleset("en-gehe", columns=12)
    assert rule_options(usual.to_dict()) == " --variant en-gehe --columns 12"
    other = ed.Ruleset(columns=6, seeds_per_pit=3, lone_capture="taken")
    assert rule_options(other.to_dict()) == (
        " --variant en-dodoi --columns 6 --seeds-per-pit 3 --lone-capture taken"
    )
    assert rule_options(None) == ""


def test_a_report_without_measurements_or_matplotlib_says_so(
    fake_trainer: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ed.train(progress=False, plot=False)
    assert main(["report", str(tmp_path)]) == 1
    assert "holds no measurements" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["report", str(fake_trainer)]) == 2
    assert "pip install 'endodoi[plot]'" in capsys.readouterr().err


def test_the_measurements_are_a_table(fake_trainer: Path) -> None:
    result = ed.train(progress=False, plot=False)
    assert result.run == fake_trainer
    reports = result.reports()
    assert reports == METRICS
    columns = result.to_numpy()
    assert columns["step"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert columns["scores.score.greedy"].dtype == np.float64
    known = [not math.isnan(value) for value in columns["regret.seeds_lost"]]
    assert known == [step % 3 == 0 for step in range(1, 9)]
    assert columns["regret.seeds_lost"][5] == 0.5
    assert "regret.reference" not in columns


def test_the_measurements_are_frames(fake_trainer: Path) -> None:
    result = ed.train(progress=False, plot=False)
    assert result.run == fake_trainer
    columns = result.to_numpy()
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.to_pandas(), pandas.DataFrame)
    assert result.to_pandas()["regret.seeds_lost"].dropna().tolist() == [1.0, 0.5]
    polars = pytest.importorskip("polars")
    assert result.to_polars()["step"].to_list() == columns["step"].tolist()
    assert isinstance(result.to_polars(), polars.DataFrame)


def test_missing_frames_name_their_extra(
    fake_trainer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = ed.train(progress=False, plot=False)
    assert result.run == fake_trainer
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ed.MissingExtraError, match=rf"endodoi\[{name}\]"):
            getattr(result, f"to_{name}")()


def test_the_best_agent_is_the_agent_of_the_result(fake_trainer: Path) -> None:
    result = ed.train(progress=False, plot=False)
    assert result.best is None
    assert result.agent == result.last_agent == fake_trainer / "agent.safetensors"
    (fake_trainer / "best.safetensors").write_text("x")
    (fake_trainer / "best.json").write_text(json.dumps(METRICS[5]["best"]))
    assert result.agent == fake_trainer / "best.safetensors"
    assert result.best == METRICS[5]["best"]


def test_settings_are_passed_on_by_name(fake_trainer: Path) -> None:
    settings = {"optimiser": {"batch": 64, "learning_rate": 1e-3}, "output.tensorboard": False}
    ed.train(settings={**settings, "learner": "gumbel"}, progress=False, plot=False)
    assert json.loads((fake_trainer / "arguments.json").read_text()) == [
        "--set=optimiser.batch=64",
        "--set=optimiser.learning_rate=0.001",
        "--set=output.tensorboard=false",
        '--set=learner="gumbel"',
        "--quiet",
    ]
    with pytest.raises(ed.ArgumentTypeError, match=r"settings\['seed'\] is None"):
        ed.train(settings={"seed": None})


def test_a_function_hears_every_report(
    fake_trainer: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    heard: list[dict[str, Any]] = []
    result = ed.train(progress=heard.append, plot=False)
    assert result.run == fake_trainer
    assert heard == METRICS
    # The table is there, and nothing of the program's talk.
    output = capfd.readouterr()
    assert output.out.startswith("the table\n")
    assert "{" not in output.out
    assert output.err == ""


def test_a_function_that_raises_stops_the_run_with_a_checkpoint(fake_trainer: Path) -> None:
    def enough(report: dict[str, Any]) -> None:
        if report["step"] == 8:
            raise KeyError("enough")

    # The program waits for a minute unless it is stopped; the first line tells that it listens.
    with pytest.raises(KeyError, match="enough"):
        ed.train(settings={"late": True}, progress=enough, plot=False)
    assert (fake_trainer / "checkpoint.safetensors").exists()


def test_a_bar_shows_the_budget_and_what_was_measured(
    fake_trainer: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    result = ed.train(progress="tqdm", plot=False)
    assert result.run == fake_trainer
    shown = capfd.readouterr().err
    assert "100%" in shown
    assert "80 games, step 8" in shown
    assert "greedy 0.60, 0.50 seeds lost" in shown
    # Reports within a second share one picture of the bar.
    assert shown.count("\r") < 12


def test_a_bar_without_tqdm_names_the_extra(
    fake_trainer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ed.MissingExtraError, match=r"endodoi\[tqdm\]"):
        ed.train(progress="tqdm")
    with pytest.raises(ed.ArgumentValueError, match="progress is 'bar'"):
        ed.train(progress="bar")
    assert not fake_trainer.exists()


def test_a_notebook_without_tqdm_has_a_few_lines(
    fake_trainer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(training_progress, "in_notebook", lambda: True)
    monkeypatch.setattr(training_progress, "LINE_SHARE", 0.3)
    result = ed.train(plot=False)
    assert result.run == fake_trainer
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "training"
    assert [line.split(":")[0] for line in lines[1:]] == [" 12 %", " 50 %", " 88 %"]
    assert lines[-1].endswith("loss 0.429, entropy 0.50, greedy 0.60, 0.50 seeds lost")


def test_a_line_copes_with_what_a_learner_does_not_have() -> None:
    text = training_progress.text_of({"games": 1200, "step": 7, "loss": None})
    assert text == "1,200 games, step 7"
