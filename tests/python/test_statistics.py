"""Summaries, games streamed to files, the sheet of figures, progress."""

from __future__ import annotations

import _thread
import io
import itertools
import json
import os
import pickle
import signal
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import endodoi as ed
from endodoi import GameTable, Ruleset, simulate
from endodoi.game_file import ROWS, GameFile
from endodoi.progress import Progress
from endodoi.simulation import Summary

SIX = Ruleset(columns=6)


def lowest(_observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    columns: npt.NDArray[Any] = masks.argmax(axis=1)
    return columns


def test_histograms_count_every_game() -> None:
    table = simulate(3000, ruleset=SIX, seed=2)
    columns = table.to_numpy()
    columns["margin"] = columns["captured_south"] - columns["captured_north"]
    summary = table.summary()
    for name, histogram in summary.histograms.items():
        values, counts = np.unique(columns[name], return_counts=True)
        met = dict(zip(histogram.values, histogram.counts, strict=True))
        assert {value: count for value, count in met.items() if count} == dict(
            zip(values, counts, strict=True)
        )
        assert histogram.above == 0
    assert summary.margin.mean == pytest.approx(columns["margin"].mean())
    assert summary.laps.mean == pytest.approx(columns["laps"].mean())


def test_the_first_games_are_followed_move_by_move() -> None:
    table = simulate(500, ruleset=SIX, seed=2)
    sample = table.summary().sample
    assert sample is not None
    assert sample.games == 500
    plies = table.to_numpy()["plies"].sum()
    assert 500 * (sample.south.turns.mean + sample.north.turns.mean) == pytest.approx(plies)
    assert sample.branching[0].mean == 6
    assert sum(ply.games for ply in sample.branching) == plies
    assert 3 < sample.legal_moves.mean < 5
    fewer = simulate(500, ruleset=SIX, seed=2, sample=20).summary()
    assert fewer.sample is not None
    assert fewer.sample.games == 20
    assert simulate(500, ruleset=SIX, seed=2, sample=0).summary().sample is None
    counted = simulate(500, ruleset=SIX, seed=2, sample=20, offers=True).summary()
    assert counted.sample == sample
    assert counted.offers is not None


def test_a_part_of_a_simulation_can_be_played_alone() -> None:
    whole = simulate(300, ruleset=SIX, seed=4).to_numpy()
    part = simulate(100, ruleset=SIX, seed=4, first=150)
    assert all((x == whole[name][150:250]).all() for name, x in part.to_numpy().items())
    assert part.settings["first"] == 150


def test_summaries_are_pickled_and_json() -> None:
    table = simulate(50, ruleset=SIX, seed=np.int64(1), max_plies=np.int32(500))  # type: ignore[call-overload]
    summary = table.summary()
    other = pickle.loads(pickle.dumps(summary))
    assert (other, other.settings, str(other)) == (summary, summary.settings, str(summary))
    assert pickle.loads(pickle.dumps(table)).summary() == summary
    numbers = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert numbers["settings"] == {
        "ruleset": SIX.to_dict(),
        "south": "random",
        "north": "random",
        "seed": 1,
        "first": 0,
        "random_opening_plies": 0,
        "max_plies": 500,
    }
    assert sum(numbers["histograms"]["plies"]["counts"]) == 50
    assert numbers["sample"]["games"] == 50
    one = simulate(1, ruleset=SIX).summary()
    assert json.dumps(one.to_dict(), allow_nan=False)
    assert one.plies.half == float("inf")
    assert simulate(0, ruleset=SIX).summary().sample is None


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"offers": True},
        {"random_opening_plies": 3, "max_plies": 20},
        {"south": "greedy", "north": "alphabeta:2", "random_opening_plies": 2},
        {"south": lowest},
    ],
)
def test_games_in_a_file_are_those_of_the_table(options: dict[str, Any], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "games.parquet"
    summary = simulate(700, ruleset=SIX, seed=6, out=file, **options)
    table = simulate(700, ruleset=SIX, seed=6, **options)
    assert isinstance(summary, Summary)
    assert summary == table.summary()
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]
    written = parquet.read_table(file)
    columns = table.to_numpy()
    assert written.column_names == list(columns)
    for name, values in columns.items():
        assert written[name].to_numpy().dtype == values.dtype
        assert (written[name].to_numpy() == values).all()
    kept = json.loads(parquet.read_schema(file).metadata[b"endodoi"])
    assert kept == {"version": ed.__version__, **table.settings}
    table.write_parquet(tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()


def test_files_do_not_depend_on_threads(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    games = 2 * ROWS + 1000
    files = [tmp_path / f"{threads}.parquet" for threads in (1, 2)]
    summaries = [
        simulate(games, ruleset=SIX, seed=1, num_threads=threads, out=file)
        for threads, file in zip((1, 2), files, strict=True)
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert summaries[0] == summaries[1]
    metadata = parquet.ParquetFile(files[0]).metadata
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert groups == [ROWS, ROWS, 1000]


def test_no_games_make_an_empty_file(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "none.parquet"
    assert simulate(0, ruleset=SIX, out=file).games == 0
    assert parquet.read_table(file).num_rows == 0


def test_a_file_that_cannot_be_written_is_refused_before_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_finished: int) -> None:
        pytest.fail("games were played")

    options: dict[str, Any] = {"ruleset": SIX, "progress": never}
    with pytest.raises(FileNotFoundError, match="no such folder"):
        simulate(10**9, out=tmp_path / "nowhere" / "games.parquet", **options)
    with pytest.raises(IsADirectoryError, match="folder"):
        simulate(10**9, out=tmp_path, **options)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ed.MissingExtraError, match=r"pip install 'endodoi\[arrow\]'"):
        simulate(10**9, out=tmp_path / "games.parquet", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_simulation_leaves_the_old_file_alone(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file = tmp_path / "games.parquet"
    file.write_text("old")
    for wrong in ({"north": "foo"}, {"max_plies": 0}, {"seed": "x"}):
        options: dict[str, Any] = {"ruleset": SIX, "out": file, **wrong}
        with pytest.raises(ed.EndodoiError, match=next(iter(wrong)).replace("north", "player")):
            simulate(10, **options)
        assert [entry.name for entry in tmp_path.iterdir()] == [file.name]
        assert file.read_text() == "old"


def test_an_interrupt_completes_the_file(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "games.parquet"
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt) as info:
        simulate(10**10, ruleset=SIX, seed=3, out=file)
    summary: Summary = info.value.summary  # type: ignore[attr-defined]
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]
    written = parquet.read_table(file)
    assert written.num_rows == summary.games > 0
    again = simulate(min(summary.games, 5000), ruleset=SIX, seed=3).to_numpy()
    assert (written["plies"].to_numpy()[:5000] == again["plies"]).all()


def test_an_interrupt_inside_a_function_completes_the_file(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    calls = []

    def interrupted(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        calls.append(len(views))
        if len(calls) > 60:
            raise KeyboardInterrupt
        return lowest(views, masks)

    file = tmp_path / "games.parquet"
    with pytest.raises(KeyboardInterrupt) as info:
        simulate(10**6, ruleset=SIX, south=interrupted, out=file)
    summary: Summary = info.value.summary  # type: ignore[attr-defined]
    assert summary.end_reasons["error"] == 0
    assert parquet.read_table(file).num_rows == summary.games


def test_a_write_that_fails_ends_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    written = []

    def full(self: GameFile, columns: dict[str, Any]) -> None:
        written.append(len(columns["plies"]))
        self.failed = True
        raise OSError(28, "no space left")

    monkeypatch.setattr(GameFile, "write", full)
    with pytest.raises(OSError, match="no space left"):
        simulate(10**10, ruleset=SIX, out=tmp_path / "games.parquet")
    assert written == [ROWS]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("games", "options"),
    [
        (2000, {"ruleset": SIX}),
        (1, {"ruleset": SIX}),
        (0, {"ruleset": SIX}),
        (50, {"ruleset": Ruleset("en-gehe"), "max_plies": 100, "offers": True}),
        (50, {"ruleset": Ruleset(columns=1, endless="draw")}),
        (50, {"ruleset": Ruleset(columns=6, lap_limit=4)}),
        (50, {"ruleset": SIX, "south": lowest, "sample": 0, "random_opening_plies": 2}),
        (50, {"ruleset": SIX, "south": "greedy", "north": "greedy", "first": 7}),
    ],
)
def test_every_simulation_has_a_sheet_of_figures(
    games: int, options: dict[str, Any], tmp_path: Path
) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    picture = tmp_path / "games.png"
    figure = simulate(games, **options).plot(picture)
    assert isinstance(figure, figures.Figure)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [
        "length of a game",
        "margin",
        "winner",
        "laps",
        "legal moves by ply",
        "captured seeds",
    ]
    assert [entry.name for entry in tmp_path.iterdir()] == [picture.name]
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_a_sheet_shows_the_numbers_of_the_summary() -> None:
    pytest.importorskip("matplotlib")
    summary = simulate(5000, ruleset=SIX, seed=1).summary()
    figure = summary.plot()
    winners = figure.axes[2]
    heights = [bar.get_height() for bar in winners.patches]  # type: ignore[attr-defined]
    assert heights == [summary.south_wins.share, summary.north_wins.share, summary.draws.share]
    margin = figure.axes[1]
    total = sum(bar.get_height() for bar in margin.patches)  # type: ignore[attr-defined]
    assert 0.998 < total <= 1.0001
    assert figure._repr_png_()[:4] == b"\x89PNG"  # type: ignore[attr-defined]
    assert "5,000 games" in figure.get_suptitle()


def test_pictures_are_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    table = simulate(5, ruleset=SIX)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        table.plot(tmp_path / "nowhere" / "games.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "endodoi.sheet", raising=False)
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ed.MissingExtraError, match=r"pip install 'endodoi\[plot\]'"):
        table.plot()


class Terminal(io.StringIO):
    """An error output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Bar:
    """A bar as tqdm makes it."""

    made: list[Bar]

    def __init__(self, *, total: int, **_options: object) -> None:
        self.total, self.n, self.updates, self.closed = total, 0, 0, False
        Bar.made.append(self)

    def update(self, more: int) -> None:
        self.n += more
        self.updates += 1

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock of progress by one that the test sets."""
    now = [0.0]
    monkeypatch.setattr("endodoi.progress.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """Put a bar in the place of tqdm."""
    Bar.made = []
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    return Bar.made


def tell(shown: Progress, clock: list[float], seconds: int) -> None:
    """Tell of a thousand games a second, ten times a second."""
    with shown:
        for tenth in range(10 * seconds + 1):
            clock[0] = tenth / 10
            if shown.function is not None:
                shown.function(100 * tenth)


def test_progress_is_a_line_on_a_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    tell(Progress(5000, None), clock, 5)
    lines = terminal.getvalue().split("\r")
    assert 15 < len(lines) < 25
    assert lines[-1] == "5,000 of 5,000 games, 1,000 each second \n"
    terminal.truncate(0)
    tell(Progress(5000, progress=False), clock, 5)
    assert terminal.getvalue() == ""


def test_a_line_of_progress_covers_the_one_before_and_fits_the_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Progress(10**7, None)
    for clock[0], finished in ((2.0, 2_002_000), (3.0, 2_003_000)):
        shown.show_line(finished)
    first, second = terminal.getvalue().split("\r")[1:]
    assert "1,001,000 each second" in first
    assert second.startswith("2,003,000 of 10,000,000 games, 667,667 each second ")
    assert len(second) == len(first)

    monkeypatch.setattr("endodoi.progress.line_width", lambda: 20)
    clock[0] = 4.0
    shown.show_line(3_000_000)
    assert terminal.getvalue().split("\r")[-1] == "3,000,000 of 10,000, "


def test_progress_is_off_elsewhere_unless_it_is_asked_for(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = io.StringIO()
    monkeypatch.setattr(sys, "stderr", output)
    assert Progress(5000, None).function is None
    tell(Progress(5000, progress=True), clock, 2)
    assert "2,000 of 5,000 games" in output.getvalue()


def test_progress_is_a_bar_in_a_notebook(
    clock: list[float], bars: list[Bar], monkeypatch: pytest.MonkeyPatch
) -> None:
    ipython = types.ModuleType("IPython")
    shell = types.SimpleNamespace(kernel=object())
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    tell(Progress(6000, None), clock, 6)
    assert [(bar.total, bar.n, bar.closed) for bar in bars] == [(6000, 6000, True)]
    assert bars[0].updates < 8
    # A short simulation shows nothing.
    clock[0] = 0
    tell(Progress(500, None), clock, 0)
    assert len(bars) == 1


def test_a_bar_can_be_asked_for(
    clock: list[float], bars: list[Bar], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(Progress(3000, "tqdm"), clock, 3)
    assert bars[0].n == 3000
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ed.MissingExtraError, match=r"pip install 'endodoi\[tqdm\]'"):
        simulate(5, ruleset=SIX, progress="tqdm")


def test_a_table_is_rebuilt_from_what_it_gives() -> None:
    core = simulate(30, ruleset=SIX)._core
    other = type(core).from_numpy(core.to_numpy(), core.detail)
    assert other == core
    assert other.summary() == core.summary()
    plain = type(core).from_numpy(core.to_numpy())
    assert json.loads(plain.summary()[0])["sample"] is None
    with pytest.raises(ed.SimulationError, match="the detail cannot be read"):
        type(core).from_numpy(core.to_numpy(), "{}")
    with pytest.raises(ed.SimulationError, match="the column plies is missing"):
        type(core).from_numpy(
            {
                "winner": np.zeros(1, np.int8),
                "captured_south": np.zeros(1, np.int16),
                "captured_north": np.zeros(1, np.int16),
            }
        )


def test_a_table_keeps_what_was_played() -> None:
    table = simulate(20, ruleset=SIX, south=lowest, north=ed.policies.Greedy(), seed=9)
    assert isinstance(table, GameTable)
    assert (table.settings["south"], table.settings["north"]) == ("lowest", "greedy")
    assert pickle.loads(pickle.dumps(table)).settings == table.settings


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no such pipes")
def test_devices_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    table = simulate(5, ruleset=SIX)
    for write in (lambda path: simulate(5, ruleset=SIX, out=path), table.write_parquet, table.plot):
        with pytest.raises(FileExistsError, match="a device or a pipe"):
            write(pipe)
        assert pipe.is_fifo()
        with pytest.raises(FileNotFoundError, match="path of the file is empty"):
            write("")
    assert [entry.name for entry in tmp_path.iterdir()] == [pipe.name]


def test_links_are_followed_and_paths_may_be_bytes(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file, link = tmp_path / "games.parquet", tmp_path / "link"
    link.symlink_to(file)
    path: Any = os.fsencode(link)
    simulate(5, ruleset=SIX, out=path)
    assert link.is_symlink()
    assert parquet.read_table(file).num_rows == 5
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_is_written_by_one_simulation_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "games.parquet"
    # What a killed simulation has left is no hindrance.
    (tmp_path / "games.parquet.partial").write_text("half")
    refusals: list[BlockingIOError] = []

    def again(views: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not refusals:
            with pytest.raises(BlockingIOError, match="another process is at work here") as info:
                simulate(7, ruleset=SIX, out=file)
            refusals.append(info.value)
        return lowest(views, masks)

    simulate(5, ruleset=SIX, south=again, out=file)
    assert refusals
    assert parquet.read_table(file).num_rows == 5
    simulate(7, ruleset=SIX, out=file)
    assert parquet.read_table(file).num_rows == 7
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupt_while_the_file_is_closed_loses_no_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    close = parquet.ParquetWriter.close
    file = tmp_path / "games.parquet"

    def interrupted(writer: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        close(writer)

    monkeypatch.setattr(parquet.ParquetWriter, "close", interrupted)
    with pytest.raises(KeyboardInterrupt) as info:
        simulate(5, ruleset=SIX, out=file)
    summary: Summary = info.value.summary  # type: ignore[attr-defined]
    assert summary.games == parquet.read_table(file).num_rows == 5
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupt_while_the_last_games_are_written_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write = GameFile.write
    file = tmp_path / "games.parquet"

    def interrupted(self: GameFile, columns: dict[str, Any]) -> None:
        _thread.interrupt_main()
        write(self, columns)

    monkeypatch.setattr(GameFile, "write", interrupted)
    with pytest.raises(KeyboardInterrupt) as info:
        simulate(5, ruleset=SIX, out=file)
    summary: Summary = info.value.summary  # type: ignore[attr-defined]
    assert summary.games == parquet.read_table(file).num_rows == 5


def test_a_picture_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = pytest.importorskip("matplotlib.figure")

    def full(_figure: object, path: str, **_options: object) -> None:
        Path(path).write_text("half")
        raise OSError(28, "no space left")

    monkeypatch.setattr(figures.Figure, "savefig", full)
    with pytest.raises(OSError, match="no space left"):
        simulate(5, ruleset=SIX).plot(tmp_path / "games.svg")
    assert list(tmp_path.iterdir()) == []


def test_the_numbers_of_an_axis_lie_apart_and_counts_begin_at_0() -> None:
    pytest.importorskip("matplotlib")
    figure = simulate(40, ruleset=Ruleset(columns=32, seeds_per_pit=64), sample=0).plot()
    figure.canvas.draw()
    for axes in (figure.axes[0], figure.axes[1], figure.axes[5]):
        low, high = axes.get_xlim()
        boxes = [
            label.get_window_extent()
            for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
            if low <= place <= high
        ]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    lone = simulate(9, ruleset=Ruleset(columns=1)).plot()
    assert [lone.axes[place].get_xlim()[0] for place in (0, 3, 4, 5)] == [-0.5] * 4


def test_no_games_are_the_same_file_either_way(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    simulate(0, ruleset=SIX).write_parquet(one)
    simulate(0, ruleset=SIX, out=other)
    assert one.read_bytes() == other.read_bytes()


def test_counts_of_parts_add_up_to_those_of_the_whole_in_any_order() -> None:
    whole = ed.simulate(900, ruleset=SIX, seed=3, south="greedy")
    parts = [
        ed.simulate(
            games, ruleset=SIX, seed=3, south="greedy", first=first, sample=max(0, 700 - first)
        )
        for first, games in [(600, 300), (0, 250), (250, 350)]
    ]
    counts = type(whole._core.statistics())()
    for part in parts:
        counts.add(pickle.loads(pickle.dumps(part._core.statistics())))
    followed = ed.simulate(900, ruleset=SIX, seed=3, south="greedy", sample=700)
    assert counts == followed._core.statistics() != whole._core.statistics()
    assert counts.summary() == followed._core.summary()
    assert counts.detail == followed._core.detail
    with pytest.raises(ed.SimulationError, match="the counts cannot be read"):
        type(counts).from_text("{}")
