"""Shares, means and scores with their 95 % intervals, by the formulas of the core."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from endodoi.summary import Mean, Share

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["mean_of", "paired_interval", "share_of"]

#: The 97.5 % point of the normal distribution.
Z = 1.959964

#: Imagined pairs that are added on either end, lost and won.
IMAGINED = 2.0


def share_of(count: int, cases: int) -> Share:
    """Return a share with its Wilson interval, 0 to 1 without cases."""
    if cases == 0:
        return Share(count, 0.0, 0.0, 1.0)
    share = count / cases
    scale = 1 + Z * Z / cases
    centre = (share + Z * Z / (2 * cases)) / scale
    half = Z * math.sqrt(share * (1 - share) / cases + Z * Z / (4 * cases * cases)) / scale
    # At the ends rounding must not leave a sliver beside 0 or 1.
    low = 0.0 if count == 0 else centre - half
    high = 1.0 if count == cases else centre + half
    return Share(count, share, low, high)


def mean_of(values: Sequence[float]) -> Mean:
    """Return a mean with the half-width of its normal interval, infinite for fewer than two."""
    count = len(values)
    mean = math.fsum(values) / max(count, 1)
    if count < 2:  # noqa: PLR2004
        return Mean(mean, math.inf)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Mean(mean, Z * math.sqrt(squares / (count - 1) / count))


def paired_interval(scores: Sequence[float], distinct: int) -> tuple[float, float]:
    """Return the interval of the mean of scores of which only so many are new evidence.

    It is the normal interval after two lost and two won scores are added, kept within 0 to 1.
    """
    if not scores:
        return 0.0, 1.0
    weight = distinct / len(scores)
    count = distinct + 2 * IMAGINED
    total = math.fsum(scores)
    centre = (weight * total + IMAGINED) / count
    squares = math.fsum((score - centre) ** 2 for score in scores)
    ends = IMAGINED * (centre**2 + (1 - centre) ** 2)
    half = Z * math.sqrt((weight * squares + ends) / count / count)
    mean = total / len(scores)
    return min(max(centre - half, 0.0), mean), max(min(centre + half, 1.0), mean)
