"""Write the page of the agents that come with the package from what was measured of them.

    python python/tools/agent_page.py           write docs/agents.md
    python python/tools/agent_page.py --check   tell whether the page is up to date

What was measured stands in python/endodoi/agents/strength.json (see measure_agents.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import endodoi as ed
from docstrings import write_table
from written_page import finish

if TYPE_CHECKING:
    from endodoi.policies import ShippedAgent

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"

HEAD = """\
# Agents to start from

Trained agents that come with the package: small networks that play without torch, wherever a
player is asked for.

```python
import endodoi as ed

agent = ed.policies.Agent.load("en-dodoi-2x6")               # searches as deep as its file says
quick = ed.policies.Agent.load("en-dodoi-2x6", depth=0)      # its network alone
env = ed.VectorEnv(64, columns=6, opponent="agent:en-dodoi-2x6@depth=2")
agent.evaluate(ed.Position.start(agent.ruleset).observation()).margin   # seeds it expects to win by
```

`agent:NAME` is a specification as any other: `endodoi simulate --columns 6 --south
agent:en-dodoi-2x6 --north greedy`. It may end in `@depth=N`, `@nodes=N`, `@seconds=S` or `@none`,
that of a Gumbel agent in `@sims=N` or `@none`.
**A file or folder of that name wins over the name**, so that a run of your own may be called as one
of them; an unknown name is refused with the names there are. `ed.policies.shipped_agents()` and
`endodoi agents` list them.

Those of learner `value` ([trainer.md](trainer.md)) play by alpha-beta over a network that expects
how many seeds are still won, on the number of columns that they were trained on, and on other rules
of that size as well as what they learnt carries over.

The one of learner `gumbel` plays by tree search over a network that grew from 2x10 over 2x20 and
2x40 to 2x50, **and on any other size**. Its policy alone is far stronger than the other network
alone; with 24 simulations, which take as long as three plies of the other, it is the stronger
player ([trainer.md](trainer.md#strength)). Games and steps are those of the last of its boards.
"""

TUNE = """\
## In PyTorch

`ed.torch.load` gives the same network as a `torch.nn.Module`, `ed.torch.save` writes it back as an
agent (`pip install 'endodoi[torch]'`). Names and shapes of the parameters are those of the file
([formats.md](formats.md#agent-file)).

```python needs=torch
observations, _ = env.reset(seed=1)
network = ed.torch.load("en-dodoi-2x6")      # a file, a run's folder or a name
margins = network(observations)              # int [B, 2C+3] -> float32 [B], with gradients
ed.torch.save(network, "mine.safetensors")   # ed.policies.Agent.load("mine.safetensors") plays it
```

The network of a value agent takes observations (or their pits alone) and returns the expected
future margin in seeds. That of a Gumbel agent returns `logits` [B, C], `outcomes` [B, 3] (before
the softmax: win, draw, loss) and `margins` [B]; what its network sees is worked out by the rules
first (`network.encode`).

The trainer trains an agent on as well, on other rules too: `endodoi train --start en-dodoi-2x6`
([trainer.md](trainer.md#starting-from-an-agent)). An example that fine-tunes an agent to other
rules in PyTorch in a minute:
"""

TRY = """\
```console long
python -m endodoi.examples.fine_tune --agent en-dodoi-2x6 --out parity.safetensors
```
"""


def sizes(agents: list[ShippedAgent]) -> str:
    """Return the table of the agents and their training."""
    head = ["name", "rules", "learner", "kB", "minutes", "cores", "games", "steps"]
    rows = [
        [
            f"`{agent.name}`",
            str(agent.ruleset),
            agent.learner,
            f"{agent.path.stat().st_size / 1000:.0f}",
            f"{agent.minutes:g}",
            str(agent.cores),
            f"{agent.games:,}",
            f"{agent.step:,}",
        ]
        for agent in agents
    ]
    return write_table([head, *rows])


def strength(agent: ShippedAgent) -> str:
    """Return what was measured of an agent."""
    parts = [f"## {agent.name}\n"]
    if agent.scores:
        head = ["player", "opponent", "games", "opening plies", "score", "95 %", "margin"]
        rows = [
            [
                f"`{one.player}`",
                f"`{one.opponent}`",
                f"{one.games:,}",
                str(one.opening_plies),
                f"{one.score:.3f}",
                f"{one.low:.3f} to {one.high:.3f}",
                f"{one.margin:+.1f} ± {one.margin_half:.1f}",
            ]
            for one in agent.scores
        ]
        parts.append(write_table([head, *rows]) + "\n")
    if agent.regret:
        head = ["player", "positions", "moves compared with", "optimal", "seeds lost a move"]
        rows = [
            [
                f"`{one.player}`",
                f"{one.positions:,}",
                one.reference,
                f"{100 * one.optimal:.1f} %",
                f"{one.seeds_lost:.3f} ± {one.seeds_lost_half:.3f}",
            ]
            for one in agent.regret
        ]
        parts.append(write_table([head, *rows]) + "\n")
    commands = "\n".join([agent.trained_by, *agent.measured_by])
    parts.append(f"Trained and measured by:\n\n```console long\n{commands}\n```\n")
    return "\n".join(parts)


def page(agents: list[ShippedAgent]) -> str:
    """Return the page."""
    parts = [HEAD]
    if agents:
        text = "Scores are from pairs of games, each opening played from both sides, a draw half"
        text += " a point;\nmargins and losses are in seeds ([regret.md](regret.md)).\n"
        parts += ["## What they are\n", sizes(agents) + "\n", text]
        parts += [strength(agent) for agent in agents]
    parts += [TUNE, TRY]
    return "\n".join(parts).rstrip() + "\n"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Write docs/agents.md.")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    text = page(list(ed.policies.shipped_agents().values()))
    return finish(PAGE, text, check=asked.check)


if __name__ == "__main__":
    sys.exit(main())
