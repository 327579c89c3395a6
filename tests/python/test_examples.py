"""The programs of `endodoi.examples` that need no heavy library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from endodoi.examples import pettingzoo_random

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("program", [pettingzoo_random.main])
def test_programs_tell_their_arguments(
    program: Callable[[list[str]], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        program(["--help"])
    assert done.value.code == 0
    assert "--seed" in capsys.readouterr().out


def test_random_agents_play_through_pettingzoo(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--columns", "4", "--games", "40", "--seed", "2"]
    wins = pettingzoo_random.main(words)
    assert sum(wins.values()) == 40
    assert min(wins["player_0"], wins["player_1"]) > 5
    assert pettingzoo_random.main(words) == wins
    assert capsys.readouterr().out.count("South won") == 2
