"""Many games between two players, one row a game."""

from __future__ import annotations

import json
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, overload

from endodoi import _core
from endodoi.core_policy import contestant, name_of
from endodoi.errors import SimulationError
from endodoi.frames import pandas_frame, polars_frame
from endodoi.game_file import ROWS, GameFile, load_arrow, read_games
from endodoi.progress import Progress
from endodoi.settings import check_ruleset
from endodoi.summary import Branching, Histogram, Mean, Sample, Share, SideSummary, Summary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from endodoi._core import Ruleset
    from endodoi.policies import PolicyFunction

__all__ = [
    "Branching",
    "GameTable",
    "Histogram",
    "Mean",
    "Sample",
    "Share",
    "SideSummary",
    "Summary",
    "simulate",
]


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

    Attributes
    ----------
    settings : dict
        What was played: ruleset, players, seed and the like.
    """

    #: Names of the codes in ``end_reason``.
    END_REASONS: ClassVar[tuple[str, ...]] = tuple(_core.GameTable.END_REASONS)

    def __init__(
        self,
        core: _core.GameTable,
        settings: dict[str, Any],
        detail: str | None = None,
        plan: Plan | None = None,
    ) -> None:
        self._core = core
        self.settings = settings
        self._detail = detail
        self._plan = plan

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
        if not offers or len(self) == 0 or self._core.counted_offers:
            return Summary.of(self._core.summary(self._followed()), self.settings)
        if self._plan is None:
            raise SimulationError(
                "the offers of endless sowings were not counted: simulate with offers=True",
                field="offers",
            )
        return Summary.of(self._plan.play(offers=True, games=len(self)).summary(), self.settings)

    def _followed(self) -> str | None:
        """Return what following the first games has shown; they are played for it if need be."""
        if self._detail is None and self._plan is not None and not self._core.counted_offers:
            self._detail = self._plan.follow(len(self))
        return self._detail

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the sheet of figures of the games: `Summary.plot`.

        Parameters
        ----------
        path : path, optional
            Where to write the picture, in the format of its ending; nothing is written without it.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        return self.summary().plot(path)

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
        arrow, _ = load_arrow()
        table: pa.Table = arrow.table(self.to_numpy())
        return table

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return pandas_frame(self.to_numpy())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        return polars_frame(self.to_numpy())

    @classmethod
    def read_parquet(cls, path: str | os.PathLike[str]) -> GameTable:
        """Read games that `write_parquet` or `simulate` wrote.

        The summary of such a table has no `Summary.sample`: no game of it is followed.

        Parameters
        ----------
        path : path
            The file, or a folder of files as `endodoi.ray.simulate` writes it: its files in the
            order of their names.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        OSError
            If there is no such file.
        SimulationError
            If it holds no games of this package.
        """
        try:
            columns, kept = read_games(path)
        except ValueError as error:
            raise SimulationError(str(error), field="path") from error
        settings: dict[str, Any] = json.loads(kept)
        del settings["version"]
        return cls(_core.GameTable.from_numpy(columns), settings)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, under a temporary name that is then renamed.

        It is the file that ``simulate(..., out=path)`` writes.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        OSError
            If the folder does not exist or cannot be written to.
        """
        with GameFile(path, self.settings, offers=self._core.counted_offers) as file:
            file.write(self.to_numpy())
            file.complete()

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        """Compare all columns."""
        return isinstance(other, GameTable) and self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[GameTable], tuple[object, ...]]:
        """Pickle the columns, the settings and what following games has shown."""
        return GameTable, (self._core, self.settings, self._followed())

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<GameTable of {len(self)} games>"


