r"""Measure the strength of a shipped agent and write it beside the agent.

    python python/tools/measure_agents.py en-dodoi-2x6 --searches none depth=4 \
        --opponents greedy alphabeta:6 --games 400 --positions 500 \
        --trained-by "endodoi-train ..." --minutes 10 --cores 2 --seed 1

The agent is python/endodoi/agents/NAME.safetensors. Its entry in strength.json is written anew:
scores of games on the rules it was trained on, each opening of random plies played from both sides,
and, where --positions is given, what its moves lose against perfect play. The four last options
say how it was trained; without them what is written already stays. Then docs/agents.md is to be
written: python python/tools/agent_page.py
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import endodoi as ed
from endodoi.places import written_whole
from endodoi.shipped import FOLDER, STRENGTH, read_strength

if TYPE_CHECKING:
    import numpy.typing as npt

FORMAT = {"format": "endodoi-strength", "format_version": 1}

#: The 97.5 % point of the normal distribution, and the pairs imagined on either end.
Z, IMAGINED = 1.959964, 2


def interval(scores: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of pairs, with two lost and two won ones added."""
    ends = np.repeat([0.0, 1.0], IMAGINED)
    more = np.concatenate([scores, ends])
    centre, half = float(more.mean()), Z * float(more.std()) / len(more) ** 0.5
    mean = float(scores.mean())
    return max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean))


def score(
    player: str, opponent: str, ruleset: ed.Ruleset, asked: argparse.Namespace
) -> dict[str, Any]:
    """Return what a player scores in pairs of games."""
    games, opening = asked.games, asked.opening
    scores = np.zeros(games // 2)
    margins = np.zeros(games // 2)
    for sign, (south, north) in ((1, (player, opponent)), (-1, (opponent, player))):
        played = ed.simulate(
            games // 2,
            ruleset=ruleset,
            south=south,
            north=north,
            seed=asked.games_seed,
            random_opening_plies=opening,
        ).to_numpy()
        lead = played["captured_south"].astype(int) - played["captured_north"]
        scores += (1 + sign * played["winner"]) / 4
        margins += sign * lead / 2
    low, high = interval(scores)
    return {
        "player": player,
        "opponent": opponent,
        "games": games,
        "opening_plies": opening,
        "score": round(float(scores.mean()), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "margin": round(float(margins.mean()), 3),
        "margin_half": round(float(Z * margins.std(ddof=1) / len(margins) ** 0.5), 3),
    }


def regret(player: str, exam: ed.arena.Exam) -> dict[str, Any]:
    """Return what the moves of a player lose."""
    found = exam.regret(player).all
    return {
        "player": player,
        "positions": found.positions,
        "reference": exam.reference,
        "optimal": round(found.optimal.share, 4),
        "seeds_lost": round(found.seeds_lost.mean, 4),
        "seeds_lost_half": round(found.seeds_lost.half, 4),
    }


def measure(asked: argparse.Namespace, ruleset: ed.Ruleset) -> dict[str, Any]:
    """Return the measurements that are asked for, each told as it is done."""
    players = [f"agent:{asked.name}@{search}" for search in asked.searches]
    found: dict[str, Any] = {"scores": [], "regret": []}
    for player in players:
        for opponent in asked.opponents:
            one = score(player, opponent, ruleset, asked)
            found["scores"].append(one)
            print(one, file=sys.stderr)
    if asked.positions:
        exam = ed.arena.Exam(ruleset=ruleset, positions=asked.positions, seed=asked.games_seed)
        for player in players:
            one = regret(player, exam)
            found["regret"].append(one)
            print(one, file=sys.stderr)
    return found


def command(asked: argparse.Namespace) -> str:
    """Return the command that measures the same again."""
    words = ["python", "python/tools/measure_agents.py", asked.name, "--searches", *asked.searches]
    words += ["--opponents", *asked.opponents] if asked.opponents else []
    for name in ("games", "opening", "games-seed", "positions"):
        words += [f"--{name}", str(getattr(asked, name.replace("-", "_")))]
    return shlex.join(words)


def training(asked: argparse.Namespace, known: dict[str, Any]) -> dict[str, Any]:
    """Return how the agent was trained: as told, else as it is known."""
    told = {
        "command": asked.trained_by,
        "minutes": asked.minutes,
        "cores": asked.cores,
        "seed": asked.seed,
    }
    old = known.get("training", {})
    found = {name: old.get(name) if value is None else value for name, value in told.items()}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise SystemExit(f"how was it trained? not known: {', '.join(missing)}")
    return found


def written(agents: dict[str, Any]) -> str:
    """Return the text of all entries, a line for each agent: the package is to stay small."""

    def dense(value: object) -> str:
        return json.dumps(value, separators=(",", ":"))

    lines = [f"{dense(name)}:{dense(entry)}" for name, entry in agents.items()]
    head = dense(FORMAT).removesuffix("}")
    return f'{head},"agents":{{\n' + ",\n".join(lines) + "\n}}\n"


def main() -> int:
    """Measure an agent and write its entry."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", help="the agent's name")
    parser.add_argument("--searches", nargs="+", default=["none"], help="as none or depth=4")
    parser.add_argument("--opponents", nargs="*", default=["greedy"], help="as alphabeta:6")
    parser.add_argument("--games", type=int, default=400, help="games against each, even")
    parser.add_argument("--opening", type=int, default=4, help="random plies of an opening")
    parser.add_argument("--games-seed", type=int, default=0, help="seed of games and positions")
    parser.add_argument("--positions", type=int, default=0, help="positions of the regret")
    parser.add_argument("--trained-by", help="the command that trained it")
    parser.add_argument("--minutes", type=float, help="minutes of training")
    parser.add_argument("--cores", type=int, help="cores it was trained on")
    parser.add_argument("--seed", type=int, help="seed of the run")
    asked = parser.parse_args()
    known = read_strength()
    trained = training(asked, known.get(asked.name, {}))
    ruleset = ed.policies.Agent.load(FOLDER / f"{asked.name}.safetensors").ruleset
    if ruleset is None:
        raise SystemExit(f"{asked.name} names no rules")
    found = measure(asked, ruleset)
    known[asked.name] = {"training": trained, **found, "measured_by": [command(asked)]}
    agents = dict(sorted(known.items()))
    with written_whole(FOLDER / STRENGTH) as place:
        Path(place).write_text(written(agents), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
