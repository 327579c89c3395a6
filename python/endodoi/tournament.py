"""Tournaments: who meets whom, the games in pairs, and what they come to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from endodoi import _core
from endodoi._core import Games
from endodoi.books import read_openings
from endodoi.contestants import player_digests, read_players
from endodoi.core_policy import name_of
from endodoi.errors import ArenaError
from endodoi.numbers_given import check_number, wrong_type
from endodoi.progress import Progress
from endodoi.settings import check_ruleset
from endodoi.simulation import plain
from endodoi.standings import PairingStanding, PlayerStanding, SouthStanding, Standings
from endodoi.tournament_folder import Folder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from endodoi._core import GameRecord, Position, Ruleset
    from endodoi.books import Book
    from endodoi.policies import PolicyFunction

    Players: TypeAlias = "Sequence[str | PolicyFunction] | Mapping[str, str | PolicyFunction]"
    OpeningsLike: TypeAlias = "int | str | os.PathLike[str] | Book | Sequence[str | Position]"

__all__ = [
    "Chunk",
    "Games",
    "PairingStanding",
    "PlayerStanding",
    "SouthStanding",
    "Standings",
    "Tournament",
    "tournament",
]

#: Pairs of each pairing that are played together at first, and pairs in all at most.
FIRST_STEP, MOST_PAIRS = 8, 1 << 12

#: Seconds that a step takes at least and at most, if that can be chosen.
STEP_SECONDS = 2.0, 10.0


class Chunk(NamedTuple):
    """Some pairs of games of one pairing: the unit of work.

    Attributes
    ----------
    a, b : int
        The players, counted from 0 in the order given.
    first, last : int
        The first pair, and the one after the last.
    """

    a: int
    b: int
    first: int
    last: int


class Tournament:
    """A tournament that is still to be played: players, schedule and openings.

    The schedule is fixed by the arguments. Any split into chunks, played in any order, in any
    number of processes, gives the same games, as long as a player's choice depends on what it is
    shown alone. A tournament can be pickled where its players can, so that other processes can
    play chunks of it.

    Parameters
    ----------
    players, ruleset, games, seed, openings, gauntlet, max_plies, seconds_per_move
        As in `tournament`.

    Attributes
    ----------
    names : list of str
        The names of the players, all different.
    settings : dict
        What is to be played, as JSON can hold it.

    Examples
    --------
    >>> import endodoi as ed
    >>> plan = ed.arena.Tournament(["random", "greedy"], ruleset=ed.Ruleset(columns=6), games=20)
    >>> chunks = plan.chunks(pairs=5)
    >>> chunks[1]
    Chunk(a=0, b=1, first=5, last=10)
    >>> parts = [plan.play([chunk]) for chunk in reversed(chunks)]
    >>> plan.standings(parts).games
    20
    """

    def __init__(
        self,
        players: Players,
        *,
        ruleset: Ruleset,
        games: int,
        seed: int = 0,
        openings: OpeningsLike = 4,
        gauntlet: int | None = None,
        max_plies: int | None = None,
        seconds_per_move: float | None = None,
    ) -> None:
        check_ruleset(ruleset)
        self.names, self._players = read_players(players)
        self._openings, shown = read_openings(openings, ruleset)
        self._arguments = {
            "players": dict(zip(self.names, self._players, strict=True)),
            "ruleset": ruleset,
            "games": games,
            "seed": seed,
            "openings": self._openings,
            "gauntlet": gauntlet,
            "max_plies": max_plies,
            "seconds_per_move": seconds_per_move,
        }
        self._core = _core.Tournament(
            ruleset,
            self._players,
            self.names,
            games,
            openings=self._openings,
            gauntlet=gauntlet,
            seed=seed,
            max_plies=max_plies,
            seconds_per_move=seconds_of(seconds_per_move),
        )
        self.games = int(games)
        self.settings: dict[str, Any] = {
            "players": self.names,
            "specs": [name_of(player) for player in self._players],
            "agents": player_digests(self.names, self._players),
            "ruleset": ruleset.to_dict(),
            "games": plain(games),
            "seed": plain(seed),
            "openings": shown,
            "gauntlet": plain(gauntlet),
            "max_plies": plain(max_plies),
            "seconds_per_move": seconds_of(seconds_per_move),
        }

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Who meets whom, as places in `names`."""
        return [(chunk.a, chunk.b) for chunk in self.chunks(self.games)]

    def chunks(self, pairs: int = 64) -> list[Chunk]:
        """Split the tournament into chunks of at most so many pairs of games.

        The first pairs of all pairings come first.
        """
        return [Chunk(*chunk) for chunk in self._core.chunks(pairs)]

    def play(
        self,
        chunks: Iterable[tuple[int, int, int, int]],
        *,
        num_threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Games:
        """Play chunks; all their games advance together.

        Parameters
        ----------
        chunks : iterable of Chunk
        num_threads : int, optional
            Threads; by default as many as the process may use.
        progress : callable, optional
            A function called with the games finished, several times a second.

        Returns
        -------
        games : Games
            They can be pickled, compared, and joined by `Games.join`.

        Raises
        ------
        ArenaError
            If a chunk is no part of the schedule.
        ArgumentTypeError
            If it is not four whole numbers.
        KeyboardInterrupt
            On Ctrl-C. Its attribute ``games`` holds the games of the pairs finished before.
        """
        listed = [read_chunk(chunk, f"chunks[{i}]") for i, chunk in enumerate(chunks)]
        games, interruption = self._core.play(listed, num_threads=num_threads, progress=progress)
        if interruption is not None:
            interruption.games = games  # type: ignore[attr-defined]
            raise interruption
        return games

    def standings(self, games: Games | Iterable[Games]) -> Standings:
        """Sum games up, whatever their order and however many of them there are yet.

        Raises
        ------
        ArenaError
            If a game is there twice, or one of a pair is missing.
        """
        table = games if isinstance(games, Games) else Games.join(list(games))
        return Standings.of(self._core.standings(table), self.settings, table)

    def opening(self, pair: int) -> tuple[Position, list[int]]:
        """Return where the games of a pair start and the columns of their opening."""
        return self._core.opening(pair)

    def records(self, games: Games) -> list[GameRecord]:
        """Return the records of games."""
        lines, _ = self._core.records(games)
        return [_core.GameRecord.from_json(line) for line in lines]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments, a book by its positions."""
        return remake, (self._arguments, self.settings)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Tournament of {', '.join(self.names)}: {self.games} games for each pairing>"


def remake(arguments: dict[str, Any], settings: dict[str, Any]) -> Tournament:
    """Make a tournament of its arguments; the settings know more of its book."""
    plan = Tournament(**arguments)
    plan.settings = settings
    return plan


def tournament(
    players: Players,
    *,
    ruleset: Ruleset,
    games: int,
    seed: int = 0,
    openings: OpeningsLike = 4,
    gauntlet: int | None = None,
    max_plies: int | None = None,
    seconds_per_move: float | None = None,
    num_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> Standings:
    """Let players meet each other and say how they stand.

    Every pairing plays the same openings, each of them twice with the sides swapped. Opening p and
    what is drawn in its games depend on (seed, p) alone: the result depends neither on threads nor
    on who else takes part, and a player against itself scores exactly one half. A player that
    raises, chooses an illegal column or is late loses that game; the others go on.

    Parameters
    ----------
    players : sequence or mapping of str or policy
        Specifications (``random``, ``greedy``, ``alphabeta:N``, ``mcts:N``,
        ``agent:FILE_RUN_OR_NAME`` ...), policies of `endodoi.policies`, or your own functions
        ``(observations [B, 2C+3], action_masks [B, C]) -> actions [B]``; a mapping names them. A
        function is called on a worker thread, with all of its games that wait for it. Equal names
        get ``#2``, ``#3``.
    ruleset : Ruleset
        The rules of every game.
    games : int
        Games of each pairing, an even number.
    seed : int
        Seed of the openings and of players that draw, 0 to 2^64 - 1.
    openings : int, "balanced", path, Book, or sequence of str or Position
        So many random plies; or a book, whose positions are played in an order drawn by the seed,
        each once by every pairing: ``"balanced"`` is the shipped one of 2x6, 2x7 and 2x8, whose
        positions are worth at most two seeds with perfect play, a path that of a text file with a
        position in each line; `endodoi.arena.book` builds one.
    gauntlet : int, optional
        The first players, so many, meet all others, who do not meet each other; by default all
        meet all.
    max_plies : int, optional
        Plies after which a game is cut, opening plies included (E4); it counts half a point.
    seconds_per_move : float, optional
        The time for each move. Each is asked for alone then and measured where it is made; a
        player that takes longer loses that game as ``late``. What takes long is waited for.
    num_threads : int, optional
        Threads; by default as many as the process may use.
    out : path, optional
        A folder for settings, records and results, made if need be. What is finished is kept there
        while the tournament goes on; called again with the same arguments, or more games, it goes
        on where it stopped.
    progress : bool, "tqdm" or callable, optional
        As in `endodoi.simulate`.

    Returns
    -------
    standings : Standings

    Raises
    ------
    ArenaError
        If an argument is outside its range, the book has fewer positions than pairs are played, or
        the folder holds another tournament.
    BookError
        If a position of a book cannot be played from.
    PolicyError
        If a player cannot be made or cannot play by the rules.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``standings`` holds those of the pairs finished before.

    Examples
    --------
    >>> import endodoi as ed
    >>> six = ed.Ruleset(columns=6)
    >>> standings = ed.arena.tournament(["random", "greedy", "greedy"], ruleset=six, games=40)
    >>> [player.name for player in standings.players]
    ['random', 'greedy', 'greedy#2']
    >>> standings.pairings[2].score
    0.5
    """
    plan = Tournament(
        players,
        ruleset=ruleset,
        games=games,
        seed=seed,
        openings=openings,
        gauntlet=gauntlet,
        max_plies=max_plies,
        seconds_per_move=seconds_per_move,
    )
    return run(plan, num_threads=num_threads, out=out, progress=progress)


def run(
    plan: Tournament,
    *,
    num_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> Standings:
    """Play a tournament step by step and write what is finished."""
    # Refuses a number of threads before there is a folder.
    plan.play([], num_threads=num_threads)
    with Progress(plan.games * len(plan.pairings), progress) as shown:
        tell = shown.tell
        if out is None:
            return play_rest(plan, None, num_threads=num_threads, tell=tell)
        with Folder(out, plan.settings) as folder:
            standings = play_rest(plan, folder, num_threads=num_threads, tell=tell)
            folder.write_results(standings)
            return standings


def play_rest(
    plan: Tournament,
    folder: Folder | None,
    *,
    num_threads: int | None,
    tell: Callable[[int], object],
) -> Standings:
    """Play what a folder does not hold yet, the same pairs of every pairing at a time."""
    parts, done = ([], []) if folder is None else folder.read(plan)
    rest = Rest(plan.pairings, plan.games // 2, done)
    step, most = FIRST_STEP, max(MOST_PAIRS // len(plan.pairings), 1)
    try:
        while chunks := rest.take(min(step, most)):
            began, before = time.monotonic(), sum(map(len, parts))
            parts.append(
                plan.play(
                    chunks,
                    num_threads=num_threads,
                    progress=counted_from(before, tell),
                )
            )
            if folder is not None:
                folder.write(chunks, plan, parts[-1])
            took = time.monotonic() - began
            if took < STEP_SECONDS[0]:
                step *= 2
            elif took > STEP_SECONDS[1]:
                step = max(step // 2, 1)
    except BaseException as interruption:
        kept = getattr(interruption, "games", None)
        if isinstance(kept, Games):
            parts.append(kept)
        interruption.standings = plan.standings(parts)  # type: ignore[attr-defined]
        raise
    return plan.standings(parts)


def counted_from(before: int, tell: Callable[[int], object]) -> Callable[[int], object]:
    """Return what adds the games finished before to those that are told."""
    return lambda finished: tell(before + finished)


class Rest:
    """The pairs of every pairing that are still to be played."""

    def __init__(
        self,
        pairings: list[tuple[int, int]],
        pairs: int,
        done: Iterable[tuple[int, int, int, int]],
    ) -> None:
        gaps: dict[tuple[int, int], list[tuple[int, int]]] = {}
        reached = dict.fromkeys(pairings, 0)
        for a, b, first, last in sorted(done):
            if reached[a, b] < first:
                gaps.setdefault((a, b), []).append((reached[a, b], first))
            reached[a, b] = max(reached[a, b], last)
        for pairing, first in reached.items():
            if first < pairs:
                gaps.setdefault(pairing, []).append((first, pairs))
        self.gaps = {pairing: gaps[pairing] for pairing in pairings if pairing in gaps}

    def take(self, pairs: int) -> list[Chunk]:
        """Take so many pairs, or what is left before the next gap, of every pairing."""
        chunks = []
        for (a, b), gaps in self.gaps.items():
            if not gaps:
                continue
            first, end = gaps.pop(0)
            last = min(first + pairs, end)
            if last < end:
                gaps.insert(0, (last, end))
            chunks.append(Chunk(a, b, first, last))
        return chunks


def read_chunk(chunk: object, field: str) -> tuple[int, ...]:
    """Return a chunk as the core takes it; the core knows the schedule.

    Raises
    ------
    ArenaError
        If a number is beyond those of any schedule.
    ArgumentTypeError
        If it is not four whole numbers.
    """
    numbers = tuple(map(plain, chunk)) if isinstance(chunk, (tuple, list)) else ()
    if len(numbers) != len(Chunk._fields) or any(type(number) is not int for number in numbers):
        raise wrong_type(chunk, field, "four whole numbers: a, b, first pair, pair after the last")
    if not all(0 <= number < 1 << 32 for number in numbers):
        raise ArenaError(
            f"{field} is {numbers}, no chunk of this tournament", field=field, value=numbers
        )
    return numbers


def seconds_of(seconds: object) -> float | None:
    """Return a time in seconds, whose range the core checks.

    Raises
    ------
    ArgumentTypeError
        If it is no number.
    """
    return None if seconds is None else check_number(seconds, "seconds_per_move")
