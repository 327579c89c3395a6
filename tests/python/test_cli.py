"""The command."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path


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


def test_show_says_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["show", "--columns", "6", "--svg", "a.svg", "--png"]
    assert main([*words, "a.png"]) == 0
    assert capsys.readouterr().out.endswith("S 0-0 0\nwrote a.svg\nwrote a.png\n")
    for same in ("b", "./b"):
        assert main(["show", "--columns", "6", "--svg", "b", "--png", same]) == 2
        told = capsys.readouterr().err
        assert f"--png is {same!r}, which is the file of --svg too" in told
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "a.png"}


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


@pytest.mark.parametrize(
    "words",
    [
        "simulate --columns 6 --games 4",
        "arena --columns 6 --players greedy random --games 4",
        "regret --columns 3 --positions 4 --player greedy",
        "benchmark --player greedy --part 2x6 --small",
    ],
)
def test_without_ray_a_command_names_the_extra(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "endodoi.ray", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert main([*words.split(), "--ray", "local"]) == 2
    error = capsys.readouterr().err
    assert error == "endodoi: ray is not installed: pip install 'endodoi[ray]'\n"
