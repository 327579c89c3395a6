"""simulate and GameTable."""

from __future__ import annotations

import _thread
import json
import pickle
import sys
import threading
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

import endodoi as ed
from endodoi import GameTable, Ruleset, simulate

if TYPE_CHECKING:
    from pathlib import Path

SIX = Ruleset(columns=6)
COLUMNS = {
    "winner": "int8",
    "captured_south": "int16",
    "captured_north": "int16",
    "plies": "int32",
    "laps": "int32",
    "seeds_sown": "int32",
    "captures": "int32",
    "longest_sowing": "int32",
    "endless_met": "int32",
    "end_reason": "int8",
}


def lowest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def test_one_row_a_game_with_the_documented_columns() -> None:
    table = simulate(500, ruleset=SIX, seed=3)
    columns = table.to_numpy()
    assert {name: values.dtype.name for name, values in columns.items()} == COLUMNS
    assert all(values.shape == (500,) for values in columns.values())
    assert len(table) == 500
    captured = columns["captured_south"].astype(int) - columns["captured_north"]
    assert (np.sign(captured) == columns["winner"]).all()
    assert {GameTable.END_REASONS[code] for code in columns["end_reason"]} <= {"stuck", "quiet"}
    columns["winner"][:] = 9
    assert table.to_numpy()["winner"].max() == 1


def test_the_rates_of_random_play_are_the_known_ones() -> None:
    summary = simulate(40_000, ruleset=SIX, seed=11).summary(offers=True)
    assert abs(summary.plies.mean - 33.15) < 0.03 + 1.6 * summary.plies.half
    assert abs(summary.south_wins.share - 0.510) < 0.010
    assert abs(summary.north_wins.share - 0.435) < 0.010
    assert abs(summary.draws.share - 0.055) < 0.005
    assert summary.offers is not None
    assert abs(summary.offers.share - 0.046) < 0.004
    assert summary.south_wins.low < summary.south_wins.share < summary.south_wins.high


@pytest.mark.parametrize("players", [("random", "random"), ("alphabeta:2", "random")])
def test_game_i_depends_on_its_seed_alone(players: tuple[str, str]) -> None:
    south, north = players
    options: dict[str, Any] = {"ruleset": SIX, "south": south, "north": north, "seed": 5}
    tables = [simulate(300, num_threads=threads, **options) for threads in (1, 2, 8)]
    assert tables[0] == tables[1] == tables[2]
    fewer = simulate(70, **options).to_numpy()
    whole = tables[0].to_numpy()
    assert all((fewer[name] == whole[name][:70]).all() for name in COLUMNS)
    assert simulate(300, **{**options, "seed": 6}) != tables[0]


