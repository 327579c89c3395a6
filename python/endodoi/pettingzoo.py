"""One game between two agents, as a PettingZoo AEC environment.

`env` makes one that also refuses calls in the wrong order, `raw_env` is the class itself. Needs
the extra ``endodoi[pettingzoo]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from gymnasium import spaces

from endodoi.both_sides import AGENTS, both_masks, both_views, end_of
from endodoi.env import Env
from endodoi.errors import BatchError
from endodoi.extras import missing
from endodoi.settings import RENDER_MODES, Observation, observation_space, resolve_ruleset

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise missing("PettingZoo", "pettingzoo") from error

if TYPE_CHECKING:
    import numpy.typing as npt

    from endodoi._core import Position, Ruleset

__all__ = ["env", "raw_env"]


def env(ruleset: Ruleset | None = None, **options: Any) -> OrderEnforcingWrapper[str, Any, Any]:
    """Make a `raw_env` that names calls in the wrong order, as every PettingZoo game is made.

    Parameters
    ----------
    ruleset : Ruleset, optional
        The rules; or give fields of a rule set as keyword arguments.
    **options
        The keyword arguments of `raw_env`.

    Examples
    --------
    >>> import endodoi as ed
    >>> env = ed.pettingzoo.env(columns=6)
    >>> env.reset(seed=1)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     over = terminated or truncated
    ...     env.step(None if over else int(info["action_mask"].argmax()))
    >>> env.agents
    []
    """
    return OrderEnforcingWrapper(raw_env(ruleset, **options))


class raw_env(AECEnv[str, Any, Any]):  # type: ignore[misc]  # noqa: N801  (PettingZoo's name)
    """One game of two agents, ``player_0`` (South) and ``player_1`` (North).

    Every observation is the view of the agent that asks, its own row first: int16 [2C+3] (own
    row, other row, each from its owner's left, own captured, other captured, quiet plies). The
    agent whose turn it is sees its legal columns in the mask int8 [C]; the other one, and both at
    the end, see zeros. At the end the winner gets +1 and the loser -1, or both 0.

    ``infos[agent]`` holds ``action_mask`` always, and at the end ``outcome`` (1 South won, -1
    North won, 0 drawn or cut), ``captured`` int16 [2] (South, North), ``plies`` and ``end_reason``
    (an index of ``GameTable.END_REASONS``).

    With the same seed, the games are those of `Env`.

    Parameters
    ----------
    ruleset : Ruleset, optional
        The rules; or give fields of a rule set as keyword arguments.
    mask_in_obs : bool
        Whether observations are dictionaries of the view and the mask, the layout of PettingZoo's
        own board games. Without, they are the view and the mask stands in ``infos`` alone.
    observation_key, mask_key : str
        The keys of these dictionaries.
    illegal : {"loss", "raise"}
        What an illegal action does: end the game as a loss of its mover, or raise and change
        nothing.
    max_plies : int, optional
        Plies after which the game is cut, opening plies included (E4): both agents are truncated.
    random_opening_plies : int
        Plies drawn uniformly over legal moves before the game is handed over; after an odd number
        of them North is to move.
    render_mode : {"ansi", "rgb_array"}, optional
        What `render` returns: a text, or a picture uint8 [H, W, 3].
    seed : int, optional
        Row seed of the first reset, if that is given none.
    **ruleset_fields
        Fields of the rule set, as ``columns=6``; see `Ruleset`.
    """

    def __init__(
        self,
        ruleset: Ruleset | None = None,
        *,
        mask_in_obs: bool = False,
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        illegal: Literal["loss", "raise"] = "loss",
        max_plies: int | None = None,
        random_opening_plies: int = 0,
        render_mode: str | None = None,
        seed: SupportsIndex | None = None,
        **ruleset_fields: Any,
    ) -> None:
        super().__init__()
        self.ruleset = resolve_ruleset(ruleset, ruleset_fields, "env")
        self.game = Env(
            self.ruleset,
            illegal=illegal,
            max_plies=max_plies,
            random_opening_plies=random_opening_plies,
            render_mode=render_mode,
            seed=seed,
        )
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{self.ruleset.variant.replace('-', '_')}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": 4,
            "is_parallelizable": False,
        }
        self.mask_in_obs = mask_in_obs
        self.observation_key = observation_key
        self.mask_key = mask_key
        self.possible_agents = list(AGENTS)
        self.observation_spaces = {
            agent: observation_space(
                self.ruleset,
                mask_in_obs=mask_in_obs,
                observation_key=observation_key,
                mask_key=mask_key,
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(self.ruleset.columns) for agent in AGENTS}
        self.state_space = self._state_space()
        self.agents: list[str] = []
        self._views: dict[str, npt.NDArray[np.int16]] = {}
        self._masks: dict[str, npt.NDArray[np.int8]] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, the columns 0 to C-1."""
        return self.action_spaces[agent]

    def reset(
        self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> None:
        """Start a new game.

        Parameters
        ----------
        seed : int, optional
            The row seed; without it, the next episode of the one before.
        options : dict, optional
            Ignored, as PettingZoo asks for.
        """
        del options
        view, info = self.game.reset(seed=seed)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection: str | None = None
        self._take_in(view, info)

    def step(self, action: SupportsIndex | None) -> None:
        """Play one column for the agent whose turn it is.

        Parameters
        ----------
        action : int or None
            Mover-relative column, 0 to C-1; any integer type. None for an agent whose game is
            over.

        Raises
        ------
        BatchError
            If there is no game, or the action is illegal under ``illegal="raise"``.
        ArgumentTypeError
            If the action is no whole number.
        """
        if not self.agents:
            raise BatchError("there is no game to play on; call reset() first", field="action")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        # None is no action of a running game, and is refused as one.
        view, reward, terminated, truncated, info = self.game.step(action)  # type: ignore[arg-type]
        self._cumulative_rewards[mover] = 0.0
        for agent in AGENTS:
            self.rewards[agent] = reward if agent == mover else 0.0 - reward
            self.terminations[agent] = terminated
            self.truncations[agent] = truncated
        self._accumulate_rewards()
        self._take_in(view, info)

    def observe(self, agent: str) -> Observation:
        """Return the view of either agent, its own row first, at any moment of the game.

        Returns
        -------
        observation : int16 [2C+3], or dict of it and of the mask int8 [C]

        Raises
        ------
        BatchError
            If no game was started.
        """
        if not self._views:
            raise BatchError("there is no game to look at; call reset() first", field="agent")
        view = self._views[agent].copy()
        if not self.mask_in_obs:
            return view
        return {self.observation_key: view, self.mask_key: self._masks[agent].copy()}

    def state(self) -> npt.NDArray[np.int16]:
        """Return the whole position: South's view, then the side to move, 0 South or 1 North.

        Returns
        -------
        state : int16 [2C+4]

        Raises
        ------
        BatchError
            If no game was started.
        """
        if not self._views:
            raise BatchError("there is no game to look at; call reset() first", field="state")
        return np.append(self._views[AGENTS[0]], np.int16(self._to_play))

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or as pixels uint8 [H, W, 3], or None without a render mode."""
        return self.game.render()

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    @property
    def position(self) -> Position:
        """The position of the game."""
        return self.game.position

    def _take_in(self, view: npt.NDArray[np.int16], info: dict[str, Any]) -> None:
        """Hand the game's view and info to both agents, and the turn to the side to move."""
        self._to_play = int(info["to_play"])
        self.agent_selection = AGENTS[self._to_play]
        self._views = both_views(view, info, self.ruleset.columns)
        self._masks = both_masks(info)
        end = end_of(info)
        self.infos = {agent: {"action_mask": self._masks[agent].copy(), **end} for agent in AGENTS}

    def _state_space(self) -> spaces.Box:
        """Return the space of `state`."""
        view = observation_space(
            self.ruleset, mask_in_obs=False, observation_key="", mask_key="action_mask"
        )
        high = np.append(view.high, np.int16(1))  # type: ignore[attr-defined]
        return spaces.Box(np.zeros_like(high), high, dtype=np.int16)
