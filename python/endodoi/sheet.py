"""The sheet of figures of a simulation; it needs matplotlib."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from endodoi._core import Ruleset
from endodoi.places import check_place, write_figure

if TYPE_CHECKING:
    import os

    import numpy.typing as npt
    from matplotlib.axes import Axes

    from endodoi.summary import Histogram, Mean, Share, Summary

__all__ = ["Sheet", "draw_sheet"]

SOUTH, NORTH, NEITHER = "#1f77b4", "#d95f02", "#8c8c8c"

#: Bars of a distribution at most, and at least; a few games have few bars (Rice's rule).
BARS, FEWEST_BARS = 60, 8

#: Spans below this factor are not drawn on a logarithmic axis.
DECADE = 10

#: Share of the games outside a picture's range at each end.
TAIL = 0.0005

#: The fewest values that an axis spans, and the most intervals between the numbers beside it.
NARROWEST, INTERVALS = 4, 7

#: Where the bar of the value 0 begins: an axis of counts shows nothing below.
ZERO = -0.5

#: Shares above this one are written with one digit.
ROUND = 0.01

#: Plies that fewer of the followed games reach are not drawn.
FEWEST_GAMES = 20


class Sheet(Figure):
    """A figure that notebooks show as a picture."""

    def _repr_png_(self) -> bytes:
        """Return the picture."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def draw_sheet(summary: Summary, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw length, margin, winners, laps, branching and captured seeds on one sheet.

    Parameters
    ----------
    summary : Summary
    path : path, optional
        Where to write the picture, under a temporary name that is then renamed.
    """
    if path is not None:
        check_place(path)
    figure = Sheet(figsize=(13, 8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title_of(summary), fontsize="large")
    (length, margin, winners), (laps, branching, captured) = figure.subplots(2, 3)
    draw_length(length, summary)
    draw_margin(margin, summary)
    draw_winners(winners, summary)
    draw_laps(laps, summary)
    draw_branching(branching, summary)
    draw_captured(captured, summary)
    figure.supxlabel(foot_of(summary), fontsize="small", color="#444444")
    if path is not None:
        write_figure(figure, path)
    return figure


def title_of(summary: Summary) -> str:
    """Return what was played."""
    settings = summary.settings
    rules = Ruleset.from_dict(settings["ruleset"])
    parts = [
        f"{rules}",
        f"South {settings['south']}, North {settings['north']}",
        count_of(summary.games, "game"),
        f"seed {settings['seed']}",
    ]
    if settings["first"]:
        parts.append(f"from game {settings['first']:,}")
    if settings["random_opening_plies"]:
        parts.append(f"{settings['random_opening_plies']} random plies first")
    if settings["max_plies"]:
        parts.append(f"cut at {settings['max_plies']:,} plies")
    return " · ".join(parts)


def count_of(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def foot_of(summary: Summary) -> str:
    """Return the numbers that have no picture."""
    games = summary.games
    ends = [
        f"{name} {per_cent(count / games)}" for name, count in summary.end_reasons.items() if count
    ]
    parts = [f"ends: {', '.join(ends)}"] if ends else []
    if games:
        laps, seeds = mean_text(summary.laps_per_sowing), mean_text(summary.seeds_per_sowing)
        parts.append(f"a sowing: {laps} laps, {seeds} seeds")
        parts.append(f"longest sowing {summary.longest_sowing:,} laps")
        parts.append(f"endless sowings met: {summary.endless_met.mean:.4f} a game")
    if summary.offers is not None:
        parts.append(f"{per_cent(summary.offers.share)} of games offer one")
    return " · ".join(parts)


def mean_text(mean: Mean) -> str:
    """Return a mean with its half-width, to the digits that the half-width leaves."""
    if not math.isfinite(mean.half):
        return f"{mean.mean:.4g}"
    digits = digits_of(mean.half)
    return f"{mean.mean:.{digits}f} ± {mean.half:.{digits}f}"


def digits_of(half: float) -> int:
    """Return the digits behind the point that a half-width leaves."""
    return 2 if half == 0 else min(max(1 - math.floor(math.log10(half)), 0), 4)


def per_cent(share: float) -> str:
    """Return a share in per cent, small ones with more digits."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * share:.{1 if share > ROUND else 4}f} %"


def draw_length(axes: Axes, summary: Summary) -> None:
    """Draw the distribution of plies."""
    axes.set_title("length of a game")
    axes.set_xlabel("plies of both sides")
    if not summary.games:
        say_empty(axes)
        return
    edges, shares = bins(summary.histograms["plies"], summary.games)
    tell_width(axes, edges)
    axes.stairs(shares, edges, fill=True, color=NEITHER, alpha=0.6)
    mark_mean(axes, summary.plies)
    axes.set_ylim(bottom=0)
    share_axis(axes)


