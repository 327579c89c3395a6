"""Many games between two players, one row a game."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from endodoi import _core
from endodoi.errors import ArgumentTypeError, MissingExtraError, SimulationError
from endodoi.policies import CorePolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from endodoi._core import Ruleset
    from endodoi.policies import PolicyFunction

__all__ = ["GameTable", "Mean", "Share", "Summary", "simulate"]

#: Seconds before progress is shown, and between two updates.
QUIET_SECONDS, UPDATE_SECONDS = 1.0, 0.2


@dataclass(frozen=True)
class Share:
    """A share of all games with its 95 % interval (Wilson).

    Attributes
    ----------
    count : int
        Games of this kind.
    share, low, high : float
        Their share and the ends of its interval, 0 to 1.
    """

    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Mean:
    """A mean with the half-width of its normal 95 % interval.

    Attributes
    ----------
    mean, half : float
        `half` is infinite with fewer than two games.
    """

    mean: float
    half: float


@dataclass(frozen=True)
class Summary:
    """What many games say together; its text is a table.

    Attributes
    ----------
    games : int
    south_wins, north_wins, draws, cut : Share
        Cut games are neither won nor drawn (E4).
    plies, captured_south, captured_north, captures : Mean
        Of a game.
    laps_per_sowing, seeds_per_sowing : Mean
        Endless sowings are left out.
    longest_sowing : int
        Laps of the longest sowing that ended.
    endless_met : Mean
        Endless sowings a game that were drawn and refused, or played (S6).
    end_reasons : dict of str to int
        Games by how they ended.
    offers : Share or None
        Games in which some turn offered an endless sowing; None unless it was counted.
    """

    games: int
    south_wins: Share
    north_wins: Share
    draws: Share
    cut: Share
    plies: Mean
    captured_south: Mean
    captured_north: Mean
    captures: Mean
    laps_per_sowing: Mean
    seeds_per_sowing: Mean
    longest_sowing: int
    endless_met: Mean
    end_reasons: dict[str, int]
    offers: Share | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as nested dictionaries that JSON can hold."""
        numbers: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name == "text":
                continue
            if isinstance(value, (Share, Mean)):
                # JSON has no infinity.
                fields = vars(value).items()
                numbers[name] = {key: x if np.isfinite(x) else None for key, x in fields}
            else:
                numbers[name] = value
        return numbers

    def __str__(self) -> str:
        """Return the table of all numbers."""
        return self.text


class GameTable:
    """Games as columns, one row a game in game order; made by `simulate`.

    ================ ===== ====================================================================
    column           dtype meaning
    ================ ===== ====================================================================
    winner           int8  1 South, -1 North, 0 a draw or a cut game
    captured_south   int16 seeds captured by South at the end
    captured_north   int16 seeds captured by North at the end
    plies            int32 plies of both sides, opening plies included
    laps             int32 laps of all sowings; an endless sowing adds none
    seeds_sown       int32 seeds dropped in all sowings; an endless sowing adds none
    captures         int32 plies that captured
    longest_sowing   int32 laps of the longest sowing that ended
    endless_met      int32 endless sowings drawn and refused by a random player, or played (S6)
    end_reason       int8  index of `END_REASONS`
    offers           int32 turns that offered an endless sowing; only if they were counted
    ================ ===== ====================================================================
    """

    #: Names of the codes in ``end_reason``.
    END_REASONS: ClassVar[tuple[str, ...]] = tuple(_core.GameTable.END_REASONS)

    def __init__(
        self, core: _core.GameTable, again: Callable[[], _core.GameTable] | None = None
    ) -> None:
        self._core = core
        self._again = again

    def summary(self, *, offers: bool = False) -> Summary:
        """Sum the games up, with 95 % intervals.

        Parameters
        ----------
        offers : bool
            Also report how many games offered an endless sowing. Unless `simulate` counted them,
            the games are played again and every candidate move is simulated.

        Raises
        ------
        SimulationError
            If offers were not counted and the table does not know its games, as after unpickling.
        """
        core = self._core
        if offers and len(self) > 0 and not self._core.counted_offers:
            if self._again is None:
                raise SimulationError(
                    "the offers of endless sowings were not counted: simulate with offers=True",
                    field="offers",
                )
            core = self._again()
        numbers, text = core.summary()
        fields: dict[str, Any] = {}
        for name, value in numbers.items():
            if isinstance(value, dict) and "share" in value:
                fields[name] = Share(**value)
            elif isinstance(value, dict) and "half" in value:
                fields[name] = Mean(**value)
            else:
                fields[name] = value
        return Summary(**fields, text=text)

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns as new arrays [B], by name."""
        return self._core.to_numpy()

    def to_arrow(self) -> pa.Table:
        """Return a pyarrow table.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        """
        try:
            import pyarrow as pa  # noqa: PLC0415
        except ImportError as error:
            raise missing("pyarrow", "arrow") from error
        return pa.table(self.to_numpy())

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415
        except ImportError as error:
            raise missing("pandas", "pandas") from error
        return pd.DataFrame(self.to_numpy())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        try:
            import polars as pl  # noqa: PLC0415
        except ImportError as error:
            raise missing("polars", "polars") from error
        return pl.DataFrame(self.to_numpy())

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, under a temporary name that is then renamed.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        """
        try:
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError as error:
            raise missing("pyarrow", "arrow") from error
        partial = f"{os.fspath(path)}.partial"
        pq.write_table(self.to_arrow(), partial)
        os.replace(partial, path)  # noqa: PTH105

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        """Compare all columns."""
        return isinstance(other, GameTable) and self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[GameTable], tuple[_core.GameTable]]:
        """Pickle the columns."""
        return GameTable, (self._core,)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<GameTable of {len(self)} games>"


