"""Training on a Ray cluster of two nodes: nothing is lost or counted twice, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import ray

import endodoi as ed
from endodoi.cli import main
from endodoi.ray_actor import Harvest, Orders, SelfPlayer, chunk_name, header_of, next_chunk
from endodoi.ray_fleet import Fleet
from ray_nodes import two_nodes, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ray.cluster_utils import Cluster

pytestmark = pytest.mark.ecosystem

#: A run of seconds, in small chunks.
SETTINGS: dict[str, Any] = {
    "evaluation": {"every": 0, "final_games": 0},
    "optimiser.batch": 32,
    "output": {"report": 0, "tensorboard": False},
    "queue": {"positions": 60, "publish": 0},
    "replay": {"minimum": 50, "capacity": 1000},
    "selfplay": {"groups": 2, "games": 4, "plies": 4},
    "value": {"units": 16, "hidden": 8},
}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with two_nodes() as nodes:
        yield nodes


@pytest.fixture
def fleets(monkeypatch: pytest.MonkeyPatch) -> list[Fleet]:
    """Collect the fleets of the runs that a test starts."""
    found: list[Fleet] = []

    class Watched(Fleet):
        def __init__(self, run: Path, actors: int, threads: int) -> None:
            super().__init__(run, actors, threads)
            found.append(self)

    monkeypatch.setattr("endodoi.ray_training.Fleet", Watched)
    return found


def train(run: Path, **options: Any) -> ed.TrainResult:
    """Train for a while."""
    given = {"settings": SETTINGS, "actors": 2, "plot": False, "progress": False, **options}
    if "resume" not in given:
        given.update(out=run, columns=4, seed=1)
    return ed.ray.train(**given)


def counters(run: Path) -> dict[str, Any]:
    header = header_of((run / "checkpoint.safetensors").read_bytes())
    counted: dict[str, Any] = header["counters"]
    return counted


def played_and_taken(run: Path, actors: int) -> tuple[int, int]:
    """Count what actors have played, less what the learner has not taken."""
    left = sorted((run / "queue").glob("*.safetensors"))
    sums = [0, 0]
    for number in range(actors):
        own = run / "actors" / f"{number:04d}"
        if not (own / "games.safetensors").exists():
            continue
        about = header_of((own / "games.safetensors").read_bytes())["about"]
        sums[0] += about["positions"]
        sums[1] += about["games"]
        left += [
            path
            for path in own.glob("actor-*.safetensors")
            if int(path.stem.rpartition("-")[2]) < about["next"]
        ]
    for path in left:
        about = header_of(path.read_bytes())["about"]
        sums[0] -= about["positions"]
        sums[1] -= about["games"]
    return sums[0], sums[1]


def check_counts(run: Path, actors: int) -> None:
    """Nothing is lost or counted twice."""
    counted = counters(run)
    assert played_and_taken(run, actors) == (counted["positions"], counted["games"])
    taken = counted["taken"]
    assert taken["chunks"] + taken["stale"] == sum(taken["next"].values())
    assert not list((run / "queue" / "taken").iterdir())
    assert not list((run / "queue" / "refused").iterdir())


def lines(run: Path, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    path = run / name
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def test_a_learner_and_two_actors_reach_the_steps_and_leave_an_agent(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    run = tmp_path / "run"
    result = train(run, steps=1500, progress=told.append)
    assert (result.run, result.finished) == (run, True)
    assert result.load().metadata["step"] == 1500
    check_counts(run, 2)
    last = lines(run)[-1]
    assert last["queue"]["actors"] == 2
    # It is shown as it is logged, and bounded by the setting.
    assert told[-1]["queue"] == last["queue"]
    ages = [line["queue"]["staleness_max"] for line in lines(run)]
    assert any(age for age in ages if age is not None)
    log = lines(run, "ray.jsonl")[-1]
    assert log["chunks"] >= last["queue"]["chunks"] > 4
    assert log["chunk_bytes"] > 60 * 2 * log["chunks"]
    assert log["weights"] > 2
    assert log["lost"] == 0
    assert len({node for line in lines(run, "ray.jsonl") for node in line["machines"]}) >= 1


@contextmanager
def training(run: Path, fleets: list[Fleet], **options: Any) -> Iterator[Fleet]:
    """Train beside the block, which is stopped at its end."""
    results: list[ed.TrainResult] = []
    beside = threading.Thread(target=lambda: results.append(train(run, minutes=10, **options)))
    beside.start()
    try:
        wait_until("a learner", lambda: fleets and fleets[0].learner)
        yield fleets[0]
    finally:
        learner = fleets[0].learner
        assert learner
        learner.send_signal(signal.SIGINT)
        beside.join()
    assert not results[0].finished


def go_on(run: Path) -> None:
    """Wait until the learner has learnt for a while."""
    before = len(lines(run))
    wait_until("measurements", lambda: len(lines(run)) > before + 5)


def wait_for_actors(fleet: Fleet, count: int) -> None:
    wait_until("actors", lambda: sum(member.begun for member in fleet.members) == count)


def test_killed_processes_and_nodes_lose_no_chunk_and_count_none_twice(
    cluster: Cluster, tmp_path: Path, fleets: list[Fleet]
) -> None:
    run = tmp_path / "run"
    with training(run, fleets) as fleet:
        for what in ("actor", "program"):
            wait_for_actors(fleet, 2)
            go_on(run)
            ids = ray.get(fleet.members[0].handle.process_ids.remote())
            lost = fleet.counts["lost"]
            os.kill(ids[what == "program"], signal.SIGKILL)
            wait_until(f"a lost {what}", partial(has_lost, fleet, lost))
        wait_for_actors(fleet, 2)
        go_on(run)
        before = fleet.learner
        assert before
        os.kill(before.pid, signal.SIGKILL)
        wait_until("another learner", lambda: fleet.learner is not before)
        go_on(run)
        lost = fleet.counts["lost"]
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        wait_until("a lost node", partial(has_lost, fleet, lost))
        go_on(run)
        cluster.add_node(num_cpus=1)
        wait_for_actors(fleet, 2)
        go_on(run)
    check_counts(run, 2)
    # What was stopped goes on, and its actors with their games.
    stopped = counters(run)
    steps = header_of((run / "checkpoint.safetensors").read_bytes())["step"]
    assert train(run, resume=run, steps=steps + 200).finished
    check_counts(run, 2)
    after = counters(run)
    assert after["positions"] > stopped["positions"]
    for actor, number in stopped["taken"]["next"].items():
        assert after["taken"]["next"][actor] >= number


def has_lost(fleet: Fleet, before: int) -> bool:
    return fleet.counts["lost"] > before


def test_actors_come_when_there_is_room(
    cluster: Cluster, tmp_path: Path, fleets: list[Fleet]
) -> None:
    run = tmp_path / "run"
    with training(run, fleets, actors=3) as fleet:
        wait_for_actors(fleet, 2)
        node = cluster.add_node(num_cpus=1)
        wait_for_actors(fleet, 3)
        go_on(run)
    check_counts(run, 3)
    cluster.remove_node(node)


def test_chunks_under_way_are_more_when_they_find_none_there_and_fewer_when_they_wait(
    tmp_path: Path,
) -> None:
    fleet = Fleet(tmp_path, 3, 1)
    fleet.most = 2
    for member in fleet.members:
        member.begun = True

    def adapt(arrived: int, there: int, waiting: int = 0, times: int = 1) -> int:
        fleet.waiting = [tmp_path] * waiting
        for _ in range(times):
            fleet.adapt(arrived, there)
        return fleet.limit

    assert adapt(0, 0, times=9) == 1
    assert adapt(1, 0) == 2
    assert adapt(2, 0) == 3
    assert adapt(1, 1, times=9) == 3
    # So many that no actor ever waits, and no more.
    assert adapt(1, 0, times=9) == 3 + 2
    assert adapt(0, 2, waiting=3, times=9) == 5
    assert adapt(1, 2, waiting=3) == 4
    assert adapt(3, 1, waiting=2) == 2
    assert adapt(1, 2, waiting=1, times=9) == 1


def harvest_of(player: SelfPlayer, taken: int, ahead: bool) -> Harvest:
    """Ask an actor until it has a chunk."""
    found: list[Harvest] = []

    def has_some() -> bool:
        found.append(player.harvest(taken, Orders(0, -1, (), b""), ahead))
        return bool(found[-1].chunks)

    wait_until("a chunk", has_some)
    return found[-1]


def test_an_actor_plays_a_chunk_when_it_is_asked_and_ahead_if_it_is_told_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(run, steps=20, settings={**SETTINGS, "queue": {"positions": 60, "chunks": 1}})
    weights = (run / "agent.safetensors").read_bytes()
    player = SelfPlayer(0, 1, ed.__version__)
    try:
        player.begin((run / "config.toml").read_text(), Orders(1, 0, (ray.put(weights),), b""), b"")
        assert [number for number, _ in harvest_of(player, 0, False).chunks] == [0]
        wait_until("a chunk in the queue", (player.queue / chunk_name(0, 0)).exists)
        time.sleep(0.5)
        assert not any(player.own.glob("actor-*"))
        assert [path.name for path in player.queue.glob("actor-*")] == [chunk_name(0, 0)]
        assert [number for number, _ in harvest_of(player, 1, False).chunks] == [1]
        wait_until("a chunk in the queue", (player.queue / chunk_name(0, 1)).exists)
        first = harvest_of(player, 1, True)
        assert [number for number, _ in first.chunks] == [1]
        wait_until("another chunk", (player.queue / chunk_name(0, 2)).exists)
        # One that the learner's machine did not get is still there.
        again = harvest_of(player, 1, True)
        assert again.chunks[0] == first.chunks[0]
        assert [number for number, _ in again.chunks] == [1, 2]
        assert next_chunk(again.games) == 3
        assert harvest_of(player, 3, False).chunks[0][0] == 3
        assert not any(player.sent.glob("actor-*"))
    finally:
        player.stop(4)


def test_what_an_actor_cannot_do_stops_the_learner_and_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("endodoi.ray_fleet.__version__", "0.0.0")
    with pytest.raises(ed.ClusterError, match=r"has endodoi .*, expected 0.0.0 as here"):
        train(tmp_path / "run", minutes=10)
    assert not list(tmp_path.glob("run/queue/*.safetensors"))


def test_an_actor_says_what_its_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    player = SelfPlayer(3, 1, ed.__version__)
    monkeypatch.setenv("ENDODOI_TRAIN", "/no/such/program")
    with pytest.raises(ed.TrainError, match=r"on .*: ENDODOI_TRAIN is '/no/such/program'"):
        player.begin("", Orders(0, 0, (), b""), b"")


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").touch()
    refused: list[tuple[dict[str, Any], str]] = [
        ({"out": tmp_path / "run"}, "which holds a run: go on with it by resume"),
        ({"out": tmp_path / "new", "resume": tmp_path / "run"}, "expected none beside resume"),
        ({"resume": tmp_path / "none"}, "which holds no run"),
        ({"actors": 0, "out": tmp_path / "new"}, "actors is 0, expected 1 to 10000"),
        ({"actor_threads": 300, "out": tmp_path / "new"}, "actor_threads is 300, expected 1 to"),
    ]
    for options, message in refused:
        with pytest.raises(ed.ArgumentValueError, match=message):
            ed.ray.train(**options)
    with pytest.raises(ed.TrainError, match="failed with status 2"):
        ed.ray.train(columns=99, out=tmp_path / "new", progress=False)


def test_the_command_trains_on_the_cluster(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--ray", "auto", "--actors", "1", "--columns", "3", "--out"]
    settings = tmp_path / "config.toml"
    settings.write_text(
        "[budget]\nsteps = 100\n[evaluation]\nevery = 0.0\nfinal_games = 0\n"
        "[selfplay]\ngroups = 2\ngames = 4\nplies = 4\n[queue]\npositions = 60\n"
        "[replay]\nminimum = 50\n[optimiser]\nbatch = 32\n",
        encoding="utf-8",
    )
    run = tmp_path / "run"
    assert main([*words, str(run), "--config", str(settings), "--progress", "plain"]) == 0
    captured = capfd.readouterr()
    assert "queue: 1 actors, " in captured.err
    assert f"agent:          {run}/agent.safetensors" in captured.out
    assert main([*words, str(run)]) == 2
    assert "which holds a run" in capfd.readouterr().err
