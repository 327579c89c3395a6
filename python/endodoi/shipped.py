"""The trained agents that come with the package, and how strong they were measured to be.

`Agent.load("en-dodoi-2x6")` and ``agent:en-dodoi-2x6`` play one of them; a file or folder of that
name wins over the name. `shipped_agents` lists them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi._core import Player, shipped_names

if TYPE_CHECKING:
    from endodoi._core import Ruleset

__all__ = ["AgentRegret", "AgentScore", "ShippedAgent", "shipped_agents"]

#: Where they lie, with `STRENGTH`.
FOLDER = Path(__file__).parent / "agents"

#: The name of the file of their strength.
STRENGTH = "strength.json"


@dataclass(frozen=True)
class AgentScore:
    """What an agent scored against an opponent, each opening played from both sides.

    Attributes
    ----------
    player : str
        The agent's specification, with its search.
    opponent : str
        The opponent's specification.
    games : int
        Games, two for each opening.
    opening_plies : int
        Random plies of an opening.
    score, low, high : float
        Mean score, 0 to 1, a draw half a point, with its 95 % interval.
    margin, margin_half : float
        Mean seeds captured less those of the opponent, with the half-width of its 95 % interval.
    """

    player: str
    opponent: str
    games: int
    opening_plies: int
    score: float
    low: float
    high: float
    margin: float
    margin_half: float


@dataclass(frozen=True)
class AgentRegret:
    """What an agent's moves lose against the best ones.

    Attributes
    ----------
    player : str
        The agent's specification, with its search.
    positions : int
        Positions in which it chose.
    reference : str
        What its moves were compared with.
    optimal : float
        Share of the moves that lose nothing, 0 to 1.
    seeds_lost, seeds_lost_half : float
        Mean seeds lost a move, with the half-width of its 95 % interval.
    """

    player: str
    positions: int
    reference: str
    optimal: float
    seeds_lost: float
    seeds_lost_half: float


@dataclass(frozen=True)
class ShippedAgent:
    """A trained agent that comes with the package.

    Attributes
    ----------
    name : str
        What `Agent.load` takes.
    path : Path
        Its file.
    ruleset : Ruleset
        The rules it was trained on.
    learner : str
        ``"value"`` or ``"gumbel"``.
    step, games : int
        Optimiser steps taken and games of self-play finished.
    trained_by : str
        The command that trained it.
    minutes : float
        Minutes of training.
    cores, seed : int
        Cores that it was trained on, and the seed of the run.
    scores : tuple of AgentScore
    regret : tuple of AgentRegret
        Empty where the board is not solved.
    measured_by : tuple of str
        The commands that measured scores and regret.
    """

    name: str
    path: Path
    ruleset: Ruleset
    learner: str
    step: int
    games: int
    trained_by: str
    minutes: float
    cores: int
    seed: int
    scores: tuple[AgentScore, ...]
    regret: tuple[AgentRegret, ...]
    measured_by: tuple[str, ...]


@cache
def shipped_agents() -> dict[str, ShippedAgent]:
    """Return the agents that come with the package, by name, with their measured strength.

    Examples
    --------
    >>> import endodoi as ed
    >>> agents = ed.policies.shipped_agents()
    >>> all(agent.path.is_file() for agent in agents.values())
    True
    """
    strength = read_strength()
    return {name: describe(name, strength[name]) for name in shipped_names()}


def read_strength() -> dict[str, dict[str, Any]]:
    """Return what is known of the agents' strength, by name."""
    text = (FOLDER / STRENGTH).read_text(encoding="utf-8")
    known: dict[str, dict[str, Any]] = json.loads(text)["agents"]
    return known


def describe(name: str, known: dict[str, Any]) -> ShippedAgent:
    """Return an agent with what is known of it.

    Parameters
    ----------
    name : str
        The agent's name.
    known : dict
        Its entry in the file of the agents' strength.
    """
    # By its path: something in the current folder may have the same name.
    path = FOLDER / f"{name}.safetensors"
    metadata = Player.agent(str(path)).metadata or {}
    training = known["training"]
    return ShippedAgent(
        name=name,
        path=path,
        ruleset=metadata["ruleset"],
        learner=metadata["learner"],
        step=metadata["step"],
        games=metadata["games"],
        trained_by=training["command"],
        minutes=training["minutes"],
        cores=training["cores"],
        seed=training["seed"],
        scores=tuple(AgentScore(**score) for score in known["scores"]),
        regret=tuple(AgentRegret(**regret) for regret in known["regret"]),
        measured_by=tuple(known["measured_by"]),
    )
