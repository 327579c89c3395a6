"""What the games of a tournament come to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi.errors import MissingExtraError
from endodoi.extras import missing
from endodoi.game_file import load_arrow
from endodoi.places import check_place, write_text, written_whole
from endodoi.wording import readable

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

__all__ = ["PairingStanding", "PlayerStanding", "SouthStanding", "Standings"]


@dataclass(frozen=True)
class PlayerStanding:
    """A player's games against all others.

    Attributes
    ----------
    name : str
    games, wins, draws, losses : int
    cut : int
        Games cut by `max_plies`: no outcome, half a point each (E4).
    score : float
        Mean score, 0 to 1.
    rating, low, high : float
        Rating in Elo points with its 95 % interval; the mean of all players is 0.
    flag : "undefeated", "winless", "separate", "unplayed" or None
        Why the rating leans on the prior, if it does.
    margin : float
        Mean seeds captured less those of the opponent.
    illegal, error, late : int
        Games lost by an illegal move, by a failure to choose, by a move that took too long.
    failure : str or None
        What went wrong the first time.
    seconds_per_move, longest_move : float
        Mean seconds of a move and those of the longest one, measured where moves are made; of
        moves that were asked for together each counts the same share. Not compared.
    """

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    cut: int
    score: float
    rating: float
    low: float
    high: float
    flag: str | None
    margin: float
    illegal: int
    error: int
    late: int
    failure: str | None
    seconds_per_move: float = field(compare=False)
    longest_move: float = field(compare=False)


@dataclass(frozen=True)
class PairingStanding:
    """The games of two players against each other, seen from the first.

    Attributes
    ----------
    a, b : str
        The players.
    games, wins, draws, losses, cut : int
    score, low, high : float
        Mean score, 0 to 1, with its 95 % interval, whose unit is a pair of games.
    margin : float
        Mean seeds captured less those of the opponent.
    margin_half : float or None
        Half-width of its 95 % interval; None for fewer than two pairs.
    distinct : int
        Games that differ from each other after the opening.
    distinct_pairs : int
        Pairs that do: what the intervals rest on.
    """

    a: str
    b: str
    games: int
    wins: int
    draws: int
    losses: int
    cut: int
    score: float
    low: float
    high: float
    margin: float
    margin_half: float | None
    distinct: int
    distinct_pairs: int


@dataclass(frozen=True)
class SouthStanding:
    """How South, who moves first, fares in all games.

    Attributes
    ----------
    wins, draws, losses : int
        South's.
    score, low, high : float
        South's mean score, 0 to 1, with its 95 % interval, whose unit is a pair of games.
    elo : dict of str to float
        What moving first is worth in Elo points, with the ends of its 95 % interval (``value``,
        ``low``, ``high``), fitted together with the ratings.
    """

    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float
    elo: dict[str, float]


@dataclass(frozen=True, repr=False)
class Standings:
    """What the games of a tournament come to; its text is a table.

    Standings are equal where their games are: the time of moves is not compared.

    Attributes
    ----------
    players : tuple of PlayerStanding
        In the order given.
    pairings : tuple of PairingStanding
        In the order of the schedule.
    games : int
        Games played.
    distinct : int
        Games that differ from each other after the opening, whoever played them.
    cut : int
        Games cut by `max_plies`.
    draw_rate : float
        Share of drawn games among those with an outcome.
    first_move : SouthStanding
        How South fares.
    superiority : tuple of tuple of float
        For each player, the likelihood that it is stronger than each other one.
    settings : dict
        What was played: players, ruleset, openings, seed and the like.
    table : Games
        The games, in the order played.
    """

    players: tuple[PlayerStanding, ...]
    pairings: tuple[PairingStanding, ...]
    games: int
    distinct: int
    cut: int
    draw_rate: float
    first_move: SouthStanding
    superiority: tuple[tuple[float, ...], ...]
    settings: dict[str, Any] = field(compare=False)
    table: _core.Games = field(compare=False)
    text: str = field(compare=False)
    markdown: str = field(compare=False)
    json: str = field(compare=False)

    @classmethod
    def of(
        cls, texts: tuple[str, str, str], settings: dict[str, Any], table: _core.Games
    ) -> Standings:
        """Read the standings of the core."""
        read: dict[str, Any] = json.loads(texts[0])
        raw = {player[key] or "" for player in read["players"] for key in ("name", "failure")}
        return cls(
            players=tuple(known(PlayerStanding, player) for player in read["players"]),
            pairings=tuple(known(PairingStanding, pairing) for pairing in read["pairings"]),
            games=read["games"],
            distinct=read["distinct"],
            cut=read["cut"],
            draw_rate=read["draw_rate"],
            first_move=known(SouthStanding, read["first_move"]),
            superiority=tuple(map(tuple, read["superiority"])),
            settings=settings,
            table=table,
            text=escaped(texts[1], raw),
            markdown=escaped(texts[2], raw),
            json=texts[0],
        )

    def __getitem__(self, name: str) -> PlayerStanding:
        """Return the standing of the player of this name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for player in self.players:
            if player.name == name:
                return player
        names = ", ".join(player.name for player in self.players)
        raise KeyError(f"no player {name!r}, there are {names}")

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and the settings as nested dictionaries that JSON can hold."""
        numbers: dict[str, Any] = json.loads(self.json)
        return {"settings": self.settings, **numbers}

    def to_json(self) -> str:
        """Return all numbers and the settings as JSON."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def to_markdown(self) -> str:
        """Return the tables as Markdown."""
        return self.markdown

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file, under a temporary name that is then renamed."""
        write_text(path, self.to_json() + "\n")

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row a game to a Parquet file, under a temporary name that is then renamed.

        Its columns: ``a`` and ``b``, the players; ``pair``, which two games share; ``south`` and
        ``north``, who played them; ``winner`` (1 South, -1 North, 0 a draw or a cut game),
        ``captured_south``, ``captured_north``, ``plies``, ``opening_plies``, ``end_reason``,
        ``seconds_a`` and ``seconds_b``, the time of each player's moves. The settings are in the
        metadata under ``endodoi``.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        OSError
            If the folder does not exist or cannot be written to.
        """
        check_place(path)
        pa, pq = load_arrow()
        columns = self.table.to_numpy()
        names = [player.name for player in self.players]
        ends = _core.GameTable.END_REASONS

        def words(indices: Any, known: Any) -> Any:
            codes = pa.array(indices, pa.int32())
            return pa.DictionaryArray.from_arrays(codes, pa.array(known, pa.string()))

        a, b, south = columns["a"], columns["b"], columns.pop("south")
        shown = {
            "a": words(a, names),
            "b": words(b, names),
            "pair": columns["pair"],
            "south": words(a * (1 - south) + b * south, names),
            "north": words(b * (1 - south) + a * south, names),
            **{name: columns[name] for name in columns if name not in ("a", "b", "pair")},
            "end_reason": words(columns["end_reason"], list(ends)),
        }
        kept = {"endodoi": json.dumps(self.settings, default=str)}
        table = pa.table(shown).replace_schema_metadata(kept)
        with written_whole(path) as partial:
            pq.write_table(table, partial)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the players' ratings with intervals and the cross table in one picture.

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
        try:
            from endodoi.standings_sheet import draw_standings  # noqa: PLC0415
        except ImportError as error:
            if isinstance(error, MissingExtraError):
                raise
            raise missing("matplotlib", "plot") from error
        return draw_standings(self, path)

    def __str__(self) -> str:
        """Return the tables."""
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Standings of {len(self.players)} players, {self.games} games>"

    def _repr_markdown_(self) -> str:
        """Return the tables as notebooks show them."""
        return self.markdown


def escaped(text: str, parts: set[str]) -> str:
    """Return a text in which parts of it show their control characters as escapes.

    The blanks behind a part make room for what it gains, as far as columns stay apart.
    """
    # The longest first: a name may be the beginning of another one.
    for part in sorted(parts, key=len, reverse=True):
        if part.isprintable() or not part.strip():
            continue
        shown = readable(part)
        for written in dict.fromkeys((part, part.replace("|", "\\|"))):
            room = f"(?: {{0,{len(shown) - len(part)}}}(?=  ))?"
            new = shown if written == part else shown.replace("|", "\\|")
            text = re.sub(re.escape(written) + room, lambda _, new=new: new, text)  # type: ignore[misc]
    return text


def known(kind: Any, numbers: dict[str, Any]) -> Any:
    """Make a row of the numbers of the core."""
    return kind(**{item.name: numbers[item.name] for item in fields(kind)})
