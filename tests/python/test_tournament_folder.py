"""A tournament's folder, and the command ``endodoi arena``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi import GameRecord, Ruleset
from endodoi._core import agent_file, read_agent, write_agent
from endodoi.arena import Tournament, tournament

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

SIX = Ruleset(columns=6)


def lowest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "records").iterdir())


def test_a_folder_goes_on_where_it_stopped(tmp_path: Path) -> None:
    players = ["random", "greedy", "alphabeta:2"]
    out = tmp_path / "arena"
    few = tournament(players, ruleset=SIX, games=20, seed=1, out=out)
    assert few.games == 60
    before = {name: (out / "records" / name).stat().st_mtime_ns for name in files_of(out)}
    more = tournament(players, ruleset=SIX, games=60, seed=1, out=out)
    assert more == tournament(players, ruleset=SIX, games=60, seed=1)
    after = {name: (out / "records" / name).stat().st_mtime_ns for name in files_of(out)}
    assert before.items() <= after.items()
    again = tournament(players, ruleset=SIX, games=60, seed=1, out=out)
    assert again == more
    # What was read back is what was played, times included.
    assert again.players[0].seconds_per_move == pytest.approx(more.players[0].seconds_per_move)
    results = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    assert results["games"] == 180
    assert (out / "standings.md").read_text(encoding="utf-8") == again.to_markdown()
    lines = [
        line
        for name in files_of(out)
        for line in (out / "records" / name).read_text(encoding="utf-8").splitlines()
    ]
    assert len(lines) == 180
    assert GameRecord.from_json(lines[0]).players == ("random", "greedy")


def test_a_folder_of_another_tournament_is_refused_by_the_field(tmp_path: Path) -> None:
    out = tmp_path / "arena"
    tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)

    def refused(message: str, players: Any = ("random", "greedy"), **settings: Any) -> None:
        arguments = {"ruleset": SIX, "games": 10, "out": out, **settings}
        with pytest.raises(ed.ArenaError, match=message):
            tournament(list(players), **arguments)

    refused("seed was 0 there and is 1 now", seed=1)
    refused("games was 10 there and is 8 now", games=8)
    refused("openings was 4 there and is 2 now", openings=2)
    refused("players was .* there", players=("greedy", "random"))
    refused("ruleset was .* there", ruleset=Ruleset(columns=7))
    damaged = out / "records" / files_of(out)[0]
    damaged.write_text(damaged.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    refused("is damaged")
    damaged.unlink()
    whole = tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)
    assert whole == tournament(["random", "greedy"], ruleset=SIX, games=10)


def test_a_folder_without_its_settings_is_refused_with_a_way_out(tmp_path: Path) -> None:
    out = tmp_path / "arena"
    tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)
    settings = out / "tournament.json"
    text = settings.read_text(encoding="utf-8")
    for damage, message in (
        (None, "is missing, though there are records"),
        (text[:-20], "is damaged: "),
        ("[]", "is damaged: it tells no number of games"),
        (text.replace('"games": 10', '"games": "ten"'), "it tells no number of games"),
    ):
        settings.unlink()
        if damage is not None:
            settings.write_text(damage, encoding="utf-8")
        with pytest.raises(ed.ArenaError, match=f"{message}.*name another folder, or remove"):
            tournament(["random", "greedy"], ruleset=SIX, games=20, seed=9, out=out)
        settings.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"greedy"', '"nobody"', "line 1 has the players"),
        ('"start":"4,', '"start":"5,', "is damaged"),
    ],
)
def test_records_of_other_games_are_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    out = tmp_path / "arena"
    tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)
    records = out / "records" / files_of(out)[0]
    text = records.read_text(encoding="utf-8")
    assert old in text
    records.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ed.ArenaError, match=message):
        tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)


def test_copies_of_a_pair_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "arena"
    tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)
    name = files_of(out)[0]
    for folder, message in (("records", "line 3 has the opening"), ("notes", "the notes are not")):
        path = out / folder / name
        text = path.read_text(encoding="utf-8")
        path.write_text("".join(text.splitlines(keepends=True)[:2] * 5), encoding="utf-8")
        with pytest.raises(ed.ArenaError, match=f"is damaged: {message}"):
            tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)
        path.write_text(text, encoding="utf-8")
    assert tournament(["random", "greedy"], ruleset=SIX, games=10, out=out).games == 10


@pytest.mark.parametrize(
    "name",
    [
        "000-007-0000000-0000005",
        "000-001-0000005-0000009",
        "000-001-0000003-0000003",
        "000-001-0000002-0000004",
        "mine",
    ],
)
def test_files_that_are_no_part_of_the_tournament_are_refused(tmp_path: Path, name: str) -> None:
    out = tmp_path / "arena"
    tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)
    for folder in ("records", "notes"):
        text = (out / folder / files_of(out)[0]).read_text(encoding="utf-8")
        (out / folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ed.ArenaError, match=rf"{name}\.jsonl is no part of this tournament"):
        tournament(["random", "greedy"], ruleset=SIX, games=10, out=out)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_texts_may_hold_any_separator_of_lines(tmp_path: Path) -> None:
    def failing(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> Any:
        raise ValueError("one\u2028two\u0085three\x1cfour\nfive")

    players: dict[str, Any] = {"a\u2028b\u0085": failing, "greedy": "greedy"}
    few = tournament(players, ruleset=SIX, games=4, out=tmp_path / "out")
    assert tournament(players, ruleset=SIX, games=4, out=tmp_path / "out") == few
    assert tournament(players, ruleset=SIX, games=6, out=tmp_path / "out").games == 6


@pytest.mark.parametrize(
    "player",
    [
        "committee:3xagent:{file}@none",
        "committee:greedy+2*agent:{file}@depth=1",
        "committee:2x1.5*{{committee:greedy+agent:{file}@none}}+random",
    ],
)
def test_an_agent_in_a_committee_is_the_same_when_a_folder_goes_on(
    tmp_path: Path, player: str
) -> None:
    file = tmp_path / "a.safetensors"
    file.write_bytes(agent_file("en-dodoi-2x6").read_bytes())
    players, out = [player.format(file=file), "greedy"], tmp_path / "out"
    tournament(players, ruleset=SIX, games=2, out=out)
    tournament(players, ruleset=SIX, games=4, out=out)
    metadata, weights = read_agent(file)
    write_agent(file, metadata, {name: weight * 0.5 for name, weight in weights.items()})
    with pytest.raises(
        ed.ArenaError, match=r"the file of agent:.*a\.safetensors.* had the SHA-256"
    ):
        tournament(players, ruleset=SIX, games=6, out=out)
    function = ed.policies.Committee([lowest, players[0]])
    plan = Tournament([function, "greedy"], ruleset=SIX, games=2)
    assert [name.startswith("agent:") for name in plan.settings["agents"]] == [True]


KILLED = """
import sys, time
import numpy as np
import endodoi as ed

