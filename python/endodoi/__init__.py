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
from typing import TYPE_CHECKING, Any

from endodoi import arena, errors, policies, studies, tables
from endodoi._core import GameRecord, Position, Ruleset, Sowing, __version__
from endodoi.env import Env
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
    RecordError,
    RegretError,
    RulesetError,
    SetupError,
    SimulationError,
    SolveError,
    TableError,
    TrainError,
)
from endodoi.registration import register
from endodoi.replays import Replay, replay
from endodoi.simulation import GameTable, simulate
from endodoi.solver import Analysis, MoveValue, Solution, Solver, analyse, solve
from endodoi.training import TrainResult, train
from endodoi.vector_env import VectorEnv

if TYPE_CHECKING:
    from endodoi import pettingzoo as pettingzoo
    from endodoi import ray as ray
    from endodoi import rllib as rllib
    from endodoi import sb3 as sb3
    from endodoi import torch as torch

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

#: Modules that need a library of an extra: each is imported on its first use.
EXTRA_MODULES = ("pettingzoo", "ray", "rllib", "sb3", "torch")


def __getattr__(name: str) -> Any:
    """Import a module that needs the library of an extra.

    Raises
    ------
    MissingExtraError
        If that library is not installed.
    """
    if name in EXTRA_MODULES:
        return import_module(f"endodoi.{name}")
    raise AttributeError(f"module 'endodoi' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the modules of extras too, imported or not."""
    return sorted({*globals(), *EXTRA_MODULES})


register()
