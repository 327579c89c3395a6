"""What the environments share: reading their arguments, and their spaces."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
from gymnasium import spaces

from endodoi._core import Ruleset
from endodoi.errors import ArgumentTypeError, ArgumentValueError, BatchError, RulesetError
from endodoi.numbers_given import wrong_type

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Observation",
    "check_options",
    "check_render_mode",
    "check_ruleset",
    "check_seed",
    "check_type",
    "fresh_seed",
    "observation_space",
    "ply_cap",
    "resolve_ruleset",
]

#: What an environment shows: int16 [..., 2C+3], or with `mask_in_obs` a dictionary of it and the
#: mask int8 [..., C]. A union would have to be taken apart at every use.
Observation: TypeAlias = Any

RENDER_MODES = ("ansi", "rgb_array")

#: The largest seed: 64 bits.
MAX_SEED = 2**64 - 1

#: The most plies of a game.
MAX_PLIES = 2**31 - 1


def resolve_ruleset(ruleset: Ruleset | None, fields: Mapping[str, Any], owner: str) -> Ruleset:
    """Return the rule set given, or the one that the fields describe.

    Raises
    ------
    ArgumentTypeError
        If `ruleset` is something else, or a field is unknown: it is an unknown keyword argument.
    RulesetError
        If both are given and differ, or a field is outside its range.
    """
    known = Ruleset().to_dict()
    for name, value in fields.items():
        if name not in known:
            raise ArgumentTypeError(
                f"{owner}() got an unexpected keyword argument {name!r}; "
                f"the fields of a rule set are {', '.join(known)}",
                field=name,
                value=value,
            )
    if ruleset is None:
        return Ruleset.from_dict(dict(fields))
    check_ruleset(ruleset)
    for name, value in fields.items():
        if value is not None and getattr(ruleset, name) != value:
            raise RulesetError(
                f"{name} is {value!r}, but the ruleset given has {getattr(ruleset, name)!r}; "
                "give one or the other",
                field=name,
                value=value,
            )
    return ruleset


def ply_cap(
    max_plies: int | None,
    max_episode_steps: int | None,
    random_opening_plies: int,
    plies_of_a_step: int = 1,
) -> int | None:
    """Return the plies after which a game is cut, opening plies included (E4).

    `max_episode_steps` counts steps, so the opening comes on top of it. With opponents a step has
    two plies; where the opponent began, the last step is cut after the agent's ply.

    Raises
    ------
    ArgumentTypeError
        If `max_episode_steps` is no whole number.
    BatchError
        If it is less than 1, or more than games may have plies.
    """
    if max_episode_steps is None:
        return max_plies
    if isinstance(max_episode_steps, bool) or not isinstance(max_episode_steps, (int, np.integer)):
        raise wrong_type(max_episode_steps, "max_episode_steps", "a whole number")
    if max_episode_steps < 1:
        raise BatchError(
            f"max_episode_steps is {max_episode_steps}, expected at least 1",
            field="max_episode_steps",
            value=max_episode_steps,
        )
    if max_episode_steps > MAX_PLIES:
        raise BatchError(
            f"max_episode_steps is {max_episode_steps}, expected at most {MAX_PLIES}",
            field="max_episode_steps",
            value=max_episode_steps,
        )
    cap = min(plies_of_a_step * int(max_episode_steps) + (random_opening_plies or 0), MAX_PLIES)
    return cap if max_plies is None else min(max_plies, cap)


def observation_space(
    ruleset: Ruleset, *, mask_in_obs: bool, observation_key: str, mask_key: str
) -> spaces.Space[Any]:
    """Return the space of one observation.

    Box int16 [2C+3] (own row, other row, own captured, other captured, quiet plies), or with
    `mask_in_obs` a Dict of it and of the mask, Box int8 [C].
    """
    columns = ruleset.columns
    total = 2 * columns * ruleset.seeds_per_pit
    high = np.full(2 * columns + 3, total, dtype=np.int16)
    high[-1] = ruleset.quiet_limit
    view = spaces.Box(np.zeros_like(high), high, dtype=np.int16)
    if not mask_in_obs:
        return view
    if observation_key == mask_key:
        raise BatchError(
            f"mask_key is {mask_key!r}, the same as observation_key; expected two names",
            field="mask_key",
            value=mask_key,
        )
    mask = spaces.Box(0, 1, (columns,), dtype=np.int8)
    return spaces.Dict({observation_key: view, mask_key: mask})


def check_options(options: Mapping[str, Any] | None, known: tuple[str, ...]) -> None:
    """Refuse unknown keys of the options of a reset.

    Raises
    ------
    ArgumentTypeError
        If the options are no dictionary.
    BatchError
        If a key is unknown.
    """
    if options is None:
        return
    if not isinstance(options, dict):
        raise wrong_type(options, "options", "a dictionary or None")
    for key in options:
        if key not in known:
            expected = f"one of {', '.join(known)}" if known else "no options"
            raise BatchError(
                f"options has the unknown key {key!r}, expected {expected}",
                field="options",
                value=key,
            )


def check_render_mode(render_mode: str | None) -> str | None:
    """Refuse a render mode that the environments do not have.

    Raises
    ------
    BatchError
        If the mode is unknown.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise BatchError(
            f"render_mode is {render_mode!r}, expected None or one of {', '.join(RENDER_MODES)}",
            field="render_mode",
            value=render_mode,
        )
    return render_mode


def check_type(value: Any, kind: type, field: str) -> None:
    """Refuse a setting of another type, naming it.

    Raises
    ------
    ArgumentTypeError
        If it is of another type.
    """
    if not isinstance(value, kind):
        expected = "True or False" if kind is bool else "a text"
        raise wrong_type(value, field, expected)


def check_seed(seed: SupportsIndex, field: str = "seed") -> int:
    """Return a seed of any integer type as an int, 0 to 2^64 - 1.

    Raises
    ------
    ArgumentTypeError
        If it is no whole number.
    ArgumentValueError
        If it is outside the range.
    """
    try:
        number = None if isinstance(seed, bool) else index(seed)
    except TypeError:
        number = None
    if number is None:
        raise wrong_type(seed, field, "a whole number")
    if not 0 <= number <= MAX_SEED:
        raise ArgumentValueError(
            f"{field} is {number}, expected 0 to {MAX_SEED}",
            field=field,
            value=number,
            low=0,
            high=MAX_SEED,
        )
    return number


def fresh_seed() -> int:
    """Return a seed from the system's source of randomness."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def check_ruleset(ruleset: Ruleset) -> None:
    """Refuse what is no rule set."""
    if not isinstance(ruleset, Ruleset):
        raise wrong_type(ruleset, "ruleset", "a Ruleset")