def simulate(
    games: int,
    *,
    ruleset: Ruleset,
    south: str | PolicyFunction = "random",
    north: str | PolicyFunction = "random",
    seed: int = 0,
    num_threads: int | None = None,
    random_opening_plies: int = 0,
    max_plies: int | None = None,
    offers: bool = False,
    progress: bool | Callable[[int], object] | None = None,
) -> GameTable:
    """Play many games between two players.

    Game i depends on (seed, i) alone: never on threads, speed or platform.

    Parameters
    ----------
    games : int
        Games to play.
    ruleset : Ruleset
        The rules of every game.
    south, north : str or policy
        A specification (``random``, ``greedy``, ``alphabeta:N``,
        ``agent:FILE_OR_RUN_DIR[@sims=N|@none]``), a policy of `endodoi.policies`, or your own
        function ``(observations [B, 2C+3], action_masks [B, C]) -> actions [B]``. A function is
        called on a worker thread, with all games that wait for it. A player that chooses an
        illegal column or raises loses that game, with the end ``illegal`` or ``error``. Players of
        the package draw from the streams of the games.
    seed : int
        Seed of all games, 0 to 2^64 - 1.
    num_threads : int, optional
        Threads; by default as many as the process may use.
    random_opening_plies : int
        Plies drawn uniformly over legal moves at the start of each game.
    max_plies : int, optional
        Plies after which a game is cut, opening plies included (E4).
    offers : bool
        Count the turns that offer an endless sowing, which means to simulate every move.
    progress : bool or callable, optional
        A function called with the games finished, several times a second; True shows them on the
        error output, False does not; by default they are shown on a terminal.

    Returns
    -------
    GameTable

    Raises
    ------
    SimulationError
        If an argument is outside its range.
    PolicyError
        If a player cannot be made.
    KeyboardInterrupt
        On Ctrl-C; its attribute ``table`` holds the games finished before.

    Examples
    --------
    >>> import endodoi as ed
    >>> table = ed.simulate(1000, ruleset=ed.Ruleset(columns=6), seed=1)
    >>> len(table), table.to_numpy()["winner"].dtype.name
    (1000, 'int8')
    """
    if not isinstance(ruleset, _core.Ruleset):
        raise ArgumentTypeError(
            f"ruleset is {ruleset!r} ({type(ruleset).__name__}), expected a Ruleset",
            field="ruleset",
            value=ruleset,
        )

    def play(*, offers: bool) -> _core.GameTable:
        with Progress(games, progress) as shown:
            table, interruption = _core.simulate(
                games,
                ruleset,
                contestant(south, "south"),
                contestant(north, "north"),
                seed=seed,
                random_opening_plies=random_opening_plies,
                max_plies=max_plies,
                num_threads=num_threads,
                offers=offers,
                progress=shown.function,
            )
        if interruption is not None:
            interruption.table = GameTable(table)  # type: ignore[attr-defined]
            raise interruption
        return table

    return GameTable(play(offers=offers), lambda: play(offers=True))


class Progress:
    """Shows the games finished on the error output, or passes them to a function."""

    def __init__(self, games: int, progress: bool | Callable[[int], object] | None) -> None:
        self.games = games
        self.began = self.shown = time.monotonic()
        self.open = False
        self.function: Callable[[int], object] | None
        if callable(progress):
            self.function = progress
        elif progress or (progress is None and sys.stderr.isatty()):
            self.function = self.show
        else:
            self.function = None

    def show(self, finished: int) -> None:
        """Write the games finished over the line before."""
        now = time.monotonic()
        if now - self.began < QUIET_SECONDS or now - self.shown < UPDATE_SECONDS:
            return
        self.shown, self.open = now, True
        rate = finished / (now - self.began)
        sys.stderr.write(f"\r{finished:,} of {self.games:,} games, {rate:,.0f} each second ")
        sys.stderr.flush()

    def __enter__(self) -> Progress:  # noqa: PYI034
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.open:
            sys.stderr.write("\n")


def contestant(player: str | PolicyFunction, side: str) -> str | PolicyFunction:
    """Return a player as the core takes it: a specification or a function.

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    """
    if isinstance(player, CorePolicy):
        return player.spec
    if isinstance(player, str) or callable(player):
        return player
    raise ArgumentTypeError(
        f"{side} is {player!r} ({type(player).__name__}), expected a specification or a function",
        field=side,
        value=player,
    )


def missing(package: str, extra: str) -> MissingExtraError:
    """Return the error that names the extra which brings a package."""
    return MissingExtraError(
        f"{package} is not installed: pip install 'endodoi[{extra}]'", extra=extra
    )
