"""Matches: the series of games, the el ala."""

from __future__ import annotations

import json
import pickle
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

import endodoi as ed
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

SIX = ed.Ruleset(columns=6)


def test_the_first_to_win_so_many_games_wins() -> None:
    """M1: a series until one has won an agreed number; sides alternate; draws count for nobody."""
    found = ed.arena.match("random", "mcts:2", ruleset=SIX, wins=7, seed=4)
    assert found.players == ("random", "mcts:2")
    assert found.winner in found.players
    assert max(found.tally) == 7 > min(found.tally)
    assert sum(found.tally) + found.draws == len(found.games)
    assert found.games[-1].winner == found.winner
    won = [0, 0]
    for number, game in enumerate(found.games):
        assert game.south == found.players[number % 2]
        assert game.north == found.players[1 - number % 2]
        if game.winner is not None:
            won[found.players.index(game.winner)] += 1
            captured = game.captured if game.winner == game.south else game.captured[::-1]
            assert captured[0] > captured[1]
        assert game.tally == tuple(won)


def test_two_games_in_a_row_have_the_same_opening() -> None:
    found = ed.arena.match("random", "greedy", ruleset=SIX, wins=5, seed=2)
    moves = [record.moves[:4] for record in found.records]
    assert moves[0::2][: len(moves[1::2])] == moves[1::2]
    assert len({tuple(opening) for opening in moves}) == (len(moves) + 1) // 2
    for record, game in zip(found.records, found.games, strict=True):
        assert record.replay().captured == game.captured


def test_the_same_seed_gives_the_same_match_for_any_number_of_threads() -> None:
    one, other = (
        ed.arena.match("mcts:20", "random", ruleset=SIX, wins=5, seed=9, num_threads=threads)
        for threads in (1, 8)
    )
    assert one == other
    assert one.records == other.records


def test_deterministic_players_from_the_start_repeat_two_games() -> None:
    found = ed.arena.match("greedy", "alphabeta:4", ruleset=SIX, wins=5, openings=0)
    assert found.distinct == 2
    assert len(found.games) <= 9
    assert "only 2 of the games differ" in str(found)
    assert found.records[0].moves == found.records[2].moves


def test_a_match_that_nobody_wins_ends() -> None:
    """Players that only ever draw: 2x2 with one seed a pit, cut after a ply."""
    tiny = ed.Ruleset(columns=2, seeds_per_pit=4)
    found = ed.arena.match("random", "random", ruleset=tiny, wins=2, openings=0, max_plies=1)
    assert (found.winner, found.tally) == (None, (0, 0))
    assert len(found.games) == found.draws == 40
    assert "nobody wins: random against random#2 0:0, 40 drawn, 40 games" in str(found)
    assert str(found).endswith("all games are the same") == (found.distinct == 1)


def test_the_tally_is_shown_game_by_game() -> None:
    found = ed.arena.match("alphabeta:4", "random", ruleset=SIX, wins=3, seed=1)
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["game", "South", "captured"]
    assert len(lines) == len(found.games) + 2
    assert found.winner == "alphabeta:4"
    assert lines[-2].split("  ")[-1].split(":")[0].count("|") == 3
    assert lines[-1].startswith("alphabeta:4 wins: alphabeta:4 against random 3:")


def test_a_player_that_fails_loses_its_games_with_the_reason() -> None:
    """A policy that plays illegally or raises in a game loses that game with the reason."""

    def broken(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> NoReturn:
        raise RuntimeError("lost its nerve")

    def illegal(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        columns: npt.NDArray[Any] = masks.argmin(axis=1) + 100
        return columns

    for player, reason in ((broken, "error"), (illegal, "illegal")):
        found = ed.arena.match(player, "greedy", ruleset=SIX, wins=3)
        assert found.winner == "greedy"
        assert [game.end_reason for game in found.games] == [reason] * 3
        mine, other = found.faults
        assert getattr(mine, reason) == mine.illegal + mine.error + mine.late == 3
        assert (other.name, other.failure) == ("greedy", None)
        assert found.games[0].failure == mine.failure
        told = f"{mine.name} lost games by its own fault: 3 {reason}; at first: {mine.failure}"
        assert str(found).splitlines()[-1] == told
        read = json.loads(json.dumps(found.to_dict()))
        assert read["faults"][0][reason] == 3
        assert read["games"][2]["failure"] == found.games[2].failure


def test_a_player_that_is_late_is_told() -> None:
    def slow(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        time.sleep(0.02)
        columns: npt.NDArray[Any] = masks.argmax(axis=1)
        return columns

    found = ed.arena.match(slow, "greedy", ruleset=SIX, wins=1, seconds_per_move=0.005)
    assert found.games[0].end_reason == "late"
    assert found.faults[0].late == 1
    assert "slow lost games by its own fault: 1 late; at first: " in str(found)


def test_a_match_can_be_written_and_pickled(tmp_path: Path) -> None:
    found = ed.arena.match("greedy", "random", ruleset=SIX, wins=2, seed=1)
    read = json.loads(json.dumps(found.to_dict()))
    assert read["winner"] == found.winner
    assert read["tally"] == list(found.tally)
    assert read["settings"]["wins"] == 2
    assert len(read["games"]) == len(found.games)
    found.write_records(tmp_path / "match.jsonl")
    lines = (tmp_path / "match.jsonl").read_text(encoding="utf-8").splitlines()
    assert [ed.GameRecord.from_json(line) for line in lines] == found.records
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"wins": 0}, "wins is 0, expected 1 to 1000"),
        ({"max_games": 1}, "^max_games is 1, expected an even number from 2 to 100000"),
        ({"max_games": 3}, "^max_games is 3, expected an even number"),
        (
            {"wins": 50, "openings": [ed.Position.start(SIX)]},
            "max_games is 1000, expected 2 at most: the book has 1 position, one for every two",
        ),
        ({"openings": -1}, "openings"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ed.ArenaError, ed.ArgumentValueError), match=message):
        ed.arena.match("greedy", "random", ruleset=SIX, **arguments)


