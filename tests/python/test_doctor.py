"""What `endodoi doctor` finds, and how it tells what is broken."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import _core, doctor
from endodoi.cli import main
from endodoi.doctor_commands import extra_text, threads_text
from endodoi.shipped import FOLDER


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Unset what a user may have set, and hide a trainer that is built or on the PATH."""
    for name in ("ENDODOI_TRAIN", "ENDODOI_INSTRUCTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))


def program(folder: Path, said: str, status: int = 0) -> str:
    """Write a program that says something, for want of a trainer."""
    path = folder / "endodoi-train"
    stream = "" if status == 0 else " >&2"
    path.write_text(f"#!/bin/sh\necho '{said}'{stream}\nexit {status}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def examined(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    status = main(["doctor", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, found


def test_versions_threads_and_agents_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = examined(capsys)
    assert (status, found["problems"], found["trainer"]) == (0, [], None)
    assert found["package"]["endodoi"] == found["package"]["core"] == ed.__version__
    assert found["package"]["numpy"] == np.__version__
    assert found["agents"] == list(ed.policies.shipped_agents())
    threads = found["threads"]
    assert 1 <= threads["default"] <= threads["affinity"] <= threads["cores"]
    assert threads["default"] == _core.default_threads()
    sets = found["instructions"]
    assert sets["chosen"] == sets["available"][-1]
    assert sets["available"][:2] == ["scalar", "portable"]


def test_extras_are_told_with_their_libraries() -> None:
    found = doctor.extras()
    assert {"arrow", "completion", "pandas", "plot", "rllib", "torch"} <= set(found)
    assert set(found["rllib"]) == {"ray", "torch"}
    # Nobody can have that one.
    assert doctor.version_of("endodoi-no-such-library") is None
    for libraries in found.values():
        for name, version in libraries.items():
            assert doctor.version_of(name) == version


@pytest.mark.parametrize(
    ("libraries", "text"),
    [
        ({"pyarrow": "21.0"}, "pyarrow 21.0"),
        ({"pyarrow": None}, "not installed: pyarrow (pip install 'endodoi[arrow]')"),
        (
            {"ray": None, "torch": "2.13"},
            "torch 2.13; not installed: ray (pip install 'endodoi[arrow]')",
        ),
    ],
)
def test_what_an_extra_lacks_is_told(libraries: dict[str, str | None], text: str) -> None:
    assert extra_text("arrow", libraries) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((4, 4, 4), "4 of 4 cores"),
        ((2, 2, 4), "2 of 4 cores (2 by affinity)"),
        ((1, 2, 2), "1 of 2 cores (1 by the limits of the control group)"),
    ],
)
def test_what_limits_the_threads_is_told(numbers: tuple[int, int, int], text: str) -> None:
    assert threads_text(*numbers) == text


def test_the_text_says_that_all_works(capsys: pytest.CaptureFixture[str]) -> None:
    text = "all that is installed works"
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"endodoi       {ed.__version__} in ")
    assert lines[-1].strip() == text
    assert any(line.startswith("[pandas]") for line in lines)


def test_the_trainer_says_which_libtorch_it_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    libtorch = {"folder": "/opt/libtorch/lib", "version": "2.13.0"}
    said = {"version": ed.__version__, "libtorch": libtorch, "gpus": 1}
    monkeypatch.setenv("ENDODOI_TRAIN", program(tmp_path, json.dumps(said)))
    status, found = examined(capsys)
    assert (status, found["problems"]) == (0, [])
    assert found["trainer"]["libtorch"] == libtorch
    assert main(["doctor"]) == 0
    assert "libtorch 2.13.0 in /opt/libtorch/lib, 1 GPU\n" in capsys.readouterr().out


@pytest.mark.train
def test_the_real_trainer_says_it_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = Path(__file__).parents[2]
    monkeypatch.setenv("ENDODOI_TRAIN", str(checkout / "target" / "debug" / "endodoi-train"))
    status, found = examined(capsys)
    assert (status, found["problems"]) == (0, [])
    trainer = found["trainer"]
    assert trainer["version"] == ed.__version__
    assert trainer["threads"] == _core.default_threads()
    assert trainer["instructions"] == found["instructions"]["chosen"]
    assert Path(trainer["libtorch"]["folder"]).is_dir()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (("error while loading shared libraries: libtorch_cpu.so", 127), "libtorch_cpu.so; build"),
        (("endodoi-train 0.0.1", 0), "does not run"),
        (('{"version": "0.0.1", "libtorch": null, "gpus": 0}', 0), "is version 0.0.1, the package"),
    ],
)
def test_a_trainer_that_is_broken_is_a_problem(
    said: tuple[str, int],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ENDODOI_TRAIN", program(tmp_path, *said))
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    told = [line for line in text.splitlines() if line.startswith("PROBLEM")]
    assert len(told) == 1
    assert problem in told[0]
    assert "`make train`" in told[0]
    assert text.splitlines()[-1].strip() == "something is broken"


def test_a_variable_that_names_no_program_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENDODOI_TRAIN", str(tmp_path))
    status, found = examined(capsys)
    assert (status, found["trainer"]) == (1, None)
    assert "correct the variable or unset it" in found["problems"][0]


def test_instructions_that_do_not_exist_are_a_problem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENDODOI_INSTRUCTIONS", "abacus")
    status, found = examined(capsys)
    assert (status, found["instructions"]["chosen"]) == (1, None)
    assert 'ENDODOI_INSTRUCTIONS is "abacus", expected one of' in found["problems"][0]
    assert "unset the variable" in found["problems"][0]


def test_the_instructions_asked_for_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENDODOI_INSTRUCTIONS", "portable")
    assert main(["doctor"]) == 0
    assert "portable (named by ENDODOI_INSTRUCTIONS=portable) of" in capsys.readouterr().out


def test_an_agent_that_cannot_be_read_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "en-dodoi-2x6"
    for path in FOLDER.glob("*.safetensors"):
        shutil.copy(path, tmp_path)
    os.truncate(tmp_path / f"{name}.safetensors", 100)
    before = _core.set_agents_folder(tmp_path)
    monkeypatch.setattr(doctor, "FOLDER", tmp_path)
    try:
        status, found = examined(capsys)
    finally:
        _core.set_agents_folder(before)
    assert status == 1
    assert name not in found["agents"]
    assert found["agents"]
    assert f"the agent {name} cannot be read" in found["problems"][0]


def test_a_core_of_another_version_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "__version__", "0.0.1")
    problems: list[str] = []
    doctor.package(problems)
    assert len(problems) == 1
    assert "its core version 0.0.1" in problems[0]
