"""Players of a tournament: their names, and what tells their files from others."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from endodoi import _core
from endodoi._core import different_names
from endodoi.committee import Committee
from endodoi.core_policy import contestant, name_of
from endodoi.errors import ArgumentTypeError
from endodoi.numbers_given import wrong_type
from endodoi.player_modules import DIGEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from endodoi.policies import PolicyFunction
    from endodoi.tournament import Players

    Player: TypeAlias = "str | PolicyFunction"

__all__ = ["player_digests", "read_players"]


def read_players(players: Players) -> tuple[list[str], list[Player]]:
    """Return the names of players, all different, and the players as the core takes them.

    Raises
    ------
    ArgumentTypeError
        If it is no sequence or mapping of players.
    """
    names: list[Any] | None = None
    if isinstance(players, Mapping):
        given, names = list(players.values()), list(players)
    elif not isinstance(players, (list, tuple)):
        raise wrong_type(players, "players", "a list of players")
    else:
        given = list(players)
    read = [contestant(player, f"players[{i}]") for i, player in enumerate(given)]
    if names is None:
        return different_names([name_of(player) for player in read]), read
    for name in names:
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(
                f"players has the name {name!r}, expected a text", field="players", value=name
            )
    return names, read


def player_digests(names: list[str], players: list[Player]) -> dict[str, str]:
    """Return the SHA-256 of each agent's file and of each player file's text.

    Agents are told by their specification, functions by the name of the player.
    """
    digests = {}
    for name, player in zip(names, players, strict=True):
        for label, member in members_of(name, player):
            if not isinstance(member, str):
                digest = digest_of_function(member)
            elif member.startswith("agent:"):
                path = agent_path(member)
                digest = hashlib.sha256(_core.agent_file(path).read_bytes()).hexdigest()
            else:
                continue
            if digest is not None:
                digests[label] = digest
    return digests


def members_of(label: str, player: Player) -> Iterator[tuple[str, Player]]:
    """Go through a player or, of a committee, its members, each with what it is called."""
    if isinstance(player, Committee):
        for place, (member, _) in enumerate(player._votes):  # noqa: SLF001
            yield from members_of(f"{label}[{place}]", member)
    elif not isinstance(player, str):
        yield label, player
    elif player.startswith("committee:"):
        for member in parted(player.removeprefix("committee:")):
            yield from members_of(member, member)
    else:
        yield player, player


def parted(members: str) -> list[str]:
    """Return the members of a committee's specification, which the core has read before."""
    return [one_of(part) for part in parts_of(members)]


def parts_of(members: str) -> list[str]:
    """Return the parts of a committee's specification.

    Each is ``[Nx][WEIGHT*]PLAYER`` or ``[Nx][WEIGHT*]{PLAYER}``, and they are parted by ``+``
    outside braces.
    """
    parts, depth = [""], 0
    for letter in members:
        depth += (letter == "{") - (letter == "}")
        if letter == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def renamed(player: str, names: Mapping[str, str]) -> str:
    """Return a specification with others in the place of some, members of committees included."""
    if not player.startswith("committee:"):
        return names.get(player, player)
    parts = []
    for part in parts_of(player.removeprefix("committee:")):
        member = one_of(part)
        bare = part.removesuffix("}") if part.endswith(f"{{{member}}}") else part
        head = bare.removesuffix(member).removesuffix("{")
        parts.append(f"{head}{{{renamed(member, names)}}}")
    return "committee:" + "+".join(parts)


def one_of(member: str) -> str:
    """Return a member without its number and weight."""
    number, times, rest = member.partition("x")
    if times and not number.strip("0123456789"):
        member = rest
    weight, star, rest = member.partition("*")
    if star and weight[:1].isdigit():
        member = rest
    if member.startswith("{") and member.endswith("}"):
        return member[1:-1]
    return member


def agent_path(player: str) -> str:
    """Return the file, run or name of an agent, without how it searches."""
    path = player.removeprefix("agent:")
    before, at, option = path.rpartition("@")
    if at and (option == "none" or ("=" in option and not set(option) & set("/\\"))):
        return before
    return path


def digest_of_function(function: PolicyFunction) -> str | None:
    """Return the SHA-256 of the text of a player file, if that defines the function."""
    inner = inspect.unwrap(function)
    if not hasattr(inner, "__globals__"):
        inner = getattr(type(inner), "__call__", inner)  # noqa: B004
    digest: str | None = getattr(inner, "__globals__", {}).get(DIGEST)
    return digest
