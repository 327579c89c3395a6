"""The benchmark suite: a fixed, versioned set of boards, opponents, games and positions.

Everything that it consists of stands in the folder ``suite`` of the package. A change of any of it
is a new version: report cards of different versions are not compared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endodoi._core import Ruleset
from endodoi.errors import ArgumentTypeError, ArgumentValueError
from endodoi.shipped import FOLDER as AGENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FOLDER", "Part", "Question", "Scale", "Suite", "load_suite"]

#: Where the suite lies.
FOLDER = Path(__file__).parent / "suite"


@dataclass(frozen=True)
class Scale:
    """How much is played.

    Attributes
    ----------
    games : int
        Games against each opponent, two for each opening.
    positions : int
        Positions of a solved board in which the player chooses.
    """

    games: int
    positions: int


@dataclass(frozen=True)
class Question:
    """A position with what each of its moves is worth.

    Attributes
    ----------
    position : str
        The position, as text.
    margins : dict of int to int
        The mover's captured difference at the end by column, when both sides play perfectly from
        there on.
    """

    position: str
    margins: dict[int, int]


@dataclass(frozen=True)
class Part:
    """A board of the suite.

    Attributes
    ----------
    name : str
        ``"2x6"``, ``"cross-2x6"`` ...
    ruleset : Ruleset
    anchors : tuple of str
        The specifications of the opponents that search or draw.
    agent : str
        The name of the trained agent of this board, the last opponent.
    agent_sha256 : str
        The hash of its file.
    file : str or None
        The file of the positions; None where the board is not solved.
    """

    name: str
    ruleset: Ruleset
    anchors: tuple[str, ...]
    agent: str
    agent_sha256: str
    file: str | None

    def opponents(self) -> dict[str, str]:
        """Return the opponents by the names that cards show.

        The agent is that of the package, whatever the current folder holds.
        """
        agent = {f"agent:{self.agent}": f"agent:{AGENTS / self.agent}.safetensors"}
        return {**{anchor: anchor for anchor in self.anchors}, **agent}

    def questions(self, count: int) -> list[Question]:
        """Return the first positions, none where the board is not solved."""
        if self.file is None:
            return []
        with (FOLDER / self.file).open(encoding="utf-8") as lines:
            read = [json.loads(line) for _, line in zip(range(count), lines, strict=False)]
        return [Question(one["position"], dict(one["margins"])) for one in read]


@dataclass(frozen=True)
class Suite:
    """The whole suite.

    Attributes
    ----------
    version : int
    opening_plies : int
        Random plies at the start of each pair of games.
    games_seed, positions_seed : int
        The seed of openings and of players that draw; that of the positions.
    scales : dict of str to Scale
    parts : tuple of Part
    """

    version: int
    opening_plies: int
    games_seed: int
    positions_seed: int
    scales: dict[str, Scale]
    parts: tuple[Part, ...]

    def scale(self, name: object) -> Scale:
        """Return the scale of a name.

        Raises
        ------
        ArgumentValueError
            If there is none.
        """
        for known, scale in self.scales.items():
            if name == known:
                return scale
        raise ArgumentValueError(
            f"scale is {name!r}, expected {' or '.join(self.scales)}", field="scale", value=name
        )

    def select(self, names: str | Sequence[str] | None) -> list[Part]:
        """Return the parts of these names in the order of the suite, all for None.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If it is no sequence of names, or one is no name of a part.
        """
        if names is None:
            return list(self.parts)
        asked: Any = [names] if isinstance(names, str) else names
        if not isinstance(asked, (list, tuple)):
            raise ArgumentTypeError(
                f"parts is {names!r} ({type(names).__name__}), expected a list of names",
                field="parts",
                value=names,
            )
        known = [part.name for part in self.parts]
        for name in asked:
            if name not in known:
                raise ArgumentValueError(
                    f"parts has {name!r}, expected some of {', '.join(known)}",
                    field="parts",
                    value=name,
                )
        if not asked:
            raise ArgumentValueError(
                f"parts is empty, expected some of {', '.join(known)}", field="parts", value=names
            )
        return [part for part in self.parts if part.name in asked]


@cache
def load_suite() -> Suite:
    """Return the suite of this package."""
    read: dict[str, Any] = json.loads((FOLDER / "suite.json").read_text(encoding="utf-8"))
    return Suite(
        version=read["version"],
        opening_plies=read["opening_plies"],
        games_seed=read["games_seed"],
        positions_seed=read["positions_seed"],
        scales={name: Scale(**scale) for name, scale in read["scales"].items()},
        parts=tuple(
            Part(
                name=part["name"],
                ruleset=Ruleset.from_dict(part["ruleset"]),
                anchors=tuple(part["anchors"]),
                agent=part["agent"],
                agent_sha256=part["agent_sha256"],
                file=part["positions"],
            )
            for part in read["parts"]
        ),
    )