def test_a_function_plays_as_well_as_a_player_of_the_core() -> None:
    greedy = ed.policies.Greedy(ruleset=SIX)
    by_core = simulate(60, ruleset=SIX, south="greedy", seed=2)
    assert simulate(60, ruleset=SIX, south=ed.policies.Greedy(), seed=2) == by_core
    calls = []

    def by_hand(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        assert views.dtype == np.int16
        assert masks.dtype == np.int8
        assert views.shape[0] == masks.shape[0]
        calls.append(len(views))
        return greedy(views, masks)

    assert simulate(60, ruleset=SIX, south=by_hand, seed=2) == by_core
    assert max(calls) == 60


def test_an_illegal_choice_loses_that_game_alone() -> None:
    def sometimes(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.where(views[:, 0] == 7, 99, masks.argmax(axis=1))

    check_forfeits(simulate(200, ruleset=SIX, south=sometimes, seed=1), "illegal")


def test_a_failing_function_loses_that_game_alone() -> None:
    def sometimes(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if (views[:, 0] == 7).any():
            message = "I give up"
            raise ValueError(message)
        return lowest(views, masks)

    with pytest.warns(RuntimeWarning, match="player sometimes failed .* ValueError: I give up"):
        table = simulate(200, ruleset=SIX, south=sometimes, seed=1)
    check_forfeits(table, "error")


def check_forfeits(table: GameTable, reason: str) -> None:
    columns = table.to_numpy()
    lost = columns["end_reason"] == GameTable.END_REASONS.index(reason)
    assert 0 < lost.sum() < 200
    assert (columns["winner"][lost] == -1).all()
    rest = simulate(200, ruleset=SIX, south=lowest, seed=1).to_numpy()
    assert all((columns[name][~lost] == rest[name][~lost]).all() for name in COLUMNS)


@pytest.mark.parametrize("answer", [[0], [0.5] * 400, None, "x"])
@pytest.mark.filterwarnings("ignore:player .* failed:RuntimeWarning")
def test_a_function_that_answers_nonsense_loses(answer: Any) -> None:
    table = simulate(10, ruleset=SIX, north=lambda _views, _masks: answer, seed=1)
    columns = table.to_numpy()
    reasons = {GameTable.END_REASONS[code] for code in columns["end_reason"]}
    assert reasons & {"error", "illegal"}
    assert (columns["winner"][columns["end_reason"] > 3] == 1).all()


def test_max_plies_cuts_and_openings_count_e4() -> None:
    table = simulate(100, ruleset=Ruleset(), max_plies=9, random_opening_plies=5, seed=1)
    columns = table.to_numpy()
    cut = columns["end_reason"] == GameTable.END_REASONS.index("max_plies")
    assert cut.sum() > 90
    assert (columns["plies"][cut] == 9).all()
    assert (columns["winner"][cut] == 0).all()
    assert table.summary().cut.count == cut.sum()


def test_the_summary_is_text_numbers_and_json() -> None:
    table = simulate(200, ruleset=SIX, seed=1)
    summary = table.summary()
    assert summary.games == 200
    assert summary.offers is None
    assert "South wins" in str(summary)
    numbers = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert numbers["south_wins"]["count"] == (table.to_numpy()["winner"] == 1).sum()
    assert sum(numbers["end_reasons"].values()) == 200
    assert json.dumps(simulate(1, ruleset=SIX).summary().to_dict(), allow_nan=False)
    counted = simulate(200, ruleset=SIX, seed=1, offers=True)
    assert table.summary(offers=True) == counted.summary()
    assert counted.to_numpy()["offers"].dtype == np.int32


def test_tables_are_pickled_without_their_games() -> None:
    table = simulate(50, ruleset=SIX, seed=1)
    other = pickle.loads(pickle.dumps(table))
    assert other == table
    assert other.summary() == table.summary()
    with pytest.raises(ed.SimulationError, match="offers=True"):
        other.summary(offers=True)
    counted = pickle.loads(pickle.dumps(simulate(50, ruleset=SIX, seed=1, offers=True)))
    assert counted.summary(offers=True).offers is not None


def test_tables_go_to_arrow_and_parquet(tmp_path: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = simulate(50, ruleset=SIX, seed=1)
    file = tmp_path / "games.parquet"
    table.write_parquet(file)
    assert [entry.name for entry in tmp_path.iterdir()] == ["games.parquet"]
    columns = parquet.read_table(file)
    assert columns.column_names == list(COLUMNS)
    assert columns["plies"].to_pylist() == table.to_numpy()["plies"].tolist()
    read = ed.GameTable.read_parquet(file)
    assert read == table
    assert read.settings == table.settings
    assert read.summary().sample is None
    assert read.summary().plies == table.summary().plies
    parquet.write_table(columns.replace_schema_metadata(), tmp_path / "other.parquet")
    with pytest.raises(ed.SimulationError, match=r"other.parquet holds no games of endodoi"):
        ed.GameTable.read_parquet(tmp_path / "other.parquet")
    with pytest.raises(FileNotFoundError):
        ed.GameTable.read_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    ("method", "package", "extra"),
    [
        ("to_pandas", "pandas", "pandas"),
        ("to_polars", "polars", "polars"),
        ("to_arrow", "pyarrow", "arrow"),
    ],
)
def test_a_missing_package_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, method: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    table = simulate(1, ruleset=SIX)
    told = rf"^{package} is not installed: pip install 'endodoi\[{extra}\]'$"
    with pytest.raises(ed.MissingExtraError, match=told) as info:
        getattr(table, method)()
    assert info.value.extra == extra


def test_all_that_needs_pyarrow_says_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = simulate(2, ruleset=SIX)
    standings = ed.arena.tournament(["random", "greedy"], ruleset=SIX, games=2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    file = tmp_path / "games.parquet"
    needing: list[Any] = [
        table.to_arrow,
        partial(table.write_parquet, file),
        partial(GameTable.read_parquet, file),
        partial(simulate, 2, ruleset=SIX, out=file),
        partial(standings.write_parquet, file),
    ]
    for call in needing:
        told = r"^pyarrow is not installed: pip install 'endodoi\[arrow\]'$"
        with pytest.raises(ed.MissingExtraError, match=told):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"games": -1}, ed.SimulationError),
        ({"games": 1.5}, ed.ArgumentTypeError),
        ({"seed": -1}, ed.ArgumentValueError),
        ({"max_plies": 0}, ed.SimulationError),
        ({"num_threads": 0}, ed.SimulationError),
        ({"random_opening_plies": -1}, ed.SimulationError),
        ({"sample": -1}, ed.SimulationError),
        ({"sample": True}, ed.ArgumentTypeError),
        ({"sample": "x"}, ed.ArgumentTypeError),
        ({"sample": np.array(1.5)}, ed.ArgumentTypeError),
        ({"sample": 2**64}, ed.SimulationError),
        ({"seed": np.array([1, 2])}, ed.ArgumentTypeError),
        ({"first": np.array([1])}, ed.ArgumentTypeError),
        ({"max_plies": -1}, ed.SimulationError),
        ({"games": 2**63}, ed.SimulationError),
        ({"offers": "no"}, ed.ArgumentTypeError),
        ({"progress": "tdqm"}, ed.ArgumentValueError),
        ({"progress": 1}, ed.ArgumentTypeError),
        ({"first": -1}, ed.SimulationError),
        ({"ruleset": "en-dodoi"}, ed.ArgumentTypeError),
        ({"south": 3}, ed.ArgumentTypeError),
        ({"south": ed.policies.Random}, ed.ArgumentTypeError),
    ],
)
def test_arguments_out_of_range_are_named(
    change: dict[str, Any], kind: type[ed.EndodoiError]
) -> None:
    with pytest.raises(kind, match=next(iter(change))):
        simulate(**{"games": 1, "ruleset": SIX, **change})
    with pytest.raises(ed.PolicyError, match='player is "foo"'):
        simulate(1, ruleset=SIX, north="foo")
    with pytest.raises(ed.PolicyError, match="player is"):
        simulate(1, ruleset=SIX, north="\ud800")


