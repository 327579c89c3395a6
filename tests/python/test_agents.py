"""Agents by name, what their networks say of positions, and their files."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import agent_page
import endodoi as ed
import measure_agents
from endodoi import _core, cli, policies, shipped
from small_agents import SIX, layout, positions, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Ship agents of small random weights for as long as a test runs."""
    place = tmp_path / "shipped"
    place.mkdir()
    write(place / "small-2x6.safetensors", "value")
    write(place / "tree-2x6.safetensors", "gumbel")
    before = _core.set_agents_folder(place)
    monkeypatch.chdir(tmp_path)
    yield place
    _core.set_agents_folder(before)


def test_the_package_names_the_folder_of_its_agents() -> None:
    before = _core.set_agents_folder(None)
    assert _core.shipped_names() == []
    assert _core.set_agents_folder(before) is None
    assert before == shipped.FOLDER
    files = shipped.FOLDER.glob("*.safetensors")
    assert _core.shipped_names() == sorted(file.stem for file in files)


def test_an_agent_is_loaded_by_its_name(folder: Path) -> None:
    observations, mask = positions()
    named = policies.Agent.load("small-2x6")
    placed = policies.Agent.load(folder / "small-2x6.safetensors")
    assert named.spec == named.name == "agent:small-2x6"
    assert named.ruleset == SIX
    assert named.metadata == placed.metadata
    actions = named(observations, mask)
    assert (actions == placed(observations, mask)).all()
    assert mask[np.arange(len(mask)), actions].all()
    twin = pickle.loads(pickle.dumps(named))
    assert twin.spec == "agent:small-2x6"
    for search in ("depth=1", "none", "nodes=50"):
        player = policies.from_spec(f"agent:small-2x6@{search}")
        assert player.spec == f"agent:small-2x6@{search}"
    assert policies.Mcts(5, agent="tree-2x6").spec == "agent:tree-2x6@mcts=5"


@pytest.mark.usefixtures("folder")
def test_specifications_take_a_name_wherever_a_player_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = "agent:small-2x6@none"
    agent = policies.Agent.load("small-2x6", depth=0)
    rules: dict[str, Any] = {"ruleset": SIX, "seed": 2, "random_opening_plies": 4}
    table = ed.simulate(30, south=spec, **rules)
    assert table == ed.simulate(30, south=agent, **rules)
    env = ed.VectorEnv(5, SIX, opponent=spec, agent_side="north")
    observations, _ = env.reset(seed=1)
    assert observations[:, -3:].any() or (observations[:, :12] != 4).any()
    found = ed.arena.regret(spec, ruleset=SIX, positions=20, reference="alphabeta:2")
    assert found.player == spec
    words = ["regret", "--columns", "6", "--positions", "20", "--reference", "alphabeta:2"]
    assert cli.main([*words, "--player", spec]) == 0
    assert spec in capsys.readouterr().out
    assert cli.main(["simulate", "--columns", "6", "--games", "10", "--south", spec]) == 0


def test_a_path_that_exists_wins_over_a_name(folder: Path) -> None:
    run = folder.parent / "small-2x6"
    run.mkdir()
    write(run / "agent.safetensors", "gumbel")
    assert policies.Agent.load("small-2x6").metadata["learner"] == "gumbel"
    assert _core.agent_file("small-2x6").name == "agent.safetensors"


@pytest.mark.usefixtures("folder")
def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ed.AgentError, match="are small-2x6, tree-2x6") as info:
        policies.Agent.load("large-2x6")
    assert info.value.path == "large-2x6"
    with pytest.raises(ed.AgentError, match="are small-2x6, tree-2x6"):
        policies.from_spec("agent:large-2x6@none")
    for path in ("runs/large-2x6", "large-2x6.safetensors"):
        with pytest.raises(ed.AgentError, match="No such file"):
            policies.Agent.load(path)


def test_a_network_says_what_it_expects(tmp_path: Path) -> None:
    observations, mask = positions()
    value = policies.Agent.load(write(tmp_path / "v.safetensors", "value"), depth=0)
    found = value.evaluate(observations)
    assert found.margin.dtype == np.float32
    assert found.margin.shape == (40,)
    assert found.win is found.draw is found.loss is found.logits is None
    one = value.evaluate(observations[3])
    assert one.margin == found.margin[3]
    gumbel = policies.Agent.load(write(tmp_path / "g.safetensors", "gumbel"), simulations=0)
    found = gumbel.evaluate(observations)
    assert found.win is not None
    assert found.draw is not None
    assert found.loss is not None
    assert found.logits is not None
    assert found.logits.shape == (40, 6)
    assert np.allclose(found.win + found.draw + found.loss, 1)
    liked = np.where(mask, found.logits, -np.inf).argmax(axis=1)
    assert (gumbel(observations, mask) == liked).all()


