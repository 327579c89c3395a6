"""Workers: spawned and forked processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def test_ids_work_in_spawned_workers() -> None:
    program = """
import gymnasium, numpy as np
def make():
    return gymnasium.make("endodoi:endodoi/EnDodoi-v0", columns=4, random_opening_plies=2)
if __name__ == "__main__":
    env = gymnasium.vector.AsyncVectorEnv([make, make], context="spawn")
    observations, infos = env.reset(seed=[1, 2])
    import endodoi
    ours = endodoi.VectorEnv(2, columns=4, random_opening_plies=2).reset(seed=[1, 2])[0]
    assert (observations == ours).all()
    env.close()
    print("spawned")
"""
    # A file, because workers that are spawned read the main module again.
    assert run_file(program) == "spawned"


def test_environments_and_players_work_in_forked_workers() -> None:
    program = """
import multiprocessing, warnings
import endodoi as ed
warnings.simplefilter("ignore")
def play(env, player):
    observations, infos = env.reset(seed=3)
    for _ in range(5):
        observations, *_, infos = env.step(player(observations, infos["action_mask"]))
    return env.get_state()
def work(env, player, results):
    results.put(play(env, player))
if __name__ == "__main__":
    # Enough rows for threads, which a fork does not take along.
    env = ed.VectorEnv(2000, columns=6, num_threads=2)
    player = ed.policies.AlphaBeta(2, ruleset=env.ruleset)
    expected = play(env, player)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    worker = context.Process(target=work, args=(env, player, results))
    worker.start()
    assert results.get(timeout=60) == expected
    worker.join()
    assert play(env, player) == expected
    print("forked")
"""
    assert run_file(program) == "forked"


def run_file(program: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program)
        done = subprocess.run(
            [sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
