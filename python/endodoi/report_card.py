"""The report card of a benchmark: what a player scored on each board of the suite."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi.benchmark_suite import FOLDER
from endodoi.errors import ArenaError, ArgumentTypeError
from endodoi.places import write_text
from endodoi.regret import RegretPart
from endodoi.report_card_text import card_text, comparison_text
from endodoi.summary import Mean, Share

if TYPE_CHECKING:
    import os

__all__ = [
    "CardComparison",
    "CardGames",
    "CardPart",
    "CardRegret",
    "ReportCard",
    "stored_cards",
]

#: What the file of a card says that it is.
FORMAT, FORMAT_VERSION = "endodoi-report-card", 1

#: Digits that a card keeps of a number.
DIGITS = 6


#: The types of JSON by the names that annotations have for them, and the fields that are lists.
TYPES: dict[str, Any] = {
    "None": type(None),
    "dict": dict,
    "float": (int, float),
    "int": int,
    "list": list,
    "str": str,
}
LISTS = ("opponents", "parts")


@dataclass(frozen=True)
class CardGames:
    """Games of the player, seen from it.

    Attributes
    ----------
    opponent : str
        Whom it met; ``"all"`` are all of a board.
    games, wins, draws, losses : int
    score, low, high : float
        Mean score, 0 to 1, with its 95 % interval. Its unit is the opening: the two games of a
        pair, in ``"all"`` the games of that opening against all opponents together.
    margin : float
        Mean seeds captured less those of the opponent.
    margin_half : float or None
        Half-width of its 95 % interval.
    distinct : int
        Games that differ from each other after the opening.
    """

    opponent: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float
    margin: float
    margin_half: float | None
    distinct: int


@dataclass(frozen=True)
class CardRegret:
    """What the player's moves lose against perfect play.

    Attributes
    ----------
    all, opening, middle, endgame : RegretPart
        All positions, and those with more than two thirds of the seeds of the start on the board,
        with more than one third, and with the rest.
    illegal, error : int
        Choices that were illegal, or failed: each counts as the move that loses most.
    failure : str or None
        What went wrong the first time.
    """

    all: RegretPart
    opening: RegretPart
    middle: RegretPart
    endgame: RegretPart
    illegal: int
    error: int
    failure: str | None


@dataclass(frozen=True)
class CardPart:
    """A board of the suite.

    Attributes
    ----------
    name : str
        The name of the part.
    ruleset : dict
        Its rules.
    cannot_play : str or None
        Why the player cannot play this board, if it cannot: the fields below are empty then.
    overall : CardGames or None
        All games of the board.
    opponents : tuple of CardGames
        The games against each opponent.
    illegal, error, late : int
        Games lost by an illegal move, by a failure to choose, by a move that took too long.
    failure : str or None
        What went wrong the first time.
    regret : CardRegret or None
        Where the board is solved.
    """

    name: str
    ruleset: dict[str, Any]
    cannot_play: str | None = None
    overall: CardGames | None = None
    opponents: tuple[CardGames, ...] = ()
    illegal: int = 0
    error: int = 0
    late: int = 0
    failure: str | None = None
    regret: CardRegret | None = None


@dataclass(frozen=True, repr=False)
class ReportCard:
    """The report card of a player; its text shows all of it.

    The same player gets the same card, whatever the number of threads, on any machine.

    Attributes
    ----------
    player : str
        The player's name.
    suite : int
        The version of the suite. Only cards of the same version can be compared.
    scale : "full" or "small"
        How much was played.
    endodoi : str
        The version of the package.
    parts : tuple of CardPart
        The boards, in the order of the suite; those that were not asked for are missing.
    """

    player: str
    suite: int
    scale: str
    endodoi: str
    parts: tuple[CardPart, ...]

    def __getitem__(self, name: str) -> CardPart:
        """Return the part of this name.

        Raises
        ------
        KeyError
            If the card has none.
        """
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise KeyError(f"no part {name!r}, there are {names}")

    def to_dict(self) -> dict[str, Any]:
        """Return the card as nested dictionaries that JSON can hold."""
        numbers: dict[str, Any] = plain(asdict(self))
        return {"format": FORMAT, "format_version": FORMAT_VERSION, **numbers}

    @classmethod
    def from_dict(cls, read: Any) -> ReportCard:
        """Read a card from what `to_dict` returns.

        Raises
        ------
        ArenaError
            If it is none; the message names the field.
        """
        if not isinstance(read, dict) or read.get("format") != FORMAT:
            raise ArenaError(
                f"this is no report card: format is not {FORMAT!r}", field="format", value=None
            )
        if read.get("format_version") != FORMAT_VERSION:
            version = read.get("format_version")
            raise ArenaError(
                f"format_version of the card is {version!r}, expected {FORMAT_VERSION}",
                field="format_version",
                value=version,
            )
        rest = {
            name: value for name, value in read.items() if name not in ("format", "format_version")
        }
        card: ReportCard = known(cls, rest, "card", {"parts": read_parts})
        return card

    def to_json(self) -> str:
        """Return the card as JSON."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ReportCard:
        """Read a card from JSON.

        Raises
        ------
        ArenaError
            If it is none.
        """
        try:
            read = json.loads(text)
        except ValueError as error:
            raise ArenaError(
                f"this is no report card: {error}", field="json", value=None
            ) from error
        return cls.from_dict(read)

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the card to a file, under a temporary name that is then renamed."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ReportCard:
        """Read a card from a file of `write_json`.

        Raises
        ------
        ArenaError
            If it holds none.
        OSError
            If it cannot be read.
        """
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ArenaError as error:
            raise ArenaError(f"{path}: {error}", field=error.field, value=error.value) from error

    def compare(self, *others: ReportCard) -> CardComparison:
        """Put this card and others side by side.

        Raises
        ------
        ArenaError
            If one is of another version of the suite.
        """
        for other in others:
            if not isinstance(other, ReportCard):
                raise ArgumentTypeError(
                    f"card is {other!r} ({type(other).__name__}), expected a ReportCard",
                    field="card",
                    value=other,
                )
            if other.suite != self.suite:
                raise ArenaError(
                    f"suite of the card of {other.player} is {other.suite}, expected {self.suite}, "
                    f"that of the card of {self.player}: only cards of the same version can be "
                    "compared",
                    field="suite",
                    value=other.suite,
                )
        return CardComparison((self, *others))

    def to_markdown(self) -> str:
        """Return the card as Markdown."""
        return card_text(self, markdown=True)

    def __str__(self) -> str:
        """Return the card as a text for the terminal."""
        return card_text(self, markdown=False).rstrip("\n")

    def __repr__(self) -> str:
        """Return a short description."""
        names = ", ".join(part.name for part in self.parts) or "nothing yet"
        return f"<ReportCard of {self.player}: {names}>"

    def _repr_markdown_(self) -> str:
        """Return the card as notebooks show it."""
        return self.to_markdown()


