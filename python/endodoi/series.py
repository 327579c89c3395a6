"""Matches: the series of games that is won by the first to win so many, the *el ala*."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi.faults import faults_in, faults_text, games_of
from endodoi.numbers_given import check_range
from endodoi.places import written_whole
from endodoi.progress import Progress
from endodoi.tournament import Chunk, Games, counted_from
from endodoi.two_players import plan_of_two
from endodoi.wording import counted, readable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from endodoi._core import GameRecord, Ruleset
    from endodoi.faults import PlayedGame, PlayerFaults
    from endodoi.policies import PolicyFunction
    from endodoi.tournament import OpeningsLike

__all__ = ["Match", "MatchGame", "match"]

#: The most games that a match may be won by, and of a match.
MAX_WINS, MAX_GAMES = 1000, 100_000

#: Games of a match at most, for each that has to be won, unless told otherwise.
GAMES_FOR_A_WIN = 20


@dataclass(frozen=True)
class MatchGame:
    """One game of a match.

    Attributes
    ----------
    south, north : str
        The players.
    winner : str or None
        None for a draw or a cut game.
    captured : tuple of int
        Seeds captured by (South, North).
    plies : int
        Plies of both sides, opening plies included.
    end_reason : str
        How the game ended; ``illegal``, ``error`` and ``late`` where a player lost it by its fault.
    tally : tuple of int
        Games won by the two players so far, this one included.
    failure : str or None
        What went wrong, where a player lost by its fault. Not compared.
    """

    south: str
    north: str
    winner: str | None
    captured: tuple[int, int]
    plies: int
    end_reason: str
    tally: tuple[int, int]
    failure: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Match:
    """A match between two players; its text is the score sheet.

    Attributes
    ----------
    players : tuple of str
    wins : int
        Games that had to be won.
    winner : str or None
        None where nobody has won so many within the games allowed.
    tally : tuple of int
        Games won by each of the players.
    draws : int
        Games drawn or cut: they count for nobody.
    distinct : int
        Games that differ from each other in at least one move.
    faults : tuple of PlayerFaults
        For each player the games that it lost by its own fault.
    games : tuple of MatchGame
    records : list of GameRecord
        One for each game.
    settings : dict
        Ruleset, openings, seed and the like.
    """

    players: tuple[str, str]
    wins: int
    winner: str | None
    tally: tuple[int, int]
    draws: int
    distinct: int
    faults: tuple[PlayerFaults, ...]
    games: tuple[MatchGame, ...]
    records: list[GameRecord] = field(repr=False, compare=False)
    settings: dict[str, Any] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the records as nested dictionaries that JSON can hold."""
        names = ("players", "wins", "winner", "tally", "draws", "distinct")
        numbers = {name: getattr(self, name) for name in names}
        lists = {
            "faults": [asdict(player) for player in self.faults],
            "games": [asdict(game) for game in self.games],
        }
        written: dict[str, Any] = json.loads(
            json.dumps({"settings": self.settings, **numbers, **lists})
        )
        return written

    def write_records(self, path: str | os.PathLike[str]) -> None:
        """Write the records of all games, one JSON object a line."""
        text = "".join(record.to_json() + "\n" for record in self.records)
        with written_whole(path) as part:
            Path(part).write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        """Return the score sheet: a line for each game with a pin for every game won."""
        a, b = map(readable, self.players)
        width = max(len(a), len(b), len("nobody"))
        lines = [f"{'game':>4}  {'South':{width}}  captured  {'won by':{width}}  end      el ala"]
        for number, game in enumerate(self.games, start=1):
            south, winner = readable(game.south), readable(game.winner or "nobody")
            captured = f"{game.captured[0]}-{game.captured[1]}"
            pins = f"{'|' * game.tally[0]:>{self.wins}} : {'|' * game.tally[1]}"
            lines.append(
                f"{number:>4}  {south:{width}}  {captured:>8}  "
                f"{winner:{width}}  {game.end_reason:7}  {pins}".rstrip()
            )
        won = f"{self.tally[0]}:{self.tally[1]}"
        drawn = f", {self.draws} drawn" if self.draws else ""
        played = len(self.games)
        verdict = f"{readable(self.winner)} wins" if self.winner else "nobody wins"
        if self.winner is None and played < self.settings["games"]:
            verdict = "not finished"
        games = counted(played, "game")
        lines.append(f"{verdict}: {a} against {b} {won}{drawn}, {games}")
        if self.distinct < played:
            only = f"only {self.distinct} of the games differ from each other"
            lines.append("all games are the same" if self.distinct == 1 else only)
        lines += faults_text(self.faults)
        return "\n".join(lines)


