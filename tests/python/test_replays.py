"""Replays: what pages and moving pictures are made of, and the command that writes them."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import endodoi as ed
from endodoi.cli import main, make_parser
from endodoi.pictures import rgb
from endodoi.shown_game import game_data, move_data, rules_text
from played import endless_draw, play, positions_of

if TYPE_CHECKING:
    from collections.abc import Iterator

GAMES = {
    "2x1": ed.Ruleset(columns=1),
    "2x6": ed.Ruleset(columns=6),
    "2x50": ed.Ruleset("en-gehe"),
    "cross": ed.Ruleset("cross-endodoi"),
    "lone seeds taken": ed.Ruleset(columns=4, lone_capture="taken"),
}

DOCS = Path(__file__).parents[2] / "docs"

SVG = "{http://www.w3.org/2000/svg}"


def sown(pits: list[int], laps: list[int]) -> list[int]:
    """What the page's script makes of laps."""
    pits = list(pits)
    for pit, seeds in zip(laps[::2], laps[1::2], strict=True):
        assert pits[pit] == abs(seeds)
        pits[pit] = 0
        for drop in range(1, abs(seeds) + 1):
            pits[(pit + drop * (1 if seeds > 0 else -1)) % len(pits)] += 1
    return pits


@pytest.mark.parametrize("name", GAMES)
def test_the_laps_of_a_page_lead_from_each_position_to_the_next(name: str) -> None:
    record = play(GAMES[name], cap=60)
    data = game_data(record)
    positions = positions_of(record)
    assert [one["pits"] for one in data["positions"]] == [
        position.board.reshape(-1).tolist() for position in positions
    ]
    for move, before, after in zip(data["moves"], positions, positions[1:], strict=False):
        pits = sown(before.board.reshape(-1).tolist(), move["laps"])
        taken = 0
        for pit in move["taken"]:
            taken += pits[pit]
            pits[pit] = 0
        assert taken == move["captured"]
        if not after.is_over:
            assert pits == after.board.reshape(-1).tolist()
            gained = after.captured[move["mover"]] - before.captured[move["mover"]]
            assert gained == taken
        assert len(move["laps"]) == 2 * before.sow(move["column"]).laps
    assert data["result"].endswith(f"{record.captured[0]} : {record.captured[1]}")


def test_an_endless_sowing_is_cut_with_a_note() -> None:
    data = game_data(endless_draw())
    move = data["moves"][0]
    assert move["cut"]
    assert len(move["laps"]) == 2 * 100
    assert "no end" in move["text"]
    assert "S6" in data["note"]
    film = ed.replay(endless_draw()).svg()
    assert "without end" in film


def test_ends_are_told_with_their_clause() -> None:
    start = ed.Position.start(ed.Ruleset(columns=2, seeds_per_pit=1))
    stuck = game_data(ed.GameRecord.of_moves(start, [0]))
    assert "North has no legal move (E1): the 1 seed left goes to South." in stuck["note"]
    quiet = ed.Position.from_board(
        [0, 1, 0, 0], [1, 0, 0, 0], quiet=159, ruleset=ed.Ruleset(columns=4)
    )
    assert "E3" in game_data(ed.GameRecord.of_moves(quiet, [1]))["note"]
    cut = game_data(play(ed.Ruleset(columns=6), cap=3))
    assert cut["positions"][-1]["line"] == "Cut after 3 plies, no outcome"
    fields = json.loads(play(ed.Ruleset(columns=6), cap=3).to_json())
    for reason in ("illegal", "error", "late"):
        lost = {**fields, "outcome": "south", "end_reason": reason}
        record = ed.GameRecord.from_json(json.dumps(lost))
        assert re.match("North .* lost", game_data(record)["positions"][-1]["line"])
        assert "North" in ed.replay(record).svg()


def test_rules_are_told_where_they_are_not_the_usual_ones() -> None:
    assert rules_text(ed.Ruleset(columns=6)) == "en-dodoi, 2x6, 4 seeds in each pit"
    rules = ed.Ruleset("cross-endodoi", lone_capture="taken", quiet_limit=9)
    expected = "cross-endodoi, 2x6, 3 seeds in each pit, lone capture taken, quiet limit 9"
    assert rules_text(rules) == expected


def test_names_cannot_leave_their_place() -> None:
    names = ('</script><b>"one"', "]]>&two<!--")
    record = play(ed.Ruleset(columns=2), players=names)
    page = ed.replay(record).html()
    assert page.count("<script") == page.count("</script>") == 2
    data = re.search('<script type="application/json" id="games">(.*)</script>', page)
    assert data
    assert tuple(json.loads(data[1])[0]["players"]) == names
    assert "<b>" not in page.partition('id="games"')[0].partition("</title>")[0]
    frame = ed.replay(record)._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert frame.count("<") == frame.count("</iframe>") + 1


