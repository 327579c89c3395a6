"""A cluster of two nodes in this machine, and waiting for what happens on it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import ray
from ray.cluster_utils import Cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def two_nodes() -> Iterator[Cluster]:
    """Start a head and a second node of one processor each and join them."""
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "include_dashboard": False,
            # A dead node is noticed after a second instead of half a minute, and workers get
            # their share of a machine that does other work too.
            "_system_config": {
                "worker_niceness": 0,
                "health_check_initial_delay_ms": 1000,
                "health_check_period_ms": 300,
                "health_check_timeout_ms": 1000,
                "health_check_failure_threshold": 3,
            },
        },
    )
    try:
        cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def wait_until(what: str, holds: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something holds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, what
        time.sleep(0.01)
