"""What a training run shows where the program's own view does not reach: bars, lines, functions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from endodoi.errors import MissingExtraError
from endodoi.progress import BAR_SECONDS, check_kind, find_bar, in_notebook

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Shown", "shown_by", "text_of"]

#: A line is written when this much more of the budget is used.
LINE_SHARE = 0.05


class Shown:
    """Hears what the program says of its progress."""

    def hear(self, message: dict[str, Any]) -> None:
        """Show a message: a report, or something said once."""
        if "report" in message:
            self.report(message["report"])
        elif "say" in message:
            self.say(message["say"])

    def report(self, report: dict[str, Any]) -> None:
        """Show a report."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Show a text once."""

    def close(self) -> None:
        """Leave what is shown as it is."""

    def __enter__(self) -> Shown:  # noqa: PYI034
        """Begin."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End."""
        self.close()


class Told(Shown):
    """Passes every report to a function."""

    def __init__(self, function: Callable[[dict[str, Any]], object]) -> None:
        self.function = function

    def report(self, report: dict[str, Any]) -> None:
        """Call the function."""
        self.function(report)


class Lines(Shown):
    """Writes a line for every twentieth part of the budget."""

    def __init__(self) -> None:
        self.next = 0.0
        self.measured: dict[str, Any] = {}

    def report(self, report: dict[str, Any]) -> None:
        """Write a line if it is time for it."""
        self.measured.update(measured_in(report))
        if report["progress"] >= self.next:
            self.next = report["progress"] + LINE_SHARE
            share = min(100 * report["progress"], 100)
            self.say(f"{share:3.0f} %: {text_of({**report, **self.measured})}")

    def say(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Bar(Shown):
    """Moves a bar of tqdm along the budget."""

    def __init__(self, make_bar: Callable[..., Any]) -> None:
        self.make_bar = make_bar
        self.bar: Any = None
        self.shown = 0.0
        self.latest: dict[str, Any] = {}
        self.measured: dict[str, Any] = {}

    def report(self, report: dict[str, Any]) -> None:
        """Move the bar, at most once a second."""
        self.latest = report
        self.measured.update(measured_in(report))
        now = time.monotonic()
        if self.bar is None:
            # Of a run that goes on, what was done before takes no time now.
            self.bar = self.make_bar(
                total=100,
                initial=round(percent(report)),
                desc="training",
                bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}",
            )
        if now - self.shown >= BAR_SECONDS:
            self.shown = now
            self.move()

    def move(self) -> None:
        """Move the bar to the latest report."""
        self.bar.set_postfix_str(text_of({**self.latest, **self.measured}), refresh=False)
        self.bar.update(percent(self.latest) - self.bar.n)
        self.bar.refresh()

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        if self.bar is None:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
        else:
            self.bar.write(text, file=sys.stderr)

    def close(self) -> None:
        """End the bar."""
        if self.bar is not None:
            self.move()
            self.bar.close()
            self.bar = None


def shown_by(progress: bool | str | Callable[[dict[str, Any]], object] | None) -> Shown | None:
    """Return what shows the progress, None where the program does so itself or nothing is shown.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `progress` is not one of those that `train` names.
    MissingExtraError
        If ``"tqdm"`` is asked for and tqdm is not installed.
    """
    if callable(progress):
        return Told(progress)
    check_kind(progress)
    if progress is False or (progress != "tqdm" and not in_notebook()):
        return None
    make_bar = find_bar()
    if make_bar is not None:
        return Bar(make_bar)
    if progress == "tqdm":
        raise MissingExtraError("tqdm is not installed: pip install 'endodoi[tqdm]'", extra="tqdm")
    return Lines()


def percent(report: dict[str, Any]) -> float:
    """Return the part of the budget used, at most 100."""
    return min(100 * float(report["progress"]), 100.0)


def measured_in(report: dict[str, Any]) -> dict[str, Any]:
    """Return what stays in sight until it is measured again."""
    return {key: report[key] for key in ("scores", "regret", "best") if report.get(key)}


def text_of(report: dict[str, Any]) -> str:
    """Write a report in a line; what a learner does not have is left out."""
    parts = [f"{report['games']:,} games", f"step {report['step']:,}"]
    if report.get("positions_per_second") is not None:
        parts.append(f"{report['positions_per_second']:,.0f} plies/s")
    if report.get("loss") is not None:
        parts.append(f"loss {report['loss']:.3f}")
    if report.get("entropy") is not None:
        parts.append(f"entropy {report['entropy']:.2f}")
    if scores := report.get("scores"):
        parts.extend(f"{name} {score:.2f}" for name, score in scores["score"].items())
    if regret := report.get("regret"):
        parts.append(f"{regret['seeds_lost']:.2f} seeds lost")
    return ", ".join(parts)
