"""Perfect play: the exact value of a position and of its moves.

A value is the seeds that the mover still takes less those that the other side still takes, with
perfect play: the rest of the board counts where a side is stuck (E1), what is captured already
does not. Play without end gains nothing for either side, so the quiet plies and ``quiet_limit``
(E3) are not looked at, and ``endless="draw"`` (S6) is refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from endodoi import _core
from endodoi._core import EndgameTable, Position, Ruleset
from endodoi.numbers_given import wrong_type
from endodoi.progress import StatusLine, check_kind, on_terminal
from endodoi.settings import check_ruleset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Analysis", "MoveValue", "Solution", "SolveProgress", "Solver", "analyse", "solve"]

#: A table, or the file of one.
TableLike: TypeAlias = "EndgameTable | str | os.PathLike[str]"


@dataclass(frozen=True)
class Solution:
    """What is known of the value of a position.

    Attributes
    ----------
    value : int or None
        Seeds the mover still takes less those the other side still takes; None until it is proven.
    lower, upper : int
        What the value is at least and at most.
    best_moves : tuple of int
        All columns that reach the value, ascending; while it is not exact, those known to reach
        `lower`.
    exact : bool
        Whether the value is proven and `best_moves` holds all best moves.
    nodes : int
        Positions visited; no part of a comparison.
    seconds : float
        Time taken; no part of a comparison.
    """

    value: int | None
    lower: int
    upper: int
    best_moves: tuple[int, ...]
    exact: bool
    nodes: int = field(compare=False)
    seconds: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON can hold them."""
        return {
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "best_moves": list(self.best_moves),
            "exact": self.exact,
            "nodes": self.nodes,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class MoveValue:
    """What is known of the value of a move.

    Attributes
    ----------
    column : int
        The move.
    lower, upper : int
        Bounds of the seeds that the mover takes from here on, with this move, less those that the
        other side takes.
    """

    column: int
    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the value is proven."""
        return self.lower == self.upper

    @property
    def value(self) -> int | None:
        """The value, None until it is exact."""
        return self.lower if self.exact else None


@dataclass(frozen=True)
class Analysis:
    """What is known of the value of every legal move; it can be iterated over.

    Attributes
    ----------
    moves : tuple of MoveValue
        One for each legal column, ascending; none when the game is over.
    nodes : int
        Positions visited; no part of a comparison.
    seconds : float
        Time taken; no part of a comparison.
    """

    moves: tuple[MoveValue, ...]
    nodes: int = field(compare=False)
    seconds: float = field(compare=False)

    @property
    def lower(self) -> int:
        """What the value of the position is at least."""
        return max((move.lower for move in self.moves), default=0)

    @property
    def upper(self) -> int:
        """What the value of the position is at most."""
        return max((move.upper for move in self.moves), default=0)

    @property
    def exact(self) -> bool:
        """Whether the value of every move is proven."""
        return all(move.exact for move in self.moves)

    @property
    def best_moves(self) -> tuple[int, ...]:
        """The columns that no other one is proven to be better than, ascending."""
        return tuple(move.column for move in self.moves if move.upper >= self.lower)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        moves = [
            {"column": move.column, "value": move.value, "lower": move.lower, "upper": move.upper}
            for move in self.moves
        ]
        return {
            "moves": moves,
            "lower": self.lower,
            "upper": self.upper,
            "best_moves": list(self.best_moves),
            "exact": self.exact,
            "nodes": self.nodes,
            "seconds": self.seconds,
        }

    def __iter__(self) -> Iterator[MoveValue]:
        """Iterate over the moves."""
        return iter(self.moves)

    def __len__(self) -> int:
        """Return the number of moves."""
        return len(self.moves)

    def __getitem__(self, place: int) -> MoveValue:
        """Return a move by its place among the legal ones."""
        return self.moves[place]


class SolveProgress(NamedTuple):
    """How far a solver is, as a progress function gets it.

    Attributes
    ----------
    lower, upper : int
        Bounds of the value known by now.
    threshold : int
        The solver is finding out whether the value is at least this.
    depth : int
        Plies that are looked ahead.
    nodes : int
        Positions visited.
    seconds : float
        Time taken.
    table_seeds : int
        The most seeds of the endgame table in use.
    building : (int, int, int) or None
        While a table is built: the seed count at hand, positions done, and all its positions.
    """

    lower: int
    upper: int
    threshold: int
    depth: int
    nodes: int
    seconds: float
    table_seeds: int
    building: tuple[int, int, int] | None


#: What `progress=` takes.
Told: TypeAlias = "bool | Callable[[SolveProgress], object] | None"


class Solver:
    """Solves positions of one rule set and keeps what it learned from one to the next.

    A solve that was stopped goes on where it stopped when it is asked for again.

    Parameters
    ----------
    ruleset : Ruleset
        The rules; ``endless="draw"`` is refused.
    table : EndgameTable or path, optional
        An endgame table of these rules. Without one the solver builds a small one, and a larger
        one when a search gets long.
    num_threads : int, optional
        Threads; by default as many as the process may use. Values do not depend on it.
    memory : int, optional
        Bytes of the memory of positions.

    Raises
    ------
    SolveError
        If the rules cannot be solved, or an argument is outside its range.
    TableError
        If the table is not of these rules or its file cannot be used.

    Examples
    --------
    >>> import endodoi as ed
    >>> solver = ed.Solver(ed.Ruleset(columns=3))
    >>> position = ed.Position.start(ed.Ruleset(columns=3))
    >>> solver.solve(position).value
    4
    """

    def __init__(
        self,
        ruleset: Ruleset,
        *,
        table: TableLike | None = None,
        num_threads: int | None = None,
        memory: int | None = None,
    ) -> None:
        check_ruleset(ruleset)
        self.ruleset = ruleset
        self._core = _core.Solver(
            ruleset,
            memory=memory,
            num_threads=num_threads,
            table=open_table(table, ruleset),
        )

    def solve(
        self, position: Position, *, seconds: float | None = None, progress: Told = None
    ) -> Solution:
        """Solve a position; the arguments are those of `endodoi.solve`."""
        check_position(position)
        with SolveLine(progress) as line:
            lower, upper, best, complete, nodes, taken, interruption = self._core.solve(
                position, seconds=seconds, progress=line.function
            )
        value = lower if lower == upper else None
        exact = value is not None and complete
        solution = Solution(value, lower, upper, tuple(best), exact, nodes, taken)
        if interruption is not None:
            interruption.solution = solution  # type: ignore[attr-defined]
            raise interruption
        return solution

    def analyse(
        self, position: Position, *, seconds: float | None = None, progress: Told = None
    ) -> Analysis:
        """Solve every legal move of a position; the arguments are those of `endodoi.analyse`."""
        check_position(position)
        with SolveLine(progress) as line:
            moves, nodes, taken, interruption = self._core.analyse(
                position, seconds=seconds, progress=line.function
            )
        analysis = Analysis(tuple(MoveValue(*move) for move in moves), nodes, taken)
        if interruption is not None:
            interruption.analysis = analysis  # type: ignore[attr-defined]
            raise interruption
        return analysis

    @property
    def table_seeds(self) -> int:
        """The most seeds of a position in the endgame table in use, 0 without one."""
        return self._core.table_seeds

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the solver knows to a file, for `load` on another day.

        The file gets its name when it is whole; what had the name before is replaced.

        Raises
        ------
        SolveError
            If the system refuses to write.
        """
        self._core.save(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Take what `save` wrote in place of what the solver knows.

        Raises
        ------
        SolveError
            If the file cannot be read, is damaged or of other rules; nothing is changed then.
        """
        self._core.load(path)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Solver of {self.ruleset!r}>"


def solve(
    position: Position,
    *,
    seconds: float | None = None,
    table: TableLike | None = None,
    num_threads: int | None = None,
    memory: int | None = None,
    progress: Told = None,
) -> Solution:
    """Solve a position: how many seeds perfect play still wins.

    Parameters
    ----------
    position : Position
        Any position; its captured seeds and quiet plies do not matter. The value of a game that
        is over is 0.
    seconds : float, optional
        When to stop with bounds, more than 0; by default it goes on until the value is proven.
    table : EndgameTable or path, optional
        An endgame table of the same rules. Without one a small one is built, and a larger one when
        the search gets long.
    num_threads : int, optional
        Threads; by default as many as the process may use. The value and the best moves do not
        depend on it.
    memory : int, optional
        Bytes of the memory of positions.
    progress : bool or callable, optional
        A function that gets a `SolveProgress`, several times a second; True shows a line on the
        error output, False does not; by default it is shown on a terminal.

    Returns
    -------
    solution : Solution

    Raises
    ------
    SolveError
        If the rules cannot be solved (``endless="draw"``, too large a board), or an argument is
        outside its range.
    TableError
        If the table is not of these rules or its file cannot be used.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``solution`` holds the bounds known by then.

    Examples
    --------
    >>> import endodoi as ed
    >>> position = ed.Position.start(ed.Ruleset(columns=4))
    >>> solution = ed.solve(position)
    >>> solution.value, solution.best_moves, solution.exact
    (8, (2,), True)
    """
    check_position(position)
    solver = Solver(position.ruleset, table=table, num_threads=num_threads, memory=memory)
    return solver.solve(position, seconds=seconds, progress=progress)


def analyse(
    position: Position,
    *,
    seconds: float | None = None,
    table: TableLike | None = None,
    num_threads: int | None = None,
    memory: int | None = None,
    progress: Told = None,
) -> Analysis:
    """Solve every legal move of a position.

    The value of a move is that of the position if the mover plays it, what it captures included,
    so that the value of a position is that of its best moves.

    Parameters
    ----------
    position : Position
    seconds, table, num_threads, memory, progress
        As in `solve`; the seconds are for all moves together.

    Returns
    -------
    analysis : Analysis
        A sequence of `MoveValue`, one for each legal column, ascending.

    Raises
    ------
    SolveError, TableError
        As `solve`.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``analysis`` holds the bounds known by then.

    Examples
    --------
    >>> import endodoi as ed
    >>> position = ed.Position.start(ed.Ruleset(columns=3))
    >>> [(move.column, move.value) for move in ed.analyse(position)]
    [(0, -12), (1, 4), (2, -4)]
    """
    check_position(position)
    solver = Solver(position.ruleset, table=table, num_threads=num_threads, memory=memory)
    return solver.analyse(position, seconds=seconds, progress=progress)


class SolveLine:
    """Shows how far a solver is as a line, or tells it to a function."""

    def __init__(self, progress: Told) -> None:
        self.line = StatusLine()
        self.function: Callable[..., object] | None = None
        if callable(progress):
            self.function = lambda *numbers: progress(SolveProgress(*numbers))
            return
        check_kind(progress, bar=False)
        if progress is True or (progress is None and on_terminal()):
            self.function = self.show

    def show(self, *numbers: Any) -> None:
        """Write the line."""
        self.line.show(progress_text(SolveProgress(*numbers)))

    def __enter__(self) -> SolveLine:  # noqa: PYI034
        """Begin."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End the line."""
        self.line.close()


def progress_text(now: SolveProgress) -> str:
    """Return what is shown of a solver's progress."""
    known = f"value {now.lower:+} to {now.upper:+}"
    if now.building is not None:
        seeds, done, positions = now.building
        share = done / positions if positions else 1.0
        return f"{known}, table at {seeds} seeds, {share:.0%} of {positions:,} positions"
    return (
        f"{known}, is it {now.threshold:+} or more? {now.depth} plies, {now.nodes:,} positions, "
        f"{now.seconds:.0f} s"
    )


def open_table(table: TableLike | None, ruleset: Ruleset) -> EndgameTable | None:
    """Return a table that is given as such or as its file."""
    if table is None or isinstance(table, EndgameTable):
        return table
    if isinstance(table, (str, os.PathLike)):
        return EndgameTable.open(table, ruleset)
    raise wrong_type(table, "table", "an EndgameTable or the path of its file")


def check_position(position: Position) -> None:
    """Refuse what is no position."""
    if not isinstance(position, Position):
        raise wrong_type(position, "position", "a Position")
