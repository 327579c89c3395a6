"""Games on a Ray cluster of two nodes: the same as on one machine, whatever dies."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow.parquet as pq
import pytest
import ray

import endodoi as ed
from endodoi import _core, ray_parts
from endodoi.cli import main
from endodoi.ray_cluster import finished_tasks
from ray_nodes import two_nodes, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt
    from ray.cluster_utils import Cluster

    Views: TypeAlias = npt.NDArray[np.int16]
    Masks: TypeAlias = npt.NDArray[np.int8]
    Actions: TypeAlias = npt.NDArray[np.int64]

pytestmark = pytest.mark.ecosystem

RULES = ed.Ruleset(columns=6)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with two_nodes() as nodes:
        yield nodes


def last_legal(views: Views, masks: Masks) -> Actions:
    """Play the last legal column."""
    assert views.shape == (len(masks), 15)
    return np.asarray(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))


class Slow:
    """Plays as `last_legal` and notes in a folder who played."""

    def __init__(self, folder: Path, seconds: float = 0.02) -> None:
        self.folder = str(folder)
        self.seconds = seconds

    def __call__(self, views: Views, masks: Masks) -> Actions:
        node = ray.get_runtime_context().get_node_id() if ray.is_initialized() else "here"
        Path(self.folder, f"{os.getpid()}-{node}").touch()
        time.sleep(self.seconds)
        return last_legal(views, masks)


def same(here: ed.GameTable, there: ed.GameTable) -> None:
    """Compare two tables, their settings and summaries, byte for byte."""
    assert here == there
    left, right = here.to_numpy(), there.to_numpy()
    assert list(left) == list(right)
    for name, column in left.items():
        assert column.dtype == right[name].dtype
        assert column.tobytes() == right[name].tobytes()
    assert here.settings == there.settings
    assert here.summary().json == there.summary().json
    assert str(here.summary()) == str(there.summary())


@pytest.mark.parametrize(
    "arguments",
    [
        {"games": 5000, "seed": 2**64 - 1},
        {
            "games": 1500,
            "first": 10**12,
            "max_plies": 20,
            "random_opening_plies": 3,
            "sample": 1001,
        },
        {"games": 700, "offers": True},
        {"games": 700, "south": last_legal, "north": "greedy", "sample": 299},
        {"games": 300, "north": lambda _, masks: masks.argmax(axis=1)},
        {"games": 300, "south": "agent:en-dodoi-2x6@none", "north": "alphabeta:2"},
        {"games": 40, "south": ed.policies.Mcts(20), "north": ed.policies.Greedy()},
        {"games": 0},
    ],
)
def test_the_table_is_that_of_one_machine(arguments: dict[str, Any]) -> None:
    here = ed.simulate(ruleset=RULES, **arguments)
    same(here, ed.ray.simulate(ruleset=RULES, games_per_task=299, **arguments))
    same(here, ed.ray.simulate(ruleset=RULES, num_threads=1, **arguments))


@pytest.mark.parametrize("offers", [False, True])
def test_a_folder_of_parts_is_the_file_of_one_machine(tmp_path: Path, offers: bool) -> None:
    arguments: dict[str, Any] = {
        "games": 3000,
        "ruleset": RULES,
        "seed": 4,
        "north": "greedy",
        "offers": offers,
    }
    file, folder = tmp_path / "games.parquet", tmp_path / "games"
    here = ed.simulate(out=file, **arguments)
    there = ed.ray.simulate(out=folder, games_per_task=700, **arguments)
    assert (here, here.json, str(here)) == (there, there.json, str(there))
    assert here.settings == there.settings
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["games", "games.parquet"]
    names = [f"games-{start:013}.parquet" for start in range(0, 3000, 700)]
    assert [path.name for path in sorted(folder.iterdir())] == names
    assert pq.read_table(folder).equals(pq.read_table(file), check_metadata=True)
    read = ed.GameTable.read_parquet(folder)
    assert read == ed.GameTable.read_parquet(file) == ed.simulate(**arguments)
    assert read.settings == here.settings
    with pytest.raises(FileExistsError, match="the folder holds files"):
        ed.ray.simulate(out=folder, **arguments)


def test_no_games_make_a_folder_that_can_be_read(tmp_path: Path) -> None:
    summary = ed.ray.simulate(0, ruleset=RULES, out=tmp_path / "games")
    assert summary.games == 0
    assert len(ed.GameTable.read_parquet(tmp_path / "games")) == 0


def test_a_folder_that_an_ended_process_left_is_gone_on_with(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {
        "games": 900,
        "ruleset": RULES,
        "seed": 5,
        "games_per_task": 100,
        "sample": 50,
    }
    ed.ray.simulate(out=tmp_path / "whole", **arguments)
    half = tmp_path / "half.partial"
    half.mkdir()
    whole = sorted((tmp_path / "whole").iterdir())
    # One is there, one damaged, one of other games, one half written; the others are missing.
    (half / whole[3].name).write_bytes(whole[3].read_bytes())
    before = (half / whole[3].name).stat().st_mtime_ns
    (half / whole[4].name).write_bytes(whole[4].read_bytes()[:-9])
    ed.simulate(100, ruleset=RULES, seed=6, out=half / whole[5].name)
    (half / f".{whole[6].name}.0123").write_bytes(b"half")
    (half / "games-0000000000050.parquet").write_bytes(b"of another split")
    summary = ed.ray.simulate(out=tmp_path / "half", **arguments)
    parts = sorted((tmp_path / "half").iterdir())
    assert [part.name for part in parts] == [part.name for part in whole]
    assert [part.read_bytes() for part in parts] == [part.read_bytes() for part in whole]
    assert parts[3].stat().st_mtime_ns == before
    assert summary.json == ed.simulate(900, ruleset=RULES, seed=5, sample=50).summary().json


def workers_of(folder: Path) -> list[tuple[int, str]]:
    """Return process and node of every worker that has played."""
    found = [path.name.partition("-") for path in Path(folder).iterdir()]
    return [(int(pid), node) for pid, _, node in found]


def test_a_worker_and_a_node_killed_in_mid_run_lose_and_double_no_game(
    cluster: Cluster, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    arguments: dict[str, Any] = {"games": 320, "ruleset": RULES, "seed": 7, "south": Slow(notes)}
    killed: list[Any] = []

    def kill() -> None:
        wait_until("workers on both nodes", lambda: len({n for _, n in workers_of(notes)}) == 2)
        head = ray.get_runtime_context().get_node_id()
        pid = next(pid for pid, node in workers_of(notes) if node == head)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)
        wait_until(
            "another worker",
            lambda: any(pid not in killed and node == head for pid, node in workers_of(notes)),
        )
        second = next(node for node in cluster.worker_nodes)
        cluster.remove_node(second, allow_graceful=False)
        killed.append(second)

    killer = threading.Thread(target=kill)
    killer.start()
    there = ed.ray.simulate(games_per_task=16, **arguments)
    killer.join()
    assert len(killed) == 2
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    assert there == ed.simulate(**{**arguments, "south": last_legal})


def test_a_worker_killed_while_it_writes_files_leaves_none_behind(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    arguments: dict[str, Any] = {"games": 96, "ruleset": RULES, "seed": 7}

    def kill() -> None:
        wait_until("a worker", lambda: workers_of(notes))
        os.kill(workers_of(notes)[0][0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    summary = ed.ray.simulate(
        games_per_task=16, out=tmp_path / "games", south=Slow(notes), **arguments
    )
    killer.join()
    assert len(workers_of(notes)) > 1
    assert summary.games == 96
    here = ed.simulate(south=last_legal, **arguments)
    assert ed.GameTable.read_parquet(tmp_path / "games") == here
    assert len(list((tmp_path / "games").iterdir())) == 6


def test_workers_that_always_die_are_an_error() -> None:
    def dies(_views: Views, _masks: Masks) -> Actions:
        os._exit(1)

    with pytest.raises(ed.ClusterError, match="games 5 to 7 could not be done, though Ray tried 6"):
        ed.ray.simulate(3, ruleset=RULES, first=5, south=dies)


def test_ctrl_c_keeps_the_games_of_finished_tasks_and_leaves_the_session(tmp_path: Path) -> None:
    for out in (None, tmp_path / "games"):

        def interrupt(games: int) -> None:
            if games >= 64:
                os.kill(os.getpid(), signal.SIGINT)

        arguments: dict[str, Any] = {
            "games": 6400,
            "ruleset": RULES,
            "seed": 8,
            "games_per_task": 16,
        }
        with pytest.raises(KeyboardInterrupt) as caught:
            ed.ray.simulate(**arguments, south=Slow(tmp_path.parent), out=out, progress=interrupt)
        if out is None:
            kept = vars(caught.value)["table"]
        else:
            kept = ed.GameTable.read_parquet(out)
            assert vars(caught.value)["summary"].games == len(kept)
            assert not any(path.name.startswith(".") for path in out.iterdir())
            assert not out.with_name("games.partial").exists()
        assert 0 < len(kept) < 1000
        assert len(kept) % 16 == 0
        assert kept == ed.simulate(len(kept), ruleset=RULES, seed=8, south=last_legal)
    assert ray.is_initialized()
    wait_until("idle workers", lambda: ray.available_resources().get("CPU") == 2)


def test_progress_counts_finished_games_and_its_error_keeps_them() -> None:
    told: list[int] = []
    ed.ray.simulate(1000, ruleset=RULES, games_per_task=100, progress=told.append)
    assert told[-1] == 1000
    assert len(told) == 10
    assert told == sorted(told)

    def refuse(games: int) -> None:
        if games >= 300:
            raise LookupError("enough")

    with pytest.raises(LookupError) as caught:
        ed.ray.simulate(1000, ruleset=RULES, games_per_task=100, progress=refuse)
    assert 0 <= len(vars(caught.value)["table"]) <= 1000


def test_tasks_under_way_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, finished, most = 0, 0, 0

    def counted(start: Callable[[int], Any], count: int, threads: int) -> Iterator[tuple[int, Any]]:
        def start_one(number: int) -> Any:
            nonlocal begun, most
            begun += 1
            most = max(most, begun - finished)
            return start(number)

        return finished_tasks(start_one, count, threads)

    monkeypatch.setattr("endodoi.ray_simulation.finished_tasks", counted)

    def told(_games: int) -> None:
        nonlocal finished
        finished += 1

    ed.ray.simulate(400, ruleset=RULES, games_per_task=2, progress=told)
    assert (begun, finished) == (200, 200)
    # Two nodes of one processor, two for each.
    assert most <= 4


def test_functions_in_files_travel_with_their_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "def policy(views, masks):\n    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)\n"
        "number = 3\n",
        encoding="utf-8",
    )
    there = ed.ray.simulate(200, ruleset=RULES, south="mine.py:policy", games_per_task=50)
    assert there == ed.simulate(200, ruleset=RULES, south=last_legal)
    assert there.settings["south"] == "mine.py:policy"
    for spec, message in [
        ("mine.py:number", "the file defines no function number"),
        ("none.py:policy", r"none.py:policy cannot be sent to other machines: it cannot be read"),
    ]:
        with pytest.raises(ed.PolicyError, match=message):
            ed.ray.simulate(200, ruleset=RULES, south=spec)


def test_files_travel_with_what_they_import_from_their_folder(tmp_path: Path) -> None:
    picks = {
        "first": "def pick(masks):\n    return masks.argmax(axis=1)\n",
        "last": "def pick(m):\n    return m.shape[1] - 1 - m[:, ::-1].argmax(axis=1)\n",
    }
    for folder, pick in picks.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper.py").write_text(pick, encoding="utf-8")
        (tmp_path / folder / "bot.py").write_text(
            "def policy(views, masks):\n    from helper import pick\n    return pick(masks)\n",
            encoding="utf-8",
        )
    south, north = (f"{tmp_path / folder / 'bot.py'}:policy" for folder in picks)
    there = ed.ray.simulate(100, ruleset=RULES, south=south, north=north, games_per_task=25)
    here = ed.simulate(
        100, ruleset=RULES, south=lambda _views, masks: masks.argmax(axis=1), north=last_legal
    )
    assert there == here


def test_agents_of_a_committee_travel_with_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(_core.agent_file("en-dodoi-2x6"), "mine.safetensors")
    there = ed.ray.simulate(
        20, ruleset=RULES, south="committee:2xagent:mine.safetensors@none+greedy", games_per_task=5
    )
    here = ed.simulate(20, ruleset=RULES, south="committee:2xagent:en-dodoi-2x6@none+greedy")
    assert there == here


def test_players_that_cannot_travel_are_refused_by_name_and_reason() -> None:
    lock = threading.Lock()

    def locked(_views: Views, masks: Masks) -> Actions:
        with lock:
            return np.asarray(masks.argmax(axis=1))

    message = r"player locked cannot be sent to other machines: it cannot be pickled \(TypeError"
    with pytest.raises(ed.PolicyError, match=message):
        ed.ray.simulate(10, ruleset=RULES, north=locked)

    class Elsewhere:
        def __call__(self, _views: Views, masks: Masks) -> Actions:
            return np.asarray(masks.argmax(axis=1))

        def __reduce__(self) -> tuple[Any, ...]:
            return __import__, ("no_such_module_anywhere",)

    with pytest.raises(
        ed.PolicyError, match=r"player Elsewhere .* cannot be unpickled on .*no_such"
    ):
        ed.ray.simulate(10, ruleset=RULES, north=Elsewhere())
    with pytest.raises(ed.AgentError, match="nowhere"):
        ed.ray.simulate(10, ruleset=RULES, north="agent:nowhere")


def test_a_player_that_fails_loses_its_games_with_a_warning() -> None:
    def fails(_views: Views, _masks: Masks) -> Actions:
        raise LookupError("no idea")

    with pytest.warns(RuntimeWarning, match="player fails failed .*no idea") as warned:
        table = ed.ray.simulate(60, ruleset=RULES, south=fails, games_per_task=20)
    assert len(warned) == 1
    assert (table.to_numpy()["winner"] == -1).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"games": -1}, ed.SimulationError, "games is -1, expected 0 to 1000000000000"),
        ({"games": 2.5}, ed.ArgumentTypeError, "games is 2.5"),
        ({"first": -1}, ed.SimulationError, "first is -1"),
        ({"max_plies": 0}, ed.SimulationError, "max_plies is 0"),
        ({"num_threads": 0}, ed.SimulationError, "num_threads is 0"),
        ({"sample": -1}, ed.SimulationError, "sample is -1"),
        ({"south": "alphabeta:99"}, ed.PolicyError, "alphabeta:99"),
        ({"north": 5}, ed.ArgumentTypeError, "north is 5"),
        ({"games_per_task": 0}, ed.ArgumentValueError, "games_per_task is 0, expected 1 to"),
        ({"progress": "bar"}, ed.ArgumentValueError, "progress is 'bar'"),
        ({"address": 5}, ed.ArgumentTypeError, "address is 5"),
        ({"address": "10.9.8.7:6379"}, ed.ClusterError, "leave the address out to work there"),
        ({"address": "local"}, ed.ClusterError, "this process is in the Ray session of"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ed.ray.simulate(**{"games": 10, "ruleset": RULES, **arguments})


def test_another_version_on_a_worker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("endodoi._core.__version__", "0.0.0")
    with pytest.raises(ed.ClusterError, match=r"has endodoi .*, expected 0.0.0 as here"):
        ed.ray.simulate(10, ruleset=RULES)


def test_a_folder_that_machines_do_not_share_is_named(tmp_path: Path) -> None:
    table = ed.simulate(1, ruleset=RULES)
    with pytest.raises(ed.ClusterError, match=r"there is no folder .*gone.partial on"):
        ray_parts.write_part(str(tmp_path / "gone.partial"), 0, table._core, {}, offers=False)
    folder = ray_parts.GameFolder(tmp_path / "games", table.settings, offers=False)
    with pytest.raises(ed.ClusterError, match=r"games-0000000000000.parquet, which is not to be"):
        folder.check(0)
    folder.release()
    assert list(tmp_path.iterdir()) == []


def alone(queue: Any, address: str | None) -> None:
    """In a process without a session."""
    assert not ray.is_initialized()
    table = ed.ray.simulate(500, ruleset=RULES, seed=9, address=address)
    queue.put((table.to_numpy()["plies"], ray.is_initialized()))


@pytest.mark.parametrize("joined", [False, True])
def test_a_session_that_the_call_starts_or_joins_is_left_at_the_end(
    joined: bool, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=alone, args=(queue, cluster.address if joined else None))
    process.start()
    plies, left = queue.get(timeout=60)
    process.join()
    assert np.array_equal(plies, ed.simulate(500, ruleset=RULES, seed=9).to_numpy()["plies"])
    assert not left


def test_the_command_plays_on_the_cluster(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["simulate", "--columns", "6", "--games", "2000", "--seed", "3"]
    assert main(words) == 0
    here = capsys.readouterr().out
    assert main([*words, "--ray", "auto", "--out", str(tmp_path / "games")]) == 0
    assert capsys.readouterr().out == here
    assert main([*words, "--ray", cluster.address]) == 0
    assert capsys.readouterr().out == here
    assert len(ed.GameTable.read_parquet(tmp_path / "games")) == 2000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main([*words, "--ray", "10.9.8.7:1"]) == 2
    assert "leave the address out" in capsys.readouterr().err
