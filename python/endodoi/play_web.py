"""A game in the browser, served to this machine alone."""

from __future__ import annotations

import json
import secrets
import sys
import threading
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from endodoi._core import Position, Ruleset, __version__
from endodoi.errors import EndodoiError
from endodoi.play_game import Game, opponents_of
from endodoi.play_records import Records
from endodoi.replays import Replay
from endodoi.shown_game import end_note, move_data, position_data, rules_text
from endodoi.web_page import page

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PlayServer"]

#: The most bytes of a request.
MOST_BYTES = 10_000

#: Seconds that a connection may stay silent.
SILENCE = 60

#: What a new game takes.
NEW_FIELDS = {
    "opponent": str,
    "side": str,
    "variant": str,
    "columns": int,
    "seeds_per_pit": int,
}


class BadRequest(Exception):  # noqa: N818 - named as the protocol does
    """A request that is refused; its text says why."""

    def __init__(self, reason: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(reason)
        self.status = status


class Table:
    """The game that the pages of one server show, and what they may ask of it.

    One request at a time changes it.
    """

    def __init__(self, game: Game, records: Records) -> None:
        self.game, self.records = game, records
        self.moves: list[dict[str, Any]] = []
        self.number = 0
        self.lock = threading.Lock()

    def view(self) -> dict[str, Any]:
        """Return what a page shows."""
        game = self.game
        position = position_data(game.position)
        position["choosable"] = game.is_persons_turn
        before = game.positions[-2] if game.ply else game.position
        return {
            "game": self.number,
            "ply": game.ply,
            "columns": game.ruleset.columns,
            "variant": game.ruleset.variant,
            "seeds_per_pit": game.ruleset.seeds_per_pit,
            "rules": rules_text(game.ruleset),
            "players": list(game.players),
            "side": game.side,
            "opponent": game.opponent,
            "opponents": opponents_of(game.ruleset),
            "position": position,
            "moves": self.moves,
            "waiting": game.is_opponents_turn,
            "undo": game.can_undo,
            "note": end_note(before, self.moves, game.position),
        }

    def check(self, request: dict[str, Any]) -> None:
        """Refuse a request that is of another moment than this one."""
        at = {"game": self.number, "ply": self.game.ply}
        for name, value in at.items():
            given = whole(request, name)
            if given != value:
                raise BadRequest(
                    f"{name} is {given}, but the game here is at {value}: load it again"
                )

    def sow(self, column: int) -> dict[str, Any]:
        """Play a column and return the view after it."""
        before = self.game.position
        legal = before.legal_moves()
        if column not in legal:
            raise BadRequest(f"column is {column}, expected one of {legal}")
        move = move_data(before, column)
        self.game.play(column)
        self.moves.append(move)
        return self.view()

    def move(self, request: dict[str, Any]) -> dict[str, Any]:
        """Play the person's move."""
        self.check(request)
        if not self.game.is_persons_turn:
            raise BadRequest("it is not your turn")
        return self.sow(whole(request, "column"))

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """Let the player move."""
        self.check(request)
        if not self.game.is_opponents_turn:
            raise BadRequest("it is not the player's turn")
        return self.sow(self.game.choose())

    def undo(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take the person's last move back."""
        self.check(request)
        self.game.undo()
        del self.moves[self.game.ply :]
        return self.view()

    def hint(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what the moves are worth."""
        self.check(request)
        if not self.game.is_persons_turn:
            raise BadRequest("it is not your turn")
        hint = self.game.hint()
        return {
            "text": hint.text,
            "best": list(hint.best),
            "values": hint.values,
            "exact": hint.exact,
        }

    def new(self, request: dict[str, Any]) -> dict[str, Any]:
        """Begin another game."""
        for name, value in request.items():
            if name not in NEW_FIELDS:
                raise BadRequest(f"unknown field {name!r}, expected {', '.join(NEW_FIELDS)}")
            if type(value) is not NEW_FIELDS[name]:
                kind = "a whole number" if NEW_FIELDS[name] is int else "a text"
                raise BadRequest(f"{name} is {value!r}, expected {kind}")
        rules = {"variant", "columns", "seeds_per_pit"} & set(request)
        same = self.game.ruleset
        if not rules:
            start = self.game.positions[0]
        else:
            fields = {name: request[name] for name in rules}
            wanted = Ruleset(**{"variant": same.variant, **fields})
            sizes = ("variant", "columns", "seeds_per_pit")
            alike = all(getattr(wanted, name) == getattr(same, name) for name in sizes)
            start = self.game.positions[0] if alike else Position.start(wanted)
        begun = Game(
            request.get("opponent", self.game.opponent),
            side=request.get("side", self.game.side),
            start=start,
        )
        self.records.keep(self.game)
        self.game = begun
        self.moves = []
        self.number += 1
        return self.view()


def whole(request: dict[str, Any], name: str) -> int:
    """Return a whole number of a request.

    Raises
    ------
    BadRequest
        If it is none.
    """
    value = request.get(name)
    if type(value) is not int:
        raise BadRequest(f"{name} is {value!r}, expected a whole number")
    return value


class PlayServer:
    """Serves a game on the loopback address; the address has a secret part.

    Parameters
    ----------
    game : Game
        The first game.
    port : int, optional
        0, the default, takes a free one.
    records : Records, optional
        What keeps the games that are left for another one.

    Examples
    --------
    >>> from endodoi.play_game import Game
    >>> from endodoi.play_web import PlayServer
    >>> with PlayServer(Game("greedy")) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, game: Game, *, port: int = 0, records: Records | None = None) -> None:
        self.table = Table(game, records or Records())
        self.token = secrets.token_urlsafe(18)
        self.server = ThreadingHTTPServer(("127.0.0.1", port), self.handler())
        self.server.daemon_threads = True
        self.port: int = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/{self.token}/"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Return the class that answers requests to this server."""
        owner = self

        class Answers(Handler):
            play_server = owner

        return Answers

    def serve(self) -> None:
        """Answer requests until `close` is called from another thread, or a Ctrl-C."""
        self.server.serve_forever(poll_interval=0.2)

    def __enter__(self) -> PlayServer:  # noqa: PYI034
        """Answer requests in a thread."""
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        """End that."""
        self.server.shutdown()
        self.server.server_close()

    def page(self) -> bytes:
        """Return the page of the game."""
        with self.table.lock:
            view = self.table.view()
        text = page("play.html", ["board.js", "play.js"], view, title="endodoi", connect="'self'")
        return text.encode()

    def record(self) -> bytes:
        """Return the record of the game at hand."""
        with self.table.lock:
            return f"{self.table.game.record().to_json()}\n".encode()

    def replay(self) -> bytes:
        """Return the game at hand as a page."""
        with self.table.lock:
            record = self.table.game.record()
        return Replay([record]).html().encode()


class Handler(BaseHTTPRequestHandler):
    """Answers one request; only those that know the secret part of the address are heard."""

    play_server: PlayServer
    protocol_version = "HTTP/1.1"
    server_version = f"endodoi/{__version__}"
    sys_version = ""
    timeout = SILENCE

    def do_GET(self) -> None:
        """Answer with the page, the record or the replay."""
        server = self.play_server
        pages: dict[str, tuple[str, str | None, Callable[[], bytes]]] = {
            "": ("text/html; charset=utf-8", None, server.page),
            "record.jsonl": ("application/jsonl", "endodoi-game.jsonl", server.record),
            "replay.html": ("text/html; charset=utf-8", "endodoi-game.html", server.replay),
        }

        def answer() -> None:
            name = self.asked()
            if name not in pages:
                raise BadRequest("there is no such page", HTTPStatus.NOT_FOUND)
            kind, saved, make = pages[name]
            self.send(HTTPStatus.OK, kind, make(), saved=saved)

        self.guarded(answer)

    def do_POST(self) -> None:
        """Change the game as the request says."""

        def answer() -> None:
            name = self.asked()
            table = self.play_server.table
            changes = {
                "move": table.move,
                "reply": table.reply,
                "undo": table.undo,
                "hint": table.hint,
                "new": table.new,
            }
            if name not in changes:
                raise BadRequest("there is no such request", HTTPStatus.NOT_FOUND)
            request = self.body()
            with table.lock:
                found = changes[name](request)
            self.send_json(HTTPStatus.OK, found)

        self.guarded(answer)

    def asked(self) -> str:
        """Return what is asked for, once the request is known to come from the page.

        Raises
        ------
        BadRequest
            If it does not.
        """
        port = self.play_server.port
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            raise BadRequest("the request is for another host", HTTPStatus.FORBIDDEN)
        _, token, *rest = [*self.path.partition("?")[0].split("/"), ""]
        if not secrets.compare_digest(token.encode(), self.play_server.token.encode()):
            raise BadRequest("the address lacks its secret part", HTTPStatus.FORBIDDEN)
        return rest[0] if len(rest) == 2 else "/".join(rest)  # noqa: PLR2004 - and the end

    def body(self) -> dict[str, Any]:
        """Read the JSON object of a request.

        Raises
        ------
        BadRequest
            If it has none.
        """
        kind = (self.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind != "application/json":
            raise BadRequest(f"the content type is {kind!r}, expected 'application/json'")
        length = self.headers.get("Content-Length") or ""
        if not (length.isascii() and length.isdigit() and int(length) <= MOST_BYTES):
            raise BadRequest(f"the length is {length!r}, expected 0 to {MOST_BYTES}")
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise BadRequest(f"the request is not JSON: {error}") from error
        if not isinstance(request, dict):
            raise BadRequest(f"the request is {request!r:.60}, expected a JSON object")
        return request

    def guarded(self, answer: Callable[[], None]) -> None:
        """Answer, or say why not; whatever fails, the server goes on."""
        try:
            answer()
        except BadRequest as refusal:
            self.refuse(refusal.status, str(refusal))
        except EndodoiError as error:
            self.refuse(HTTPStatus.BAD_REQUEST, str(error))
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:  # noqa: BLE001 - told to the page and the terminal
            traceback.print_exc(file=sys.stderr)
            self.refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")

    def refuse(self, status: HTTPStatus, reason: str) -> None:
        """Send a reason; what was not read of the request goes with the connection."""
        self.close_connection = True
        try:
            self.send_json(status, {"error": reason})
        except (ConnectionError, TimeoutError):
            return

    def send_json(self, status: HTTPStatus, value: object) -> None:
        """Send a value as JSON."""
        self.send(status, "application/json", json.dumps(value).encode())

    def send(
        self, status: HTTPStatus, kind: str, content: bytes, *, saved: str | None = None
    ) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Referrer-Policy", "no-referrer")
        if saved is not None:
            self.send_header("Content-Disposition", f'attachment; filename="{saved}"')
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the library
        """Keep quiet: a page asks often."""
