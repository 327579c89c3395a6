"""Books of openings: positions that pairs of games start from."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi._core import Position, read_book
from endodoi.errors import BookError
from endodoi.numbers_given import check_range, check_seconds, wrong_type
from endodoi.places import write_text
from endodoi.policies import AlphaBeta
from endodoi.progress import Progress
from endodoi.settings import check_ruleset, check_seed
from endodoi.simulation import plain
from endodoi.solver import Solver
from endodoi.vector_env import VectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from endodoi._core import Ruleset
    from endodoi.solver import TableLike

__all__ = ["Book", "balanced", "book", "read_openings"]

#: Where the shipped books lie: one for each board.
FOLDER = Path(__file__).parent / "books"

#: Random openings that are drawn at a time, and at most for each position that is wanted.
DRAWN, MOST_DRAWN = 256, 200

#: Openings in a row that lead to no new position: more will hardly do.
MOST_STALE = 5_000

#: Plies of the search that tells which positions are not worth a proof, and how far from balanced
#: they are then, in seeds.
LOOK, FAR = 8, 4


@dataclass(frozen=True)
class Book:
    """Positions that pairs of games start from, with what they are worth.

    Attributes
    ----------
    ruleset : Ruleset
    positions : tuple of Position
    margins : tuple of int
        South's captured seeds less North's at the end with perfect play.
    note : str
        How they were found.
    """

    ruleset: Ruleset
    positions: tuple[Position, ...]
    margins: tuple[int, ...]
    note: str = ""

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the positions, one a line with its margin behind a tab; a path is an opening.

        The file is written under a temporary name and renamed.
        """
        head = [self.note, "The text of a position, a tab, and what South wins, in seeds."]
        lines = [f"# {line}\n" for line in head if line]
        both = zip(self.positions, self.margins, strict=True)
        lines += [f"{position.to_text()}\t{margin:+}\n" for position, margin in both]
        write_text(path, "".join(lines))

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.positions)

    def __iter__(self) -> Iterator[Position]:
        """Go through the positions."""
        return iter(self.positions)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Book of {len(self)} positions of {self.ruleset}>"


