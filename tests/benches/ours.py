"""The Python rows of `make bench`: `ed.simulate` and `VectorEnv.step`, one row at a time.

Requests and answers are those of `tests/benches/rows`, less `sets`, `work` and `state`; `check`
and `time` of steps take a `state` besides, the file of a snapshot to start from.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

import endodoi as ed
from protocol import Row, serve

#: Rows of a batch whose steps enter the answer.
PROBES = 64
#: Steps after which the choices of a row repeat.
PERIOD = 64
#: Games of a check.
CHECKED_GAMES = 1000
#: Plies of a check of steps, of all rows together.
CHECKED_PLIES = 1 << 17
#: The columns of a table, in the order of the answer.
COLUMNS = (
    "winner",
    "captured_south",
    "captured_north",
    "end_reason",
    "plies",
    "laps",
    "seeds_sown",
    "captures",
    "longest_sowing",
    "endless_met",
)

#: The legal moves of the snapshots met so far.
MASKS: dict[str, npt.NDArray[np.int8]] = {}


def ruleset(row: Row) -> ed.Ruleset:
    """Return the rules of a row, and make its set of instructions the one in use."""
    os.environ["ENDODOI_INSTRUCTIONS"] = row["engine"]
    return ed.Ruleset(row["variant"], columns=row["columns"])


def play(row: Row, games: int, seed: int) -> tuple[dict[str, npt.NDArray[Any]], float]:
    """Return the columns of random games and the seconds that they took."""
    rules = ruleset(row)
    start = perf_counter()
    table = ed.simulate(
        games,
        ruleset=rules,
        seed=seed,
        num_threads=row["threads"],
        offers=row["draw"] == "mask",
        progress=False,
    )
    took = perf_counter() - start
    return table.to_numpy(), took


def draws(rows: int) -> npt.NDArray[np.int32]:
    """Return the numbers of 16 bits that decide what is played, int32 [PERIOD, B]."""
    row, step = np.meshgrid(np.arange(rows), np.arange(PERIOD))
    bits = (row * 0x9E3779B1 + step * 0x85EBCA77).astype(np.uint32)
    bits ^= bits >> np.uint32(15)
    bits *= np.uint32(0x2C1B3C6D)
    bits ^= bits >> np.uint32(12)
    bits *= np.uint32(0x297A2D39)
    return (bits >> np.uint32(16)).astype(np.int32)


class Run:
    """Games stepped by an environment, from a snapshot on."""

    def __init__(self, row: Row, state: str) -> None:
        rules = ruleset(row)
        self.rows = row["batch"]
        self.env = ed.VectorEnv(self.rows, rules, num_threads=row["threads"], copy=False, seed=1)
        self.env.reset()
        self.env.set_state(Path(state).read_bytes())
        self.mask = self.first_mask(state, rules.columns)
        self.draws = draws(self.rows)
        self.steps = 0
        self.result: tuple[Any, ...] = ()

    def first_mask(self, state: str, columns: int) -> npt.NDArray[np.int8]:
        """Return the legal moves of all rows of a snapshot, int8 [B, C]."""
        if state not in MASKS:
            mask = np.zeros((self.rows, columns), dtype=np.int8)
            for place in range(self.rows):
                mask[place, self.env.position(place).legal_moves()] = 1
            MASKS[state] = mask
        return MASKS[state]

    def step(self) -> float:
        """Play a legal column in every row and return the seconds that the step took."""
        ranked = np.cumsum(self.mask, axis=1, dtype=np.int32)
        rank = (self.draws[self.steps % PERIOD] * ranked[:, -1]) >> 16
        actions = (ranked > rank[:, None]).argmax(axis=1)
        self.steps += 1
        step = self.env.step
        start = perf_counter()
        result = step(actions)
        took = perf_counter() - start
        self.result = result
        self.mask = result[4]["action_mask"]
        return took

    def shown(self, row: int) -> bytes:
        """Return what the last step gave in one row."""
        observations, rewards, terminated, _truncated, infos = self.result
        parts = (observations, infos["action_mask"], rewards, terminated, infos["to_play"])
        return b"".join(part[row].tobytes() for part in parts)


class Ours:
    """What is kept between requests."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}
        self.games: dict[str, int] = {}
        self.seed = 0

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        if request["do"] == "drop":
            self.runs.clear()
            MASKS.clear()
            return {}
        row: Row = request["row"]
        steps = row["what"] == "steps"
        if request["do"] == "check":
            return {"answer": check_steps(row, request["state"]) if steps else check_games(row)}
        seconds = request["seconds"]
        plies, took = (
            self.time_steps(row, request["state"], seconds)
            if steps
            else self.time_games(row, seconds)
        )
        return {"plies": plies, "seconds": took}

    def time_games(self, row: Row, seconds: float) -> tuple[int, float]:
        """Play games for about `seconds`; return the plies and the seconds that they took."""
        key = repr(row)
        games = self.games.get(key) or games_in(row, seconds)
        self.games[key] = games
        self.seed += 1
        columns, took = play(row, games, self.seed)
        return int(columns["plies"].sum(dtype=np.int64)), took

    def time_steps(self, row: Row, state: str, seconds: float) -> tuple[int, float]:
        """Step for about `seconds`; return the plies and the seconds that the steps took."""
        key = repr(row)
        if key not in self.runs:
            self.runs[key] = Run(row, state)
        run = self.runs[key]
        plies, took = 0, 0.0
        while took < seconds:
            took += run.step()
            plies += run.rows
        return plies, took


def games_in(row: Row, seconds: float) -> int:
    """Return how many games take about `seconds`, found by doubling."""
    games = 64
    while True:
        _, took = play(row, games, 0)
        if took > seconds / 4:
            return max(1, int(games * seconds / took))
        games *= 2


def check_games(row: Row) -> list[int]:
    """Return the checksum of each column of a table of fixed games."""
    columns, _ = play(row, CHECKED_GAMES, 1)
    return [zlib.crc32(columns[name].tobytes()) for name in COLUMNS]


def check_steps(row: Row, state: str) -> list[int]:
    """Return, for each row looked at, the checksum of what its steps gave."""
    run = Run(row, state)
    count = min(run.rows, PROBES)
    probes = [probe * (run.rows - 1) // max(count - 1, 1) for probe in range(count)]
    sums = [0] * count
    for _ in range(min(max(CHECKED_PLIES // run.rows, 2), 64)):
        run.step()
        sums = [zlib.crc32(run.shown(row), sum_) for row, sum_ in zip(probes, sums, strict=True)]
    return sums


if __name__ == "__main__":
    serve(Ours().answer)
