"""The picture of a tournament; it needs matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg

from endodoi._core import Ruleset
from endodoi.places import check_place, write_figure
from endodoi.sheet import Sheet, count_of

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from endodoi.standings import PlayerStanding, Standings

__all__ = ["draw_standings"]

POINT, LINE, GREY = "#1f77b4", "#8c8c8c", "#444444"

#: Players whose scores are written into the cross table; of more only the colours are shown.
MOST_WRITTEN = 20

#: Characters of a name that is written out.
LONGEST_NAME = 28

#: A colour this far from the middle is dark enough for white text.
DARK = 0.36


def draw_standings(standings: Standings, path: str | os.PathLike[str] | None = None) -> Sheet:
    """Draw the players with intervals, the best on top, beside the cross table of their scores.

    Parameters
    ----------
    standings : Standings
    path : path, optional
        Where to write the picture, under a temporary name that is then renamed.
    """
    if path is not None:
        check_place(path)
    ranked = ranking(standings)
    rows = len(ranked)
    figure = Sheet(
        figsize=(6.5 + 0.55 * min(rows, 30) + 2, 2.2 + 0.42 * rows), layout="constrained"
    )
    FigureCanvasAgg(figure)
    figure.suptitle(title_of(standings), fontsize="medium")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
    draw_players(left, ranked)
    draw_cross_table(right, standings, ranked)
    figure.supxlabel(foot_of(standings), fontsize="small", color=GREY)
    if path is not None:
        write_figure(figure, path)
    return figure


def ranking(standings: Standings) -> list[PlayerStanding]:
    """Return the players with the best first."""
    return sorted(standings.players, key=lambda player: -player.rating)


def title_of(standings: Standings) -> str:
    """Return what was played."""
    settings = standings.settings
    openings = settings["openings"]
    if isinstance(openings, dict):
        start = (
            f"from {openings['book'] or 'a book'} ({count_of(openings['positions'], 'position')})"
        )
    elif openings == 0:
        start = "from the start"
    else:
        start = f"after {count_of(openings, 'random ply')}".replace("plys", "plies")
    parts = [
        str(Ruleset.from_dict(settings["ruleset"])),
        f"{count_of(settings['games'], 'game')} for each pairing, {start}",
        f"seed {settings['seed']}",
    ]
    return " · ".join(parts)


def foot_of(standings: Standings) -> str:
    """Return the numbers that have no picture."""
    first = standings.first_move
    parts = [
        f"{standings.distinct:,} of {count_of(standings.games, 'game')} distinct",
        f"South scores {first.score:.3f} ({first.low:.3f} to {first.high:.3f})",
        f"{100 * standings.draw_rate:.1f} % drawn",
    ]
    lost = sum(player.illegal + player.error + player.late for player in standings.players)
    if lost:
        parts.append(f"{count_of(lost, 'game')} lost by a player's own fault")
    return " · ".join(parts)


def short(name: str) -> str:
    """Return a name as it is written out."""
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def draw_players(axes: Axes, ranked: list[PlayerStanding]) -> None:
    """Draw the rating of each player with its interval, the best on top."""
    places = range(len(ranked))
    for place, player in enumerate(ranked):
        axes.plot([player.low, player.high], [place, place], color=POINT, linewidth=2)
        # A rating that leans on the prior is drawn hollow.
        face = POINT if player.flag is None else "white"
        axes.plot(player.rating, place, "o", color=POINT, markerfacecolor=face)
    axes.axvline(0, color=LINE, linewidth=1, linestyle="--")
    axes.set_xlabel("rating in Elo points, with 95 % intervals; mean 0")
    axes.set_yticks(places, [short(player.name) for player in ranked])
    axes.set_ylim(len(ranked) - 0.5, -0.5)
    axes.grid(visible=True, axis="x", alpha=0.3)


def draw_cross_table(axes: Axes, standings: Standings, ranked: list[PlayerStanding]) -> None:
    """Draw what each player scores against each other one, a row for each player."""
    rows = {player.name: row for row, player in enumerate(ranked)}
    scores = [[math.nan] * len(ranked) for _ in ranked]
    for pairing in standings.pairings:
        if pairing.games:
            a, b = rows[pairing.a], rows[pairing.b]
            scores[a][b], scores[b][a] = pairing.score, 1 - pairing.score
    image: Any = axes.imshow(scores, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    axes.figure.colorbar(image, ax=axes, label="score of the row")
    places = range(len(ranked))
    axes.set_xticks(places, [str(place + 1) for place in places])
    axes.set_yticks(places, [str(place + 1) for place in places])
    axes.tick_params(length=0)
    axes.set_facecolor("#eeeeee")
    axes.set_title("cross table, players numbered from the best", fontsize="small")
    if len(ranked) > MOST_WRITTEN:
        return
    for row, own in enumerate(scores):
        for column, score in enumerate(own):
            if math.isnan(score):
                continue
            colour = "white" if abs(score - 0.5) > DARK else "black"
            text = f"{score:.2f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
