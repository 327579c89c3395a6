"""Train MaskablePPO of sb3-contrib against one of our players.

    pip install 'endodoi[sb3]'
    python -m endodoi.examples.sb3_maskable_ppo --opponent greedy --steps 200000

Each step is the agent's move and the opponent's answer, the agent plays South and North in turn,
and rewards are the agent's: +1, 0 or -1 at the end of a game.
"""

from __future__ import annotations

import argparse

import endodoi as ed
from endodoi.examples import needs

with needs("sb3"):
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecMonitor


def main(words: list[str] | None = None) -> float:
    """Train and return the mean reward of the games played afterwards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--opponent", default="random", help="a player, as greedy or alphabeta:4")
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--games", type=int, default=64, help="games played together")
    parser.add_argument("--steps", type=int, default=32_768, help="moves of the agent in all")
    parser.add_argument("--test-games", type=int, default=200, help="games played afterwards")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="the file to save the model to")
    arguments = parser.parse_args(words)

    # Threads only stand in each other's way in networks this small.
    torch.set_num_threads(1)
    # From one start a learner finds one line that beats a player which always answers alike.
    games = {
        "columns": arguments.columns,
        "opponent": arguments.opponent,
        "random_opening_plies": 4,
        "max_plies": 400,
    }
    env = VecMonitor(ed.sb3.VecEnvAdapter(arguments.games, **games))
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        ent_coef=0.01,
        seed=arguments.seed,
        device="cpu",
        verbose=1,
    )
    model.learn(arguments.steps)
    if arguments.save:
        model.save(arguments.save)

    # Games of other seeds than those of the training.
    test = VecMonitor(ed.sb3.VecEnvAdapter(arguments.games, **games))
    test.seed(arguments.seed + 1)
    mean, deviation = evaluate_policy(model, test, n_eval_episodes=arguments.test_games)
    print(f"mean reward against {arguments.opponent}: {mean:+.3f} (deviation {deviation:.3f})")
    return float(mean)


if __name__ == "__main__":
    main()
