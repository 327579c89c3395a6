"""The actors of a training run on a cluster, and the way between them and the learner's folder.

The learner is the program ``endodoi-train learn`` with its folder; it knows nothing of Ray. An
actor is the program ``endodoi-train selfplay`` with a folder of its own on some machine. What is
carried between the folders are files as the programs write them, in the order in which they write
them, so that what holds of the programs on one machine holds here: a chunk counts from the moment
at which the games after it are kept in the run's folder, and it enters the queue after that.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from endodoi._core import __version__
from endodoi.errors import TrainError
from endodoi.ray_actor import Harvest, Orders, SelfPlayer, chunk_name, next_chunk, put

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

__all__ = ["Fleet"]

#: Seconds between two looks at the learner's files, two lines of the log, two attempts to begin
#: again, and until actors that are told to end are left.
LOOK_SECONDS, LOG_SECONDS, AGAIN_SECONDS, END_SECONDS = 0.02, 2.0, 0.5, 30.0

#: Calls that an actor answers at the same time: games, orders, the end.
CALLS = 3

#: How often an actor's program may end by a signal before the run does.
DEATHS = 10

#: The queue in a run's settings.
QUEUE = re.compile(r"^\[queue\]\n(?:\w+ = .*\n)*?chunks = (?P<chunks>\d+)$", re.MULTILINE)
DEVICE = re.compile(r'^device = ".*"$', re.MULTILINE)


class Member:
    """An actor as the learner's machine sees it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.handle: Any = None
        self.machine: str | None = None
        self.begun = self.ended = False
        #: The orders, and the weights, that it was told of last.
        self.heard = self.version = -1
        self.taken = 0
        self.deaths = 0
        #: When it was asked for chunks last.
        self.asked = 0.0
        self.not_before = 0.0
        #: Calls under way, by what they ask for.
        self.calls: dict[str, Any] = {}

    def lose(self) -> None:
        """Forget what was under way: the actor's process is another one, or is going to be."""
        self.calls.clear()
        self.machine = None
        self.begun = self.ended = False
        self.heard = self.version = -1
        self.not_before = time.monotonic() + AGAIN_SECONDS


