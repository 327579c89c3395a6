"""A Ray session to work in, and tasks of which a bounded number is under way."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError

from endodoi._core import __version__
from endodoi.errors import ArgumentTypeError, ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

__all__ = ["RETRIES", "check_version", "finished_tasks", "node_name", "result_of", "session"]

#: How often Ray does a task again whose worker or machine has died.
RETRIES = 5

#: Tasks under way for each that the cluster has room for: the next one waits at its worker.
FOR_EACH = 2

#: How far, in numbers of tasks under way, one may be ahead of the first unfinished one.
AHEAD = 4

#: Tasks under way where the cluster has no processors yet, so that it grows if it can.
LEAST = 4

#: Seconds between two looks at the size of the cluster, and until what is told to stop is left.
SIZE_SECONDS, STOP_SECONDS = 2.0, 10.0


@contextmanager
def session(address: str | None) -> Iterator[None]:
    """Work in a Ray session: the one of this process, or one that is left at the end.

    Parameters
    ----------
    address : str or None
        ``"auto"`` for the running cluster of this machine, ``"local"`` for a new session on this
        machine alone, or a cluster's address, as ``"10.0.0.1:6379"`` or ``"ray://10.0.0.1:10001"``.
        None takes the session of this process, else the cluster that ``RAY_ADDRESS`` names, else
        ``"local"``.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached, or the process is in another session.
    """
    if address is not None and not isinstance(address, str):
        raise ArgumentTypeError(
            f"address is {address!r} ({type(address).__name__}), expected a text or None",
            field="address",
            value=address,
        )
    if ray.is_initialized():
        here = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", here):
            raise ClusterError(
                f"address is {address!r}, but this process is in the Ray session of {here}: leave "
                "the address out to work there, or call ray.shutdown() first",
                address=address,
            )
        yield
        return
    join(address or os.environ.get("RAY_ADDRESS") or "local")
    try:
        yield
    finally:
        ray.shutdown()


def join(address: str) -> None:
    """Start or join a session.

    Raises
    ------
    ClusterError
        If that fails.
    """
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    if address == "local":
        # Nobody would see a dashboard of a session that ends with the call.
        options["include_dashboard"] = False
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"there is no Ray session at {address!r}: {error}", address=address
        ) from error


def finished_tasks(
    start: Callable[[int], Any], count: int, threads: int
) -> Generator[tuple[int, Any]]:
    """Start tasks by their numbers and yield number and reference of each as it is finished.

    At most twice as many tasks are under way as the cluster has room for, and none is far ahead of
    the first unfinished one, so that what waits to be put in order is bounded. Tasks still under
    way when the iteration is left are cancelled.

    Parameters
    ----------
    start : callable
        Starts the task of a number and returns its reference.
    count : int
        Tasks in all.
    threads : int
        Processors that a task takes.
    """
    waiting: dict[Any, int] = {}
    size = Size(threads)
    begun = 0
    try:
        while begun < count or waiting:
            most = size.tasks()
            oldest = min(waiting.values(), default=begun)
            while begun < count and len(waiting) < most and begun - oldest < AHEAD * most:
                waiting[start(begun)] = begun
                begun += 1
            # Ctrl-C is heard here.
            ready, _ = ray.wait(list(waiting), timeout=SIZE_SECONDS)
            if ready:
                ready, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
            for task in ready:
                yield waiting.pop(task), task
    finally:
        cancel(list(waiting))


def cancel(tasks: list[Any]) -> None:
    """Cancel tasks and wait a little until they have ended."""
    for task in tasks:
        with suppress(RayError, ValueError):
            ray.cancel(task)
    if tasks:
        ray.wait(tasks, num_returns=len(tasks), timeout=STOP_SECONDS, fetch_local=False)


class Size:
    """How many tasks the cluster has room for; machines may come and go."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.seen = float("-inf")
        self.most = LEAST

    def tasks(self) -> int:
        """Return how many tasks may be under way."""
        now = time.monotonic()
        if now - self.seen > SIZE_SECONDS:
            self.seen = now
            room = int(ray.cluster_resources().get("CPU", 0)) // self.threads
            self.most = max(FOR_EACH * room, LEAST)
        return self.most


def result_of(task: Any, what: str) -> Any:
    """Return the result of a finished task.

    Raises
    ------
    ClusterError
        If its workers died again and again, or the result is lost; what the task itself raised is
        raised as it is.
    """
    try:
        return ray.get(task)
    except RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    except RayError as error:
        first = str(error).strip().partition("\n")[0]
        raise ClusterError(
            f"{what} could not be done, though Ray tried {1 + RETRIES} times: {first}"
        ) from error


def check_version(version: str) -> None:
    """Refuse to work for a program of another version of the package.

    Raises
    ------
    ClusterError
        If this worker has another version.
    """
    if version != __version__:
        raise ClusterError(
            f"the worker on {node_name()} has endodoi {__version__}, expected {version} as here: "
            "install the same version on every machine",
            node=node_name(),
        )


def node_name() -> str:
    """Return the name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else "this machine"
