"""Many games stepped together, as a Gymnasium vector environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
from gymnasium.vector.utils import batch_space

from endodoi._core import Batch
from endodoi.errors import ArgumentTypeError, BatchError
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
    from collections.abc import Mapping, Sequence

    from endodoi._core import Position, Ruleset

__all__ = ["VectorEnv"]

#: Actions of all rows: an integer array [B] of any dtype, a sequence, or a tensor on the CPU.
Actions: TypeAlias = "npt.NDArray[np.integer[Any]] | Sequence[SupportsIndex] | SupportsIndex"

#: Seeds: one for all rows, or one for each; None goes on with the next episode.
Seed: TypeAlias = (
    "SupportsIndex | Sequence[SupportsIndex | None] | npt.NDArray[np.integer[Any]] | None"
)

#: What the batch calls each mode.
BATCH_MODES = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "disabled",
}


class VectorEnv(GymnasiumVectorEnv[Any, Any, Any]):
    """``B`` games of one rule set, stepped together: in self-play, or against opponents.

    In self-play each step plays one ply in every game, and each observation is the view of the
    side to move: both sides see their own row first, so that one policy plays both (B4). With an
    opponent each step plays the agent's ply and the answer to it; where the opponent begins, its
    first ply is played before the game is handed over.

    ============ ================ ===========================================================
    what         dtype and shape  meaning
    ============ ================ ===========================================================
    observation  int16 [B, 2C+3]  own row, other row (each from its owner's left), own captured,
                                  other captured, quiet plies; at the end, of the side whose turn
                                  it would be
    action       int [B]          mover-relative column, 0 to C-1
    reward       float32 [B]      +1, 0, -1 at the end, else 0: in self-play for the side that just
                                  moved, else for the agent
    terminated   bool [B]         the game ended by the rules, or by an illegal action
    truncated    bool [B]         the game was cut by `max_plies`; never both
    ============ ================ ===========================================================

    ``infos`` holds ``action_mask`` int8 [B, C] (1 for a legal column, all 0 on finished rows) and
    ``to_play`` int8 [B] (0 South, 1 North) of all rows, always. Where games ended in this step it
    also holds ``outcome`` int8 [B] (1 South won, -1 North won, 0 drawn or cut), ``captured``
    int16 [B, 2] (South, North), ``plies`` int32 [B] and ``end_reason`` int8 [B] (an index of
    ``GameTable.END_REASONS``). Where a list of opponents was given, ``opponent`` int32 [B] tells
    which of them plays each row. Each key has its mask of rows ``_key``, bool [B].

    Autoreset: in next-step mode the step after a game's end starts the next game of that row; its
    action is ignored unchecked, its reward is 0 and nothing ends. In same-step mode the step that
    ends a game starts the next one: observations and infos are those of the new game, and where
    games ended, ``final_obs`` (object [B], None elsewhere) holds their last observations and
    ``final_info`` their last infos in the same layout. In disabled mode a finished row waits for
    ``reset(options={"reset_mask": rows})`` and stepping it is refused.

    An endless move (S6) is not legal and masked, or with ``endless="draw"`` ends the game with
    reward 0.

    A game that is over before the agent's first turn, as after an opponent's first ply on a tiny
    board, shows its end with an empty mask; the next step, whose action there is ignored
    unchecked, reports it.

    Parameters
    ----------
    num_envs : int
        ``B``, the games.
    ruleset : Ruleset, optional
        The rules; or give fields of a rule set as keyword arguments.
    opponent : str, callable or list of these, optional
        Who plays the other side; by default nobody: self-play. A specification (``random``,
        ``greedy``, ``perfect``, ``alphabeta:N``, ``mcts:N``, ``agent:FILE_RUN_OR_NAME``), a policy,
        or any function ``(observations, action_masks) -> actions`` of the rows to move. A function
        is called at most once in a step and once in a reset; in same-step mode the first plies of
        games that may come next are asked for together with the others. Of a list one is drawn for
        each game. What is in ``opponent`` may be swapped by `set_opponent`.
    agent_side : {"alternate", "south", "north"}
        The agent's side where there is an opponent; "alternate" is South where row seed + episode
        is even.
    autoreset_mode : {"next_step", "same_step", "disabled"} or AutoresetMode
        When a finished game is replaced; Gymnasium's own strings are accepted too.
    mask_in_obs : bool
        Whether observations are dictionaries of the view and the mask.
    observation_key, mask_key : str
        The keys of these dictionaries.
    illegal : {"raise", "loss"}
        What an illegal action does: refuse the whole step, or end that game as a loss of its
        mover, an opponent's too. Where an opponent's action is refused, nothing has changed.
    max_plies : int, optional
        Plies after which a game is cut, those of both sides and of the opening included (E4).
    random_opening_plies : int
        Plies drawn uniformly over legal moves before a game is handed over; an opening that would
        end the game is drawn again.
    render_mode : {"ansi", "rgb_array"}, optional
        What `render` returns for each row: a text, or a picture uint8 [H, W, 3].
    max_episode_steps : int, optional
        Steps after which a game is cut, the opening not included; with an opponent that began,
        after the agent's ply.
    num_threads : int, optional
        Threads; by default one, or for batches large enough to gain by it (``B * C`` of 65,536
        or more) as many as the process may use. Results never depend on it.
    copy : bool
        Whether every call returns new arrays. With False, calls fill and return the same arrays
        again, which is faster but changes what an earlier call returned.
    out : dict of str to array, optional
        Arrays that every call fills in place and returns: any of ``observations`` int16 [B, 2C+3],
        ``rewards`` float32 [B], ``terminated`` bool [B], ``truncated`` bool [B], ``action_mask``
        int8 [B, C] and ``to_play`` int8 [B], in C order and writable, slices of a larger buffer
        too. The others are as `copy` says.
    seed : int or sequence of int, optional
        Seed of each row's first reset, if that is given none.
    **ruleset_fields
        Fields of the rule set, as ``columns=6``; see `Ruleset`.

    Notes
    -----
    An integer seed ``s`` gives row ``i`` the row seed ``mix(s, i)``, without overlap between
    neighbouring seeds; a list holds the row seeds themselves. A game depends on (row seed,
    episode) and the actions alone: never on threads, the number of rows or the platform. A seeded
    reset starts at episode 0, an unseeded one goes on with the next episode. The seed covers the
    random openings, the choice among several opponents and what opponents of the core draw; a
    function that draws does so by itself. Without any seed, one is drawn from the system.

    Examples
    --------
    >>> import endodoi as ed
    >>> env = ed.VectorEnv(2, columns=6, seed=1)
    >>> observations, infos = env.reset()
    >>> observations, rewards, terminated, truncated, infos = env.step([0, 5])
    >>> infos["to_play"].tolist()
    [1, 1]
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (as the base class declares it)
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        ruleset: Ruleset | None = None,
        *,
        opponent: Opponent = None,
        agent_side: Literal["alternate", "south", "north"] = "alternate",
        autoreset_mode: str | AutoresetMode = "next_step",
        mask_in_obs: bool = False,
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        illegal: Literal["raise", "loss"] = "raise",
        max_plies: int | None = None,
        random_opening_plies: int = 0,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        num_threads: int | None = None,
        copy: bool = True,
        out: Mapping[str, npt.NDArray[Any]] | None = None,
        seed: Seed = None,
        **ruleset_fields: Any,
    ) -> None:
        super().__init__()
        self.ruleset = resolve_ruleset(ruleset, ruleset_fields, "VectorEnv")
        self.autoreset_mode = read_autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = check_render_mode(render_mode)
        check_type(illegal, str, "illegal")
        check_type(agent_side, str, "agent_side")
        check_type(mask_in_obs, bool, "mask_in_obs")
        check_type(copy, bool, "copy")
        opponents = read_opponents(opponent, self.ruleset)
        self.opponent = opponent
        self.agent_side = agent_side
        self.batch = Batch(
            num_envs,
            self.ruleset,
            autoreset=BATCH_MODES[self.autoreset_mode],
            illegal=illegal,
            max_plies=ply_cap(
                max_plies, max_episode_steps, random_opening_plies, 1 if opponents is None else 2
            ),
            random_opening_plies=random_opening_plies,
            num_threads=num_threads,
            copy=copy,
            opponents=opponents,
            agent_side=agent_side,
            out=out,
        )
        self._last_moves = LastMoves(self.batch) if render_mode == "rgb_array" else None
        self.num_envs = self.batch.rows
        self.copy = copy
        self.mask_in_obs = mask_in_obs
        self.observation_key = observation_key
        self.mask_key = mask_key
        self.single_action_space = spaces.Discrete(self.ruleset.columns)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.single_observation_space = observation_space(
            self.ruleset,
            mask_in_obs=mask_in_obs,
            observation_key=observation_key,
            mask_key=mask_key,
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._first_seed = fresh_seed() if seed is None else read_seeds(seed, self.num_envs)

    def reset(
        self,
        *,
        seed: Seed = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new games in all rows, or in those of a mask.

        Parameters
        ----------
        seed : int, sequence of (int or None), optional
            Any integer types; rows without a seed go on with their next episode.
        options : dict, optional
            ``reset_mask``, a bool array [B] with at least one True: the rows to reset. It is never
            changed.

        Returns
        -------
        observations : int16 [B, 2C+3], or dict
            Of all rows.
        infos : dict
            ``action_mask`` and ``to_play`` of all rows.

        Raises
        ------
        BatchError
            If an option is unknown or of the wrong shape, or the list of seeds of the wrong
            length.
        """
        check_options(options, ("reset_mask",))
        mask = read_reset_mask(options, self.num_envs)
        observations, infos = self.batch.reset(seed, mask, self._first_seed)
        if self._last_moves is not None:
            self._last_moves.forget(mask)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        if is_pool(self.opponent):
            self._tell_opponents(infos)
        return self._observation(observations, infos), infos

    def step(
        self, actions: Actions
    ) -> tuple[
        Observation,
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Play one column in every game.

        Parameters
        ----------
        actions : int [B]
            Mover-relative columns, of any integer dtype, as a sequence or as a tensor on the CPU.

        Returns
        -------
        observations : int16 [B, 2C+3], or dict
        rewards : float32 [B]
        terminated, truncated : bool [B]
        infos : dict

        Raises
        ------
        BatchError
            If an action is illegal under ``illegal="raise"``, a row is finished in disabled mode,
            or no reset came before. No game has changed then.
        PolicyError
            If an opponent's action is illegal under ``illegal="raise"``; what a function raises
            comes through as it is. No game has changed then.
        ArgumentTypeError
            If the actions are floats or bools.
        """
        if self._last_moves is not None:
            self._last_moves.remember()
        observations, rewards, terminated, truncated, infos = self.batch.step(actions)
        if self._last_moves is not None:
            self._last_moves.follow(actions)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            self._add_finals(infos)
        if is_pool(self.opponent):
            self._tell_opponents(infos)
        return self._observation(observations, infos), rewards, terminated, truncated, infos

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...] | None:
        """Return the board of every row as text or as pixels uint8 [H, W, 3].

        None without a render mode.
        """
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return rgb_of_rows(self.batch, self._last_moves)
        return tuple(self.batch.render())

    def set_opponent(self, opponent: Opponent) -> None:
        """Replace the opponent from its next ply on, in running games too.

        Snapshots and copies do not go back to an earlier opponent.

        Raises
        ------
        BatchError
            If the environment was made for self-play, or without an opponent now.
        """
        opponents = read_opponents(opponent, self.ruleset)
        self.batch.set_opponents([] if opponents is None else opponents)
        self.opponent = opponent

    def children(
        self,
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.int8]]:
        """Return what every legal column of every row leads to; no game changes.

        One ply each, without an opponent's answer, for policies that judge positions: all columns
        are sown together by the kernels of `step`.

        Returns
        -------
        observations : int16 [B, C, 2C+3]
            The view of the side whose turn it is, or would be, after the ply, ends settled; zeros
            where a column is not legal.
        captured : int16 [B, C]
            Seeds that the mover captures, E1's rest included.
        end_reason : int8 [B, C]
            An index of ``GameTable.END_REASONS`` where the ply ends the game, else -1.

        Raises
        ------
        BatchError
            If no reset came before.

        Examples
        --------
        >>> import endodoi as ed
        >>> env = ed.VectorEnv(1, columns=6, seed=1)
        >>> observations, infos = env.reset()
        >>> env.children()[1].tolist()
        [[2, 7, 7, 7, 0, 0]]
        """
        return self.batch.children()

    def position(self, row: SupportsIndex) -> Position:
        """Return the position of the game in one row."""
        return self.batch.position(row)

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

    def _tell_opponents(self, infos: dict[str, Any]) -> None:
        infos["opponent"] = self.batch.playing()
        infos["_opponent"] = np.ones(self.num_envs, dtype=np.bool_)

    def _add_finals(self, infos: dict[str, Any]) -> None:
        finals = self.batch.finals()
        if finals is None:
            return
        rows, observations, last_infos = finals
        last_infos["action_mask"] = np.zeros((len(rows), self.ruleset.columns), dtype=np.int8)
        if not is_pool(self.opponent):
            last_infos.pop("opponent", None)
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        ended[rows] = True
        last = np.full(self.num_envs, None, dtype=object)
        for row, view in zip(rows, observations, strict=True):
            last[row] = self._observation(view, {"action_mask": last_infos["action_mask"][0]})
        infos["final_obs"], infos["_final_obs"] = last, ended
        info = infos["final_info"] = {}
        infos["_final_info"] = ended.copy()
        for key, values in last_infos.items():
            info[key] = np.zeros((self.num_envs, *values.shape[1:]), dtype=values.dtype)
            info[key][rows] = values
            info[f"_{key}"] = ended.copy()

    def _observation(
        self, observations: npt.NDArray[np.int16], infos: dict[str, Any]
    ) -> Observation:
        if not self.mask_in_obs:
            return observations
        mask = infos["action_mask"]
        return {
            self.observation_key: observations,
            self.mask_key: mask.copy() if self.copy else mask,
        }


