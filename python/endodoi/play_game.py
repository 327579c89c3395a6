"""One game of a person against a player, as terminal and browser show it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from endodoi._core import GameRecord, Position, Ruleset
from endodoi.errors import ArgumentValueError, EndodoiError, MoveError, PolicyError
from endodoi.policies import AlphaBeta, from_spec
from endodoi.settings import check_seed, fresh_seed
from endodoi.shipped import shipped_agents
from endodoi.solver import Solver
from endodoi.solver_commands import bounds_text, outcome_text

if TYPE_CHECKING:
    from endodoi.policies import CorePolicy

__all__ = ["SIDES", "Game", "Hint", "opponents_of"]

SIDES = ("south", "north")

#: Seconds that a hint's proof and a hint's search take at most.
PROOF_SECONDS, OTHERS_SECONDS, SEARCH_SECONDS = 3.0, 0.5, 1.0

#: Bytes of the memory of positions that a hint's proof may use.
PROOF_MEMORY = 128 << 20

#: The most pits of boards whose moves a hint tries to prove.
PROOF_PITS = 24


@dataclass(frozen=True)
class Hint:
    """What is known of the moves of a position.

    Attributes
    ----------
    text : str
        The advice in a sentence.
    best : tuple of int
        The columns advised.
    values : dict of int to str
        What is known of columns: seeds that the side to move takes from here on, that move's
        capture included, less those that the other side takes.
    exact : bool
        Whether the values are proven.
    """

    text: str
    best: tuple[int, ...]
    values: dict[int, str]
    exact: bool


class Game:
    """A game of a person against a player.

    Parameters
    ----------
    opponent : str
        The specification of the player, as ``"agent:en-dodoi-2x6"``.
    ruleset : Ruleset, optional
        The rules; by default those of the player's training, else the rules of En Dodoi.
    side : str
        The person's: ``"south"``, ``"north"`` or ``"random"``.
    start : Position, optional
        Where the game begins; by default at the start of the rules.
    seed : int, optional
        Seed of a player that draws, and of a random side; by default a fresh one.

    Raises
    ------
    PolicyError
        If there is no such player, or it does not play these rules.
    ArgumentValueError
        If the side is none of these.
    """

    def __init__(
        self,
        opponent: str,
        *,
        ruleset: Ruleset | None = None,
        side: str = "south",
        start: Position | None = None,
        seed: int | None = None,
    ) -> None:
        if side not in (*SIDES, "random"):
            raise ArgumentValueError(
                f"side is {side!r}, expected south, north or random", field="side", value=side
            )
        self.seed = fresh_seed() if seed is None else check_seed(seed)
        if start is not None:
            ruleset = start.ruleset
        self.policy = from_spec(opponent, ruleset=ruleset, seed=self.seed)
        self.opponent = opponent
        if start is None:
            start = Position.start(ruleset or self.policy.ruleset or Ruleset())
        self.ruleset = start.ruleset
        if self.policy.ruleset is None:
            self.policy = from_spec(opponent, ruleset=self.ruleset, seed=self.seed)
        check_player(self.policy, self.ruleset)
        self.side = SIDES[self.seed % 2] if side == "random" else side
        self.positions = [start]
        self.columns: list[int] = []
        self.solver: Solver | None = None
        self.solving = threading.Lock()

    @property
    def position(self) -> Position:
        """The position at hand."""
        return self.positions[-1]

    @property
    def ply(self) -> int:
        """Moves played."""
        return len(self.columns)

    @property
    def players(self) -> tuple[str, str]:
        """Names of South and North."""
        names = ("you", self.opponent)
        return names if self.side == "south" else names[::-1]

    @property
    def is_persons_turn(self) -> bool:
        """Whether the person is to move."""
        return not self.position.is_over and self.position.to_move == self.side

    @property
    def is_opponents_turn(self) -> bool:
        """Whether the player is to move."""
        return not self.position.is_over and self.position.to_move != self.side

    @property
    def can_undo(self) -> bool:
        """Whether the person has a move to take back."""
        return any(position.to_move == self.side for position in self.positions[:-1])

    def play(self, column: int) -> None:
        """Play a column for the side to move.

        Raises
        ------
        MoveError
            If it is not legal.
        """
        self.positions.append(self.position.play(column))
        self.columns.append(column)

    def choose(self) -> int:
        """Ask the player for its move, which is not played yet.

        Raises
        ------
        MoveError
            If the game is over.
        PolicyError
            If the player fails.
        """
        position = self.position
        if position.is_over:
            raise MoveError("the game is over", reason="over")
        mask = np.zeros(self.ruleset.columns, dtype=np.int8)
        mask[position.legal_moves()] = 1
        return int(self.policy(position.observation(), mask))

    def undo(self) -> None:
        """Take back the person's last move and what followed it.

        Raises
        ------
        ArgumentValueError
            If there is none.
        """
        if not self.can_undo:
            raise ArgumentValueError("there is no move of yours to take back", field="ply", value=0)
        while True:
            self.positions.pop()
            self.columns.pop()
            if self.position.to_move == self.side:
                return

    def hint(self) -> Hint:
        """Find out what the moves are worth: proven within a moment, else searched.

        Raises
        ------
        MoveError
            If the game is over.
        """
        position = self.position
        if position.is_over:
            raise MoveError("the game is over", reason="over")
        with self.solving:
            return self.proven(position) or searched(position)

    def proven(self, position: Position) -> Hint | None:
        """Return a hint of proven values, None where they take longer than a moment."""
        if self.ruleset.endless == "draw" or 2 * self.ruleset.columns > PROOF_PITS:
            return None
        if self.solver is None:
            self.solver = Solver(self.ruleset, memory=PROOF_MEMORY)
        found = self.solver.solve(position, seconds=PROOF_SECONDS, progress=False)
        if not found.exact:
            return None
        # The other moves are proven as far as that is quick after the best one.
        known = self.solver.analyse(position, seconds=OTHERS_SECONDS, progress=False)
        values = {
            move.column: bounds_text(move.lower, move.upper)
            for move in known
            if move.lower == move.upper
        }
        outcome = outcome_text(position, found.lower, found.upper)
        text = f"{columns_text(found.best_moves)} best: {outcome} (proven)"
        return Hint(text, found.best_moves, values, exact=True)

    def record(self, *, players: tuple[str, str] | None = None) -> GameRecord:
        """Return the game as played so far; one that goes on is recorded as cut (E4)."""
        return GameRecord.of_moves(self.positions[0], self.columns, players=players or self.players)


def searched(position: Position) -> Hint:
    """Return a hint of a search that takes a moment."""
    found = AlphaBeta(seconds=SEARCH_SECONDS).analyse(position)
    south, north = position.captured
    lead = south - north if position.to_move == "south" else north - south
    gain = f"{found.value - lead:+d}"
    text = f"column {found.column} looks best: {gain} seeds in {found.depth} plies (not proven)"
    return Hint(text, (found.column,), {found.column: gain}, exact=False)


def columns_text(columns: tuple[int, ...]) -> str:
    """Return columns in words, with their verb."""
    if len(columns) == 1:
        return f"column {columns[0]} is"
    listed = ", ".join(map(str, columns[:-1]))
    return f"columns {listed} and {columns[-1]} are"


def check_player(policy: CorePolicy, ruleset: Ruleset) -> None:
    """Let a player choose in a board with two seeds: it refuses rules that it does not play.

    Raises
    ------
    PolicyError
        If it does.
    """
    rows = [0] * ruleset.columns
    rows[0] = 1
    board = Position.from_board(rows, rows, ruleset=ruleset)
    mask = np.zeros(ruleset.columns, dtype=np.int8)
    mask[board.legal_moves()] = 1
    try:
        policy(board.observation(), mask)
    except PolicyError:
        raise
    except EndodoiError as error:
        raise PolicyError(f"player {policy.name}: {error}", player=policy.name) from error


def opponents_of(ruleset: Ruleset) -> list[str]:
    """List players to offer for some rules: the agents of these rules first."""
    rules = ruleset.to_dict()
    agents = [
        f"agent:{name}"
        for name, agent in shipped_agents().items()
        if all(rules[field] == agent.ruleset.to_dict()[field] for field in ("variant", "columns"))
    ]
    return [*agents, "random", "greedy", "alphabeta:4", "alphabeta:8", "mcts:800"]
