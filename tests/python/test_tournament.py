"""Tournaments: `ed.arena.tournament`, its games and standings."""

from __future__ import annotations

import json
import pickle
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

import endodoi as ed
from endodoi import Position, Ruleset
from endodoi.arena import Chunk, Games, Tournament, tournament

if TYPE_CHECKING:
    from pathlib import Path

SIX = Ruleset(columns=6)


def lowest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def test_standings_of_the_documented_players() -> None:
    players: list[Any] = ["random", ed.policies.Greedy(), lowest]
    standings = tournament(players, ruleset=SIX, games=60, seed=5)
    assert [player.name for player in standings.players] == ["random", "greedy", "lowest"]
    assert standings.games == 180
    assert [(pairing.a, pairing.b) for pairing in standings.pairings] == [
        ("random", "greedy"),
        ("random", "lowest"),
        ("greedy", "lowest"),
    ]
    for player in standings.players:
        assert player.games == 120
        assert player.wins + player.draws + player.losses == 120
        assert player.score == pytest.approx((player.wins + player.draws / 2) / 120)
    for pairing in standings.pairings:
        assert pairing.low < pairing.score < pairing.high
    assert standings["greedy"].score > standings["random"].score
    with pytest.raises(KeyError, match=r"no player 'x', there are random, greedy, lowest"):
        standings["x"]
    first = standings.first_move
    assert first.wins + first.draws + first.losses == 180
    assert 0 < standings.draw_rate < 0.3
    assert first.elo["low"] < first.elo["value"] < first.elo["high"]
    assert sum(player.rating for player in standings.players) == pytest.approx(0, abs=1e-6)
    assert all(player.low < player.rating < player.high for player in standings.players)
    assert standings.superiority[1][0] > 0.99


def test_who_wins_everything_has_a_finite_flagged_rating() -> None:
    """An undefeated player gets a finite, flagged rating."""
    standings = tournament(["random", "alphabeta:6"], ruleset=SIX, games=4, openings=0, seed=3)
    weak, strong = standings.players
    assert strong.wins == weak.losses == 4
    assert (strong.flag, weak.flag) == ("undefeated", "winless")
    assert 0 < strong.rating < strong.high < 5000
    assert "alphabeta:6 is undefeated: its rating leans on the prior" in str(standings)


def test_equal_players_are_numbered_and_score_exactly_one_half() -> None:
    standings = tournament(["random", "random", lowest, lowest], ruleset=SIX, games=40)
    names = [player.name for player in standings.players]
    assert names == ["random", "random#2", "lowest", "lowest#2"]
    assert standings.pairings[0].score == standings.pairings[-1].score == 0.5
    assert standings.pairings[-1].distinct <= 20
    assert standings.pairings[1].distinct == 40


def test_the_result_depends_neither_on_threads_nor_on_the_split() -> None:
    players = ["random", "greedy", "alphabeta:2", "mcts:4"]
    whole = tournament(players, ruleset=SIX, games=40, seed=2, num_threads=1)
    for threads in (2, 8):
        again = tournament(players, ruleset=SIX, games=40, seed=2, num_threads=threads)
        assert again == whole
        assert again.text == whole.text
    assert tournament(players, ruleset=SIX, games=40, seed=3) != whole


def test_chunks_can_be_played_anywhere_in_any_order() -> None:
    """A tournament and its games can be pickled."""
    plan = Tournament({"a": "random", "b": lowest, "c": "greedy"}, ruleset=SIX, games=20)
    chunks = plan.chunks(pairs=4)
    assert chunks[:4] == [
        Chunk(0, 1, 0, 4),
        Chunk(0, 2, 0, 4),
        Chunk(1, 2, 0, 4),
        Chunk(0, 1, 4, 8),
    ]
    copy = pickle.loads(pickle.dumps(plan))
    assert copy.names == ["a", "b", "c"]
    parts = [pickle.loads(pickle.dumps(copy.play([chunk]))) for chunk in reversed(chunks)]
    whole = plan.play(chunks, num_threads=1)
    assert plan.standings(parts) == plan.standings(whole)
    assert Games.join([whole]) == whole
    assert len(whole) == 60
    with pytest.raises(ed.ArenaError, match="expected two games, one for each side"):
        plan.standings([*parts, parts[0]])
    with pytest.raises(ed.ArenaError, match="no chunk of this tournament"):
        plan.play([(1, 0, 0, 1)])
    for chunk in ((0, 1), (0, 1, 0.5, 1), (0, 1, True, "1"), 3, (0, 1, 0, 1, 2)):
        with pytest.raises(ed.ArgumentTypeError, match=r"chunks\[0\] is .*four whole numbers"):
            plan.play([chunk])  # type: ignore[list-item]
    for chunk in ((0, 1, -1, 1), (0, 1, 0, 1 << 40)):
        with pytest.raises(ed.ArenaError, match="no chunk of this tournament"):
            plan.play([chunk])
    assert len(plan.play([[np.int64(0), 1, 0, 1]])) == 2  # type: ignore[list-item]
    with pytest.raises(ed.ArenaError, match="pairs is 0, expected 1 to"):
        plan.chunks(0)


