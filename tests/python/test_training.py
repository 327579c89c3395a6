"""Training from Python, and the agent it leaves, with the program endodoi-train itself."""

from __future__ import annotations

import html
import json
import pickle
import re
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import policies
from endodoi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.train

SIX = ed.Ruleset(columns=6)

CONFIG = """
learner = "gumbel"

[evaluation]
every = 0.0
final_games = 4
simulations = 4

[network]
channels = 4
blocks = 1
policy_units = 4
value_units = 4

[replay]
minimum = 200

[selfplay]
groups = 2
games = 8
simulations = 4

[optimiser]
batch = 32
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ed.TrainResult:
    folder = tmp_path_factory.mktemp("training")
    config = folder / "small.toml"
    config.write_text(CONFIG)
    return ed.train(config, columns=6, steps=3, seed=1, workers=2, out=folder / "run")


def test_a_run_leaves_agent_measurements_results_and_picture(result: ed.TrainResult) -> None:
    pytest.importorskip("matplotlib")
    assert result.finished
    assert result.agent.is_file()
    reports = [json.loads(line) for line in result.metrics.read_text().splitlines()]
    assert reports[-1]["step"] == 3
    assert result.evaluation is not None
    opponents = [row["opponent"] for row in result.evaluation["results"]]
    assert opponents == ["random", "greedy", "alphabeta:4"]
    assert result.learning_curve is not None
    assert result.learning_curve.read_bytes().startswith(b"\x89PNG")


def test_the_agent_plays_whole_games_in_python_without_torch(result: ed.TrainResult) -> None:
    agent = result.load()
    assert agent.ruleset == SIX
    assert agent.metadata["step"] == 3
    assert agent.metadata["simulations"] == 4
    env = ed.VectorEnv(8, SIX, seed=1, random_opening_plies=2)
    observations, infos = env.reset()
    games = 0
    while games < 8:
        actions = agent(observations, infos["action_mask"])
        observations, _, terminated, _, infos = env.step(actions)
        games += int(terminated.sum())
    twin, mask = pickle.loads(pickle.dumps(agent)), infos["action_mask"]
    assert (twin(observations, mask) == agent(observations, mask)).all()


def test_the_search_is_chosen_by_simulations_or_specification(result: ed.TrainResult) -> None:
    observations, infos = ed.VectorEnv(32, SIX, seed=1, random_opening_plies=4).reset()
    mask = infos["action_mask"]
    for simulations, suffix in ((None, ""), (7, "@sims=7"), (0, "@none")):
        agent = policies.Agent.load(result.run, simulations=simulations)
        named = policies.from_spec(f"agent:{result.run}{suffix}")
        assert agent.spec == named.spec == f"agent:{result.run}{suffix}"
        assert (agent(observations, mask) == named(observations, mask)).all()
        rows = np.arange(32)
        assert mask[rows, agent(observations, mask)].all()


def test_an_agent_searches_by_monte_carlo(result: ed.TrainResult) -> None:
    observations, infos = ed.VectorEnv(32, SIX, seed=1, random_opening_plies=4).reset()
    mask = infos["action_mask"]
    player = policies.Mcts(12, agent=result.run)
    assert player.spec == f"agent:{result.run}@mcts=12"
    assert player.ruleset == SIX
    actions = player(observations, mask)
    assert mask[np.arange(32), actions].all()
    assert (policies.from_spec(player.spec)(observations, mask) == actions).all()
    found = player.analyse(ed.Position.start(SIX))
    assert found.simulations == found.visits.sum() == 12
    with pytest.raises(ed.PolicyError, match="@mcts=N"):
        policies.Mcts(0, agent=result.run)


def test_an_agent_plays_simulations_and_boards_of_other_sizes(result: ed.TrainResult) -> None:
    table = ed.simulate(20, ruleset=SIX, south=result.load(), north="random", seed=1)
    assert table == ed.simulate(20, ruleset=SIX, south=f"agent:{result.agent}", seed=1)
    other = policies.Agent.load(result.run, ruleset=ed.Ruleset(columns=9))
    observation, info = ed.Env(columns=9).reset(seed=1)
    assert info["action_mask"][other(observation, info["action_mask"])] == 1


def test_what_the_report_says_of_playing_can_be_run(
    result: ed.TrainResult, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    assert result.report is not None
    page = html.unescape(result.report.read_text(encoding="utf-8"))
    python, commands = re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)[:2]
    names: dict[str, Any] = {}
    exec(python.replace("400", "20"), names)  # noqa: S102
    assert "20 games" in capsys.readouterr().out
    observation, info = names["env"].reset(seed=1)
    assert observation.shape == (15,)
    assert info["action_mask"].sum() > 1
    simulate, regret = commands.replace("\\\n", " ").replace("400", "20").splitlines()
    for command in (simulate, f"{regret} --positions 20 --reference alphabeta:2"):
        assert main(shlex.split(command)[1:]) == 0
    assert f"agent:{result.run}" in capsys.readouterr().out


def test_a_run_goes_on_where_it_stopped(result: ed.TrainResult, tmp_path: Path) -> None:
    again = ed.train(resume=result.run, steps=5, plot=False, progress=False)
    assert again.run == result.run
    assert again.load().metadata["step"] == 5
    with pytest.raises(ed.TrainError, match="failed with status"):
        ed.train(resume=tmp_path)
