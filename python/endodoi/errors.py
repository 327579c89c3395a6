"""Errors of the package: one class for each kind of refusal of the core.

Every class is an :class:`EndodoiError`; those that mean a bad value are a
``ValueError`` (or ``TypeError``) as well. The message says everything; the
attributes hold the same as values. All of them can be pickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

__all__ = [
    "AgentError",
    "ArenaError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "BatchError",
    "BookError",
    "ClusterError",
    "EndodoiError",
    "MissingExtraError",
    "MoveError",
    "NotationError",
    "PolicyError",
    "RatingError",
    "RecordError",
    "RegretError",
    "RulesetError",
    "SetupError",
    "SimulationError",
    "SolveError",
    "SprtError",
    "TableError",
    "TrainError",
]


class EndodoiError(Exception):
    """Base class of every error that the package raises itself.

    Parameters
    ----------
    message
        The text of the error.
    **fields
        Attributes of the error, by name.
    """

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.__dict__.update(fields)


class ArgumentTypeError(EndodoiError, TypeError):
    """An argument has the wrong type, as a float or bool where a whole number belongs."""

    #: The argument's name.
    field: str = ""
    #: The value given.
    value: object = None


class ArgumentValueError(EndodoiError, ValueError):
    """An argument has a value outside its range."""

    #: The argument's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The smallest number allowed, where it is a number.
    low: int | None = None
    #: The largest number allowed, where it is a number.
    high: int | None = None


class RulesetError(EndodoiError, ValueError):
    """A rule set is refused."""

    #: The field's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The smallest number allowed, where the field is a number.
    low: int | None = None
    #: The largest number allowed, where the field is a number.
    high: int | None = None
    #: The names allowed, where the field is a name.
    expected: tuple[str, ...] = ()


class SetupError(EndodoiError, ValueError):
    """A set-up of the board is refused."""

    #: What is wrong: ``row``, ``pit``, ``captured``, ``total`` or ``quiet``.
    field: str = ""
    #: The number given.
    value: int | None = None
    #: The side it belongs to, ``"south"`` or ``"north"``, if it belongs to one.
    side: str | None = None
    #: The column of the pit, if it is one.
    column: int | None = None
    #: The smallest number allowed.
    low: int | None = None
    #: The largest number allowed.
    high: int | None = None


class NotationError(EndodoiError, ValueError):
    """A text is not a position."""

    #: The part of the text that is wrong.
    field: str = ""
    #: What was found there.
    value: object = None


class MoveError(EndodoiError, ValueError):
    """A move is refused."""

    #: Why: ``"over"``, ``"range"``, ``"empty"`` or ``"endless"``.
    reason: str = ""
    #: The column given, ``None`` when the game is over.
    column: int | None = None
    #: The side to move, ``"south"`` or ``"north"``, if the column exists.
    side: str | None = None
    #: The legal columns, ascending.
    legal: tuple[int, ...] = ()


class RecordError(EndodoiError, ValueError):
    """A game record is refused."""

    #: The part of the record that is wrong: ``json``, ``start``, ``moves``,
    #: ``captured``, ``outcome`` or ``end_reason``.
    field: str = ""
    #: The ply of the refused move, counted from 0.
    ply: int | None = None
    #: What the record says.
    recorded: str | None = None
    #: What its moves lead to.
    replayed: str | None = None
    #: The line of the file, counted from 1, where the record is one of a file.
    line: int | None = None


class BatchError(EndodoiError, ValueError):
    """A batch of games refuses an argument; no game has changed."""

    #: What is wrong: the argument's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The row of the game, if it concerns one.
    row: int | None = None
    #: The legal columns of that row, ascending.
    legal: tuple[int, ...] = ()


class ClusterError(EndodoiError, RuntimeError):
    """A Ray cluster cannot be reached, or work on it cannot be done."""

    #: The address asked for, where it is one.
    address: str | None = None
    #: The machine, where it is one.
    node: str = ""


class PolicyError(EndodoiError, ValueError):
    """A player cannot be made, or cannot choose a move."""

    #: The player's name or specification.
    player: str = ""


class AgentError(PolicyError):
    """The file of an agent cannot be used."""

    #: The file.
    path: str = ""


class SimulationError(EndodoiError, ValueError):
    """A simulation refuses an argument, or a player failed in it."""

    #: The argument's name.
    field: str = ""
    #: The value given.
    value: object = None


class ArenaError(EndodoiError, ValueError):
    """A tournament cannot be played, or its games not be read."""

    #: The argument's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The smallest number allowed, where it is a number.
    low: int | None = None
    #: The largest number allowed, where it is a number.
    high: int | None = None


class BookError(EndodoiError, ValueError):
    """A book of openings is refused, or there is none."""

    #: The line of its text, from 1, if one is at fault.
    line: int | None = None
    #: The position, from 0, if one is at fault.
    index: int | None = None
    #: The rules or the number of positions.
    value: object = None


class RatingError(EndodoiError, ValueError):
    """Players cannot be rated."""

    #: The argument's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The pair, counted from 0, if one is at fault.
    pair: int | None = None


class SprtError(EndodoiError, ValueError):
    """A sequential test refuses an argument."""

    #: The argument's name.
    field: str = ""
    #: The value given.
    value: object = None


class TableError(EndodoiError, ValueError):
    """An endgame table cannot be built, opened or used."""

    #: What is wrong: ``out_of_range``, ``endless_draw``, ``too_large``, ``memory``, ``threads``,
    #: ``stopped``, ``ruleset``, ``too_many_seeds``, ``in_memory``, or of a file ``io``, ``exists``,
    #: ``not_a_table``, ``format_version``, ``length``, ``header``, ``ruleset``, ``damaged``,
    #: ``inconsistent``.
    kind: str = ""
    #: The file, where it is one.
    path: str | os.PathLike[str] | None = None
    #: The argument's or quantity's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The smallest number allowed, where it is a number.
    low: int | None = None
    #: The largest number allowed, where it is a number.
    high: int | None = None
    #: What the table has: rules, bytes, format version, or the value of a position.
    found: object = None
    #: What it should have.
    expected: object = None
    #: The block that is damaged, counted from 0.
    block: int | None = None
    #: The number of the position whose value its moves contradict.
    index: int | None = None


class SolveError(EndodoiError, ValueError):
    """A position cannot be solved, or a solver refuses an argument."""

    #: The argument's or quantity's name.
    field: str = ""
    #: The value given.
    value: object = None
    #: The smallest number allowed, where it is a number.
    low: int | None = None
    #: The largest number allowed, where it is a number.
    high: int | None = None


class RegretError(EndodoiError, ValueError):
    """A regret cannot be measured."""

    #: The argument's name.
    field: str = ""
    #: The value given; of an illegal choice the column.
    value: object = None
    #: The player, if it is at fault.
    player: str = ""


class TrainError(EndodoiError, RuntimeError):
    """The trainer cannot be found or did not succeed."""

    #: The exit status of the program, if it ran.
    status: int | None = None


class MissingExtraError(EndodoiError, ImportError):
    """An optional package is not installed."""

    #: The extra of this package that brings it.
    extra: str = ""
