"""One game between two agents, as a multi-agent environment of RLlib.

Needs the extra ``endodoi[rllib]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from gymnasium import spaces

from endodoi.both_sides import AGENTS, both_masks, both_views, end_of
from endodoi.env import Env
from endodoi.errors import BatchError
from endodoi.extras import missing
from endodoi.settings import RENDER_MODES, observation_space, resolve_ruleset

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv as RayMultiAgentEnv
except ImportError as error:
    raise missing("RLlib", "rllib") from error

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from endodoi._core import Position, Ruleset

__all__ = ["MultiAgentEnv"]


class MultiAgentEnv(RayMultiAgentEnv):  # type: ignore[misc]
    """One game of two agents, ``player_0`` (South) and ``player_1`` (North), for RLlib.

    Each step is one ply. The agent whose turn it is alone gets an observation, a dictionary of
    ``observations`` float32 [2C+3] (own row, other row, each from its owner's left, own captured,
    other captured, quiet plies) and ``action_mask`` int8 [C]: what RLlib's own modules with masked
    actions read. At the end both agents get their view, with masks of zeros, and the winner +1 and
    the loser -1, or both 0. Both see their own row first, so one module can play both.

    The infos of the end hold ``outcome`` (1 South won, -1 North won, 0 drawn or cut), ``captured``
    int16 [2] (South, North), ``plies`` and ``end_reason`` (an index of
    ``GameTable.END_REASONS``). With the same seed, the games are those of `Env`.

    Parameters
    ----------
    config : mapping, optional
        RLlib's ``env_config``: the keyword arguments that follow, by name.
    **options
        The same, one by one; they go before those of `config`.

    Other Parameters
    ----------------
    ruleset : Ruleset, optional
        The rules; or give fields of a rule set as keyword arguments.
    observation_key, mask_key : str
        The keys of observations.
    illegal : {"loss", "raise"}
        What an illegal action does: end the game as a loss of its mover, or raise and change
        nothing.
    max_plies : int, optional
        Plies after which the game is cut, opening plies included (E4): both agents are truncated.
    random_opening_plies : int
        Plies drawn uniformly over legal moves before the game is handed over.
    render_mode : {"ansi", "rgb_array"}, optional
        What `render` returns: a text, or a picture uint8 [H, W, 3].
    seed : int, optional
        Row seed of the first reset, if that is given none.
    **ruleset_fields
        Fields of the rule set, as ``columns=6``; see `Ruleset`.

    Examples
    --------
    >>> import endodoi as ed
    >>> env = ed.rllib.MultiAgentEnv({"columns": 6})
    >>> observations, infos = env.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = env.step({"player_0": 0})
    >>> list(observations), rewards, terminated["__all__"]
    (['player_1'], {'player_0': 0.0, 'player_1': 0.0}, False)
    """

    def __init__(self, config: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__()
        self._set_up(**{**(config or {}), **options})

    def _set_up(
        self,
        ruleset: Ruleset | None = None,
        *,
        observation_key: str = "observations",
        mask_key: str = "action_mask",
        illegal: Literal["loss", "raise"] = "loss",
        max_plies: int | None = None,
        random_opening_plies: int = 0,
        render_mode: str | None = None,
        seed: SupportsIndex | None = None,
        **ruleset_fields: Any,
    ) -> None:
        """Make the game and the spaces."""
        self.ruleset = resolve_ruleset(ruleset, ruleset_fields, "MultiAgentEnv")
        self.game = Env(
            self.ruleset,
            illegal=illegal,
            max_plies=max_plies,
            random_opening_plies=random_opening_plies,
            render_mode=render_mode,
            seed=seed,
        )
        self.render_mode = render_mode
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}
        self.observation_key = observation_key
        self.mask_key = mask_key
        whole = observation_space(
            self.ruleset, mask_in_obs=True, observation_key=observation_key, mask_key=mask_key
        )
        view = whole[observation_key]  # type: ignore[index]
        floats = spaces.Box(view.low.astype("f4"), view.high.astype("f4"), dtype=np.float32)
        space = spaces.Dict({observation_key: floats, mask_key: whole[mask_key]})  # type: ignore[index]
        self.agents = list(AGENTS)
        self.possible_agents = list(AGENTS)
        self.observation_spaces = dict.fromkeys(AGENTS, space)
        self.action_spaces = dict.fromkeys(AGENTS, self.game.action_space)
        self._mover: str | None = None

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a new game.

        Parameters
        ----------
        seed : int, optional
            The row seed; without it, the next episode of the one before.
        options : dict, optional
            There are none: any key is refused.

        Returns
        -------
        observations, infos : dict
            Of the agent to move.
        """
        view, info = self.game.reset(seed=seed, options=options)
        self._mover = AGENTS[int(info["to_play"])]
        return self._observe(view, info, [self._mover]), {self._mover: {}}

    def step(
        self, action_dict: Mapping[str, SupportsIndex]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Play one column for the agent whose turn it is.

        Parameters
        ----------
        action_dict : dict
            The column of that agent, and of no other.

        Returns
        -------
        observations, infos : dict
            Of the agent to move next, or of both at the end.
        rewards : dict
            Of both agents.
        terminated, truncated : dict
            With the key ``__all__``.

        Raises
        ------
        BatchError
            If the action is of the wrong agent, there is no game to play on, or the action is
            illegal under ``illegal="raise"``.
        """
        mover = self._mover
        if mover is None:
            raise BatchError("there is no game to play on; call reset() first", field="action_dict")
        if set(action_dict) != {mover}:
            raise BatchError(
                f"action_dict holds actions of {sorted(action_dict)}, expected one of {mover}",
                field="action_dict",
                value=sorted(action_dict),
            )
        view, reward, terminated, truncated, info = self.game.step(action_dict[mover])
        over = terminated or truncated
        self._mover = None if over else AGENTS[int(info["to_play"])]
        seeing = list(AGENTS) if over else [AGENTS[int(info["to_play"])]]
        return (
            self._observe(view, info, seeing),
            {agent: reward if agent == mover else 0.0 - reward for agent in AGENTS},
            {"__all__": terminated, **dict.fromkeys(seeing, terminated)},
            {"__all__": truncated, **dict.fromkeys(seeing, truncated)},
            {agent: end_of(info) for agent in seeing},
        )

    def render(self) -> Any:
        """Return the board as text or as pixels uint8 [H, W, 3], or None without a render mode."""
        return self.game.render()

    @property
    def position(self) -> Position:
        """The position of the game."""
        return self.game.position

    def _observe(
        self, view: npt.NDArray[np.int16], info: dict[str, Any], agents: list[str]
    ) -> dict[str, Any]:
        """Return the observations of some of the agents."""
        views, masks = both_views(view, info, self.ruleset.columns), both_masks(info)
        return {
            agent: {
                self.observation_key: views[agent].astype(np.float32),
                self.mask_key: masks[agent].copy(),
            }
            for agent in agents
        }
