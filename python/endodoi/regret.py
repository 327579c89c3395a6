"""Regret: the seeds that a player's moves lose against the best moves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi.core_policy import contestant, name_of
from endodoi.progress import Progress
from endodoi.settings import check_ruleset
from endodoi.simulation import plain
from endodoi.solver import open_table
from endodoi.summary import Mean, Share

if TYPE_CHECKING:
    from collections.abc import Callable

    from endodoi._core import Position, Ruleset
    from endodoi.policies import PolicyFunction
    from endodoi.solver import TableLike

__all__ = ["Answer", "Exam", "Regret", "RegretPart", "regret"]

#: The parts of the game, by the seeds left on the board.
PHASES = ("opening", "middle", "endgame")


@dataclass(frozen=True)
class RegretPart:
    """What a player's moves lose in some positions, with 95 % intervals.

    Attributes
    ----------
    positions : int
        Positions.
    optimal : Share
        Moves that lose nothing.
    outcome_changing : Share
        Moves that give away a win or a draw: the sign of the captured difference at the end, with
        perfect play from there on, is another one than with the best move.
    seeds_lost : Mean
        Seeds lost a move, the zeros of the best moves included.
    """

    positions: int
    optimal: Share
    outcome_changing: Share
    seeds_lost: Mean

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> RegretPart:
        """Read a part from JSON."""
        return cls(
            numbers["positions"],
            Share(**numbers["optimal"]),
            Share(**numbers["outcome_changing"]),
            Mean.of(numbers["seeds_lost"]),
        )


@dataclass(frozen=True)
class Answer:
    """What a player chose in one position.

    Attributes
    ----------
    position : str
        The position, as text.
    column : int
        The column chosen.
    best_moves : tuple of int
        The columns that lose nothing.
    lost : int
        Seeds lost.
    changes_outcome : bool
        Whether a win or a draw is given away.
    phase : "opening", "middle" or "endgame"
        The part of the game.
    """

    position: str
    column: int
    best_moves: tuple[int, ...]
    lost: int
    changes_outcome: bool
    phase: str


@dataclass(frozen=True)
class Regret:
    """What a player's moves lose against the best moves; its text is a table.

    Attributes
    ----------
    player : str
        The player's name.
    reference : str
        What the moves were measured by: ``perfect``, or the search that stood in for it.
    all : RegretPart
        All positions.
    opening, middle, endgame : RegretPart
        Positions with more than two thirds of the seeds of the start on the board, with more than
        one third, and with the rest.
    settings : dict
        Ruleset, positions and seed.
    answers : tuple of Answer
        One for each position.
    """

    player: str
    reference: str
    all: RegretPart
    opening: RegretPart
    middle: RegretPart
    endgame: RegretPart
    settings: dict[str, Any] = field(compare=False)
    answers: tuple[Answer, ...] = field(repr=False)
    text: str = field(compare=False, repr=False)
    json: str = field(compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and the settings as nested dictionaries that JSON can hold.

        The answers are left out. A half-width that is infinite becomes None.
        """
        numbers: dict[str, Any] = json.loads(self.json)
        return {"settings": self.settings, **numbers}

    def worst(self, count: int = 10) -> list[Answer]:
        """Return the answers that lose most, the worst first."""
        return sorted(self.answers, key=lambda answer: -answer.lost)[:count]

    def __str__(self) -> str:
        """Return the table of all numbers."""
        return self.text