def draw_margin(axes: Axes, summary: Summary) -> None:
    """Draw the distribution of South's captured seeds less North's, coloured by who is ahead."""
    axes.set_title("margin")
    axes.set_xlabel("seeds captured by South less those by North")
    if not summary.games:
        say_empty(axes)
        return
    margin = summary.histograms["margin"]
    values, counts = margin.values, np.array(margin.counts)
    edges, _shares = bins(margin, summary.games)
    tell_width(axes, edges)
    below = np.zeros(len(edges) - 1)
    for colour, ahead in ((NORTH, values < 0), (NEITHER, values == 0), (SOUTH, values > 0)):
        shares = np.histogram(values, edges, weights=counts * ahead)[0] / summary.games
        axes.bar(edges[:-1], shares, np.diff(edges), below, align="edge", color=colour, alpha=0.75)
        below += shares
    mark_mean(axes, summary.margin)
    share_axis(axes)


def draw_winners(axes: Axes, summary: Summary) -> None:
    """Draw who won how often, with the intervals."""
    axes.set_title("winner")
    if not summary.games:
        say_empty(axes)
        return
    axes.set_ylabel("share of games, with 95 % interval")
    bars: list[tuple[str, Share, str]] = [
        ("South", summary.south_wins, SOUTH),
        ("North", summary.north_wins, NORTH),
        ("draw", summary.draws, NEITHER),
    ]
    if summary.cut.count:
        bars.append(("cut", summary.cut, "#c9c9c9"))
    for place, (_name, share, colour) in enumerate(bars):
        axes.bar(place, share.share, color=colour, alpha=0.75)
        reach = [[max(share.share - share.low, 0)], [max(share.high - share.share, 0)]]
        axes.errorbar(place, share.share, reach, color="black", capsize=5, linewidth=1.2)
        digits = digits_of(100 * (share.high - share.low) / 2)
        number, low, high = (f"{100 * x:.{digits}f}" for x in (share.share, share.low, share.high))
        axes.annotate(
            f"{number} %\n{low} to {high}",
            (place, share.high),
            (0, 5),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    axes.set_xticks(range(len(bars)), [name for name, _share, _colour in bars])
    axes.set_ylim(0, 1.2 * max(share.high for _name, share, _colour in bars))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    axes.grid(visible=True, axis="y", alpha=0.3)


def draw_laps(axes: Axes, summary: Summary) -> None:
    """Draw the distributions of laps, of a game and of its longest sowing."""
    axes.set_title("laps")
    axes.set_xlabel("laps")
    if not summary.games:
        say_empty(axes)
        return
    ends: list[float] = []
    for name, label, colour in (
        ("laps", "in a game", "#1b9e77"),
        ("longest_sowing", "in its longest sowing", "#7570b3"),
    ):
        edges, shares = log_bins(summary.histograms[name], summary.games)
        if len(shares):
            axes.stairs(shares, edges, color=colour, linewidth=1.5, label=label)
            axes.stairs(shares, edges, fill=True, color=colour, alpha=0.15)
            ends += [edges[0], edges[-1]]
    if not ends:
        say_empty(axes, "no laps")
        return
    if max(ends) >= DECADE * min(ends):
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        set_whole(axes, min(ends), max(ends))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda laps, _: f"{laps:,.0f}"))
    axes.set_yscale("log")
    axes.set_ylim(top=min(axes.get_ylim()[1], 2))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend(fontsize="small", loc="upper right")
    share_axis(axes)
    axes.set_ylabel("share of games, for each lap")


def draw_branching(axes: Axes, summary: Summary) -> None:
    """Draw the legal moves by ply, and how many of the games followed go on."""
    axes.set_title("legal moves by ply")
    axes.set_xlabel("ply")
    sample = summary.sample
    if sample is None:
        say_empty(axes, "no game was followed" if summary.games else "no games")
        return
    if not sample.branching:
        say_empty(axes, "no turns")
        return
    games = np.array([ply.games for ply in sample.branching])
    means = np.array([ply.mean for ply in sample.branching])
    halves = np.array([ply.half for ply in sample.branching])
    drawn = games >= min(FEWEST_GAMES, sample.games)
    plies = np.arange(1, len(games) + 1)
    going = axes.twinx()
    going.fill_between(plies, games / sample.games, color=NEITHER, alpha=0.2, linewidth=0)
    going.set_ylim(0, 1.02)
    going.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    going.set_ylabel("games that go on (grey)")
    # The lines lie above the area of the other axis.
    axes.set_zorder(going.get_zorder() + 1)
    axes.patch.set_visible(False)
    few = int(drawn.sum()) <= BARS
    for side, colour, start in (("South", SOUTH, 0), ("North", NORTH, 1)):
        chosen = np.flatnonzero(drawn)
        chosen = chosen[chosen % 2 == start]
        if not len(chosen):
            continue
        known = np.where(np.isfinite(halves[chosen]), halves[chosen], 0)
        low, high = means[chosen] - known, means[chosen] + known
        axes.fill_between(plies[chosen], low, high, color=colour, alpha=0.2, linewidth=0)
        marker = "o-" if few else "-"
        axes.plot(
            plies[chosen],
            means[chosen],
            marker,
            color=colour,
            markersize=3,
            linewidth=1,
            label=side,
        )
    axes.set_ylim(0, 1.3 * means[drawn].max())
    set_whole(axes, min(1 - 0.01 * len(games), 0.5), len(games) + 0.5)
    axes.set_ylabel("mean legal moves, with 95 % interval")
    axes.grid(visible=True, alpha=0.3)
    title = f"{mean_text(sample.legal_moves)} in all,\n{count_of(sample.games, 'game')} followed"
    axes.legend(title=title, fontsize="small", title_fontsize="small", loc="upper right")


