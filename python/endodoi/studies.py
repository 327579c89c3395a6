"""Endgame studies: composed positions with one winning move, and their proven solutions.

In each of them South is to move and wins, with the first move of the solution alone. The boards
are those of En Gehé, 2x50 pits with a handful of seeds on them and the rest of the 400 captured.

Examples
--------
>>> import endodoi as ed
>>> study = ed.studies.load(1)
>>> study.position.to_move, study.outcome
('south', 'south')
>>> study.prove().holds
True
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from endodoi._core import Position, Ruleset
from endodoi.errors import ArgumentTypeError, ArgumentValueError
from endodoi.solver import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Proof", "Study", "Try", "load", "load_all", "names", "tempi"]

#: The rules of all studies.
VARIANT = "en-gehe"


@dataclass(frozen=True)
class Try:
    """A first move that looks good and does not win.

    Attributes
    ----------
    column : int
        The move.
    value : int
        What it is worth: seeds that South still takes less those that North still takes.
    refutation : tuple of int
        The best moves of both sides that follow, North's first.
    comment : str
        Why it fails.
    """

    column: int
    value: int
    refutation: tuple[int, ...]
    comment: str

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON can hold them."""
        return {
            "column": self.column,
            "value": self.value,
            "refutation": list(self.refutation),
            "comment": self.comment,
        }


@dataclass(frozen=True)
class Proof:
    """What proving a study again has shown.

    Attributes
    ----------
    faults : tuple of str
        What the study says and the solver does not confirm; none where it holds.
    nodes : int
        Positions visited; no part of a comparison.
    seconds : float
        Time taken by the solver; no part of a comparison.
    """

    faults: tuple[str, ...]
    nodes: int = field(compare=False)
    seconds: float = field(compare=False)

    @property
    def holds(self) -> bool:
        """Whether everything that the study says is proven."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "holds": self.holds,
            "faults": list(self.faults),
            "nodes": self.nodes,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Study:
    """A composed position and its solution.

    Attributes
    ----------
    number : int
        Its place in the collection, from 1 on.
    title, theme : str
        Its name, and what it shows.
    text : str
        The position as text.
    value : int
        Seeds that South still takes less those that North still takes, with perfect play.
    solution : tuple of int
        The columns of both sides in turn, from South's key move to the end of the game; all of
        them best moves. Where North has several, it plays one that leaves South the fewest best
        answers.
    only : tuple of int
        The plies of the solution, from 0 on, at which South has one best move among several legal
        ones; ply 0, the key move, is always one of them.
    comments : mapping of int to str
        What is to be said before a ply, by its number; that of the length of the solution is said
        at the end.
    tries : tuple of Try
        First moves that fail, and how.
    nodes : int
        Positions that a solver visited which knew nothing before it proved the study.
    seconds : float
        Time that this took.
    """

    number: int
    title: str
    theme: str
    text: str
    value: int
    solution: tuple[int, ...]
    only: tuple[int, ...]
    comments: Mapping[int, str] = field(hash=False)
    tries: tuple[Try, ...]
    nodes: int
    seconds: float

    @property
    def ruleset(self) -> Ruleset:
        """The rules, those of all studies."""
        return Ruleset(VARIANT)

    @property
    def position(self) -> Position:
        """The position."""
        return Position.from_text(self.text, self.ruleset)

    @property
    def key(self) -> int:
        """The move that wins."""
        return self.solution[0]

    @property
    def margin(self) -> int:
        """All seeds that South captures less all that North captures, with perfect play."""
        south, north = self.position.captured
        return south - north + self.value

    @property
    def outcome(self) -> str:
        """How the game ends with perfect play: "south", "north" or "draw"."""
        return "south" if self.margin > 0 else "north" if self.margin < 0 else "draw"

    @property
    def tempi(self) -> tuple[int, int]:
        """The tempi of South and of North, as `endodoi.studies.tempi` counts them."""
        return tempi(self.position)

    def positions(self) -> Iterator[Position]:
        """Iterate over the positions of the solution, from the first to the end of the game."""
        position = self.position
        yield position
        for column in self.solution:
            position = position.play(column)
            yield position

    def prove(self, solver: Solver | None = None) -> Proof:
        """Prove again all that the study says.

        These are its value, that the key move alone reaches it and no other move wins, that every
        move of the solution and of the refutations is a best one, which of South's are the only
        ones, the values of the tries, and that the solution ends the game.

        Parameters
        ----------
        solver : Solver, optional
            A solver of these rules; by default a new one with one thread.

        Returns
        -------
        proof : Proof
        """
        prover = Prover(solver or Solver(self.ruleset, num_threads=1))
        prover.check_key(self)
        prover.check_solution(self)
        for one in self.tries:
            prover.check_try(self, one)
        return Proof(tuple(prover.faults), prover.nodes, prover.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        south, north = self.tempi
        return {
            "number": self.number,
            "title": self.title,
            "theme": self.theme,
            "variant": VARIANT,
            "position": self.text,
            "tempi": [south, north],
            "value": self.value,
            "margin": self.margin,
            "solution": list(self.solution),
            "only": list(self.only),
            "comments": {str(ply): text for ply, text in self.comments.items()},
            "tries": [one.to_dict() for one in self.tries],
            "nodes": self.nodes,
            "seconds": self.seconds,
        }


class Prover:
    """Compares what a study says with what a solver proves."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.faults: list[str] = []
        self.nodes = 0
        self.seconds = 0.0

    def values(self, position: Position) -> dict[int, int]:
        """Return the proven value of every legal move."""
        analysis = self.solver.analyse(position, progress=False)
        self.nodes += analysis.nodes
        self.seconds += analysis.seconds
        return {move.column: move.lower for move in analysis}

    def check_key(self, study: Study) -> None:
        """Prove the value, and that the key move alone wins."""
        values = self.values(study.position)
        best = max(values.values(), default=0)
        if best != study.value:
            self.faults.append(f"the value is {best:+d}, not {study.value:+d}")
        captured = study.margin - study.value
        winning = [column for column, value in values.items() if captured + value > 0]
        if winning != [study.key]:
            self.faults.append(f"the winning moves are {winning}, not [{study.key}]")

    def check_solution(self, study: Study) -> None:
        """Prove that all moves of the solution are best ones, and which are the only ones."""
        position = study.position
        only = []
        for ply, column in enumerate(study.solution):
            values = self.values(position)
            best = [c for c, value in values.items() if value == max(values.values())]
            if column not in best:
                self.faults.append(f"ply {ply}: the best moves are {best}, not {column}")
                return
            if position.to_move == "south" and len(best) == 1 < len(values):
                only.append(ply)
            position = position.play(column)
        if tuple(only) != study.only:
            self.faults.append(f"the only moves are at plies {only}, not {list(study.only)}")
        if not position.is_over:
            self.faults.append("the solution does not end the game")

    def check_try(self, study: Study, one: Try) -> None:
        """Prove the value of a try, and that its refutation consists of best moves."""
        position = study.position
        value = self.values(position).get(one.column)
        if value != one.value:
            self.faults.append(f"try {one.column}: the value is {value}, not {one.value:+d}")
            return
        position = position.play(one.column)
        for ply, column in enumerate(one.refutation, 1):
            values = self.values(position)
            if values.get(column) != max(values.values(), default=0):
                self.faults.append(f"try {one.column}: {column} at ply {ply} is no best move")
                return
            position = position.play(column)


