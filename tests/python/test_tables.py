"""Endgame tables."""

from __future__ import annotations

import json
import pickle
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

RULES = ed.Ruleset(columns=3)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("tables")
    ed.tables.build(RULES, 9, out=folder)
    return folder / "en-dodoi-2x3-stays-9.edt"


def refused(kind: str, call: Any, *arguments: Any, **options: Any) -> ed.TableError:
    with pytest.raises(ed.TableError) as caught:
        call(*arguments, **options)
    assert caught.value.kind == kind
    return caught.value


@pytest.mark.parametrize("direction", ["anticlockwise", "parity"])
@pytest.mark.parametrize("lone_capture", ["stays", "taken"])
def test_a_value_is_the_best_over_the_moves(direction: str, lone_capture: str) -> None:
    ruleset = ed.Ruleset(columns=3, direction=direction, lone_capture=lone_capture)
    table = ed.tables.build(ruleset, 24)
    positions = [ed.Position.start(ruleset)]
    for position in positions:
        if position.is_over:
            assert table.value(position) == 0
            continue
        own = ("south", "north").index(position.to_move)
        margins = []
        for column in position.legal_moves():
            after = position.play(column)
            gained = [after.captured[side] - position.captured[side] for side in (own, 1 - own)]
            margins.append(gained[0] - gained[1] - table.value(after))
            if len(positions) < 500:
                positions.append(after)
        assert table.value(position) == max(margins)
    assert len(positions) == 500


def test_a_table_says_what_it_is(path: Path) -> None:
    table = ed.tables.open(path, RULES)
    assert (table.max_seeds, table.positions, table.path) == (9, 5005, path)
    assert table.ruleset == RULES
    assert "5005 positions" in repr(table)
    assert ed.tables.build(RULES, 9).path is None
    info = ed.tables.info(path)
    assert info["positions"] == 5005
    assert info["ruleset"] == RULES.to_dict()
    assert info["bytes"] == path.stat().st_size == 4096 + 5005 + 4


def test_tables_in_files_pickle(path: Path) -> None:
    table = pickle.loads(pickle.dumps(ed.tables.open(path)))
    assert table.path == path
    refused("in_memory", pickle.dumps, ed.tables.build(RULES, 2))


def test_errors_pickle_with_their_fields(path: Path) -> None:
    error = refused("ruleset", ed.tables.open, path, ed.Ruleset(columns=4))
    again = pickle.loads(pickle.dumps(error))
    assert (again.kind, again.path, again.found) == ("ruleset", path, error.found)
    assert str(again) == str(error)
    assert path.name in str(error)


