"""The command ``endodoi agents``."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from endodoi.command_line import printable
from endodoi.shipped import shipped_agents

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands
    from endodoi.shipped import ShippedAgent

__all__ = ["add_agents"]

EXAMPLES = """\
examples:
  endodoi agents
  endodoi agents --json
  endodoi simulate --columns 6 --south agent:en-dodoi-2x6 --north greedy --games 200

A player agent:NAME is the agent of that name, unless there is a file or folder of that name.
"""

HEAD = ("player", "rules", "measured", "result", "95 %")


def add_agents(commands: Commands) -> None:
    """Add the command that lists the agents."""
    parser = commands.add_parser(
        "agents",
        help="list the trained agents that come with the package",
        description="Lists the trained agents that come with the package, with their strength: "
        "scores from 0 to 1 against other players, seeds lost a move against the best moves.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=agents_command)
    parser.add_argument("--json", action="store_true", help="print all that is known, as JSON")


def agents_command(options: argparse.Namespace) -> int:
    """Print the agents with their strength."""
    agents = shipped_agents()
    if options.json:
        known = {name: to_dict(agent) for name, agent in agents.items()}
        print(json.dumps(known, indent=1))
        return 0
    print(printable(table_of(list(agents.values()))))
    return 0


def to_dict(agent: ShippedAgent) -> dict[str, Any]:
    """Return all that is known of an agent, as JSON can hold it."""
    fields = {**vars(agent), "path": str(agent.path), "ruleset": agent.ruleset.to_dict()}
    for name in ("scores", "regret"):
        fields[name] = [dataclasses.asdict(one) for one in fields[name]]
    return fields


def rows_of(agent: ShippedAgent) -> list[tuple[str, ...]]:
    """Return a row of cells for each measurement of an agent, one at least."""
    rules = str(agent.ruleset)
    rows: list[tuple[str, ...]] = [
        (
            one.player,
            rules,
            f"score against {one.opponent}",
            f"{one.score:.3f}",
            f"{one.low:.3f} to {one.high:.3f}",
        )
        for one in agent.scores
    ]
    rows += [
        (
            one.player,
            rules,
            f"seeds lost a move ({100 * one.optimal:.1f} % optimal)",
            f"{one.seeds_lost:.3f}",
            f"± {one.seeds_lost_half:.3f}",
        )
        for one in agent.regret
    ]
    return rows or [(f"agent:{agent.name}", rules, "", "", "")]


def table_of(agents: list[ShippedAgent]) -> str:
    """Return the measurements of all agents as a table."""
    rows = [HEAD, *(row for agent in agents for row in rows_of(agent))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)
