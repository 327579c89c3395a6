"""The games of two players against each other, as matches and sequential tests plan them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endodoi._core import different_names
from endodoi.books import read_openings
from endodoi.errors import ArenaError
from endodoi.numbers_given import check_whole, wrong_type
from endodoi.settings import check_ruleset
from endodoi.tournament import Tournament

if TYPE_CHECKING:
    from collections.abc import Sequence

    from endodoi._core import Ruleset
    from endodoi.policies import PolicyFunction
    from endodoi.tournament import OpeningsLike, Players

__all__ = ["plan_of_two"]


def plan_of_two(
    a: str | PolicyFunction,
    b: str | PolicyFunction,
    *,
    ruleset: Ruleset,
    max_games: int,
    most: int,
    openings: OpeningsLike,
    names: Sequence[str] | None = None,
    **settings: Any,
) -> Tournament:
    """Plan the games that two players play at most.

    Parameters
    ----------
    a, b, ruleset, openings, settings
        As in `Tournament`.
    max_games : int
        The number of games, even.
    most : int
        What it may be at most.
    names : sequence of str, optional
        The names of the two.

    Raises
    ------
    ArgumentTypeError
        If there are not two names, or one is no text.
    ArenaError
        If `max_games` is out of range, or a book has fewer positions than it takes.
    """
    games = check_whole(max_games, "max_games")
    if games % 2 or not 0 < games <= most:
        raise ArenaError(
            f"max_games is {games}, expected an even number from 2 to {most}",
            field="max_games",
            value=games,
            low=2,
            high=most,
        )
    check_ruleset(ruleset)
    read, _ = read_openings(openings, ruleset)
    if isinstance(read, list) and 0 < 2 * len(read) < games:
        raise ArenaError(
            f"max_games is {games}, expected {2 * len(read)} at most: the book has "
            f"{len(read)} position{'s' if len(read) > 1 else ''}, one for every two games",
            field="max_games",
            value=games,
            low=2,
            high=2 * len(read),
        )
    players: Players = [a, b]
    if names is not None:
        if not isinstance(names, (list, tuple)) or len(names) != len(players):
            raise wrong_type(names, "names", "a list of two texts")
        if any(not isinstance(name, str) for name in names):
            raise wrong_type(names, "names", "a list of two texts")
        players = dict(zip(different_names(list(names)), (a, b), strict=True))
    return Tournament(players, ruleset=ruleset, games=games, openings=openings, **settings)
