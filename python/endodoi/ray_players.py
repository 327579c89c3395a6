"""Players on their way to other machines: specifications, agents with their file, functions."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ray import cloudpickle

from endodoi import _core
from endodoi.contestants import agent_path, members_of, renamed
from endodoi.core_policy import contestant, name_of
from endodoi.errors import PolicyError
from endodoi.places import written_whole
from endodoi.player_modules import module_of
from endodoi.player_sources import sources_of
from endodoi.ray_cluster import node_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from endodoi.policies import PolicyFunction

__all__ = ["Carried", "carry", "local_player", "unpacked"]

#: A function in a file: ``mine.py:policy``.
IN_FILE = re.compile(r"^(?P<file>.+\.py):(?P<name>[^\W\d]\w*)$")


@dataclass(frozen=True)
class Carried:
    """A player that can be sent to a worker."""

    name: str

    def unpack(self) -> str | PolicyFunction:
        """Return the player as the core takes it."""
        return self.name


@dataclass(frozen=True)
class CarriedAgent(Carried):
    """An agent with the bytes of its file."""

    file: bytes
    search: str

    def unpack(self) -> str | PolicyFunction:
        """Write the file, unless this machine has it, and return the specification."""
        path = own_folder("agents") / f"{hashlib.sha256(self.file).hexdigest()}.safetensors"
        keep(path, self.file)
        return f"agent:{path}{self.search}"


@dataclass(frozen=True)
class CarriedCommittee(Carried):
    """A committee's specification with the agents among its members."""

    agents: tuple[CarriedAgent, ...]

    def unpack(self) -> str | PolicyFunction:
        """Write the files of the agents and return the specification that names them."""
        return renamed(self.name, {agent.name: str(agent.unpack()) for agent in self.agents})


@dataclass(frozen=True)
class CarriedFunction(Carried):
    """A function, pickled."""

    pickled: bytes

    def unpack(self) -> str | PolicyFunction:
        """Unpickle the function.

        Raises
        ------
        PolicyError
            If the worker lacks what it needs.
        """
        try:
            function: PolicyFunction = cloudpickle.loads(self.pickled)
        except Exception as error:
            raise cannot(self.name, f"be unpickled on {node_name()}", error) from error
        return function


@dataclass(frozen=True)
class CarriedFile(Carried):
    """A function by its name, with the texts of its file and of what that imports beside it.

    Attributes
    ----------
    texts : tuple of (str, str)
        Paths in the folder, that of the file itself first, and texts.
    function : str
        The name in the file.
    """

    texts: tuple[tuple[str, str], ...]
    function: str

    def unpack(self) -> str | PolicyFunction:
        """Write the files into a folder of their own, run the first, and return the function.

        Raises
        ------
        PolicyError
            If the text fails, or defines no such function.
        """
        digest = hashlib.sha256(repr(self.texts).encode()).hexdigest()
        folder = own_folder("players") / digest
        for name, text in self.texts:
            path = folder / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep(path, text.encode())
        try:
            module = module_of(folder / self.texts[0][0])
        except (Exception, SystemExit) as error:
            raise cannot(self.name, f"be read on {node_name()}", error) from error
        function: Any = getattr(module, self.function, None)
        if not callable(function):
            raise PolicyError(
                f"player {self.name}: the file defines no function {self.function}",
                player=self.name,
            )
        return function  # type: ignore[no-any-return]


def own_folder(kind: str) -> Path:
    """Return the folder of this user for what has travelled to this machine."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"endodoi-{kind}-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def keep(path: Path, content: bytes) -> None:
    """Write a file, unless it is there."""
    if not path.exists() or path.read_bytes() != content:
        with written_whole(path) as partial:
            Path(partial).write_bytes(content)


@lru_cache(maxsize=16)
def unpacked(player: Carried) -> str | PolicyFunction:
    """Return a player as the core takes it; a worker that has met it before remembers it."""
    return player.unpack()


def carry(player: str | PolicyFunction, side: str) -> Carried:
    """Make a player ready to be sent.

    Raises
    ------
    ArgumentTypeError
        If it is neither a specification nor a function.
    AgentError
        If an agent's file cannot be used.
    PolicyError
        If a function cannot be pickled, or its file cannot be read; the message says why.
    """
    given = contestant(player, side)
    if not isinstance(given, str):
        return CarriedFunction(name_of(given), pickled(given))
    if found := IN_FILE.match(given):
        try:
            texts = sources_of(Path(found["file"]).resolve())
        except (OSError, UnicodeDecodeError, SyntaxError) as error:
            raise cannot(given, "be read", error) from error
        return CarriedFile(given, tuple(texts.items()), found["name"])
    members = dict.fromkeys(str(member) for _, member in members_of(given, given))
    agents = tuple(carried_agent(name) for name in members if name.startswith("agent:"))
    if given.startswith("committee:") and agents:
        return CarriedCommittee(given, agents)
    return agents[0] if agents else Carried(given)


def carried_agent(name: str) -> CarriedAgent:
    """Make an agent ready to be sent.

    Raises
    ------
    AgentError
        If its file cannot be used.
    """
    path = agent_path(name)
    search = name.removeprefix(f"agent:{path}")
    return CarriedAgent(name, Path(_core.agent_file(path)).read_bytes(), search)


def local_player(player: Carried, given: str | PolicyFunction) -> str | PolicyFunction:
    """Return a player for the games that are played in this process."""
    return player.unpack() if isinstance(player, CarriedFile) else given


def pickled(function: PolicyFunction) -> bytes:
    """Pickle a function; one of a module that only this machine has travels with its code.

    Raises
    ------
    PolicyError
        If it cannot be pickled.
    """
    try:
        with ExitStack() as stack:
            for module in {own_module(part) for part in parts_of(function)} - {None}:
                cloudpickle.register_pickle_by_value(module)
                stack.callback(cloudpickle.unregister_pickle_by_value, module)
            return bytes(cloudpickle.dumps(function))
    except Exception as error:
        raise cannot(name_of(function), "be pickled", error) from error


def parts_of(function: object) -> Iterator[object]:
    """Iterate over a function and, of a committee, its members."""
    yield function
    for member, _ in getattr(function, "_votes", ()):
        if callable(member):
            yield from parts_of(member)


def own_module(function: object) -> ModuleType | None:
    """Return the module that defines a function if workers are not expected to have it."""
    name = getattr(function, "__module__", None) or type(function).__module__
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or name == "__main__" or name.startswith("endodoi."):
        return None
    installed = [sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return None if any(Path(file).is_relative_to(folder) for folder in installed) else module


def cannot(name: str, what: str, error: BaseException) -> PolicyError:
    """Return the error of a player that cannot be sent."""
    return PolicyError(
        f"player {name} cannot be sent to other machines: it cannot {what} "
        f"({type(error).__name__}: {error})",
        player=name,
    )
