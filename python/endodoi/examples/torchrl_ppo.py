"""Train a masked policy with TorchRL's PPO against one of our players.

    pip install 'endodoi[torchrl]'
    python -m endodoi.examples.torchrl_ppo --opponent greedy --updates 50

`GymWrapper` takes the vector environment as it is, in disabled or same-step mode. In disabled mode
the mask comes with the observation, in same-step mode with the infos, which `GymWrapper` reads by
itself; both put it under ``action_mask``.
"""

from __future__ import annotations

import argparse

import endodoi as ed
from endodoi.examples import needs

with needs("torchrl"):
    import torch
    from tensordict.nn import TensorDictModule
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.envs import EnvBase, GymWrapper
    from torchrl.modules import ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE


def make_env(arguments: argparse.Namespace) -> EnvBase:
    """Return the games as TorchRL sees them."""
    games = ed.VectorEnv(
        arguments.games,
        columns=arguments.columns,
        opponent=arguments.opponent,
        # From one start a learner finds one line that beats a player which always answers alike.
        random_opening_plies=4,
        autoreset_mode=arguments.autoreset,
        mask_in_obs=arguments.autoreset == "disabled",
        # In same-step mode GymWrapper starts with a few random moves to learn the layout of infos.
        illegal="loss",
        seed=arguments.seed,
    )
    return GymWrapper(games, categorical_action_encoding=True)


class Net(nn.Module):  # type: ignore[misc]
    """A small network over the view, which counts seeds."""

    def __init__(self, columns: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * columns + 3, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )
        self.last = nn.Linear(128, outputs)

    def forward(self, view: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return one number an output; that of an illegal column is as low as can be."""
        numbers = self.last(self.layers(view.float() / 16))
        return numbers if mask is None else numbers.masked_fill(mask == 0, -1e9)


def main(words: list[str] | None = None) -> list[float]:
    """Train and return the mean reward of the games of each update."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--autoreset", choices=("disabled", "same_step"), default="disabled")
    parser.add_argument("--opponent", default="random", help="a player, as greedy or alphabeta:4")
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--games", type=int, default=64, help="games played together")
    parser.add_argument("--steps", type=int, default=32, help="moves of each game an update")
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    torch.manual_seed(arguments.seed)
    # Threads only stand in each other's way in networks this small.
    torch.set_num_threads(1)

    masked = TensorDictModule(
        Net(arguments.columns, arguments.columns), ["observation", "action_mask"], ["logits"]
    )
    actor = ProbabilisticActor(
        masked, ["logits"], distribution_class=torch.distributions.Categorical, return_log_prob=True
    )
    critic = ValueOperator(Net(arguments.columns, 1), in_keys=["observation"])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)

    frames = arguments.games * arguments.steps
    collector = Collector(
        make_env(arguments),
        actor,
        frames_per_batch=frames,
        total_frames=frames * arguments.updates,
        auto_register_policy_transforms=False,
    )
    scores = []
    for update, batch in enumerate(collector):
        for _ in range(4):
            with torch.no_grad():
                advantage(batch)
            for part in batch.reshape(-1)[torch.randperm(frames)].split(512):
                losses = loss(part)
                optimizer.zero_grad()
                sum(value for key, value in losses.items() if key.startswith("loss_")).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        ended = batch["next", "done"]
        scores.append(batch["next", "reward"][ended].mean().item())
        print(f"{update}: {int(ended.sum())} games, mean reward {scores[-1]:+.3f}")
    collector.shutdown()
    return scores


if __name__ == "__main__":
    main()