def test_the_value_of_a_move_is_what_the_network_alone_plays_by(tmp_path: Path) -> None:
    agent = policies.Agent.load(write(tmp_path / "v.safetensors", "value"), depth=0)
    position = ed.Position.start(SIX)
    worth = {}
    for column in position.legal_moves():
        after = position.play(column)
        gained = after.captured[0] - position.captured[0]
        worth[column] = gained - float(agent.evaluate(after.observation()).margin)
    mask = np.isin(np.arange(6), position.legal_moves()).astype(np.int8)
    chosen = int(agent(position.observation(), mask))
    # The player's weights are rounded.
    assert worth[chosen] >= max(worth.values()) - 0.05


def test_a_game_that_is_over_has_nothing_to_come(tmp_path: Path) -> None:
    over = ed.Position.from_text("0,0,0,0,0,1/4,0,0,0,0,0 N 20-23 0", SIX)
    while not over.is_over:
        over = over.play(over.legal_moves()[0])
    for learner in ("value", "gumbel"):
        agent = policies.Agent.load(write(tmp_path / f"{learner}.safetensors", learner))
        found = agent.evaluate(over.observation())
        assert found.margin == 0
        if found.win is not None:
            certain = {"win": found.win, "draw": found.draw, "loss": found.loss}
            own = {"draw": "draw", over.to_move: "win"}.get(str(over.outcome), "loss")
            assert certain == {name: float(name == own) for name in certain}


def test_observations_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    agent = policies.Agent.load(write(tmp_path / "v.safetensors", "value"))
    observations, _ = positions(3)
    with pytest.raises(ed.PolicyError, match=r"\[3, 13\] was given where \[3, 15\]"):
        agent.evaluate(observations[:, :-2])
    broken = observations.copy()
    broken[1, 0] = -1
    with pytest.raises(ed.PolicyError, match=rf"{agent.name}: row 1: .*-1"):
        agent.evaluate(broken)
    other = policies.Agent.load(tmp_path / "v.safetensors", ruleset=ed.Ruleset(columns=3))
    with pytest.raises(ed.PolicyError, match="have 3 columns, expected 6"):
        other.evaluate(ed.Position.start(ed.Ruleset(columns=3)).observation())


def test_what_a_gumbel_network_sees() -> None:
    observations, mask = positions(8)
    pits, board = _core.agent_features(observations, SIX)
    assert pits.dtype == board.dtype == np.float32
    assert pits.shape == (8, 12, 32)
    assert board.shape == (8, 16)
    assert np.allclose(pits[:, :, 1], np.log1p(observations[:, :12]) / 2, atol=1e-6)
    # Feature 14 says whether a pit can be sown.
    assert (pits[:, :6, 14] == mask).all()


@pytest.mark.parametrize("learner", ["value", "gumbel"])
def test_a_file_that_is_read_and_written_stays_the_same(tmp_path: Path, learner: str) -> None:
    path = write(tmp_path / "first.safetensors", learner)
    text, tensors = _core.read_agent(path)
    assert {name: array.shape for name, array in tensors.items()} == layout(learner)
    _core.write_agent(tmp_path / "second.safetensors", text, tensors)
    assert (tmp_path / "second.safetensors").read_bytes() == path.read_bytes()


