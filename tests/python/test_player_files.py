"""Players of the user's own files: ``path.py:name``."""

from __future__ import annotations

import hashlib
import importlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import endodoi as ed
from endodoi.cli import main
from endodoi.player_files import load_player, load_players
from endodoi.player_sources import sources_of

if TYPE_CHECKING:
    from pathlib import Path

MASKS = np.array([[0, 1, 0, 1], [1, 1, 1, 1]], np.int8)
VIEWS = np.zeros((2, 11), np.int16)
LOWEST = "def pick(masks):\n    return masks.argmax(axis=1)\n"
HIGHEST = "def pick(masks):\n    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)\n"


#: A package beside a player's file.
DEEP = {"deep/__init__.py", "deep/inside.py", "deep/more.py"}


def write(path: Path, text: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def chosen(text: str) -> list[int]:
    policy = load_player(text)
    assert callable(policy)
    return [int(column) for column in np.asarray(policy(VIEWS, MASKS))]


@pytest.mark.parametrize(
    "importing",
    [
        "import helper\ndef policy(v, m):\n    return helper.pick(m)\n",
        "from helper import pick\ndef policy(v, m):\n    return pick(m)\n",
        "def policy(v, m):\n    import helper as other\n    return other.pick(m)\n",
        "def policy(v, m):\n    import deep.inside\n    return deep.inside.pick(m)\n",
        "def policy(v, m):\n    import deep.inside as other\n    return other.pick(m)\n",
        "from deep import inside\ndef policy(v, m):\n    return inside.pick(m)\n",
        (
            "import importlib\npick = importlib.import_module('helper').pick\n"
            "def policy(v, m):\n    return pick(m)\n"
        ),
        (
            "import importlib.util\ndef policy(v, m):\n"
            "    return importlib.import_module('deep.inside').pick(m)\n"
        ),
        (
            "def policy(v, m):\n    from importlib import import_module\n"
            "    return import_module('.inside', import_module('deep').__name__).pick(m)\n"
        ),
        "def policy(v, m):\n    return __import__('deep.inside').inside.pick(m)\n",
    ],
)
def test_two_files_have_helpers_of_one_name(tmp_path: Path, importing: str) -> None:
    searched, modules = list(sys.path), set(sys.modules)
    players = []
    for folder, pick in (("v1", LOWEST), ("v2", HIGHEST)):
        write(tmp_path / folder / "helper.py", "import beside\npick = beside.pick\n")
        write(tmp_path / folder / "beside.py", pick)
        write(tmp_path / folder / "deep" / "__init__.py", "import deep.inside\n")
        write(tmp_path / folder / "deep" / "inside.py", "from . import more\npick = more.pick\n")
        write(tmp_path / folder / "deep" / "more.py", "from helper import pick\n")
        players.append(write(tmp_path / folder / "bot.py", importing) + ":policy")
    load_players(players)
    assert chosen(players[0]) == [1, 0]
    assert chosen(players[1]) == [3, 3]
    assert sys.path == searched
    assert not {"helper", "beside", "deep", "bot"} & (set(sys.modules) - modules)
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("importing", "expected"),
    [
        ("import helper\n", {"helper.py", "beside.py"}),
        ("def policy(v, m):\n    from helper import pick\n", {"helper.py", "beside.py"}),
        ("import deep.inside\n", {"helper.py", "beside.py", *DEEP}),
        ("from deep import inside\n", {"helper.py", "beside.py", *DEEP}),
        ("import numpy, json, nowhere, folder\n", set()),
        ("import bot\n", set()),
    ],
)
def test_the_files_that_a_file_imports_are_found_without_running_it(
    tmp_path: Path, importing: str, expected: set[str]
) -> None:
    write(tmp_path / "helper.py", "if True:\n    import beside, os.path\n")
    write(tmp_path / "beside.py", "1 / 0\n")
    write(tmp_path / "other.py", "")
    write(tmp_path / "folder" / "readme.txt", "")
    write(tmp_path / "deep" / "__init__.py", "")
    write(tmp_path / "deep" / "inside.py", "from . import more\n")
    write(tmp_path / "deep" / "more.py", "from helper import pick\n")
    bot = tmp_path / "bot.py"
    write(bot, importing)
    found = sources_of(bot)
    assert next(iter(found)) == "bot.py"
    assert set(found) == {"bot.py", *expected}
    assert all((tmp_path / name).read_text(encoding="utf-8") == found[name] for name in found)