@pytest.mark.parametrize(
    ("field", "value", "low", "high"),
    [
        ("games", -1, 0, 10**12),
        ("games", 10**30, 0, 10**12),
        ("first", 2**63, 0, 2**63 - 1),
        ("max_plies", 2**32, 1, 2**31 - 1),
        ("random_opening_plies", 2**32, 0, 10_000),
        ("num_threads", -1, 1, 1024),
        ("sample", -1, 0, 2**64 - 1),
    ],
)
def test_numbers_out_of_range_are_told_their_range(
    field: str, value: int, low: int, high: int
) -> None:
    text = f"{field} is {value}, expected {low} to {high}"
    options: dict[str, Any] = {"games": 1, "ruleset": SIX, field: value}
    with pytest.raises(ed.SimulationError, match=f"^{text}$") as info:
        simulate(**options)
    assert (info.value.field, info.value.value) == (field, value)


def test_a_warning_that_is_an_error_loses_no_games() -> None:
    def failing(_views: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        raise ValueError("no idea")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="no idea") as info:
            simulate(5, ruleset=SIX, south=failing)
    assert len(info.value.table) == 5  # type: ignore[attr-defined]


def test_an_interrupt_keeps_the_games_finished() -> None:
    threading.Timer(0.4, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt) as info:
        simulate(10**10, ruleset=SIX, seed=3)
    table: GameTable = info.value.table  # type: ignore[attr-defined]
    kept = len(table)
    assert kept > 0
    assert table == simulate(kept, ruleset=SIX, seed=3)


def test_offers_of_an_interrupted_simulation_are_those_of_its_games() -> None:
    calls = []

    def lowest(_views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        calls.append(len(masks))
        if len(calls) == 300:
            raise KeyboardInterrupt
        columns: npt.NDArray[Any] = masks.argmax(axis=1)
        return columns

    with pytest.raises(KeyboardInterrupt) as info:
        simulate(10**9, ruleset=SIX, seed=4, south=lowest)
    table: GameTable = info.value.table  # type: ignore[attr-defined]
    assert len(table) > 0
    summary = table.summary(offers=True)
    whole = simulate(len(table), ruleset=SIX, seed=4, south=lowest, offers=True)
    assert summary == whole.summary()


def test_an_interrupt_inside_a_function_stops_too() -> None:
    def interrupted(_views: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as info:
        simulate(100, ruleset=SIX, south=interrupted)
    assert len(info.value.table) == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("committee", [False, True])
def test_who_calls_for_the_end_of_the_program_loses_that_game_alone(*, committee: bool) -> None:
    def quits(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if (views[:, 0] == 7).any():
            sys.exit(3)
        return lowest(views, masks)

    player: Any = ed.policies.Committee([quits]) if committee else quits
    told = r"at first: .*player quits ends the program: SystemExit\(3\)"
    with pytest.warns(RuntimeWarning, match=told):
        table = simulate(200, ruleset=SIX, south=player, seed=1)
    check_forfeits(table, "error")
    with pytest.raises(ed.PolicyError, match=r"quits ends the program: SystemExit\(3\)"):
        ed.arena.regret(player, ruleset=SIX, positions=200, reference="alphabeta:1")


def test_progress_is_told_and_may_stop_the_games() -> None:
    told: list[int] = []
    simulate(5000, ruleset=SIX, progress=told.append)
    assert told[-1] == 5000
    assert told == sorted(told)

    def stop(finished: int) -> None:
        if finished:
            raise RuntimeError

    with pytest.raises(RuntimeError) as info:
        simulate(10**9, ruleset=SIX, progress=stop)
    assert len(info.value.table) > 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("action", [-1, 6, 255, 2**40])
def test_an_action_outside_the_board_is_told_so(action: int) -> None:
    def outside(_: Any, masks: Any) -> Any:
        return np.full(len(masks), action)

    found = ed.arena.tournament([outside, "greedy"], ruleset=ed.Ruleset(columns=6), games=2)
    told = found["outside"].failure
    assert found["outside"].illegal == 2
    assert told is not None
    assert "expected 0 to 5" in told
    assert (f"{action}" in told) is (action == 6)
