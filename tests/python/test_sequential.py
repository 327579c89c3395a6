"""Games until the sequential test decides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

SIX = ed.Ruleset(columns=6)


def test_a_test_stops_at_the_pair_that_decides() -> None:
    found = ed.arena.sprt("alphabeta:2", "random", ruleset=SIX, elo0=0, elo1=150, seed=3)
    assert found.accepted == "H1"
    assert found.players == ("alphabeta:2", "random")
    assert found.llr >= found.upper
    # The first pairs of a match of the same seed, and no more of them than are needed.
    plan = ed.arena.Tournament(["alphabeta:2", "random"], ruleset=SIX, games=found.games, seed=3)
    records = plan.records(plan.play(plan.chunks(1000)))
    points = [
        sum(
            1 if game.outcome == "draw" else 2 * (game.players[game.outcome == "north"] != "random")
            for game in pair
        )
        for pair in zip(records[::2], records[1::2], strict=True)
    ]
    assert found.repeated == 0
    assert list(found.counts) == [points.count(half) for half in range(5)]
    test = ed.arena.Sprt(0, 150)
    before = [points[:-1].count(half) for half in range(5)]
    assert test.result(before).accepted is None


def test_the_decision_does_not_depend_on_threads() -> None:
    found = [
        ed.arena.sprt(
            "mcts:20", "random", ruleset=SIX, elo0=0, elo1=60, seed=1, num_threads=threads
        )
        for threads in (1, 2, 8)
    ]
    assert found[0] == found[1] == found[2]


def test_equal_players_accept_that_there_is_no_difference() -> None:
    found = ed.arena.sprt("random", "random", ruleset=SIX, elo0=0, elo1=60, max_games=400)
    # The same player against itself scores exactly one half in every pair.
    assert (found.accepted, found.score) == ("H0", 0.5)


def test_repeated_pairs_are_no_evidence() -> None:
    found = ed.arena.sprt(
        "alphabeta:2", "greedy", ruleset=SIX, elo0=0, elo1=20, openings=0, max_games=200
    )
    assert (found.games, found.repeated, found.accepted) == (2, 99, None)
    assert "99 pairs" in str(found)


def test_openings_that_lead_to_one_position_are_one() -> None:
    """Two random plies lead to few positions: every pair from one that was there is left out."""
    players = ("alphabeta:2", "greedy")
    found = ed.arena.sprt(*players, ruleset=SIX, elo0=-1, elo1=1, openings=2, max_games=400)
    plan = ed.arena.Tournament(players, ruleset=SIX, games=400, openings=2)
    reached = set()
    for pair in range(200):
        position, opening = plan.opening(pair)
        for column in opening:
            position = position.play(column)
        reached.add(position.to_text())
    assert len(reached) < 40
    assert (found.games, found.repeated) == (2 * len(reached), 200 - len(reached))


def test_a_test_without_a_decision_ends() -> None:
    found = ed.arena.sprt("random", "mcts:2", ruleset=SIX, elo0=-5, elo1=5, max_games=20)
    assert (found.accepted, found.games) == (None, 20)
    for games in (0, 21, 10**30):
        with pytest.raises(ed.ArenaError, match=f"^max_games is {games}, expected an even number"):
            ed.arena.sprt("random", "greedy", ruleset=SIX, elo0=0, elo1=5, max_games=games)
    with pytest.raises(ed.ArenaError, match="max_games is 20000, expected 480 at most: the book"):
        ed.arena.sprt("random", "greedy", ruleset=SIX, elo0=0, elo1=5, openings="balanced")


def test_an_interruption_keeps_what_was_found() -> None:
    calls: list[int] = []

    def stops(observations: npt.NDArray[Any], action_masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        calls.append(len(observations))
        if len(calls) > 200:
            raise KeyboardInterrupt
        columns: npt.NDArray[Any] = action_masks.argmax(axis=1)
        return columns

    with pytest.raises(KeyboardInterrupt) as interruption:
        ed.arena.sprt(stops, "random", ruleset=SIX, elo0=0, elo1=1, max_games=100_000)
    found: ed.arena.SprtResult = vars(interruption.value)["result"]
    assert found.games > 0


def test_games_lost_by_a_players_own_fault_are_counted_with_the_reason() -> None:
    """A policy that plays illegally or raises in a game loses that game with the reason."""

    def one(_observations: npt.NDArray[Any]) -> int:
        return 0

    found = ed.arena.sprt(one, "greedy", ruleset=SIX, elo0=0, elo1=10)  # type: ignore[arg-type]
    assert found.accepted == "H0"
    mine, other = found.faults
    assert (mine.name, mine.illegal, mine.error, mine.late) == ("one", 0, found.games, 0)
    assert (other.name, other.error, other.failure) == ("greedy", 0, None)
    assert mine.failure is not None
    assert "one() takes 1 positional argument but 2 were given" in mine.failure
    told = f"one lost games by its own fault: {found.games} error; at first: {mine.failure}"
    assert str(found).splitlines()[-1] == told
    read = json.loads(json.dumps(found.to_dict()))
    assert (read["faults"][0]["error"], read["faults"][0]["failure"]) == (found.games, mine.failure)
    assert ed.arena.Sprt(0, 10).result(found.counts).faults == ()


def test_the_command_tests_two_players(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sprt", "alphabeta:2", "random", "--columns", "6", "--elo0", "0", "--elo1", "100"]
    assert main(words) == 0
    assert "H1 (+100) accepted" in capsys.readouterr().out
    assert main([*words, "--json", "--model", "normalized", "--openings", "6"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["accepted"], found["settings"]["openings"]) == ("H1", 6)
    assert main([*words[:-1], "-5"]) == 2
    assert "expected elo0 below elo1" in capsys.readouterr().err


def test_the_command_names_players_as_they_were_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.py").write_text("def policy(views, masks): return masks.argmax(axis=1)\n")
    words = ["sprt", "named.py:policy", "greedy", "--columns", "6", "--max-games", "4", "--json"]
    assert main([*words, "--elo0", "0", "--elo1", "5"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["players"] == ["named.py:policy", "greedy"]
    assert found["faults"][0]["name"] == "named.py:policy"
