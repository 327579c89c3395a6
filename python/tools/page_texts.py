"""The words and examples of the pages of the environments."""

from __future__ import annotations

__all__ = [
    "ABOUT",
    "AUTORESET",
    "BOTH_FLAGS",
    "CLASSES",
    "EDGES",
    "ENDS",
    "ERRORS",
    "EXAMPLE_TEXT",
    "IN_PLACE",
    "MAKING",
    "MODES",
    "NAMES",
    "NOTE",
    "OPPONENTS",
    "REFUSED",
    "REGISTERED",
    "SEEDS",
    "SHARED",
    "SNAPSHOT",
    "SNAPSHOTS",
    "SWAP",
    "WIDEST",
]

NOTE = "<!-- Written by `make pages`: edit docstrings or python/tools/page_texts.py instead. -->"

NAMES = {"en-dodoi": "En Dodoi", "en-gehe": "En Gehé", "cross-endodoi": "Cross-Endodoi"}

ABOUT = {
    "en-dodoi": """Two rows of pits, relay sowing, captures from the opposite pit: the game of boys
    and young herdsmen. Traditional boards have 6 to 10 columns (`columns=6`).""",
    "en-gehe": """The game of two teams of warriors on rows of 40 to 50 pits scooped into the
    ground: the rules of [En Dodoi](en-dodoi.md), another size.""",
    "cross-endodoi": """W. D. Troyka's variant of [En Dodoi](en-dodoi.md): a lap of an odd number of
    seeds is sown clockwise, of an even number anticlockwise, decided anew for every lap (S5).""",
}

#: Columns of the widest board that an example prints.
WIDEST = 12

#: Clause, what happens, `terminated` or `truncated`, and the reward; None where no environment
#: ends so.
ENDS: dict[str, tuple[str, str, str, str] | None] = {
    "stuck": (
        "E1",
        "the side to move has no legal move; the seeds left go to the other side",
        "terminated",
        "by captured seeds (E2): +1, 0 or -1",
    ),
    "quiet": (
        "E3",
        "`quiet_limit` plies in a row without a capture; the seeds left go to nobody",
        "terminated",
        "by captured seeds (E2): +1, 0 or -1",
    ),
    "endless": (
        "S6",
        'an endless sowing was played; only with `endless="draw"`, else it is masked',
        "terminated",
        "0, whatever was captured",
    ),
    "max_plies": (
        "E4",
        "the cap `max_plies` or `max_episode_steps` was reached; there is no outcome",
        "truncated",
        "0",
    ),
    "illegal": (
        "none",
        'under `illegal="loss"`, an illegal action; the board stays, and it counts as no ply',
        "terminated",
        "-1 to who played it (with an opponent: +1 to the agent if the opponent did)",
    ),
    "error": None,
    "late": None,
}

MODES = [
    ["", "`next_step` (default)", "`same_step`", "`disabled`"],
    ["observation", "the last of the old game", "the first of the new game", "the last"],
    ["reward, terminated, truncated", "of the end", "of the end", "of the end"],
    ["`action_mask`", "zeros", "of the new game", "zeros"],
    ["`to_play`", "whose turn it would be", "of the new game", "whose turn it would be"],
    ["`outcome`, `captured`, `plies`, `end_reason`", "in `infos`", "in `final_info`", "in `infos`"],
    ["last observation", "the observation", "`final_obs`", "the observation"],
    ["next step of that row", "starts the next game; action ignored, reward 0",
     "plays on in the new game", "refused until `reset_mask` names the row"],
]  # fmt: skip

MAKING = """\
import gymnasium
import endodoi

env = gymnasium.make("{env_id}")
envs = gymnasium.make_vec("{env_id}", num_envs=16)
"""

SHARED = """What all three games share (vector environments, autoreset, opponents, snapshots,
errors, every argument) is on [the page of all environments](index.md)."""

BOTH_FLAGS = """`terminated` and `truncated` are never both set: an end by the rules on the very ply
of the cap is terminated. In self-play the reward is that of the side that just moved; the other
side's is the same with the sign turned."""

EXAMPLE_TEXT = """A capture, then an illegal move, then a whole game between random players to its
end."""

EDGES = """\
- **Autoreset**: `Env` waits for `reset`; `VectorEnv` has Gymnasium's three modes, with
  [a table of what each returns at an end](index.md#autoreset).
- **Terminal mask**: all zeros. `Discrete.sample(mask)` then gives an action that next-step mode
  ignores unchecked.
- **Illegal moves**: in `Env` the game ends, reward -1 to the mover (`illegal="loss"`); in
  `VectorEnv` the whole step is refused with an error that names row, action and legal columns, and
  no game has changed (`illegal="raise"`). Either takes the other.
- **Seeds**: games without random openings and random opponents have nothing random in them. With
  them, a game depends on (row seed, episode) and the actions alone; see [seeds](index.md#seeds)."""

