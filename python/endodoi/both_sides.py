"""One game as both of its sides see it: what environments of two agents share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["AGENTS", "END_KEYS", "both_masks", "both_views", "end_of"]

#: South and North; ``to_play`` is their index.
AGENTS = ("player_0", "player_1")

#: What the info of a step holds where the game ended.
END_KEYS = ("outcome", "captured", "plies", "end_reason")


def both_views(
    view: npt.NDArray[np.int16], info: dict[str, Any], columns: int
) -> dict[str, npt.NDArray[np.int16]]:
    """Return the view of each agent, int16 [2C+3], of the view of the side to move.

    For the other side the rows and the captures change places.
    """
    own, other, rest = np.split(view, [columns, 2 * columns])
    mover = int(info["to_play"])
    return {AGENTS[mover]: view, AGENTS[1 - mover]: np.concatenate([other, own, rest[[1, 0, 2]]])}


def both_masks(info: dict[str, Any]) -> dict[str, npt.NDArray[np.int8]]:
    """Return the mask of each agent, int8 [C]: all zeros for the one whose turn it is not."""
    mask = info["action_mask"]
    mover = int(info["to_play"])
    return {AGENTS[mover]: mask, AGENTS[1 - mover]: np.zeros_like(mask)}


def end_of(info: dict[str, Any]) -> dict[str, Any]:
    """Return what an info tells of the end of its game: nothing while it goes on."""
    return {key: info[key] for key in END_KEYS if key in info}