def slow(observations, masks):
    time.sleep(0.002)
    return masks.argmax(axis=1)

ed.arena.tournament({"slow": slow, "random": "random", "greedy": "greedy"},
                    ruleset=ed.Ruleset(columns=6), games=int(sys.argv[2]), out=sys.argv[1])
"""


def test_a_killed_tournament_goes_on_with_the_same_result(tmp_path: Path) -> None:
    out = tmp_path / "arena"
    script = tmp_path / "play.py"
    script.write_text(KILLED, encoding="utf-8")
    for _ in range(3):
        before = len(files_of(out)) if (out / "records").is_dir() else 0
        process = subprocess.Popen([sys.executable, script, out, "400"])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if (out / "records").is_dir() and len(files_of(out)) > before:
                break
            time.sleep(0.005)
        process.kill()
        process.wait()
    kept = files_of(out)
    assert kept
    subprocess.run([sys.executable, script, out, "400"], check=True)
    assert set(kept) <= set(files_of(out))
    lines = [
        line
        for name in files_of(out)
        for line in (out / "records" / name).read_text(encoding="utf-8").splitlines()
    ]
    assert len(lines) == 1200
    players: dict[str, Any] = {"slow": lowest, "random": "random", "greedy": "greedy"}
    standings = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    whole = tournament(players, ruleset=SIX, games=400).to_dict()
    for one, other in zip(standings["players"], whole["players"], strict=True):
        for timed in ("seconds_per_move", "longest_move"):
            del one[timed], other[timed]
        assert one == other
    assert standings["pairings"] == whole["pairings"]


def test_two_processes_do_not_play_into_one_folder(tmp_path: Path) -> None:
    from endodoi.tournament_folder import Folder  # noqa: PLC0415

    plan = Tournament(["random", "greedy"], ruleset=SIX, games=10)
    with (
        Folder(tmp_path / "arena", plan.settings),
        pytest.raises(BlockingIOError, match="another process is at work here"),
    ):
        tournament(["random", "greedy"], ruleset=SIX, games=10, out=tmp_path / "arena")


def test_what_is_no_folder_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    for out, error, message in (
        ("", FileNotFoundError, "out is empty"),
        ("file", NotADirectoryError, "out is a file, expected a folder: 'file'"),
        (3, ed.ArgumentTypeError, "out is 3 "),
        (b"out", ed.ArgumentTypeError, "out is b'out'"),
    ):
        with pytest.raises(error, match=message):
            tournament(["random", "greedy"], ruleset=SIX, games=2, out=out)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    done = command("--players", "random", "greedy", "--games", 2, "--out", "", folder=tmp_path)
    assert done.returncode != 0
    assert "out is empty" in done.stderr


def command(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "endodoi", "arena", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from helper import pick\n\ndef policy(observations, masks):\n    return pick(masks)\n\n"
        "nothing = 3\n",
        encoding="utf-8",
    )
    (tmp_path / "helper.py").write_text(
        "def pick(masks):\n    return masks.argmax(axis=1)\n", encoding="utf-8"
    )
    six = ("--columns", 6, "--games", 20)
    players = ("random", "mine.py:policy", "mine.py:policy")
    done = command("--players", *players, *six, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    names = [player["name"] for player in numbers["players"]]
    assert names == ["random", "mine.py:policy", "mine.py:policy#2"]
    assert numbers["pairings"][2]["score"] == 0.5
    done = command(
        "--players", *players, *six, "--gauntlet", "--out", tmp_path / "out", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "mine.py:policy" in done.stdout
    assert (tmp_path / "out" / "standings.md").is_file()
    for player, message in (
        ("mine.py:other", "has no 'other'"),
        ("none.py:policy", "there is no file"),
        ("mine.py:nothing", "expected a function"),
        ("nobody", "expected random"),
    ):
        done = command("--players", "random", player, *six, folder=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr


def test_ctrl_c_prints_the_standings_of_the_pairs_finished(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "endodoi", "arena", "--columns", "6", "--players", "random"]
    line += ["greedy", "--games", "10000000", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    records = tmp_path / "out" / "records"
    while time.monotonic() < deadline and not (records.is_dir() and any(records.iterdir())):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted after" in errors
    assert "games are distinct" in output
