"""Books of openings: the shipped ones, and those that users build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi import Position, Ruleset
from endodoi.books import FOLDER, balanced

if TYPE_CHECKING:
    from pathlib import Path


def entries(columns: int) -> list[tuple[str, int]]:
    text = (FOLDER / f"en-dodoi-2x{columns}.txt").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [(position, int(margin)) for position, margin in lines]


@pytest.mark.parametrize("columns", [6, 7, 8])
def test_the_balanced_books_hold_what_they_say(columns: int) -> None:
    ruleset = Ruleset(columns=columns)
    positions = balanced(ruleset)
    listed = entries(columns)
    assert len(positions) == len(listed) >= 200
    assert [position.to_text() for position in positions] == [text for text, _ in listed]
    assert {position.to_move for position in positions} == {"south"}
    views = {tuple(position.observation()[:-1]) for position in positions}
    assert len(views) == len(positions)
    for position in positions:
        assert position.board.sum() + sum(position.captured) == 8 * columns
    assert max(abs(margin) for _, margin in listed) <= 2
    # Those with the fewest seeds on the board are proven again in no time.
    solver = ed.Solver(ruleset, num_threads=1)
    few = sorted(zip(positions, listed, strict=True), key=lambda pair: pair[0].board.sum())
    for position, (_, margin) in few[:5]:
        solution = solver.solve(position, progress=False)
        assert solution.value is not None
        assert position.captured[0] - position.captured[1] + solution.value == margin


def test_a_tournament_from_the_balanced_book() -> None:
    six = Ruleset(columns=6)
    size = len(balanced(six))
    standings = ed.arena.tournament(
        ["greedy", "random"], ruleset=six, games=2 * size, openings="balanced"
    )
    assert standings.settings["openings"]["book"] == "balanced"
    assert standings.pairings[0].distinct == 2 * size
    message = f"the book holds {size} positions, but {2 * size + 2} games for each pairing"
    with pytest.raises(ed.ArenaError, match=message):
        ed.arena.tournament(
            ["greedy", "random"], ruleset=six, games=2 * size + 2, openings="balanced"
        )


@pytest.mark.parametrize(
    "ruleset",
    [Ruleset(columns=9), Ruleset("cross-endodoi"), Ruleset(columns=6, lone_capture="taken")],
)
def test_a_board_without_a_book_names_those_there_are(ruleset: Ruleset) -> None:
    message = "only for en-dodoi-2x6, en-dodoi-2x7, en-dodoi-2x8 with their usual rules"
    with pytest.raises(ed.BookError, match=message):
        ed.arena.tournament(["greedy", "random"], ruleset=ruleset, games=2, openings="balanced")


def test_a_book_of_ones_own(tmp_path: Path) -> None:
    ruleset = Ruleset(columns=3)
    told: list[int] = []
    # With time enough every position is solved, and the same ones are found on any machine.
    settings = {"positions": 8, "plies": 4, "worth": 4, "seed": 3, "seconds": 300}
    book = ed.arena.book(ruleset, **settings, progress=told.append)  # type: ignore[arg-type]
    assert told == list(range(1, 9))
    assert len(book) == len(book.positions) == len(book.margins) == 8
    solver = ed.Solver(ruleset)
    for position, margin in zip(book, book.margins, strict=True):
        assert abs(margin) <= 4
        value = solver.solve(position).value
        assert value is not None
        assert position.captured[0] - position.captured[1] + value == margin
    again = ed.arena.book(ruleset, **settings, num_threads=1)  # type: ignore[arg-type]
    assert again == book
    file = tmp_path / "book.txt"
    book.write(file)
    played = [
        ed.arena.tournament(["greedy", "random"], ruleset=ruleset, games=16, openings=openings)
        for openings in (book, file, list(book), [one.to_text() for one in book])
    ]
    assert all(standings == played[0] for standings in played)


def test_a_book_that_cannot_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # After one ply only few positions differ: each is looked at once, and the drawing ends early.
    solved: list[Position] = []
    solve = ed.Solver.solve

    def watched(solver: ed.Solver, position: Position, **settings: Any) -> ed.Solution:
        solved.append(position)
        return solve(solver, position, **settings)

    monkeypatch.setattr(ed.Solver, "solve", watched)
    message = (
        r"\d of 400 positions found among 500[1-9] random openings of 1 plies, of which [1-9] "
    )
    with pytest.raises(ed.BookError, match=message):
        ed.arena.book(Ruleset(columns=2), positions=400, plies=1, worth=0)
    texts = [position.to_text() for position in solved]
    assert 0 < len(texts) == len(set(texts))
    for name, value in (("positions", 0), ("plies", -1), ("worth", -1), ("seconds", 0)):
        with pytest.raises(ed.ArgumentValueError, match=name):
            ed.arena.book(Ruleset(columns=4), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ed.SolveError):
        ed.arena.book(Ruleset(columns=4, endless="draw"))


def test_positions_of_a_book_start_games_with_their_own_side_to_move() -> None:
    six = Ruleset(columns=6)
    north = Position.start(six).play(0)
    plan = ed.arena.Tournament(["greedy", "random"], ruleset=six, games=2, openings=[north])
    records = plan.records(plan.play(plan.chunks()))
    assert [record.start for record in records] == [north.to_text()] * 2
    assert [record.players for record in records] == [("greedy", "random"), ("random", "greedy")]


def test_a_book_file_may_have_a_byte_order_mark_and_must_be_utf_8(tmp_path: Path) -> None:
    six = Ruleset(columns=6)
    text = Position.start(six).play(0).to_text() + "\t+0\n"
    file = tmp_path / "book.txt"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    two = ["random", "greedy"]
    assert ed.arena.tournament(two, ruleset=six, games=2, openings=file).games == 2
    file.write_bytes(text.encode("utf-16"))
    with pytest.raises(ed.BookError, match=r"book\.txt is no book of openings: 'utf-8' codec"):
        ed.arena.tournament(two, ruleset=six, games=2, openings=file)


def test_arguments_of_the_wrong_type_are_named() -> None:
    with pytest.raises(ed.ArgumentTypeError, match="ruleset is None"):
        ed.arena.balanced(None)  # type: ignore[arg-type]
    with pytest.raises(ed.ArgumentTypeError, match="openings is True"):
        ed.arena.tournament(["random", "greedy"], ruleset=Ruleset(), games=2, openings=True)
