"""Recorded games to be looked at: as pages, in notebooks, as pictures that move."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from endodoi._core import GameRecord, Position, Ruleset, svg_of_game
from endodoi.errors import ArgumentValueError, RecordError
from endodoi.extras import missing
from endodoi.numbers_given import wrong_type
from endodoi.pictures import rgb
from endodoi.places import written_whole
from endodoi.shown_game import end_line, game_data
from endodoi.web_page import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["MOST_GAMES", "Replay", "read_records", "replay"]

#: What `replay` takes.
Records: TypeAlias = "GameRecord | str | os.PathLike[str] | Sequence[GameRecord]"

#: The most games of one page.
MOST_GAMES = 200

#: The most pits of one page, those of all its positions together.
MOST_PITS = 2_000_000

#: The most pixels of a GIF that shows every lap, those of all frames together.
MOST_PIXELS = 100_000_000

#: Colours of a GIF.
COLOURS = 255

#: Seconds of a frame of a GIF: within a sowing, at rest, and at the end.
LAP_SECONDS, REST_SECONDS, END_SECONDS = 0.35, 1.0, 4.0


class Replay:
    """Games to be looked at; a notebook shows them with controls.

    Made by `replay`.

    Parameters
    ----------
    records : sequence of GameRecord
        One game or more, at most 200.

    Examples
    --------
    >>> import endodoi as ed
    >>> start = ed.Position.start(ed.Ruleset(columns=2, seeds_per_pit=1))
    >>> shown = ed.replay(ed.GameRecord.of_moves(start, [0]))
    >>> shown
    <Replay of 1 game>
    >>> shown.html().startswith("<!DOCTYPE html>"), "<animate " in shown.svg()
    (True, True)
    """

    def __init__(self, records: Sequence[GameRecord]) -> None:
        self.records = tuple(records)
        if not 1 <= len(self.records) <= MOST_GAMES:
            raise ArgumentValueError(
                f"records has {len(self.records)} games, expected 1 to {MOST_GAMES}",
                field="records",
                value=len(self.records),
                low=1,
                high=MOST_GAMES,
            )

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return one HTML page that needs nothing else, and write it if a path is given.

        Sowings are shown seed by seed; buttons, a slider, the list of moves and keys lead through
        the game.

        Parameters
        ----------
        path : path, optional
            The file to write.

        Raises
        ------
        ArgumentValueError
            If the games together are too long for a page.
        OSError
            If the file cannot be written.
        """
        pits = sum(2 * one.ruleset.columns * (len(one) + 1) for one in self.records)
        if pits > MOST_PITS and len(self) > 1:
            raise ArgumentValueError(
                f"the games have {pits:,} pits to show, a page at most {MOST_PITS:,}: choose some",
                field="records",
                value=len(self),
            )
        games = [game_data(record) for record in self.records]
        south, north = self.records[0].players
        title = f"{south} – {north}" if len(games) == 1 else f"{len(games)} games"  # noqa: RUF001
        text = page("replay.html", ["board.js", "replay.js"], games, title=f"{title} · endodoi")
        write(path, text)
        return text

    def svg(self, path: str | os.PathLike[str] | None = None, *, game: int = 0) -> str:
        """Return a game as one SVG that moves without a script, and write it if a path is given.

        Parameters
        ----------
        path : path, optional
            The file to write.
        game : int
            Which game, from 0.

        Raises
        ------
        ArgumentValueError
            If there is no such game.
        OSError
            If the file cannot be written.
        """
        record = self.record(game)
        start = Position.from_text(record.start, record.ruleset)
        text = svg_of_game(start, record.moves, end=end_line(record, record.replay()))
        write(path, text)
        return text

    def gif(self, path: str | os.PathLike[str], *, game: int = 0, laps: bool | None = None) -> None:
        """Write a game as a GIF.

        Parameters
        ----------
        path : path
            The file.
        game : int
            Which game, from 0.
        laps : bool, optional
            Whether there is a frame for every lap, or for every ply alone; by default every lap,
            unless that takes more than 100 million pixels (some 600 frames of 2x6).

        Raises
        ------
        MissingExtraError
            If Pillow is not installed; it comes with matplotlib.
        ArgumentValueError
            If there is no such game.
        OSError
            If the file cannot be written.
        """
        try:
            from PIL import Image  # noqa: PLC0415
        except ImportError as error:
            raise missing("Pillow", "plot") from error
        record = self.record(game)
        if laps is None:
            start = Position.from_text(record.start, record.ruleset)
            shown = sum(1 for _ in frames(record, laps=True, drawn=False))
            laps = shown * rgb(start).size <= 3 * MOST_PIXELS
        pictures, seconds = [], []
        # A capture has every colour that boards have.
        capture: Any = Position.start(Ruleset(columns=6)).sow(0)
        palette = Image.fromarray(rgb(capture)).quantize(COLOURS)
        for picture, time in frames(record, laps=laps):
            image = Image.fromarray(picture)
            pictures.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
            seconds.append(int(1000 * time))
        with written_whole(path) as partial:
            pictures[0].save(
                partial,
                format="GIF",
                save_all=True,
                append_images=pictures[1:],
                duration=seconds,
                loop=0,
            )

    def record(self, game: int) -> GameRecord:
        """Return one of the games.

        Raises
        ------
        ArgumentValueError
            If there is no such game.
        """
        if not 0 <= game < len(self.records):
            raise ArgumentValueError(
                f"game is {game}, expected 0 to {len(self.records) - 1}",
                field="game",
                value=game,
                low=0,
                high=len(self.records) - 1,
            )
        return self.records[game]

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame that can reach nothing of the notebook."""
        columns = max(record.ruleset.columns for record in self.records)
        # What a cell of usual width needs: bands get narrow pits before they get more.
        height = 640 + 60 * -(-columns // 16)
        return (
            f'<iframe srcdoc="{html.escape(self.html())}" sandbox="allow-scripts" '
            f'title="Replay" style="width:100%;height:{height}px;border:0"></iframe>'
        )

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.records)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Replay of {len(self)} game{'s' if len(self) > 1 else ''}>"


def replay(records: Records) -> Replay:
    """Show recorded games: as a page, in a notebook, or as a picture that moves.

    Parameters
    ----------
    records : GameRecord, sequence of GameRecord, or path
        The games, or a file of them with one JSON object a line; at most 200.

    Raises
    ------
    RecordError
        If a line of the file is no record; the message names line, field and value.
    ArgumentTypeError
        If it is something else.
    ArgumentValueError
        If there are no games, or too many of them.
    OSError
        If the file cannot be read.
    """
    if isinstance(records, GameRecord):
        return Replay([records])
    if isinstance(records, (str, os.PathLike)):
        # One more than can be shown tells that there are too many.
        return Replay(list(islice(read_records(records), MOST_GAMES + 1)))
    if not isinstance(records, Iterable):
        raise wrong_type(records, "records", "a GameRecord, a list of them or the path of a file")
    games = list(records)
    for place, game in enumerate(games):
        if not isinstance(game, GameRecord):
            raise wrong_type(game, f"records[{place}]", "a GameRecord")
    return Replay(games)


def read_records(path: str | os.PathLike[str]) -> Iterator[GameRecord]:
    """Read the records of a file, one JSON object a line; blank lines are passed over.

    Raises
    ------
    RecordError
        If a line is no record; the message names line, field and value.
    OSError
        If the file cannot be read.
    """
    with open(path, "rb") as lines:  # noqa: PTH123
        yield from records_of(lines, os.fsdecode(path))


def records_of(lines: Iterable[bytes], name: str) -> Iterator[GameRecord]:
    """Read the records of lines; `name` is where they come from."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield GameRecord.from_json(line.decode("utf-8").rstrip("\r\n"))
        except RecordError as error:
            raise RecordError(
                f"{name}, line {number}: {error}", **{**vars(error), "line": number}
            ) from error
        except UnicodeDecodeError as error:
            raise RecordError(
                f"{name}, line {number}: the line is not UTF-8", field="json", line=number
            ) from error