def test_a_page_loads_nothing_and_runs_nothing_but_its_script() -> None:
    page = ed.replay(play(ed.Ruleset(columns=6))).html()
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]


def frames(film: str) -> Iterator[tuple[float, list[str]]]:
    """The heap shown in every pit whenever one changes: its id without the side."""
    root = ET.fromstring(film)  # noqa: S314
    tracks = []
    for use in root.iter(f"{SVG}use"):
        animate = use.find(f"{SVG}animate")
        track = [(0.0, use.attrib["href"])]
        if animate is not None:
            times = map(float, animate.attrib["keyTimes"].split(";"))
            track = list(zip(times, animate.attrib["values"].split(";"), strict=True))
        tracks.append(track)
    for now in sorted({time for track in tracks for time, _ in track}):
        yield now, [[value for time, value in track if time <= now][-1][2:] for track in tracks]


@pytest.mark.parametrize("name", ["2x6", "cross", "2x50"])
def test_a_film_shows_every_position_in_its_order(name: str) -> None:
    record = play(GAMES[name], cap=12)
    shown = [[int(seeds) for seeds in board] for _, board in frames(ed.replay(record).svg())]
    place = 0
    for position in positions_of(record):
        board = position.board.reshape(-1).tolist()
        place += shown[place:].index(board)
    assert place == len(shown) - 1


def test_a_gif_has_a_frame_for_every_lap_or_ply(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    record = play(ed.Ruleset(columns=4))
    sizes = {}
    for laps in (None, False):
        ed.replay(record).gif(tmp_path / "game.gif", laps=laps)
        with image.open(tmp_path / "game.gif") as picture:
            assert picture.size == (384, 352)
            sizes[laps] = picture.n_frames
            picture.seek(picture.n_frames - 1)
            last: Any = positions_of(record)[-2].sow(record.moves[-1])
            shown = np.asarray(picture.convert("RGB")).astype(int)
            # Colours are rounded to those of the palette.
            assert np.abs(shown - rgb(last)).mean() < 2
            blue = (rgb(last) == (0x6C, 0xD4, 0xF5)).all(axis=-1)
            assert blue.any()
            assert np.abs(shown[blue] - (0x6C, 0xD4, 0xF5)).max() < 16
    assert sizes[False] == len(record) + 1
    assert sizes[None] > sizes[False]


def test_a_missing_pillow_is_told_by_the_name_of_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import sys  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ed.MissingExtraError, match=r"endodoi\[plot\]"):
        ed.replay(play(ed.Ruleset(columns=2))).gif(tmp_path / "game.gif")


def test_what_is_no_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ed.ArgumentValueError, match="0 games, expected 1 to 200"):
        ed.replay([])
    with pytest.raises(ed.ArgumentTypeError, match=r"records\[0\] is 3"):
        ed.replay([3])  # type: ignore[list-item]
    what: Any
    for what in (None, 3, ed.Position.start(ed.Ruleset(columns=2))):
        with pytest.raises(ed.ArgumentTypeError, match=r"records is .* expected a GameRecord, a "):
            ed.replay(what)
    record = play(ed.Ruleset(columns=2))
    with pytest.raises(ed.ArgumentValueError, match="game is 1, expected 0 to 0"):
        ed.replay(record).svg(game=1)
    nowhere: Any = 3
    with pytest.raises(ed.ArgumentTypeError, match=r"path is 3 \(int\), expected the path of a"):
        ed.replay(record).gif(nowhere)
    line = record.to_json()
    file = tmp_path / "games.jsonl"
    file.write_text(f"{line}\n\n{line}\n")
    assert len(ed.replay(file)) == 2
    wrong = json.dumps({**json.loads(line), "captured": [9, 9]})
    for text, what in ((wrong, "captured is"), ("{", "not a game record"), ('{"a": 1}', "unknown")):
        file.write_text(f"{line}\n\n{text}\n")
        with pytest.raises(ed.RecordError, match=f"line 3: .*{what}") as info:
            ed.replay(file)
        assert info.value.line == 3
    assert ed.replay([record, record]).records == (record, record)
    many = [play(ed.Ruleset(columns=64), cap=100)] * 200
    with pytest.raises(ed.ArgumentValueError, match=r"2,585,600 pits to show, .* 2,000,000"):
        ed.replay(many).html()
    file.write_bytes(b"\xff\n")
    with pytest.raises(ed.RecordError, match="line 1: the line is not UTF-8"):
        ed.replay(str(file))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(one) for one in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_writes_what_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [play(ed.Ruleset(columns=columns), cap=8) for columns in (2, 6, 4)]
    file = tmp_path / "games.jsonl"
    file.write_text("".join(f"{record.to_json()}\n" for record in records))
    page, film = tmp_path / "out.html", tmp_path / "out.svg"
    assert run(capsys, "replay", file, "--html", page) == (0, f"wrote {page}\n", "")
    assert page.read_text() == ed.replay(records).html()
    status, _, _ = run(capsys, "replay", file, "--game", 2, "--html", page, "--svg", film)
    assert status == 0
    assert page.read_text() == ed.replay(records[1]).html()
    assert film.read_text() == ed.replay(records[1]).svg()
    for arguments, reason in [
        ((file,), "--html, --svg or --gif"),
        ((file, "--html", page, "--svg", page), "--svg is .*, which is the file of --html too"),
        ((file, "--svg", film), "has 3 games, but a picture shows one"),
        ((file, "--game", 0, "--html", page), "game is 0, expected 1 or more"),
        ((file, "--game", 4, "--html", page), "game is 4, but .* has 3"),
    ]:
        status, _, err = run(capsys, "replay", *arguments)
        assert status == 2
        assert re.search(reason, err)
    assert run(capsys, "replay", tmp_path / "no.jsonl", "--html", page)[0] == 1
    assert run(capsys, "replay", file, "--html", tmp_path / "no" / "x.html")[0] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "games.jsonl",
        "out.html",
        "out.svg",
    ]