def draw_captured(axes: Axes, summary: Summary) -> None:
    """Draw the distribution of the seeds that each side has captured at the end."""
    axes.set_title("captured seeds")
    axes.set_xlabel("seeds at the end")
    if not summary.games:
        say_empty(axes)
        return
    span = [summary.histograms[f"captured_{side}"] for side in ("south", "north")]
    low = min(edge(histogram, TAIL) for histogram in span)
    high = max(edge(histogram, 1 - TAIL) for histogram in span)
    for side, colour, mean in (
        ("South", SOUTH, summary.captured_south),
        ("North", NORTH, summary.captured_north),
    ):
        histogram = summary.histograms[f"captured_{side.lower()}"]
        edges, shares = bins(histogram, summary.games, (low, high))
        label = f"{side}: mean {mean_text(mean)}"
        axes.stairs(shares, edges, color=colour, linewidth=1.5, label=label)
        axes.stairs(shares, edges, fill=True, color=colour, alpha=0.15)
    tell_width(axes, edges)
    top = axes.get_ylim()[1]
    axes.set_ylim(0, 1.2 * top)
    axes.legend(fontsize="small", loc="upper right")
    share_axis(axes)


def say_empty(axes: Axes, text: str = "no games") -> None:
    """Write why there is nothing to see."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="#666666")


def tell_width(axes: Axes, edges: npt.NDArray[Any]) -> None:
    """Say how many values a bar holds, where it is more than one."""
    set_whole(axes, edges[0], edges[-1])
    width = edges[1] - edges[0]
    if width > 1:
        axes.set_xlabel(f"{axes.get_xlabel()} (in steps of {width:.0f})")


def set_whole(axes: Axes, low: float, high: float) -> None:
    """Let the lower axis span some whole numbers at least, none below 0 unless there are values."""
    axes.xaxis.set_major_locator(MaxNLocator(INTERVALS, integer=True))
    left = min(low, max(high - NARROWEST, ZERO))
    axes.set_xlim(left, max(high, low + NARROWEST))


def mark_mean(axes: Axes, mean: Mean) -> None:
    """Draw a line at the mean and write its value above the others."""
    axes.axvline(
        mean.mean,
        color="black",
        linewidth=1,
        linestyle="--",
        label=f"mean {mean_text(mean)}",
    )
    top = axes.get_ylim()[1]
    axes.set_ylim(0, 1.12 * top)
    axes.legend(fontsize="small", loc="upper right")


def share_axis(axes: Axes) -> None:
    """Label the axis of shares in per cent."""
    axes.set_ylabel("share of games")
    axes.yaxis.set_major_formatter(FuncFormatter(per_cent_exactly))
    axes.grid(visible=True, alpha=0.3)


def per_cent_exactly(share: float, _place: object) -> str:
    """Return the text of a tick."""
    return f"{np.format_float_positional(100 * share, precision=9, trim='-')} %"


def edge(histogram: Histogram, share: float) -> int:
    """Return the value that a share of the games does not pass."""
    passed = np.cumsum(histogram.counts)
    total = int(passed[-1]) + histogram.above if len(passed) else histogram.above
    place = int(np.searchsorted(passed, share * total)) if len(passed) else 0
    return histogram.first + min(place, max(len(histogram.counts) - 1, 0))


def bars_for(games: int) -> int:
    """Return how many bars the distribution of so many games is drawn with."""
    return min(max(round(2 * math.pow(games, 1 / 3)), FEWEST_BARS), BARS)


def bins(
    histogram: Histogram, games: int, span: tuple[int, int] | None = None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return edges and shares of at most `BARS` bins of equal width, without the last tails."""
    low, high = span or (edge(histogram, TAIL), edge(histogram, 1 - TAIL))
    width = max(1, math.ceil((high - low + 1) / bars_for(games)))
    if width > 1 and width % 2:
        # Some counts favour odd or even numbers: every bin holds as many of each.
        width += 1
    low = math.floor(low / width) * width
    number = math.ceil((high + 1 - low) / width)
    edges = low + width * np.arange(number + 1)
    counts = np.histogram(histogram.values, edges, weights=histogram.counts)[0]
    return edges - 0.5, counts / games


def log_bins(histogram: Histogram, games: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return edges and shares, for each value, of bins that widen with their values from 1 on."""
    last = histogram.first + len(histogram.counts)
    if last <= 1:
        return np.array([]), np.array([])
    first = max(histogram.first, 1)
    edges = np.unique(
        np.round(np.geomspace(first, max(last, first + 1), bars_for(games))).astype(int)
    )
    counts = np.histogram(histogram.values, edges, weights=histogram.counts)[0]
    return edges - 0.5, counts / np.diff(edges) / games
