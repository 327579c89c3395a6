"""Training from Python, and the agent it leaves, with the program endodoi-train itself."""

from __future__ import annotations

import html
import json
import pickle
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import endodoi as ed
from endodoi import policies
from endodoi.cli import main
from endodoi.shipped import FOLDER

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
    with pytest.raises(ed.ArgumentValueError, match="simulations is 0, expected 1 to 1000000"):
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


def network_of(agent: Path) -> Any:
    """Return the shape of the network in an agent's file."""
    data = agent.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["endodoi"])["agent"]["network"]


def test_a_run_on_another_size_starts_from_an_agent(
    result: ed.TrainResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "small.toml"
    lines = CONFIG.replace("channels = 4", "").replace("blocks = 1", "")
    config.write_text(lines.replace("policy_units = 4", "").replace("value_units = 4", ""))
    options: dict[str, Any] = {"columns": 4, "steps": 2, "workers": 1, "progress": False}
    grown = ed.train(config, start=result.run, out=tmp_path / "grown", plot=False, **options)
    assert network_of(grown.agent) == network_of(result.agent)
    assert grown.load().metadata["ruleset"] == ed.Ruleset(columns=4)
    # A shipped agent by its name, unless there is a file or folder of that name.
    with pytest.raises(ed.TrainError, match="failed with status 2"):
        ed.train(start="en-dodoi-2x6", out=tmp_path / "other", **options)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(result.run, tmp_path / "en-dodoi-2x6")
    again = ed.train(config, start="en-dodoi-2x6", out=tmp_path / "mine", plot=False, **options)
    assert network_of(again.agent) == network_of(result.agent)


def test_a_shipped_agent_is_trained_on(tmp_path: Path) -> None:
    options: dict[str, Any] = {"evaluation.every": 0, "evaluation.final_games": 0}
    options |= {"replay.minimum": 100, "selfplay.games": 4, "selfplay.plies": 4}
    trained = ed.train(
        columns=6,
        seeds_per_pit=3,
        steps=2,
        workers=1,
        start="en-dodoi-2x6",
        settings=options,
        out=tmp_path / "run",
        progress=False,
        plot=False,
    )
    assert trained.load().metadata["learner"] == "value"
    assert network_of(trained.agent) == network_of(FOLDER / "en-dodoi-2x6.safetensors")
