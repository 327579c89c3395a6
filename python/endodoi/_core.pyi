# The extension module. Docstrings stand in the module itself.

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsIndex, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt

__all__ = [
    "Batch",
    "EndgameTable",
    "Exam",
    "GameRecord",
    "GameTable",
    "Player",
    "Position",
    "Ruleset",
    "Solver",
    "Sowing",
    "Statistics",
    "__version__",
    "agent_features",
    "agent_file",
    "analyse_alpha_beta",
    "analyse_mcts",
    "evaluate_agent",
    "pixels",
    "random_actions",
    "read_agent",
    "sample_size",
    "set_agents_folder",
    "shipped_names",
    "simulate",
    "svg_of_game",
    "write_agent",
]

__version__: str

_Whole: TypeAlias = SupportsIndex

@final
class EndgameTable:
    @staticmethod
    def build(
        ruleset: Ruleset,
        max_seeds: _Whole,
        *,
        num_threads: _Whole | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> EndgameTable: ...
    @staticmethod
    def open(path: str | os.PathLike[str], ruleset: Ruleset | None = None) -> EndgameTable: ...
    @staticmethod
    def file_name(ruleset: Ruleset, max_seeds: _Whole) -> str: ...
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        replace: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...
    def verify(
        self,
        *,
        all_positions: bool = False,
        num_threads: _Whole | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...
    def value(self, position: Position) -> int: ...
    @property
    def ruleset(self) -> Ruleset: ...
    @property
    def max_seeds(self) -> int: ...
    @property
    def positions(self) -> int: ...
    @property
    def path(self) -> Path | None: ...
    def __reduce__(self) -> tuple[Callable[..., EndgameTable], tuple[Path, Ruleset]]: ...

@final
class Ruleset:
    def __new__(
        cls,
        variant: str = "en-dodoi",
        *,
        columns: _Whole | None = None,
        seeds_per_pit: _Whole | None = None,
        direction: str | None = None,
        lone_capture: str | None = None,
        endless: str | None = None,
        lap_limit: _Whole | None = None,
        quiet_limit: _Whole | None = None,
    ) -> Ruleset: ...
    @staticmethod
    def from_dict(fields: Mapping[str, Any], /) -> Ruleset: ...
    def to_dict(self) -> dict[str, Any]: ...
    @property
    def variant(self) -> str: ...
    @property
    def columns(self) -> int: ...
    @property
    def seeds_per_pit(self) -> int: ...
    @property
    def direction(self) -> Literal["anticlockwise", "parity"]: ...
    @property
    def lone_capture(self) -> Literal["stays", "taken"]: ...
    @property
    def endless(self) -> Literal["illegal", "draw"]: ...
    @property
    def lap_limit(self) -> int: ...
    @property
    def quiet_limit(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Sowing:
    @property
    def laps(self) -> int: ...
    @property
    def seeds_sown(self) -> int: ...
    @property
    def last(self) -> int | None: ...
    @property
    def captured(self) -> int: ...
    @property
    def end(self) -> Literal["captured", "empty", "opponent", "endless"]: ...
    def trace(self, max_laps: _Whole | None = None) -> list[tuple[int, int, int]]: ...
    def _repr_svg_(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Position:
    @staticmethod
    def start(ruleset: Ruleset) -> Position: ...
    @staticmethod
    def from_text(text: str, ruleset: Ruleset) -> Position: ...
    @staticmethod
    def from_board(
        south: Sequence[int] | npt.NDArray[np.integer[Any]],
        north: Sequence[int] | npt.NDArray[np.integer[Any]],
        *,
        to_move: str = "south",
        captured: Sequence[int] | npt.NDArray[np.integer[Any]] = (0, 0),
        quiet: _Whole = 0,
        ruleset: Ruleset,
    ) -> Position: ...
    @property
    def ruleset(self) -> Ruleset: ...
    @property
    def board(self) -> npt.NDArray[np.int16]: ...
    @property
    def to_move(self) -> Literal["south", "north"]: ...
    @property
    def captured(self) -> tuple[int, int]: ...
    @property
    def quiet(self) -> int: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def outcome(self) -> Literal["south", "north", "draw"] | None: ...
    @property
    def end_reason(self) -> Literal["stuck", "quiet", "endless"] | None: ...
    def legal_moves(self) -> list[int]: ...
    def play(self, column: _Whole) -> Position: ...
    def sow(self, column: _Whole) -> Sowing: ...
    def perft(self, depth: _Whole) -> int: ...
    def to_text(self) -> str: ...
    def observation(self) -> npt.NDArray[np.int16]: ...
    def _repr_svg_(self) -> str: ...
    @staticmethod
    def _restore(text: str, ruleset: Ruleset, endless: bool) -> Position: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class GameRecord:
    @staticmethod
    def of_moves(
        start: Position,
        moves: Sequence[int] | npt.NDArray[np.integer[Any]],
        *,
        players: tuple[str, str] = ("south", "north"),
    ) -> GameRecord: ...
    @staticmethod
    def from_json(line: str) -> GameRecord: ...
    def to_json(self) -> str: ...
    def replay(self) -> Position: ...
    @property
    def ruleset(self) -> Ruleset: ...
    @property
    def start(self) -> str: ...
    @property
    def players(self) -> tuple[str, str]: ...
    @property
    def moves(self) -> list[int]: ...
    @property
    def captured(self) -> tuple[int, int]: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def end_reason(self) -> str | None: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Batch:
    def __new__(
        cls,
        rows: _Whole,
        ruleset: Ruleset,
        *,
        autoreset: str = "next_step",
        illegal: str = "raise",
        max_plies: _Whole | None = None,
        random_opening_plies: _Whole = 0,
        num_threads: _Whole | None = None,
        copy: bool = True,
        opponents: list[Any] | None = None,
        agent_side: str = "alternate",
        out: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Batch: ...
    def reset(
        self,
        seed: _Whole | Sequence[_Whole | None] | npt.NDArray[np.integer[Any]] | None = None,
        mask: npt.NDArray[np.bool_] | None = None,
        first_seed: _Whole | Sequence[_Whole | None] | npt.NDArray[np.integer[Any]] | None = None,
    ) -> tuple[npt.NDArray[np.int16], dict[str, Any]]: ...
    def step(
        self, actions: _Whole | Sequence[_Whole] | npt.NDArray[np.integer[Any]]
    ) -> tuple[
        npt.NDArray[np.int16],
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]: ...
    @property
    def rows(self) -> int: ...
    @property
    def ruleset(self) -> Ruleset: ...
    @property
    def num_threads(self) -> int: ...
    def position(self, row: _Whole) -> Position: ...
    def plies(self, row: _Whole) -> int: ...
    def episode(self, row: _Whole) -> int: ...
    def row_seed(self, row: _Whole) -> int: ...
    def render(self) -> list[str]: ...
    def save(self) -> bytes: ...
    @staticmethod
    def restore(
        state: bytes,
        copy: bool,
        opponents: list[Any] | None = None,
        out: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Batch: ...
    def set_state(self, state: bytes) -> None: ...
    def set_opponents(self, opponents: list[Any]) -> None: ...
    @property
    def opponents(self) -> list[Any]: ...
    @property
    def out(self) -> dict[str, npt.NDArray[Any]] | None: ...
    def playing(self) -> npt.NDArray[np.int32]: ...
    def agent_side(self, row: _Whole) -> str | None: ...
    def children(
        self,
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.int8]]: ...
    def finals(
        self,
    ) -> (
        tuple[npt.NDArray[np.int64], npt.NDArray[np.int16], dict[str, npt.NDArray[Any]]] | None
    ): ...

@final
class Player:
    def __new__(cls, spec: str) -> Player: ...
    @staticmethod
    def agent(
        path: str, simulations: _Whole | None = None, depth: _Whole | None = None
    ) -> Player: ...
    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def ruleset(self) -> Ruleset | None: ...
    @property
    def metadata(self) -> dict[str, Any] | None: ...
    def choose(
        self,
        observations: npt.NDArray[np.int16],
        action_masks: npt.NDArray[np.int8],
        ruleset: Ruleset,
        seed: int,
        call: int,
    ) -> npt.NDArray[np.int64]: ...

def set_agents_folder(folder: str | os.PathLike[str] | None) -> Path | None: ...
def shipped_names() -> list[str]: ...
def agent_file(path: str | os.PathLike[str]) -> Path: ...
def read_agent(
    path: str | os.PathLike[str],
) -> tuple[str, dict[str, npt.NDArray[np.float32]]]: ...
def write_agent(
    path: str | os.PathLike[str], metadata: str, tensors: dict[str, npt.NDArray[np.float32]]
) -> None: ...
def agent_features(
    observations: npt.NDArray[np.int16], ruleset: Ruleset
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...
def evaluate_agent(
    player: Player, observations: npt.NDArray[np.int16], ruleset: Ruleset
) -> tuple[
    npt.NDArray[np.float32], npt.NDArray[np.float32] | None, npt.NDArray[np.float32] | None
]: ...
def analyse_alpha_beta(
    player: Player, position: Position
) -> tuple[int, int, int, int, list[int]]: ...
def analyse_mcts(
    player: Player, position: Position, seed: int
) -> tuple[
    int,
    float,
    Literal["win", "draw", "loss"] | None,
    int,
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
    list[Literal["win", "draw", "loss"] | None],
    list[int],
]: ...
def random_actions(
    action_masks: npt.NDArray[np.int8], seed: int, call: int
) -> npt.NDArray[np.int64]: ...

@final
class GameTable:
    END_REASONS: list[str]
    @staticmethod
    def from_numpy(
        columns: dict[str, npt.NDArray[Any]], detail: str | None = None
    ) -> GameTable: ...
    def to_numpy(self) -> dict[str, npt.NDArray[Any]]: ...
    def summary(self, detail: str | None = None) -> tuple[str, str]: ...
    def statistics(self) -> Statistics: ...
    @property
    def detail(self) -> str: ...
    @property
    def counted_offers(self) -> bool: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Statistics:
    def __new__(cls) -> Statistics: ...
    @staticmethod
    def from_text(text: str) -> Statistics: ...
    def to_text(self) -> str: ...
    def add(self, other: Statistics) -> None: ...
    @property
    def detail(self) -> str: ...
    def summary(self) -> tuple[str, str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Callable[[str], Statistics], tuple[str]]: ...

def pixels(
    position: Position | Sowing, *, scale: _Whole | None = None, status: str | None = None
) -> npt.NDArray[np.uint8]: ...
def svg_of_game(
    start: Position,
    moves: Sequence[int] | npt.NDArray[np.integer[Any]],
    *,
    end: str | None = None,
) -> str: ...
def sample_size(ruleset: Ruleset) -> int: ...
@overload
def simulate(
    games: _Whole,
    ruleset: Ruleset,
    south: str | Callable[..., Any],
    north: str | Callable[..., Any],
    *,
    first: _Whole,
    seed: _Whole,
    random_opening_plies: _Whole,
    max_plies: _Whole | None,
    num_threads: _Whole | None,
    offers: bool,
    sample: _Whole | None,
    progress: Callable[[int], object] | None,
    follow: bool = True,
    sink: None = None,
    rows: int = 1,
) -> tuple[GameTable, BaseException | None]: ...
@overload
def simulate(
    games: _Whole,
    ruleset: Ruleset,
    south: str | Callable[..., Any],
    north: str | Callable[..., Any],
    *,
    first: _Whole,
    seed: _Whole,
    random_opening_plies: _Whole,
    max_plies: _Whole | None,
    num_threads: _Whole | None,
    offers: bool,
    sample: _Whole | None,
    progress: Callable[[int], object] | None,
    follow: bool = True,
    sink: Callable[[dict[str, npt.NDArray[Any]]], object],
    rows: int = 1,
) -> tuple[tuple[str, str], BaseException | None]: ...

@final
class Solver:
    def __new__(
        cls,
        ruleset: Ruleset,
        *,
        memory: _Whole | None = None,
        num_threads: _Whole | None = None,
        table: EndgameTable | None = None,
    ) -> Solver: ...
    def solve(
        self,
        position: Position,
        *,
        seconds: float | None = None,
        progress: Callable[..., object] | None = None,
    ) -> tuple[int, int, list[int], bool, int, float, BaseException | None]: ...
    def analyse(
        self,
        position: Position,
        *,
        seconds: float | None = None,
        progress: Callable[..., object] | None = None,
    ) -> tuple[list[tuple[int, int, int]], int, float, BaseException | None]: ...
    @property
    def table_seeds(self) -> int: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def load(self, path: str | os.PathLike[str]) -> None: ...

@final
class Exam:
    def __new__(
        cls,
        ruleset: Ruleset,
        positions: _Whole,
        seed: _Whole,
        *,
        reference: str | None = None,
        seconds: float | None = None,
        memory: _Whole | None = None,
        num_threads: _Whole | None = None,
        table: EndgameTable | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Exam: ...
    @property
    def reference(self) -> str: ...
    @property
    def positions(self) -> list[Position]: ...
    @property
    def margins(self) -> list[list[tuple[int, int]]]: ...
    def grade(
        self,
        player: str | Callable[..., Any],
        *,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[str, str, list[tuple[int, int, bool, str]]]: ...
