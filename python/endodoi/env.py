"""One game, as a Gymnasium environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import gymnasium
from gymnasium import spaces

from endodoi._core import Batch
from endodoi.opponents import Opponent, is_pool, read_opponents
from endodoi.pictures import LastMoves, rgb_of_rows
from endodoi.settings import (
    RENDER_MODES,
    Observation,
    check_options,
    check_render_mode,
    check_seed,
    check_type,
    fresh_seed,
    observation_space,
    ply_cap,
    resolve_ruleset,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from endodoi._core import Position, Ruleset

__all__ = ["Env"]


class Env(gymnasium.Env[Any, Any]):
    """One game, in self-play or against an opponent.

    In self-play each step is one ply and each observation the side to move's view; with an
    opponent a step is the agent's ply and the answer to it.

    Rewards, ends and infos are those of `VectorEnv` without the axis of rows: ``action_mask`` int8
    [C] and ``to_play`` int8 always, ``outcome``, ``captured`` int16 [2], ``plies`` and
    ``end_reason`` where the game ended. An illegal action ends the game as a loss of its mover,
    unless ``illegal="raise"``. After the end, `reset` comes before the next `step`.

    With the row seed ``s``, ``reset(seed=s)`` plays the same games as the row of a `VectorEnv`
    whose list of seeds holds ``s`` there.

    Parameters
    ----------
    ruleset : Ruleset, optional
        The rules; or give fields of a rule set as keyword arguments.
    opponent : str, callable or list of these, optional
        Who plays the other side, as in `VectorEnv`.
    agent_side : {"alternate", "south", "north"}
        The agent's side where there is an opponent.
    mask_in_obs : bool
        Whether observations are dictionaries of the view and the mask.
    observation_key, mask_key : str
        The keys of these dictionaries.
    illegal : {"loss", "raise"}
        What an illegal action does: end the game with reward -1, or raise and change nothing.
    max_plies : int, optional
        Plies after which the game is cut, opening plies included (E4).
    random_opening_plies : int
        Plies drawn uniformly over legal moves before the game is handed over.
    render_mode : {"ansi", "rgb_array"}, optional
        What `render` returns: a text, or a picture uint8 [H, W, 3].
    max_episode_steps : int, optional
        Steps after which the game is cut, the opening not included.
    seed : int, optional
        Row seed of the first reset, if that is given none.
    **ruleset_fields
        Fields of the rule set, as ``columns=6``; see `Ruleset`.

    Examples
    --------
    >>> import endodoi as ed
    >>> env = ed.Env(columns=6)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> observation.tolist()
    [6, 6, 0, 0, 6, 6, 2, 7, 0, 6, 1, 6, 0, 2, 0]
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (as the base class declares it)
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
    }

    def __init__(
        self,
        ruleset: Ruleset | None = None,
        *,
        opponent: Opponent = None,
        agent_side: Literal["alternate", "south", "north"] = "alternate",
        mask_in_obs: bool = False,
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        illegal: Literal["loss", "raise"] = "loss",
        max_plies: int | None = None,
        random_opening_plies: int = 0,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        seed: SupportsIndex | None = None,
        **ruleset_fields: Any,
    ) -> None:
        super().__init__()
        self.ruleset = resolve_ruleset(ruleset, ruleset_fields, "Env")
        self.render_mode = check_render_mode(render_mode)
        check_type(illegal, str, "illegal")
        check_type(agent_side, str, "agent_side")
        check_type(mask_in_obs, bool, "mask_in_obs")
        opponents = read_opponents(opponent, self.ruleset)
        self.opponent = opponent
        self.agent_side = agent_side
        self.batch = Batch(
            1,
            self.ruleset,
            autoreset="disabled",
            illegal=illegal,
            max_plies=ply_cap(
                max_plies, max_episode_steps, random_opening_plies, 1 if opponents is None else 2
            ),
            random_opening_plies=random_opening_plies,
            num_threads=1,
            opponents=opponents,
            agent_side=agent_side,
        )
        self._last_moves = LastMoves(self.batch) if render_mode == "rgb_array" else None
        self.mask_in_obs = mask_in_obs
        self.observation_key = observation_key
        self.mask_key = mask_key
        self.action_space = spaces.Discrete(self.ruleset.columns)
        self.observation_space = observation_space(
            self.ruleset,
            mask_in_obs=mask_in_obs,
            observation_key=observation_key,
            mask_key=mask_key,
        )
        self._first_seed = fresh_seed() if seed is None else check_seed(seed)

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game.

        Parameters
        ----------
        seed : int, optional
            The row seed; without it, the next episode of the one before.
        options : dict, optional
            There are none: any key is refused.

        Returns
        -------
        observation : int16 [2C+3], or dict
        info : dict
        """
        check_options(options, ())
        row_seed = None if seed is None else check_seed(seed)
        observations, infos = self.batch.reset([row_seed], None, [self._first_seed])
        if self._last_moves is not None:
            self._last_moves.forget()
        if row_seed is not None:
            super().reset(seed=row_seed)
        info = self._info(infos)
        return self._observation(observations[0], info), info

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one column.

        Parameters
        ----------
        action : int
            Mover-relative column, 0 to C-1; any integer type.

        Returns
        -------
        observation : int16 [2C+3], or dict
        reward : float
            For the side that just moved, or with an opponent for the agent.
        terminated, truncated : bool
        info : dict

        Raises
        ------
        BatchError
            If the game is over or was not reset, or the action is illegal under
            ``illegal="raise"``.
        PolicyError
            If the opponent's action is illegal under ``illegal="raise"``; what a function raises
            comes through as it is. The game has not changed then.
        """
        if self._last_moves is not None:
            self._last_moves.remember()
        observations, rewards, terminated, truncated, infos = self.batch.step(action)
        if self._last_moves is not None:
            self._last_moves.follow(action)
        info = self._info(infos)
        return (
            self._observation(observations[0], info),
            float(rewards[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            info,
        )

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or as pixels uint8 [H, W, 3], or None without a render mode."""
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return rgb_of_rows(self.batch, self._last_moves)[0]
        return self.batch.render()[0]

    def set_opponent(self, opponent: Opponent) -> None:
        """Replace the opponent from its next ply on, as `VectorEnv.set_opponent` does."""
        opponents = read_opponents(opponent, self.ruleset)
        self.batch.set_opponents([] if opponents is None else opponents)
        self.opponent = opponent

    @property
    def position(self) -> Position:
        """The position of the game."""
        return self.batch.position(0)

    def get_state(self) -> bytes:
        """Return everything that the next steps depend on, in mid-game too, as bytes."""
        return self.batch.save()

    def set_state(self, state: bytes) -> None:
        """Go on exactly from where `get_state` was called, on an environment of equal settings.

        Raises
        ------
        BatchError
            If the bytes are no whole snapshot, or one of other settings; nothing has changed.
        """
        self.batch.set_state(state)
        if self._last_moves is not None:
            self._last_moves.forget()

    def _info(self, infos: dict[str, Any]) -> dict[str, Any]:
        info = row_info(infos)
        if is_pool(self.opponent):
            info["opponent"] = self.batch.playing()[0]
        return info

    def _observation(self, observation: npt.NDArray[np.int16], info: dict[str, Any]) -> Observation:
        if not self.mask_in_obs:
            return observation
        return {self.observation_key: observation, self.mask_key: info["action_mask"].copy()}


def row_info(infos: dict[str, Any]) -> dict[str, Any]:
    """Return the infos of the only row, without the masks of rows."""
    return {key: value[0] for key, value in infos.items() if not key.startswith("_")}
