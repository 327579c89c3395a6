"""Fine-tune a trained value agent to other rules with PyTorch, from games of its own.

    pip install 'endodoi[torch]'
    python -m endodoi.examples.fine_tune --agent en-dodoi-2x6 --out parity.safetensors

The agent was trained on sowing one way round; here the direction depends on the number of
seeds (S5). A few times over, the agent plays games against itself under the new rules, the network
learns what came of every position, and is written back as the agent that plays next. Before and
after, the moves of the network alone are compared with perfect play in positions of random games.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import endodoi as ed
from endodoi.examples import needs

with needs("torch"):
    import torch

if TYPE_CHECKING:
    import numpy.typing as npt

#: Positions of a batch.
BATCH = 256


def main(words: list[str] | None = None) -> tuple[float, float]:
    """Fine-tune and return the mean seeds lost a move before and after."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--agent", default="en-dodoi-2x6", help="a value agent: file, run or name")
    parser.add_argument("--out", help="the file to write the agent to")
    parser.add_argument("--direction", default="parity", help="anticlockwise or parity (default)")
    parser.add_argument("--lone-capture", help="stays or taken (default: as it was trained)")
    parser.add_argument("--rounds", type=int, default=6, help="times that it plays and learns")
    parser.add_argument("--games", type=int, default=256, help="games played together")
    parser.add_argument("--plies", type=int, default=160, help="plies of a round")
    parser.add_argument("--epochs", type=int, default=1, help="times a round's positions are seen")
    parser.add_argument("--depth", type=int, default=2, help="plies it looks ahead as it plays")
    parser.add_argument("--trace", type=float, default=0.7, help="lambda of the returns, 0 to 1")
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--positions", type=int, default=100, help="positions of the comparison")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)

    # Threads only stand in each other's way in networks this small.
    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    network = ed.torch.load(asked.agent)
    if not isinstance(network, ed.torch.ValueNetwork):
        parser.error(f"--agent is {asked.agent}, expected a value agent")
    rules = new_rules(network.ruleset, asked)
    exam = ed.arena.Exam(ruleset=rules, positions=asked.positions, seed=asked.seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=asked.learning_rate)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(asked.out or Path(folder) / "agent.safetensors")
        ed.torch.save(network, path, ruleset=rules)
        before = lost(exam, path)
        print(f"before: {before:.3f} seeds lost a move, {exam.reference}")
        for number in range(asked.rounds):
            agent = ed.policies.Agent.load(path, depth=asked.depth)
            views, margins = play(agent, asked.games, asked.plies, asked.trace, asked.seed + number)
            error = learn(network, optimiser, views, margins, asked.epochs)
            ed.torch.save(network, path, ruleset=rules)
            print(f"round {number + 1}: {len(views)} positions, error {error:.2f} seeds")
        after = lost(exam, path)
    print(f"after: {after:.3f} seeds lost a move")
    return before, after


def new_rules(old: ed.Ruleset, asked: argparse.Namespace) -> ed.Ruleset:
    """Return the rules that the agent is to play by."""
    fields = {**old.to_dict(), "direction": asked.direction}
    if asked.lone_capture:
        fields["lone_capture"] = asked.lone_capture
    return ed.Ruleset.from_dict(fields)


def lost(exam: ed.arena.Exam, path: Path) -> float:
    """Return the mean seeds that the moves of the network alone lose."""
    return float(exam.regret(f"agent:{path}@none").all.seeds_lost.mean)


def play(
    agent: ed.policies.Agent, games: int, plies: int, trace: float, seed: int
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """Let the agent play against itself, a new game in the place of each that ends.

    Returns
    -------
    views : int16 [P, 2C+3]
        Every position that was moved in.
    margins : float32 [P]
        What came of it, in seeds: the lambda return of what was captured and what the network
        expects of later positions.
    """
    env = ed.VectorEnv(games, agent.ruleset, random_opening_plies=8)
    views, infos = env.reset(seed=seed)
    seen, is_open = [views], [infos["action_mask"].any(axis=1)]
    for _ in range(plies):
        views, _, _, _, infos = env.step(agent(views, infos["action_mask"]))
        seen.append(views)
        is_open.append(infos["action_mask"].any(axis=1))
    expected = [agent.evaluate(views).margin for views in seen]
    returns = [expected[-1]]
    for at in range(plies - 1, -1, -1):
        # The next view is the other side's; a game that is over has nothing to come.
        captured = -lead(seen[at + 1]) - lead(seen[at])
        later = (1 - trace) * expected[at + 1] + trace * returns[-1]
        returns.append(np.where(is_open[at], captured - later, 0).astype(np.float32))
    rows = np.concatenate(is_open[:-1])
    return np.concatenate(seen[:-1])[rows], np.concatenate(returns[:0:-1])[rows]


def lead(views: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Return the seeds captured by the mover less those captured by the other side."""
    return views[:, -3] - views[:, -2]


def learn(
    network: ed.torch.ValueNetwork,
    optimiser: torch.optim.Optimizer,
    views: npt.NDArray[np.int16],
    margins: npt.NDArray[np.float32],
    epochs: int,
) -> float:
    """Teach the network the margins and return the root of the last mean squared error."""
    data = torch.from_numpy(views), torch.from_numpy(margins)
    losses: list[float] = []
    for _ in range(epochs):
        losses = []
        for rows in torch.randperm(len(views)).split(BATCH):
            loss = torch.nn.functional.mse_loss(network(data[0][rows]), data[1][rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return math.sqrt(sum(losses) / len(losses))


if __name__ == "__main__":
    main()