def frames(
    record: GameRecord, *, laps: bool, drawn: bool = True
) -> Iterator[tuple[npt.NDArray[np.uint8], float]]:
    """Draw a game frame by frame; return each with its seconds.

    Parameters
    ----------
    record : GameRecord
    laps : bool
        Whether the board after every lap is shown.
    drawn : bool
        False counts the frames: all of them are the first one then.
    """
    position = Position.from_text(record.start, record.ruleset)
    first = rgb(position)
    yield first, REST_SECONDS
    for ply, column in enumerate(record.moves):
        after = position.play(column)
        if laps:
            for board, line in boards_of(position, column):
                shown = rgb(board, status=line) if drawn else first
                yield shown, LAP_SECONDS
        last = ply + 1 == len(record.moves)
        status = end_line(record, after) if last else None
        way: Any = position.sow(column)
        shown = rgb(way, status=status) if drawn else first
        yield shown, END_SECONDS if last else REST_SECONDS
        position = after


def boards_of(position: Position, column: int) -> Iterator[tuple[Position, str]]:
    """Return the board at the end of each lap of a sowing, with a line that tells the lap."""
    sowing = position.sow(column)
    pits = position.board.reshape(-1).copy()
    columns = position.ruleset.columns
    trace = sowing.trace()
    for place, (lap, pit, seeds) in enumerate(trace):
        pits[pit] = seeds
        if place + 1 < len(trace) and trace[place + 1][0] == lap:
            continue
        # A board without a move would be settled (E1): the next one at rest shows it.
        board = Position.from_board(
            pits[:columns],
            pits[columns:],
            to_move=position.to_move,
            captured=position.captured,
            ruleset=position.ruleset,
        )
        if not board.is_over:
            mover = position.to_move.capitalize()
            of = "without end" if sowing.end == "endless" else f"of {sowing.laps}"
            yield board, f"{mover} sows column {column}: lap {lap} {of}"


def write(path: str | os.PathLike[str] | None, text: str) -> None:
    """Write a text as a whole, if there is a path."""
    if path is None:
        return
    with (
        written_whole(path) as partial,
        open(partial, "w", encoding="utf-8", newline="\n") as file,  # noqa: PTH123
    ):
        file.write(text)
