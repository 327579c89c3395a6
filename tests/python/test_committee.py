"""Committees: votes, mixed members, failures, the same inside and outside of the core."""

from __future__ import annotations

import contextlib
import pickle
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

import endodoi as ed
from endodoi.contestants import renamed

if TYPE_CHECKING:
    import numpy.typing as npt

    from endodoi.policies import PolicyFunction

SIX = ed.Ruleset(columns=6)


def lowest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Play the lowest legal column."""
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def highest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Play the highest legal column."""
    columns: npt.NDArray[Any] = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    return columns


def failing(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> NoReturn:
    """Lose its nerve."""
    raise RuntimeError("lost its nerve")


def quitting(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> NoReturn:
    """Call for the end of the program."""
    sys.exit(3)


def illegal(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Choose what is not there."""
    return np.full(len(masks), 77)


def batch(count: int, plies: int, seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return views and masks of games after some random plies."""
    env = ed.VectorEnv(count, SIX, random_opening_plies=plies, seed=seed)
    views, infos = env.reset()
    return views, infos["action_mask"]


def test_members_of_a_specification_are_renamed_in_their_place() -> None:
    spec = "committee:8xmcts:20+2.5*greedy+{committee:greedy+3*{mcts:2}}+random"
    found = renamed(spec, {"greedy": "alphabeta:2", "mcts:2": "mcts:20"})
    again = "committee:8xmcts:20+2.5*alphabeta:2+{committee:alphabeta:2+3*mcts:20}+random"
    assert ed.policies.from_spec(found).spec == ed.policies.from_spec(again).spec
    assert renamed("greedy", {"greedy": "random"}) == "random"
    assert renamed("greedy", {}) == "greedy"


def test_a_committee_of_players_is_a_player_with_a_specification() -> None:
    committee = ed.policies.Committee(["mcts:20"] * 8 + [ed.policies.Greedy()], [1] * 8 + [2.5])
    assert committee.spec == "committee:8xmcts:20+2.5*greedy"
    assert committee.name == committee.spec
    again = ed.policies.from_spec(committee.spec, ruleset=SIX)
    assert again.spec == committee.spec
    by_spec, by_object = (
        ed.simulate(60, ruleset=SIX, south=player, seed=2).to_numpy()
        for player in (committee.spec, committee)
    )
    assert all((by_spec[name] == by_object[name]).all() for name in by_spec)
    assert pickle.loads(pickle.dumps(committee)).spec == committee.spec


def test_the_greatest_sum_of_weights_is_played() -> None:
    views, masks = batch(40, 6)
    low, high = lowest(views, masks), highest(views, masks)
    cases: list[tuple[list[float], npt.NDArray[Any]]] = [
        ([1, 1, 1], low),
        ([1, 1, 2.5], high),
        ([1, 1, 2], low),
        ([0.1, 0.2, 0.3], low),
    ]
    for weights, expected in cases:
        committee = ed.policies.Committee([lowest, lowest, highest], weights)
        assert (committee(views, masks) == expected).all()
        assert committee.spec is None
        assert committee(views[0], masks[0]) == expected[0]
    finished = masks * 0
    assert (ed.policies.Committee([lowest])(views, finished) == 0).all()


def test_votes_inside_and_outside_of_the_core_are_the_same() -> None:
    """Mixed members; games played by the core are those that the committee's own calls give."""
    members: list[str | PolicyFunction] = ["alphabeta:3", highest, "greedy", lowest]
    committee = ed.policies.Committee(members, [1, 1.5, 1, 1], ruleset=SIX)
    called: list[int] = []

    def by_hand(observations: npt.NDArray[Any], action_masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        called.append(len(observations))
        return committee(observations, action_masks)

    inside, outside = (
        ed.simulate(80, ruleset=SIX, south=player, seed=5).to_numpy()
        for player in (committee, by_hand)
    )
    assert called
    assert all((inside[name] == outside[name]).all() for name in inside)


def test_members_see_every_open_row() -> None:
    rows: list[int] = []

    def seeing(observations: npt.NDArray[Any], action_masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        rows.append(len(observations))
        return lowest(observations, action_masks)

    committee = ed.policies.Committee([seeing, "random"], [3, 1], seed=4)
    env = ed.VectorEnv(5, SIX, opponent=committee, seed=1)
    _, infos = env.reset()
    for _ in range(10):
        _, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert max(rows) > 1


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (failing, "lost its nerve"),
        (quitting, r"it ends the program: SystemExit\(3\)"),
        (illegal, "column 77"),
    ],
)
def test_a_failing_member_is_named(member: PolicyFunction, said: str) -> None:
    views, masks = batch(3, 4)
    committee = ed.policies.Committee([lowest, member])
    message = rf"member 1 \({getattr(member, '__name__', '')}\): .*{said}"
    with pytest.raises(ed.PolicyError, match=message):
        committee(views, masks)
    # In games it loses them with the reason.
    warned: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if member is not illegal:
        warned = pytest.warns(RuntimeWarning)
    with warned:
        table = ed.simulate(6, ruleset=SIX, south=committee, seed=1).to_numpy()
    reasons = {ed.GameTable.END_REASONS[code] for code in table["end_reason"]}
    assert reasons <= {"illegal", "error"}
    assert (table["winner"] == -1).all()


def test_members_that_know_no_rules_are_told() -> None:
    views, masks = batch(2, 2)
    committee = ed.policies.Committee([lowest, "greedy"])
    with pytest.raises(ed.PolicyError, match=r"member 1 \(greedy\): .*ruleset="):
        committee(views, masks)


@pytest.mark.parametrize(
    ("members", "weights", "message"),
    [
        ([], None, "0 members, expected 1 to 100"),
        (["greedy"] * 101, None, "101 members"),
        (["greedy"], [0], "weight of member 0 is 0"),
        (["greedy", "random"], [1], "1 weights for 2 members"),
        (["nobody"], None, "nobody"),
        (["greedy", lowest], [float("nan"), 1], "weight of member 0 is nan"),
        (["greedy"], [1e308], r"member 0 is 1e\+308, expected 0\.000001 to 1000000"),
        (["greedy"], [1e-308], "member 0 is 1e-308, expected"),
    ],
)
def test_what_is_no_committee_is_refused(members: Any, weights: Any, message: str) -> None:
    with pytest.raises(ed.PolicyError, match=message):
        ed.policies.Committee(members, weights)


def test_what_is_no_player_is_refused_by_its_place() -> None:
    with pytest.raises(ed.ArgumentTypeError, match=r"members\[1\] is 5"):
        ed.policies.Committee(["greedy", 5])  # type: ignore[list-item]
    with pytest.raises(ed.ArgumentTypeError, match="members is 'greedy'"):
        ed.policies.Committee("greedy")
    with pytest.raises(ed.ArgumentTypeError, match=r"weights\[0\] is True"):
        ed.policies.Committee(["greedy"], [True])
