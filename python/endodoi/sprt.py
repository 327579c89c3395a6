"""The sequential test: play until it is known which of two players is stronger."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi.errors import SprtError
from endodoi.faults import faults_text
from endodoi.numbers_given import check_number
from endodoi.wording import readable, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from endodoi.faults import PlayerFaults

__all__ = ["Sprt", "SprtResult"]


#: The most Elo points of a hypothesis, either way.
MAX_POINTS = 200

#: Counts of single games: lost, drawn and won.
GAMES = 3


@dataclass(frozen=True)
class SprtResult:
    """What results say about the two hypotheses of a test; its text says it in a few lines.

    Attributes
    ----------
    accepted : "H0", "H1" or None
        The hypothesis whose bound was reached; None while the test goes on.
    llr : float
        The log-likelihood ratio of H1 against H0.
    lower, upper : float
        H0 is accepted at `lower` or below, H1 at `upper` or above.
    counts : tuple of int
        Pairs in which the first player scored 0, 1/2, 1, 3/2 and 2 points; or games lost, drawn and
        won.
    games : int
    score, score_low, score_high : float
        The mean score of a game, 0 to 1, with its 95 % interval. The interval takes the number of
        games as fixed; a test that stops early leans towards its decision.
    elo, elo_low, elo_high : float
        The same as a difference in Elo points of the model; infinite where everything was won.
    settings : dict
        The hypotheses `elo0` and `elo1`, `alpha`, `beta` and the `model`; and those of the games.
    players : tuple of str or None
        Who played, None where only counts were given.
    repeated : int
        Pairs left out because they repeat an earlier one.
    faults : tuple of PlayerFaults
        For each player the games counted that it lost by its own fault; empty where only counts
        were given.
    """

    accepted: str | None
    llr: float
    lower: float
    upper: float
    counts: tuple[int, ...]
    games: int
    score: float
    score_low: float
    score_high: float
    elo: float
    elo_low: float
    elo_high: float
    settings: dict[str, Any]
    players: tuple[str, str] | None = None
    repeated: int = 0
    faults: tuple[PlayerFaults, ...] = ()

    @classmethod
    def of(cls, text: str) -> SprtResult:
        """Read a result from JSON, which has no infinity."""
        read = json.loads(text)
        score_low, score_high = read["interval"]
        elos = (read["elo"], *read["elo_interval"])
        scores = (read["score"], score_low, score_high)
        elo, elo_low, elo_high = (
            math.copysign(math.inf, score - 0.5) if elo is None else elo
            for elo, score in zip(elos, scores, strict=True)
        )
        return cls(
            read["accepted"],
            read["llr"],
            read["lower"],
            read["upper"],
            tuple(read["counts"]),
            read["games"],
            *scores,
            elo,
            elo_low,
            elo_high,
            settings=read["config"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as JSON can hold them: what is infinite becomes None."""
        numbers = asdict(self)
        for name in ("elo", "elo_low", "elo_high"):
            if math.isinf(numbers[name]):
                numbers[name] = None
        players = None if self.players is None else list(self.players)
        lists = {"counts": list(self.counts), "faults": list(numbers["faults"])}
        return {**numbers, **lists, "players": players}

    def __str__(self) -> str:
        """Return the decision, the ratio between its bounds, and the difference."""
        elo0, elo1 = (f"{self.settings[name]:+g}" for name in ("elo0", "elo1"))
        said = {"H0": f"H0 ({elo0}) accepted", "H1": f"H1 ({elo1}) accepted", None: "no decision"}
        ratio = f"LLR {signed(self.llr, 2)} of {self.lower:+.2f} to {self.upper:+.2f}"
        tested = f"{elo0} against {elo1} {self.settings['model']} Elo"
        unit = "games lost, drawn, won" if len(self.counts) == GAMES else "pairs with 0 to 2 points"
        counts = " ".join(map(str, self.counts))
        score = f"score {self.score:.3f} ({self.score_low:.3f} to {self.score_high:.3f})"
        elo = f"Elo {signed(self.elo, 1)} ({signed(self.elo_low, 1)} to {signed(self.elo_high, 1)})"
        decision = f"{said[self.accepted]}: {ratio}, {tested}"
        lines = [decision, f"{self.games} games, {unit}: {counts}", f"{score}, {elo}"]
        if self.players is not None:
            lines.insert(0, " against ".join(map(readable, self.players)))
        if self.repeated:
            which = "pairs that repeat others are"
            if self.repeated == 1:
                which = "pair that repeats another is"
            lines.append(f"{self.repeated} {which} left out")
        lines += faults_text(self.faults)
        return "\n".join(lines)