def test_what_makes_no_agent_is_not_written(tmp_path: Path) -> None:
    path = write(tmp_path / "agent.safetensors", "value")
    before = path.read_bytes()
    text, tensors = _core.read_agent(path)
    named = json.loads(text)
    refused: list[tuple[Any, Any, str]] = [
        (named, {**tensors, "bias": tensors["bias"][:-1]}, r"tensor bias has shape \[7\]"),
        (named, {**tensors, "more": tensors["bias"]}, "tensor more is unknown"),
        (named, {**tensors, "bias": tensors["bias"] * np.float32(np.nan)}, "holds NaN"),
        (named, {**tensors, "pits": tensors["pits"] * 1e9}, "can add up to"),
        ({**named, "ruleset": ed.Ruleset(columns=5).to_dict()}, tensors, "does not fit"),
        ({**named, "depth": 99}, tensors, "99"),
        ({**named, "more": 1}, tensors, "unknown field `more`"),
    ]
    for metadata_, arrays, message in refused:
        with pytest.raises(ed.AgentError, match=message) as info:
            _core.write_agent(path, json.dumps(metadata_), arrays)
        assert info.value.path == str(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["agent.safetensors"]


def test_a_started_process_knows_the_names_too() -> None:
    program = "import endodoi._core as core; print(core.shipped_names())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(_core.shipped_names()), done.stderr


def test_the_strength_of_every_shipped_agent_is_known() -> None:
    agents = policies.shipped_agents()
    assert list(agents) == _core.shipped_names()
    assert set(shipped.read_strength()) == set(agents)
    for name, agent in agents.items():
        assert agent.name == name
        assert agent.path == shipped.FOLDER / f"{name}.safetensors"
        assert agent.scores
        assert agent.minutes > 0
        assert agent.trained_by
        assert agent.measured_by
        for one in agent.scores:
            assert one.player.startswith(f"agent:{name}@")
            assert 0 <= one.low <= one.score <= one.high <= 1


def test_shipped_agents_are_small() -> None:
    assert sum(file.stat().st_size for file in shipped.FOLDER.iterdir()) < 1_500_000


@pytest.mark.parametrize("name", _core.shipped_names())
def test_a_shipped_agent_alone_beats_greedy_clearly(name: str) -> None:
    rules = policies.shipped_agents()[name].ruleset
    agent = f"agent:{name}@none"
    games: dict[str, Any] = {"ruleset": rules, "seed": 11, "random_opening_plies": 4}
    as_south = ed.simulate(100, south=agent, north="greedy", **games).to_numpy()
    as_north = ed.simulate(100, south="greedy", north=agent, **games).to_numpy()
    # No game is lost by an illegal move or an error.
    codes = {ed.GameTable.END_REASONS.index(reason) for reason in ("illegal", "error", "max_plies")}
    assert not codes & {*as_south["end_reason"], *as_north["end_reason"]}
    score = 0.5 + (as_south["winner"].mean() - as_north["winner"].mean()) / 4
    assert score > 0.6


def known_agents(*names: str) -> dict[str, Any]:
    """Return what could be known of agents."""
    games = {"games": 40, "opening_plies": 4, "margin": 2.5, "margin_half": 1.0}
    scored = {"opponent": "greedy", "score": 0.75, "low": 0.7, "high": 0.8, **games}
    loses = {"positions": 50, "reference": "perfect", "optimal": 0.875}
    lost = {"seeds_lost": 0.25, "seeds_lost_half": 0.125, **loses}
    return {
        name: {
            "training": {"command": "endodoi-train", "minutes": 0.5, "cores": 2, "seed": 3},
            "scores": [{"player": f"agent:{name}@none", **scored}],
            "regret": [{"player": f"agent:{name}@none", **lost}],
            "measured_by": ["measure"],
        }
        for name in names
    }


@pytest.fixture
def known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Tell the strength of the small agents."""
    agents = known_agents("small-2x6", "tree-2x6")
    (folder / shipped.STRENGTH).write_text(json.dumps({"agents": agents}), encoding="utf-8")
    for module in (shipped, measure_agents):
        monkeypatch.setattr(module, "FOLDER", folder)
    shipped.shipped_agents.cache_clear()
    yield agents
    shipped.shipped_agents.cache_clear()


def test_the_command_lists_agents(
    capsys: pytest.CaptureFixture[str], known: dict[str, Any]
) -> None:
    assert cli.main(["agents"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "score against greedy" in lines[1]
    assert "0.700 to 0.800" in lines[1]
    assert "87.5 % optimal" in lines[2]
    assert cli.main(["agents", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tree-2x6"]["learner"] == "gumbel"
    assert told["small-2x6"]["ruleset"] == SIX.to_dict()
    assert told["small-2x6"]["scores"] == known["small-2x6"]["scores"]


@pytest.mark.usefixtures("known")
def test_the_page_tells_what_was_measured() -> None:
    page = agent_page.page(list(policies.shipped_agents().values()))
    for text in (
        "| `small-2x6` | en-dodoi 2x6 k=4 | value |",
        "| `tree-2x6` | en-dodoi 2x6 k=4 | gumbel |",
        "| `agent:small-2x6@none` | `greedy` | 40 | 4 | 0.750 | 0.700 to 0.800 | +2.5 ± 1.0 |",
        "| `agent:tree-2x6@none` | 50 | perfect | 87.5 % | 0.250 ± 0.125 |",
        "```console long\nendodoi-train\nmeasure\n```",
    ):
        assert text in page, text


def test_the_page_is_what_the_script_writes() -> None:
    page = agent_page.page(list(policies.shipped_agents().values()))
    assert agent_page.PAGE.read_text(encoding="utf-8") == page


def test_an_agent_is_measured(known: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["measure_agents.py", "small-2x6", "--searches", "none", "--opponents", "random"]
    more = ["--games", "60", "--positions", "6", "--minutes", "2"]
    monkeypatch.setattr(sys, "argv", [*words, *more])
    assert measure_agents.main() == 0
    shipped.shipped_agents.cache_clear()
    agents = policies.shipped_agents()
    assert agents["tree-2x6"].scores[0].score == known["tree-2x6"]["scores"][0]["score"]
    small = agents["small-2x6"]
    assert (small.minutes, small.cores, small.trained_by) == (2, 2, "endodoi-train")
    assert small.measured_by[0].startswith("python python/tools/measure_agents.py small-2x6 ")
    [score], [regret] = small.scores, small.regret
    assert (score.opponent, score.games, regret.positions) == ("random", 60, 6)
    rules: dict[str, Any] = {"ruleset": SIX, "seed": 0, "random_opening_plies": 4}
    south = ed.simulate(30, south=score.player, **rules).to_numpy()["winner"]
    north = ed.simulate(30, north=score.player, **rules).to_numpy()["winner"]
    points = (1 + south) / 2 + (1 - north) / 2
    assert score.score == pytest.approx(points.mean() / 2, abs=1e-4)
    assert score.low < score.score < score.high


def test_an_agent_of_unknown_training_is_not_measured(
    known: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    del known["small-2x6"]
    text = json.dumps({"agents": known})
    (shipped.FOLDER / shipped.STRENGTH).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["measure_agents.py", "small-2x6", "--cores", "2"])
    with pytest.raises(SystemExit, match="not known: command, minutes, seed"):
        measure_agents.main()
