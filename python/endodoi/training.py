"""Self-play training: runs the program ``endodoi-train`` and joins in what it writes.

The trainer is a program of its own, because it needs libtorch, which must not meet the libtorch
of a running Python; the two share files alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from endodoi._core import shipped_names
from endodoi.errors import ArgumentTypeError, MissingExtraError, TrainError
from endodoi.frames import pandas_frame, polars_frame
from endodoi.learning_curve import draw_learning_curve, read_metrics
from endodoi.policies import Agent
from endodoi.report import write_report
from endodoi.shipped import FOLDER
from endodoi.training_progress import Shown, shown_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd
    import polars as pl

__all__ = ["TrainResult", "find_trainer", "run_trainer", "train"]

PROGRAM = "endodoi-train"

#: How the program names the run: at its end, or when it was stopped.
RUN_LINES = (
    re.compile(r"^agent:\s+(?P<path>.+)[/\\][^/\\]+$"),
    re.compile(r"^stopped; .*--resume (?P<path>.+)$"),
)


@dataclass(frozen=True)
class TrainResult:
    """What a training run left behind.

    Attributes
    ----------
    run : Path
        The folder of the run.
    finished : bool
        Whether the budget was used; False when the run was stopped and can be resumed.
    """

    run: Path
    finished: bool

    @property
    def agent(self) -> Path:
        """The agent's file: of the best agent, or of the last one if none was measured."""
        best = self.run / "best.safetensors"
        return best if best.exists() else self.last_agent

    @property
    def last_agent(self) -> Path:
        """The file of the agent as it was at the end."""
        return self.run / "agent.safetensors"

    @property
    def best(self) -> dict[str, Any] | None:
        """What the best agent was measured by: ``seconds``, ``step``, ``by``, ``value``, ``count``.

        ``by`` is ``"seeds_lost"`` (fewest seeds lost a move) or ``"score"`` (highest mean score).
        """
        return read_json(self.run / "best.json")

    @property
    def metrics(self) -> Path:
        """The measurements, one JSON object a line."""
        return self.run / "metrics.jsonl"

    @property
    def learning_curve(self) -> Path | None:
        """The picture of the learning curve, if there is one."""
        picture = self.run / "learning-curve.png"
        return picture if picture.exists() else None

    @property
    def report(self) -> Path | None:
        """The report as a page of HTML, if there is one."""
        page = self.run / "report.html"
        return page if page.exists() else None

    @property
    def evaluation(self) -> dict[str, Any] | None:
        """The results of the final games against fixed opponents, if they were played."""
        return read_json(self.run / "evaluation.json")

    def load(self, *, simulations: int | None = None, depth: int | None = None) -> Agent:
        """Load the agent as a policy; see `Agent.load`."""
        return Agent.load(self.agent, simulations=simulations, depth=depth)

    def reports(self) -> list[dict[str, Any]]:
        """Read the measurements, oldest first, as docs/formats.md describes them."""
        return read_metrics(self.metrics) if self.metrics.exists() else []

    def to_numpy(self) -> dict[str, npt.NDArray[np.float64]]:
        """Return the measurements as columns, float64[T] for T reports.

        What lies deeper has the names of both, as ``scores.score.greedy`` and
        ``regret.seeds_lost``; NaN stands where a report does not have a number.
        """
        rows = [dict(numbers_of(report)) for report in self.reports()]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}

    def to_pandas(self) -> pd.DataFrame:
        """Return the measurements as a pandas frame with the columns of `to_numpy`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return pandas_frame(self.to_numpy())

    def to_polars(self) -> pl.DataFrame:
        """Return the measurements as a polars frame with the columns of `to_numpy`.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        return polars_frame(self.to_numpy())