def read_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the autoreset mode of a name, of Gymnasium's own string, or of the enum itself.

    Raises
    ------
    BatchError
        If the mode is unknown or not supported.
    """
    value = mode.value if isinstance(mode, AutoresetMode) else mode
    for supported, name in BATCH_MODES.items():
        if value in (name, supported.value):
            return supported
    raise BatchError(
        f'autoreset_mode is {value!r}, expected "next_step", "same_step" or "disabled"',
        field="autoreset_mode",
        value=value,
    )


def read_seeds(seed: Seed, rows: int) -> int | list[int | None]:
    """Return one seed for all rows, or the list of the row seeds.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a seed is no whole number of 64 bits.
    BatchError
        If there are not as many as rows.
    """
    if not isinstance(seed, (list, tuple)) and np.ndim(seed) == 0:  # type: ignore[arg-type]
        return check_seed(seed)  # type: ignore[arg-type]
    seeds = [
        None if row_seed is None else check_seed(row_seed, f"seed[{row}]")
        for row, row_seed in enumerate(seed)  # type: ignore[arg-type]
    ]
    if len(seeds) != rows:
        raise BatchError(
            f"seed has {len(seeds)} entries, expected {rows}", field="seed", value=len(seeds)
        )
    return seeds


def read_reset_mask(options: dict[str, Any] | None, rows: int) -> npt.NDArray[np.bool_] | None:
    """Return the rows to reset as bool [B], or None for all.

    Raises
    ------
    ArgumentTypeError
        If the mask is not of bools.
    BatchError
        If the mask has the wrong shape or no True.
    """
    if options is None or options.get("reset_mask") is None:
        return None
    mask = np.asarray(options["reset_mask"], order="C")
    if mask.dtype != np.bool_:
        raise ArgumentTypeError(
            f"options['reset_mask'] has dtype {mask.dtype}, expected bool",
            field="reset_mask",
            value=str(mask.dtype),
        )
    if mask.shape != (rows,):
        raise BatchError(
            f"options['reset_mask'] has shape {mask.shape}, expected ({rows},)",
            field="reset_mask",
            value=mask.shape,
        )
    if not mask.any():
        raise BatchError(
            "options['reset_mask'] holds no True, expected at least one row to reset",
            field="reset_mask",
            value=mask.tolist(),
        )
    return mask
