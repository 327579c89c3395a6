"""The Gymnasium ids of the package."""

from __future__ import annotations

import gymnasium

__all__ = ["ENV_IDS", "VERSIONS", "register"]

#: Variant of each id.
ENV_IDS = {
    "endodoi/EnDodoi-v0": "en-dodoi",
    "endodoi/EnGehe-v0": "en-gehe",
    "endodoi/CrossEndodoi-v0": "cross-endodoi",
}

#: What each version of an id changed, the newest first: a version changes when behaviour does.
VERSIONS = {
    "endodoi/EnDodoi-v0": {"v0": "The first version."},
    "endodoi/EnGehe-v0": {"v0": "The first version."},
    "endodoi/CrossEndodoi-v0": {"v0": "The first version."},
}


def register() -> None:
    """Register the ids with Gymnasium, once."""
    for env_id, variant in ENV_IDS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(
                id=env_id,
                entry_point="endodoi.env:Env",
                vector_entry_point="endodoi.vector_env:VectorEnv",
                kwargs={"variant": variant},
            )