@dataclass(frozen=True, repr=False)
class CardComparison:
    """Report cards of the same version of the suite, side by side.

    Attributes
    ----------
    cards : tuple of ReportCard
    """

    cards: tuple[ReportCard, ...]

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return comparison_text(self.cards, markdown=True)

    def __str__(self) -> str:
        """Return the table as a text for the terminal."""
        return comparison_text(self.cards, markdown=False).rstrip("\n")

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<CardComparison of {', '.join(card.player for card in self.cards)}>"

    def _repr_markdown_(self) -> str:
        """Return the table as notebooks show it."""
        return self.to_markdown()


def stored_cards() -> dict[str, ReportCard]:
    """Return the cards that come with the package, by player.

    Examples
    --------
    >>> import endodoi as ed
    >>> ed.arena.stored_cards()["greedy"]["2x6"].overall.games
    2400
    """
    paths = sorted((FOLDER / "cards").glob("*.json"))
    return {card.player: card for card in map(ReportCard.read, paths)}


def card_file(player: str) -> Path:
    """Return where the card of a player of the package is kept."""
    return FOLDER / "cards" / (re.sub(r"[^\w.-]+", "-", player) + ".json")


def plain(value: Any) -> Any:
    """Round numbers and write None for those that JSON does not know."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return round(value, DIGITS) if math.isfinite(value) else None
    return value


def rounded(card: ReportCard) -> ReportCard:
    """Return a card with the digits that its file keeps."""
    return ReportCard.from_dict(card.to_dict())


def read_parts(read: list[Any]) -> tuple[CardPart, ...]:
    """Read the parts of a card."""
    inner = {
        "overall": lambda one: None if one is None else known(CardGames, one, "overall"),
        "opponents": lambda many: tuple(known(CardGames, one, "opponents") for one in many),
        "regret": lambda one: None if one is None else read_regret(one),
    }
    return tuple(known(CardPart, part, "parts", inner) for part in read)


def read_regret(read: dict[str, Any]) -> CardRegret:
    """Read what the player's moves lose."""

    def phase(one: Any) -> Any:
        inner = {
            "optimal": lambda share: known(Share, share, "optimal"),
            "outcome_changing": lambda share: known(Share, share, "outcome_changing"),
            "seeds_lost": read_mean,
        }
        return known(RegretPart, one, "regret", inner)

    regret: CardRegret = known(
        CardRegret, read, "regret", dict.fromkeys(("all", "opening", "middle", "endgame"), phase)
    )
    return regret


def read_mean(read: Any) -> Mean:
    """Read a mean; a half-width that is infinite is None in JSON."""
    half = read.get("half") if isinstance(read, dict) else None
    mean: Mean = known(Mean, read, "seeds_lost", {"half": lambda _half: 0.0})
    if half is not None and not is_kind(half, "float"):
        raise ArenaError(f"half of the card is {half!r}", field="half", value=half)
    return Mean(mean.mean, math.inf if half is None else half)


def known(kind: Any, read: Any, where: str, inner: dict[str, Any] | None = None) -> Any:
    """Make an object of exactly its fields; `inner` reads those that are no plain values.

    Raises
    ------
    ArenaError
        If one is missing, too many or of the wrong type.
    """
    types = {item.name: str(item.type) for item in fields(kind)}
    if not isinstance(read, dict):
        raise ArenaError(
            f"{where} of the card is {read!r}, expected an object", field=where, value=read
        )
    if odd := sorted(set(types) ^ set(read)):
        raise ArenaError(
            f"{where} of the card: the fields {', '.join(odd)} are missing or unknown",
            field=where,
            value=odd,
        )
    inner = inner or {}
    for name, value in read.items():
        expected = "list" if name in LISTS else types[name]
        if not is_kind(value, expected) and (name not in inner or name in LISTS):
            raise ArenaError(
                f"{name} of the card is {value!r}, expected {expected}", field=name, value=value
            )
    return kind(**{name: inner.get(name, same)(value) for name, value in read.items()})


def is_kind(value: object, expected: str) -> bool:
    """Tell whether a value of JSON is of the type that an annotation names."""
    if isinstance(value, bool):
        return False
    names = [name.partition("[")[0] for name in expected.split(" | ")]
    return any(isinstance(value, TYPES[name]) for name in names if name in TYPES)


def same(value: Any) -> Any:
    """Return the value itself."""
    return value
