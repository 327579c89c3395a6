"""The pages of the environments: written from the package, with examples that run."""

from __future__ import annotations

import doctest
import re
from typing import TYPE_CHECKING, Any

import gymnasium
import pytest

import docstrings
import endodoi as ed
import page_texts
import pages
from endodoi.registration import ENV_IDS, VERSIONS

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted(pages.FOLDER.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_pages_are_what_the_script_writes() -> None:
    assert set(PAGES) == set(pages.pages())
    assert pages.stale() == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_they_show(page: Path) -> None:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for at, (language, source) in enumerate(blocks):
        if language == "python":
            exec(source, {})  # noqa: S102
            continue
        assert language == "pycon"
        example = doctest.DocTestParser().get_doctest(source, {}, f"{page.name}:{at}", None, None)
        assert example.examples
        shown: list[str] = []
        result = doctest.DocTestRunner().run(example, out=shown.append)
        assert result.failed == 0, "".join(shown)


def test_a_page_that_was_changed_or_removed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "FOLDER", tmp_path / "docs" / "environments")
    assert pages.main([]) == 0
    assert pages.main(["--check"]) == 0
    changed = pages.FOLDER / "en-gehe.md"
    changed.write_text(changed.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    (pages.FOLDER / "index.md").unlink()
    assert pages.main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "docs/environments/index.md is out of date: make pages writes it",
        "docs/environments/en-gehe.md is out of date: make pages writes it",
    ]


def test_arguments_of_the_script_that_mean_nothing_are_refused() -> None:
    assert pages.main(["--write"]) == 2


@pytest.mark.parametrize("variant", ENV_IDS.values())
def test_an_observation_holds_the_ring_the_captures_and_the_quiet_plies(variant: str) -> None:
    ruleset = ed.Ruleset(variant)
    columns = ruleset.columns
    south, north = list(range(columns)), [100 + column for column in range(columns)]
    for side, own, other, taken in (
        ("south", south, north, (7, 9)),
        ("north", north, south, (9, 7)),
    ):
        position = ed.Position.from_board(
            south, north, to_move=side, captured=(7, 9), quiet=3, ruleset=ruleset
        )
        assert position.observation().tolist() == [*own, *other, *taken, 3]


@pytest.mark.parametrize("side", ["south", "north"])
@pytest.mark.parametrize("variant", ENV_IDS.values())
def test_the_pit_opposite_to_index_i_is_2c_minus_1_minus_i(variant: str, side: str) -> None:
    ruleset = ed.Ruleset(variant)
    columns = ruleset.columns
    for end in range(1, columns - 1):
        # One seed: to the next index, but clockwise where odd laps are (S5).
        column = end + 1 if ruleset.direction == "parity" else end - 1
        own, other = [0] * columns, [0] * columns
        own[column] = 1
        other[columns - 1 - end] = 5
        south, north = (own, other) if side == "south" else (other, own)
        position = ed.Position.from_board(south, north, to_move=side, ruleset=ruleset)
        assert position.observation()[2 * columns - 1 - end] == 5
        assert position.sow(column).captured == 6


def test_every_end_reason_is_told_or_said_to_be_none_of_an_environment() -> None:
    assert tuple(page_texts.ENDS) == ed.GameTable.END_REASONS


@pytest.mark.parametrize(
    ("name", "options", "actions", "last_reward"),
    [
        ("stuck", {"columns": 2, "seeds_per_pit": 1}, [0], 1.0),
        ("quiet", {"columns": 1, "seeds_per_pit": 1, "quiet_limit": 3}, [0, 0, 0], 0.0),
        ("endless", {"columns": 6, "lap_limit": 1, "endless": "draw"}, [0], 0.0),
        ("max_plies", {"columns": 6, "max_plies": 1}, [0], 0.0),
        # Both at once: the rules come first.
        ("stuck", {"columns": 2, "seeds_per_pit": 1, "max_plies": 1}, [0], 1.0),
        ("illegal", {"columns": 6}, [0, 6], -1.0),
        (
            "illegal",
            {"columns": 6, "opponent": lambda _, masks: [9] * len(masks), "agent_side": "south"},
            [0],
            1.0,
        ),
    ],
)
def test_games_end_as_the_table_of_ends_tells(
    name: str, options: dict[str, Any], actions: list[int], last_reward: float
) -> None:
    told = page_texts.ENDS[name]
    assert told is not None
    env = ed.Env(**options)
    env.reset(seed=0)
    for action in actions[:-1]:
        assert env.step(action)[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step(actions[-1])
    assert ed.GameTable.END_REASONS[info["end_reason"]] == name
    assert ("terminated" if terminated else "truncated") == told[2]
    assert terminated != truncated
    assert reward == last_reward
    assert not info["action_mask"].any()
    # An illegal action counts as no ply.
    assert info["plies"] == len(actions) - (name == "illegal" and "opponent" not in options)


def test_the_history_of_each_id_begins_with_its_version() -> None:
    assert list(VERSIONS) == list(ENV_IDS)
    for env_id, history in VERSIONS.items():
        numbers = [int(version.removeprefix("v")) for version in history]
        assert numbers == list(range(gymnasium.spec(env_id).version or 0, -1, -1))


def test_a_docstring_without_the_part_asked_for_is_an_error() -> None:
    with pytest.raises(LookupError, match="no section 'Sequences'"):
        docstrings.section(ed.VectorEnv, "Sequences")
    with pytest.raises(LookupError, match="no paragraph that begins with 'Once'"):
        docstrings.paragraph(ed.VectorEnv, "Once")
