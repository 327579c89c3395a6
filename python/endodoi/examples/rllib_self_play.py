"""Train one masked policy with RLlib's PPO that plays both sides.

    pip install 'endodoi[rllib]'
    python -m endodoi.examples.rllib_self_play --iterations 10

Both agents, ``player_0`` (South) and ``player_1`` (North), are mapped to one module. The module is
RLlib's own with masked actions: it reads ``observations`` and ``action_mask``.
"""

from __future__ import annotations

import argparse
from typing import Any

import endodoi as ed
from endodoi.examples import needs

with needs("rllib"):
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule


def configure(arguments: argparse.Namespace) -> PPOConfig:
    """Return the configuration of the run."""
    return (
        PPOConfig()
        .environment(
            ed.rllib.MultiAgentEnv,
            env_config={"columns": arguments.columns, "max_plies": 200, "illegal": "raise"},
        )
        .multi_agent(
            policies={"both_sides"}, policy_mapping_fn=lambda *_arguments, **_names: "both_sides"
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"fcnet_hiddens": [128, 128], "head_fcnet_hiddens": [64]},
            )
        )
        .env_runners(num_env_runners=arguments.runners)
        .training(train_batch_size_per_learner=arguments.batch, minibatch_size=128, num_epochs=4)
        .debugging(seed=arguments.seed)
    )


def main(words: list[str] | None = None) -> dict[str, Any]:
    """Train and return the result of the last iteration."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--batch", type=int, default=1024, help="plies of each iteration")
    parser.add_argument("--runners", type=int, default=0, help="processes that play")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    ray.init(include_dashboard=False, ignore_reinit_error=True)
    algorithm = configure(arguments).build_algo()
    result: dict[str, Any] = {}
    for iteration in range(arguments.iterations):
        result = algorithm.train()
        played = result["env_runners"]
        print(
            f"{iteration}: {played['num_episodes']} games of "
            f"{played['episode_len_mean']:.1f} plies, "
            f"mean return of South {played['agent_episode_returns_mean']['player_0']:+.3f}"
        )
    algorithm.stop()
    ray.shutdown()
    return result


if __name__ == "__main__":
    main()
