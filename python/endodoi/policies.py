"""Players: callables that choose a column for every row of a batch of games.

A policy is any callable ``(observations, action_masks) -> actions`` with observations int16
[B, 2C+3], action masks int8 [B, C] and actions int [B]; your own functions are policies too. Rows
whose mask is all zero are finished games: their action is ignored, the policies here give 0. A
single game may be passed without the axis of rows.

All but `Random` look ahead, so they must know the rules: give ``ruleset=`` when you make one.
An observation shows the board as its mover sees it, and with the rules that is the whole position:
no rule depends on which side moves (B4). `Agent.load` takes the rules that the agent was trained
on unless others are given. A mask that is not the one of these rules is refused. `simulate` gives
the rules of its games to the policies it is passed.

Examples
--------
>>> import endodoi as ed
>>> env = ed.VectorEnv(4, columns=6, seed=1)
>>> greedy = ed.policies.Greedy(ruleset=env.ruleset)
>>> observations, infos = env.reset()
>>> greedy(observations, infos["action_mask"]).tolist()
[1, 1, 1, 1]
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from endodoi._core import (
    EndgameTable,
    Player,
    analyse_alpha_beta,
    analyse_mcts,
    evaluate_agent,
)
from endodoi.committee import Committee
from endodoi.core_policy import CorePolicy as CorePolicy  # noqa: PLC0414 (other modules read it here)
from endodoi.core_policy import Policy, Random, from_spec, read_array
from endodoi.core_policy import PolicyFunction as PolicyFunction  # noqa: PLC0414
from endodoi.errors import ArgumentValueError, PolicyError, TableError
from endodoi.numbers_given import check_range, check_seconds, wrong_type
from endodoi.settings import check_seed
from endodoi.shipped import ShippedAgent, shipped_agents

if TYPE_CHECKING:
    from endodoi._core import Position, Ruleset

__all__ = [
    "Agent",
    "AgentEvaluation",
    "AlphaBeta",
    "AlphaBetaAnalysis",
    "Committee",
    "Greedy",
    "Mcts",
    "MctsAnalysis",
    "Perfect",
    "Policy",
    "Random",
    "ShippedAgent",
    "from_spec",
    "shipped_agents",
]

#: What a search may be asked for at most.
MAX_DEPTH = 64
MAX_NODES = 2**64 - 1
MAX_SIMULATIONS = 1_000_000
MAX_TABLE_MIB = 1 << 20
MAX_THREADS = 256


class Greedy(CorePolicy):
    """Plays the move after which its captured difference is greatest: the same as `AlphaBeta(1)`.

    E1's rest counts as captured; among equal moves the lowest column is played.

    Parameters
    ----------
    ruleset : Ruleset, optional
        The rules of the games.
    """

    def __init__(self, *, ruleset: Ruleset | None = None) -> None:
        super().__init__(Player("greedy"), ruleset)


@dataclass(frozen=True, eq=False)
class MctsAnalysis:
    """What a Monte Carlo tree search found, from the view of the side to move.

    Attributes
    ----------
    column : int
        The column to play.
    value : float
        The value of that move, -1 for a loss to 1 for a win.
    proven : "win", "draw", "loss" or None
        The outcome of the position with perfect play, where the search has proven it. The proof
        holds under the rules as they are, the quiet limit included (E3).
    simulations : int
        Simulations made, fewer than asked for where the outcome was proven before. 0 where the
        game is decided already: a side has captured more than half of all seeds.
    visits : int64 [C]
        Simulations that went through each column.
    values : float64 [C]
        The value of each column; NaN where it is not legal or was never visited.
    proofs : list of "win", "draw", "loss" or None, C long
        What is proven of each column.
    principal_variation : list of int
        The columns that both sides play if each makes its best move, as far as the search went.
    """

    column: int
    value: float
    proven: Literal["win", "draw", "loss"] | None
    simulations: int
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    proofs: list[Literal["win", "draw", "loss"] | None]
    principal_variation: list[int]


class Mcts(CorePolicy):
    """Searches by Monte Carlo: a tree whose positions are valued by random games or by an agent.

    Ends are exact, and outcomes that follow from them are proven: a proven win is played if there
    is one, and never a proven loss if anything else is there. Else the most visited move is played,
    ties to the lowest column. Every choice is searched anew; it depends on the position and the
    draws alone.

    Parameters
    ----------
    simulations : int
        Simulations for each move, 1 to 1,000,000.
    agent : path, optional
        An agent file, the folder of a training run or the name of a shipped agent, whose network
        values the positions instead of random games. Nothing is drawn then.
    ruleset : Ruleset, optional
        The rules of the games; with an agent by default those it was trained on.
    seed : int
        The draws depend on it, on the row and on how often the player was called before.

    Examples
    --------
    >>> import endodoi as ed
    >>> position = ed.Position.start(ed.Ruleset("cross-endodoi"))
    >>> found = ed.policies.Mcts(2000).analyse(position)
    >>> found.column, found.proven, int(found.visits.sum())
    (3, None, 2000)
    """

    def __init__(
        self,
        simulations: int,
        *,
        agent: str | os.PathLike[str] | None = None,
        ruleset: Ruleset | None = None,
        seed: int = 0,
    ) -> None:
        check_range(simulations, "simulations", 1, MAX_SIMULATIONS)
        spec = f"mcts:{simulations}"
        if agent is not None:
            spec = f"agent:{os.fspath(agent)}@mcts={simulations}"
        player = Player(spec)
        super().__init__(player, player.ruleset if ruleset is None else ruleset, check_seed(seed))
        self.simulations = int(simulations)

    def analyse(self, position: Position) -> MctsAnalysis:
        """Search a position, under its own rules, and tell what was found of every move.

        The same seed finds the same. Ctrl-C breaks the search off.

        Parameters
        ----------
        position : Position

        Raises
        ------
        PolicyError
            If the game is over.
        """
        return MctsAnalysis(*analyse_mcts(self._player, position, self.seed))


@dataclass(frozen=True)
class AlphaBetaAnalysis:
    """What an alpha-beta search found, from the view of the side to move.

    Attributes
    ----------
    column : int
        The column to play, the lowest one among equals.
    value : int
        Seeds captured by the mover less those captured by the other side at the end of the best
        line, what is captured already included. A draw by an endless sowing counts 0 (S6).
    depth : int
        Plies searched.
    nodes : int
        Positions visited.
    principal_variation : list of int
        The columns of a line of best play. It ends after `depth` plies or with the game, or
        earlier where finding the rest would take long.
    """

    column: int
    value: int
    depth: int
    nodes: int
    principal_variation: list[int]


class AlphaBeta(CorePolicy):
    """Searches all moves to a depth and maximises its future margin.

    A leaf is worth the captured difference, ends are exact (E1's rest included), ties go to the
    lowest column. Give exactly one of `depth`, `nodes` and `seconds`. With the last two it
    searches one ply, then two, and so on, and plays the move of the deepest search it finished,
    one ply at least. All but `seconds` is deterministic.

    Parameters
    ----------
    depth : int, optional
        Plies, 1 to 64.
    nodes : int, optional
        Positions to visit for each move, 1 or more.
    seconds : float, optional
        Time for each move, more than 0 and at most 1,000,000.
    table_mib : int, optional
        MiB of the table of known positions, for each thread that searches: 0 for none, at most
        1,048,576; by default a size that fits the limit. It changes the time, never the move at a
        given depth.
    threads : int
        Threads that search one position together, 1 to 256; 1 where `nodes` is given. Without
        them, positions are searched side by side on all cores.
    ruleset : Ruleset, optional
        The rules of the games.

    Examples
    --------
    >>> import endodoi as ed
    >>> start = ed.Position.start(ed.Ruleset(columns=6))
    >>> found = ed.policies.AlphaBeta(depth=8).analyse(start)
    >>> found.column, found.value, found.principal_variation
    (2, 5, [2, 0, 3, 2, 5, 4, 4, 1])
    """

    def __init__(
        self,
        depth: int | None = None,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        table_mib: int | None = None,
        threads: int = 1,
        ruleset: Ruleset | None = None,
    ) -> None:
        limits = {"depth": depth, "nodes": nodes, "seconds": seconds}
        given = [name for name, value in limits.items() if value is not None]
        if len(given) != 1:
            raise PolicyError(
                f"{' and '.join(given) or 'nothing'} given, expected exactly one of depth, nodes "
                "and seconds",
                player="alphabeta",
            )
        if depth is not None:
            spec = str(check_range(depth, "depth", 1, MAX_DEPTH))
        elif nodes is not None:
            spec = f"nodes={check_range(nodes, 'nodes', 1, MAX_NODES)}"
        else:
            spec = f"seconds={check_seconds(seconds):.9f}"
        if table_mib is not None:
            spec += f"@table={check_range(table_mib, 'table_mib', 0, MAX_TABLE_MIB) << 20}"
        if check_range(threads, "threads", 1, MAX_THREADS) != 1:
            if nodes is not None:
                raise ArgumentValueError(
                    f"threads is {threads}, expected 1 where nodes is given",
                    field="threads",
                    value=threads,
                    low=1,
                    high=1,
                )
            spec += f"@threads={threads}"
        super().__init__(Player(f"alphabeta:{spec}"), ruleset)
        self.depth = None if depth is None else int(depth)
        self.nodes = None if nodes is None else int(nodes)
        self.seconds = None if seconds is None else float(seconds)

    def analyse(self, position: Position) -> AlphaBetaAnalysis:
        """Search a position, under its own rules, and tell what was found.

        Ctrl-C breaks the search off.

        Parameters
        ----------
        position : Position

        Raises
        ------
        PolicyError
            If the game is over.
        """
        return AlphaBetaAnalysis(*analyse_alpha_beta(self._player, position))


class Perfect(CorePolicy):
    """Plays a best move of the exact solver, the lowest column among equals.

    Endless play is no gain for either side and the quiet limit (E3) is not looked at, as in
    `solve`. Up to 2x6 with four seeds in a pit it takes the time it needs. On larger boards, up to
    2x8, it gives up a position that it does not solve within 60 seconds, which loses the game;
    others, and rules under which endless sowings draw, are refused.

    Parameters
    ----------
    table : EndgameTable or path, optional
        An endgame table of the rules of the games, or its file, in place of those that the solver
        builds by itself: it saves their time and changes no move.
    ruleset : Ruleset, optional
        The rules of the games.

    Raises
    ------
    TableError
        If the file cannot be used, or the table is not one of these rules or has no file.

    Examples
    --------
    >>> import endodoi as ed
    >>> env = ed.VectorEnv(2, columns=3, seed=1)
    >>> perfect = ed.policies.Perfect(ruleset=env.ruleset)
    >>> observations, infos = env.reset()
    >>> perfect(observations, infos["action_mask"]).tolist()
    [1, 1]
    """

    def __init__(
        self,
        *,
        table: EndgameTable | str | os.PathLike[str] | None = None,
        ruleset: Ruleset | None = None,
    ) -> None:
        super().__init__(Player(f"perfect{_table_option(table, ruleset)}"), ruleset)


def _table_option(
    table: EndgameTable | str | os.PathLike[str] | None, ruleset: Ruleset | None
) -> str:
    if table is None:
        return ""
    if not isinstance(table, (EndgameTable, str, os.PathLike)):
        raise wrong_type(table, "table", "an EndgameTable or the path of its file")
    path = table.path if isinstance(table, EndgameTable) else table
    if path is None:
        raise TableError(
            "the table is in memory alone: save it, and give its file", kind="in_memory"
        )
    if ruleset is not None:
        EndgameTable.open(path, ruleset)
    return f"@table={os.fspath(path)}"


@dataclass(frozen=True, eq=False)
class AgentEvaluation:
    """What an agent's network says of positions, from the view of the side to move.

    Attributes
    ----------
    margin : float32 [B]
        Expected seeds that the side to move still takes less those that the other side still
        takes; what is captured already does not count. 0 where the game is over.
    win, draw, loss : float32 [B] or None
        Chances of the outcomes, of a Gumbel agent. Exact where the game is over.
    logits : float32 [B, C] or None
        How much a Gumbel agent likes each column, before the softmax. Those of illegal columns mean
        nothing: hide them first. 0 where the game is over.
    """

    margin: npt.NDArray[np.float32]
    win: npt.NDArray[np.float32] | None
    draw: npt.NDArray[np.float32] | None
    loss: npt.NDArray[np.float32] | None
    logits: npt.NDArray[np.float32] | None


class Agent(CorePolicy):
    """A trained agent, without torch. Make one with `Agent.load`.

    An agent of learner ``gumbel`` searches a tree over its network and plays on any size; one of
    learner ``value`` searches by alpha-beta with its network at the leaves, on its own size.
    """

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        simulations: int | None = None,
        depth: int | None = None,
        ruleset: Ruleset | None = None,
    ) -> Agent:
        """Load an agent from its file, from the folder of a training run, or by its name.

        Parameters
        ----------
        path : path
            A safetensors file, or a run's folder: its best agent if there is one, else its latest.
            Or the name of an agent that comes with the package (`shipped_agents`): a file or folder
            of that name wins over it.
        simulations : int, optional
            Simulations for each move of a Gumbel agent; by default the number its file names.
            0 plays the network's first choice without a search.
        depth : int, optional
            Plies that a value agent looks ahead, at most 64; by default the number its file names.
            0 plays the move after which the network expects most.
        ruleset : Ruleset, optional
            The rules of the games; by default those it was trained on.

        Raises
        ------
        AgentError
            If the file cannot be used; the message says why.
        PolicyError
            If the agent does not search in that way, or not so far.
        """
        player = Player.agent(os.fspath(path), simulations, depth)
        return cls(player, player.ruleset if ruleset is None else ruleset)

    @property
    def metadata(self) -> dict[str, Any]:
        """What the file says.

        ``learner``, ``ruleset``, ``step``, ``games``, ``simulations`` (of a Gumbel agent),
        ``depth`` (of a value agent).
        """
        return self._player.metadata or {}

    def evaluate(self, observations: npt.NDArray[Any], /) -> AgentEvaluation:
        """Ask the network alone what it expects of positions.

        A value agent's player rounds the weights to be fast: what its search sees differs a little.

        Parameters
        ----------
        observations : int16 [B, 2C+3] or [2C+3]

        Returns
        -------
        evaluation : AgentEvaluation
            Its arrays have no axis of rows for a single game.

        Raises
        ------
        PolicyError
            If an observation is no position of the agent's `ruleset`, or the network is of another
            size.

        Examples
        --------
        >>> import endodoi as ed
        >>> for name in ed.policies.shipped_agents():
        ...     agent = ed.policies.Agent.load(name)
        ...     found = agent.evaluate(ed.Position.start(agent.ruleset).observation())
        ...     assert found.margin.shape == ()
        """
        views = read_array(observations, "observations")
        if self.ruleset is None:
            raise PolicyError(f"player {self.name} does not know the rules", player=self.name)
        rows = np.atleast_2d(views).astype(np.int16, copy=False)
        margin, chances, logits = evaluate_agent(self._player, rows, self.ruleset)
        win = draw = loss = None
        if chances is not None:
            win, draw, loss = chances.T
        found = (margin, win, draw, loss, logits)
        if views.ndim == 1:
            found = tuple(None if part is None else part[0, ...] for part in found)  # type: ignore[assignment]
        return AgentEvaluation(*found)
