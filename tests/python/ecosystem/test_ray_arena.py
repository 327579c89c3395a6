"""Tournaments and regret on a Ray cluster of two nodes: the same as on one machine."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

import endodoi as ed
from ray_nodes import two_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    Views: TypeAlias = npt.NDArray[np.int16]
    Masks: TypeAlias = npt.NDArray[np.int8]

pytestmark = pytest.mark.ecosystem

SIX = ed.Ruleset(columns=6)

#: Positions to start from.
OPENINGS = [ed.Position.start(SIX).play(column) for column in range(6)]

#: Columns of games that are measured.
TIMES = {"seconds_a", "seconds_b"}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with two_nodes():
        yield


def last_legal(_views: Views, masks: Masks) -> npt.NDArray[np.int64]:
    """Play the last legal column."""
    return np.asarray(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))


def same(here: ed.arena.Standings, there: ed.arena.Standings) -> None:
    """Compare all but the times."""
    left, right = here.to_dict(), there.to_dict()
    for player in (*left["players"], *right["players"]):
        del player["seconds_per_move"], player["longest_move"]
    assert left == right
    assert rows(here) == rows(there)


def rows(standings: ed.arena.Standings) -> list[tuple[Any, ...]]:
    """Return the games without their times, ordered by players, pair and side."""
    columns = standings.table.to_numpy()
    return sorted(
        zip(*(columns[name].tolist() for name in columns if name not in TIMES), strict=True)
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"players": ["random", "greedy", "alphabeta:2", "greedy"], "games": 20},
        {"players": {"last": last_legal, "mcts": ed.policies.Mcts(10)}, "games": 30, "seed": 4},
        {"players": ["greedy", "random", "agent:en-dodoi-2x6@none"], "games": 8, "gauntlet": 1},
        {
            "players": [
                ed.policies.Committee(["greedy", "mcts:10"], [2, 3]),
                ed.policies.Committee(["greedy", last_legal, "random"]),
            ],
            "games": 12,
        },
        {"players": ["greedy", "random"], "games": 12, "openings": OPENINGS, "max_plies": 30},
    ],
)
def test_the_standings_are_those_of_one_machine(arguments: dict[str, Any]) -> None:
    here = ed.arena.tournament(ruleset=SIX, **arguments)
    same(here, ed.ray.tournament(ruleset=SIX, pairs_per_task=3, **arguments))
    same(here, ed.ray.tournament(ruleset=SIX, **arguments))


def test_a_book_and_a_player_in_files_travel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    book = tmp_path / "book.txt"
    starts = [ed.Position.start(SIX).play(column) for column in (0, 1, 2, 3)]
    book.write_text("".join(f"{start.to_text()}\n" for start in starts), encoding="utf-8")
    (tmp_path / "mine.py").write_text(
        "def policy(views, masks):\n    return 5 - masks[:, ::-1].argmax(axis=1)\n",
        encoding="utf-8",
    )
    players = {"mine": "mine.py:policy", "greedy": "greedy"}
    there = ed.ray.tournament(players, ruleset=SIX, games=8, openings=book, pairs_per_task=1)
    here = ed.arena.tournament(
        {"mine": last_legal, "greedy": "greedy"}, ruleset=SIX, games=8, openings=book
    )
    assert [player.score for player in here.players] == [player.score for player in there.players]


def test_an_interrupted_tournament_goes_on_here_or_there(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"players": ["greedy", "random", "alphabeta:2"], "ruleset": SIX}
    arguments.update(games=60, seed=9)

    def interrupt(games: int) -> None:
        if games >= 20:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        ed.ray.tournament(out=tmp_path, progress=interrupt, pairs_per_task=2, **arguments)
    kept = vars(caught.value)["standings"]
    assert 20 <= kept.games < 180
    parts = sorted((tmp_path / "records").iterdir())
    before = [part.read_bytes() for part in parts]
    there = ed.ray.tournament(out=tmp_path, pairs_per_task=7, **arguments)
    assert [part.read_bytes() for part in parts] == before
    same(ed.arena.tournament(**arguments), there)
    same(ed.arena.tournament(out=tmp_path, **arguments), there)


def test_wrong_arguments_are_refused() -> None:
    refused: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"games": 3}, ed.ArenaError, "games is 3"),
        ({"players": "greedy"}, ed.ArgumentTypeError, "players is 'greedy'"),
        ({"players": ["greedy", "alphabeta:99"]}, ed.PolicyError, "alphabeta:99"),
        ({"num_threads": 0}, ed.ArgumentValueError, "num_threads is 0, expected 1 to"),
        ({"pairs_per_task": 0}, ed.ArgumentValueError, "pairs_per_task is 0, expected 1 to"),
    ]
    for options, error, message in refused:
        given: dict[str, Any] = {"players": ["greedy", "random"], "games": 4, **options}
        with pytest.raises(error, match=message):
            ed.ray.tournament(ruleset=SIX, **given)
    with pytest.raises(ed.ArgumentValueError, match="positions is 0"):
        ed.ray.regret("greedy", ruleset=SIX, positions=0)
    with pytest.raises(ed.RegretError, match='reference is "best"'):
        ed.ray.regret("greedy", ruleset=SIX, reference="best")


@pytest.mark.parametrize(
    ("policy", "arguments"),
    [
        ("greedy", {}),
        ("random", {"seed": 3}),
        (last_legal, {"reference": "alphabeta:2"}),
        ("mcts:10", {"reference": "alphabeta:3"}),
    ],
)
def test_the_regret_is_that_of_one_machine(policy: Any, arguments: dict[str, Any]) -> None:
    given: dict[str, Any] = {"ruleset": ed.Ruleset(columns=3), "positions": 130, **arguments}
    here = ed.arena.regret(policy, **given)
    for there in (
        ed.ray.regret(policy, positions_per_task=40, **given),
        ed.ray.regret(policy, **given),
    ):
        assert there == here
        assert (there.json, there.text) == (here.json, here.text)
        assert there.answers == here.answers
        assert (there.player, there.settings) == (here.player, here.settings)
