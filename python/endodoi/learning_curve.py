"""The curves of a training run over its minutes: scores, regret, losses, positions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi._core import Ruleset
from endodoi.errors import TrainError
from endodoi.extras import lacking
from endodoi.places import write_figure

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curves", "draw_learning_curve", "find_figures", "read_metrics"]

#: Colour of each opponent, of the running scores and of the final games alike.
COLOURS = ("tab:green", "tab:blue", "tab:red", "tab:purple", "tab:brown", "tab:olive")

#: The last report follows the one before it closely: too short a time to measure a rate.
SHORTEST_SECONDS = 0.5

LOSSES = {
    "policy_loss": "policy (nats)",
    "value_loss": "win, draw, loss (nats)",
    "margin_loss": "margin (Huber)",
    "entropy": "entropy of the search (nats)",
}


def read_metrics(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read the reports of a run, oldest first.

    A line cut short by a run that was killed while writing it is left out.
    """
    reports = []
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            try:
                report = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(report, dict):
                reports.append(report)
    return reports


def draw_learning_curve(
    run: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> Path:
    """Draw the learning curve of a run.

    Parameters
    ----------
    run : path
        The run's folder, with ``metrics.jsonl`` and, at its end, ``evaluation.json``.
    out : path, optional
        The picture; ``learning-curve.png`` in the run's folder by default.

    Returns
    -------
    Path
        The picture.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    TrainError
        If the run has no measurements.
    """
    figure_of = find_figures()
    curves = Curves.read(run)
    panels = curves.panels()
    ratios = [3 if title in ("scores", "regret") else 2 for title, _ in panels]
    figure = figure_of(figsize=(8, 1.3 * sum(ratios)), layout="constrained")
    places = figure.subplots(len(panels), 1, sharex=True, height_ratios=ratios, squeeze=False)
    figure.suptitle(curves.title())
    for axes, (_, draw) in zip(places.flat, panels, strict=True):
        draw(axes)
    places.flat[-1].set_xlabel("minutes of training")
    places.flat[-1].set_xlim(0, curves.last_minute())
    picture = curves.folder / "learning-curve.png" if out is None else Path(out)
    write_figure(figure, picture)
    return picture


def find_figures() -> Callable[..., Figure]:
    """Return what makes figures that no window shows.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise lacking("pictures need matplotlib", "plot") from error

    def figure_of(**settings: Any) -> Figure:
        figure = Figure(**settings)
        FigureCanvasAgg(figure)
        return figure

    return figure_of


@dataclass(frozen=True)
class Curves:
    """What a run has measured.

    Attributes
    ----------
    folder : Path
        The run's folder.
    reports : list of dict
        The lines of ``metrics.jsonl``, oldest first; at least one.
    evaluation : dict
        ``evaluation.json``; empty if the final games were not played.
    """

    folder: Path
    reports: list[dict[str, Any]]
    evaluation: dict[str, Any]

    @classmethod
    def read(cls, run: str | os.PathLike[str]) -> Curves:
        """Read what a run's folder holds.

        Raises
        ------
        TrainError
            If it holds no measurements.
        """
        folder = Path(run)
        metrics = folder / "metrics.jsonl"
        reports = read_metrics(metrics) if metrics.exists() else []
        if not reports:
            raise TrainError(f"{metrics} holds no measurements")
        return cls(folder, reports, read_evaluation(folder / "evaluation.json"))

    def title(self) -> str:
        """Return the run's name and, where they are known, its rules."""
        name = self.folder.resolve().name
        if "ruleset" not in self.evaluation:
            return name
        return f"{name}: {Ruleset.from_dict(self.evaluation['ruleset'])}"

    def last_minute(self) -> float:
        """Return where the axis ends, with room for the final results."""
        return max(float(self.reports[-1]["seconds"]) / 60 * 1.07, 1e-3)

    def panels(self) -> list[tuple[str, Callable[[Axes], None]]]:
        """Return the name of each curve that there is, and what draws it."""
        reports = self.reports
        results = self.evaluation.get("results", [])
        panels: list[tuple[str, Callable[[Axes], None]]] = []
        if results or any(report.get("scores") for report in reports):
            panels.append(("scores", lambda axes: draw_scores(axes, reports, results)))
        if any(report.get("regret") for report in reports):
            panels.append(("regret", lambda axes: draw_regret(axes, reports)))
        if any(report.get(key) is not None for report in reports for key in LOSSES):
            panels.append(("losses", lambda axes: draw_losses(axes, reports)))
        panels.append(("positions", lambda axes: draw_positions(axes, reports)))
        return panels


def read_evaluation(path: Path) -> dict[str, Any]:
    """Read the final games and their results, nothing if they were not played."""
    if not path.exists():
        return {}
    evaluation: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return evaluation


def draw_scores(axes: Axes, reports: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    """Draw the running score against each opponent, and the final scores with their intervals."""
    running: dict[str, tuple[list[float], list[float]]] = {}
    for report in reports:
        measured = report.get("scores") or {}
        for opponent, score in measured.get("score", {}).items():
            minutes, values = running.setdefault(opponent, ([], []))
            minutes.append(measured["seconds"] / 60)
            values.append(score)
    names = list(dict.fromkeys([*(result["opponent"] for result in results), *running]))
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    for name, (minutes, values) in running.items():
        axes.plot(minutes, values, "o-", color=colours[name], markersize=3, label=f"v {name}")
    end = reports[-1]["seconds"] / 60
    for place, result in enumerate(results):
        score, low, high = result["score"], result["low"], result["high"]
        name = result["opponent"]
        axes.errorbar(
            [end * (1.02 + 0.012 * place)],
            [score],
            [[max(score - low, 0.0)], [max(high - score, 0.0)]],
            fmt="s",
            color=colours[name],
            capsize=3,
            label=f"final v {name}: {score:.2f} ({result['games']} games, 95 %)",
        )
    axes.axhline(0.5, color="grey", linewidth=0.8, linestyle=":")
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("score (win 1, draw ½)")
    axes.grid(visible=True, alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", fontsize="small")


def draw_regret(axes: Axes, reports: list[dict[str, Any]]) -> None:
    """Draw the seeds lost a move, with their interval, and the share of optimal moves."""
    measured = [report["regret"] for report in reports if report.get("regret")]
    minutes = [regret["seconds"] / 60 for regret in measured]
    lost = [regret["seeds_lost"] for regret in measured]
    # A single position has no interval.
    halves = [regret.get("seeds_lost_half") or 0.0 for regret in measured]
    axes.fill_between(
        minutes,
        [max(value - half, 0.0) for value, half in zip(lost, halves, strict=True)],
        [value + half for value, half in zip(lost, halves, strict=True)],
        color="tab:red",
        alpha=0.15,
        linewidth=0,
    )
    lines = axes.plot(
        minutes, lost, "o-", color="tab:red", markersize=3, label="seeds lost a move (95 %)"
    )
    best = [report["best"] for report in reports if report.get("best")]
    if best and best[-1]["by"] == "seeds_lost":
        star = best[-1]
        lines += axes.plot(
            [star["seconds"] / 60],
            [star["value"]],
            "*",
            color="black",
            markersize=11,
            label=f"best agent: {star['value']:.2f} (step {star['step']:,})",
        )
    axes.set_ylim(bottom=0)
    axes.set_ylabel("seeds lost a move")
    axes.grid(visible=True, alpha=0.3)
    shares = axes.twinx()
    optimal = [100 * regret["optimal"] for regret in measured]
    lines += shares.plot(
        minutes, optimal, "s--", color="tab:green", markersize=3, label="optimal moves (right)"
    )
    shares.set_ylim(0, 102)
    shares.set_ylabel("optimal moves (%)")
    axes.legend(handles=lines, loc="lower left", fontsize="small")


def draw_losses(axes: Axes, reports: list[dict[str, Any]]) -> None:
    """Draw each part of the loss, and the entropy of the search, which the policy's nears."""
    for key, label in LOSSES.items():
        known = [report for report in reports if report.get(key) is not None]
        if not known:
            continue
        minutes = [report["seconds"] / 60 for report in known]
        values = [report[key] for report in known]
        if key == "entropy":
            axes.plot(minutes, values, ":", color="grey", linewidth=1.2, label=label)
        else:
            axes.plot(minutes, values, linewidth=1.2, label=label)
    # Room above the lines for the legend.
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])
    axes.set_ylabel("loss")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="upper right", ncols=len(LOSSES), fontsize="small")


def draw_positions(axes: Axes, reports: list[dict[str, Any]]) -> None:
    """Draw the positions searched so far, and how many were searched each second."""
    minutes = [report["seconds"] / 60 for report in reports]
    thousands = [report["positions"] / 1000 for report in reports]
    line = axes.plot(minutes, thousands, color="tab:blue", label="positions searched")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("positions searched (thousands)")
    axes.grid(visible=True, alpha=0.3)
    rates = axes.twinx()
    measured = [
        report
        for before, report in zip([None, *reports], reports, strict=False)
        if before is None or report["seconds"] - before["seconds"] > SHORTEST_SECONDS
    ]
    line += rates.plot(
        [report["seconds"] / 60 for report in measured],
        [report["positions_per_second"] for report in measured],
        color="tab:orange",
        linewidth=1,
        label="positions each second",
    )
    rates.set_ylim(bottom=0)
    rates.set_ylabel("positions each second")
    axes.legend(handles=line, loc="lower right", fontsize="small")