class Exam:
    """Positions with the worth of every move: the same questions for several players.

    Parameters
    ----------
    ruleset, positions, seed, reference, seconds, table, num_threads, memory, progress
        As in `regret`.

    Examples
    --------
    >>> import endodoi as ed
    >>> exam = ed.arena.Exam(ruleset=ed.Ruleset(columns=3), positions=40)
    >>> [exam.regret(player).all.optimal.share for player in ("perfect", "alphabeta:64")]
    [1.0, 1.0]
    """

    def __init__(
        self,
        *,
        ruleset: Ruleset,
        positions: int = 500,
        seed: int = 0,
        reference: str | None = None,
        seconds: float | None = None,
        table: TableLike | None = None,
        num_threads: int | None = None,
        memory: int | None = None,
        progress: bool | str | Callable[[int], object] | None = None,
    ) -> None:
        check_ruleset(ruleset)
        opened = open_table(table, ruleset)
        self.settings = {
            "ruleset": ruleset.to_dict(),
            "positions": plain(positions),
            "seed": plain(seed),
        }
        with Progress(positions, progress, unit="position") as shown:
            self._core = _core.Exam(
                ruleset,
                positions,
                seed,
                reference=reference,
                seconds=seconds,
                memory=memory,
                num_threads=num_threads,
                table=opened,
                progress=shown.function,
            )

    @property
    def reference(self) -> str:
        """What valued the moves."""
        return self._core.reference

    @property
    def positions(self) -> list[Position]:
        """The positions."""
        return self._core.positions

    @property
    def margins(self) -> list[dict[int, int]]:
        """For each position what its moves are worth, by column.

        It is the mover's captured difference at the end when both sides go on as well as the
        reference can.
        """
        return [dict(margins) for margins in self._core.margins]

    def regret(
        self,
        policy: str | PolicyFunction,
        *,
        progress: bool | str | Callable[[int], object] | None = None,
    ) -> Regret:
        """Let a player choose in every position and sum up what its moves lose.

        The arguments are those of `endodoi.arena.regret`.
        """
        player = contestant(policy, "policy")
        with Progress(self.settings["positions"], progress, unit="position") as shown:
            return self._regret(player, self._core.grade(player, progress=shown.function))

    @classmethod
    def _of(cls, core: _core.Exam, ruleset: Ruleset, positions: int, seed: int) -> Exam:
        """Make an exam of a core's that is there."""
        exam = cls.__new__(cls)
        exam.settings = {
            "ruleset": ruleset.to_dict(),
            "positions": plain(positions),
            "seed": plain(seed),
        }
        exam._core = core  # noqa: SLF001
        return exam

    def _sum_up(self, player: str | PolicyFunction, columns: list[int]) -> Regret:
        """Sum up the columns that a player chose, as `regret` does with those it asks for."""
        name = _core.Player(player).name if isinstance(player, str) else name_of(player)
        return self._regret(player, self._core.grade_columns(name, columns))

    def _regret(
        self,
        player: str | PolicyFunction,
        graded: tuple[str, str, list[tuple[int, int, bool, str]]],
    ) -> Regret:
        numbers, text, answers = graded
        read: dict[str, Any] = json.loads(numbers)
        parts = {name: RegretPart.of(read[name]) for name in ("all", *PHASES)}
        return Regret(
            player=name_of(player),
            reference=read["reference"],
            **parts,
            settings=self.settings,
            answers=self._answers(answers),
            text=text,
            json=numbers,
        )

    def _answers(self, answers: list[tuple[int, int, bool, str]]) -> tuple[Answer, ...]:
        """Return the answers beside what they answer."""
        asked = zip(self.positions, self.margins, answers, strict=True)
        return tuple(
            Answer(
                position.to_text(),
                column,
                tuple(move for move, margin in margins.items() if margin == max(margins.values())),
                lost,
                changes,
                phase,
            )
            for position, margins, (column, lost, changes, phase) in asked
        )

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Exam of {self.settings['positions']} positions by {self.reference}>"


def regret(
    policy: str | PolicyFunction,
    *,
    ruleset: Ruleset,
    positions: int = 500,
    seed: int = 0,
    reference: str | None = None,
    seconds: float | None = None,
    table: TableLike | None = None,
    num_threads: int | None = None,
    memory: int | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> Regret:
    """Measure what a player's moves lose against the best moves.

    The player chooses in positions of random games, all different, each with two legal moves or
    more. They are drawn from streams that no game, environment or training run draws from: a
    position that a trained agent has met before is there by chance, as the first few plies of a
    game are bound to be. To examine several players on the same positions make an `Exam`.

    Parameters
    ----------
    policy : str or policy
        A specification (``perfect``, ``alphabeta:8`` ...), a policy of `endodoi.policies`, or your
        own function ``(observations [B, 2C+3], action_masks [B, C]) -> actions [B]``.
    ruleset : Ruleset
        The rules.
    positions : int
        Positions, 1 to 1,000,000.
    seed : int
        Seed of the positions, and of a player of the package that draws.
    reference : str, optional
        What values the moves: ``"perfect"``, the solver, or ``"alphabeta:N"``, a search of N
        plies. By default ``"perfect"`` up to 2x6 with four seeds in a pit and endless sowings
        illegal, ``"alphabeta:8"`` up to 16 columns, else ``"alphabeta:4"``. Perfect play takes
        play without end as no gain and does not look at the quiet limit (E3).
    seconds : float, optional
        Time after which the solver leaves a position to ``alphabeta:12``; the result's `reference`
        says for how many positions. By default there is none where the reference is ``"perfect"``
        by default, and 60 seconds on other boards.
    table : EndgameTable or path, optional
        An endgame table for the solver; by default one of up to 16 seeds on 2x6 is built.
    num_threads : int, optional
        Threads; by default as many as the process may use.
    memory : int, optional
        Bytes of the solver's memory of positions.
    progress : bool, "tqdm" or callable, optional
        As in `endodoi.simulate`, for the positions valued.

    Returns
    -------
    regret : Regret

    Raises
    ------
    RegretError
        If an argument is outside its range, random games hold too few different positions, or the
        player chooses a column that is not legal.
    PolicyError
        If the player cannot be made, cannot play by the rules, or fails.
    SolveError, TableError
        If the rules cannot be solved, or the table is not of these rules.

    Examples
    --------
    >>> import endodoi as ed
    >>> found = ed.arena.regret("greedy", ruleset=ed.Ruleset(columns=3), positions=100)
    >>> found.reference, found.all.positions
    ('perfect', 100)
    """
    exam = Exam(
        ruleset=ruleset,
        positions=positions,
        seed=seed,
        reference=reference,
        seconds=seconds,
        table=table,
        num_threads=num_threads,
        memory=memory,
        progress=progress,
    )
    return exam.regret(policy)