def test_records_are_those_of_the_games_and_replay() -> None:
    plan = Tournament(["random", lowest], ruleset=SIX, games=10, max_plies=25)
    games = plan.play(plan.chunks())
    records = plan.records(games)
    columns = games.to_numpy()
    assert len(records) == 10
    for index, record in enumerate(records):
        assert record.players == (("random", "lowest"), ("lowest", "random"))[index % 2]
        start, opening = plan.opening(index // 2)
        assert record.start == start.to_text()
        assert record.moves[:4] == opening
        assert record.captured == (
            columns["captured_south"][index],
            columns["captured_north"][index],
        )
        assert len(record) == columns["plies"][index]
    assert {record.end_reason for record in records} <= {"stuck", "quiet", "max_plies"}
    assert plan.standings(games).cut > 0


def test_a_function_is_asked_for_all_its_games_at_once() -> None:
    rows = []

    def counting(observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        assert observations.dtype == np.int16
        assert masks.dtype == np.int8
        rows.append(len(observations))
        return lowest(observations, masks)

    plan = Tournament([counting, "random", "greedy"], ruleset=SIX, games=200)
    plan.play(plan.chunks(100))
    assert max(rows) > 150


class Misbehaving:
    """Plays the lowest column; misbehaves where its row holds so many seeds."""

    def __init__(self, *, sleeps: bool = False) -> None:
        self.sleeps = sleeps

    def __call__(self, observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        seeds = observations[:, :6].sum(axis=1)
        if (seeds == 13).any():
            raise RuntimeError("lost its nerve")
        if self.sleeps and (seeds == 11).any():
            time.sleep(0.06)
        return np.where(seeds == 17, 99, masks.argmax(axis=1))


def test_who_raises_or_plays_illegally_loses_that_game_alone() -> None:
    standings = tournament([Misbehaving(), "random"], ruleset=SIX, games=200)
    bad, other = standings.players
    assert bad.error > 3
    assert bad.illegal > 3
    assert (other.error, other.illegal, other.late, other.failure) == (0, 0, 0, None)
    assert bad.failure in (
        "player Misbehaving: RuntimeError: lost its nerve",
        "column is 99, expected 0 to 5",
    )
    columns = standings.table.to_numpy()
    names = np.array(ed.GameTable.END_REASONS)[columns["end_reason"]]
    for reason, count in (("error", bad.error), ("illegal", bad.illegal)):
        lost = names == reason
        assert lost.sum() == count
        # South of a pair's first game is the first player.
        assert (columns["winner"][lost] == np.where(columns["south"][lost] == 0, -1, 1)).all()
    assert (names == "stuck").sum() > 50
    assert "Misbehaving lost games by its own fault" in str(standings)


def test_a_late_player_loses_that_game_and_times_are_measured_where_moves_are_made() -> None:
    """Time per move is measured where the move is made, losses on time counted apart."""
    standings = tournament(
        [Misbehaving(sleeps=True), "greedy"], ruleset=SIX, games=60, seconds_per_move=0.05
    )
    bad, other = standings.players
    assert bad.late > 2
    assert bad.error > 0
    assert bad.longest_move > 0.05
    # The other one is not charged for the time of the first.
    assert other.late == 0 or other.longest_move > 0.05
    assert other.seconds_per_move < 0.02
    assert "s/move" in str(standings)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _masks: None, id="nothing"),
        pytest.param(lambda masks: masks.argmax(axis=1)[:-1], id="too few"),
        pytest.param(lambda masks: masks.argmax(axis=1) + 0.5, id="no whole numbers"),
        pytest.param(lambda masks: np.full(len(masks), -1), id="below the range"),
        pytest.param(lambda masks: np.full(len(masks), 2**40), id="beyond the range"),
        pytest.param(lambda _masks: "column", id="text"),
    ],
)
def test_any_nonsense_loses_all_games_and_nothing_else(answer: Any) -> None:
    def nonsense(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        return answer(masks)

    standings = tournament([nonsense, "random", "greedy"], ruleset=SIX, games=6)
    bad = standings["nonsense"]
    assert bad.losses == bad.error + bad.illegal == bad.games == 12
    assert bad.failure
    assert standings.pairings[2].wins + standings.pairings[2].losses > 0


@pytest.mark.parametrize("committee", [False, True])
def test_who_calls_for_the_end_of_the_program_loses_that_game_alone(*, committee: bool) -> None:
    def quits(observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        if (observations[:, :6].sum(axis=1) == 13).any():
            sys.exit(3)
        return masks.argmax(axis=1)

    player: Any = ed.policies.Committee([quits, lowest]) if committee else quits
    standings = tournament({"quits": player, "random": "random"}, ruleset=SIX, games=60)
    bad, other = standings.players
    assert 3 < bad.error < 60
    assert other.error == 0
    assert bad.failure is not None
    assert "quits ends the program: SystemExit(3)" in bad.failure


def test_a_keyboard_interrupt_of_a_function_is_not_swallowed() -> None:
    calls = 0

    def impatient(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls > 400:
            raise KeyboardInterrupt
        return masks.argmax(axis=1)

    with pytest.raises(KeyboardInterrupt) as raised:
        tournament([impatient, "greedy"], ruleset=SIX, games=20_000)
    standings = raised.value.standings  # type: ignore[attr-defined]
    assert 0 < standings.games < 20_000
    assert standings.games % 2 == 0
    assert standings["impatient"].error == 0


def test_a_progress_function_is_told_the_games_finished() -> None:
    told: list[int] = []
    tournament(["random", "greedy"], ruleset=SIX, games=200, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 200
    with pytest.raises(ZeroDivisionError) as raised:
        tournament(["random", "greedy"], ruleset=SIX, games=200, progress=lambda _now: 1 / 0)
    assert hasattr(raised.value, "standings")


def test_what_cannot_be_played_is_refused_by_name(tmp_path: Path) -> None:
    def refused(error: type[Exception], message: str, players: Any, **settings: Any) -> None:
        arguments = {"ruleset": SIX, "games": 10, **settings}
        with pytest.raises(error, match=message):
            tournament(players, **arguments)

    two = ["random", "greedy"]
    refused(ed.ArenaError, "players is 0, expected 2 to 1000", [])
    refused(ed.ArenaError, "players is 1, expected 2 to 1000", ["random"])
    refused(ed.ArenaError, "games is 7, expected an even number from 2", two, games=7)
    refused(ed.ArenaError, "games is -2, expected an even number from 2", two, games=-2)
    refused(ed.ArenaError, "games is 0, expected an even number from 2", two, games=0)
    refused(ed.ArgumentTypeError, "games is 1.5", two, games=1.5)
    refused(ed.PolicyError, 'player is "nobody", expected random, greedy', ["random", "nobody"])
    refused(ed.ArgumentTypeError, "players is 'random'", "random")
    refused(ed.ArgumentTypeError, r"players\[1\] is 7", ["random", 7])
    unmade = r"players\[1\] is <class '.*Greedy'> .*, expected a specification or a function"
    refused(ed.ArgumentTypeError, unmade, ["random", ed.policies.Greedy])
    refused(ed.ArgumentTypeError, "players has the name 3", {3: "random", "b": "greedy"})
    refused(ed.ArgumentTypeError, "ruleset is None", two, ruleset=None)
    refused(ed.ArenaError, "gauntlet is 2, expected 1 to 1", two, gauntlet=2)
    refused(ed.ArenaError, "openings is -1, expected 0 to 10000", two, openings=-1)
    refused(ed.ArgumentTypeError, "openings is 2.5", two, openings=2.5)
    refused(ed.ArenaError, "openings is 4, expected 0 to 2", two, max_plies=3)
    refused(ed.ArgumentValueError, "seed is -1", two, seed=-1)
    refused(ed.ArenaError, "seconds_per_move is 0, expected", two, seconds_per_move=0)
    refused(ed.ArgumentTypeError, "seconds_per_move is 'x'", two, seconds_per_move="x")
    refused(ed.ArenaError, "num_threads is 0, expected 1 to", two, num_threads=0)
    refused(FileNotFoundError, "nowhere.txt", two, openings=tmp_path / "nowhere.txt")
    agent = ed.policies.Agent.load("en-dodoi-2x6")
    refused(ed.PolicyError, "cannot play", [agent, "random"], ruleset=Ruleset(columns=8))


def test_a_book_gives_every_pairing_the_same_positions(tmp_path: Path) -> None:
    start = Position.start(SIX)
    book = [start.play(one).play(other) for one in range(3) for other in (0, 5)]
    texts = [position.to_text() for position in book]
    file = tmp_path / "book.txt"
    file.write_text("# six\n" + "".join(f"{text}\t+0\n" for text in texts), encoding="utf-8")
    players = ["greedy", "alphabeta:2", "random"]
    of_list = tournament(players, ruleset=SIX, games=12, openings=texts)
    assert of_list == tournament(players, ruleset=SIX, games=12, openings=book)
    assert of_list == tournament(players, ruleset=SIX, games=12, openings=file)
    plan = Tournament(players, ruleset=SIX, games=12, openings=book, seed=4)
    assert sorted(plan.opening(pair)[0].to_text() for pair in range(6)) == sorted(texts)
    message = "the book holds 6 positions, but 14 games for each pairing take 7"
    with pytest.raises(ed.ArenaError, match=message):
        tournament(players, ruleset=SIX, games=14, openings=book)
    with pytest.raises(ed.BookError, match=r"position 1 of the book, .* is there twice"):
        tournament(players, ruleset=SIX, games=2, openings=[texts[0], texts[0]])
    with pytest.raises(ed.ArenaError, match="the book holds positions of"):
        tournament(players, ruleset=Ruleset(columns=7), games=2, openings=book)


def test_the_results_in_every_form(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    standings = tournament(["random", "greedy", "random"], ruleset=SIX, games=20)
    numbers = json.loads(standings.to_json())
    assert numbers == standings.to_dict()
    assert numbers["players"][2]["name"] == "random#2"
    assert numbers["settings"]["games"] == 20
    standings.write_json(tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8")) == numbers
    assert standings.to_markdown() == standings._repr_markdown_()
    assert "| 1 | greedy | +" in standings.to_markdown()
    standings.write_parquet(tmp_path / "games.parquet")
    table = pq.read_table(tmp_path / "games.parquet").to_pydict()
    assert len(table["pair"]) == 60
    sides = zip(table["a"], table["b"], table["south"], table["north"], strict=True)
    assert all({a, b} == {south, north} for a, b, south, north in sides)
    assert set(table["end_reason"]) <= {"stuck", "quiet"}
    assert table["south"][:2] == ["random", "greedy"]
    copy = pickle.loads(pickle.dumps(standings))
    assert copy == standings
    assert copy.table == standings.table


def test_texts_count_one_game_as_one_and_zero_without_a_minus() -> None:
    for max_plies in range(10, 200):
        standings = tournament(["random", "mcts:2"], ruleset=SIX, games=2, max_plies=max_plies)
        if standings.cut == 1:
            break
    assert standings.cut == 1
    for text in (str(standings), standings.to_markdown()):
        assert "1 game was cut, half a point each" in text
    same = tournament(["greedy"] * 4, ruleset=SIX, games=2, openings=0)
    assert "1 of 12 games is distinct" in str(same)
    assert [player.rating for player in same.players] == pytest.approx([0] * 4)
    assert re.findall(r"\S+0 +-\d+ to", str(same))
    assert not re.search(r"-0(\.0+)?\b(?!\.)", str(same))


def test_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    standings = tournament(["random", "greedy", "alphabeta:2"], ruleset=SIX, games=20)
    figure = standings.plot(tmp_path / "s.png")
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["alphabeta:2", "greedy", "random"]
    written = [text.get_text() for text in figure.axes[1].texts]
    assert len(written) == 6
    assert float(written[0]) + float(written[2]) == pytest.approx(1, abs=0.011)


def test_tables_show_control_characters_of_names_and_messages_as_escapes() -> None:
    def failing(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> Any:
        raise ValueError("one\ntwo\x1b[31m")

    names = ["a\nb", "tab\t|", "\u202eright", "a\nb\nc", "a name that is the longest of all"]
    players: dict[str, Any] = dict(zip(names, [failing, *["random"] * 4], strict=True))
    standings = tournament(players, ruleset=SIX, games=2)
    assert [player.name for player in standings.players] == names
    for text in (str(standings), standings.to_markdown()):
        assert all(line.isprintable() for line in text.split("\n"))
        for shown in (r"a\nb ", r"tab\t", r"\u202eright", r"a\nb\nc ", r"one\ntwo\x1b[31m"):
            assert shown in text
    heading, *rows = str(standings).split("\n")[:6]
    games = heading.index("games") + len("games")
    assert [row[games - 2 : games] for row in rows] == [" 8"] * 5
