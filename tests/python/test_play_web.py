"""The server of a game in the browser, asked without one."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

import endodoi as ed
from endodoi.play_game import Game, opponents_of
from endodoi.play_web import PlayServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIX = ed.Ruleset(columns=6)


@pytest.fixture
def server() -> Iterator[PlayServer]:
    with PlayServer(Game("greedy", ruleset=SIX, seed=1)) as server:
        yield server


def ask(
    server: PlayServer,
    method: str,
    path: str,
    body: bytes | None = None,
    **headers: str,
) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def post(server: PlayServer, what: str, request: object) -> tuple[int, Any]:
    path = f"/{server.token}/{what}"
    body = json.dumps(request).encode()
    status, text, _ = ask(server, "POST", path, body, Content_Type="application/json")
    return status, json.loads(text)


def at(server: PlayServer, **more: object) -> dict[str, object]:
    return {"game": server.table.number, "ply": server.table.game.ply, **more}


def test_a_game_is_played_by_requests(server: PlayServer) -> None:
    game = server.table.game
    status, view = post(server, "move", at(server, column=2))
    assert status == 200
    assert view["ply"] == 1
    assert view["waiting"]
    assert not view["position"]["choosable"]
    assert view["moves"][0]["column"] == 2
    assert view["position"]["pits"] == game.position.board.reshape(-1).tolist()
    status, view = post(server, "reply", at(server))
    assert (status, view["ply"], view["waiting"]) == (200, 2, False)
    status, hint = post(server, "hint", at(server))
    assert status == 200
    assert set(hint["best"]) <= set(game.position.legal_moves())
    status, view = post(server, "undo", at(server))
    assert (status, view["ply"], view["moves"], view["undo"]) == (200, 0, [], False)
    assert game.position == ed.Position.start(SIX)


def test_the_page_holds_the_game(server: PlayServer) -> None:
    status, text, headers = ask(server, "GET", f"/{server.token}/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    page = text.decode()
    assert "connect-src 'self'" in page
    data = page.partition('id="view">')[2].partition("</script>")[0]
    assert json.loads(data)["players"] == ["you", "greedy"]


def test_record_and_replay_are_handed_out(server: PlayServer) -> None:
    post(server, "move", at(server, column=2))
    status, text, headers = ask(server, "GET", f"/{server.token}/record.jsonl")
    assert status == 200
    assert "attachment" in headers["Content-Disposition"]
    assert ed.GameRecord.from_json(text.decode().strip()) == server.table.game.record()
    status, text, _ = ask(server, "GET", f"/{server.token}/replay.html")
    assert status == 200
    assert text.decode() == ed.replay(server.table.game.record()).html()


def test_only_the_page_is_heard(server: PlayServer) -> None:
    good = f"/{server.token}/"
    json_type = {"Content_Type": "application/json"}
    body = json.dumps(at(server, column=2)).encode()
    for path in ("/", "/x/", f"/{server.token[:-1]}/", "/move", f"/x{server.token}/move"):
        assert ask(server, "GET", path)[0] == 403
        assert ask(server, "POST", path, body, **json_type)[0] == 403
    # A name that leads here from elsewhere.
    assert ask(server, "GET", good, Host=f"evil.example:{server.port}")[0] == 403
    assert ask(server, "POST", f"{good}move", body, Host="evil.example", **json_type)[0] == 403
    # What a form of another page could send.
    status, text, _ = ask(server, "POST", f"{good}move", body, Content_Type="text/plain")
    assert (status, "content type" in text.decode()) == (400, True)
    assert ask(server, "GET", f"{good}other")[0] == 404
    assert ask(server, "GET", f"{good}../../etc/passwd")[0] == 404
    assert ask(server, "POST", f"{good}other", b"{}", **json_type)[0] == 404
    assert ask(server, "PUT", good)[0] == 501
    assert server.table.game.ply == 0


@pytest.mark.parametrize(
    ("what", "request_", "reason"),
    [
        ("move", {"game": 0, "ply": 0}, "column is None, expected a whole number"),
        ("move", {"game": 0, "ply": 0, "column": "2"}, "column is '2'"),
        ("move", {"game": 0, "ply": 0, "column": True}, "column is True"),
        ("move", {"game": 0, "ply": 0, "column": 6}, "column is 6, expected one of"),
        ("move", {"game": 0, "ply": 1, "column": 2}, "ply is 1, but the game here is at 0"),
        ("move", {"game": 3, "ply": 0, "column": 2}, "game is 3, but the game here is at 0"),
        ("reply", {"game": 0, "ply": 0}, "not the player's turn"),
        ("undo", {"game": 0, "ply": 0}, "no move of yours"),
        ("new", {"opponent": "nobody"}, "nobody"),
        ("new", {"opponent": 3}, "opponent is 3, expected a text"),
        ("new", {"columns": 65}, "columns"),
        ("new", {"columns": 7, "opponent": "agent:en-dodoi-2x6"}, "7"),
        ("new", {"side": "west"}, "side is 'west'"),
        ("new", {"colour": "red"}, "unknown field 'colour'"),
        ("hint", [], "expected a JSON object"),
    ],
)
def test_bad_requests_get_400_with_the_reason_and_change_nothing(
    server: PlayServer, what: str, request_: object, reason: str
) -> None:
    status, answer = post(server, what, request_)
    assert status == 400
    assert reason in answer["error"]
    assert (server.table.game.ply, server.table.number) == (0, 0)
    assert post(server, "move", at(server, column=2))[0] == 200


def test_requests_that_are_no_json_or_too_long_are_refused(server: PlayServer) -> None:
    path = f"/{server.token}/move"
    kind = {"Content_Type": "application/json"}
    for body in (b"{", b"\xff", b"", b"[" * 9000):
        status, text, _ = ask(server, "POST", path, body, **kind)
        assert status == 400
        assert "not JSON" in json.loads(text)["error"]
    for length in ("10001", "-1", "many"):
        status, text, _ = ask(server, "POST", path, b"{}", Content_Length=length, **kind)
        assert status == 400
        assert "length" in json.loads(text)["error"]
    assert post(server, "move", at(server, column=2))[0] == 200


def test_a_failure_is_told_and_the_server_goes_on(
    server: PlayServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    post(server, "move", at(server, column=2))

    def fail() -> int:
        raise RuntimeError("out of luck")

    with monkeypatch.context() as patched:
        patched.setattr(server.table.game, "choose", fail)
        status, answer = post(server, "reply", at(server))
        assert (status, answer) == (500, {"error": "RuntimeError: out of luck"})
        assert "out of luck" in capsys.readouterr().err
    assert post(server, "reply", at(server))[0] == 200


def test_one_of_many_equal_requests_is_played(server: PlayServer) -> None:
    request = at(server, column=2)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(server, "move", request)[0], range(16)))
    assert sorted(answers) == [200] + [400] * 15
    assert server.table.game.columns == [2]


def test_another_game_begins(server: PlayServer) -> None:
    post(server, "move", at(server, column=2))
    request = {"opponent": "random", "side": "north", "columns": 4, "seeds_per_pit": 2}
    status, view = post(server, "new", request)
    assert status == 200
    assert (view["game"], view["ply"], view["moves"], view["waiting"]) == (1, 0, [], True)
    assert view["players"] == ["random", "you"]
    assert view["position"]["pits"] == [2] * 8
    assert post(server, "new", {"variant": "cross-endodoi"})[1]["variant"] == "cross-endodoi"


def test_rules_that_the_page_does_not_name_stay() -> None:
    rules = ed.Ruleset(columns=4, lone_capture="taken", quiet_limit=9)
    with PlayServer(Game("greedy", ruleset=rules)) as server:
        request = {"side": "north", "variant": "en-dodoi", "columns": 4, "seeds_per_pit": 4}
        assert post(server, "new", request)[0] == 200
        assert server.table.game.ruleset == rules


def test_agents_of_the_rules_are_offered() -> None:
    agent = ed.policies.Agent.load("en-dodoi-2x6")
    assert agent.ruleset is not None
    assert "agent:en-dodoi-2x6" in opponents_of(agent.ruleset)
    assert not any("agent:" in name for name in opponents_of(ed.Ruleset(columns=3)))
    for name in opponents_of(agent.ruleset):
        assert Game(name, ruleset=agent.ruleset).choose() in range(6)


def test_the_command_opens_the_browser_at_its_page(tmp_path: Path) -> None:
    script = tmp_path / "browser.py"
    script.write_text(
        "import sys, pathlib, urllib.request\n"
        "with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:\n"
        "    text = f'{answer.status} {answer.read()[:15].decode()}'\n"
        "pathlib.Path('new.txt').write_text(text)\n"
        "pathlib.Path('new.txt').rename('seen.txt')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "endodoi", "play", "--opponent", "greedy", "--web"],
        cwd=tmp_path,
        env={**os.environ, "BROWSER": f"{sys.executable} {script} %s"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seen = tmp_path / "seen.txt"
    end = time.monotonic() + 60
    while not seen.exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 0
    assert seen.read_text() == "200 <!DOCTYPE html>"


def test_the_command_serves_until_ctrl_c_and_writes_the_record(tmp_path: Path) -> None:
    arguments = ["--opponent", "greedy", "--columns", "6", "--web", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-m", "endodoi", "play", *arguments, "--record", "game.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = urlsplit(process.stdout.readline().removeprefix("open ").strip())
    assert address.hostname == "127.0.0.1"
    assert address.port is not None
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
    body = json.dumps({"game": 0, "ply": 0, "column": 2})
    connection.request("POST", f"{address.path}move", body, {"Content-Type": "application/json"})
    assert connection.getresponse().status == 200
    connection.close()
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "wrote game.jsonl\n")
    assert "Traceback" not in err
    assert ed.GameRecord.from_json((tmp_path / "game.jsonl").read_text()).moves == [2]
