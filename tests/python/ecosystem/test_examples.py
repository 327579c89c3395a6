"""The programs, the page and the docstrings that show the libraries at work."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from endodoi.examples import rllib_self_play, sb3_maskable_ppo, torchrl_ppo

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.ecosystem

PAGE = Path(__file__).parents[3] / "docs" / "ecosystem.md"
SECTION = re.compile(r"^## ([^\n]+)\n.*?^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = SECTION.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["endodoi.rllib", "endodoi.sb3"])
def test_examples_of_the_documentation_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted >= 3


@pytest.mark.parametrize(("section", "code"), BLOCKS, ids=[section for section, _ in BLOCKS])
def test_the_lines_of_the_page_run(section: str, code: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(code, section, "exec"), names)  # noqa: S102
    assert "ed" in names


def test_the_page_has_lines_for_every_library() -> None:
    assert [section for section, _ in BLOCKS] == [
        "PettingZoo",
        "Stable-Baselines3",
        "RLlib",
        "TorchRL",
        "Buffers in place",
    ]


def test_maskable_ppo_learns_to_beat_random(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--columns", "4", "--games", "32", "--steps", "8192", "--test-games", "100"]
    mean = sb3_maskable_ppo.main([*words, "--seed", "1"])
    assert mean > 0
    assert "mean reward against random" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["disabled", "same_step"])
def test_torchrl_trains_in_disabled_and_same_step_mode(mode: str) -> None:
    words = ["--autoreset", mode, "--columns", "4", "--games", "16", "--updates", "3"]
    scores = torchrl_ppo.main([*words, "--seed", "1"])
    assert len(scores) == 3
    assert all(-1 <= score <= 1 for score in scores)
    assert torchrl_ppo.main([*words, "--seed", "1"]) == scores


@pytest.mark.parametrize("program", [rllib_self_play.main, sb3_maskable_ppo.main, torchrl_ppo.main])
def test_programs_tell_their_arguments(
    program: Callable[[list[str]], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        program(["--help"])
    assert done.value.code == 0
    assert "--seed" in capsys.readouterr().out
