"""Play games between two random agents through PettingZoo.

pip install 'endodoi[pettingzoo]'
python -m endodoi.examples.pettingzoo_random --games 100
"""

from __future__ import annotations

import argparse

import numpy as np

import endodoi as ed


def main(words: list[str] | None = None) -> dict[str, int]:
    """Play and return the wins of each agent, and the draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--variant", default="en-dodoi")
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    env = ed.pettingzoo.env(variant=arguments.variant, columns=arguments.columns)
    rng = np.random.default_rng(arguments.seed)
    wins = {"player_0": 0, "player_1": 0, "nobody": 0}
    for game in range(arguments.games):
        # The seed of the first game; the others are its next episodes.
        env.reset(seed=arguments.seed if game == 0 else None)
        for agent in env.agent_iter():
            _observation, reward, terminated, truncated, info = env.last()
            if reward > 0:
                wins[agent] += 1
            if terminated or truncated:
                env.step(None)
            else:
                env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        if info["outcome"] == 0:
            wins["nobody"] += 1
    print(f"South won {wins['player_0']}, North {wins['player_1']}, nobody {wins['nobody']}")
    return wins


if __name__ == "__main__":
    main()