@overload
def simulate(
    games: int,
    *,
    ruleset: Ruleset,
    south: str | PolicyFunction = ...,
    north: str | PolicyFunction = ...,
    seed: int = ...,
    num_threads: int | None = ...,
    random_opening_plies: int = ...,
    max_plies: int | None = ...,
    offers: bool = ...,
    sample: int | None = ...,
    first: int = ...,
    out: None = ...,
    progress: bool | str | Callable[[int], object] | None = ...,
) -> GameTable: ...
@overload
def simulate(
    games: int,
    *,
    ruleset: Ruleset,
    south: str | PolicyFunction = ...,
    north: str | PolicyFunction = ...,
    seed: int = ...,
    num_threads: int | None = ...,
    random_opening_plies: int = ...,
    max_plies: int | None = ...,
    offers: bool = ...,
    sample: int | None = ...,
    first: int = ...,
    out: str | os.PathLike[str],
    progress: bool | str | Callable[[int], object] | None = ...,
) -> Summary: ...
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
    sample: int | None = None,
    first: int = 0,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> GameTable | Summary:
    """Play many games between two players.

    Game i depends on (seed, i) alone: never on threads, speed or platform.

    Parameters
    ----------
    games : int
        Games to play.
    ruleset : Ruleset
        The rules of every game.
    south, north : str or policy
        A specification (``random``, ``greedy``, ``perfect``, ``alphabeta:N``, ``mcts:N``,
        ``agent:FILE_RUN_OR_NAME[@sims=N|@mcts=N|@none]``), a policy of `endodoi.policies`, or your
        own function ``(observations [B, 2C+3], action_masks [B, C]) -> actions [B]``. A function is
        called on a worker thread, with all games that wait for it. A player that chooses an
        illegal column or raises loses that game, with the end ``illegal`` or ``error``. Players of
        the package draw from the streams of the games.
    seed : int
        Seed of all games, 0 to 2^64 - 1.
    num_threads : int, optional
        Threads that play; by default as many as the process may use. With `out` one more writes.
    random_opening_plies : int
        Plies drawn uniformly over legal moves at the start of each game.
    max_plies : int, optional
        Plies after which a game is cut, opening plies included (E4).
    offers : bool
        Count the turns that offer an endless sowing, which means to simulate every move.
    sample : int, optional
        Games, the first ones, that are followed move by move for `Summary.sample`; by default
        4,194,304 / (columns * columns * seeds_per_pit), between 16 and 4,096, which takes a
        fraction of a second. With `offers` all games are followed.
    first : int
        The number of the first game: games ``first`` to ``first + games - 1`` are played, so that
        a part of a larger simulation can be played alone.
    out : path, optional
        A Parquet file to write the games to while they are played, in row groups of 131,072; the
        memory needed does not grow with the games. Its metadata hold the settings. The file is
        written under a temporary name, and renamed at the end.
    progress : bool, "tqdm" or callable, optional
        A function called with the games finished, several times a second; True shows them on the
        error output, ``"tqdm"`` as a bar of tqdm, False does not; by default they are shown on a
        terminal, and in a notebook as a bar if tqdm is installed.

    Returns
    -------
    GameTable or Summary
        With `out` the summary of the games.

    Raises
    ------
    SimulationError
        If an argument is outside its range.
    PolicyError
        If a player cannot be made.
    MissingExtraError, OSError
        If `out` cannot be written, or another simulation is writing it: before any game is played.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``table`` holds the games finished before; with `out` they are in
        the file, which is completed, and the attribute ``summary`` holds their summary.

    Examples
    --------
    >>> import endodoi as ed
    >>> table = ed.simulate(1000, ruleset=ed.Ruleset(columns=6), seed=1)
    >>> len(table), table.to_numpy()["winner"].dtype.name
    (1000, 'int8')
    """
    plan = Plan(
        games,
        ruleset,
        (south, north),
        seed=seed,
        first=first,
        random_opening_plies=random_opening_plies,
        max_plies=max_plies,
        num_threads=num_threads,
        sample=sample,
        progress=progress,
    )
    if out is not None:
        return plan.write(out, offers=offers)
    return GameTable(plan.play(offers=offers), plan.settings, plan=plan)