def test_a_file_has_the_name_of_a_library(tmp_path: Path) -> None:
    for name in ("numpy", "pyarrow", "random", "two.parts"):
        text = "import numpy as np\ndef policy(v, m):\n    return np.argmax(m, axis=1)\n"
        folder = tmp_path / name.replace(".", "-")
        assert chosen(write(folder / f"{name}.py", text) + ":policy") == [1, 0]
    assert sys.modules["numpy"] is np
    line = [sys.executable, "-m", "endodoi", "arena", "--columns", "6", "--games", "4"]
    line += ["--players", "numpy/numpy.py:policy", "greedy", "--out", "out"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_file_sees_the_rest_of_importlib_as_it_is(tmp_path: Path) -> None:
    text = (
        "import importlib.metadata as found, importlib, json\n"
        "from importlib import *\n"
        "assert found is importlib.metadata\n"
        "assert importlib.import_module('json') is import_module('json') is reload(json) is json\n"
        "assert importlib.util.find_spec('json').name == 'json'\n"
        "def policy(v, m):\n    return m.argmax(axis=1)\n"
    )
    assert chosen(write(tmp_path / "bot.py", text) + ":policy") == [1, 0]
    assert sys.modules["importlib"] is importlib
    nowhere = "import importlib\ndef f(v, m):\n    importlib.import_module('nowhere_at_all')\n"
    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere_at_all'"):
        chosen(write(tmp_path / "other.py", nowhere) + ":f")


def test_a_file_defines_classes_that_look_their_module_up(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Lowest:\n    shift: int = 0\n"
        "    def __call__(self, v, m):\n        return m.argmax(axis=1) + self.shift\n"
        "policy = Lowest()\n"
    )
    assert chosen(write(tmp_path / "bot.py", text) + ":policy") == [1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise SystemExit", r"bad\.py fails in line 1: SystemExit\(\)$"),
        ("import nowhere_at_all", r"bad\.py fails in line 1: ModuleNotFoundError: No module"),
        ("\n1 / 0", r"bad\.py fails in line 2: ZeroDivisionError: division by zero$"),
        ("\ndef f(:", r"bad\.py fails: SyntaxError: invalid syntax \(bad\.py, line 2\)$"),
    ],
)
def test_a_file_that_fails_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    player = write(tmp_path / "bad.py", text) + ":f"
    with pytest.raises(ed.PolicyError, match=message):
        load_player(player)
    write(tmp_path / "bad.py", "def f(v, m):\n    return m.argmax(axis=1)\n")
    assert chosen(player) == [1, 0]


def test_a_function_that_is_not_named_or_not_there_is_told(tmp_path: Path) -> None:
    text = "from math import floor\ndef lowest(v, m):\n    return m.argmax(axis=1)\n"
    file = write(tmp_path / "mine.py", text)
    for player in (file, f"{file}:"):
        with pytest.raises(ed.PolicyError, match=rf"in the file too, as {file}:policy$"):
            load_player(player)
    with pytest.raises(ed.PolicyError, match=r"mine\.py has no 'floorr', only lowest$"):
        load_player(f"{file}:floorr")
    write(tmp_path / "empty.py", "")
    with pytest.raises(ed.PolicyError, match=r"empty\.py has no 'policy'$"):
        load_player(f"{tmp_path / 'empty.py'}:policy")


def test_simulations_and_exams_take_them_under_their_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "def policy(v, m):\n    return m.argmax(axis=1)\n"
    player = write(tmp_path / "mine.py", text) + ":policy"
    small = ["--columns", "3", "--json"]
    assert main(["regret", "--player", player, "greedy", "--positions", "20", *small]) == 0
    mine, other = json.loads(capsys.readouterr().out)
    assert (mine["player"], other["player"]) == (player, "greedy")
    assert mine["all"]["positions"] == 20
    assert main(["simulate", "--south", player, "--games", "10", *small]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 10
    nobody = tmp_path / "nobody.py"
    assert main(["simulate", "--north", f"{nobody}:policy", "--games", "10"]) == 2
    assert f"there is no file {nobody}" in capsys.readouterr().err


def test_a_changed_file_is_refused_by_name(tmp_path: Path) -> None:
    out, six = tmp_path / "out", ed.Ruleset(columns=6)
    text = "def policy(v, m):\n    return m.argmax(axis=1)\n"
    line = [sys.executable, "-m", "endodoi", "arena", "--columns", "6", "--out", "out"]
    line += ["--players", "mine.py:policy", "greedy", "--games"]

    def played(games: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*line, str(games)], capture_output=True, text=True, check=False, cwd=tmp_path
        )

    write(tmp_path / "mine.py", text)
    assert played(4).returncode == 0
    assert played(6).returncode == 0
    settings = json.loads((out / "tournament.json").read_text(encoding="utf-8"))
    assert settings["agents"] == {"mine.py:policy": hashlib.sha256(text.encode()).hexdigest()}
    write(tmp_path / "mine.py", text + "# changed\n")
    done = played(8)
    assert done.returncode == 2
    assert "the file of mine.py:policy had the SHA-256" in done.stderr
    # Players that files define in other ways are known too.
    called = "class Lowest:\n    def __call__(self, v, m):\n        return m.argmax(axis=1)\n"
    load = load_players([write(tmp_path / "called.py", called + "policy = Lowest()\n") + ":policy"])
    plan = ed.arena.Tournament({**load, "greedy": "greedy"}, ruleset=six, games=2)
    assert list(plan.settings["agents"]) == list(load)
