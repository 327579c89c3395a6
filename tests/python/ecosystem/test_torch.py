"""Agents as modules of PyTorch: the same numbers as the core's, gradients, files, fine-tuning."""

from __future__ import annotations

import doctest
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import endodoi as ed
from endodoi import _core
from endodoi.examples import fine_tune
from small_agents import SIX, layout, positions, write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.ecosystem

#: Files by learner, and the agents that are shipped.
AGENTS = ["value", "gumbel", *_core.shipped_names()]


@pytest.fixture
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    name = request.param
    return write(tmp_path / name, name) if name in {"value", "gumbel"} else name


@pytest.mark.parametrize("agent", AGENTS, indirect=True)
def test_a_module_says_what_the_core_says(agent: Any) -> None:
    player, network = ed.policies.Agent.load(agent), ed.torch.load(agent)
    assert network.ruleset == player.ruleset
    observations, _ = ed.VectorEnv(300, network.ruleset, random_opening_plies=12).reset(seed=5)
    found: Any = player.evaluate(observations)
    said = network(torch.from_numpy(observations))
    if isinstance(network, ed.torch.ValueNetwork):
        assert said.dtype == torch.float32
        assert np.abs(said.detach().numpy() - found.margin).max() < 1e-4
        pits = torch.from_numpy(observations[:, : network.pit_count]).float()
        assert torch.equal(network(pits), said)
        return
    chances = said.outcomes.softmax(1).detach().numpy()
    assert np.abs(chances - np.stack([found.win, found.draw, found.loss], 1)).max() < 1e-4
    assert np.abs(said.logits.detach().numpy() - found.logits).max() < 1e-4
    assert np.abs(said.margins.detach().numpy() - found.margin).max() < 1e-4
    assert np.std(found.logits) > 0.01


@pytest.mark.parametrize("learner", ["value", "gumbel"])
def test_a_module_has_the_names_of_the_file_and_all_of_it_learns(
    tmp_path: Path, learner: str
) -> None:
    network = ed.torch.load(write(tmp_path / "agent", learner))
    shapes = {name: tuple(weights.shape) for name, weights in network.state_dict().items()}
    assert shapes == layout(learner)
    observations, _ = positions(200)
    said = network(torch.from_numpy(observations))
    total = said.sum() if learner == "value" else sum(part.pow(2).sum() for part in said)
    total.backward()
    for name, weights in network.named_parameters():
        assert weights.grad is not None, name
        assert weights.grad.abs().sum() > 0, name


@pytest.mark.parametrize("learner", ["value", "gumbel"])
def test_a_saved_module_plays(tmp_path: Path, learner: str) -> None:
    path = write(tmp_path / "agent", learner)
    network = ed.torch.load(path)
    ed.torch.save(network, tmp_path / "same")
    assert (tmp_path / "same").read_bytes() == path.read_bytes()
    observations, mask = positions()
    before = ed.policies.Agent.load(path).evaluate(observations).margin
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(1.25)
    taken = ed.Ruleset(columns=6, lone_capture="taken")
    ed.torch.save(network.double(), tmp_path / "other", ruleset=taken)
    other = ed.policies.Agent.load(tmp_path / "other")
    assert other.ruleset == taken
    assert other.metadata["step"] == 7
    assert np.abs(other.evaluate(observations).margin - before).max() > 0.01
    other = ed.policies.Agent.load(tmp_path / "other", ruleset=SIX)
    assert mask[np.arange(len(mask)), other(observations, mask)].all()


def test_what_is_no_agent_is_refused(tmp_path: Path) -> None:
    network = ed.torch.load(write(tmp_path / "agent", "value"))
    with torch.no_grad():
        network.bias[0] = torch.nan
    with pytest.raises(ed.AgentError, match="tensor bias holds NaN"):
        ed.torch.save(network, tmp_path / "broken")
    assert not (tmp_path / "broken").exists()
    with pytest.raises(ed.ArgumentTypeError, match="network is a Linear"):
        ed.torch.save(torch.nn.Linear(2, 2), tmp_path / "broken")
    with pytest.raises(ed.ArgumentValueError, match=r"\(3, 9\), expected \[B, 15\] or \[B, 12\]"):
        network(torch.zeros(3, 9))
    with pytest.raises(ed.AgentError, match="No such file"):
        ed.torch.load(tmp_path / "nothing")


def test_a_gumbel_network_sees_boards_of_other_sizes(tmp_path: Path) -> None:
    network = ed.torch.load(write(tmp_path / "agent", "gumbel"))
    rules = ed.Ruleset(columns=9)
    observations, _ = ed.VectorEnv(20, rules, random_opening_plies=5).reset(seed=1)
    said = network(torch.from_numpy(observations), rules)
    player = ed.policies.Agent.load(tmp_path / "agent", ruleset=rules)
    assert np.abs(said.logits.detach().numpy() - player.evaluate(observations).logits).max() < 1e-4


def test_examples_of_the_documentation_run() -> None:
    result = doctest.testmod(importlib.import_module("endodoi.torch"))
    assert result.failed == 0
    assert result.attempted >= 3


def test_fine_tuning_writes_an_agent_that_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # An agent that knows nothing yet: what it learns shows within seconds.
    path, out = write(tmp_path / "agent", "value"), tmp_path / "tuned"
    words = ["--agent", str(path), "--out", str(out), "--rounds", "3", "--positions", "12"]
    more = ["--games", "64", "--plies", "80", "--depth", "1", "--learning-rate", "0.01"]
    before, after = fine_tune.main([*words, *more, "--seed", "1"])
    assert after < before
    assert "after:" in capsys.readouterr().out
    assert ed.policies.Agent.load(out).ruleset == ed.Ruleset(columns=6, direction="parity")
    assert fine_tune.main([*words, *more, "--seed", "1"]) == (before, after)


def test_a_played_game_tells_its_positions_what_came(tmp_path: Path) -> None:
    write(tmp_path / "agent", "value")
    agent = ed.policies.Agent.load(tmp_path / "agent", depth=0)
    for trace in (0.0, 1.0):
        views, margins = fine_tune.play(agent, 20, 120, trace, seed=4)
        assert len(views) == len(margins) > 1000
        assert (views[:, :-1].sum(axis=1) == 48).all()
        # With a lambda of one it is what the rest of the game brought, a whole number of seeds.
        whole = margins[: len(margins) // 2] % 1 == 0
        assert whole.all() == (trace == 1)
    board = views[: len(views) // 2, :12].sum(axis=1)
    assert (np.abs(margins[: len(board)]) <= board).all()