class Fleet:
    """Keeps actors at work for a run while the block is in use.

    Parameters
    ----------
    run : Path
        The learner's folder.
    actors, threads : int
        Actors, and threads of each, for which it takes as many processors of the cluster. Those
        that find no room wait until there is some.

    Attributes
    ----------
    failure : Exception or None
        Why the actors were given up; the learner is stopped then.
    learner : process or None
        The learner's program.
    """

    def __init__(self, run: Path, actors: int, threads: int) -> None:
        self.run = run
        self.threads = threads
        self.members = [Member(number) for number in range(actors)]
        self.failure: Exception | None = None
        self.learner: subprocess.Popen[str] | None = None
        self.orders = Orders(0, -1, (), b"")
        self.stamp: tuple[int, ...] = ()
        #: Whether the learner needs no more positions.
        self.finished = False
        self.most = 0
        self.settings = ""
        #: Chunks that are kept in the run's folder and wait for room in the queue.
        self.waiting: list[Path] = []
        #: Chunks that lie in the queue, and how many are under way at most, those included.
        self.queued = 0
        self.limit = 1
        self.counts = {"chunks": 0, "chunk_bytes": 0, "games_bytes": 0, "weights": 0, "lost": 0}
        self.weight_bytes = 0
        self.began = self.logged = time.monotonic()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, name="endodoi-fleet", daemon=True)

    def __enter__(self) -> Fleet:  # noqa: PYI034
        """Start carrying."""
        self.thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        """End the actors, keep what they have finished, and stop carrying."""
        self.stopping.set()
        self.thread.join()

    def serve(self, learner: subprocess.Popen[str]) -> None:
        """Carry for this program, which has just started."""
        self.learner = learner
        if self.failure is not None:
            learner.send_signal(signal.SIGINT)

    def work(self) -> None:
        """Carry until told to stop."""
        try:
            while not self.stopping.is_set():
                if self.look():
                    self.step()
                else:
                    self.stopping.wait(LOOK_SECONDS)
            self.end()
        # Whatever it is, the caller is told of it when the learner has stopped.
        except Exception as error:  # noqa: BLE001
            self.failure = error
            if self.learner is not None and self.learner.poll() is None:
                self.learner.send_signal(signal.SIGINT)
        finally:
            for member in self.members:
                if member.handle is not None:
                    ray.kill(member.handle)
            self.log()

    def look(self) -> bool:
        """Take up what the learner has published; tell whether there is anything yet."""
        if not self.settings:
            with suppress(FileNotFoundError):
                self.take_settings((self.run / "config.toml").read_text(encoding="utf-8"))
        with suppress(FileNotFoundError):
            about = (self.run / "agent.safetensors").stat()
            stamp = (about.st_ino, about.st_mtime_ns, about.st_size)
            if stamp != self.stamp:
                weights = (self.run / "agent.safetensors").read_bytes()
                self.stamp = stamp
                self.counts["weights"] += 1
                self.weight_bytes = len(weights)
                self.order(version=self.orders.version + 1, weights=(ray.put(weights),))
        with suppress(FileNotFoundError):
            news = (self.run / "queue" / "news.json").read_bytes()
            if news != self.orders.news:
                self.finished = bool(json.loads(news)["finished"])
                self.order(news=news)
        return bool(self.settings) and self.orders.version >= 0

    def order(self, **changed: Any) -> None:
        """Change what actors are told."""
        self.orders = replace(self.orders, number=self.orders.number + 1, **changed)

    def take_settings(self, text: str) -> None:
        """Take up the run's settings, and the games and chunks that its folder holds."""
        found = QUEUE.search(text)
        if found is None:
            raise TrainError(f"{self.run / 'config.toml'} names no queue.chunks")
        self.most = int(found["chunks"])
        start, end = found.span("chunks")
        # At the actor one chunk waits, and none is played meanwhile; the learner's part alone may
        # be on a GPU.
        self.settings = DEVICE.sub('device = "cpu"', f"{text[:start]}1{text[end:]}")
        (self.run / "queue").mkdir(exist_ok=True)
        for member in self.members:
            own = self.own(member)
            own.mkdir(parents=True, exist_ok=True)
            member.taken = next_chunk(self.games_of(member) or b"") if self.games_of(member) else 0
            for path in sorted(own.glob("actor-*.safetensors")):
                if path.name < chunk_name(member.number, member.taken):
                    self.waiting.append(path)
                else:
                    # The games after it were not kept: it is going to be played again.
                    path.unlink()

    def own(self, member: Member) -> Path:
        """Return the folder of an actor's games in the run's folder."""
        return self.run / "actors" / f"{member.number:04d}"

    def games_of(self, member: Member) -> bytes:
        """Return the games that an actor has in progress, as the run's folder has them."""
        try:
            return (self.own(member) / "games.safetensors").read_bytes()
        except FileNotFoundError:
            return b""

    def step(self) -> None:
        """Ask actors for what is due, hear what they answer, and fill the queue."""
        calls, before = {}, self.counts["chunks"]
        free = self.limit - self.under_way()
        for member in sorted(self.members, key=lambda member: member.asked):
            free -= self.ask(member, free > 0)
            calls.update({call: (member, what) for what, call in member.calls.items()})
        if calls:
            ready, _ = ray.wait(list(calls), timeout=LOOK_SECONDS)
            if ready:
                ready, _ = ray.wait(list(calls), num_returns=len(calls), timeout=0)
            for call in ready:
                self.hear(*calls[call], call)
        else:
            self.stopping.wait(LOOK_SECONDS)
        there = self.deliver()
        self.adapt(self.counts["chunks"] - before, there)
        if time.monotonic() - self.logged > LOG_SECONDS:
            self.log()

    def ask(self, member: Member, more: bool) -> bool:
        """Make the calls to an actor that are due; tell whether it is asked for chunks now.

        It is asked only if more chunks may be under way: back-pressure, and what nobody asked for
        does not get old.
        """
        if member.ended and not self.finished:
            # The news it ended by were those of a run that goes on with a larger budget.
            member.lose()
        if member.ended or time.monotonic() < member.not_before:
            return False
        if member.handle is None:
            player = ray.remote(
                num_cpus=self.threads, max_restarts=-1, max_task_retries=0, max_concurrency=CALLS
            )(SelfPlayer)
            member.handle = player.remote(member.number, self.threads, __version__)
        calls, handle = member.calls, member.handle
        if not member.begun:
            if "begin" not in calls:
                games = self.games_of(member)
                orders = self.news_for(member)
                calls["begin"] = handle.begin.remote(self.settings, orders, games)
            return False
        if more and "harvest" not in calls:
            # Where all of them do not bring enough when asked, they play on in between.
            ahead = self.limit > self.playing
            calls["harvest"] = handle.harvest.remote(member.taken, self.news_for(member), ahead)
            member.asked = time.monotonic()
            return True
        working = "harvest" in calls or self.finished
        if working and "obey" not in calls and member.heard < self.orders.number:
            calls["obey"] = handle.obey.remote(self.news_for(member))
        return False

    def news_for(self, member: Member) -> Orders:
        """Return what an actor does not know, and note that it does from now on."""
        newer = self.orders.version > member.version
        member.heard, member.version = self.orders.number, self.orders.version
        return self.orders if newer else replace(self.orders, weights=())

    def under_way(self) -> int:
        """Count the chunks that actors are asked for or that wait for the learner."""
        asked = sum("harvest" in member.calls for member in self.members)
        return asked + len(self.waiting) + self.queued

    @property
    def playing(self) -> int:
        """How many actors play."""
        return sum(member.begun and not member.ended for member in self.members)

    def adapt(self, arrived: int, there: int) -> None:
        """Let one more chunk be under way if what arrived found none there, fewer if it waits.

        Only what arrives is judged: how long it takes is not known, and what is under way meanwhile
        is on its way already.
        """
        if arrived > 0 and there == 0:
            self.limit = min(self.limit + 1, self.playing + self.most)
        else:
            self.limit = max(self.limit - min(arrived, len(self.waiting)), 1)

    def hear(self, member: Member, what: str, call: Any) -> None:
        """Take in what an actor answers to a call."""
        if member.calls.get(what) is not call:
            # The actor was lost meanwhile.
            return
        del member.calls[what]
        try:
            answer = ray.get(call)
        except RayTaskError as error:
            self.refuse(member, error)
            return
        except RayActorError:
            # Ray starts its process again, on another machine if need be.
            self.counts["lost"] += member.begun
            member.lose()
            return
        if what == "begin":
            member.machine, member.begun = answer, True
        elif what == "harvest":
            self.keep(member, answer)

    def refuse(self, member: Member, error: RayTaskError) -> None:
        """Give up what an actor cannot do; a program that was killed begins again.

        Raises
        ------
        TrainError, ClusterError
            What the actor raised.
        """
        cause = error.cause if isinstance(error.cause, Exception) else error
        killed = isinstance(cause, TrainError) and (getattr(cause, "status", None) or 0) < 0
        member.deaths += 1
        if not killed or member.deaths > DEATHS:
            raise cause
        self.counts["lost"] += 1
        member.lose()

    def keep(self, member: Member, harvest: Harvest) -> None:
        """Keep chunks and the games after them in the run's folder, as an actor there would."""
        own = self.own(member)
        fresh = [(number, chunk) for number, chunk in harvest.chunks if number >= member.taken]
        for number, chunk in fresh:
            put(own / chunk_name(member.number, number), chunk)
            self.counts["chunk_bytes"] += len(chunk)
        if fresh:
            put(own / "games.safetensors", harvest.games)
            self.counts["games_bytes"] += len(harvest.games)
            self.counts["chunks"] += len(fresh)
            self.waiting += [own / chunk_name(member.number, number) for number, _ in fresh]
            member.taken = fresh[-1][0] + 1
        member.ended = harvest.ended

    def deliver(self) -> int:
        """Move chunks into the queue as long as there is room, the oldest first.

        Returns how many were there before.
        """
        queue = self.run / "queue"
        there = self.queued = sum(1 for _ in queue.glob("*.safetensors"))
        while self.waiting and self.queued < self.most:
            path = self.waiting.pop(0)
            path.replace(queue / path.name)
            self.queued += 1
        return there

    def end(self) -> None:
        """Let the actors end and keep what they have finished."""
        calls = {
            member.handle.stop.remote(member.taken): member
            for member in self.members
            if member.begun
        }
        if calls:
            ready, _ = ray.wait(list(calls), num_returns=len(calls), timeout=END_SECONDS)
            for call in ready:
                with suppress(RayActorError, RayTaskError):
                    self.keep(calls[call], ray.get(call))
        self.deliver()

    def log(self) -> None:
        """Write a line about actors and what was carried to ``ray.jsonl`` in the run's folder."""
        self.logged = time.monotonic()
        if not self.run.is_dir():
            return
        line = {
            "seconds": round(self.logged - self.began, 3),
            "actors": len(self.members),
            "playing": self.playing,
            "machines": sorted({member.machine for member in self.members if member.machine}),
            "waiting": len(self.waiting),
            "limit": self.limit,
            **self.counts,
            "weight_bytes": self.weight_bytes,
        }
        with (self.run / "ray.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
