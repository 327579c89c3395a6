"""Other simulators beside ours in `make bench`, each playing a game of its own.

    python tests/benches/peers.py NAME THREADS

Each is given its fastest way that takes moves from outside and tells what is legal next; moves,
random numbers and compiling are outside the time.

========= ============ ============================================================================
name      game         what counts
========= ============ ============================================================================
openspiel mancala 2x6  plies of random games of Kalah, one lap a move: whole playouts in C++, and
                       move by move from Python, the draw among the legal moves included
pgx       connect four rows times steps, compiled and batched by JAX on the CPU, finished games
                       replaced (there is no mancala)
envpool   CartPole-v1  rows times steps of the synchronous batch, finished episodes replaced
                       (there is no board game)
========= ============ ============================================================================

Requests are `about` and `time` (`what`, `batch`, `seconds`). With one thread, JAX is held on one
core.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from protocol import BenchError, serve

if TYPE_CHECKING:
    from collections.abc import Callable

#: Names of the distributions, for their versions.
PACKAGES = {"openspiel": "open_spiel", "pgx": "pgx", "envpool": "envpool"}

#: Games of one call of OpenSpiel in C++.
PLAYOUTS = 1000


class OpenSpiel:
    """Random games of OpenSpiel's mancala."""

    def __init__(self, _threads: int) -> None:
        self.pyspiel = importlib.import_module("pyspiel")
        self.game = self.pyspiel.load_game("mancala")
        self.plies_per_game = 0.0
        self.playout_plies(2000)

    def playout_plies(self, games: int) -> int:
        """Play random games move by move; return their plies."""
        plies = 0
        draw = random.Random(games).random  # noqa: S311  (no secret is drawn)
        for _ in range(games):
            state = self.game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
                plies += 1
            if sum(state.returns()) != 0:
                raise BenchError(f"mancala ended with returns {state.returns()}")
        self.plies_per_game = plies / games
        return plies

    def time(self, what: str, _batch: int, seconds: float) -> tuple[float, float]:
        """Return plies and the seconds they took."""
        start = perf_counter()
        plies = 0.0
        if what == "steps":
            while perf_counter() - start < seconds:
                plies += self.playout_plies(200)
            return plies, perf_counter() - start
        # One simulation of the tree search is nothing but the playouts of its evaluator.
        evaluator = self.pyspiel.RandomRolloutEvaluator(PLAYOUTS, 7)
        bot = self.pyspiel.MCTSBot(self.game, evaluator, 2.0, 1, 10, False, 7, False)
        state = self.game.new_initial_state()
        start = perf_counter()
        while perf_counter() - start < seconds:
            bot.mcts_search(state)
            plies += PLAYOUTS * self.plies_per_game
        return plies, perf_counter() - start


class Pgx:
    """Steps of Pgx' connect four."""

    def __init__(self, _threads: int) -> None:
        self.jax = importlib.import_module("jax")
        pgx = importlib.import_module("pgx")
        auto_reset = importlib.import_module("pgx.experimental").auto_reset
        env = pgx.make("connect_four")
        numpy, random = self.jax.numpy, self.jax.random
        self.start = self.jax.jit(self.jax.vmap(env.init))
        self.step = self.jax.jit(self.jax.vmap(auto_reset(env.step, env.init)), donate_argnums=0)

        def choose(mask: Any, key: Any) -> Any:
            return random.categorical(key, numpy.where(mask, 0.0, -1e9), axis=-1)

        self.choose = self.jax.jit(choose)
        self.states: dict[int, Any] = {}

    def time(self, _what: str, batch: int, seconds: float) -> tuple[float, float]:
        """Return steps and the seconds they took."""
        jax, wait = self.jax, self.jax.block_until_ready
        keys = wait(jax.random.split(jax.random.PRNGKey(batch), batch))
        key = jax.random.PRNGKey(7)
        state = self.states.pop(batch, None)
        if state is None:
            # Compile, and play until the rows are at different stages.
            state = self.start(keys)
            for _ in range(40):
                key, one = jax.random.split(key)
                state = self.step(state, self.choose(state.legal_action_mask, one), keys)
        steps, took = 0, 0.0
        while took < seconds:
            key, one = jax.random.split(key)
            actions = wait(self.choose(state.legal_action_mask, one))
            wait(state)
            start = perf_counter()
            state = wait(self.step(state, actions, keys))
            took += perf_counter() - start
            steps += batch
        if bool((state.rewards.sum(axis=1) != 0).any()):
            raise BenchError("the rewards of the two players of connect four do not cancel")
        self.states[batch] = state
        return steps, took


class EnvPool:
    """Steps of EnvPool's CartPole."""

    def __init__(self, threads: int) -> None:
        self.envpool = importlib.import_module("envpool")
        self.threads = threads
        self.envs: dict[int, Any] = {}

    def time(self, _what: str, batch: int, seconds: float) -> tuple[float, float]:
        """Return steps and the seconds they took."""
        if batch not in self.envs:
            self.envs[batch] = self.envpool.make_gymnasium(
                "CartPole-v1", num_envs=batch, num_threads=min(self.threads, batch)
            )
            self.envs[batch].reset()
        env = self.envs[batch]
        drawn = np.random.default_rng(batch).integers(0, 2, (64, batch))
        steps, took = 0, 0.0
        while took < seconds:
            actions = drawn[(steps // batch) % 64]
            start = perf_counter()
            observations = env.step(actions)[0]
            took += perf_counter() - start
            steps += batch
        if observations.shape != (batch, 4):
            raise BenchError(f"CartPole gave observations of shape {observations.shape}")
        return steps, took


PEERS: dict[str, Callable[[int], Any]] = {"openspiel": OpenSpiel, "pgx": Pgx, "envpool": EnvPool}


def main() -> int:
    """Serve one peer; return the exit status."""
    name, threads = sys.argv[1], int(sys.argv[2])
    warnings.simplefilter("ignore")
    if threads == 1 and name == "pgx" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        number = version(PACKAGES[name])
        peer = PEERS[name](threads)
    except (ImportError, PackageNotFoundError) as error:
        missing = f"{type(error).__name__}: {error}"
        serve(lambda _: {"missing": missing})
        return 0

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "about":
            return {"version": number}
        count, took = peer.time(request["what"], request["batch"], request["seconds"])
        return {"plies": count, "seconds": took}

    serve(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
