"""Self-play training whose actors play on the machines of a Ray cluster."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray

from endodoi.errors import ArgumentValueError, TrainError
from endodoi.numbers_given import check_range
from endodoi.ray_cluster import session
from endodoi.ray_fleet import Fleet
from endodoi.training import TrainResult, draw_result, option_words, start_file, watch_program
from endodoi.training_progress import shown_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from endodoi.training_progress import Shown

__all__ = ["learn", "train"]

#: The most actors of a run, as the trainer numbers them, and threads of each.
MOST_ACTORS, MOST_THREADS = 10_000, 256

#: How often a learner that was killed goes on from its checkpoint by itself.
RESTARTS = 3

#: Signals that end a program without its doing, and from outside.
KILLED = {-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT}


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
    start: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[dict[str, Any]], object] | None = None,
    plot: bool = True,
    actors: int | None = None,
    actor_threads: int = 1,
    address: str | None = None,
) -> TrainResult:
    """Train an agent by self-play on a Ray cluster, and wait for it.

    The learner is the program ``endodoi-train learn`` on this machine; every actor keeps the
    program ``endodoi-train selfplay`` at work on some machine, which must have it. They work as the
    roles of docs/trainer.md do on one machine: weights go to the actors, chunks of positions to the
    learner's queue, whose length and age are bounded. Actors come and go with the machines; an
    actor whose process or machine dies begins again with the games that it had in progress at its
    last chunk. A learner that is killed goes on from its checkpoint.

    An interrupt lets the learner write a checkpoint; the result then says that it is not finished,
    and ``resume=result.run`` goes on.

    Parameters
    ----------
    config, learner, variant, columns, seeds_per_pit, minutes, steps, games, seed, start, \
settings, resume, progress, plot
        As in `endodoi.train`.
    out : path, optional
        Folder of the run, on this machine; ``runs/ray-NUMBER`` by default.
    actors : int, optional
        Actors; those that find no room on the cluster wait until there is some. By default as many
        as there is room for now, less a processor for the learner.
    actor_threads : int
        Threads of an actor, for which it takes as many processors of the cluster.
    address : str, optional
        As in `endodoi.ray.simulate`.

    Returns
    -------
    TrainResult
        ``ray.jsonl`` in its folder tells of actors and of what was carried, every two seconds.

    Raises
    ------
    TrainError
        If a program is not found, here or on another machine, or fails.
    ClusterError
        If the cluster cannot be reached, or a machine has another version of the package.
    ArgumentTypeError, ArgumentValueError, MissingExtraError
        As `endodoi.train`.

    Examples
    --------
    >>> result = ed.ray.train(columns=6, minutes=5, actors=8)  # doctest: +SKIP
    >>> agent = result.load()  # doctest: +SKIP
    """
    run = run_folder(out, resume)
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
        "start": start_file(start),
    }
    shown = shown_by(progress)
    words = option_words(values, settings, progress, shown)
    result = learn(run, words, shown, actors=actors, actor_threads=actor_threads, address=address)
    if plot:
        draw_result(result)
    return result


def run_folder(out: str | os.PathLike[str] | None, resume: str | os.PathLike[str] | None) -> Path:
    """Return the folder of a run: a new one, or that of the run that is to go on.

    Raises
    ------
    ArgumentValueError
        If both are given, the new one holds a run, or the other one does not.
    """
    if resume is not None and out is not None:
        raise ArgumentValueError(
            f"out is {os.fspath(out)!r}, expected none beside resume", field="out", value=out
        )
    if resume is not None:
        if not (Path(resume) / "config.toml").exists():
            raise ArgumentValueError(
                f"resume is {os.fspath(resume)!r}, which holds no run", field="resume", value=resume
            )
        return Path(resume)
    if out is None:
        names = (Path("runs") / f"ray-{number:03d}" for number in count(1))
        return next(path for path in names if not path.exists())
    if (Path(out) / "config.toml").exists():
        raise ArgumentValueError(
            f"out is {os.fspath(out)!r}, which holds a run: go on with it by resume",
            field="out",
            value=out,
        )
    return Path(out)


def learn(
    run: Path,
    words: Sequence[str],
    shown: Shown | None,
    *,
    actors: int | None,
    actor_threads: int,
    address: str | None,
) -> TrainResult:
    """Train in a folder with these options of the program.

    Raises
    ------
    TrainError, ClusterError
        As `train`.
    """
    threads = check_range(actor_threads, "actor_threads", 1, MOST_THREADS)
    if actors is not None:
        check_range(actors, "actors", 1, MOST_ACTORS)
    with session(address):
        wanted = room(threads) if actors is None else int(actors)
        with Fleet(run, wanted, threads) as fleet:
            finished = keep_learning(fleet, ["learn", f"--run={run}", "--attached", *words], shown)
    if fleet.failure is not None:
        raise fleet.failure
    return TrainResult(run, finished)


def room(threads: int) -> int:
    """Return how many actors the cluster has room for beside the learner."""
    processors = int(ray.cluster_resources().get("CPU", 0))
    return min(max((processors - 1) // threads, 1), MOST_ACTORS)


def keep_learning(fleet: Fleet, words: list[str], shown: Shown | None) -> bool:
    """Let the learner learn, again if it was killed, and tell whether its budget is used.

    Raises
    ------
    TrainError
        If it fails, or was killed again and again.
    """
    for restart in range(RESTARTS + 1):
        try:
            lines = watch_program(words, shown, fleet.serve)
        except TrainError as error:
            killed = getattr(error, "status", None) in KILLED
            if not killed or restart == RESTARTS or fleet.failure is not None:
                raise
            print(f"{error}; it goes on from its checkpoint", file=sys.stderr)  # noqa: T201
            continue
        return not any(line.startswith("stopped; ") for line in lines)
    return False
