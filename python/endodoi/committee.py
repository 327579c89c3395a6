"""Players that consult on every move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from endodoi._core import Player, committee_name
from endodoi.core_policy import Rows, contestant, from_spec, name_of, read_array
from endodoi.errors import PolicyError
from endodoi.numbers_given import check_number, wrong_type
from endodoi.settings import check_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from endodoi._core import Ruleset
    from endodoi.core_policy import PolicyFunction

__all__ = ["Committee"]

#: The least and the greatest weight.
WEIGHTS = 1e-6, 1e6

#: Sums of weights that differ by less, for one part of them, are equal.
ROUNDING = 1e-9


class Committee(Rows):
    """Lets players vote on every move, as the two teams of eight do in En Gehé.

    Each member chooses for itself; the column with the greatest sum of weights is played, the
    lowest one among equals. The order of the members changes nothing. Where all members are players
    of the package the committee is one too, with a specification; your own functions may be
    members anywhere.

    A member that fails or chooses an illegal column makes the committee fail; the error names the
    member.

    Parameters
    ----------
    members : sequence of str or policy
        1 to 100 specifications, policies of `endodoi.policies`, or functions
        ``(observations [B, 2C+3], action_masks [B, C]) -> actions [B]``.
    weights : sequence of float, optional
        What the votes count, 0.000001 to 1,000,000 each; 1 by default.
    ruleset : Ruleset, optional
        The rules of the games, for a committee that you call yourself.
    seed : int
        Seed of members that draw, for a committee that you call yourself.

    Attributes
    ----------
    name : str
        As ``committee:8xmcts:20+2*greedy``: how often a member is there, and its weight.
    spec : str or None
        The specification that makes the committee again, where there is one.

    Raises
    ------
    PolicyError
        If there are no or too many members, a weight is out of range, or a member cannot be made.

    Examples
    --------
    >>> import endodoi as ed
    >>> committee = ed.policies.Committee(["mcts:20"] * 8 + ["greedy"], [1] * 8 + [2])
    >>> committee.spec
    'committee:8xmcts:20+2*greedy'
    >>> table = ed.simulate(10, ruleset=ed.Ruleset(columns=4), south=committee, seed=1)
    """

    def __init__(
        self,
        members: Sequence[str | PolicyFunction],
        weights: Sequence[float] | None = None,
        *,
        ruleset: Ruleset | None = None,
        seed: int = 0,
    ) -> None:
        if isinstance(members, str) or not isinstance(members, (list, tuple)):
            raise wrong_type(members, "members", "a list of players")
        self._members = [read_member(member, place) for place, member in enumerate(members)]
        self._weights = read_weights(weights, len(members))
        self.ruleset = ruleset
        self.seed = check_seed(seed)
        self.name = committee_name([name_of(member) for member in self._members], self._weights)
        #: Functions have a name too.
        self.__name__ = self.name
        whole = all(isinstance(member, str) for member in self._members)
        # A specification that cannot be played is refused here.
        self.spec: str | None = Player(self.name).spec if whole else None

    @property
    def _votes(self) -> list[tuple[str | PolicyFunction, float]]:
        """The members as the core takes them, with their weights."""
        return list(zip(self._members, self._weights, strict=True))

    def _choose(
        self, views: npt.NDArray[np.int16], masks: npt.NDArray[np.int8], call: int
    ) -> npt.NDArray[np.int64]:
        votes = np.zeros(masks.shape)
        for place, weight in enumerate(self._weights):
            chosen = self._ask(place, call, views, masks)
            votes[np.arange(len(votes)), chosen] += weight
        enough = votes.max(axis=1, keepdims=True) * (1 - ROUNDING)
        return np.where(masks.any(axis=1), np.argmax(votes >= enough, axis=1), 0)

    def _ask(
        self, place: int, call: int, views: npt.NDArray[np.int16], masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Return the columns that one member chooses, 0 on finished rows."""
        try:
            chosen = read_array(self._player(place, call)(views, masks), "actions")
        except SystemExit as error:
            raise self._fault(place, f"it ends the program: {error!r}") from error
        except Exception as error:
            raise self._fault(place, str(error)) from error
        if chosen.shape != (len(masks),) or chosen.dtype.kind == "b":
            raise self._fault(place, f"{chosen.shape} actions for {len(masks)} games")
        in_play = masks.any(axis=1)
        chosen = np.where(in_play, chosen, 0).astype(np.int64)
        inside = (chosen >= 0) & (chosen < masks.shape[1])
        legal = inside & (masks[np.arange(len(masks)), np.where(inside, chosen, 0)] != 0)
        wrong = np.flatnonzero(in_play & ~legal)
        if len(wrong) > 0:
            row = int(wrong[0])
            columns = np.flatnonzero(masks[row]).tolist()
            raise self._fault(
                place, f"column {chosen[row]} is not legal in row {row}, legal: {columns}"
            )
        return chosen

    def _player(self, place: int, call: int) -> PolicyFunction:
        """Return a member as a function, with draws of its own."""
        member = self._members[place]
        if not isinstance(member, str):
            return member
        seed = (self.seed + 1_000_003 * call + place) % 2**64
        return from_spec(member, ruleset=self.ruleset, seed=seed)

    def _fault(self, place: int, message: str) -> PolicyError:
        name = name_of(self._members[place])
        return PolicyError(
            f"player {self.name}: member {place} ({name}): {message}", player=self.name
        )

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Committee {self.name}>"


def read_member(member: str | PolicyFunction, place: int) -> str | PolicyFunction:
    """Return a member as the core takes it: a specification or a function.

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    """
    if isinstance(member, Committee) and member.spec is not None:
        return member.spec
    return contestant(member, f"members[{place}]")


def read_weights(weights: Sequence[float] | None, members: int) -> list[float]:
    """Return one weight for each member.

    Raises
    ------
    ArgumentTypeError
        If one is no number.
    PolicyError
        If there are more or fewer, or one is out of range.
    """
    if weights is None:
        return [1.0] * members
    listed = [check_number(weight, f"weights[{i}]") for i, weight in enumerate(weights)]
    if len(listed) != members:
        raise PolicyError(
            f"committee: {len(listed)} weights for {members} members", player="committee"
        )
    low, high = WEIGHTS
    for place, weight in enumerate(listed):
        if not low <= weight <= high:
            raise PolicyError(
                f"committee: the weight of member {place} is {weight:g}, expected {low:f} to "
                f"{high:.0f}",
                player="committee",
            )
    return listed
