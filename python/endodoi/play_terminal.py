"""A game in the terminal, with keys."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from endodoi.errors import EndodoiError
from endodoi.play_records import Records
from endodoi.shown_game import end_note, move_data, status_line, title

try:
    import curses
except ImportError:  # pragma: no cover - not on every system
    HAS_CURSES = False
else:
    HAS_CURSES = True

if TYPE_CHECKING:
    from collections.abc import Callable

    from endodoi._core import Position
    from endodoi.play_game import Game, Hint

__all__ = ["can_play", "play_terminal"]

#: Seconds of a seed dropped, of a lift, of a capture, and of a whole sowing at most.
DROP, LIFT, TAKE, MOST_SOWING = 0.09, 0.22, 0.6, 5.0

#: Width of the names of the rows.
NAMES = 7

HELP = "arrows or digits choose  enter plays  u undo  h hint  s save  n new  q quit"
SHORT_HELP = "enter u h s n q"

#: Keys that play the column chosen.
ENTER = (10, 13, ord(" "))


def can_play() -> bool:
    """Whether this system and its terminal have what a game with keys needs."""
    if not HAS_CURSES:
        return False
    try:
        curses.setupterm()
        return curses.tigetstr("cup") is not None
    except curses.error:
        return False


class Left(Exception):  # noqa: N818 - no error
    """The person leaves."""


class Screen:
    """A game on a terminal.

    Parameters
    ----------
    window
        The whole terminal.
    game : Game
    again : callable
        What makes a new game.
    records : Records
        Where the records go to.
    speed : float
        How fast sowings are shown; 0 shows their ends alone.
    """

    def __init__(
        self,
        window: Any,
        game: Game,
        again: Callable[[], Game],
        *,
        records: Records,
        speed: float,
    ) -> None:
        self.window, self.game, self.again = window, game, again
        self.records, self.speed = records, speed
        self.chosen: int | None = None
        self.digits = ""
        self.message = ""
        self.hinted: Hint | None = None
        self.pits: list[int] = []
        self.captured: list[int] = []
        self.line = ""
        self.hand: int | None = None
        self.marks: dict[int, int] = {}
        window.keypad(True)
        with contextlib.suppress(curses.error):
            curses.curs_set(0)

    # ---- the picture

    def rest(self) -> None:
        """Show the position at hand."""
        position = self.game.position
        self.pits = position.board.reshape(-1).tolist()
        self.captured = list(position.captured)
        self.line = status_line(position)
        self.hand = None
        self.digits = ""
        legal = position.legal_moves()
        if self.chosen not in legal:
            self.chosen = legal[0] if legal else None
        self.draw()

    def draw(self) -> None:
        """Draw everything."""
        height, width = self.window.getmaxyx()
        self.window.erase()
        lines = self.picture(width)
        if len(lines) > height:
            lines = [line for line in lines if line]
        needed = len(lines)
        if needed > height or width < self.least_width():
            text = f"make the window larger: {self.least_width()} x {needed} at least"
            self.put(0, 0, text[: max(width - 1, 0)], 0)
        else:
            for row, parts in enumerate(lines):
                column = 0
                for text, style in parts:
                    self.put(row, column, text, style)
                    column += len(text)
        self.window.refresh()

    def put(self, row: int, column: int, text: str, style: int) -> None:
        """Write a text where there is room for it."""
        height, width = self.window.getmaxyx()
        if row < height and column < width:
            with contextlib.suppress(curses.error):
                self.window.addnstr(row, column, text, width - column, style)

    def cell(self) -> int:
        """Return the width of a pit."""
        values = self.hinted.values.values() if self.hinted else ()
        longest = max([len(str(max(self.pits))), len(str(self.columns - 1)), *map(len, values)])
        return max(longest + 2, 4)

    @property
    def columns(self) -> int:
        """The columns of the board."""
        return self.game.ruleset.columns

    def least_width(self) -> int:
        """Return the width that a board of four columns a band needs."""
        return NAMES + min(self.columns, 4) * self.cell() + 1

    def picture(self, width: int) -> list[list[tuple[str, int]]]:
        """Return the lines of the picture: texts with their styles."""
        south, north = self.game.players
        cell = self.cell()
        band = max(min((width - NAMES - 1) // cell, self.columns), 1)
        band = -(-self.columns // -(-self.columns // band))
        lines = [
            [(f"South: {south}    North: {north}", curses.A_BOLD)],
            [],
            [(f"North captured {self.captured[1]}", self.owner_style("north"))],
        ]
        for first in range(0, self.columns, band):
            places = range(first, min(first + band, self.columns))
            upper = [2 * self.columns - 1 - place for place in places]
            lower = list(places)
            if self.is_hinted(upper):
                lines.append(self.hint_row(upper, cell))
            lines += [
                self.label_row("North", upper, cell),
                self.seed_row(upper, cell),
                self.seed_row(lower, cell),
                self.label_row("South", lower, cell),
            ]
            if self.is_hinted(lower):
                lines.append(self.hint_row(lower, cell))
            lines.append([])
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        keys = HELP if width > len(HELP) else SHORT_HELP
        return [
            *lines,
            [(f"South captured {self.captured[0]}", self.owner_style("south"))],
            [],
            [(self.line, 0)],
            [(self.message, curses.A_BOLD)],
            [(keys, curses.A_DIM)],
        ]

    def owner_style(self, side: str) -> int:
        """Return the style of a side's captures."""
        position = self.game.position
        moves = not position.is_over and position.to_move == side
        return int(curses.A_BOLD if moves else curses.A_NORMAL)

    def label_row(self, name: str, pits: list[int], cell: int) -> list[tuple[str, int]]:
        """Return the numbers of columns; those that may be played are in brackets."""
        parts = [(f"{name:<{NAMES}}", self.owner_style(name.lower()))]
        position = self.game.position
        legal = position.legal_moves() if self.game.is_persons_turn and self.hand is None else []
        for pit in pits:
            column = pit % self.columns
            mine = (pit < self.columns) == (position.to_move == "south")
            if mine and column in legal:
                style = curses.A_REVERSE if column == self.chosen else curses.A_BOLD
                text = f"[{column}]"
                parts += [(" " * (cell - len(text)), 0), (text, style)]
            else:
                parts.append((f"{column:>{cell - 1}} ", curses.A_DIM))
        return parts

    def seed_row(self, pits: list[int], cell: int) -> list[tuple[str, int]]:
        """Return the seeds of pits."""
        parts = [(" " * NAMES, 0)]
        for pit in pits:
            style = self.marks.get(pit, curses.A_NORMAL)
            if pit == self.hand:
                style = curses.A_REVERSE
            text = str(self.pits[pit])
            parts += [(" " * (cell - 1 - len(text)), 0), (text, style), (" ", 0)]
        return parts

    def is_hinted(self, pits: list[int]) -> bool:
        """Whether something is known of the moves of some of these pits."""
        side = 0 if self.game.position.to_move == "south" else 1
        known = self.hinted.values if self.hinted else {}
        return any(pit // self.columns == side and pit % self.columns in known for pit in pits)

    def hint_row(self, pits: list[int], cell: int) -> list[tuple[str, int]]:
        """Return what is known of the moves of pits."""
        parts = [(" " * NAMES, 0)]
        hint = self.hinted
        for pit in pits:
            column = pit % self.columns
            text = hint.values.get(column, "") if hint else ""
            style = curses.A_BOLD if hint and column in hint.best else curses.A_DIM
            parts += [(f"{text:>{cell - 1}}", style), (" ", 0)]
        return parts

    # ---- time

    def wait(self, seconds: float) -> bool:
        """Wait for a while; True when a key ends it."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            key = self.key(left)
            if key is None:
                continue
            if key == curses.KEY_RESIZE:
                self.draw()
                continue
            if key == ord("q"):
                raise Left
            return True
        return False

    def key(self, seconds: float | None) -> int | None:
        """Read a key; None where there is none in that time."""
        self.window.timeout(-1 if seconds is None else max(int(1000 * seconds), 1))
        key: int = self.window.getch()
        return None if key == -1 else key

    def while_busy(self, what: str, work: Callable[[], Any]) -> Any:
        """Do some work beside the screen, which can be left or made larger meanwhile."""
        found: list[Any] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                found.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(0.05)
        self.line = what
        if thread.is_alive():
            self.draw()
        while thread.is_alive():
            self.wait(0.05)
        if failed:
            raise failed[0]
        return found[0]

    # ---- moves

    def sow(self, column: int) -> None:
        """Play a column and show its sowing, which any key brings to its end."""
        before = self.game.position
        data = move_data(before, column)
        self.hinted = None
        self.message = ""
        self.chosen = None
        if self.speed > 0:
            self.show_sowing(before, column, data)
        self.game.play(column)
        self.marks = {data["laps"][0]: curses.A_UNDERLINE}
        if data["last"] is not None:
            self.marks[data["last"]] = curses.A_BOLD | curses.A_UNDERLINE
        note = end_note(before, [data], self.game.position)
        self.message = f"{data['text']}. {note}".rstrip()
        self.rest()

    def show_sowing(self, position: Position, column: int, data: dict[str, Any]) -> None:
        """Show a sowing seed by seed."""
        self.pits = position.board.reshape(-1).tolist()
        self.marks = {data["laps"][0]: curses.A_UNDERLINE}
        pits = len(self.pits)
        laps = list(zip(data["laps"][::2], data["laps"][1::2], strict=True))
        total = sum(LIFT + abs(seeds) * DROP for _, seeds in laps)
        faster = min(1.0, MOST_SOWING / total) / self.speed
        of = "without end" if data["cut"] else f"of {len(laps)}"
        name = f"{title(position.to_move)} sows column {column}"
        for lap, (pit, seeds) in enumerate(laps, 1):
            step = 1 if seeds > 0 else -1
            for drop in range(abs(seeds) + 1):
                at = (pit + step * drop) % pits
                self.pits[at] = self.pits[at] + 1 if drop else 0
                self.hand = at
                self.line = f"{name}: lap {lap} {of}, {abs(seeds) - drop} in hand"
                self.draw()
                if self.wait(faster * (DROP if drop else LIFT)):
                    return
        if data["taken"]:
            for pit in data["taken"]:
                self.pits[pit] = 0
            self.captured[data["mover"]] += data["captured"]
            self.line = f"{name}: takes {data['captured']}"
            self.draw()
            self.wait(TAKE / self.speed)

    def move_choice(self, step: int) -> None:
        """Choose the next legal column to the right or left of the picture."""
        legal = self.game.position.legal_moves()
        if not legal:
            return
        shown = legal if self.game.side == "south" else legal[::-1]
        if self.chosen not in shown:
            self.chosen = shown[0]
            return
        self.chosen = shown[(shown.index(self.chosen) + step) % len(shown)]

    def type_digit(self, digit: str) -> None:
        """Choose a column by its number; a second digit within it goes on."""
        legal = self.game.position.legal_moves()
        typed = self.digits + digit
        if not any(str(column).startswith(typed) for column in legal):
            typed = digit
        self.digits = typed
        if int(typed) in legal:
            self.chosen = int(typed)
            self.message = ""
        elif not any(str(column).startswith(typed) for column in legal):
            self.message = f"column {typed} cannot be played"
            self.digits = ""

    def take(self, key: int) -> None:
        """Do what a key says."""
        game = self.game
        if key in (curses.KEY_LEFT, curses.KEY_RIGHT) and game.is_persons_turn:
            self.move_choice(1 if key == curses.KEY_RIGHT else -1)
            self.digits = ""
        elif ord("0") <= key <= ord("9") and game.is_persons_turn:
            self.type_digit(chr(key))
        elif key in (*ENTER, curses.KEY_ENTER) and game.is_persons_turn:
            if self.chosen is not None:
                self.sow(self.chosen)
        elif key == ord("u"):
            game.undo()
            self.marks, self.hinted, self.message = {}, None, "taken back"
            self.rest()
        elif key == ord("h") and game.is_persons_turn:
            self.message = ""
            self.hinted = self.while_busy("looking for a hint ...", game.hint)
            self.message = self.hinted.text
            self.chosen = self.hinted.best[0]
            self.line = status_line(game.position)
        elif key == ord("s"):
            self.message = f"wrote {self.records.save(game)}"
        elif key == ord("n"):
            self.records.keep(game)
            self.game = self.again()
            self.marks, self.hinted, self.message = {}, None, "a new game"
            self.rest()

    def run(self, *, hint: bool) -> Game:
        """Play until the person leaves; return the last game.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, with the last game as its attribute ``game``.
        """
        try:
            with contextlib.suppress(Left):
                self.rest()
                if hint:
                    self.take(ord("h"))
                while True:
                    self.turn()
        except KeyboardInterrupt as interrupt:
            interrupt.game = self.game  # type: ignore[attr-defined]
            raise
        return self.game

    def turn(self) -> None:
        """Let the player move where it is its turn, or do what one key says."""
        if self.game.is_opponents_turn:
            thinking = f"{self.game.opponent} is thinking ..."
            self.sow(self.while_busy(thinking, self.game.choose))
            return
        self.draw()
        key = self.key(None)
        if key is None:
            return
        if key == ord("q"):
            raise Left
        try:
            self.take(key)
        except (EndodoiError, OSError) as error:
            self.message = str(error)


def play_terminal(
    game: Game,
    again: Callable[[], Game],
    *,
    records: Records | None = None,
    speed: float = 1.0,
    hint: bool = False,
) -> Game:
    """Play games in this terminal until the person leaves; return the last one.

    Parameters
    ----------
    game : Game
    again : callable
        What makes a new game.
    records : Records, optional
        Where the records go to.
    speed : float
        How fast sowings are shown; 0 shows their ends alone.
    hint : bool
        Whether it begins with a hint.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, with the last game as its attribute ``game``.
    """

    def play(window: Any) -> Game:
        kept = records or Records()
        screen = Screen(window, game, again, records=kept, speed=speed)
        return screen.run(hint=hint)

    shown: Game = curses.wrapper(play)
    return shown
