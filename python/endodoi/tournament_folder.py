"""The folder of a tournament: settings, the records of what is finished, results."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi._core import Games, __version__
from endodoi.errors import ArenaError, EndodoiError
from endodoi.places import claim, held_back, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from endodoi.standings import Standings
    from endodoi.tournament import Tournament

    Span = tuple[int, int, int, int]

__all__ = ["Folder"]

#: The file of the settings.
SETTINGS = "tournament.json"

#: Folders of the records, one file for each chunk, and of what is not in records: times, failures.
RECORDS, NOTES = "records", "notes"


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
    OSError
        If it cannot be written to, or another process plays there.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = Path(path)
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
            return
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ArenaError(f"{path} is damaged: {error}", field="out", value=str(path)) from error
        for name in {**self.settings, **found}:
            before, now = found.get(name), self.settings.get(name)
            if before == now or (name == "games" and before < now):
                continue
            what = f"{name} was {before!r} there and is {now!r} now"
            if name == "agents" and isinstance(before, dict) and isinstance(now, dict):
                what = changed_file(before, now)
            raise ArenaError(f"{self.path} holds another tournament: {what}", field=name, value=now)

    def read(self) -> tuple[list[Games], list[Span]]:
        """Return the games of all finished chunks, and the chunks."""
        parts, done = [], []
        for records in sorted((self.path / RECORDS).glob("*.jsonl")):
            notes = self.path / NOTES / records.name
            if not notes.is_file():
                continue
            try:
                a, b, first, last = map(int, records.stem.split("-"))
                part = Games.of_records(lines_of(records), lines_of(notes))
            except (ValueError, EndodoiError) as error:
                raise ArenaError(
                    f"{records} is damaged: {error}; without it these games are played again",
                    field="out",
                    value=str(records),
                ) from error
            parts.append(part)
            done.append((a, b, first, last))
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


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()
