"""Report cards: read, compared, as texts; the stored ones and their page; ``endodoi benchmark``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import benchmark_page
import benchmark_positions
import endodoi as ed
from endodoi.arena import ReportCard, stored_cards
from endodoi.benchmark_exam import examine
from endodoi.benchmark_suite import load_suite
from endodoi.report_card import card_file
from small_cards import small

if TYPE_CHECKING:
    from pathlib import Path

SUITE = load_suite()
SIX = SUITE.parts[0]


# Reading, comparing


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"format": "x"}, "no report card", id="format"),
        pytest.param({"format_version": 9}, "format_version of the card is 9", id="version"),
        pytest.param({"more": 1}, "the fields more are missing or unknown", id="unknown"),
        pytest.param({"parts": 3}, "parts of the card is 3, expected list", id="parts"),
        pytest.param({"suite": "1"}, "suite of the card is '1', expected int", id="text"),
        pytest.param({"suite": True}, "suite of the card is True, expected int", id="bool"),
        pytest.param({"player": None}, "player of the card is None, expected str", id="none"),
        pytest.param({"parts": [{}]}, "the fields .*cannot_play.* are missing", id="missing"),
    ],
)
def test_a_card_that_is_none_is_refused(
    card: ReportCard, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ed.ArenaError, match=message):
        ReportCard.from_dict({**card.to_dict(), **change})
    for text in ("[]", "3", "null", "nothing"):
        with pytest.raises(ed.ArenaError, match="this is no report card"):
            ReportCard.from_json(text)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("overall", "score"), "high", "score of the card is 'high', expected float"),
        (("opponents",), {}, "opponents of the card is {}, expected list"),
        (("opponents",), [3], "opponents of the card is 3, expected an object"),
        (("regret", "all", "seeds_lost", "half"), "wide", "half of the card is 'wide'"),
        (("regret", "all", "seeds_lost"), [1], r"seeds_lost of the card is \[1\], expected"),
        (("regret", "middle", "optimal", "count"), 1.5, "count of the card is 1.5, expected int"),
        (("regret", "middle"), None, "regret of the card is None, expected an object"),
        (("ruleset",), "2x6", "ruleset of the card is '2x6', expected dict"),
    ],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_named(
    card: ReportCard, path: tuple[str, ...], value: Any, message: str
) -> None:
    read = card.to_dict()
    inner: Any = read["parts"][0]
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    with pytest.raises(ed.ArenaError, match=message):
        ReportCard.from_dict(read)


def test_cards_of_the_same_version_stand_side_by_side(card: ReportCard) -> None:
    other = small("greedy", name="green | greedy")
    shown = card.compare(other)
    lines = str(shown).splitlines()
    assert lines[1].split()[:2] == ["board", "lowest"]
    score = card["2x6"].opponents[1].score
    (row,) = (line for line in lines if line.startswith("2x6") and " greedy " in line)
    assert f"{score:.3f}" in row
    assert "0.500" in row
    (row,) = (line for line in lines if line.startswith("2x8") and " all " in line)
    assert row.rstrip().endswith("-")
    markdown = shown.to_markdown()
    assert markdown == shown._repr_markdown_()
    assert "green \\| greedy" in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
    assert "small" in str(stored_cards()["greedy"].compare(card))
    with pytest.raises(ed.ArenaError, match="suite of the card of lowest is 2, expected 1"):
        other.compare(replace(card, suite=2))
    with pytest.raises(ed.ArgumentTypeError, match="expected a ReportCard"):
        card.compare("greedy")  # type: ignore[arg-type]


def test_texts_of_a_card(card: ReportCard) -> None:
    text, markdown = str(card), card.to_markdown()
    assert card._repr_markdown_() == markdown
    assert repr(card) == "<ReportCard of lowest: 2x6, 2x8>"
    assert "suite 1, scale small" in text
    assert "| `alphabeta:8` | 20 |" in markdown
    for line in ("2x6: en-dodoi 2x6 k=4", "optimal moves", "seeds lost a move"):
        assert line in text
        assert line in markdown
    assert "No board is finished yet" in str(replace(card, parts=()))
    part = card["2x6"]
    assert part.overall is not None
    even = replace(part.overall, margin=-0.04, margin_half=0.1)
    odd = replace(card, player="a\nb", parts=(replace(part, overall=even, illegal=1),))
    for text in (str(odd), odd.to_markdown(), str(odd.compare(card))):
        assert r"a\nb" in text
        assert all(line.isprintable() for line in text.split("\n"))
    assert "  +0.0 ± 0.1 " in str(odd)
    assert "1 game, 0 choices" in str(odd.compare(card))


# The cards of the package and the page


def test_the_stored_cards_are_of_this_suite_at_full_scale() -> None:
    stored = stored_cards()
    assert set(stored) == set(benchmark_page.ROWS)
    for player, found in stored.items():
        assert (found.suite, found.scale) == (SUITE.version, "full")
        assert {part.name for part in found.parts} == set(benchmark_page.ROWS[player])
        assert card_file(player).is_file()
        for part in found.parts:
            if part.overall is not None:
                assert {one.games for one in part.opponents} == {400}
                assert part.illegal + part.error + part.late == 0


def test_a_stored_card_is_what_is_played_again() -> None:
    """The games of `greedy` against `random` and itself on 2x6, and its choices."""
    stored = stored_cards()["greedy"]["2x6"]
    standings = ed.arena.tournament(
        ["greedy", "random", "greedy"],
        ruleset=SIX.ruleset,
        games=400,
        seed=SUITE.games_seed,
        openings=SUITE.opening_plies,
        gauntlet=1,
    )
    for one, pairing in zip(stored.opponents, standings.pairings, strict=False):
        assert (one.wins, one.draws, one.losses) == (pairing.wins, pairing.draws, pairing.losses)
    found = examine("greedy", SIX.questions(500), SIX.ruleset, SUITE.positions_seed)
    assert stored.regret is not None
    assert vars(stored.regret.all.optimal) == pytest.approx(vars(found.all.optimal), abs=1e-6)


def test_the_page_is_what_the_tool_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark_page.py", "--check"])
    assert benchmark_page.main() == 0
    monkeypatch.setattr(benchmark_page, "PAGE", tmp_path / "benchmark.md")
    assert benchmark_page.main() == 1
    assert "benchmark.md is out of date" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["benchmark_page.py"])
    assert benchmark_page.main() == 0
    monkeypatch.setattr(sys, "argv", ["benchmark_page.py", "--check"])
    assert benchmark_page.main() == 0


def test_the_tool_plays_the_boards_that_a_card_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: ReportCard
) -> None:
    place = tmp_path / "card.json"
    replace(card, player="greedy", parts=card.parts[:1]).write_json(place)
    monkeypatch.setattr(benchmark_page, "ROWS", {"greedy": ["2x6", "2x8"]})
    monkeypatch.setattr(benchmark_page, "card_file", lambda _player: place)
    played = ed.arena.benchmark
    monkeypatch.setattr(
        ed.arena,
        "benchmark",
        lambda player, **options: played(player, scale="small", **options),
    )
    benchmark_page.play(["greedy"], None)
    found = ReportCard.read(place)
    assert [part.name for part in found.parts] == ["2x6", "2x8"]
    # The first one is what stood there.
    assert found["2x6"] == card["2x6"]
    assert found["2x8"] == small("greedy", "2x8")["2x8"]


def test_the_tool_of_the_positions_tells_a_changed_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = replace(SUITE, parts=(replace(SIX, file="six.jsonl"),))
    monkeypatch.setattr(benchmark_positions, "load_suite", lambda: suite)
    monkeypatch.setattr(benchmark_positions, "FOLDER", tmp_path)
    monkeypatch.setattr(benchmark_positions, "lines_of", lambda *_: "as solved\n")
    monkeypatch.setattr(sys, "argv", ["benchmark_positions.py"])
    assert benchmark_positions.main() == 0
    monkeypatch.setattr(sys, "argv", ["benchmark_positions.py", "--check"])
    assert benchmark_positions.main() == 0
    (tmp_path / "six.jsonl").write_text("otherwise\n", encoding="utf-8")
    assert benchmark_positions.main() == 1
    assert "six.jsonl holds other positions or values" in capsys.readouterr().err


# The command


def command(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "endodoi", "benchmark", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command(tmp_path: Path, card: ReportCard) -> None:
    (tmp_path / "mine.py").write_text(
        "def policy(observations, masks):\n    return masks.argmax(axis=1)\n", encoding="utf-8"
    )
    done = command(
        *("--player", "mine.py:policy", "--part", "2x6", "2x8", "--small", "--out", "card"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Report card of mine.py:policy\n")
    file = tmp_path / "card" / "card.json"
    assert replace(ReportCard.read(file), player="lowest") == card
    done = command("--card", file, "--json")
    assert json.loads(done.stdout) == ReportCard.read(file).to_dict()
    done = command("--card", file, "--against", "greedy", file, "--markdown")
    assert done.returncode == 0, done.stderr
    assert "| board |  | `mine.py:policy` | `greedy` | `mine.py:policy` |" in done.stdout
    done = command("--card", file, "--against", "greedy", "--json")
    assert [one["player"] for one in json.loads(done.stdout)] == ["mine.py:policy", "greedy"]
    for arguments, message in (
        (("--card", file, "--against", "nobody"), "card is 'nobody', expected a file or one of"),
        (("--card", tmp_path / "mine.py"), "this is no report card"),
        (("--card", file, "--part", "2x6"), "--part does not go with --card"),
        (("--card", file, "--small"), "--small does not go with --card"),
        (("--card", file, "--name", "x"), "--name does not go with --card"),
        (("--card", file, "--threads", 0), "--threads does not go with --card"),
        (("--card", file, "--ray", "auto"), "--ray does not go with --card"),
        (("--card", file, "--out", "x"), "--out does not go with --card"),
        (("--player", "nobody"), "expected random"),
        (("--player", "none.py:policy"), "there is no file"),
        (("--player", "greedy", "--part", "3x3"), "parts has '3x3'"),
        ((), "one of the arguments --player --card is required"),
    ):
        done = command(*arguments, folder=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr
    (tmp_path / "mine.py").write_text("def policy(o, masks): return masks.argmax(axis=1)\n")
    again = ("--player", "mine.py:policy", "--part", "2x6", "--small", "--out", "card")
    done = command(*again, folder=tmp_path)
    assert done.returncode == 2
    assert "the file of mine.py:policy was another one there (SHA-256 " in done.stderr
    done = command("--card", tmp_path / "none.json")
    assert done.returncode == 1
    assert "none.json" in done.stderr


def test_ctrl_c_prints_the_boards_finished(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\n\ndef policy(observations, masks):\n"
        "    time.sleep(0 if masks.shape[1] == 6 else 0.2)\n    return masks.argmax(axis=1)\n",
        encoding="utf-8",
    )
    line = [sys.executable, "-m", "endodoi", "benchmark", "--small", "--out", "card"]
    line += ["--player", "slow.py:policy", "--part", "2x6", "2x8"]
    process = subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (tmp_path / "card" / "card.md").is_file():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted after 1 board\n" in errors
    assert "2x6: en-dodoi" in output
    assert "2x8" not in output
