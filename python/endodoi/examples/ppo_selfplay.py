"""Train a masked policy by PPO against itself, in one file to read from top to bottom.

    pip install endodoi torch
    python -m endodoi.examples.ppo_selfplay --minutes 10 --columns 6 --seed 0

One network plays both sides of hundreds of games at once. It learns from the plies it has just
played (PPO: Schulman, Wolski, Dhariwal, Radford and Klimov, 2017) and needs no search when it
plays: one call of the network, then the legal column with the highest logit.

What ``--minutes 10 --seed 0 --games 4000`` reached while other programs kept the two cores busy: 9
million plies in 538 CPU seconds, of the 1,200 that ten minutes on two cores have. Scores (wins and
half of the draws) over 4,000 games for each side, with 95 % intervals, and the games won:

    ============ ====================== ===== ====================== =====
    opponent     as South               won   as North               won
    ============ ====================== ===== ====================== =====
    random       0.931 (0.923 to 0.939) 0.920 0.872 (0.861 to 0.882) 0.857
    greedy       0.804 (0.791 to 0.816) 0.770 0.553 (0.538 to 0.569) 0.512
    alphabeta:2  0.649 (0.634 to 0.663) 0.625 0.322 (0.307 to 0.336) 0.296
    alphabeta:4  0.537 (0.522 to 0.553) 0.499 0.244 (0.231 to 0.257) 0.222
    ============ ====================== ===== ====================== =====

The command prints this table at its end. It is one run of one seed; how much seeds differ is not
measured. Against greedy the network wins more than half of the games from both sides. South is the
easier side: greedy against itself scores 0.60 as South and 0.40 as North.

Three things differ from PPO for one player, and each has its place below:

1. Turns alternate. What comes next is worth to the other side what it costs us, so the value of
   the next position enters with a minus sign, and so does the rest of the trace (`advantages`).
2. Some columns are illegal. They are hidden before the softmax (`log_probabilities`): probability
   0, no gradient.
3. Games are long and won at the end, but seeds are captured all the time. The reward of a ply is
   mainly what it changed of the captured difference (`play`), which says at once what was good.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import endodoi as ed
from endodoi.examples import needs

with needs("torch"):
    import torch
    from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

# ---- what can be set


@dataclass(frozen=True)
class Arguments:
    """What a run depends on; each is an option of the command, as ``--learning-rate 0.001``."""

    # The games.
    variant: str = "en-dodoi"  # en-dodoi, en-gehe or cross-endodoi
    columns: int = 6  # pits of a row
    seed: int = 0  # of the games, of the first weights and of the moves drawn
    opening_plies: int = 6  # random plies before each game, so that games differ
    max_plies: int = 200  # games are cut here, so that none shuffles seeds for hundreds of plies

    # How long.
    minutes: float = 10.0  # of the clock, the games of the last table not included
    updates: int = 0  # if not 0, the run is this long instead: then a seed repeats it exactly
    threads: int = 2  # of torch

    # What is learnt from.
    rows: int = 512  # games played side by side
    plies: int = 16  # plies of each between two updates
    win_reward: float = 1.0  # for a game won, beside the captured seeds
    seed_reward: float = 4.0  # for all seeds of the board
    discount: float = 1.0  # of what comes a ply later; games end, so there is no need of less
    trace: float = 0.7  # lambda: 0 trusts the value of the next position, 1 waits for the end

    # How it is learnt.
    epochs: int = 3  # how often each ply is learnt from
    batch: int = 2048  # plies of one step of the optimiser
    learning_rate: float = 2e-3  # at the start; it falls to 0 along the run
    clip: float = 0.2  # how far the probability of a move may change in one update
    entropy: float = 0.02  # weight of the entropy at the start; it falls to 0 along the run
    value_weight: float = 0.5  # of the error of the value
    gradient_norm: float = 0.5  # longer gradients are shortened to this

    # The network.
    width: int = 256  # units of every layer
    layers: int = 2  # behind the one that sees the board
    levels: int = 20  # seed counts told apart; more count as the highest

    # What is shown and written.
    games: int = 2000  # of each side against each opponent in the last table
    out: str = ""  # folder; by default runs/ppo-selfplay-2xC-seedS-TIME


#: Games of the tables are of other seeds than those of the training, whatever its seed.
EVALUATION_SEED = 1 << 40

#: What the games of the last table are played against, from the weakest to the strongest.
OPPONENTS = ("random", "greedy", "alphabeta:2", "alphabeta:4")

#: Takes the place of illegal logits: finite, so that 0 times it is 0 and never "not a number".
HIDDEN = -1e9

# ---- the network


class Network(nn.Module):  # type: ignore[misc]
    """Looks at a position as its mover does; says what to play and what that will be worth.

    Every pit is a choice among `levels` seed counts; the captured difference and the quiet plies
    are choices as well. Each choice has a vector of its own and the sum of the chosen vectors is
    the first layer: the same as a matrix times one-hot inputs, at a fraction of the work.

    Relay sowing is hard to foresee, and the rules tell what it comes to. So the network is also
    shown what each column would capture, as the simulator says (`VectorEnv.children`): it sees the
    results of its own moves, nothing of the answers.
    """

    def __init__(self, ruleset: ed.Ruleset, arguments: Arguments) -> None:
        super().__init__()
        self.columns = ruleset.columns
        self.levels = arguments.levels
        self.pits = 2 * ruleset.columns
        self.seeds = self.pits * ruleset.seeds_per_pit
        self.quiet_limit = ruleset.quiet_limit
        choices = self.pits * self.levels + (2 * self.seeds + 1) + 32
        self.first = nn.EmbeddingBag(choices, arguments.width, mode="sum")
        nn.init.normal_(self.first.weight, std=1 / math.sqrt(self.pits))
        self.taken = nn.Linear(self.columns, arguments.width)
        self.layers = nn.ModuleList(
            nn.Linear(arguments.width, arguments.width) for _ in range(arguments.layers)
        )
        # Logits [C] and the value, of the last layer and once more of what is captured.
        self.heads = nn.Linear(arguments.width + self.columns, self.columns + 1)
        with torch.no_grad():  # begin with nearly equal chances for all columns
            self.heads.weight.mul_(0.1)
            self.heads.bias.zero_()

    def forward(
        self, observations: torch.Tensor, taken: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits [B, C] and values [B] of int16 [B, 2C+3] and captures int16 [B, C]."""
        seen = observations.long()
        pits = seen[:, : self.pits].clamp(max=self.levels - 1)
        pits = pits + self.levels * torch.arange(self.pits)
        difference = (seen[:, self.pits] - seen[:, self.pits + 1]).clamp(-self.seeds, self.seeds)
        difference = difference + self.seeds + self.pits * self.levels
        quiet = (seen[:, -1] * 32 // self.quiet_limit).clamp(max=31)
        quiet = quiet + 2 * self.seeds + 1 + self.pits * self.levels
        chosen = torch.cat([pits, difference[:, None], quiet[:, None]], dim=1)
        taken = taken.float() / 8
        hidden = torch.relu(self.first(chosen) + self.taken(taken))
        for number, layer in enumerate(self.layers):
            # From the second on, a layer adds to what it was given.
            after = torch.relu(layer(hidden))
            hidden = hidden + after if number else after
        logits, values = self.heads(torch.cat([hidden, taken], dim=1)).split(
            [self.columns, 1], dim=1
        )
        return logits, values[:, 0]


def log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Return the logarithms of the chances [B, C] of all columns, those of illegal ones hidden.

    An illegal column has probability 0 exactly and passes no gradient on to its logit. Where no
    column is legal, as in a finished game, all are equal.
    """
    return torch.log_softmax(logits.masked_fill(~masks, HIDDEN), dim=1)


def captures(
    observations: npt.NDArray[np.int16], masks: npt.NDArray[np.int8], ruleset: ed.Ruleset
) -> npt.NDArray[np.int16]:
    """Return the seeds that every column captures, 0 where it is not legal, int16 [B, C].

    What `VectorEnv.children` says, for positions that are not those of an environment.
    """
    columns = ruleset.columns
    taken = np.zeros(masks.shape, dtype=np.int16)
    for row, view in enumerate(observations.tolist()):
        # No rule depends on which side moves: the mover may as well be South.
        position = ed.Position.from_board(
            view[:columns],
            view[columns : 2 * columns],
            captured=(view[-3], view[-2]),
            quiet=view[-1],
            ruleset=ruleset,
        )
        for column in position.legal_moves():
            taken[row, column] = position.play(column).captured[0] - view[-3]
    return taken


def as_policy(
    network: Network, ruleset: ed.Ruleset
) -> Callable[[npt.NDArray[np.int16], npt.NDArray[np.int8]], npt.NDArray[np.int64]]:
    """Return the network as a policy of the package: it plays the most probable column."""

    def ppo_selfplay(
        observations: npt.NDArray[np.int16], masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        with torch.no_grad():
            taken = torch.from_numpy(captures(observations, masks, ruleset))
            logits, _ = network(torch.from_numpy(observations), taken)
        columns: npt.NDArray[np.int64] = (
            log_probabilities(logits, torch.from_numpy(masks) == 1).argmax(dim=1).numpy()
        )
        return columns

    return ppo_selfplay


# ---- 1. play


class Games:
    """The games side by side, and what was seen, done and rewarded in the last ``T`` plies."""

    def __init__(self, ruleset: ed.Ruleset, arguments: Arguments) -> None:
        self.env = ed.VectorEnv(
            arguments.rows,
            ruleset,
            autoreset_mode="next_step",
            random_opening_plies=arguments.opening_plies,
            max_plies=arguments.max_plies,
            seed=arguments.seed,
        )
        pits, plies, rows = 2 * ruleset.columns, arguments.plies, arguments.rows
        self.seed_reward = arguments.seed_reward / (pits * ruleset.seeds_per_pit)
        self.win_reward = arguments.win_reward
        # One more than the plies: what the last of them led to is needed for its value.
        self.observations = torch.zeros(plies + 1, rows, pits + 3, dtype=torch.int16)
        self.masks = torch.zeros(plies + 1, rows, ruleset.columns, dtype=torch.bool)
        self.taken = torch.zeros(plies + 1, rows, ruleset.columns, dtype=torch.int16)
        self.values = torch.zeros(plies + 1, rows)
        self.actions = torch.zeros(plies, rows, dtype=torch.int64)
        self.chances = torch.zeros(plies, rows)  # logarithms of them, when the column was drawn
        self.rewards = torch.zeros(plies, rows)
        self.terminated = torch.zeros(plies, rows, dtype=torch.bool)
        self.truncated = torch.zeros(plies, rows, dtype=torch.bool)
        self.played = torch.zeros(plies, rows, dtype=torch.bool)
        self.finished = torch.zeros(rows, dtype=torch.bool)  # the next step only starts a game
        self.lengths: list[int] = []  # of the games that ended in these plies
        observations, infos = self.env.reset()
        self.observations[-1] = torch.from_numpy(observations)
        self.masks[-1] = torch.from_numpy(infos["action_mask"]) == 1
        self.taken[-1] = torch.from_numpy(self.env.children()[1])


def play(games: Games, network: Network) -> None:
    """Play ``T`` plies in every game with the chances that the network gives, and keep them."""
    for kept in (games.observations, games.masks, games.taken):
        kept[0] = kept[-1]
    games.lengths = []
    for ply in range(len(games.actions)):
        before = games.observations[ply]
        with torch.no_grad():
            logits, games.values[ply] = network(before, games.taken[ply])
            chances = log_probabilities(logits, games.masks[ply])
        # The largest of log p + Gumbel noise is a draw with the chances p.
        noise = -torch.empty_like(chances).exponential_().log()
        columns = (chances + noise).argmax(dim=1)
        observations, rewards, terminated, truncated, infos = games.env.step(columns.numpy())
        after = torch.from_numpy(observations)
        # Next-step autoreset: where a game ended one step ago, this step has only started the
        # next one. Nothing was played there and nothing can be learnt from it.
        games.played[ply] = ~games.finished
        # Each view begins with its own side, so the difference changes its sign with the turn.
        gain = -difference(after) - difference(before)
        gain *= games.seed_reward * games.played[ply]
        games.rewards[ply] = gain + games.win_reward * torch.from_numpy(rewards)
        games.actions[ply] = columns
        games.chances[ply] = chances.gather(1, columns[:, None])[:, 0]
        games.terminated[ply] = torch.from_numpy(terminated)
        games.truncated[ply] = torch.from_numpy(truncated)
        games.finished = games.terminated[ply] | games.truncated[ply]
        games.observations[ply + 1] = after
        games.masks[ply + 1] = torch.from_numpy(infos["action_mask"]) == 1
        games.taken[ply + 1] = torch.from_numpy(games.env.children()[1])
        if "plies" in infos:
            games.lengths += infos["plies"][infos["_plies"]].tolist()
    with torch.no_grad():
        games.values[-1] = network(games.observations[-1], games.taken[-1])[1]


def difference(observations: torch.Tensor) -> torch.Tensor:
    """Return what the side to move has captured more than the other, float32 [B]."""
    return (observations[:, -3] - observations[:, -2]).float()


# ---- 2. judge what was played


def advantages(
    rewards: torch.Tensor,
    values: torch.Tensor,
    terminated: torch.Tensor,
    truncated: torch.Tensor,
    *,
    discount: float,
    trace: float,
) -> torch.Tensor:
    """Return how much better each ply was than expected, for the side that played it, [T, B].

    The generalised advantage (Schulman and others, 2016) of games in which turns alternate. All
    of ``rewards[t]`` and ``values[t]`` are from the view of the side to move at ply t. The next
    position is seen by the other side, and this is a game of two: what it is worth to the other
    side, we lose. So one ply was better than expected by

        error[t] = rewards[t] - discount * values[t + 1] - values[t]

    and what the following plies turned out better than expected, they did for the other side
    first, then for us, and so on:

        advantage[t] = error[t] - discount * trace * advantage[t + 1]

    With plus signs in these places the network would learn to please the other side.

    Where the game has ended by the rules nothing follows: the next value is 0. Where it was cut by
    `max_plies` it would have gone on, so the value of the last position counts. Neither passes
    on anything of the next game in that row. `values` has one entry more than the rest.
    """
    result = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[0])
    for ply in reversed(range(len(rewards))):
        next_value = -values[ply + 1] * ~terminated[ply]
        error = rewards[ply] + discount * next_value - values[ply]
        goes_on = ~(terminated[ply] | truncated[ply])
        following = error - discount * trace * following * goes_on
        result[ply] = following
    return result


# ---- 3. learn


def losses(
    network: Network, plies: dict[str, torch.Tensor], clip: float
) -> dict[str, torch.Tensor]:
    """Return what is to be made small, and what is only shown, of a batch of plies."""
    logits, values = network(plies["observations"], plies["taken"])
    chances = log_probabilities(logits, plies["masks"])
    chosen = plies["actions"][:, None]
    # How much more probable the column is now than when it was drawn.
    change = chances.gather(1, chosen)[:, 0] - plies["chances"]
    ratio = change.exp()
    better = plies["advantages"]
    better = (better - better.mean()) / (better.std() + 1e-8)
    # A column is made no more probable than 1 + clip times, and no less than 1 - clip times: what
    # was played says little about a policy that differs more.
    gained = torch.min(better * ratio, better * ratio.clamp(1 - clip, 1 + clip))
    return {
        "policy": -gained.mean(),
        "value": (values - plies["returns"]).square().mean(),
        "entropy": -(chances.exp() * chances).sum(dim=1).mean(),
        "kl": (ratio - 1 - change).mean().detach(),
        "clipped": ((ratio - 1).abs() > clip).float().mean(),
    }


def learn(
    network: Network,
    optimiser: torch.optim.Optimizer,
    games: Games,
    arguments: Arguments,
    left: float,
) -> dict[str, float]:
    """Improve the network with the plies just played; `left` of the run, 0 to 1, is to come."""
    judged = advantages(
        games.rewards,
        games.values,
        games.terminated,
        games.truncated,
        discount=arguments.discount,
        trace=arguments.trace,
    )
    kept = {
        "observations": games.observations[:-1],
        "masks": games.masks[:-1],
        "actions": games.actions,
        "chances": games.chances,
        "taken": games.taken[:-1],
        "advantages": judged,
        "returns": judged + games.values[:-1],  # what the values should have been
    }
    plies = {name: tensor[games.played] for name, tensor in kept.items()}
    count = len(plies["actions"])
    for group in optimiser.param_groups:
        group["lr"] = arguments.learning_rate * left
    shown: list[dict[str, float]] = []
    for _ in range(arguments.epochs):
        # As many batches as come nearest to the size asked for, all of nearly the same size.
        for rows in torch.randperm(count).tensor_split(max(1, round(count / arguments.batch))):
            loss = losses(network, {n: t[rows] for n, t in plies.items()}, arguments.clip)
            total = (
                loss["policy"]
                + arguments.value_weight * loss["value"]
                - arguments.entropy * left * loss["entropy"]
            )
            optimiser.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(network.parameters(), arguments.gradient_norm)
            optimiser.step()
            shown.append({name: value.item() for name, value in loss.items()})
    mean = {name: sum(one[name] for one in shown) / len(shown) for name in shown[0]}
    return {
        "plies": count,
        # Mean plies of the games that ended, opening included. Random games on 2x6 have 33.
        "game_plies": sum(games.lengths) / max(1, len(games.lengths)),
        # Doubt about the move: log(moves) if all are alike, 0 if one is certain. It should fall
        # slowly; near 0 early in the run nothing new is tried any more: raise `entropy`.
        "entropy": mean["entropy"],
        # How much of the variance of the returns the value foresaw: 1 all, 0 none, below 0 worse
        # than the mean. It rises quickly at first; if it does not, the rest cannot work.
        "value_explained": explained(mean["value"], plies["returns"]),
        # How far the update moved the policy (an estimate of the Kullback-Leibler divergence, in
        # nats). 0.005 to 0.03 is usual; far more means that the learning rate is too high.
        "kl": mean["kl"],
        # The part of the plies whose column became more or less probable by more than `clip`,
        # so that they taught nothing. Above 0.3 the learning rate or `epochs` is too high.
        "clipped": mean["clipped"],
        # What is minimised. It hovers about 0 and says nothing on how well is played.
        "policy_loss": mean["policy"],
    }


def explained(error: float, targets: torch.Tensor) -> float:
    """Return the part of the variance of the targets that a mean square error leaves explained."""
    return 1 - error / (float(targets.var()) + 1e-8)


# ---- 4. how well it plays


def strength(
    network: Network, ruleset: ed.Ruleset, opponent: str, games: int, seed: int = EVALUATION_SEED
) -> dict[str, dict[str, float]]:
    """Play against an opponent, as South and as North, each game from 4 random plies.

    Returns for each side the score (wins and half of the draws, per game) with its 95 % interval
    (Wilson's), wins and draws.
    """
    policy = as_policy(network, ruleset)
    result = {}
    for side in ("south", "north"):
        south, north = (policy, opponent) if side == "south" else (opponent, policy)
        table = ed.simulate(
            games,
            ruleset=ruleset,
            south=south,
            north=north,
            seed=seed,
            random_opening_plies=4,
            progress=False,
        ).to_numpy()
        winner = table["winner"] if side == "south" else -table["winner"]
        wins, draws = float((winner == 1).mean()), float((winner == 0).mean())
        low, high = wilson(wins + draws / 2, games)
        result[side] = {
            "score": wins + draws / 2,
            "low": low,
            "high": high,
            "wins": wins,
            "draws": draws,
        }
    return result


def wilson(share: float, games: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    z = 1.96
    centre = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = math.sqrt(share * (1 - share) / games + (z / (2 * games)) ** 2)
    half *= z / (1 + z * z / games)
    return centre - half, centre + half


# ---- the run


def train(arguments: Arguments, folder: Path) -> Network:
    """Train a network, and write what happens to ``metrics.jsonl``; Ctrl-C ends it early."""
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    ruleset = ed.Ruleset(arguments.variant, columns=arguments.columns)
    network = Network(ruleset, arguments)
    optimiser = torch.optim.Adam(network.parameters(), lr=arguments.learning_rate, eps=1e-5)
    games = Games(ruleset, arguments)
    start, plies, update, done, shown = time.monotonic(), 0, 0, 0.0, 0
    with (folder / "metrics.jsonl").open("w", encoding="utf-8") as file:
        try:
            while done < 1:
                play(games, network)
                metrics = learn(network, optimiser, games, arguments, 1 - done)
                update, plies = update + 1, plies + int(metrics.pop("plies"))
                seconds = time.monotonic() - start
                done = seconds / (60 * arguments.minutes)
                if arguments.updates:
                    done = update / arguments.updates
                line: dict[str, Any] = {
                    # Updates done, plies learnt from, seconds of the clock since the start.
                    "update": update,
                    "plies": plies,
                    "seconds": round(seconds, 3),
                    # Seconds of all threads: a busy machine spends more of the clock for as many.
                    "cpu_seconds": round(time.process_time(), 3),
                    **metrics,
                }
                if int(20 * done) > shown:
                    shown = int(20 * done)
                    # Scores against greedy as South and as North in 200 games each (half-width
                    # 0.07): the only numbers here that say how well is played. South is the
                    # easier side: greedy against itself scores 0.60 as South, 0.40 as North.
                    scores = strength(network, ruleset, "greedy", 200, EVALUATION_SEED + 1)
                    line["south_score"] = scores["south"]["score"]
                    line["north_score"] = scores["north"]["score"]
                    print("  ".join(f"{name} {value:.4g}" for name, value in line.items()))
                file.write(json.dumps(line) + "\n")
                file.flush()
        except KeyboardInterrupt:
            print(f"stopped after {update} updates")
    return network


def save(network: Network, path: Path) -> None:
    """Write the weights under a temporary name, then rename the file: it is never half written."""
    partial = path.with_name(path.name + ".partial")
    torch.save(network.state_dict(), partial)
    partial.replace(path)


def table(network: Network, arguments: Arguments) -> dict[str, Any]:
    """Play against all opponents and print the scores by side."""
    ruleset = ed.Ruleset(arguments.variant, columns=arguments.columns)
    result = {}
    print(f"{arguments.games} games for each side; score with 95 % interval, wins, draws")
    for opponent in OPPONENTS:
        result[opponent] = strength(network, ruleset, opponent, arguments.games)
        for side, numbers in result[opponent].items():
            print(
                f"{opponent:12} as {side}  {numbers['score']:.3f} "
                f"({numbers['low']:.3f} to {numbers['high']:.3f})  "
                f"{numbers['wins']:.3f}  {numbers['draws']:.3f}"
            )
    return result


def read_arguments(words: list[str] | None) -> Arguments:
    """Read the words of the command."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    for field in fields(Arguments):
        name, default = "--" + field.name.replace("_", "-"), field.default
        parser.add_argument(name, type=type(default), default=default, help=" ")
    return Arguments(**vars(parser.parse_args(words)))


def main(words: list[str] | None = None) -> Path:
    """Train, save and show how well it plays; return the folder of the run."""
    arguments = read_arguments(words)
    size = f"2x{arguments.columns}-seed{arguments.seed}-{int(time.time())}-{os.getpid()}"
    folder = Path(arguments.out or f"runs/ppo-selfplay-{size}")
    folder.mkdir(parents=True)  # a folder that exists is not written over
    (folder / "arguments.json").write_text(json.dumps(asdict(arguments), indent=2) + "\n")
    network = train(arguments, folder)
    save(network, folder / "network.pt")
    print(f"weights: {folder / 'network.pt'}; {time.process_time():.0f} CPU seconds")
    (folder / "strength.json").write_text(json.dumps(table(network, arguments), indent=2) + "\n")
    return folder


if __name__ == "__main__":
    main()