def read_json(path: Path) -> dict[str, Any] | None:
    """Read an object, None if there is no such file."""
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def numbers_of(report: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Iterate over the numbers of a report and their names, what lies deeper with a dot."""
    for key, value in report.items():
        if isinstance(value, dict):
            yield from numbers_of(value, f"{before}{key}.")
        elif isinstance(value, int | float):
            yield before + key, float(value)


def train(
    config: str | os.PathLike[str] | None = None,
    *,
    learner: str | None = None,
    variant: str | None = None,
    columns: int | None = None,
    seeds_per_pit: int | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    games: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    start: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[dict[str, Any]], object] | None = None,
    plot: bool = True,
) -> TrainResult:
    """Train an agent by self-play, as the command ``endodoi train`` does, and wait for it.

    An interrupt (Ctrl-C, or the stop of a notebook) lets the program finish its iteration and
    write a checkpoint; the result then says that it is not finished, and ``resume=result.run``
    goes on. A second one ends the program at once.

    Parameters
    ----------
    config : path, optional
        A configuration file in TOML; the other arguments win over it.
    learner : str, optional
        ``"value"`` (the default) for an agent that plays by alpha-beta, ``"gumbel"`` for one that
        searches a tree and plays on any size; docs/trainer.md compares them.
    variant, columns, seeds_per_pit
        The rules, as in `Ruleset`.
    minutes, steps, games
        When training ends: minutes, optimiser steps, games of self-play. Default five minutes.
    seed : int, optional
        Seed of the first weights, of self-play and of the batches.
    workers : int, optional
        Threads; 0 takes one for every core.
    start : path or str, optional
        Start from the weights of an agent, not from random ones: its file, the folder of its run,
        or the name of a shipped one. Its learner and the widths of its network are the defaults
        then. An agent of learner ``"gumbel"`` may be of another size of board.
    settings : mapping, optional
        Any other settings of docs/trainer.md, as ``{"optimiser.batch": 256}`` or
        ``{"optimiser": {"batch": 256}}``.
    out : path, optional
        Folder of the run; ``runs/VARIANT-2xC-NUMBER`` by default.
    resume : path, optional
        Go on with the run of this folder.
    progress : bool, callable, "tqdm" or None
        None and True: the live view of the program on the error output, or in a notebook a bar
        where tqdm is installed and else a few lines. ``"tqdm"``: a bar anywhere. A function: it is
        called with every report, a dict as ``metrics.jsonl`` has them; if it raises, the run is
        stopped with a checkpoint and the error goes on. False: nothing.
    plot : bool
        Draw the learning curve and write the report at the end, if matplotlib is installed.

    Returns
    -------
    TrainResult

    Raises
    ------
    TrainError
        If the program is not found or fails.
    ArgumentTypeError, ArgumentValueError
        If a setting is not one that TOML holds, or `progress` is none of these.
    MissingExtraError
        If ``"tqdm"`` is asked for and tqdm is not installed.

    Examples
    --------
    >>> result = ed.train(columns=6, minutes=5, seed=1)  # doctest: +SKIP
    >>> agent = result.load()  # doctest: +SKIP
    >>> result.to_pandas()["regret.seeds_lost"].dropna()  # doctest: +SKIP
    """
    values = {
        "config": config,
        "learner": learner,
        "variant": variant,
        "columns": columns,
        "seeds-per-pit": seeds_per_pit,
        "minutes": minutes,
        "steps": steps,
        "games": games,
        "seed": seed,
        "workers": workers,
        "start": start_file(start),
        "out": out,
        "resume": resume,
    }
    shown = shown_by(progress)
    result = run_trainer(option_words(values, settings, progress, shown), shown)
    if plot:
        draw_result(result)
    return result


def start_file(start: str | os.PathLike[str] | None) -> str | None:
    """Return where the agent is that a run starts from: the file of a shipped one for its name."""
    if start is None or Path(start).exists():
        return None if start is None else os.fspath(start)
    return str(FOLDER / f"{start}.safetensors") if start in shipped_names() else os.fspath(start)


def option_words(
    values: Mapping[str, object],
    settings: Mapping[str, Any] | None,
    progress: object,
    shown: Shown | None,
) -> list[str]:
    """Write options as the program reads them; those that are None are left out."""
    arguments = [f"--{name}={value}" for name, value in values.items() if value is not None]
    arguments += [f"--set={setting}" for setting in setting_lines(settings or {})]
    if progress is False:
        arguments.append("--quiet")
    elif shown is not None:
        arguments.append("--progress=json")
    return arguments


def draw_result(result: TrainResult) -> None:
    """Draw the learning curve of a run and write its report, if matplotlib is installed."""
    if not result.metrics.exists():
        return
    try:
        draw_learning_curve(result.run)
        write_report(result.run)
    except MissingExtraError as error:
        print(f"no learning curve: {error}", file=sys.stderr)  # noqa: T201


def setting_lines(settings: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Write settings as lines of TOML, those of a table with the table's name.

    Raises
    ------
    ArgumentTypeError
        If a value is neither a text, a number, a truth value nor a mapping.
    """
    for key, value in settings.items():
        name = before + key
        if isinstance(value, dict):
            yield from setting_lines(value, f"{name}.")
        elif isinstance(value, bool | str | int | float):
            yield f"{name}={json.dumps(value)}"
        else:
            raise ArgumentTypeError(
                f"settings[{name!r}] is {value!r} ({type(value).__name__}), expected a text, a "
                "number, True, False or a mapping",
                field="settings",
                value=value,
            )


def run_trainer(arguments: Sequence[str], shown: Shown | None = None) -> TrainResult:
    """Run the program with these arguments and find out where its run is.

    Without `shown` the program shows its progress itself, in this terminal.

    Raises
    ------
    TrainError
        If the program is not found, fails, or does not say where the run is.
    """
    for line in watch_program(arguments, shown):
        for pattern in RUN_LINES:
            if match := pattern.match(line):
                finished = pattern is RUN_LINES[0]
                return TrainResult(Path(match["path"]), finished)
    raise TrainError(f"{PROGRAM} did not say where its run is", status=0)


def watch_program(
    arguments: Sequence[str],
    shown: Shown | None = None,
    started: Callable[[subprocess.Popen[str]], object] | None = None,
) -> list[str]:
    """Run the program with these arguments and return the lines of its output.

    Parameters
    ----------
    arguments : sequence of str
    shown : Shown, optional
        Shows its progress; without it the program does so itself, in this terminal.
    started : callable, optional
        Is told of the process when it has started. The program then has an input that is closed
        when this process ends.

    Raises
    ------
    TrainError
        If the program is not found, or fails.
    """
    program = find_trainer()
    sys.stdout.flush()
    # In a session of its own, the program hears of Ctrl-C once, from here, wherever it came from.
    with (
        subprocess.Popen(
            [program, *arguments],
            stdin=None if started is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process,
        forwarded_signals(process),
        shown or nullcontext(),
    ):
        try:
            if started is not None:
                started(process)
            lines = list(shown_lines(process, shown))
        except BaseException:
            stop(process)
            raise
    if process.returncode != 0:
        status = process.returncode
        how = f"was ended by signal {-status}" if status < 0 else f"failed with status {status}"
        raise TrainError(f"{PROGRAM} {how}", status=status)
    return lines


def find_trainer() -> str:
    """Return the path of the program ``endodoi-train``.

    It is looked for in the variable ``ENDODOI_TRAIN``, on the PATH, and in the build folder of the
    checkout that the package is installed from.

    Raises
    ------
    TrainError
        If it is in none of these places; the message names the command that builds it.
    """
    named = os.environ.get("ENDODOI_TRAIN")
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return named
        raise TrainError(f"ENDODOI_TRAIN is {named!r}, which is no program")
    if found := shutil.which(PROGRAM):
        return found
    places = ["the variable ENDODOI_TRAIN", "the PATH"]
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "Cargo.toml").exists():
        target = Path(os.environ.get("CARGO_TARGET_DIR") or checkout / "target")
        built = target / "release" / PROGRAM
        if built.is_file():
            return str(built)
        places.append(str(built))
    raise TrainError(
        f"the trainer {PROGRAM} was not found (looked in {', '.join(places)}); "
        "`make train` in a checkout of endodoi builds it"
    )


def shown_lines(process: subprocess.Popen[str], shown: Shown | None) -> Iterator[str]:
    """Write every line of a program's output as it comes and yield it without its end.

    What the program says of its progress goes to `shown`.
    """
    for line in process.stdout or ():
        if shown is not None and line.startswith("{"):
            shown.hear(json.loads(line))
            continue
        if shown is not None:
            shown.close()
        sys.stdout.write(line)
        sys.stdout.flush()
        yield line.rstrip("\n")


def stop(process: subprocess.Popen[str]) -> None:
    """Let a program end with a checkpoint, whatever it still has to say, and wait for it."""
    process.send_signal(signal.SIGINT)
    for _ in process.stdout or ():
        pass
    process.wait()


@contextmanager
def forwarded_signals(process: subprocess.Popen[str]) -> Iterator[None]:
    """Pass interrupts and requests to end on to a program while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def forward(number: int, _frame: object) -> None:
        process.send_signal(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
        process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