class Plan:
    """A simulation that is still to be played; the arguments are those of `simulate`.

    Attributes
    ----------
    settings : dict
        What is to be played, as JSON can hold it.
    """

    def __init__(
        self,
        games: int,
        ruleset: Ruleset,
        players: tuple[str | PolicyFunction, str | PolicyFunction],
        *,
        progress: bool | str | Callable[[int], object] | None,
        **numbers: int | None,
    ) -> None:
        check_ruleset(ruleset)
        south, north = contestant(players[0], "south"), contestant(players[1], "north")
        self.games = games
        self.progress = progress
        self.arguments: dict[str, Any] = {
            "games": games,
            "ruleset": ruleset,
            "south": south,
            "north": north,
            **numbers,
        }
        # Threads change nothing, and only what is counted depends on the sample.
        shown = {name: numbers[name] for name in numbers if name not in ("num_threads", "sample")}
        self.settings: dict[str, Any] = {
            "ruleset": ruleset.to_dict(),
            "south": name_of(south),
            "north": name_of(north),
            **{name: plain(number) for name, number in shown.items()},
        }

    def play(self, *, offers: bool, games: int | None = None) -> _core.GameTable:
        """Play the games, or the first of them, and return their table.

        An interruption has the games finished before in its attribute ``table``.
        """
        # Who wants the columns alone does not wait for the games to be followed.
        games = self.games if games is None else games
        with Progress(games, self.progress) as shown:
            played: tuple[_core.GameTable, BaseException | None] = _core.simulate(
                **{**self.arguments, "games": games},
                offers=offers,
                follow=not self.is_random,
                progress=shown.function,
            )
        table, interruption = played
        if interruption is not None:
            kept = GameTable(table, self.settings, plan=self)
            interruption.table = kept  # type: ignore[attr-defined]
            raise interruption
        return table

    @property
    def is_random(self) -> bool:
        """Whether both players are random: their games can be played again in no time."""
        return all(self.arguments[side] == "random" for side in ("south", "north"))

    def follow(self, games: int) -> str | None:
        """Follow the first of so many games, None if they were followed when they were played."""
        if not self.is_random:
            return None
        wanted = self.arguments["sample"]
        size = _core.sample_size(self.arguments["ruleset"]) if wanted is None else wanted
        again = {"games": min(games, size), "sample": size}
        played: tuple[_core.GameTable, BaseException | None] = _core.simulate(
            **{**self.arguments, **again}, offers=False, progress=None
        )
        table, interruption = played
        if interruption is not None:
            raise interruption
        return table.detail

    def write(self, path: str | os.PathLike[str], *, offers: bool) -> Summary:
        """Play the games, write them to a Parquet file and return their summary.

        After an interruption the file holds the games finished before.
        """
        with GameFile(path, self.settings, offers=offers) as file:
            try:
                summary = self.stream(file.write, offers=offers)
            except BaseException as interruption:
                if hasattr(interruption, "summary") and not file.failed:
                    file.complete()
                raise
            try:
                file.complete()
            except KeyboardInterrupt as late:
                late.summary = summary  # type: ignore[attr-defined]
                raise
            return summary

    def stream(
        self, sink: Callable[[dict[str, npt.NDArray[Any]]], object], *, offers: bool
    ) -> Summary:
        """Play the games, pass them on in parts of `ROWS` and return their summary.

        An interruption has the summary of the games finished before in its attribute ``summary``.
        """
        with Progress(self.games, self.progress) as shown:
            played: tuple[tuple[str, str], BaseException | None] = _core.simulate(
                **self.arguments, offers=offers, progress=shown.function, sink=sink, rows=ROWS
            )
        texts, interruption = played
        summary = Summary.of(texts, self.settings)
        if interruption is not None:
            interruption.summary = summary  # type: ignore[attr-defined]
            raise interruption
        return summary


def plain(number: Any) -> Any:
    """Return a whole number of NumPy as one that JSON knows; the core refuses what is none."""
    try:
        return index(number)
    except TypeError:
        return number