def test_players_have_the_names_that_are_given() -> None:
    found = ed.arena.match("greedy", "random", ruleset=SIX, wins=1, seed=1, names=["x", "x"])
    assert found.players == ("x", "x#2")
    assert found.games[0].south == found.records[0].players[0] == "x"
    for names in ("xy", ["x"], ["x", 3], 7):
        with pytest.raises(ed.ArgumentTypeError, match="names is "):
            ed.arena.match("greedy", "random", ruleset=SIX, names=names)  # type: ignore[arg-type]


def test_texts_show_control_characters_of_names_and_messages_as_escapes() -> None:
    def failing(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> NoReturn:
        raise RuntimeError("one\ntwo\x1b[31m")

    names = ["a\nb", "\u202eright\t"]
    found = ed.arena.match(failing, "random", ruleset=SIX, wins=2, names=names)
    tested = ed.arena.sprt(
        failing, "random", ruleset=SIX, elo0=0, elo1=50, max_games=4, names=names
    )
    assert found.players == tested.players == tuple(names)
    for text in (str(found), str(tested)):
        assert all(line.isprintable() for line in text.split("\n"))
        for shown in (r"a\nb against \u202eright\t", r"a\nb lost games", r"one\ntwo\x1b[31m"):
            assert shown in text
    lines = str(found).split("\n")
    column = lines[0].index("captured")
    assert all(re.fullmatch(r" +\d+-\d+", line[column - 2 : column + 8]) for line in lines[1:3])


def test_an_interruption_keeps_the_games_so_far() -> None:
    whole = ed.arena.match("greedy", "random", ruleset=SIX, wins=20, seed=1)

    def stop(finished: int) -> None:
        if finished > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interruption:
        ed.arena.match("greedy", "random", ruleset=SIX, wins=20, seed=1, progress=stop)
    found: ed.arena.Match = vars(interruption.value)["match"]
    played = len(found.games)
    assert found.winner is None
    assert 20 <= played < len(whole.games)
    assert found.games == whole.games[:played]
    assert found.records == whole.records[:played]
    tally = f"{found.tally[0]}:{found.tally[1]}"
    assert f"not finished: greedy against random {tally}" in str(found)


def test_ctrl_c_prints_the_tally_so_far(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\n\nasked = 0\n\n"
        "def policy(views, masks):\n    global asked\n    asked += 1\n"
        "    if asked > 30:\n        open('begun', 'w').close()\n        time.sleep(0.2)\n"
        "    return masks.argmax(axis=1)\n"
    )
    words = ["match", "slow.py:policy", "random", "--columns", "6", "--wins", "9"]
    process = subprocess.Popen(
        [sys.executable, "-m", "endodoi", *words, "--records", "match.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (tmp_path / "begun").is_file():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "endodoi: interrupted after " in errors
    assert "not finished: slow.py:policy against random " in output
    games = int(errors.split(" after ")[1].split()[0])
    assert games > 0
    assert len((tmp_path / "match.jsonl").read_text().splitlines()) == games


def test_the_command_plays_a_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def policy(views, masks): return masks.argmax(axis=1)\n")
    words = ["match", "mine.py:policy", "committee:3xmcts:20", "--columns", "6", "--wins", "2"]
    assert main([*words, "--records", "match.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert "committee:3xmcts:20 wins" in shown
    assert main([*words, "--json"]) == 0
    played = json.loads(capsys.readouterr().out)
    assert played["winner"] == "committee:3xmcts:20"
    assert played["players"] == ["mine.py:policy", "committee:3xmcts:20"]
    records = (tmp_path / "match.jsonl").read_text()
    assert len(records.splitlines()) == len(played["games"])
    assert main([*words, "--records", "match.jsonl"]) == 1
    assert "this file is there already" in capsys.readouterr().err
    assert (tmp_path / "match.jsonl").read_text() == records
    assert main(["match", "greedy", "random", "--wins", "0"]) == 2
    assert "wins is 0, expected 1 to 1000" in capsys.readouterr().err
