"""What the benches that train agents share: the cost of a run, and the solved positions of 2x6."""

from __future__ import annotations

import resource

from endodoi.benchmark_exam import examine
from endodoi.benchmark_suite import load_suite


def seconds_of_children() -> float:
    """Return the processor time of the programs that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def examined(player: str, positions: int) -> dict[str, float]:
    """Return a player's best moves of 100, and the seeds it loses a move, in solved positions."""
    part = load_suite().select("2x6")[0]
    answers = examine(player, part.questions(positions), part.ruleset, 0).all
    return {"optimal": 100 * answers.optimal.share, "lost": answers.seeds_lost.mean}
