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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi.errors import MissingExtraError, TrainError
from endodoi.learning_curve import draw_learning_curve
from endodoi.policies import Agent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        """The agent's file."""
        return self.run / "agent.safetensors"

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
    def evaluation(self) -> dict[str, Any] | None:
        """The results of the final games against fixed opponents, if they were played."""
        file = self.run / "evaluation.json"
        if not file.exists():
            return None
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def load(self, *, simulations: int | None = None) -> Agent:
        """Load the agent as a policy; see `Agent.load`."""
        return Agent.load(self.agent, simulations=simulations)


def train(
    config: str | os.PathLike[str] | None = None,
    *,
    variant: str | None = None,
    columns: int | None = None,
    seeds_per_pit: int | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    games: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    plot: bool = True,
) -> TrainResult:
    """Train an agent by self-play, as the command ``endodoi train`` does, and wait for it.

    Progress goes to the error output. An interrupt (Ctrl-C) lets the program finish its iteration
    and write a checkpoint; a second one ends it at once.

    Parameters
    ----------
    config : path, optional
        A configuration file in TOML; the other arguments win over it.
    variant, columns, seeds_per_pit
        The rules, as in `Ruleset`.
    minutes, steps, games
        When training ends: minutes, optimiser steps, games of self-play. Default five minutes.
    seed : int, optional
        Seed of the first weights, of self-play and of the batches.
    workers : int, optional
        Threads; 0 takes one for every core.
    out : path, optional
        Folder of the run; ``runs/VARIANT-2xC-NUMBER`` by default.
    resume : path, optional
        Go on with the run of this folder.
    quiet : bool
        Show no progress.
    plot : bool
        Draw the learning curve at the end, if matplotlib is installed.

    Returns
    -------
    TrainResult

    Raises
    ------
    TrainError
        If the program is not found or fails.
    """
    values = {
        "config": config,
        "variant": variant,
        "columns": columns,
        "seeds-per-pit": seeds_per_pit,
        "minutes": minutes,
        "steps": steps,
        "games": games,
        "seed": seed,
        "workers": workers,
        "out": out,
        "resume": resume,
    }
    arguments = [f"--{name}={value}" for name, value in values.items() if value is not None]
    result = run_trainer([*arguments, *(["--quiet"] if quiet else [])])
    if plot and result.metrics.exists():
        try:
            draw_learning_curve(result.run)
        except MissingExtraError as error:
            print(f"no learning curve: {error}", file=sys.stderr)  # noqa: T201
    return result


def run_trainer(arguments: Sequence[str]) -> TrainResult:
    """Run the program with these arguments in this terminal and find out where its run is.

    Raises
    ------
    TrainError
        If the program is not found, fails, or does not say where the run is.
    """
    program = find_trainer()
    sys.stdout.flush()
    # In a session of its own, the program hears of Ctrl-C once, from here, wherever it came from.
    with (
        subprocess.Popen(
            [program, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process,
        forwarded_signals(process),
    ):
        lines = list(shown_lines(process))
    if process.returncode != 0:
        status = process.returncode
        how = f"was ended by signal {-status}" if status < 0 else f"failed with status {status}"
        raise TrainError(f"{PROGRAM} {how}", status=status)
    for line in lines:
        for pattern in RUN_LINES:
            if match := pattern.match(line):
                finished = pattern is RUN_LINES[0]
                return TrainResult(Path(match["path"]), finished)
    raise TrainError(f"{PROGRAM} did not say where its run is", status=0)


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


def shown_lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """Write every line of a program's output as it comes and yield it without its end."""
    for line in process.stdout or ():
        sys.stdout.write(line)
        sys.stdout.flush()
        yield line.rstrip("\n")


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
