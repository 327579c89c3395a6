"""Numbers that users give: checked, or refused by an error that names argument, value and range."""

from __future__ import annotations

import math

import numpy as np

from endodoi.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["check_number", "check_range", "check_seconds", "check_whole", "wrong_type"]

#: The longest time that may be asked for.
MAX_SECONDS = 1_000_000

#: The shortest time that is told apart from none.
NANOSECOND = 1e-9


def check_whole(value: int, name: str) -> int:
    """Return an argument that is a whole number.

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise wrong_type(value, name, "a whole number")
    return int(value)


def check_range(value: int, name: str, low: int, high: int) -> int:
    """Return a whole number from low to high.

    Raises
    ------
    ArgumentTypeError
        If it is no whole number.
    ArgumentValueError
        If it is out of range.
    """
    whole = check_whole(value, name)
    if not low <= whole <= high:
        raise ArgumentValueError(
            f"{name} is {whole}, expected {low} to {high}",
            field=name,
            value=whole,
            low=low,
            high=high,
        )
    return whole


def check_number(value: object, name: str) -> float:
    """Return an argument that is a number.

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise wrong_type(value, name, "a number")
    return float(value)


def check_seconds(value: object) -> float:
    """Return a time in seconds.

    Raises
    ------
    ArgumentTypeError
        If it is no number.
    ArgumentValueError
        If it is not positive, or too long.
    """
    seconds = check_number(value, "seconds")
    if not NANOSECOND <= seconds <= MAX_SECONDS or not math.isfinite(seconds):
        raise ArgumentValueError(
            f"seconds is {value}, expected more than 0 and at most {MAX_SECONDS}",
            field="seconds",
            value=value,
        )
    return seconds


def wrong_type(value: object, name: str, expected: str) -> ArgumentTypeError:
    """Return the error of an argument of the wrong type."""
    return ArgumentTypeError(
        f"{name} is {value!r} ({type(value).__name__}), expected {expected}",
        field=name,
        value=value,
    )
