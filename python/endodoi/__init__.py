"""The Maasai mancala games En Dodoi and En Gehé: rules, environments, players, training.

Quick start
-----------
>>> import endodoi as ed
>>> position = ed.Position.start(ed.Ruleset(columns=6))
>>> position.play(position.legal_moves()[0]).captured
(2, 0)

Importing the package registers the Gymnasium ids ``endodoi/EnDodoi-v0``, ``endodoi/EnGehe-v0``
and ``endodoi/CrossEndodoi-v0``.

Axis letters of every array: ``B`` rows (games), ``C`` columns (actions), ``N = 2C`` pits.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi import errors
from endodoi._core import GameRecord, Position, Ruleset, Sowing, __version__, set_agents_folder
from endodoi.errors import (
    AgentError,
    ArenaError,
    ArgumentTypeError,
    ArgumentValueError,
    BatchError,
    BookError,
    ClusterError,
    EndodoiError,
    MissingExtraError,
    MoveError,
    NotationError,
    PolicyError,
    RatingError,
    RecordError,
    RegretError,
    RulesetError,
    SetupError,
    SimulationError,
    SolveError,
    SprtError,
    TableError,
    TrainError,
)
from endodoi.registration import register

if TYPE_CHECKING:
    from endodoi import arena, policies, studies, tables
    from endodoi import pettingzoo as pettingzoo
    from endodoi import ray as ray
    from endodoi import rllib as rllib
    from endodoi import sb3 as sb3
    from endodoi import torch as torch
    from endodoi.env import Env
    from endodoi.replays import Replay, replay
    from endodoi.simulation import GameTable, simulate
    from endodoi.solver import Analysis, MoveValue, Solution, Solver, analyse, solve
    from endodoi.training import TrainResult, train
    from endodoi.vector_env import VectorEnv

__all__ = [
    "AgentError",
    "Analysis",
    "ArenaError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "BatchError",
    "BookError",
    "ClusterError",
    "EndodoiError",
    "Env",
    "GameRecord",
    "GameTable",
    "MissingExtraError",
    "MoveError",
    "MoveValue",
    "NotationError",
    "PolicyError",
    "Position",
    "RatingError",
    "RecordError",
    "RegretError",
    "Replay",
    "Ruleset",
    "RulesetError",
    "SetupError",
    "SimulationError",
    "Solution",
    "SolveError",
    "Solver",
    "Sowing",
    "SprtError",
    "TableError",
    "TrainError",
    "TrainResult",
    "VectorEnv",
    "__version__",
    "analyse",
    "arena",
    "errors",
    "policies",
    "replay",
    "simulate",
    "solve",
    "studies",
    "tables",
    "train",
]

#: Modules imported on their first use: those that need the library of an extra, and others, so
#: that the package is imported quickly.
MODULES = ("arena", "pettingzoo", "policies", "ray", "rllib", "sb3", "studies", "tables", "torch")

#: Names that are imported on their first use, with the module of each.
ORIGINS = {
    "Analysis": "solver",
    "Env": "env",
    "GameTable": "simulation",
    "MoveValue": "solver",
    "Replay": "replays",
    "Solution": "solver",
    "Solver": "solver",
    "TrainResult": "training",
    "VectorEnv": "vector_env",
    "analyse": "solver",
    "replay": "replays",
    "simulate": "simulation",
    "solve": "solver",
    "train": "training",
}


def __getattr__(name: str) -> Any:
    """Import a name on its first use.

    Raises
    ------
    MissingExtraError
        If it needs the library of an extra that is not installed.
    """
    if name in MODULES:
        return import_module(f"endodoi.{name}")
    if name not in ORIGINS:
        raise AttributeError(f"module 'endodoi' has no attribute {name!r}")
    found = getattr(import_module(f"endodoi.{ORIGINS[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List what is imported on its first use too."""
    return sorted({*globals(), *MODULES, *ORIGINS})


register()
# The players of the core find the shipped agents there by name.
set_agents_folder(Path(__file__).parent / "agents")
