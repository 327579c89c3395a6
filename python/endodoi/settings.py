"""What the environments share: reading their arguments, and their spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymnasium import spaces

from endodoi._core import Ruleset
from endodoi.errors import ArgumentTypeError, BatchError, RulesetError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Observation",
    "check_options",
    "check_render_mode",
    "fresh_seed",
    "observation_space",
    "ply_cap",
    "resolve_ruleset",
]

#: What an environment shows: int16 [..., 2C+3], or with `mask_in_obs` a dictionary of it and the
#: mask int8 [..., C]. A union would have to be taken apart at every use.
Observation: TypeAlias = Any

RENDER_MODES = ("ansi",)


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
    if not isinstance(ruleset, Ruleset):
        raise ArgumentTypeError(
            f"ruleset is {ruleset!r} ({type(ruleset).__name__}), expected a Ruleset",
            field="ruleset",
            value=ruleset,
        )
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
    max_plies: int | None, max_episode_steps: int | None, random_opening_plies: int
) -> int | None:
    """Return the plies after which a game is cut, opening plies included (E4).

    `max_episode_steps` counts steps, so the opening comes on top of it.
    """
    if max_episode_steps is None:
        return max_plies
    cap = max_episode_steps + random_opening_plies
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
        raise ArgumentTypeError(
            f"options is {options!r} ({type(options).__name__}), expected a dictionary or None",
            field="options",
            value=options,
        )
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


def fresh_seed() -> int:
    """Return a seed from the system's source of randomness."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
