"""The benchmark: a player meets the fixed opponents of every board of the suite."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from endodoi._core import Player, __version__, different_names
from endodoi.benchmark_exam import examine
from endodoi.benchmark_suite import load_suite
from endodoi.committee import Committee
from endodoi.contestants import player_digests
from endodoi.core_policy import contestant, name_of
from endodoi.errors import ArenaError, ArgumentTypeError, PolicyError
from endodoi.estimates import mean_of, paired_interval
from endodoi.places import claim, folder_at, write_text
from endodoi.progress import Progress
from endodoi.report_card import CardGames, CardPart, ReportCard, rounded
from endodoi.tournament import Tournament, counted_from, play_rest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from endodoi.benchmark_suite import Part, Question, Scale, Suite
    from endodoi.policies import PolicyFunction
    from endodoi.report_card import CardRegret
    from endodoi.standings import PairingStanding, Standings

__all__ = ["Place", "benchmark", "file_digests", "play_suite", "read_player"]

#: The file of the card in the folder of a benchmark, the same for reading, and what tells the files
#: of the player from others.
CARD, MARKDOWN, DIGESTS = "card.json", "card.md", "player.json"


def benchmark(
    player: str | PolicyFunction,
    *,
    parts: str | Sequence[str] | None = None,
    scale: str = "full",
    name: str | None = None,
    num_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | Callable[[int], object] | None = None,
) -> ReportCard:
    """Measure a player by the benchmark suite and return its report card.

    On each board the player meets ``random``, ``greedy``, ``alphabeta:2``, ``:4`` and ``:8`` and
    the trained agent of that board, the same openings against each and from both sides; on 2x50
    ``alphabeta:8`` is left out. On 2x6 and Cross-Endodoi 2x6, which are solved, it also chooses in
    positions whose every move is valued by perfect play. Opponents, openings, seeds and positions
    are those of the suite's version: the same player gets the same card, for any number of
    threads.

    A game in which the player raises or moves illegally is lost, such a choice in a position
    counts as the move that loses most, and the card says how often that was. A board that the
    player cannot play is named with the reason; the others go on.

    Parameters
    ----------
    player : str or policy
        A specification, a policy of `endodoi.policies`, or your own function
        ``(observations [B, 2C+3], action_masks [B, C]) -> actions [B]``, which tells the boards
        apart by their number of columns ``C``.
    parts : str or sequence of str, optional
        Boards: ``"2x6"``, ``"cross-2x6"``, ``"2x8"``, ``"2x10"``, ``"2x50"``; by default all.
    scale : "full" or "small"
        400 games against each opponent and 500 positions, or 20 games and 50 positions to try.
    name : str, optional
        The player's name on the card; by default its specification or that of the function.
    num_threads : int, optional
        Threads; by default as many as the process may use.
    out : path, optional
        A folder for the card, made if need be: ``card.json`` and ``card.md``, written after each
        board. Called again it plays only the boards that the card does not have yet. The SHA-256
        of an agent's file is kept beside them: a changed agent is another player.
    progress : bool, "tqdm" or callable, optional
        As in `endodoi.simulate`, for the games of all boards.

    Returns
    -------
    card : ReportCard

    Raises
    ------
    PolicyError
        If the player cannot be made.
    ArenaError
        If the folder holds the card of another player, agent's file, suite, scale or package
        version.
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``card`` holds the boards finished before.

    Examples
    --------
    >>> import endodoi as ed
    >>> card = ed.arena.benchmark("greedy", parts=["2x6"], scale="small")
    >>> card["2x6"].overall.games, card["2x6"].regret.all.positions
    (120, 50)
    """
    player, name = read_player(player, name)
    place = Place(player, num_threads)
    return play_suite(place, name, parts=parts, scale=scale, out=out, progress=progress)


class Place:
    """Where the games of a benchmark are played and its positions asked for: this process.

    Attributes
    ----------
    player : str or policy
        The player as the core takes it.
    num_threads : int or None
    digests : dict of str to str
        What tells the files that the player is made of from others, by their names.
    """

    def __init__(self, player: str | PolicyFunction, num_threads: int | None) -> None:
        self.player = player
        self.num_threads = num_threads
        whole = isinstance(player, (str, Committee))
        self.digests = player_digests([name_of(player)], [player]) if whole else {}

    def ready(self) -> AbstractContextManager[None]:
        """Return what holds while the place is in use."""
        return nullcontext()

    def play(self, plan: Tournament, tell: Callable[[int], object]) -> Standings:
        """Play the games of a board, in which the player is the first."""
        return play_rest(plan, None, num_threads=self.num_threads, tell=tell)

    def examine(self, questions: Sequence[Question], part: Part, seed: int) -> CardRegret:
        """Let the player choose in the positions of a board."""
        return examine(self.player, questions, part.ruleset, seed)


def play_suite(
    place: Place,
    name: str,
    *,
    parts: str | Sequence[str] | None,
    scale: str,
    out: str | os.PathLike[str] | None,
    progress: bool | str | Callable[[int], object] | None,
) -> ReportCard:
    """Play the boards that a folder does not have yet at some place and return the card.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ArenaError, KeyboardInterrupt
        As `benchmark`.
    """
    suite = load_suite()
    selected, size = suite.select(parts), suite.scale(scale)
    empty = ReportCard(name, suite.version, scale, __version__, ())
    with CardFolder(out, empty, place.digests) as folder, place.ready():
        found = {part.name: part for part in folder.card.parts}
        rest = [part for part in selected if part.name not in found]
        total = sum(size.games * len(part.opponents()) for part in rest)
        with Progress(total, progress) as shown:
            tell, done = shown.tell, 0
            for part in rest:
                try:
                    found[part.name] = play_part(
                        place, name, part, suite, size, tell=counted_from(done, tell)
                    )
                except BaseException as interruption:
                    interruption.card = folder.card  # type: ignore[attr-defined]
                    raise
                done += size.games * len(part.opponents())
                tell(done)
                folder.write([found[one.name] for one in suite.parts if one.name in found])
        return folder.card


def read_player(player: str | PolicyFunction, name: str | None) -> tuple[str | PolicyFunction, str]:
    """Return the player as the core takes it, and its name.

    Raises
    ------
    ArgumentTypeError
        If it is no player, or the name is no text.
    PolicyError
        If the player cannot be made.
    """
    read = contestant(player, "player")
    if isinstance(read, Committee) and read.spec is not None:
        read = read.spec
    if isinstance(read, str):
        Player(read)
    shown: Any = name_of(read) if name is None else name
    if not isinstance(shown, str) or not shown.strip():
        raise ArgumentTypeError(f"name is {shown!r}, expected a text", field="name", value=shown)
    return read, shown


def file_digests(player: object) -> dict[str, str]:
    """Return what tells the file of a player ``FILE.py:NAME`` from others; nothing of others."""
    path = player.rpartition(":")[0] if isinstance(player, str) else ""
    if not path.endswith(".py"):
        return {}
    return {str(player): hashlib.sha256(Path(path).read_bytes()).hexdigest()}


def play_part(
    place: Place,
    name: str,
    part: Part,
    suite: Suite,
    size: Scale,
    *,
    tell: Callable[[int], object],
) -> CardPart:
    """Play the games of a board, ask for the moves in its positions, and sum up."""
    opponents = part.opponents()
    names = different_names([name, *opponents])
    rules = part.ruleset.to_dict()
    try:
        plan = Tournament(
            dict(zip(names, [place.player, *opponents.values()], strict=True)),
            ruleset=part.ruleset,
            games=size.games,
            seed=suite.games_seed,
            openings=suite.opening_plies,
            gauntlet=1,
        )
    except PolicyError as error:
        return CardPart(part.name, rules, cannot_play=str(error))
    standings = place.play(plan, tell)
    questions = part.questions(size.positions)
    regret = place.examine(questions, part, suite.positions_seed) if questions else None
    own = standings.players[0]
    return CardPart(
        name=part.name,
        ruleset=rules,
        overall=all_games(standings),
        opponents=tuple(
            games_of(opponent, pairing)
            for opponent, pairing in zip(opponents, standings.pairings, strict=True)
        ),
        illegal=own.illegal,
        error=own.error,
        late=own.late,
        failure=own.failure,
        regret=regret,
    )


def games_of(opponent: str, pairing: PairingStanding) -> CardGames:
    """Return the games against an opponent."""
    return CardGames(
        opponent=opponent,
        games=pairing.games,
        wins=pairing.wins,
        draws=pairing.draws,
        losses=pairing.losses,
        score=pairing.score,
        low=pairing.low,
        high=pairing.high,
        margin=pairing.margin,
        margin_half=pairing.margin_half,
        distinct=pairing.distinct,
    )


def all_games(standings: Standings) -> CardGames:
    """Sum up all games of a board; the unit of the intervals is the opening.

    The games of an opening against different opponents resemble each other: taken as independent
    they would promise too much.
    """
    columns = standings.table.to_numpy()
    sign = 1 - 2 * columns["south"].astype(np.int64)
    points = (1 + sign * columns["winner"]) / 2
    leads = sign * (columns["captured_south"].astype(np.int64) - columns["captured_north"])
    openings = int(columns["pair"].max()) + 1
    games = np.bincount(columns["pair"], minlength=openings)
    scores = (np.bincount(columns["pair"], points, openings) / games).tolist()
    margins = (np.bincount(columns["pair"], leads, openings) / games).tolist()
    # Openings that differ against one opponent at least.
    distinct = max(pairing.distinct_pairs for pairing in standings.pairings)
    low, high = paired_interval(scores, distinct)
    mean = mean_of(margins)
    own = standings.players[0]
    return CardGames(
        opponent="all",
        games=own.games,
        wins=own.wins,
        draws=own.draws,
        losses=own.losses,
        score=own.score,
        low=low,
        high=high,
        margin=mean.mean,
        margin_half=mean.half * (openings / distinct) ** 0.5 if distinct > 1 else None,
        distinct=standings.distinct,
    )


class CardFolder:
    """The folder of a benchmark, held by one process at a time; nothing is written without one.

    Parameters
    ----------
    path : path or None
    empty : ReportCard
        The card before anything is played.
    digests : dict of str to str
        What tells the files of the player from others.

    Attributes
    ----------
    card : ReportCard
        What is finished.

    Raises
    ------
    ArenaError
        If the folder holds the card of another player, of other files of it, of another suite,
        scale or package version.
    OSError
        If it cannot be written to, or another process writes there.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, empty: ReportCard, digests: dict[str, str]
    ) -> None:
        self.path = None if path is None else folder_at(path)
        self.card = empty
        self.digests = digests
        self.claimed: int | None = None
        if self.path is None:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        self.claimed = claim(str(self.path / ".lock"))
        try:
            if (self.path / CARD).is_file():
                self.card = self.same_player(ReportCard.read(self.path / CARD))
                self.same_files(self.path / DIGESTS)
        except BaseException:
            self.release()
            raise

    def same_player(self, found: ReportCard) -> ReportCard:
        """Refuse the card of something else."""
        for field in ("player", "suite", "scale", "endodoi"):
            before, now = getattr(found, field), getattr(self.card, field)
            if before != now:
                raise ArenaError(
                    f"{self.path} holds another report card: {field} was {before!r} there and is "
                    f"{now!r} now",
                    field=field,
                    value=now,
                )
        return found

    def same_files(self, path: Path) -> None:
        """Refuse a player whose files are not those that have played; they may have moved."""
        try:
            before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            known = set(before.values())
        except (AttributeError, TypeError, ValueError) as error:
            raise ArenaError(f"{path} is damaged: {error}", field="out", value=str(path)) from error
        for name, digest in self.digests.items():
            if digest not in known:
                raise ArenaError(
                    f"{self.path} holds another report card: the file of {name} was another one "
                    f"there (SHA-256 {before.get(name, 'not known')}) and is {digest} now",
                    field="player",
                    value=name,
                )

    def write(self, parts: list[CardPart]) -> None:
        """Write the card with these parts."""
        card = self.card
        self.card = rounded(
            ReportCard(card.player, card.suite, card.scale, card.endodoi, tuple(parts))
        )
        if self.path is not None:
            write_text(self.path / DIGESTS, json.dumps(self.digests, indent=1) + "\n")
            self.card.write_json(self.path / CARD)
            write_text(self.path / MARKDOWN, self.card.to_markdown())

    def release(self) -> None:
        """Let other processes write here."""
        if self.claimed is not None:
            os.close(self.claimed)
            self.claimed = None

    def __enter__(self) -> CardFolder:  # noqa: PYI034
        """Begin."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Release the folder."""
        self.release()
