"""What is installed and works on this machine, and the way out where something does not."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from endodoi import _core
from endodoi.errors import EndodoiError, TrainError
from endodoi.policies import Agent
from endodoi.shipped import FOLDER
from endodoi.training import find_trainer

__all__ = ["examine"]

#: Name and extra of a requirement, as ``pyarrow>=15; extra == 'arrow'``.
REQUIREMENT = re.compile(r"^([\w.-]+).*\bextra\s*==\s*['\"]([\w.-]+)['\"]")

#: Seconds in which the trainer must have said what it is; it loads libtorch for that.
PATIENCE = 60

BUILD = "build it again: `make train` in a checkout of endodoi"


def examine() -> dict[str, Any]:
    """Look at the package, its extras, the processor, the trainer and the shipped agents.

    Returns
    -------
    found : dict
        ``package``, ``python``, ``extras``, ``instructions``, ``threads``, ``trainer``,
        ``agents``, and ``problems``: a list of texts, one for each thing that is broken. What is
        not installed is no problem.
    """
    problems: list[str] = []
    return {
        "package": package(problems),
        "python": {"version": platform.python_version(), "platform": platform.platform()},
        "extras": extras(),
        "instructions": instructions(problems),
        "threads": threads(),
        "trainer": trainer(problems),
        "agents": agents(problems),
        "problems": problems,
    }


def package(problems: list[str]) -> dict[str, Any]:
    """Return the versions of the package, its core and the libraries that it needs."""
    versions = {name: version_of(name) for name in ("endodoi", "numpy", "gymnasium")}
    core = _core.__version__
    if versions["endodoi"] not in {None, core}:
        problems.append(
            f"the package is version {versions['endodoi']}, its core version {core}: install it "
            "again (`make build` in a checkout of endodoi)"
        )
    return {
        **versions,
        "endodoi": versions["endodoi"] or core,
        "core": core,
        "folder": str(Path(__file__).parent),
    }


def version_of(name: str) -> str | None:
    """Return the version of an installed library, None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def extras() -> dict[str, dict[str, str | None]]:
    """Return the libraries of every extra with their versions, None for those not installed."""
    found: dict[str, dict[str, str | None]] = {}
    try:
        requirements = importlib.metadata.requires("endodoi") or []
    except importlib.metadata.PackageNotFoundError:
        requirements = []
    for requirement in requirements:
        if match := REQUIREMENT.match(requirement):
            found.setdefault(match[2], {})[match[1]] = version_of(match[1])
    return dict(sorted(found.items()))


def instructions(problems: list[str]) -> dict[str, Any]:
    """Return the sets of instructions of this processor and the one that games are played with."""
    available = [name for name, there in _core.instruction_sets() if there]
    chosen = None
    try:
        chosen = _core.chosen_instructions()
    except EndodoiError as error:
        problems.append(f"{error}; unset the variable for the fastest one")
    return {
        "available": available,
        "chosen": chosen,
        "variable": os.environ.get("ENDODOI_INSTRUCTIONS") or None,
    }


def threads() -> dict[str, int]:
    """Return the threads used where none are asked for, and the cores there are.

    The threads are those that affinity and control group leave to this process.
    """
    cores = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return {"default": _core.default_threads(), "affinity": affinity, "cores": cores}


def trainer(problems: list[str]) -> dict[str, Any] | None:
    """Return what the trainer says of itself, None if it is not built."""
    try:
        program = find_trainer()
    except TrainError as error:
        if os.environ.get("ENDODOI_TRAIN"):
            problems.append(f"{error}: correct the variable or unset it")
        return None
    found: dict[str, Any] = {"program": program}
    try:
        done = subprocess.run(
            [program, "about", "--json"],
            capture_output=True,
            check=True,
            text=True,
            timeout=PATIENCE,
        )
        found.update(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        problems.append(f"{program} does not run: {reason_of(error)}; {BUILD}")
        return found
    if found.get("version") != _core.__version__:
        problems.append(
            f"{program} is version {found.get('version')}, the package version "
            f"{_core.__version__}: {BUILD}"
        )
    return found


def reason_of(error: Exception) -> str:
    """Return in a line why a program did not say what it is."""
    said = getattr(error, "stderr", None)
    lines = said.strip().splitlines() if isinstance(said, str) else []
    return lines[0] if lines else str(error)


def agents(problems: list[str]) -> list[str]:
    """Return the names of the shipped agents that can be played."""
    faults = {name: fault_of(name) for name in _core.shipped_names()}
    problems += [
        f"the agent {name} cannot be read: {fault}; install the package again"
        for name, fault in faults.items()
        if fault
    ]
    if not faults:
        problems.append("the package holds no agent: install it again")
    return [name for name, fault in faults.items() if fault is None]


def fault_of(name: str) -> str | None:
    """Return why a shipped agent cannot be played, None if it can."""
    try:
        # By its path: something in the current folder may have the same name.
        Agent.load(FOLDER / f"{name}.safetensors")
    except (EndodoiError, OSError) as error:
        return str(error)
    return None
