"""Players of the user's own files, as the command line names them: ``path.py:name``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING

from endodoi._core import different_names
from endodoi.errors import PolicyError
from endodoi.player_modules import module_of

if TYPE_CHECKING:
    from types import ModuleType

    from endodoi.policies import PolicyFunction

__all__ = ["called", "load_named", "load_player", "load_players"]


def load_player(text: str) -> str | PolicyFunction:
    """Return the policy that ``path.py:name`` names; any other text is a specification.

    The file is run once, as a module of its own: its folder is the first that its imports search,
    and no other file and no library sees what is found there.

    Raises
    ------
    PolicyError
        If there is no such file or name, the file fails, or what is named is no policy.
    """
    path, _, name = text.rpartition(":")
    if text.endswith(".py") or (path.endswith(".py") and not name):
        file_name = text.removesuffix(":")
        raise PolicyError(
            f"player {text}: name the function in the file too, as {file_name}:policy", player=text
        )
    if not path.endswith(".py"):
        return text
    file = Path(path).resolve()
    if not file.is_file():
        raise PolicyError(f"player {text}: there is no file {path}", player=text)
    try:
        module = module_of(file)
    except (Exception, SystemExit) as error:
        raise PolicyError(
            f"player {text}: {file} fails{fault(error, file)}", player=text
        ) from error
    policy: PolicyFunction | None = getattr(module, name, None)
    if policy is None:
        own = [key for key, value in vars(module).items() if is_own(value, module)]
        listed = f", only {', '.join(own)}" if own else ""
        raise PolicyError(f"player {text}: {path} has no {name!r}{listed}", player=text)
    if not callable(policy):
        raise PolicyError(
            f"player {text}: {name} is {policy!r}, expected a function (observations, "
            "action_masks) -> actions",
            player=text,
        )
    return policy


def fault(error: BaseException, file: Path) -> str:
    """Return in which line of a file an error came up, and what it is."""
    lines = [
        frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(file)
    ]
    where = f" in line {lines[-1]}" if lines else ""
    # The message of a syntax error names the line.
    what = f"{type(error).__name__}: {error}" if str(error) else repr(error)
    return f"{where}: {what}"


def is_own(value: object, module: ModuleType) -> bool:
    """Tell whether something is a function that a file itself defines."""
    return callable(value) and getattr(value, "__module__", None) == module.__name__


def load_named(text: str) -> str | PolicyFunction:
    """Return a player as `load_player` does; a function is named by the text.

    Raises
    ------
    PolicyError
        As `load_player`.
    """
    return called(text, load_player(text))


def called(name: str, policy: str | PolicyFunction) -> str | PolicyFunction:
    """Return a player under a name; a specification has its own."""
    if isinstance(policy, str):
        return policy
    named = partial(policy)
    named.__name__ = name  # type: ignore[attr-defined]
    return named


def load_players(texts: list[str]) -> dict[str, str | PolicyFunction]:
    """Return players by their names, which are the texts, all different."""
    return dict(zip(different_names(texts), map(load_player, texts), strict=True))