def test_a_position_is_drawn_into_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg, png = tmp_path / "board.svg", tmp_path / "board.png"
    arguments = ("show", "--columns", 6, "--play", 2, 0, "--svg", svg, "--png", png, "--scale", 1)
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    before = ed.Position.start(ed.Ruleset(columns=6)).play(2)
    after = before.play(0)
    assert out == f"{after}\n{after.to_text()}\nwrote {svg}\nwrote {png}\n"
    assert svg.read_text() == before.sow(0)._repr_svg_()
    image: Any = pytest.importorskip("PIL.Image")
    with image.open(png) as picture:
        assert np.array_equal(np.asarray(picture), rgb(before.sow(0)))
    assert (rgb(before.sow(0)) != rgb(after)).any()
    assert run(capsys, "show", "--png", png, "--scale", 9)[0] == 2
    assert run(capsys, "show", "--svg", tmp_path / "no" / "x.svg")[0] == 1


def blocks(language: str) -> list[str]:
    """The examples of the page on seeing that are of a language."""
    page = DOCS / "seeing.md"
    found = re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert found
    return [str(block) for block in found]


def test_the_commands_of_the_page_draw_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "images").mkdir(parents=True)
    lines = [line for block in blocks("console long") for line in block.splitlines()]
    for line in lines:
        command = re.search(r"endodoi (show|replay|play .*--record)\b.*", line)
        if command is None:
            continue
        typed = re.match(r"printf '%s\\n' ([\d ]+) \|", line)
        if typed:
            monkeypatch.setattr("sys.stdin", io.StringIO(typed[1].replace(" ", "\n")))
        status, _, err = run(capsys, *shlex.split(command[0])[1:])
        assert (status, err) == (0, "")
    drawn = sorted((tmp_path / "docs" / "images").iterdir())
    assert len(drawn) == 3
    for picture in drawn:
        assert picture.read_text() == (DOCS / "images" / picture.name).read_text(), picture.name


def test_every_command_of_the_page_is_one() -> None:
    commands = re.findall(r"endodoi ((?:show|replay|play).*)", "\n".join(blocks("console long")))
    assert len(commands) >= 7
    for command in commands:
        options = make_parser().parse_args(shlex.split(command, comments=True))
        assert callable(options.run)


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("python"):
        exec(block, {})  # noqa: S102
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game.html", "game.svg"]


def test_data_of_a_move_names_the_pits_taken() -> None:
    start = ed.Position.start(ed.Ruleset(columns=6))
    # The worked example: 5 laps, the last seed in pit 2, 2 captured.
    move = move_data(start, 0)
    assert (move["last"], move["taken"], move["captured"]) == (2, [2, 9], 2)
    assert move["text"] == "South sows column 0, 5 laps, takes 2"
    # Clockwise laps are negative (S5).
    cross = move_data(ed.Position.start(ed.Ruleset("cross-endodoi")), 3)
    assert any(seeds < 0 for seeds in cross["laps"][1::2])
