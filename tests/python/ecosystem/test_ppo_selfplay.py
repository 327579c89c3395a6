"""The example of PPO in self-play: its advantages, its masks, its losses, and that it learns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

import endodoi as ed
from endodoi.examples import ppo_selfplay as ppo

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.ecosystem

SMALL = ppo.Arguments(rows=32, plies=8, batch=128, width=32, threads=1)
TINY = ["--rows", "32", "--plies", "8", "--batch", "128", "--width", "32", "--threads", "1"]
RULES = ed.Ruleset(columns=6)


def column(*numbers: float) -> torch.Tensor:
    """Return numbers as those of one game, [T, 1]."""
    return torch.tensor(numbers, dtype=torch.float32)[:, None]


def flags(*ones: bool) -> torch.Tensor:
    return torch.tensor(ones)[:, None]


def judged(
    rewards: torch.Tensor,
    values: torch.Tensor,
    terminated: torch.Tensor,
    truncated: torch.Tensor,
    *,
    discount: float = 1.0,
    trace: float = 1.0,
) -> list[float]:
    result = ppo.advantages(rewards, values, terminated, truncated, discount=discount, trace=trace)
    return [float(number) for number in result[:, 0]]


def test_value_target_and_backup_are_from_the_side_to_move() -> None:
    # The side of ply 2 wins: good for it, bad for the side of ply 1, good for that of ply 0.
    never = flags(False, False, False)
    advantages = judged(column(0, 0, 1), column(0, 0, 0, 9), flags(False, False, True), never)
    assert advantages == [1, -1, 1]
    # And by the value of the next position alone.
    advantages = judged(column(0, 0), column(0, 0.5, 0), flags(False, True), flags(False, False))
    assert advantages[0] == pytest.approx(0 - 0.5 - 0 - (0 - 0.5))
    one_step = judged(
        column(0, 0), column(0, 0.5, 0), flags(False, True), flags(False, False), trace=0.0
    )
    assert one_step == [-0.5, -0.5]


def test_errors_and_trace_are_those_written_in_the_docstring() -> None:
    advantages = judged(
        column(0.1, 0.2),
        column(0.3, -0.4, 0.5),
        flags(False, False),
        flags(False, False),
        discount=0.9,
        trace=0.8,
    )
    last = 0.2 - 0.9 * 0.5 + 0.4
    first = 0.1 + 0.9 * 0.4 - 0.3
    assert advantages == pytest.approx([first - 0.72 * last, last])


def test_a_cut_game_counts_the_value_of_its_last_position_and_nothing_of_the_next_game() -> None:
    # Ply 0 ends the game, step 1 only starts the next one, ply 2 belongs to that.
    for cut in (False, True):
        advantages = judged(
            column(0.5, 0, 7),
            column(0.1, 0.3, 5, 6),
            flags(not cut, False, False),
            flags(cut, False, False),
        )
        assert advantages[0] == pytest.approx(0.5 - 0.3 * cut - 0.1)


def test_one_legal_move_and_logits_of_1e4_have_an_exact_softmax() -> None:
    for size in (1e4, -1e4):
        logits = torch.tensor([[size, 1e4, -1e4, 0.0]], requires_grad=True)
        masks = torch.tensor([[True, False, False, False]])
        chances = ppo.log_probabilities(logits, masks)
        assert chances.exp().tolist() == [[1, 0, 0, 0]]
        entropy = -(chances.exp() * chances).sum()
        entropy.backward()
        assert torch.isfinite(chances).all()
        assert entropy.item() == 0
        assert logits.grad is not None
        assert logits.grad.tolist() == [[0, 0, 0, 0]]
    nothing = ppo.log_probabilities(torch.zeros(1, 4), torch.zeros(1, 4, dtype=torch.bool))
    assert nothing.exp().tolist() == [[0.25] * 4]


def filled() -> tuple[ppo.Network, ppo.Games]:
    """Return a network and the first plies that it has played."""
    torch.manual_seed(0)
    network, games = ppo.Network(RULES, SMALL), ppo.Games(RULES, SMALL)
    ppo.play(games, network)
    return network, games


def test_the_policy_loss_gives_illegal_logits_zero_gradient() -> None:
    network, games = filled()
    kept: list[torch.Tensor] = []

    def keep(_module: object, _inputs: object, heads: torch.Tensor) -> None:
        heads.retain_grad()
        kept.append(heads)

    network.heads.register_forward_hook(keep)
    masks = games.masks[0]
    plies = {
        "observations": games.observations[0],
        "masks": masks,
        "actions": games.actions[0],
        "chances": games.chances[0],
        "taken": games.taken[0],
        "advantages": torch.linspace(-1, 1, len(masks)),
        "returns": torch.zeros(len(masks)),
    }
    loss = ppo.losses(network, plies, 0.2)
    (loss["policy"] - loss["entropy"]).backward()
    gradient = kept[0].grad
    assert gradient is not None
    logits = gradient[:, : RULES.columns]
    assert not masks.all()
    assert (logits[~masks] == 0).all()
    assert (logits[masks] != 0).any()
    assert torch.isfinite(logits).all()


def test_a_policy_is_shown_the_captures_that_training_was_shown() -> None:
    network, games = filled()
    for _ in range(3):
        ppo.play(games, network)
    views, masks = games.observations[-1].numpy(), games.masks[-1].numpy().astype(np.int8)
    open_rows = masks.any(axis=1)
    taken = ppo.captures(views[open_rows], masks[open_rows], RULES)
    assert (taken == games.taken[-1].numpy()[open_rows]).all()
    assert taken.any()
    policy = ppo.as_policy(network, RULES)
    with torch.no_grad():
        logits, _ = network(games.observations[-1], games.taken[-1])
    best = ppo.log_probabilities(logits, games.masks[-1]).argmax(dim=1).numpy()
    assert (policy(views[open_rows], masks[open_rows]) == best[open_rows]).all()


def test_rewards_are_what_the_mover_captured_and_the_end_of_the_game() -> None:
    network, games = filled()
    for _ in range(8):
        ppo.play(games, network)
        ended = games.terminated | games.truncated
        for ply, row in np.argwhere(games.played.numpy()):
            before, after = games.observations[ply : ply + 2, row].numpy()
            # The mover's seeds are first before its move, second after it.
            gain = (after[13] - before[12]) - (after[12] - before[13])
            expected = gain * 4 / 48
            if games.terminated[ply, row]:
                expected += np.sign(int(after[13]) - int(after[12]))
            assert float(games.rewards[ply, row]) == pytest.approx(expected, abs=1e-6)
        # The step after an end only starts the next game.
        assert (games.played[1:] == ~ended[:-1]).all()
        assert (games.rewards[~games.played] == 0).all()
    assert ended.any() or not games.played.all()


def test_a_few_updates_give_finite_numbers_and_the_same_seed_the_same_run(tmp_path: Path) -> None:
    words = ["--updates", "4", "--games", "20", *TINY]
    runs = [
        ppo.main([*words, "--seed", seed, "--out", str(tmp_path / name)])
        for name, seed in (("a", "1"), ("b", "1"), ("c", "2"))
    ]
    lines = [
        [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for run in runs
    ]
    weights = [torch.load(run / "network.pt", weights_only=True) for run in runs]
    assert [line["update"] for line in lines[0]] == [1, 2, 3, 4]
    for line in lines[0]:
        assert np.isfinite(list(line.values())).all()
    for one, other, equal in ((0, 1, True), (0, 2, False)):
        same = all(torch.equal(weights[one][name], weights[other][name]) for name in weights[0])
        assert same is equal
        clocks = ("seconds", "cpu_seconds")
        plain = [
            [{n: v for n, v in line.items() if n not in clocks} for line in lines[run]]
            for run in (one, other)
        ]
        assert (plain[0] == plain[1]) is equal
    assert not list(runs[0].glob("*.partial"))
    strength = json.loads((runs[0] / "strength.json").read_text())
    assert list(strength) == list(ppo.OPPONENTS)
    assert set(strength["greedy"]) == {"south", "north"}


def test_a_folder_that_exists_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        ppo.main(["--updates", "1", "--out", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_interrupted_training_keeps_what_was_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def interrupted(games: ppo.Games, network: ppo.Network) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        play(games, network)

    play = ppo.play
    monkeypatch.setattr(ppo, "play", interrupted)
    run = ppo.main(["--games", "10", *TINY, "--out", str(tmp_path / "run")])
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 2
    assert (run / "network.pt").exists()
    assert (run / "strength.json").exists()


@pytest.mark.parametrize("variant", ["en-gehe", "cross-endodoi"])
def test_other_variants_are_learnt_too(variant: str, tmp_path: Path) -> None:
    columns = str(ed.Ruleset(variant).columns)
    arguments = ["--updates", "2", *TINY, "--variant", variant, "--columns", columns]
    settings = ppo.read_arguments([*arguments, "--out", str(tmp_path)])
    network = ppo.train(settings, tmp_path)
    assert len((tmp_path / "metrics.jsonl").read_text().splitlines()) == 2
    assert all(torch.isfinite(weights).all() for weights in network.parameters())


def test_the_shipped_training_example_beats_random_by_a_stated_margin(tmp_path: Path) -> None:
    # Half a minute: 60 updates of about 8,000 plies. It scores 0.7 or more from both sides.
    settings = ppo.Arguments(updates=60, seed=1, threads=1)
    network = ppo.train(settings, tmp_path)
    scores = ppo.strength(network, RULES, "random", 1000)
    for side in ("south", "north"):
        assert scores[side]["low"] > 0.7
