"""Ratings of players, from games in pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from endodoi import _core
from endodoi.errors import ArgumentTypeError, RatingError
from endodoi.numbers_given import check_number, check_whole, wrong_type
from endodoi.wording import readable, signed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy.typing as npt

    Pair: TypeAlias = "Mapping[str, Any] | Sequence[Any]"

__all__ = ["Draws", "Estimate", "FirstMove", "PlayerRating", "Ratings", "ratings"]

#: The least and the most games that the prior may be worth.
PRIORS = 0.001, 1000

#: What a pair of games is made of.
FIELDS = ("a", "b", "as_south", "as_north")


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PlayerRating:
    """What one player came to.

    Attributes
    ----------
    name : str
    rating, low, high : float
        Elo points and the ends of the 95 % interval; the mean of all players is 0.
    flag : "undefeated", "winless", "separate", "unplayed" or None
        Why the rating leans on the prior: the player has won and never lost, has lost and never
        won, belongs to a group that no results tie to the largest one, or has not played.
    games, wins, draws, losses : int
        Cut games are among the draws.
    score : float
        Mean score, 0 to 1.
    """

    name: str
    rating: float
    low: float
    high: float
    flag: str | None
    games: int
    wins: int
    draws: int
    losses: int
    score: float


@dataclass(frozen=True)
class FirstMove:
    """What moving first is worth.

    Attributes
    ----------
    elo : Estimate
        Elo points.
    score : Estimate
        South's expected score against an equal player, 0 to 1.
    """

    elo: Estimate
    score: Estimate


@dataclass(frozen=True)
class Draws:
    """How often games are drawn.

    Attributes
    ----------
    rate : Estimate
        The share of all games that were drawn or cut.
    between_equals : Estimate
        The expected share between two players whose chances to win are equal.
    parameter : Estimate
        Davidson's parameter: draws for every win between two such players.
    """

    rate: Estimate
    between_equals: Estimate
    parameter: Estimate


@dataclass(frozen=True)
class Ratings:
    """Ratings of players, the best first; their text is a table.

    Attributes
    ----------
    players : tuple of PlayerRating
    first_move : FirstMove
        The advantage of South.
    draws : Draws
    pairs : int
        Pairs of games.
    prior : float
        The games that the prior is worth for each parameter.
    superiority : float64 [P, P]
        The likelihood that the player of the row is stronger than that of the column, in the order
        of `players`; 1/2 on the diagonal.
    """

    players: tuple[PlayerRating, ...]
    first_move: FirstMove
    draws: Draws
    pairs: int
    prior: float
    superiority: npt.NDArray[np.float64] = field(compare=False, repr=False)

    def __getitem__(self, name: str) -> PlayerRating:
        """Return the rating of the player of a name.

        Raises
        ------
        KeyError
            If nobody has this name.
        """
        for player in self.players:
            if player.name == name:
                return player
        raise KeyError(name)

    def likelihood_of_superiority(self, one: str, other: str) -> float:
        """Return the likelihood that one player is stronger than another."""
        names = [player.name for player in self.players]
        if one not in names or other not in names:
            raise KeyError(one if one not in names else other)
        return float(self.superiority[names.index(one), names.index(other)])

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as nested dictionaries and lists that JSON can hold."""
        return {
            "players": [asdict(player) for player in self.players],
            "first_move": asdict(self.first_move),
            "draws": asdict(self.draws),
            "pairs": self.pairs,
            "prior": self.prior,
            "superiority": self.superiority.tolist(),
        }

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table, the headings first."""
        head = ("player", "rating", "95 % interval", "games", "W/D/L", "score", "")
        rows = [
            (
                readable(player.name),
                signed(player.rating),
                f"{signed(player.low)} to {signed(player.high)}",
                str(player.games),
                f"{player.wins}/{player.draws}/{player.losses}",
                f"{player.score:.3f}",
                player.flag or "",
            )
            for player in self.players
        ]
        return [head, *rows]

    def _notes(self) -> list[str]:
        """Return a line each about the first move and the draws."""
        elo, score = self.first_move.elo, self.first_move.score
        rate, equals = self.draws.rate, self.draws.between_equals
        first = f"first move {signed(elo.value)} ({signed(elo.low)} to {signed(elo.high)})"
        worth = f"South scores {score.value:.3f} ({score.low:.3f} to {score.high:.3f})"
        drawn = f"draws {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%})"
        even = f"{equals.value:.1%} ({equals.low:.1%} to {equals.high:.1%})"
        return [f"{first}: {worth} against an equal player", f"{drawn}, between equals {even}"]

    def __str__(self) -> str:
        """Return the table, and below it the first move and the draws."""
        rows = self._rows()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = []
        for row in rows:
            cells = [row[0].ljust(widths[0])]
            cells += [
                cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)
            ]
            lines.append("  ".join([*cells, row[-1]]).rstrip())
        return "\n".join([*lines, *self._notes()])

    def to_markdown(self) -> str:
        """Return the table and the notes as Markdown."""
        head, *rows = self._rows()
        lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * 5 + "|---|"]
        lines += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows
        ]
        return "\n".join([*lines, "", *[f"- {note}" for note in self._notes()]])

    def _repr_markdown_(self) -> str:
        """Return the table for a notebook."""
        return self.to_markdown()


def ratings(pairs: Iterable[Pair], *, prior: float = 1.0) -> Ratings:
    """Rate players from games in pairs, each two games from one opening with the sides swapped.

    The ratings are the most likely strengths under Davidson's model, which is Bradley and Terry's
    with draws, with a term for the first move. In a game of South against North wins, draws and
    losses are as ``10^(d/800)``, ``v`` and ``10^(-d/800)``, where ``d`` is South's rating less
    North's and what the first move is worth, and ``v`` tells how often games are drawn: 400 points
    mean ten wins for each loss. Intervals take the pair as the unit. Nothing depends on names or on
    the order of pairs.

    Parameters
    ----------
    pairs : iterable of mapping or sequence
        For each pair ``a`` and ``b``, the names of the players, and ``as_south`` and ``as_north``,
        what came of the games that `a` played as South and as North: 1 won, 0 drawn or cut, -1
        lost. A mapping has these keys, a sequence (or a row of an array [P, 4]) the values in this
        order; other keys are ignored.
    prior : float
        The games that the prior is worth for each parameter, 0.001 to 1000. It holds half of them
        won and half lost against a player of rating 0, for each player and for the first move, and
        half of the games between equals drawn. It keeps ratings finite.

    Returns
    -------
    ratings : Ratings

    Raises
    ------
    RatingError
        If a result is none of -1, 0, 1, a player plays itself, there is no pair or the prior is out
        of range.
    ArgumentTypeError
        If something is no pair.

    Examples
    --------
    >>> import endodoi as ed
    >>> found = ed.arena.ratings([("x", "y", 1, 1), ("x", "y", 1, 0), ("y", "x", 1, -1)])
    >>> [player.name for player in found.players], found["x"].games, found["x"].flag
    (['x', 'y'], 6, None)
    """
    places: dict[str, int] = {}
    listed: list[tuple[int, int, int, int]] = []
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise wrong_type(pairs, "pairs", "pairs of games")
    prior = check_number(prior, "prior")
    low, high = PRIORS
    if not low <= prior <= high:
        raise RatingError(
            f"prior is {prior:g}, expected {low:g} to {high:g}", field="prior", value=prior
        )
    for index, pair in enumerate(pairs):
        a, b, as_south, as_north = read_pair(pair, index)
        first, second = (places.setdefault(str(name), len(places)) for name in (a, b))
        south, north = (read_result(result, index) for result in (as_south, as_north))
        listed.append((first, second, south, north))
    numbers = json.loads(_core.fit_ratings(len(places), listed, prior=prior))
    rated = [
        PlayerRating(
            name,
            rating=player["value"],
            low=player["low"],
            high=player["high"],
            flag=player["flag"],
            games=player["games"],
            wins=player["wins"],
            draws=player["draws"],
            losses=player["losses"],
            score=(player["wins"] + player["draws"] / 2) / player["games"],
        )
        for name, player in zip(places, numbers["players"], strict=True)
    ]
    # Players whose ratings differ by rounding alone are listed by name.
    order = sorted(range(len(rated)), key=lambda i: (-round(rated[i].rating, 6), rated[i].name))
    return Ratings(
        players=tuple(rated[i] for i in order),
        first_move=FirstMove(**estimates(numbers["first_move"])),
        draws=Draws(**estimates(numbers["draws"])),
        pairs=numbers["pairs"],
        prior=numbers["prior"],
        superiority=np.array(numbers["superiority"])[np.ix_(order, order)],
    )


def estimates(numbers: dict[str, Any]) -> dict[str, Estimate]:
    """Read numbers with their intervals from JSON."""
    return {name: Estimate(**number) for name, number in numbers.items()}


def read_pair(pair: Pair, index: int) -> list[Any]:
    """Return the players and results of a pair.

    Raises
    ------
    ArgumentTypeError
        If something is missing.
    """
    if isinstance(pair, Mapping):
        if all(name in pair for name in FIELDS):
            return [pair[name] for name in FIELDS]
    elif not isinstance(pair, str) and hasattr(pair, "__len__") and len(pair) == len(FIELDS):
        return list(pair)
    raise ArgumentTypeError(
        f"pairs[{index}] is {pair!r}, expected the two players and the results of the first as "
        f"South and as North: {', '.join(FIELDS)}",
        field=f"pairs[{index}]",
        value=pair,
    )


def read_result(result: Any, index: int) -> int:
    """Return a result as a small whole number; the core refuses what is no result."""
    return max(-100, min(100, check_whole(result, f"result of pairs[{index}]")))