REGISTERED = """`import endodoi` registers three ids with Gymnasium. The page of each tells its
observation by index, its ends and its history; here is what they share."""

CLASSES = """`gymnasium.make(id)` gives an `ed.Env` of one game,
`gymnasium.make_vec(id, num_envs=B)` an `ed.VectorEnv` of `B` games stepped together; both classes
can be made directly. `C` is the number of columns. [Other libraries](../ecosystem.md) have a page
of their own."""

ERRORS = """Every error is an `ed.EndodoiError` with its facts as attributes, and a `ValueError` or
`TypeError` as well. A refused call has changed no game."""

OPPONENTS = """\
- `opponent=None` is self-play: each step is one ply. With an opponent a step is the agent's ply and
  the answer, and rewards are the agent's.
- An opponent is a specification (`"random"`, `"greedy"`, `"alphabeta:4"`, `"agent:FILE"`), a player
  of `ed.policies`, or any function `(observations, action_masks) -> actions` of the rows to move.
- `agent_side="south"`, `"north"` or `"alternate"` (South where row seed + episode is even). Where
  the opponent begins, its first ply is played before the game is handed over.
- A pool is a list: one of it is drawn for each game, and `infos["opponent"]` tells which.
- `set_opponent` swaps the opponent while games run: against one's own past, for instance."""

SNAPSHOTS = """\
- `get_state()` returns bytes, `set_state()` goes on from them exactly, in mid-game and with random
  openings and opponents too; pickle and `copy.deepcopy` do the same with the whole environment
  (a function among its opponents must itself be one that pickle takes).
- In a forked or spawned process an environment works as in its own; threads are started anew.
- `num_threads` changes the time and nothing else. Several environments may step side by side in
  threads of Python; two threads that step the same one get an error or one step after the other,
  never a damaged game."""

AUTORESET = """
import endodoi as ed
for mode in ("next_step", "same_step", "disabled"):
    env = ed.VectorEnv(2, columns=2, seeds_per_pit=2, autoreset_mode=mode)
    _ = env.reset(seed=1)
    for actions in ([0, 1], [1, 1], [1, 1]):
        observations, rewards, terminated, truncated, infos = env.step(actions)
    print(mode, terminated)
    print(observations)
    print(infos["action_mask"].tolist(), sorted(key for key in infos if key[0] != "_"))
    if mode == "same_step":
        print(infos["final_obs"][0], infos["final_info"]["captured"][0])
    if mode == "disabled":
        observations, infos = env.reset(options={"reset_mask": terminated})
        print(observations)
"""

SWAP = """
import endodoi as ed
env = ed.VectorEnv(4, columns=6, opponent=["random", "greedy"], agent_side="south", seed=1)
observations, infos = env.reset()
print(infos["opponent"], infos["to_play"])
observations, rewards, terminated, truncated, infos = env.step([0, 0, 0, 0])
env.set_opponent("alphabeta:3")
actions = infos["action_mask"].argmax(axis=1)
observations, rewards, terminated, truncated, infos = env.step(actions)
print(infos["to_play"])
"""

IN_PLACE = """
import endodoi as ed
import numpy as np
views = np.zeros((8, 2, 15), dtype=np.int16)
env = ed.VectorEnv(2, columns=6, out={"observations": views[3]})
observations, infos = env.reset(seed=1)
np.shares_memory(observations, views)
print(views[3, 0])
"""

SNAPSHOT = """
import copy
import endodoi as ed
env = ed.Env(columns=6, opponent="random", agent_side="south")
observation, info = env.reset(seed=1)
state, twin = env.get_state(), copy.deepcopy(env)
first = env.step(0)[0].tolist()
env.set_state(state)
first == env.step(0)[0].tolist() == twin.step(0)[0].tolist()
"""

SEEDS = """
import endodoi as ed
env = ed.Env(columns=6, random_opening_plies=6)
batch = ed.VectorEnv(3, columns=6, random_opening_plies=6)
observations, _ = batch.reset(seed=[7, 8, 9])
env.reset(seed=8)[0].tolist() == observations[1].tolist()
"""

REFUSED = """
import endodoi as ed
env = ed.VectorEnv(2, columns=6)
observations, infos = env.reset(seed=1)
observations, rewards, terminated, truncated, infos = env.step([0, 0])
env.step([0, 9])
env.reset(options={"mask": None})
"""
