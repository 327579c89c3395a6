"""Players of the user's own files, as the command line names them: ``path.py:name``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from endodoi._core import different_names
from endodoi.errors import PolicyError

if TYPE_CHECKING:
    from types import ModuleType

    from endodoi.policies import PolicyFunction

__all__ = ["load_player", "load_players"]


def load_player(text: str) -> str | PolicyFunction:
    """Return the policy that ``path.py:name`` names; any other text is a specification.

    The file is run once, as a module named after it, with its folder first among those that are
    searched for imports.

    Raises
    ------
    PolicyError
        If there is no such file or name, the file fails, or what is named is no policy.
    """
    path, _, name = text.rpartition(":")
    if not path.endswith(".py"):
        return text
    file = Path(path).resolve()
    if not file.is_file():
        raise PolicyError(f"player {text}: there is no file {path}", player=text)
    module = sys.modules.get(file.stem)
    if module is None or getattr(module, "__file__", None) != str(file):
        module = run_file(file, text)
    policy: PolicyFunction | None = getattr(module, name, None)
    if policy is None:
        raise PolicyError(f"player {text}: {path} has no {name!r}", player=text)
    if not callable(policy):
        raise PolicyError(
            f"player {text}: {name} is {policy!r}, expected a function (observations, "
            "action_masks) -> actions",
            player=text,
        )
    return policy


def load_players(texts: list[str]) -> dict[str, str | PolicyFunction]:
    """Return players by their names, which are the texts, all different."""
    return dict(zip(different_names(texts), map(load_player, texts), strict=True))


def run_file(file: Path, text: str) -> ModuleType:
    """Run a file as a module and return it."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise PolicyError(f"player {text}: {file} is no Python file", player=text)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[file.stem]
        raise PolicyError(f"player {text}: {file} fails: {error!r}", player=text) from error
    return module
