"""An actor of self-play on a machine of a cluster: the program, its folder, and what it brings."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray

from endodoi.errors import TrainError
from endodoi.places import claim, written_whole
from endodoi.ray_cluster import check_version, node_name
from endodoi.training import PROGRAM, find_trainer

__all__ = ["Harvest", "Orders", "SelfPlayer", "chunk_name", "header_of", "next_chunk", "put"]

#: The key of the header in files of the trainer.
HEADER = "endodoi"

#: How often an actor looks for a chunk, and for how long before it answers without one.
LOOK_SECONDS, WAIT_SECONDS = 0.005, 5.0

#: Seconds that a program has to end before it is killed.
END_SECONDS = 20.0

#: How the folders of actors are called, the file that holds one, and after how long without use one
#: that nobody holds is removed.
PREFIX, LOCK, LEFT_SECONDS = "endodoi-actor-", "lock", 600.0


@dataclass(frozen=True)
class Orders:
    """What the learner tells an actor.

    Attributes
    ----------
    number : int
        Rises with every change of what follows.
    version : int
        Number of the weights; they rise.
    weights : tuple
        A reference to the bytes of the agent's file, or nothing where the actor has this version.
    news : bytes
        How far the run is, as the learner writes it; empty at the beginning.
    """

    number: int
    version: int
    weights: tuple[ray.ObjectRef, ...]
    news: bytes


@dataclass(frozen=True)
class Harvest:
    """What an actor has played since it was asked before.

    Attributes
    ----------
    chunks : list of (int, bytes)
        Chunks by number, without a gap.
    games : bytes
        The games in progress after the last of them; empty where there is no chunk.
    ended : bool
        Whether the program has ended, because the run is finished.
    """

    chunks: list[tuple[int, bytes]]
    games: bytes
    ended: bool


class SelfPlayer:
    """Plays as one actor: keeps the program ``endodoi-train selfplay`` at work in a folder."""

    def __init__(self, number: int, threads: int, version: str) -> None:
        self.number = number
        self.threads = threads
        self.package = version
        sweep()
        self.folder = tempfile.mkdtemp(prefix=PREFIX)
        self.held = claim(str(Path(self.folder) / LOCK))
        self.run = Path(self.folder)
        self.process: subprocess.Popen[bytes] | None = None
        self.heard = self.version = -1
        self.next = 0
        self.lock = threading.Lock()

    def begin(self, settings: str, orders: Orders, games: bytes) -> str:
        """Start the program, with the games that this actor had in progress.

        Returns the name of the machine.

        Raises
        ------
        ClusterError
            If this machine has another version of the package.
        TrainError
            If it does not have the program.
        """
        check_version(self.package)
        self.end()
        self.run = Path(tempfile.mkdtemp(dir=self.folder))
        self.own.mkdir(parents=True)
        self.queue.mkdir()
        self.sent.mkdir()
        put(self.run / "config.toml", settings.encode())
        self.next = next_chunk(games) if games else 0
        self.heard = self.version = -1
        if games:
            put(self.own / "games.safetensors", games)
        self.obey(orders)
        try:
            program = find_trainer()
        except TrainError as error:
            raise TrainError(f"on {node_name()}: {error}") from error
        with (self.run / "errors.txt").open("wb") as errors:
            self.process = subprocess.Popen(
                [
                    program,
                    "selfplay",
                    f"--run={self.run}",
                    f"--actor={self.number}",
                    f"--workers={self.threads}",
                    "--quiet",
                    "--attached",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        return node_name()

    @property
    def own(self) -> Path:
        """The folder of this actor's games."""
        return self.run / "actors" / f"{self.number:04d}"

    @property
    def queue(self) -> Path:
        """Where its program puts finished chunks; it plays while there is none."""
        return self.run / "queue"

    @property
    def sent(self) -> Path:
        """Where chunks are that went to the learner's machine, until it says that it has them."""
        return self.run / "sent"

    def obey(self, orders: Orders) -> None:
        """Take up newer weights and news."""
        weights: bytes = ray.get(orders.weights[0]) if orders.weights else b""
        # Two calls at the same time may come in any order.
        with self.lock:
            if weights and orders.version > self.version:
                put(self.run / "agent.safetensors", weights)
                self.version = orders.version
            if orders.news and orders.number > self.heard:
                put(self.queue / "news.json", orders.news)
                self.heard = orders.number

    def harvest(self, taken: int, orders: Orders, ahead: bool) -> Harvest:
        """Take up orders, wait a while for finished chunks, and return them.

        Parameters
        ----------
        taken : int
            The first chunk that the learner's machine does not have; those before are removed.
        orders : Orders
            Weights and news, if there are newer ones.
        ahead : bool
            Whether the program goes on at once, not only when it is asked again.

        Raises
        ------
        TrainError
            If the program has failed.
        """
        self.obey(orders)
        self.next = max(self.next, taken)
        self.remove_taken()
        until = time.monotonic() + WAIT_SECONDS
        while True:
            ended = self.has_ended()
            chunks, games = self.finished()
            if chunks and ahead:
                self.make_room()
            if chunks or ended or time.monotonic() > until:
                return Harvest(chunks, games, ended)
            time.sleep(LOOK_SECONDS)

    def remove_taken(self) -> None:
        """Remove the chunks that the learner's machine has, so that the program goes on."""
        first = chunk_name(self.number, self.next)
        for folder in (self.queue, self.sent):
            for path in folder.glob("actor-*.safetensors"):
                if path.name < first:
                    path.unlink(missing_ok=True)

    def make_room(self) -> None:
        """Move chunks out of the program's way, which goes on then."""
        for path in self.queue.glob("actor-*.safetensors"):
            path.replace(self.sent / path.name)

    def finished(self) -> tuple[list[tuple[int, bytes]], bytes]:
        """Return the chunks that are new and the games after them."""
        if not any((folder / chunk_name(self.number, self.next)).exists() for folder in self.ways):
            return [], b""
        try:
            games = (self.own / "games.safetensors").read_bytes()
        except FileNotFoundError:
            return [], b""
        numbers = range(self.next, next_chunk(games))
        chunks = [(number, self.chunk(number)) for number in numbers]
        return (chunks, games) if chunks else ([], b"")

    @property
    def ways(self) -> tuple[Path, Path, Path]:
        """The folders that a chunk goes through, in this order and never back."""
        return self.own, self.queue, self.sent

    def chunk(self, number: int) -> bytes:
        """Return the bytes of a chunk, wherever it is."""
        name = chunk_name(self.number, number)
        for folder in self.ways[:-1]:
            with suppress(FileNotFoundError):
                return (folder / name).read_bytes()
        return (self.ways[-1] / name).read_bytes()

    def has_ended(self) -> bool:
        """Tell whether the program has ended well.

        Raises
        ------
        TrainError
            If it has failed.
        """
        status = None if self.process is None else self.process.poll()
        if status is None:
            return self.process is None
        if status != 0:
            said = (self.run / "errors.txt").read_text(encoding="utf-8", errors="replace")
            raise TrainError(
                f"{PROGRAM} selfplay on {node_name()} ended with status {status}: {said.strip()}",
                status=status,
            )
        return True

    def stop(self, taken: int) -> Harvest:
        """Let the program end and return what it has finished."""
        if self.process is not None and self.process.stdin is not None:
            # A signal would be lost on a program that has only just started.
            self.process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS)
        self.next = max(self.next, taken)
        chunks, games = self.finished()
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)
        return Harvest(chunks, games, True)

    def end(self) -> None:
        """Kill the program if it is there."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stdin is not None:
                self.process.stdin.close()
            self.process = None
        if self.run != Path(self.folder):
            shutil.rmtree(self.run, ignore_errors=True)

    def process_ids(self) -> tuple[int, int | None]:
        """Return the numbers of this process and of its program."""
        return os.getpid(), None if self.process is None else self.process.pid


def sweep() -> None:
    """Remove the folders that killed actors have left on this machine."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime < LEFT_SECONDS:
                continue
            held = claim(str(folder / LOCK))
            shutil.rmtree(folder, ignore_errors=True)
            if held is not None:
                os.close(held)


def chunk_name(actor: int, number: int) -> str:
    """Return the name of a chunk's file."""
    return f"actor-{actor:04d}-{number:08d}.safetensors"


def next_chunk(games: bytes) -> int:
    """Return the number of the chunk that comes after an actor's games, as their file says it."""
    return int(header_of(games)["about"]["next"])


def header_of(content: bytes) -> dict[str, Any]:
    """Return what the header of a file of the trainer says: JSON in the metadata of safetensors."""
    (length,) = struct.unpack_from("<Q", content)
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    header: dict[str, Any] = json.loads(metadata[HEADER])
    return header


def put(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it."""
    with written_whole(path) as partial:
        Path(partial).write_bytes(content)