def book(
    ruleset: Ruleset,
    *,
    positions: int = 200,
    plies: int = 8,
    worth: int = 2,
    seed: int = 0,
    seconds: float = 2.0,
    table: TableLike | None = None,
    num_threads: int | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> Book:
    """Build a book of positions that are worth little to either side.

    Random games are played for some plies, and the exact solver tells what the position is worth:
    all that South captures less all that North captures with perfect play from there on. South is
    to move in every position; positions that differ in the quiet plies alone count once. Which
    positions are found within `seconds` each depends on the machine; what is said of them does not.

    Parameters
    ----------
    ruleset : Ruleset
        The rules; ``endless="draw"`` is refused.
    positions : int
        Positions wanted, 1 to 65,536.
    plies : int
        Random plies, 0 to 10,000: enough for the solver to prove what is left.
    worth : int
        The most seeds that a position is worth.
    seed : int
        Seed of the random plies.
    seconds : float
        Time after which the solver gives up a position.
    table : EndgameTable or path, optional
        An endgame table for the solver.
    num_threads : int, optional
        Threads of the solver.
    progress : bool, "tqdm" or callable, optional
        As in `endodoi.simulate`, for the positions found.

    Returns
    -------
    book : Book
        What `tournament` takes as `openings`.

    Raises
    ------
    BookError
        If too few positions are found among 200 times as many openings, or until 5,000 openings in
        a row have led to none that was not met before.
    ArgumentValueError
        If an argument is outside its range.
    SolveError
        If the rules cannot be solved.

    Examples
    --------
    >>> import endodoi as ed
    >>> small = ed.Ruleset(columns=4)
    >>> even = ed.arena.book(small, positions=10, plies=6, progress=False)
    >>> len(even), max(abs(margin) for margin in even.margins) <= 2
    (10, True)
    >>> ed.arena.tournament(["random", "greedy"], ruleset=small, games=20, openings=even).games
    20
    """
    check_ruleset(ruleset)
    check_range(positions, "positions", 1, 1 << 16)
    check_range(plies, "plies", 0, 10_000)
    check_range(worth, "worth", 0, 32_767)
    check_seconds(seconds)
    solver = Solver(ruleset, table=table, num_threads=num_threads)
    search = AlphaBeta(depth=LOOK)
    found: list[tuple[Position, int]] = []
    met: set[tuple[int, ...]] = set()
    drawn = stale = 0
    with Progress(positions, progress, unit="position") as shown:
        for view in openings_of(ruleset, plies, check_seed(seed), MOST_DRAWN * positions):
            if stale == MOST_STALE:
                break
            key = tuple(view[:-1])
            drawn, stale = drawn + 1, stale + 1
            if key in met:
                continue
            met.add(key)
            stale = 0
            position = position_of(view, ruleset)
            if abs(search.analyse(position).value) > worth + FAR:
                continue
            solution = solver.solve(position, seconds=seconds, progress=False)
            if solution.value is None:
                continue
            margin = position.captured[0] - position.captured[1] + solution.value
            if abs(margin) > worth:
                continue
            found.append((position, margin))
            if shown.function is not None:
                shown.function(len(found))
            if len(found) == positions:
                break
    if len(found) < positions:
        raise BookError(
            f"{len(found)} of {positions} positions found among {drawn} random openings of {plies} "
            f"plies, of which {len(met)} differ; more plies lead to more, and with more plies or "
            "seconds the solver proves more",
            value=len(found),
        )
    note = (
        f"{ruleset}: {positions} positions after {plies} random plies (seed {seed}), each worth "
        f"at most {worth} seeds."
    )
    return Book(ruleset, tuple(one for one, _ in found), tuple(worth for _, worth in found), note)


def openings_of(ruleset: Ruleset, plies: int, seed: int, most: int) -> Iterator[list[int]]:
    """Draw random openings, each as its mover sees it."""
    env = VectorEnv(DRAWN, ruleset=ruleset, random_opening_plies=plies)
    views: Any
    views, _ = env.reset(seed=seed)
    for _ in range(0, most, DRAWN):
        yield from views.tolist()
        views, _ = env.reset()


def position_of(view: list[int], ruleset: Ruleset) -> Position:
    """Return what a view shows, with its mover as South."""
    columns = ruleset.columns
    south, north, captured = view[:columns], view[columns : 2 * columns], view[2 * columns : -1]
    return Position.from_board(
        south, north, captured=(captured[0], captured[1]), quiet=view[-1], ruleset=ruleset
    )


def balanced(ruleset: Ruleset) -> list[Position]:
    """Return the shipped book of a board: positions worth at most two seeds.

    The captured difference at the end with perfect play, seeds captured before included, is at
    most two in each of them, proven by the exact solver.

    Raises
    ------
    BookError
        If there is none for these rules; the message lists those there are.
    ArgumentTypeError
        If it is no rule set.
    """
    check_ruleset(ruleset)
    path = FOLDER / f"{book_name(ruleset)}.txt"
    usual = _core.Ruleset(ruleset.variant, columns=ruleset.columns)
    if ruleset != usual or not path.is_file():
        names = sorted(path.stem for path in FOLDER.glob("*.txt"))
        raise BookError(
            f"there is no balanced book for {ruleset}, only for {', '.join(names)} with their "
            "usual rules; make one with ed.arena.book",
            value=str(ruleset),
        )
    return read_book(path.read_text(encoding="utf-8"), ruleset)


def book_name(ruleset: Ruleset) -> str:
    """Return the name of the shipped book of a board."""
    return f"{ruleset.variant}-2x{ruleset.columns}"


def read_openings(openings: Any, ruleset: Ruleset) -> tuple[int | list[Position], Any]:
    """Return openings as the core takes them, and as settings show them.

    Raises
    ------
    ArgumentTypeError
        If they are neither a number nor a book.
    BookError
        If a book cannot be used.
    OSError
        If its file cannot be read.
    """
    if isinstance(openings, str) and openings == "balanced":
        return shown_book(balanced(ruleset), "balanced")
    if isinstance(openings, (str, os.PathLike)):
        return shown_book(read_book(text_of(openings), ruleset), Path(openings).name)
    if isinstance(openings, Book):
        return shown_book(list(openings), None)
    if isinstance(openings, (list, tuple)):
        return shown_book([read_one(one, i, ruleset) for i, one in enumerate(openings)], None)
    number = plain(openings)
    if isinstance(openings, bool) or not isinstance(number, int):
        raise wrong_type(
            openings,
            "openings",
            'a number of random plies, "balanced", a file or a list of positions',
        )
    return number, number


def text_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a book, without the mark of byte order that some editors put first.

    Raises
    ------
    BookError
        If it is not UTF-8.
    OSError
        If it cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BookError(f"{os.fspath(path)} is no book of openings: {error}") from error


def read_one(one: object, index: int, ruleset: Ruleset) -> Position:
    """Return one position of a list."""
    if isinstance(one, Position):
        return one
    if isinstance(one, str):
        return Position.from_text(one, ruleset)
    raise wrong_type(one, f"openings[{index}]", "a position or its text")


def shown_book(positions: list[Position], name: str | None) -> tuple[list[Position], Any]:
    """Return a book and what tells it from others."""
    text = "\n".join(position.to_text() for position in positions)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return positions, {"book": name, "positions": len(positions), "sha256": digest}
