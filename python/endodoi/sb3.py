"""Many games stepped together, as a vector environment of Stable-Baselines3.

Needs the extra ``endodoi[sb3]``, which brings ``MaskablePPO`` of sb3-contrib too.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from gymnasium.vector import AutoresetMode

from endodoi.errors import ArgumentTypeError, BatchError
from endodoi.extras import missing
from endodoi.settings import Observation, check_options, check_seed, fresh_seed
from endodoi.vector_env import VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing("Stable-Baselines3", "sb3") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

__all__ = ["VecEnvAdapter"]

#: What an info holds beside the mask and the side to move where a game ended.
END_KEYS = ("outcome", "captured", "plies", "end_reason")


class VecEnvAdapter(VecEnv):  # type: ignore[misc]
    """A `VectorEnv` under the interface of Stable-Baselines3, without an object for each game.

    A game that ends is replaced in the same step. Its row's info then holds
    ``terminal_observation``, ``outcome``, ``captured``, ``plies`` and ``end_reason``; every info
    holds ``TimeLimit.truncated``, and ``action_mask`` and ``to_play`` of the observation beside
    it. ``env_method("action_masks")`` returns the masks of all rows, which is where
    ``MaskablePPO`` asks for them.

    Algorithms of Stable-Baselines3 take every reward and every next observation for those of one
    player, so let them train against an opponent: each step is then the agent's move and the
    answer, and the rewards are the agent's. With ``opponent=None``, self-play, the observation
    after a step is the other side's and the reward that of the side that just moved: the values
    that PPO carries from one to the other then have the wrong sign. Use that for playing only.

    Parameters
    ----------
    vector_env : VectorEnv or int
        The games, in any autoreset mode; or their number, for a `VectorEnv` with the arguments
        that follow, against ``opponent="random"`` unless they name another.
    *arguments, **options
        The other arguments of `VectorEnv`, if it is to be made here.

    Examples
    --------
    >>> import endodoi as ed
    >>> env = ed.sb3.VecEnvAdapter(8, columns=6)
    >>> observations = env.reset()
    >>> observations.shape, len(env.env_method("action_masks"))
    ((8, 15), 8)
    """

    def __init__(
        self, vector_env: VectorEnv | SupportsIndex, *arguments: Any, **options: Any
    ) -> None:
        if not isinstance(vector_env, VectorEnv):
            options = {"autoreset_mode": "disabled", "opponent": "random", **options}
            vector_env = VectorEnv(vector_env, *arguments, **options)  # type: ignore[arg-type]
        elif arguments or options:
            raise ArgumentTypeError(
                "the VectorEnv given has its settings already; give those to it",
                field="options",
                value=sorted(options),
            )
        self.vector_env = vector_env
        self._masks: npt.NDArray[np.int8] | None = None
        self._actions: Any = None
        self._seed: int | None = None
        super().__init__(
            vector_env.num_envs, vector_env.single_observation_space, vector_env.single_action_space
        )

    def reset(self) -> Observation:
        """Start new games in all rows, with the seed of `seed` if one was set since the last time.

        Returns
        -------
        observations : int16 [B, 2C+3], or dict
        """
        for options in self._options:
            check_options(options, ())
        seed, self._seed = self._seed, None
        observations, infos = self.vector_env.reset(seed=seed)
        self.reset_infos = self._take_in(infos)
        self._reset_options()
        return own(observations)

    def step_async(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Take the actions of the next `step_wait`, int [B]."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[Observation, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play one column in every game, and replace those that end.

        Returns
        -------
        observations : int16 [B, 2C+3], or dict
            Of the new games where games ended.
        rewards : float32 [B]
        dones : bool [B]
        infos : list of dict
            One for each row.

        Raises
        ------
        BatchError
            If an action is illegal under ``illegal="raise"``, or no reset came before.
        """
        observations, rewards, terminated, truncated, infos = self.vector_env.step(self._actions)
        dones = terminated | truncated
        ends = {}
        if dones.any():
            same_step = self.vector_env.autoreset_mode == AutoresetMode.SAME_STEP
            finals = infos["final_obs"] if same_step else observations
            final_infos = infos["final_info"] if same_step else infos
            for row in np.flatnonzero(dones).tolist():
                ends[row] = {
                    "terminal_observation": own_row(finals, row),
                    "TimeLimit.truncated": bool(truncated[row]),
                    **{key: plain(final_infos[key][row]) for key in END_KEYS},
                }
            if not same_step:
                observations, infos = self.vector_env.reset(options={"reset_mask": dones})
        rows = self._take_in(infos)
        for row, end in ends.items():
            rows[row].update(end)
        return own(observations), rewards.copy(), dones, rows

    def close(self) -> None:
        """Close the games."""
        self.vector_env.close()

    def seed(self, seed: SupportsIndex | None = None) -> Sequence[int | None]:
        """Set the seed of the next `reset`; it gives the rows the seeds that `VectorEnv` does.

        Parameters
        ----------
        seed : int, optional
            Without it, one is drawn from the system.

        Returns
        -------
        seeds : list of None
            The rows' seeds are made at the reset.
        """
        self._seed = fresh_seed() if seed is None else check_seed(seed)
        return [None] * self.num_envs

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return the legal columns of every row, int8 [B, C].

        Raises
        ------
        BatchError
            If no reset came before.
        """
        if self._masks is None:
            raise BatchError("there are no games; call reset() first", field="action_masks")
        return self._masks

    def get_attr(self, attr_name: str, indices: Iterable[int] | int | None = None) -> list[Any]:
        """Return an attribute for each row: what all rows share is repeated.

        ``action_masks``, ``position`` and ``render`` are functions of one row.
        """
        rows = self._rows(indices)
        if attr_name in ROW_METHODS:
            return [partial(ROW_METHODS[attr_name], self, row) for row in rows]
        return [getattr(self.vector_env, attr_name)] * len(rows)

    def set_attr(
        self, attr_name: str, value: Any, indices: Iterable[int] | int | None = None
    ) -> None:
        """Set an attribute of the `VectorEnv`, which all rows share.

        Raises
        ------
        BatchError
            If it is for some of the rows only.
        """
        self._check_all(attr_name, self._rows(indices))
        setattr(self.vector_env, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: Iterable[int] | int | None = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method for each row.

        ``action_masks``, ``position`` and ``render`` answer for each row. Other methods of the
        `VectorEnv`, as ``set_opponent``, are called once and their result is repeated.

        Raises
        ------
        BatchError
            If a method that concerns all rows is called for some of them.
        """
        rows = self._rows(indices)
        if method_name in ROW_METHODS:
            method = ROW_METHODS[method_name]
            return [method(self, row, *method_args, **method_kwargs) for row in rows]
        self._check_all(method_name, rows)
        result = getattr(self.vector_env, method_name)(*method_args, **method_kwargs)
        return [result] * len(rows)

    def env_is_wrapped(
        self, wrapper_class: type[Any], indices: Iterable[int] | int | None = None
    ) -> list[bool]:
        """Tell that no row is wrapped: there is no environment for each."""
        del wrapper_class
        return [False] * len(self._rows(indices))

    def get_images(self) -> Sequence[Any]:
        """Return the picture of every row, for a `VectorEnv` whose render mode makes pictures."""
        return list(self.vector_env.render() or ())

    def _take_in(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        """Keep the masks and return one info for each row."""
        self._masks = infos["action_mask"].copy()
        return [
            {"action_mask": mask, "to_play": side, "TimeLimit.truncated": False}
            for mask, side in zip(self._masks, infos["to_play"].tolist(), strict=True)
        ]

    def _rows(self, indices: Iterable[int] | int | None) -> list[int]:
        """Return the rows that indices mean."""
        return [int(row) for row in self._get_indices(indices)]

    def _check_all(self, name: str, rows: list[int]) -> None:
        """Refuse to do for some rows what concerns all of them."""
        if len(set(rows)) < self.num_envs:
            raise BatchError(
                f"{name} concerns all {self.num_envs} rows, but indices names {len(set(rows))}",
                field="indices",
                value=rows,
            )


def row_mask(env: VecEnvAdapter, row: int) -> npt.NDArray[np.int8]:
    """Return the legal columns of one row, int8 [C]."""
    mask: npt.NDArray[np.int8] = env.action_masks()[row]
    return mask


def row_position(env: VecEnvAdapter, row: int) -> Any:
    """Return the position of one row."""
    return env.vector_env.position(row)


def row_picture(env: VecEnvAdapter, row: int) -> Any:
    """Return what the render mode shows of one row, or None without one."""
    pictures = env.vector_env.render()
    return None if pictures is None else pictures[row]


#: What answers for each row apart.
ROW_METHODS = {"action_masks": row_mask, "position": row_position, "render": row_picture}


def own(observations: Observation) -> Observation:
    """Return a copy that no later step fills: the learner keeps it over the next step."""
    if isinstance(observations, dict):
        return {key: value.copy() for key, value in observations.items()}
    return observations.copy()


def own_row(observations: Observation, row: int) -> Observation:
    """Return a copy of one row, of batched arrays or of an array of observations."""
    if isinstance(observations, dict):
        return {key: value[row].copy() for key, value in observations.items()}
    return own(observations[row])


def plain(value: Any) -> Any:
    """Return a NumPy number as a Python one, and an array as a copy."""
    return value.copy() if isinstance(value, np.ndarray) else value.item()
