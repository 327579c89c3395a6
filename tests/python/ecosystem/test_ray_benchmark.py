"""The benchmark suite on a Ray cluster of two nodes, and the commands that take ``--ray``."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

import endodoi as ed
from endodoi.benchmark_exam import ask
from endodoi.benchmark_suite import load_suite
from endodoi.cli import main
from ray_nodes import two_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy.typing as npt

    Views: TypeAlias = npt.NDArray[np.int16]
    Masks: TypeAlias = npt.NDArray[np.int8]
    Run: TypeAlias = Callable[..., str]

pytestmark = pytest.mark.ecosystem

SIX = load_suite().parts[0]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with two_nodes():
        yield


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: object) -> str:
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out

    return command


def lowest(_views: Views, masks: Masks) -> npt.NDArray[Any]:
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def misbehaving(views: Views, masks: Masks) -> npt.NDArray[Any]:
    """Fail where the first pit holds one seed, and play off the board where it holds five."""
    seeds = views[:, 0]
    if (seeds == 1).any():
        raise RuntimeError(f"lost its nerve with {views[seeds == 1][0].tolist()}")
    return np.where(seeds == 5, 99, masks.argmax(axis=1))


@pytest.mark.parametrize(
    "player",
    [
        "random",
        "mcts:10",
        "agent:en-dodoi-2x6@none",
        lowest,
        ed.policies.Greedy(),
        ed.policies.Committee(["greedy", "random"]),
        ed.policies.Committee(["greedy", lowest, "random"]),
    ],
    ids=str,
)
def test_the_card_is_that_of_one_machine(player: Any) -> None:
    given: dict[str, Any] = {"parts": ["2x6"], "scale": "small"}
    here = ed.arena.benchmark(player, **given)
    there = ed.ray.benchmark(player, pairs_per_task=3, positions_per_task=7, **given)
    assert there.to_json() == here.to_json()
    assert ed.ray.benchmark(player, **given).to_json() == here.to_json()


def test_faults_and_boards_that_cannot_be_played_are_on_the_card() -> None:
    def agreed(player: Any, parts: list[str]) -> ed.arena.ReportCard:
        here = ed.arena.benchmark(player, parts=parts, scale="small")
        there = ed.ray.benchmark(
            player, parts=parts, scale="small", pairs_per_task=2, positions_per_task=9
        )
        assert there.to_json() == here.to_json()
        return here

    card = agreed("agent:en-dodoi-2x6@none", ["2x6", "2x8"])
    assert card["2x6"].cannot_play is None
    assert card["2x8"].cannot_play
    part = agreed(misbehaving, ["2x6"])["2x6"]
    assert part.regret is not None
    for faults in (part.illegal, part.error, part.regret.illegal, part.regret.error):
        assert faults > 0


@pytest.mark.parametrize("player", ["random", "mcts:5"])
def test_a_player_that_draws_chooses_in_a_part_as_among_all(player: str) -> None:
    questions = SIX.questions(50)
    whole, _ = ask(player, questions, SIX.ruleset, 3, (0, 50))
    parts = [ask(player, questions, SIX.ruleset, 3, places) for places in ((0, 20), (20, 50))]
    assert [column for columns, _ in parts for column in columns] == whole
    later, _ = ask(player, questions[20:], SIX.ruleset, 3, (0, 30))
    assert later != whole[20:]


def test_a_folder_goes_on_here_or_there_and_progress_counts_its_games(tmp_path: Path) -> None:
    out = tmp_path / "card"
    told: list[int] = []
    small: dict[str, Any] = {"scale": "small", "out": out}
    ed.ray.benchmark(lowest, parts=["2x6"], progress=told.append, **small)
    assert told == sorted(told)
    assert told[-1] == 120
    both = ed.arena.benchmark(lowest, parts=["2x6", "2x8"], **small)
    again = ed.ray.benchmark(lowest, parts=["2x6", "2x8"], progress=told.append, **small)
    assert again.to_json() == both.to_json()
    assert [part.name for part in both.parts] == ["2x6", "2x8"]
    with pytest.raises(ed.ArenaError, match="player was 'lowest' there and is 'greedy' now"):
        ed.ray.benchmark("greedy", parts=["2x6"], **small)


def test_ctrl_c_keeps_the_boards_finished() -> None:
    def interrupt(games: int) -> None:
        if games > 120:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ed.ray.benchmark(lowest, parts=["2x6", "2x8"], scale="small", progress=interrupt)
    kept = vars(caught.value)["card"]
    assert kept == ed.arena.benchmark(lowest, parts=["2x6"], scale="small")


@pytest.mark.parametrize("rows", [1, 50])
def test_a_worker_that_dies_loses_nothing(tmp_path: Path, rows: int) -> None:
    """It dies in its games, then where it is asked for all positions at once."""
    caller, marker = os.getpid(), tmp_path / "died"

    def deadly(views: Views, masks: Masks) -> npt.NDArray[Any]:
        if os.getpid() != caller and len(masks) >= rows and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return lowest(views, masks)

    card = ed.ray.benchmark(deadly, parts=["2x6"], scale="small", name="lowest")
    assert marker.exists()
    assert card == ed.arena.benchmark(lowest, parts=["2x6"], scale="small")


def test_wrong_arguments_are_refused() -> None:
    refused: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"player": "nobody"}, ed.PolicyError, 'player is "nobody"'),
        ({"player": 7}, ed.ArgumentTypeError, "player is 7"),
        ({"player": "none.py:policy"}, ed.PolicyError, "none.py"),
        ({"parts": ["3x3"]}, ed.ArgumentValueError, "parts has '3x3'"),
        ({"scale": "huge"}, ed.ArgumentValueError, "scale is 'huge'"),
        ({"num_threads": 0}, ed.ArgumentValueError, "num_threads is 0, expected 1 to"),
        ({"pairs_per_task": 0}, ed.ArgumentValueError, "pairs_per_task is 0, expected 1 to"),
        ({"positions_per_task": 0}, ed.ArgumentValueError, "positions_per_task is 0, expected"),
    ]
    for options, error, message in refused:
        given: dict[str, Any] = {"player": "greedy", "parts": ["2x6"], "scale": "small", **options}
        with pytest.raises(error, match=message):
            ed.ray.benchmark(given.pop("player"), **given)


# The commands


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a player into a file of the folder that commands run in."""
    text = "def policy(views, masks):\n    return masks.argmax(axis=1)\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "mine.py:policy"


