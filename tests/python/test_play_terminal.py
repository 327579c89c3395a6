"""Games against a player in a terminal, with keys and by lines of text."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi.cli import main
from endodoi.play_game import Game
from endodoi.play_lines import play_lines
from endodoi.play_records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SIX = ed.Ruleset(columns=6)

#: Seconds that the slowest step may take.
PATIENCE = 60

LEFT, RIGHT = b"\x1bOD", b"\x1bOC"


class Terminal:
    """A terminal with the command in it, and what its screen shows."""

    def __init__(
        self, folder: Path, *arguments: str, size: tuple[int, int] = (80, 24), kind: str = "xterm"
    ) -> None:
        import pty  # noqa: PLC0415
        import termios  # noqa: PLC0415

        pyte: Any = pytest.importorskip("pyte")
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        self.ours, self.theirs = pty.openpty()
        self.before = termios.tcgetattr(self.theirs)
        self.set_size(*size)
        self.raw = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "endodoi", "play", *arguments],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            cwd=folder,
            env={**os.environ, "TERM": kind},
            start_new_session=True,
            preexec_fn=self.own_terminal,  # noqa: PLW1509 - no other thread is there
        )

    def own_terminal(self) -> None:
        """Make the terminal that of the process, so that it gets its signals."""
        import fcntl  # noqa: PLC0415
        import termios  # noqa: PLC0415

        fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)

    def set_size(self, width: int, height: int) -> None:
        import fcntl  # noqa: PLC0415
        import struct  # noqa: PLC0415
        import termios  # noqa: PLC0415

        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.screen.resize(height, width)

    def read(self, seconds: float) -> None:
        import select  # noqa: PLC0415

        if select.select([self.ours], [], [], seconds)[0]:
            try:
                piece = os.read(self.ours, 1 << 16)
            except OSError:
                # The other end is closed.
                time.sleep(seconds)
                return
            self.raw += piece
            self.stream.feed(piece)

    def wait(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < end, self.text()
            self.read(0.05)

    def wait_for(self, pattern: str) -> None:
        self.wait(lambda: re.search(pattern, self.text()) is not None)

    def text(self) -> str:
        return "\n".join(self.screen.display)

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def end(self) -> int:
        self.wait(lambda: self.process.poll() is not None)
        return self.process.wait()

    def is_as_before(self) -> bool:
        import termios  # noqa: PLC0415

        return termios.tcgetattr(self.theirs) == self.before

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str, **options: Any) -> Terminal:
        pytest.importorskip("curses")
        opened.append(Terminal(tmp_path, *arguments, **options))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def replies(*columns: int) -> ed.Position:
    """The position after columns of South, each answered by greedy."""
    game = Game("greedy", ruleset=SIX)
    for column in columns:
        game.play(column)
        game.play(game.choose())
    return game.position


def row_of(position: ed.Position, side: int) -> str:
    """The seeds of a row as the terminal shows them."""
    row = position.board[side].tolist()
    return r"\s+".join(map(str, row if side == 0 else row[::-1]))


def test_keys_play_a_game_and_q_leaves_the_terminal_as_it_was(
    open_terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    arguments = ("--opponent", "greedy", "--columns", "6", "--speed", "0", "--record", "game.jsonl")
    terminal = open_terminal(*arguments)
    terminal.wait_for("South to move")
    assert "[0] [1] [2] [3] [4] [5]" in terminal.text()
    terminal.press(b"2\n")
    once = replies(2)
    terminal.wait_for(row_of(once, 0))
    terminal.wait_for(row_of(once, 1))
    # The first legal column is chosen; one to the right of it is the next legal one.
    legal = once.legal_moves()
    terminal.press(RIGHT + RIGHT + LEFT + b"\n")
    twice = replies(2, legal[1])
    terminal.wait_for(row_of(twice, 0))
    terminal.press(b"u")
    terminal.wait_for("taken back")
    terminal.wait_for(row_of(once, 0))
    terminal.press(b"q")
    assert terminal.end() == 0
    assert terminal.is_as_before()
    record = ed.GameRecord.from_json((tmp_path / "game.jsonl").read_text())
    assert record.replay() == once.__class__.from_text(once.to_text(), SIX)
    assert record.players == ("you", "greedy")


def test_ctrl_c_leaves_the_terminal_as_it_was(
    open_terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    arguments = ("--opponent", "greedy", "--columns", "6", "--record", "game.jsonl")
    terminal = open_terminal(*arguments)
    terminal.wait_for("South to move")
    assert not terminal.is_as_before()
    # In the midst of a sowing.
    terminal.press(b"\n")
    terminal.wait_for("in hand")
    terminal.press(b"\x03")
    assert terminal.end() == 130
    assert terminal.is_as_before()
    assert b"Traceback" not in terminal.raw
    # It goes back from the other screen.
    assert b"\x1b[?1049l" in terminal.raw
    assert len(ed.GameRecord.from_json((tmp_path / "game.jsonl").read_text())) == 0


@pytest.mark.parametrize(("key", "status"), [(b"q", 0), (b"\x03", 130)])
def test_a_player_that_thinks_for_long_can_be_left(
    open_terminal: Callable[..., Terminal], key: bytes, status: int
) -> None:
    arguments = ("--opponent", "alphabeta:60", "--columns", "12", "--speed", "0")
    terminal = open_terminal(*arguments, "--side", "north", size=(60, 24))
    terminal.wait_for("alphabeta:60 is thinking")
    # The screen follows meanwhile.
    terminal.set_size(90, 24)
    os.kill(terminal.process.pid, signal.SIGWINCH)
    terminal.wait_for(r"11\s+10\s+9\s+8\s+7\s+6\s+5")
    terminal.press(key)
    assert terminal.end() == status
    assert terminal.is_as_before()
    assert b"Traceback" not in terminal.raw


def test_north_chooses_as_the_board_lies(open_terminal: Callable[..., Terminal]) -> None:
    position = ed.Position.from_board(
        [0, 0, 0, 1], [1, 2, 3, 4], to_move="north", ruleset=ed.Ruleset(columns=4)
    )
    arguments = ("--opponent", "greedy", "--columns", "4", "--side", "north", "--speed", "0")
    terminal = open_terminal(*arguments, "--position", position.to_text())
    terminal.wait_for(r"\[3\] \[2\] \[1\] \[0\]")
    # Column 3 is on the left; one to the right of it is column 2.
    terminal.press(b"3" + RIGHT + b"\n")
    game = Game("greedy", start=position, side="north")
    game.play(2)
    game.play(game.choose())
    terminal.wait_for(row_of(game.position, 1))
    terminal.wait_for(row_of(game.position, 0))
    terminal.press(b"q")
    assert terminal.end() == 0


def test_a_sowing_is_shown_lap_by_lap_and_any_key_ends_it(
    open_terminal: Callable[..., Terminal],
) -> None:
    terminal = open_terminal("--opponent", "greedy", "--columns", "6", "--speed", "0.4")
    terminal.wait_for("South to move")
    terminal.press(b"0\n")
    terminal.wait_for("South sows column 0: lap 1 of 5, 2 in hand")
    terminal.wait_for("lap 2 of 5")
    terminal.press(b"x")
    terminal.wait_for("North sows column .: lap 1")
    terminal.press(b"x")
    terminal.wait_for(row_of(replies(0), 0))


def test_a_large_board_follows_the_size_of_the_window(
    open_terminal: Callable[..., Terminal],
) -> None:
    arguments = ("--opponent", "random", "--variant", "en-gehe", "--seed", "1", "--speed", "0")
    terminal = open_terminal(*arguments)
    terminal.wait_for("South to move")
    assert r"[49]" in terminal.text()
    # Typed digits choose a column of two digits.
    terminal.press(b"31")
    terminal.press(b"\n")
    terminal.wait_for("North sows column")
    terminal.press(b"h")
    terminal.wait_for("column .* looks best")
    terminal.set_size(80, 19)
    os.kill(terminal.process.pid, signal.SIGWINCH)
    # Empty lines give way.
    terminal.wait_for("column .* looks best")
    for width, height, shown in ((40, 20, "window larger"), (250, 24, r"\[1\].*\[49\]")):
        terminal.set_size(width, height)
        os.kill(terminal.process.pid, signal.SIGWINCH)
        terminal.wait_for(shown)
    terminal.press(b"q")
    assert terminal.end() == 0


def test_hints_saved_records_and_new_games(
    open_terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    arguments = ("--opponent", "greedy", "--columns", "3", "--seeds-per-pit", "2", "--speed", "0")
    terminal = open_terminal(*arguments, "--hint")
    best = ed.solve(ed.Position.start(ed.Ruleset(columns=3, seeds_per_pit=2))).best_moves
    assert best == (1, 2)
    terminal.wait_for(r"columns 1 and 2 are best: north wins by 2 \(proven\)")
    terminal.press(b"\n")
    terminal.wait_for("North sows|no legal move")
    terminal.press(b"s")
    terminal.wait_for("wrote endodoi-game-1.jsonl")
    saved = ed.GameRecord.from_json((tmp_path / "endodoi-game-1.jsonl").read_text())
    assert saved.moves[0] == best[0]
    terminal.press(b"n")
    terminal.wait_for("a new game")
    terminal.wait_for(r"2\s+2\s+2")
    terminal.press(b"u")
    terminal.wait_for("no move of yours")
    terminal.press(b"1\n")
    terminal.wait_for("North sows|no legal move")
    terminal.press(b"s")
    terminal.wait_for("wrote endodoi-game-1.jsonl")
    terminal.press(b"q")
    assert terminal.end() == 0
    both = list(ed.replays.read_records(tmp_path / "endodoi-game-1.jsonl"))
    assert both[0] == saved
    assert both[1].moves[0] == 1


@pytest.mark.parametrize("kind", ["dumb", "no-such-terminal"])
def test_a_terminal_without_a_cursor_is_played_by_lines(
    open_terminal: Callable[..., Terminal], kind: str
) -> None:
    terminal = open_terminal("--opponent", "greedy", "--columns", "3", kind=kind)
    terminal.wait_for("South> ")
    terminal.press(b"quit\n")
    assert terminal.end() == 0


# ---- lines


def lines(text: str, game: Game | None = None) -> str:
    """What a game answers to lines."""
    out = io.StringIO()
    play_lines(game or Game("greedy", ruleset=SIX), io.StringIO(text), out)
    return out.getvalue()


def test_lines_play_a_game() -> None:
    game = Game("greedy", ruleset=SIX)
    text = lines("2\nundo\n4\n", game)
    assert "South sows column 2, 5 laps, takes 7." in text
    assert re.search(r"North sows column \d", text)
    assert game.position == replies(4)
    assert text.endswith("South> \n")


def test_lines_that_say_nothing_known_are_answered() -> None:
    text = lines("fly\n\n77\nh x\nundo\n?\nboard\nq\n3\n")
    assert "'fly' is neither a column nor a command" in text
    assert "column is 77, expected 0 to 5" in text
    assert "there is no move of yours to take back" in text
    assert "hint, h" in text
    assert "sows" not in text


def test_north_waits_for_south_and_plays_to_the_end() -> None:
    game = Game("greedy", ruleset=ed.Ruleset(columns=2, seeds_per_pit=2), side="north")
    text = lines("0\n1\n" * 60, game)
    assert text.startswith("You are North, against greedy.")
    assert game.position.is_over
    assert "over> " in text
    assert "the game is over" in text.partition("over> ")[2]
    assert "(E" in text


def test_a_hint_is_proven_where_the_solver_is_quick_and_searched_elsewhere() -> None:
    rules = ed.Ruleset(columns=3)
    start = ed.Position.start(rules)
    hint = Game("greedy", ruleset=rules).hint()
    known = ed.analyse(start)
    assert hint.exact
    assert hint.best == known.best_moves
    assert hint.values == {move.column: f"{move.value:+d}" for move in known}
    assert hint.text == "column 1 is best: south wins by 4 (proven)"
    large = Game("random", ruleset=ed.Ruleset("en-gehe")).hint()
    assert not large.exact
    assert large.best[0] in range(50)
    assert "not proven" in large.text
    draws = Game("random", ruleset=ed.Ruleset(columns=4, endless="draw")).hint()
    assert not draws.exact


def test_an_agent_plays_the_rules_that_it_knows() -> None:
    game = Game("agent:en-dodoi-2x6")
    assert game.ruleset == ed.policies.Agent.load("en-dodoi-2x6").ruleset
    with pytest.raises(ed.PolicyError):
        Game("agent:en-dodoi-2x6", ruleset=ed.Ruleset(columns=7))
    with pytest.raises(ed.PolicyError):
        Game("nobody")
    with pytest.raises(ed.ArgumentValueError, match="side is 'west'"):
        Game("greedy", side="west")
    assert Game("greedy").ruleset == ed.Ruleset()
    assert {Game("greedy", side="random", seed=seed).side for seed in (0, 1)} == {"south", "north"}


def test_the_same_seed_draws_the_same_moves() -> None:
    games = [Game("random", ruleset=SIX, seed=seed) for seed in (5, 5, 6)]
    for game in games:
        for _ in range(10):
            game.play(game.choose())
    assert games[0].columns == games[1].columns != games[2].columns


def test_the_games_of_a_sitting_go_to_one_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = Game("greedy", ruleset=SIX), Game("greedy", ruleset=SIX)
    first.play(2)
    second.play(3)
    records = Records()
    assert [records.save(first) for _ in range(2)] == ["endodoi-game-1.jsonl"] * 2
    # A game without a move is not kept.
    records.keep(Game("greedy", ruleset=SIX))
    records.keep(first)
    assert records.save(second) == "endodoi-game-1.jsonl"
    both = [first.record(), second.record()]
    assert list(ed.replays.read_records("endodoi-game-1.jsonl")) == both
    assert Records().save(first) == "endodoi-game-2.jsonl"
    with pytest.raises(FileExistsError, match="name a new one"):
        records.save(second, "endodoi-game-2.jsonl")
    with pytest.raises(FileExistsError, match="name a new one"):
        Records("endodoi-game-1.jsonl")
    assert list(ed.replays.read_records("endodoi-game-1.jsonl")) == both
    assert main(["play", "--opponent", "greedy", "--record", "endodoi-game-1.jsonl"]) == 1


def test_the_command_reads_lines_without_a_terminal(tmp_path: Path) -> None:
    arguments = ["--opponent", "greedy", "--columns", "6", "--record", "game.jsonl"]
    done = subprocess.run(
        [sys.executable, "-m", "endodoi", "play", *arguments],
        input="2\nsave other.jsonl\nquit\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote other.jsonl" in done.stdout
    assert done.stdout.endswith("wrote game.jsonl\n")
    first, second = (
        ed.GameRecord.from_json((tmp_path / name).read_text())
        for name in ("game.jsonl", "other.jsonl")
    )
    assert first == second
    assert first.moves[0] == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--opponent", "nobody"), "nobody"),
        (("--side", "west"), "side is 'west', expected south, north or random"),
        (("--speed", "-1"), "speed is -1.0, expected 0 to 1000"),
        (("--port", "70000"), "port is 70000, expected 0 to 65535"),
        (("--columns", "99"), "columns"),
    ],
)
def test_wrong_options_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], reason: str
) -> None:
    assert main(["play", *arguments]) == 2
    assert reason in capsys.readouterr().err
