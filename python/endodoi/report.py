"""The report of a training run: one page with its results, curves and settings."""

from __future__ import annotations

import base64
import io
import json
import shlex
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi._core import Ruleset, __version__
from endodoi.learning_curve import Curves, find_figures
from endodoi.places import write_text
from endodoi.wording import signed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

__all__ = ["write_report"]

TITLES = {
    "scores": "Score against each opponent",
    "regret": "Seeds lost against the best moves",
    "losses": "Losses",
    "positions": "Self-play",
}

#: Beneath each curve.
NOTES = {
    "scores": "Running scores are of few games, measured beside training. The squares at the end "
    "are the final games with their 95 % intervals.",
    "regret": "The agent, with its usual search, chooses in positions kept apart from training; "
    "each move is compared with the best one.",
    "losses": "Means between two lines of metrics.jsonl.",
    "positions": "Positions searched in self-play: one for each ply.",
}

STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 56rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
img { width: 100%; height: auto; } figure { margin: 1rem 0; }
figcaption, .note { color: #555; font-size: .9rem; }
table { border-collapse: collapse; margin: .8rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .25rem .9rem .25rem 0; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child, .facts td { text-align: left; }
.games td { white-space: nowrap; }
pre { background: #f5f5f3; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
"""


def write_report(run: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the report of a run: one page of HTML that needs no other file.

    Parameters
    ----------
    run : path
        The run's folder; one that is still going on has a report too.
    out : path, optional
        The page; ``report.html`` in the run's folder by default.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    TrainError
        If the run has no measurements.
    """
    figure_of = find_figures()
    curves = Curves.read(run)
    pictures = []
    for name, draw in curves.panels():
        figure = figure_of(figsize=(9, 3.6), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_xlabel("minutes of training")
        axes.set_xlim(0, curves.last_minute())
        drawing = io.BytesIO()
        figure.savefig(drawing, format="svg", metadata={"Date": None})
        pictures.append((name, drawing.getvalue()))
    page = Path(run) / "report.html" if out is None else Path(out)
    write_text(page, page_of(curves, pictures))
    return page


def page_of(curves: Curves, pictures: Iterable[tuple[str, bytes]]) -> str:
    """Return the page."""
    title = escape(curves.title())
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>",
        f"<h1>{title}</h1>",
        summary_of(curves),
        *results_of(curves.evaluation),
        "<h2>Curves</h2>",
        *(figure_html(name, drawing) for name, drawing in pictures),
        playing_of(curves),
        *settings_of(curves.folder),
        f'<p class="note">Written by endodoi {escape(__version__)}.</p>',
        "</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def summary_of(curves: Curves) -> str:
    """Return how far the run is, and its best agent."""
    last = curves.reports[-1]
    rows = [("time of training", clock(last["seconds"]))]
    progress = last.get("progress")
    if progress is not None and progress < 1:
        rows.append(("budget used", f"{100 * progress:.0f} %"))
    for key, label in (
        ("games", "games of self-play"),
        ("positions", "positions searched"),
        ("evaluations", "positions evaluated"),
        ("step", "optimiser steps"),
    ):
        if last.get(key) is not None:
            rows.append((label, f"{last[key]:,}"))
    best = next((report["best"] for report in reversed(curves.reports) if report.get("best")), None)
    if best is not None:
        what = (
            f"{best['value']:.2f} seeds lost a move"
            if best["by"] == "seeds_lost"
            else f"mean score {best['value']:.2f}"
        )
        rows.append(("best running measurement", f"{what}, step {best['step']:,}"))
    return table_html("", [], [[label, value] for label, value in rows])


def results_of(evaluation: dict[str, Any]) -> list[str]:
    """Return the final games of the agent and, if it was compared with another, of that one."""
    if not evaluation:
        return ["<h2>Final games</h2>", "<p>They were not played.</p>"]
    parts = ["<h2>Final games</h2>"]
    for result in (evaluation, evaluation.get("other")):
        if result is None:
            continue
        how = f", {result['search']}" if "search" in result else ""
        step = f", step {result['step']:,}" if "step" in result else ""
        parts.append(
            table_html(
                f"{result['agent']}{step}{how}",
                ["opponent", "games", "won", "drawn", "lost", "score", "95 %", "margin (seeds)"],
                [result_row(row) for row in result["results"]],
            )
        )
        if regret := result.get("regret"):
            half = regret.get("seeds_lost_half")
            interval = f" ± {half:.2f}" if half is not None else ""
            parts.append(
                f"<p>{100 * regret['optimal']:.1f} % of its moves are optimal, and a move loses "
                f"{regret['seeds_lost']:.2f}{interval} seeds, in {regret['positions']} positions "
                f"compared with {escape(regret['reference'])} play.</p>"
            )
    plies = evaluation.get("openings")
    parts.append(
        f'<p class="note">Pairs of games from openings of {plies} random plies, each played from '
        "both sides.</p>"
    )
    return parts


def result_row(row: dict[str, Any]) -> list[str]:
    """Return the games against one opponent as texts."""
    return [
        row["opponent"],
        f"{row['games']:,}",
        f"{row['wins']:,}",
        f"{row['draws']:,}",
        f"{row['losses']:,}",
        f"{row['score']:.3f}",
        f"{row['low']:.3f} to {row['high']:.3f}",
        f"{signed(row['margin'], 2)} ± {row['margin_half']:.2f}",
    ]


def figure_html(name: str, drawing: bytes) -> str:
    """Return a curve with its heading and note; the drawing lies in the page itself."""
    data = base64.b64encode(drawing).decode("ascii")
    title = escape(TITLES[name])
    return (
        f'<figure><h3>{title}</h3>\n<img alt="{title}" src="data:image/svg+xml;base64,{data}">\n'
        f"<figcaption>{escape(NOTES[name])}</figcaption></figure>"
    )


def playing_of(curves: Curves) -> str:
    """Return how to let the agent play."""
    run = str(curves.folder)
    agent = f"agent:{run}"
    python = (
        "import endodoi as ed\n\n"
        f"agent = ed.policies.Agent.load({run!r})\n"
        "# It answers every move of yours inside `step`.\n"
        f"env = ed.Env(agent.ruleset, opponent={agent!r}, agent_side='south')\n"
        "table = ed.simulate(\n"
        "    400, ruleset=agent.ruleset, south=agent, north='alphabeta:4', random_opening_plies=4\n"
        ")\n"
        "print(table.summary())"
    )
    rules = rule_options(curves.evaluation.get("ruleset"))
    command = (
        f"endodoi simulate{rules} --games 400 --opening-plies 4 \\\n"
        f"    --south {shlex.quote(agent)} --north alphabeta:4\n"
        f"endodoi regret{rules} \\\n    --player {shlex.quote(agent)} alphabeta:6"
    )
    return (
        "<h2>Playing against it</h2>\n<p>In Python, without torch:</p>\n"
        f"<pre>{escape(python)}</pre>\n<p>On the command line:</p>\n<pre>{escape(command)}</pre>"
    )


def rule_options(fields: dict[str, Any] | None) -> str:
    """Return the options of a command that name the rules, those that are not the variant's own."""
    if fields is None:
        return ""
    usual = Ruleset(fields["variant"], columns=fields["columns"]).to_dict()
    named = {
        key: value
        for key, value in fields.items()
        if key in ("variant", "columns") or value != usual[key]
    }
    return "".join(f" --{key.replace('_', '-')} {value}" for key, value in named.items())


def settings_of(folder: Path) -> list[str]:
    """Return the settings and where the run comes from, as its files tell."""
    parts = ["<h2>Settings</h2>"]
    origin = folder / "run.json"
    if origin.exists():
        known = json.loads(origin.read_text(encoding="utf-8"))
        rows = [
            [key, " ".join(value) if isinstance(value, list) else str(value)]
            for key, value in known.items()
        ]
        parts.append(table_html("", [], rows))
    config = folder / "config.toml"
    if config.exists():
        parts.append(f"<pre>{escape(config.read_text(encoding='utf-8').strip())}</pre>")
    return parts if len(parts) > 1 else []


def table_html(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts."""
    lines = ['<table class="games">' if heads else '<table class="facts">']
    if caption:
        lines.append(f"<caption>{escape(caption)}</caption>")
    if heads:
        lines.append("<tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>")
    lines.extend(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    lines.append("</table>")
    return "\n".join(lines)


def clock(seconds: float) -> str:
    """Write a time as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
