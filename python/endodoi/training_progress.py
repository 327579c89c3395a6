"""What a training run shows where the program's own view does not reach: bars, lines, functions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from endodoi.extras import missing
from endodoi.progress import BAR_SECONDS, check_kind, find_bar, in_notebook

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Shown", "shown_by", "text_of"]

#: A line is written when this much more of the budget is used.
LINE_SHARE = 0.05

#: The bar's end, in percent of the budget.
FULL = 100.0


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
        self.known: dict[str, Any] = {}

    def report(self, report: dict[str, Any]) -> None:
        """Write a line if it is time for it."""
        self.known.update(known_in(report))
        if report["progress"] >= self.next:
            self.next = report["progress"] + LINE_SHARE
            self.say(f"{percent(report):3.0f} %: {text_of(self.known)}")

    def say(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Bar(Shown):
    """Moves a bar of tqdm along the budget."""

    def __init__(self, make_bar: Callable[..., Any]) -> None:
        self.make_bar = make_bar
        self.bar: Any = None
        self.ended = False
        self.shown = 0.0
        self.known: dict[str, Any] = {}

    def report(self, report: dict[str, Any]) -> None:
        """Move the bar, at most once a second."""
        self.known.update(known_in(report))
        if self.ended:
            return
        if self.bar is None:
            # Of a run that goes on, what was done before takes no time now.
            self.bar = self.make_bar(
                total=FULL,
                initial=round(percent(report)),
                desc="training",
                bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}",
            )
        now = time.monotonic()
        if now - self.shown >= BAR_SECONDS:
            self.shown = now
            self.move()
            self.bar.refresh()

    def move(self) -> None:
        """Set the bar to the latest report."""
        self.bar.n = percent(self.known)
        self.bar.set_postfix_str(text_of(self.known), refresh=False)

    def say(self, text: str) -> None:
        """Write a line: above the bar while it moves, below it when the budget is used."""
        if self.bar is not None and percent(self.known) < FULL:
            self.bar.write(text, file=sys.stderr)
            return
        self.close()
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """End the bar."""
        if self.bar is not None:
            self.move()
            self.bar.close()
            self.bar, self.ended = None, True


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
        raise missing("tqdm", "tqdm")
    return Lines()


def percent(report: dict[str, Any]) -> float:
    """Return the part of the budget used, at most 100."""
    return min(FULL * float(report["progress"]), FULL)


def known_in(report: dict[str, Any]) -> dict[str, Any]:
    """Return what stays in sight until it is measured again."""
    return {key: value for key, value in report.items() if value is not None}


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
