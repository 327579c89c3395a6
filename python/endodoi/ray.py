"""The same calls on a cluster of machines, by Ray.

Needs the extra ``endodoi[ray]``, on every machine of the cluster in the same version. Without an
address, a Ray session that this process already has is used and left alone; else one is started on
this machine, or joined where the variable ``RAY_ADDRESS`` names one, and left at the end.
"""

from __future__ import annotations

from importlib.util import find_spec

from endodoi.extras import missing

if find_spec("ray") is None:
    raise missing("ray", "ray")

from endodoi.ray_arena import regret, tournament
from endodoi.ray_benchmark import benchmark
from endodoi.ray_simulation import simulate
from endodoi.ray_training import train

__all__ = ["benchmark", "regret", "simulate", "tournament", "train"]