def test_wrong_truncated_and_foreign_files_are_refused_by_name(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.edt"

    def with_bytes(kind: str, content: bytes) -> ed.TableError:
        copy.write_bytes(content)
        error = refused(kind, ed.tables.verify, copy)
        assert "copy.edt" in str(error)
        assert error.path == copy
        return error

    whole = path.read_bytes()
    cut = with_bytes("length", whole[:5000])
    assert (cut.found, cut.expected) == (5000, len(whole))
    with_bytes("not_a_table", b"PAR1" + whole[4:])
    with_bytes("format_version", whole[:8] + b"\x09" + whole[9:])
    with_bytes("header", whole[:40] + b"#" + whole[41:])
    damaged = with_bytes("damaged", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    assert damaged.block == 0
    missing = refused("io", ed.tables.open, tmp_path / "missing.edt")
    assert "missing.edt" in str(missing)


def test_perfect_takes_a_table_or_its_file(path: Path, tmp_path: Path) -> None:
    """The player `perfect` uses a table file; a wrong or damaged one is refused by name."""
    table = ed.tables.EndgameTable.open(path)
    rules = table.ruleset
    for given in (path, str(path), table):
        player = ed.policies.Perfect(table=given, ruleset=rules)
        assert player.spec == player.name == f"perfect@table={path}"
        assert pickle.loads(pickle.dumps(player)).spec == player.spec
    with_file, alone = (
        ed.simulate(4, ruleset=rules, south=player, seed=3).to_numpy()["plies"]
        for player in (f"perfect@table={path}", "perfect")
    )
    assert np.array_equal(with_file, alone)

    bad = tmp_path / "bad.edt"
    bad.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ed.TableError, match=r"bad\.edt") as info:
        ed.policies.Perfect(table=bad)
    assert str(info.value.path) == str(bad)
    with pytest.raises(ed.TableError, match=r"bad\.edt"):
        ed.policies.Perfect(table=bad, ruleset=rules)
    other = ed.Ruleset(columns=rules.columns + 1)
    with pytest.raises(ed.TableError, match=path.name):
        ed.policies.Perfect(table=path, ruleset=other)
    with pytest.raises(ed.PolicyError, match=path.name):
        ed.simulate(1, ruleset=other, south=f"perfect@table={path}")
    with pytest.raises(ed.TableError, match="in memory alone"):
        ed.policies.Perfect(table=ed.tables.build(rules, 2))
    with pytest.raises(ed.ArgumentTypeError, match="table"):
        ed.policies.Perfect(table=5)  # type: ignore[arg-type]


def test_what_cannot_be_built_is_refused(tmp_path: Path) -> None:
    error = refused("out_of_range", ed.tables.build, RULES, 128)
    assert (error.field, error.value, error.low, error.high) == ("seeds", 128, 0, 127)
    assert refused("out_of_range", ed.tables.build, RULES, -1).value == -1
    refused("out_of_range", ed.tables.build, RULES, 3, num_threads=0)
    refused("too_large", ed.tables.build, ed.Ruleset(columns=8), 40)
    refused("endless_draw", ed.tables.build, ed.Ruleset(columns=3, endless="draw"), 3)
    refused("io", ed.tables.build, RULES, 3, out=tmp_path / "none" / "table.edt")
    with pytest.raises(ed.ArgumentTypeError, match="seeds"):
        ed.tables.build(RULES, 3.0)  # type: ignore[arg-type]
    table = ed.tables.build(RULES, 5)
    start = ed.Position.start(RULES)
    assert refused("too_many_seeds", table.value, start).high == 5


def test_a_file_is_replaced_only_with_force(tmp_path: Path) -> None:
    out = tmp_path / "table.edt"
    ed.tables.build(RULES, 3, out=out)
    refused("exists", ed.tables.build, RULES, 4, out=out)
    assert ed.tables.open(out).max_seeds == 3
    assert ed.tables.build(RULES, 4, out=out, force=True).max_seeds == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.edt"]


def test_progress_is_told_and_what_it_raises_stops_the_work() -> None:
    told: list[int] = []

    def watch(done: int) -> None:
        told.append(done)
        if len(told) == 2:
            raise LookupError

    with pytest.raises(LookupError):
        ed.tables.build(ed.Ruleset(columns=6), 17, progress=watch)
    assert told == sorted(told)
    assert len(told) == 2


def test_the_command_builds_verifies_and_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build = ["tables", "build", "--columns", "3", "--seeds", "6", "--lone-capture", "taken"]
    assert main(build) == 0
    name = "en-dodoi-2x3-taken-6.edt"
    assert name in capsys.readouterr().out
    assert main(build) == 2
    assert name in capsys.readouterr().err
    assert main([*build, "--force", "--threads", "1"]) == 0
    for options in ([], ["--all"]):
        assert main(["tables", "verify", name, *options]) == 0
        assert "sound" in capsys.readouterr().out
    assert main(["tables", "info", name]) == 0
    assert "lone_capture taken" in capsys.readouterr().out
    assert main(["tables", "info", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["positions"] == 924
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[:-10])
    assert main(["tables", "verify", name]) == 2
    assert name in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_a_build_within_a_second(tmp_path: Path) -> None:
    command = shutil.which("endodoi")
    start = [command] if command else [sys.executable, "-m", "endodoi"]
    build = ["tables", "build", "--columns", "8", "--seeds", "15", "--threads", "2"]
    process = subprocess.Popen([*start, *build], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, errors = process.communicate(timeout=20)
    # Generous: other work shares the processor.
    assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert "interrupted" in errors
    assert not list(tmp_path.iterdir())
