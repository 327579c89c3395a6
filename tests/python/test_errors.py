"""Errors: classes, attributes, pickles."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed

if TYPE_CHECKING:
    from collections.abc import Callable

CASES: list[tuple[type[ed.EndodoiError], Callable[[], Any]]] = [
    (ed.RulesetError, lambda: ed.Ruleset(columns=65)),
    (ed.ArgumentTypeError, lambda: ed.Ruleset(columns=6.5)),  # type: ignore[arg-type]
    (ed.ArgumentValueError, lambda: ed.Position.start(ed.Ruleset()).perft(-1)),
    (ed.NotationError, lambda: ed.Position.from_text("x", ed.Ruleset())),
    (ed.SetupError, lambda: ed.Position.from_board([1], [2], ruleset=ed.Ruleset())),
    (ed.MoveError, lambda: ed.Position.start(ed.Ruleset()).play(8)),
    (ed.RecordError, lambda: ed.GameRecord.from_json("x")),
    (ed.BatchError, lambda: ed.VectorEnv(0)),
    (ed.PolicyError, lambda: ed.policies.from_spec("x")),
    (ed.AgentError, lambda: ed.policies.Agent.load("no such file")),
    (ed.SimulationError, lambda: ed.simulate(-1, ruleset=ed.Ruleset())),
]


@pytest.mark.parametrize(("kind", "cause"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_every_refusal_has_its_class_and_survives_copies(
    kind: type[ed.EndodoiError], cause: Callable[[], Any]
) -> None:
    with pytest.raises(ed.EndodoiError) as info:
        cause()
    error = info.value
    assert type(error) is kind
    assert isinstance(error, (ValueError, TypeError))
    for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(other) is kind
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_all_classes_are_public_and_share_a_base() -> None:
    for name in ed.errors.__all__:
        kind = getattr(ed, name)
        assert issubclass(kind, ed.EndodoiError)
        assert kind.__doc__
