"""What many games say together."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from endodoi.extras import lacking

if TYPE_CHECKING:
    import os

    import numpy.typing as npt
    from matplotlib.figure import Figure

__all__ = ["Branching", "Histogram", "Mean", "Sample", "Share", "SideSummary", "Summary"]


@dataclass(frozen=True)
class Share:
    """A share of all games with its 95 % interval (Wilson).

    Attributes
    ----------
    count : int
        Games of this kind.
    share, low, high : float
        Their share and the ends of its interval, 0 to 1.
    """

    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Mean:
    """A mean with the half-width of its normal 95 % interval.

    Attributes
    ----------
    mean, half : float
        `half` is infinite with fewer than two games.
    """

    mean: float
    half: float

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> Mean:
        """Read a mean from JSON, which has no infinity."""
        return cls(numbers["mean"], math.inf if numbers["half"] is None else numbers["half"])


@dataclass(frozen=True)
class Histogram:
    """How often each value of a column occurs, counted exactly.

    Attributes
    ----------
    first : int
        The smallest value met.
    counts : tuple of int
        How often `first`, `first` + 1, ... was met.
    above : int
        How often a value of 65,536 or more was met; `counts` leaves these out.
    """

    first: int
    counts: tuple[int, ...]
    above: int

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> Histogram:
        """Read a histogram from JSON."""
        return cls(numbers["first"], tuple(numbers["counts"]), numbers["above"])

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """The values that `counts` belongs to."""
        return np.arange(self.first, self.first + len(self.counts))


@dataclass(frozen=True)
class Branching:
    """The legal moves of the turn on one ply.

    Attributes
    ----------
    games : int
        Followed games that have this turn.
    mean, half : float
        Their mean number of legal moves, with the half-width of its 95 % interval.
    """

    games: int
    mean: float
    half: float


@dataclass(frozen=True)
class SideSummary:
    """What one side does in the games that were followed.

    Attributes
    ----------
    turns : Mean
        Of a game.
    legal_moves : Mean
        Of a turn.
    laps_per_sowing, seeds_per_sowing, captures_per_sowing : Mean
        Endless sowings are left out.
    seeds_per_capture : Mean
    endless_met : Mean
        Endless sowings a game that were drawn and refused, or played (S6).
    """

    turns: Mean
    legal_moves: Mean
    laps_per_sowing: Mean
    seeds_per_sowing: Mean
    captures_per_sowing: Mean
    seeds_per_capture: Mean
    endless_met: Mean


@dataclass(frozen=True)
class Sample:
    """What the games say that were followed move by move.

    Attributes
    ----------
    games : int
        The games followed: the first ones of the simulation.
    legal_moves : Mean
        Of a turn, of both sides: the branching factor.
    south, north : SideSummary
    branching : tuple of Branching
        Legal moves by ply, at most the first 4,096 plies.
    """

    games: int
    legal_moves: Mean
    south: SideSummary
    north: SideSummary
    branching: tuple[Branching, ...]

    @classmethod
    def of(cls, numbers: dict[str, Any]) -> Sample:
        """Read a sample from JSON."""
        south, north = (
            SideSummary(**{name: Mean.of(mean) for name, mean in numbers[side].items()})
            for side in ("south", "north")
        )
        branching = (
            Branching(ply["games"], ply["mean"], math.inf if ply["half"] is None else ply["half"])
            for ply in numbers["branching"]
        )
        legal_moves = Mean.of(numbers["legal_moves"])
        return cls(numbers["games"], legal_moves, south, north, tuple(branching))


@dataclass(frozen=True, repr=False)
class Summary:
    """What many games say together; its text is a table.

    Attributes
    ----------
    games : int
    south_wins, north_wins, draws, cut : Share
        Cut games are neither won nor drawn (E4).
    plies, margin, captured_south, captured_north, captures, laps : Mean
        Of a game; the margin is South's captured seeds less North's.
    laps_per_sowing, seeds_per_sowing : Mean
        Endless sowings are left out.
    longest_sowing : int
        Laps of the longest sowing that ended.
    endless_met : Mean
        Endless sowings a game that were drawn and refused, or played (S6).
    offers : Share or None
        Games in which some turn offered an endless sowing; None unless it was counted.
    end_reasons : dict of str to int
        Games by how they ended.
    histograms : dict of str to Histogram
        The distributions of ``plies``, ``margin``, ``captured_south``, ``captured_north``, ``laps``
        and ``longest_sowing`` over the games.
    sample : Sample or None
        What following the first games move by move has shown: branching and each side's part.
    settings : dict
        What was played: ruleset, players, seed and the like.
    """

    games: int
    south_wins: Share
    north_wins: Share
    draws: Share
    cut: Share
    plies: Mean
    margin: Mean
    captured_south: Mean
    captured_north: Mean
    captures: Mean
    laps: Mean
    laps_per_sowing: Mean
    seeds_per_sowing: Mean
    longest_sowing: int
    endless_met: Mean
    offers: Share | None
    end_reasons: dict[str, int]
    histograms: dict[str, Histogram]
    sample: Sample | None
    settings: dict[str, Any] = field(compare=False)
    text: str = field(compare=False)
    json: str = field(compare=False)

    @classmethod
    def of(cls, texts: tuple[str, str], settings: dict[str, Any]) -> Summary:
        """Read a summary from its two texts: the numbers as JSON, and the table."""
        numbers: dict[str, Any] = json.loads(texts[0])
        fields: dict[str, Any] = {}
        for name, value in numbers.items():
            if name == "histograms":
                fields[name] = {column: Histogram.of(counts) for column, counts in value.items()}
            elif name == "sample":
                fields[name] = value and Sample.of(value)
            elif isinstance(value, dict) and "share" in value:
                fields[name] = Share(**value)
            elif isinstance(value, dict) and "half" in value:
                fields[name] = Mean.of(value)
            else:
                fields[name] = value
        return cls(**fields, settings=settings, text=texts[1], json=texts[0])

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and the settings as nested dictionaries that JSON can hold.

        A half-width that is infinite becomes None.
        """
        numbers: dict[str, Any] = json.loads(self.json)
        return {"settings": self.settings, **numbers}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw one sheet of figures: length, margin, laps, wins, branching, captured seeds.

        Parameters
        ----------
        path : path, optional
            Where to write the picture, in the format of its ending; nothing is written without it.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        OSError
            If the picture cannot be written.
        """
        try:
            from endodoi.sheet import draw_sheet  # noqa: PLC0415
        except ImportError as error:
            raise lacking("pictures need matplotlib", "plot") from error
        return draw_sheet(self, path)

    def __str__(self) -> str:
        """Return the table of all numbers."""
        return self.text

    def __repr__(self) -> str:
        """Return the table of all numbers."""
        return self.text