def test_the_command_benchmark_prints_the_same_card(run: Run, mine: str) -> None:
    words = ["benchmark", "--player", mine, "--part", "2x6", "--small"]
    assert run(*words, "--ray", "auto", "--out", "card") == run(*words)
    card = ed.arena.ReportCard.read("card/card.json")
    assert card.player == mine
    assert run(*words, "--json") == f"{card.to_json()}\n"


def test_the_command_arena_prints_the_same_standings(run: Run, mine: str) -> None:
    words = ["arena", "--columns", 6, "--players", mine, "greedy", "greedy", "--games", 20]
    here, there = (
        json.loads(run(*words, "--json", *more)) for more in ((), ("--ray", "auto", "--out", "out"))
    )
    assert [player["name"] for player in there["players"]] == [mine, "greedy", "greedy#2"]
    for standings in (here, there):
        for player in standings["players"]:
            del player["seconds_per_move"], player["longest_move"]
    assert here == there
    # The folder goes on on this machine: nothing is left to play.
    assert json.loads(run(*words, "--json", "--out", "out"))["games"] == 60


@pytest.mark.parametrize("more", [[], ["--json"], ["--reference", "alphabeta:2", "--seed", 3]])
def test_the_command_regret_prints_the_same_tables(run: Run, mine: str, more: list[Any]) -> None:
    words = ["regret", "--columns", 3, "--positions", 110, "--player", "random", mine, *more]
    assert run(*words, "--ray", "auto") == run(*words)


def test_a_cluster_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["arena", "--columns", "6", "--players", "greedy", "random", "--games", "4"],
        ["regret", "--columns", "3", "--positions", "10", "--player", "greedy"],
        ["benchmark", "--player", "greedy", "--part", "2x6", "--small"],
    ):
        assert main([*words, "--ray", "127.0.0.1:1"]) != 0
        assert "address is '127.0.0.1:1'" in capsys.readouterr().err
