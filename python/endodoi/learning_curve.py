"""The picture of a training run: scores, losses and throughput over its minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi._core import Ruleset
from endodoi.errors import MissingExtraError, TrainError
from endodoi.places import written_whole

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

__all__ = ["draw_learning_curve", "read_metrics"]

#: Colour of each opponent, of the running scores and of the final games alike.
COLOURS = ("tab:green", "tab:blue", "tab:red", "tab:purple", "tab:brown", "tab:olive")

#: The last report follows the one before it closely: too short a time to measure a rate.
SHORTEST_SECONDS = 0.5

LOSSES = {
    "policy_loss": "policy (nats)",
    "value_loss": "win, draw, loss (nats)",
    "margin_loss": "margin (Huber)",
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
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "pictures need matplotlib: pip install 'endodoi[plot]'", extra="plot"
        ) from error
    folder = Path(run)
    metrics = folder / "metrics.jsonl"
    reports = read_metrics(metrics) if metrics.exists() else []
    if not reports:
        raise TrainError(f"{metrics} holds no measurements")
    evaluation = read_evaluation(folder / "evaluation.json")
    results = evaluation.get("results", [])
    figure = Figure(figsize=(8, 9), layout="constrained")
    scores, losses, positions = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 2])
    figure.suptitle(title_of(folder.resolve().name, evaluation))
    draw_scores(scores, reports, results)
    draw_losses(losses, reports)
    draw_positions(positions, reports)
    positions.set_xlabel("minutes of training")
    positions.set_xlim(0, reports[-1]["seconds"] / 60 * 1.07)
    picture = folder / "learning-curve.png" if out is None else Path(out)
    FigureCanvasAgg(figure)
    with written_whole(picture) as partial:
        figure.savefig(partial, dpi=120, format=picture.suffix.lstrip(".") or "png")
    return picture


def read_evaluation(path: Path) -> dict[str, Any]:
    """Read the final games and their results, nothing if they were not played."""
    if not path.exists():
        return {}
    evaluation: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return evaluation


def title_of(name: str, evaluation: dict[str, Any]) -> str:
    """Return the run's name and, where they are known, its rules."""
    if "ruleset" not in evaluation:
        return name
    return f"{name}: {Ruleset.from_dict(evaluation['ruleset'])}"


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


def draw_losses(axes: Axes, reports: list[dict[str, Any]]) -> None:
    """Draw each part of the loss."""
    for key, label in LOSSES.items():
        known = [report for report in reports if report.get(key) is not None]
        minutes = [report["seconds"] / 60 for report in known]
        axes.plot(minutes, [report[key] for report in known], linewidth=1.2, label=label)
    # Room above the lines for the legend.
    axes.set_ylim(0, 1.2 * axes.get_ylim()[1])
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
