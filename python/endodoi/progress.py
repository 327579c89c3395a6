"""Progress of long work: a line on a terminal, a bar in a notebook."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from endodoi.errors import ArgumentValueError
from endodoi.extras import missing
from endodoi.numbers_given import wrong_type

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Progress"]

#: Seconds before progress is shown, and between two updates of a line and of a bar.
QUIET_SECONDS, LINE_SECONDS, BAR_SECONDS = 1.0, 0.2, 1.0


class Progress:
    """Shows the games finished, or passes them to a function.

    Parameters
    ----------
    games : int
        Games to be played.
    unit : str
        What is counted if not games.
    progress : bool, callable, "tqdm" or None
        A function that takes the games finished; ``"tqdm"`` a bar of tqdm; True a line on the
        error output, or in a notebook a bar where tqdm is installed; False nothing; None as True
        on a terminal and in a notebook, else nothing.

    Attributes
    ----------
    function : callable or None
        What is to be called with the games finished.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `progress` is none of these.
    MissingExtraError
        If ``"tqdm"`` is asked for and tqdm is not installed.
    """

    def __init__(
        self,
        games: int,
        progress: bool | str | Callable[[int], object] | None,
        *,
        unit: str = "game",
    ) -> None:
        self.games = games
        self.unit = unit
        self.began = self.shown = time.monotonic()
        self.finished = self.written = 0
        self.open = False
        self.bar: Any = None
        self.make_bar: Callable[..., Any] | None = None
        self.function: Callable[[int], object] | None = None
        if callable(progress):
            self.function = progress
            return
        check_kind(progress)
        wanted = progress is True or (progress is None and (in_notebook() or on_terminal()))
        if progress == "tqdm" or (wanted and in_notebook()):
            self.make_bar = find_bar()
        if progress == "tqdm" and self.make_bar is None:
            raise missing("tqdm", "tqdm")
        if self.make_bar is not None:
            self.function = self.show_bar
        elif wanted and (progress is True or on_terminal()):
            self.function = self.show_line

    @property
    def tell(self) -> Callable[[int], object]:
        """What is told the games finished; it does nothing where nothing is shown."""
        return self.function or (lambda _finished: None)

    def is_due(self, seconds: float) -> bool:
        """Tell whether it is time for the next update."""
        now = time.monotonic()
        if now - self.began < QUIET_SECONDS or (self.open and now - self.shown < seconds):
            return False
        self.shown, self.open = now, True
        return True

    def show_line(self, finished: int) -> None:
        """Write the games finished over the line before."""
        self.finished = finished
        if self.is_due(LINE_SECONDS):
            self.write_line()

    def write_line(self) -> None:
        """Write the line of the games finished."""
        rate = self.finished / (time.monotonic() - self.began)
        line = f"{self.finished:,} of {self.games:,} {self.unit}s, {rate:,.0f} each second"
        self.written = write_over(line, self.written)

    def show_bar(self, finished: int) -> None:
        """Move the bar to the games finished."""
        self.finished = finished
        if self.make_bar is not None and self.is_due(BAR_SECONDS):
            if self.bar is None:
                self.bar = self.make_bar(total=self.games, unit=self.unit, unit_scale=True)
            self.bar.update(finished - self.bar.n)

    def __enter__(self) -> Progress:  # noqa: PYI034
        """Begin."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End the line or the bar."""
        if self.bar is not None:
            self.bar.update(self.finished - self.bar.n)
            self.bar.close()
        elif self.open:
            self.write_line()
            sys.stderr.write("\n")


class StatusLine:
    """A line on the error output that is written over until it is closed.

    Nothing is shown of work that is soon done.
    """

    def __init__(self) -> None:
        self.began = self.shown = time.monotonic()
        self.text = ""
        self.written = 0

    def show(self, text: str) -> None:
        """Write the text over the one before, if it is time for it."""
        self.text = text
        now = time.monotonic()
        if now - self.began >= QUIET_SECONDS and now - self.shown >= LINE_SECONDS:
            self.shown = now
            self.write()

    def write(self) -> None:
        """Write the text over the one before."""
        self.written = write_over(self.text, self.written)

    def close(self) -> None:
        """End the line, if there is one."""
        if self.written:
            self.write()
            sys.stderr.write("\n")


def write_over(text: str, before: int) -> int:
    """Write a text over the line before, which had so many characters; return how many it has."""
    # A line that wraps cannot be written over, one that is longer has to be.
    line = text.ljust(before)[: line_width()]
    sys.stderr.write(f"\r{line} ")
    sys.stderr.flush()
    return len(line.rstrip())


def check_kind(progress: object, *, bar: bool = True) -> None:
    """Refuse what is no kind of progress, as a misspelt ``"tqdm"``.

    Parameters
    ----------
    progress
        What was given.
    bar : bool
        Whether ``"tqdm"`` is a kind.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is not one of those that `Progress` names.
    """
    named = '"tqdm" or a function' if bar else "or a function"
    expected = f"True, False, None, {named}"
    if isinstance(progress, str) and not (bar and progress == "tqdm"):
        raise ArgumentValueError(
            f"progress is {progress!r}, expected {expected}", field="progress", value=progress
        )
    if not isinstance(progress, bool | str | None):
        raise wrong_type(progress, "progress", expected)


def on_terminal() -> bool:
    """Tell whether the error output is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def line_width() -> int | None:
    """Return how many characters a line of the error output shows, None if it is no terminal."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return None
    # The cursor needs a place, and there is a space before it.
    return max(columns - 2, 1) if columns else None


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def find_bar() -> Callable[..., Any] | None:
    """Return the bar of tqdm that suits the place, None if it is not installed."""
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415
    except ImportError:
        return None
    bar: Callable[..., Any] = tqdm
    return bar
