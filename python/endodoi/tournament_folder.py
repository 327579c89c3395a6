"""The folder of a tournament: settings, the records of what is finished, results."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from typing import TYPE_CHECKING, Any

from endodoi._core import GameRecord, Games, __version__
from endodoi.errors import ArenaError, EndodoiError
from endodoi.places import claim, folder_at, held_back, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from endodoi.standings import Standings
    from endodoi.tournament import Tournament

    Span = tuple[int, int, int, int]

__all__ = ["Folder"]

#: The file of the settings.
SETTINGS = "tournament.json"

#: Folders of the records, one file for each chunk, and of what is not in records: times, failures.
RECORDS, NOTES = "records", "notes"

#: The name of a chunk's files: the two players, the first pair, the pair after the last.
CHUNK = re.compile(r"([0-9]{3,})-([0-9]{3,})-([0-9]{7,})-([0-9]{7,})")

#: What to do where the settings are lost.
ANEW = "put it back, name another folder, or remove the folder to begin anew"


class Folder:
    """The folder of a tournament, held by one process at a time.

    Every chunk that is finished has two files of the same name, one line for each game: its notes,
    and its records, which are written last and make the chunk finished. Each is written under a
    temporary name and renamed, so that a process may be killed at any moment.

    Parameters
    ----------
    path : path
        The folder, made if need be.
    settings : dict
        What is to be played.

    Raises
    ------
    ArenaError
        If it holds another tournament; the message names the setting.
    ArgumentTypeError
        If it is no path.
    OSError
        If it is empty, a file or cannot be written to, or another process plays there.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = folder_at(path)
        self.settings = json.loads(json.dumps({"version": __version__, **settings}))
        for folder in (RECORDS, NOTES):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        self.claimed = claim(str(self.path / ".lock"))
        try:
            self.compare()
            self.clean()
            write_text(self.path / SETTINGS, json.dumps(self.settings, indent=1) + "\n")
        except BaseException:
            self.release()
            raise

    def clean(self) -> None:
        """Remove what a killed process has left: temporary files, and notes without records."""
        left = list(self.path.glob(".*.partial"))
        for folder in (RECORDS, NOTES):
            left += (self.path / folder).glob(".*.partial")
        for notes in (self.path / NOTES).glob("*.jsonl"):
            if not (self.path / RECORDS / notes.name).is_file():
                left.append(notes)
        for path in left:
            path.unlink()

    def compare(self) -> None:
        """Refuse a folder whose tournament is another one, or has more games already."""
        path = self.path / SETTINGS
        if not path.is_file():
            if any((self.path / RECORDS).glob("*.jsonl")):
                raise damaged(path, "missing, though there are records of games", ANEW)
            return
        try:
            found: Any = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise damaged(path, f"damaged: {error}", ANEW) from error
        if not isinstance(found, dict) or type(found.get("games")) is not int:
            raise damaged(path, "damaged: it tells no number of games", ANEW)
        for name in {**self.settings, **found}:
            before, now = found.get(name), self.settings.get(name)
            if before == now or (name == "games" and before < now):
                continue
            what = f"{name} was {before!r} there and is {now!r} now"
            if name == "agents" and isinstance(before, dict) and isinstance(now, dict):
                what = changed_file(before, now)
            raise ArenaError(f"{self.path} holds another tournament: {what}", field=name, value=now)

    def read(self, plan: Tournament) -> tuple[list[Games], list[Span]]:
        """Return the games of all finished chunks, and the chunks.

        Raises
        ------
        ArenaError
            If a file is damaged or no part of the tournament; the message names it.
        """
        parts, done = [], []
        pairings = set(plan.pairings)
        last_read: Span | None = None
        for records in sorted((self.path / RECORDS).glob("*.jsonl")):
            notes = self.path / NOTES / records.name
            if not notes.is_file():
                continue
            chunk = chunk_of(records, pairings, plan.games // 2)
            if last_read is not None and chunk[:2] == last_read[:2] and chunk[2] < last_read[3]:
                raise damaged(records, "no part of this tournament: another file holds its games")
            last_read = chunk
            try:
                lines = lines_of(records)
                part = Games.of_records(lines, lines_of(notes))
                check_games(lines, part, chunk, plan)
            except (ValueError, EndodoiError) as error:
                raise damaged(records, f"damaged: {error}") from error
            parts.append(part)
            done.append(chunk)
        return parts, done

    def write(self, chunks: Sequence[Span], plan: Tournament, games: Games) -> None:
        """Write finished chunks, whose games come one chunk after the other."""
        records, notes = plan._core.records(games)  # noqa: SLF001
        place = 0
        for a, b, first, last in chunks:
            name = f"{a:03}-{b:03}-{first:07}-{last:07}.jsonl"
            end = place + 2 * (last - first)
            with held_back():
                for folder, lines in ((NOTES, notes), (RECORDS, records)):
                    text = "".join(f"{line}\n" for line in lines[place:end])
                    write_text(self.path / folder / name, text)
            place = end

    def write_results(self, standings: Standings) -> None:
        """Write the results: JSON, Markdown and, where their libraries are, Parquet and picture."""
        standings.write_json(self.path / "standings.json")
        write_text(self.path / "standings.md", standings.to_markdown())
        if importlib.util.find_spec("pyarrow") is not None:
            standings.write_parquet(self.path / "games.parquet")
        if importlib.util.find_spec("matplotlib") is not None:
            standings.plot(self.path / "standings.png")

    def release(self) -> None:
        """Let other processes play here."""
        if self.claimed is not None:
            os.close(self.claimed)
            self.claimed = None

    def __enter__(self) -> Folder:  # noqa: PYI034
        """Begin."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Release the folder."""
        self.release()


def changed_file(before: dict[str, str], now: dict[str, str]) -> str:
    """Say whose file is not the one that played before."""
    player = next(one for one in {**before, **now} if before.get(one) != now.get(one))
    return (
        f"the file of {player} had the SHA-256 {before.get(player)} there and has "
        f"{now.get(player)} now"
    )


def damaged(path: Path, what: str, way: str | None = None) -> ArenaError:
    """Return the error of a file that cannot be gone on from."""
    way = way or "without it these games are played again"
    return ArenaError(f"{path} is {what}; {way}", field="out", value=str(path))


def chunk_of(records: Path, pairings: set[tuple[int, int]], pairs: int) -> Span:
    """Return the chunk that a file is named after.

    Raises
    ------
    ArenaError
        If it is no part of the tournament.
    """
    found = CHUNK.fullmatch(records.stem)
    if found is not None:
        a, b, first, last = map(int, found.groups())
        if (a, b) in pairings and first < last <= pairs:
            return a, b, first, last
    raise damaged(records, "no part of this tournament", "move it elsewhere")


def check_games(lines: list[str], games: Games, chunk: Span, plan: Tournament) -> None:
    """Refuse records that are not those of a chunk's games.

    Raises
    ------
    ValueError
        If a game is missing, or has other players, rules or another opening.
    """
    a, b, first, last = chunk
    columns = games.to_numpy()
    keys = zip(*(columns[name].tolist() for name in ("a", "b", "pair", "south")), strict=True)
    expected = [(a, b, pair, south) for pair in range(first, last) for south in (0, 1)]
    if list(keys) != expected:
        raise ValueError(f"the notes are not of the two games of each pair from {first} to {last}")
    for place, (line, (_, _, pair, south)) in enumerate(zip(lines, expected, strict=True)):
        record = GameRecord.from_json(line)
        start, moves = plan.opening(pair)
        names = (plan.names[a], plan.names[b])
        for name, found, wanted in (
            ("players", record.players, names if south == 0 else names[::-1]),
            ("rules", record.ruleset, start.ruleset),
            ("start", record.start, start.to_text()),
            ("opening", record.moves[: len(moves)], moves),
            ("plies of the opening", columns["opening_plies"][place], len(moves)),
        ):
            if found != wanted:
                raise ValueError(f"line {place + 1} has the {name} {found}, expected {wanted}")


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file; a text in them may hold any other separator of lines."""
    text = path.read_text(encoding="utf-8").removesuffix("\n")
    return text.split("\n") if text else []