def tempi(position: Position) -> tuple[int, int]:
    """Count the tempi of South and of North.

    The tempi of a side are the steps that its seeds are away from the other row, each seed by
    itself: one in column ``c`` of ``C`` has ``C - c``. Where only single seeds move, by one pit
    each, they are the moves that a side has before it is stuck (E1): who has more of them waits
    until the other one has to give up. Laps of several seeds, relays and captures use up many of
    them at once.

    Parameters
    ----------
    position : Position
        Any position.

    Returns
    -------
    tempi : (int, int)
        Those of South and of North.

    Examples
    --------
    >>> import endodoi as ed
    >>> position = ed.Position.from_text("0,2,1/1,0,0 S 7-7 0", ed.Ruleset(columns=3))
    >>> ed.studies.tempi(position)
    (5, 3)
    """
    columns = position.ruleset.columns
    south, north = (
        sum(int(seeds) * (columns - column) for column, seeds in enumerate(row))
        for row in position.board
    )
    return south, north


@cache
def load_all() -> tuple[Study, ...]:
    """Return all studies, by their numbers."""
    text = files("endodoi").joinpath("studies.json").read_text(encoding="utf-8")
    return tuple(study_of(number, one) for number, one in enumerate(json.loads(text), 1))


def study_of(number: int, one: dict[str, Any]) -> Study:
    """Return the study that an entry of the file holds."""
    return Study(
        number=number,
        title=one["title"],
        theme=one["theme"],
        text=one["position"],
        value=one["value"],
        solution=tuple(one["solution"]),
        only=tuple(one["only"]),
        comments={int(ply): comment for ply, comment in one["comments"].items()},
        tries=tuple(
            Try(each["column"], each["value"], tuple(each["refutation"]), each["comment"])
            for each in one["tries"]
        ),
        nodes=one["nodes"],
        seconds=one["seconds"],
    )


def names() -> tuple[str, ...]:
    """Return the titles of all studies, by their numbers."""
    return tuple(study.title for study in load_all())


def load(study: int | str) -> Study:
    """Return a study.

    Parameters
    ----------
    study : int or str
        Its number, from 1 on, or its title.

    Raises
    ------
    ArgumentValueError
        If there is no such study.
    ArgumentTypeError
        If it is neither a whole number nor a text.
    """
    studies = load_all()
    if isinstance(study, bool) or not isinstance(study, (int, str)):
        raise ArgumentTypeError(
            f"study is {study!r}, expected a number or a title", field="study", value=study
        )
    for one in studies:
        if study in {one.number, one.title}:
            return one
    expected = f"1 to {len(studies)}" if isinstance(study, int) else "a title of `names()`"
    raise ArgumentValueError(
        f"study is {study!r}, expected {expected}",
        field="study",
        value=study,
        low=1,
        high=len(studies),
    )