def match(
    a: str | PolicyFunction,
    b: str | PolicyFunction,
    *,
    ruleset: Ruleset,
    wins: int = 5,
    seed: int = 0,
    openings: OpeningsLike = 4,
    max_games: int | None = None,
    names: Sequence[str] | None = None,
    max_plies: int | None = None,
    seconds_per_move: float | None = None,
    num_threads: int | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> Match:
    """Play until one of two players has won so many games, as the Maasai do with pins (*el ala*).

    `a` is South in the first game, and the sides alternate. Drawn games count for nobody (M1). Two
    games in a row have the same opening, so that each player meets it from both sides; the match
    ends with the last game that is needed.

    Players that always choose the same would play the same two games again and again from the
    start: hence the random plies. With ``openings=0`` they do so; the match goes by what these
    two games give, and `Match.distinct` tells. A match that nobody wins ends after `max_games`
    without a winner.

    Parameters
    ----------
    a, b : str or policy
        As the players of `tournament`.
    ruleset : Ruleset
        The rules of every game.
    wins : int
        Games that win the match, 1 to 1,000.
    seed : int
        Seed of the openings and of players that draw.
    openings : int, "balanced", path, or sequence of str or Position
        As in `tournament`: so many random plies, or a book of one position for every two games of
        `max_games`.
    max_games : int, optional
        Games after which the match ends without a winner, an even number of at most 100,000; by
        default twenty for each game that has to be won.
    names : sequence of str, optional
        The names of the two players; by default their specifications or those of the functions.
    max_plies, seconds_per_move, num_threads, progress
        As in `tournament`.

    Returns
    -------
    match : Match

    Raises
    ------
    ArenaError, ArgumentValueError
        If an argument is outside its range.
    PolicyError
        If a player cannot be made or cannot play by the rules.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``match`` holds the match so far.

    Examples
    --------
    >>> import endodoi as ed
    >>> found = ed.arena.match("greedy", "random", ruleset=ed.Ruleset(columns=6), wins=3, seed=1)
    >>> found.winner, max(found.tally)
    ('greedy', 3)
    """
    wins = check_range(wins, "wins", 1, MAX_WINS)
    if max_games is None:
        max_games = GAMES_FOR_A_WIN * wins
    plan = plan_of_two(
        a,
        b,
        ruleset=ruleset,
        max_games=max_games,
        most=MAX_GAMES,
        seed=seed,
        openings=openings,
        names=names,
        max_plies=max_plies,
        seconds_per_move=seconds_per_move,
    )
    series = Series(plan.names, wins)
    with Progress(max_games, progress) as shown:
        tell = shown.tell
        while series.winner is None and len(series.games) < plan.games:
            pair = len(series.games) // 2
            # No more than are surely needed, unless one of a pair is.
            last = min(pair + (wins - max(series.tally) + 1) // 2, plan.games // 2)
            told = counted_from(len(series.games), tell)
            try:
                games = plan.play([Chunk(0, 1, pair, last)], num_threads=num_threads, progress=told)
            except BaseException as interruption:
                kept = getattr(interruption, "games", None)
                if isinstance(kept, Games):
                    series.add(games_of(plan, kept))
                interruption.match = series.finish(plan.settings)  # type: ignore[attr-defined]
                raise
            series.add(games_of(plan, games))
    return series.finish(plan.settings)


class Series:
    """The games of a match so far."""

    def __init__(self, names: list[str], wins: int) -> None:
        self.names = (names[0], names[1])
        self.wins = wins
        self.tally = (0, 0)
        self.winner: str | None = None
        self.games: list[MatchGame] = []
        self.played: list[PlayedGame] = []

    def add(self, games: list[PlayedGame]) -> None:
        """Count games, up to the one that wins the match."""
        for played in games:
            if self.winner is not None:
                return
            record = played.record
            south, north = record.players
            winner = {"south": south, "north": north}.get(record.outcome or "")
            won = (int(winner == name) for name in self.names)
            self.tally = (self.tally[0] + next(won), self.tally[1] + next(won))
            if max(self.tally) >= self.wins:
                self.winner = winner
            self.played.append(played)
            self.games.append(
                MatchGame(
                    south,
                    north,
                    winner,
                    (record.captured[0], record.captured[1]),
                    len(record.moves),
                    str(record.end_reason),
                    self.tally,
                    played.failure,
                )
            )

    def finish(self, settings: dict[str, Any]) -> Match:
        """Return the match."""
        records = [played.record for played in self.played]
        moves = {(record.start, tuple(record.moves)) for record in records}
        return Match(
            players=self.names,
            wins=self.wins,
            winner=self.winner,
            tally=self.tally,
            draws=sum(game.winner is None for game in self.games),
            distinct=len(moves),
            faults=faults_in(self.names, self.played),
            games=tuple(self.games),
            records=records,
            settings={**settings, "wins": self.wins},
        )