class Sprt:
    """A sequential probability ratio test of two hypotheses about the difference of two players.

    The log-likelihood ratio is the generalised one of Van den Bergh, on pairs of games
    ("pentanomial"): under each hypothesis the chances of the five results of a pair are the most
    likely ones that make the difference. The two games of a pair may depend on each other.

    Parameters
    ----------
    elo0, elo1 : float
        The differences of the hypotheses H0 and H1, -200 to 200 points, `elo0` below `elo1`.
    alpha, beta : float
        The chances to accept H1 where H0 is true and H0 where H1 is true, below 0.5.
    model : "logistic" or "normalized"
        What points mean: an expected score of ``1 / (1 + 10^(-elo/400))``; or the expected score
        above one half in standard deviations of a game, times ``800 / ln 10``, which takes the same
        number of games to show whether many or few are drawn.

    Raises
    ------
    SprtError
        If an argument is out of range.

    Examples
    --------
    >>> import endodoi as ed
    >>> test = ed.arena.Sprt(0, 2, model="normalized")
    >>> found = test.result([365, 16618, 36229, 16974, 390])
    >>> round(found.llr, 2), found.accepted
    (2.25, None)
    """

    def __init__(
        self,
        elo0: float,
        elo1: float,
        *,
        alpha: float = 0.05,
        beta: float = 0.05,
        model: str = "logistic",
    ) -> None:
        self._arguments = (
            check_points(elo0, "elo0"),
            check_points(elo1, "elo1"),
            check_number(alpha, "alpha"),
            check_number(beta, "beta"),
            str(model),
        )
        self._core = _core.Sprt(
            *self._arguments[:2],
            alpha=self._arguments[2],
            beta=self._arguments[3],
            model=self._arguments[4],
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return remake, self._arguments

    def __repr__(self) -> str:
        """Return the hypotheses."""
        elo0, elo1, *_, model = self._arguments
        return f"<Sprt of {elo0:+g} against {elo1:+g} {model} Elo>"

    def result(self, counts: Sequence[int]) -> SprtResult:
        """Return what counts of results say.

        Parameters
        ----------
        counts : sequence of int
            Five counts of pairs, in which the first player scored 0, 1/2, 1, 3/2 and 2 points; or
            three of games lost, drawn and won, where games were not played in pairs. 1,000,000 each
            at most.

        Raises
        ------
        SprtError
            If there are not so many, or one is out of range.
        """
        return SprtResult.of(self._core.result(counts))

    def decide(self, counts: Sequence[int], half_points: Sequence[int]) -> tuple[list[int], int]:
        """Test after each of some pairs in turn.

        Parameters
        ----------
        counts : sequence of int
            Five counts of the pairs before.
        half_points : sequence of int
            The half points of the first player in each pair, 0 to 4.

        Returns
        -------
        counts : list of int
            Those given and the pairs up to the decision.
        played : int
            The pairs up to the decision: all of them if there is none.
        """
        counted, played = self._core.decide(counts, half_points)
        return list(counted), played


def check_points(value: float, name: str) -> float:
    """Return a number of Elo points.

    Raises
    ------
    ArgumentTypeError
        If it is no number.
    SprtError
        If it is out of range.
    """
    points = check_number(value, name)
    if not -MAX_POINTS <= points <= MAX_POINTS:
        raise SprtError(
            f"{name} is {points:g}, expected -{MAX_POINTS} to {MAX_POINTS}",
            field=name,
            value=points,
        )
    # No -0: texts would show its sign.
    return points + 0.0


def remake(elo0: float, elo1: float, alpha: float, beta: float, model: str) -> Sprt:
    """Make a test of its arguments."""
    return Sprt(elo0, elo1, alpha=alpha, beta=beta, model=model)
