"""A game line by line, for pipes and plain terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from endodoi.errors import EndodoiError
from endodoi.play_records import Records
from endodoi.shown_game import end_note, move_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from endodoi.play_game import Game

__all__ = ["play_lines"]

HELP = """\
  0 1 2 ...    play that column
  hint, h      what the moves are worth
  undo, u      take your last move back
  board, b     print the board again
  save, s      write the record of the game; a name may follow
  quit, q      leave
"""


class Lines:
    """A game that is played by lines of text.

    Parameters
    ----------
    game : Game
    lines : text file
        What is read.
    out : text file
        What is written to.
    records : Records
        Where ``save`` writes to.
    """

    def __init__(self, game: Game, lines: TextIO, out: TextIO, records: Records) -> None:
        self.game, self.lines, self.out, self.records = game, lines, out, records

    def say(self, text: str) -> None:
        """Write a line."""
        print(text, file=self.out, flush=True)

    def play(self) -> None:
        """Play until the game is over and the lines end, or the person leaves."""
        self.say(f"You are {self.game.side.capitalize()}, against {self.game.opponent}.")
        self.show()
        commands: dict[str, Callable[[str], None]] = {
            "hint": self.hint,
            "undo": self.undo,
            "board": lambda _: self.show(),
            "save": self.save,
            "help": lambda _: self.say(HELP.rstrip()),
        }
        self.answer()
        while (line := self.ask()) is not None:
            word, _, rest = line.strip().partition(" ")
            if not word:
                continue
            if word in ("quit", "q"):
                return
            try:
                if word.isascii() and word.isdigit():
                    self.move(int(word))
                    continue
                matches = [name for name in commands if name.startswith(word.lower())]
                if word == "?":
                    matches = ["help"]
                if len(matches) != 1:
                    self.say(f"{word!r} is neither a column nor a command; help lists them")
                    continue
                commands[matches[0]](rest.strip())
            except (EndodoiError, OSError) as error:
                self.say(str(error))

    def ask(self) -> str | None:
        """Read a line; None at their end."""
        position = self.game.position
        prompt = "over" if position.is_over else position.to_move.capitalize()
        print(f"{prompt}> ", end="", file=self.out, flush=True)
        line = self.lines.readline()
        if not line:
            self.say("")
            return None
        return line

    def show(self) -> None:
        """Write the board."""
        self.say(f"\n{self.game.position}\n")

    def sow(self, column: int) -> None:
        """Play a column and say what it did."""
        before = self.game.position
        self.game.play(column)
        data = move_data(before, column)
        self.say(f"{data['text']}.")
        self.show()
        note = end_note(before, [data], self.game.position)
        if note:
            self.say(note)

    def move(self, column: int) -> None:
        """Play the person's move, and the player's that follows."""
        self.sow(column)
        self.answer()

    def answer(self) -> None:
        """Play the player's move where it is its turn."""
        while self.game.is_opponents_turn:
            self.sow(self.game.choose())

    def hint(self, _rest: str) -> None:
        """Say what the moves are worth."""
        hint = self.game.hint()
        self.say(f"{hint.text[0].upper()}{hint.text[1:]}.")
        if len(hint.values) > 1:
            self.say("  ".join(f"{column}: {value}" for column, value in hint.values.items()))

    def undo(self, _rest: str) -> None:
        """Take the person's last move back."""
        self.game.undo()
        self.show()

    def save(self, name: str) -> None:
        """Write the record."""
        self.say(f"wrote {self.records.save(self.game, name or None)}")


def play_lines(game: Game, lines: TextIO, out: TextIO, *, records: Records | None = None) -> None:
    """Play a game by lines of text.

    Parameters
    ----------
    game : Game
    lines : text file
        Columns and commands, one a line.
    out : text file
        Where the game is written to.
    records : Records, optional
        Where ``save`` writes to.
    """
    Lines(game, lines, out, records or Records()).play()
