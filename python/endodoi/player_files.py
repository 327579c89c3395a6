"""Players of the user's own files, as the command line names them: ``path.py:name``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from endodoi._core import different_names
from endodoi.errors import PolicyError
from endodoi.player_modules import module_of

if TYPE_CHECKING:
    from endodoi.policies import PolicyFunction

__all__ = ["load_player", "load_players"]


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
    if not path.endswith(".py"):
        return text
    file = Path(path).resolve()
    if not file.is_file():
        raise PolicyError(f"player {text}: there is no file {path}", player=text)
    try:
        module = module_of(file)
    except (Exception, SystemExit) as error:
        raise PolicyError(f"player {text}: {file} fails: {error!r}", player=text) from error
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
