"""Who plays the other side of an environment's games."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from endodoi.core_policy import is_player
from endodoi.errors import BatchError
from endodoi.numbers_given import wrong_type
from endodoi.policies import Agent, Committee, CorePolicy, PolicyFunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from endodoi._core import Ruleset

__all__ = ["Opponent", "is_pool", "read_opponents"]

#: One opponent: a specification, or any policy.
OneOpponent: TypeAlias = "str | PolicyFunction"

#: What users may give: nobody (self-play), one opponent, or several of which one is drawn for each
#: game; naming one twice doubles its share.
Opponent: TypeAlias = "OneOpponent | Sequence[OneOpponent] | None"


def is_pool(opponent: Opponent) -> bool:
    """Tell whether there are several opponents to draw from."""
    return isinstance(opponent, (list, tuple))


def read_opponents(opponent: Opponent, ruleset: Ruleset) -> list[OneOpponent] | None:
    """Return the opponents as the core takes them, None for self-play.

    Players of `endodoi.policies` answer inside the core, under the rules of the games. Only a
    loaded `Agent` of these rules stays the object that it is: its file may have changed since.

    Raises
    ------
    ArgumentTypeError
        If something is neither a specification nor a function.
    BatchError
        If a list is empty.
    """
    if opponent is None:
        return None
    if not isinstance(opponent, (list, tuple)):
        return [read_one(opponent, "opponent", ruleset)]  # type: ignore[arg-type]
    if not opponent:
        raise BatchError(
            "opponent is an empty list, expected at least one opponent",
            field="opponent",
            value=opponent,
        )
    return [read_one(one, f"opponent[{i}]", ruleset) for i, one in enumerate(opponent)]


def read_one(opponent: OneOpponent, field: str, ruleset: Ruleset) -> OneOpponent:
    """Return one opponent as the core takes it."""
    if isinstance(opponent, CorePolicy):
        stays = isinstance(opponent, Agent) and opponent.ruleset == ruleset
        return opponent if stays else opponent.spec
    if isinstance(opponent, Committee) and opponent.spec is not None:
        return opponent.spec
    if is_player(opponent):
        return opponent
    raise wrong_type(
        opponent,
        field,
        'a specification as "greedy", a function (observations, action_masks) -> actions, or a '
        "list of these",
    )
