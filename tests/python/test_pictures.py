"""Boards as pixels: the function, and the render mode of the environments."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from endodoi import ArgumentTypeError, ArgumentValueError, Env, Position, Ruleset, VectorEnv
from endodoi.pictures import rgb
from endodoi.registration import ENV_IDS

if TYPE_CHECKING:
    from pathlib import Path

SIX = Ruleset(columns=6)
START = Position.start(SIX)


def test_pixels_are_bytes_of_even_sizes() -> None:
    for columns, shape in ((1, (352, 384, 3)), (6, (352, 448, 3)), (50, (976, 896, 3))):
        position = Position.start(Ruleset(columns=columns))
        picture = rgb(position)
        assert picture.shape == shape
        assert picture.dtype == np.uint8
        assert picture.flags.c_contiguous
        assert picture.flags.writeable
        assert rgb(position, scale=2).shape == (2 * shape[0], 2 * shape[1], 3)
    assert (rgb(START) == rgb(Position.start(SIX))).all()
    assert (rgb(START) != rgb(START.play(0))).any()
    assert (rgb(START) != rgb(START, status="over")).any()


def test_a_scale_outside_its_range_is_refused() -> None:
    for scale in (0, 5, -(2**40)):
        with pytest.raises(
            ArgumentValueError, match=f"scale is {scale}, expected 1 to 4"
        ) as caught:
            rgb(START, scale=scale)
        assert (caught.value.field, caught.value.low, caught.value.high) == ("scale", 1, 4)
    with pytest.raises(ArgumentTypeError, match="scale"):
        rgb(START, scale=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_check_env_passes_with_pixels(env_id: str) -> None:
    # Warnings are errors in these tests.
    check_env(gymnasium.make(env_id, render_mode="rgb_array").unwrapped)


def test_frames_are_collected_and_checked_by_gymnasium() -> None:
    from gymnasium.wrappers import RenderCollection  # noqa: PLC0415

    made: Any = gymnasium.make("endodoi/EnDodoi-v0", columns=6, render_mode="rgb_array")
    env = RenderCollection(made)
    _, info = env.reset(seed=1)
    for _ in range(3):
        *_, info = env.step(int(info["action_mask"].argmax()))
    frames: Any = env.render()
    assert [frame.shape for frame in frames] == [(352, 448, 3)] * 4
    assert all((one != two).any() for one, two in pairwise(frames))


@pytest.mark.skipif(importlib.util.find_spec("moviepy") is None, reason="needs moviepy")
def test_games_are_recorded_as_videos(tmp_path: Path) -> None:
    from gymnasium.wrappers import RecordVideo  # noqa: PLC0415

    made: Any = gymnasium.make("endodoi/EnDodoi-v0", columns=2, render_mode="rgb_array")
    env: Any = RecordVideo(made, str(tmp_path / "videos"), episode_trigger=lambda _: True)
    _, info = env.reset(seed=1)
    ended = False
    while not ended:
        *_, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        ended = terminated or truncated
    env.close()
    assert list(tmp_path.glob("videos/*.mp4"))


def test_every_row_of_a_vector_environment_is_drawn() -> None:
    env = VectorEnv(3, columns=6, render_mode="rgb_array", max_plies=1)
    env.reset(seed=1)
    env.step([0, 1, 2])
    frames = env.render()
    assert isinstance(frames, tuple)
    for row, frame in enumerate(frames):
        assert isinstance(frame, np.ndarray)
        # The line tells that the game was cut.
        assert (frame != rgb(START.sow(row))).any()
        assert (frame == rgb(START.sow(row), status="North to move; over (max_plies)")).all()
    single = Env(columns=6, render_mode="rgb_array")
    single.reset(seed=1)
    assert np.array_equal(np.asarray(single.render()), rgb(START))


def test_frames_show_the_way_of_the_last_move() -> None:
    env = Env(columns=6, render_mode="rgb_array")
    env.reset(seed=1)
    env.step(np.int64(2))
    assert np.array_equal(np.asarray(env.render()), rgb(START.sow(2)))
    env.set_state(env.get_state())
    assert np.array_equal(np.asarray(env.render()), rgb(START.play(2)))
    env.step(3)
    assert np.array_equal(np.asarray(env.render()), rgb(START.play(2).sow(3)))
    # An illegal move loses, and changes nothing on the board.
    empty = env.position.legal_moves()
    illegal = next(column for column in range(6) if column not in empty)
    env.step(illegal)
    assert np.array_equal(
        np.asarray(env.render()), rgb(START.play(2).sow(3), status="South to move; over (illegal)")
    )
    env.reset()
    assert np.array_equal(np.asarray(env.render()), rgb(START))


def test_frames_show_the_answer_of_the_opponent() -> None:
    env = Env(columns=6, render_mode="rgb_array", opponent="greedy", agent_side="south")
    env.reset(seed=1)
    env.step(2)
    between = START.play(2)
    answer = next(c for c in between.legal_moves() if between.play(c) == env.position)
    assert np.array_equal(np.asarray(env.render()), rgb(between.sow(answer)))


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_new_game_has_no_last_move(mode: Any) -> None:
    env = VectorEnv(2, columns=6, render_mode="rgb_array", max_plies=1, autoreset_mode=mode)
    env.reset(seed=1)
    env.step([0, 1])
    if mode == "next_step":
        env.step([0, 1])
    frames: Any = env.render()
    assert all(np.array_equal(frame, rgb(START)) for frame in frames)
    env = VectorEnv(2, columns=6, render_mode="rgb_array")
    env.reset(seed=1)
    env.step([0, 1])
    env.reset(options={"reset_mask": np.array([True, False])})
    frames = env.render()
    assert np.array_equal(frames[0], rgb(START))
    assert np.array_equal(frames[1], rgb(START.sow(1)))


def test_make_vec_draws_rows_as_gymnasium_asks() -> None:
    env: Any = gymnasium.make_vec("endodoi/EnDodoi-v0", num_envs=2, render_mode="rgb_array")
    env.reset(seed=1)
    assert [frame.dtype for frame in env.render()] == [np.uint8] * 2


def test_a_sowing_is_drawn_with_its_way() -> None:
    picture = START.sow(0)._repr_svg_()
    assert picture is not None
    ET.fromstring(picture)  # noqa: S314
    after = START.play(0)._repr_svg_()
    assert picture.count("<polyline") == after.count("<polyline") + START.sow(0).laps
    two = Position.from_board([2, 0], [2, 1], ruleset=Ruleset(columns=2, endless="draw"))
    assert "draw (endless)" in str(two.sow(0)._repr_svg_())


def test_the_environment_of_two_agents_is_drawn() -> None:
    two = pytest.importorskip("endodoi.pettingzoo").env(columns=6, render_mode="rgb_array")
    two.reset(seed=1)
    assert (two.render() == rgb(START)).all()
