"""What a policy is, the players of the core behind the classes of `endodoi.policies`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from endodoi._core import Player, random_actions
from endodoi.errors import ArgumentTypeError, PolicyError
from endodoi.numbers_given import wrong_type
from endodoi.settings import check_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from endodoi._core import Ruleset

__all__ = [
    "CorePolicy",
    "Policy",
    "PolicyFunction",
    "Random",
    "Rows",
    "contestant",
    "from_spec",
    "is_player",
    "name_of",
    "read_array",
]

#: What users may write as a policy.
PolicyFunction: TypeAlias = "Callable[[npt.NDArray[np.int16], npt.NDArray[np.int8]], npt.ArrayLike]"


class Policy(Protocol):
    """What a policy is: a callable from observations and masks to actions."""

    def __call__(
        self, observations: npt.NDArray[Any], action_masks: npt.NDArray[Any], /
    ) -> npt.NDArray[np.int64]:
        """Choose a column for every row.

        Parameters
        ----------
        observations : int16 [B, 2C+3]
        action_masks : int8 [B, C]

        Returns
        -------
        actions : int64 [B]
        """


class Rows(ABC):
    """Chooses for one game as for many, and counts how often it is asked; not made by users."""

    _calls = 0

    def __call__(
        self, observations: npt.NDArray[Any], action_masks: npt.NDArray[Any], /
    ) -> npt.NDArray[np.int64]:
        """Choose a column for every row.

        Parameters
        ----------
        observations : int16 [B, 2C+3] or [2C+3]
        action_masks : int8 [B, C] or [C]

        Returns
        -------
        actions : int64 [B], or [] for a single game
            0 on finished rows.

        Raises
        ------
        PolicyError
            If the rules are not known or not those of the games, or a player fails or chooses an
            illegal column.
        """
        views = read_array(observations, "observations")
        masks = read_array(action_masks, "action_masks")
        call, self._calls = self._calls, self._calls + 1
        actions = self._choose(
            np.atleast_2d(views).astype(np.int16, copy=False),
            np.atleast_2d(masks).astype(np.int8, copy=False),
            call,
        )
        return actions if views.ndim > 1 else actions.reshape(())

    @abstractmethod
    def _choose(
        self, views: npt.NDArray[np.int16], masks: npt.NDArray[np.int8], call: int
    ) -> npt.NDArray[np.int64]:
        """Choose a column for every row; `call` is how often that was asked for before."""


class CorePolicy(Rows):
    """A player of the core; not made by users."""

    def __init__(self, player: Player, ruleset: Ruleset | None, seed: int = 0) -> None:
        self._player = player
        self.ruleset = ruleset
        self.seed = seed

    @property
    def name(self) -> str:
        """The name shown in tables."""
        return self._player.name

    @property
    def spec(self) -> str:
        """The specification that makes this player again."""
        return self._player.spec

    def _choose(
        self, views: npt.NDArray[np.int16], masks: npt.NDArray[np.int8], call: int
    ) -> npt.NDArray[np.int64]:
        if self.ruleset is None:
            raise PolicyError(
                f"player {self.name} does not know the rules of these games: make it with "
                "ruleset=, as in ruleset=env.ruleset",
                player=self.name,
            )
        return self._player.choose(views, masks, self.ruleset, self.seed, call)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<{type(self).__name__} {self.spec}>"


class Random(CorePolicy):
    """Plays every legal move with the same probability; it needs no rules.

    Parameters
    ----------
    seed : int
        The draws depend on it, on the row and on how often the player was called before.
    """

    def __init__(self, *, seed: int = 0) -> None:
        super().__init__(Player("random"), None, check_seed(seed))

    def _choose(
        self, _views: npt.NDArray[np.int16], masks: npt.NDArray[np.int8], call: int
    ) -> npt.NDArray[np.int64]:
        return random_actions(masks, self.seed, call)


def from_spec(spec: str, *, ruleset: Ruleset | None = None, seed: int = 0) -> CorePolicy:
    """Make the player of a specification.

    Parameters
    ----------
    spec : str
        ``random``, ``greedy``, ``perfect``, ``perfect@table=FILE``, ``alphabeta:N``,
        ``alphabeta:nodes=N``, ``alphabeta:seconds=S``, ``mcts:N``, or ``agent:`` and a file, the
        folder of a run, or the name of a shipped agent, with ``@sims=N``, ``@mcts=N``,
        ``@depth=N``, ``@nodes=N``, ``@seconds=S`` or ``@none``; or ``committee:`` and several of
        these joined by ``+`` (`Committee`).
    ruleset : Ruleset, optional
        The rules of the games.
    seed : int
        Seed of a player that draws.

    Raises
    ------
    PolicyError
        If it is none of these forms.
    AgentError
        If an agent's file cannot be used.
    """
    player = Player(spec)
    if player.spec == "random":
        return Random(seed=seed)
    return CorePolicy(player, player.ruleset if ruleset is None else ruleset, check_seed(seed))


def read_array(value: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return an array of whole numbers or bools with one or two axes.

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    array = np.asarray(value)
    if array.dtype.kind not in "iub" or array.ndim not in (1, 2):
        raise ArgumentTypeError(
            f"{name} has dtype {array.dtype} and shape {array.shape}, expected whole numbers with "
            "one row for each game",
            field=name,
            value=str(array.dtype),
        )
    return array


def contestant(player: str | PolicyFunction, field: str) -> str | PolicyFunction:
    """Return a player as the core takes it: a specification or a function.

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    """
    if isinstance(player, CorePolicy):
        return player.spec
    if is_player(player):
        return player
    raise wrong_type(player, field, "a specification or a function")


def is_player(value: object) -> bool:
    """Tell whether something is a specification or a function; a class is none of them yet."""
    return isinstance(value, str) or (callable(value) and not isinstance(value, type))


def name_of(player: str | PolicyFunction) -> str:
    """Return the name of a player: its specification, or that of the function."""
    if isinstance(player, str):
        return player
    return str(getattr(player, "__name__", type(player).__name__))
