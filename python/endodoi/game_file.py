"""Games as Parquet files, written part by part."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from endodoi._core import __version__
from endodoi.extras import missing
from endodoi.places import check_place, claim, held_back

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ROWS", "GameFile", "kept_text", "load_arrow", "read_games"]

#: The key of the settings in a file's metadata.
KEY = "endodoi"

#: Games of a row group: the file does not depend on how fast they were played.
ROWS = 1 << 17


class GameFile:
    """A Parquet file of games, written under a temporary name and renamed when it is complete.

    Parameters
    ----------
    path : path
        The file; one of that name is replaced.
    settings : dict
        What was played; it is kept in the metadata under ``endodoi`` as JSON, with the version.
    offers : bool
        Whether there is a column ``offers``.
    partial : str, optional
        The temporary name; by default that of the file with ``.partial`` at the end.

    Attributes
    ----------
    failed : bool
        Whether some games could not be written.
    is_complete : bool
        Whether the file has its name.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    OSError
        If the folder does not exist or cannot be written to, the name is that of a folder or a
        device, or another simulation is writing the same file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: dict[str, Any],
        *,
        offers: bool,
        partial: str | None = None,
    ) -> None:
        self.path = check_place(path)
        pa, pq = load_arrow()
        self.arrow = pa
        self.partial = f"{self.path}.partial" if partial is None else partial
        self.failed = self.is_complete = False
        kept = {KEY: kept_text(settings)}
        self.schema = schema_of(pa, offers=offers).with_metadata(kept)
        self.claimed = claim(self.partial)
        try:
            self.writer = pq.ParquetWriter(self.partial, self.schema)
        except BaseException:
            self.drop()
            raise

    def write(self, columns: dict[str, npt.NDArray[Any]]) -> None:
        """Append games as row groups."""
        try:
            arrays = [self.arrow.array(columns[name]) for name in self.schema.names]
            table = self.arrow.Table.from_arrays(arrays, schema=self.schema)
            if not len(table):
                return
            self.writer.write_table(table, row_group_size=ROWS)
        except BaseException:
            self.failed = True
            raise

    def complete(self) -> None:
        """Close the file and give it its name; a Ctrl-C waits until that is done."""
        with held_back():
            self.writer.close()
            os.replace(self.partial, self.path)  # noqa: PTH105
            self.is_complete = True
            self.release()

    def drop(self) -> None:
        """Remove the temporary file."""
        with suppress(FileNotFoundError):
            os.remove(self.partial)  # noqa: PTH107
        self.release()

    def release(self) -> None:
        """Let other writers claim the temporary name."""
        if self.claimed is not None:
            os.close(self.claimed)
            self.claimed = None

    def __enter__(self) -> GameFile:  # noqa: PYI034
        """Begin."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Remove what was written, unless the file is complete."""
        if self.is_complete:
            return
        with held_back():
            try:
                self.writer.close()
            finally:
                self.drop()


def load_arrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet files.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise missing("pyarrow", "arrow") from error
    return pa, pq


def kept_text(settings: dict[str, Any]) -> str:
    """Return what the metadata of a file say of its games, as JSON."""
    return json.dumps({"version": __version__, **settings}, default=str)


def read_games(path: str | os.PathLike[str]) -> tuple[dict[str, npt.NDArray[Any]], str]:
    """Return the columns of a file, or of a folder of files by their names, and what was played.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    OSError
        If there is no such file.
    ValueError
        If it holds no games.
    """
    _, pq = load_arrow()
    table = pq.read_table(os.fspath(path))
    kept = (table.schema.metadata or {}).get(KEY.encode())
    if kept is None:
        raise ValueError(f"{os.fspath(path)} holds no games of endodoi")
    return {name: table[name].to_numpy() for name in table.column_names}, kept.decode()


def schema_of(pa: Any, *, offers: bool) -> Any:
    """Return the columns with their types."""
    columns = {
        "winner": pa.int8(),
        "captured_south": pa.int16(),
        "captured_north": pa.int16(),
        "plies": pa.int32(),
        "laps": pa.int32(),
        "seeds_sown": pa.int32(),
        "captures": pa.int32(),
        "longest_sowing": pa.int32(),
        "endless_met": pa.int32(),
        "end_reason": pa.int8(),
    }
    if offers:
        columns["offers"] = pa.int32()
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])
