"""The benchmark suite: its questions and exam, `ed.arena.benchmark`, its folder."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

import endodoi as ed
from endodoi import _core
from endodoi.arena import ReportCard, benchmark
from endodoi.benchmark_exam import examine
from endodoi.benchmark_suite import FOLDER, Question, load_suite
from endodoi.estimates import paired_interval
from small_cards import lowest, small

if TYPE_CHECKING:
    from pathlib import Path

SUITE = load_suite()
SIX = SUITE.parts[0]


def worst_of(question: Question) -> int:
    return max(question.margins.values()) - min(question.margins.values())


# The suite


def test_the_suite_is_what_version_1_says() -> None:
    """A change of anything in the suite is a new version: then these hashes change too."""
    known = {
        "suite.json": "52e32c619dd974324e4f59bf497ec0a4ff4726981b029e96d8b10ff75b61e7a5",
        "2x6.jsonl": "4c6198f6543ed04c88e0237dd33c1c7f239663eaa5083733861b085453dd59ec",
        "cross-2x6.jsonl": "f5ae603e55a9ec16d4b0ae4d9a5db779b3d44b8a21066bc78cc05c5350416581",
    }
    assert SUITE.version == 1
    for name, digest in known.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest, name
    agents = ed.policies.shipped_agents()
    for part in SUITE.parts:
        agent = agents[part.agent]
        assert hashlib.sha256(agent.path.read_bytes()).hexdigest() == part.agent_sha256
        assert agent.ruleset == part.ruleset
        assert list(part.opponents()) == [*part.anchors, f"agent:{part.agent}"]


@pytest.mark.parametrize("part", [part for part in SUITE.parts if part.file], ids=lambda p: p.name)
def test_the_positions_are_those_of_the_exam_and_their_values_are_solved_again(part: Any) -> None:
    questions = part.questions(500)
    exam = ed.arena.Exam(
        ruleset=part.ruleset, positions=500, seed=SUITE.positions_seed, reference="alphabeta:1"
    )
    assert [asked.position for asked in questions] == [one.to_text() for one in exam.positions]
    assert [set(asked.margins) for asked in questions] == [set(one) for one in exam.margins]
    solver = ed.Solver(part.ruleset)
    checked = 0
    for asked in questions:
        position = ed.Position.from_text(asked.position, part.ruleset)
        if position.board.sum() > 8:
            continue
        south, north = position.captured
        lead = south - north if position.to_move == "south" else north - south
        found = solver.analyse(position)
        values = {move.column: lead + move.value for move in found if move.value is not None}
        assert values == asked.margins
        checked += 1
    assert checked > 10


def test_what_is_no_part_or_scale_is_refused() -> None:
    for parts, message in (
        (["2x7"], "parts has '2x7', expected some of 2x6, cross-2x6, 2x8, 2x10, 2x50"),
        ([], "parts is empty"),
        ([3], "parts has 3"),
    ):
        with pytest.raises(ed.ArgumentValueError, match=message):
            small("greedy", parts)
    with pytest.raises(ed.ArgumentTypeError, match="parts is 6"):
        small("greedy", 6)
    for scale in ("huge", ["small"], None):
        with pytest.raises(ed.ArgumentValueError, match=r"scale is .*, expected full or small"):
            benchmark("greedy", scale=scale)  # type: ignore[arg-type]


# The exam


@pytest.mark.parametrize("player", ["greedy", "alphabeta:3"])
def test_answers_are_summed_up_as_the_core_does(player: str) -> None:
    exam = ed.arena.Exam(ruleset=SIX.ruleset, positions=120, seed=9, reference="alphabeta:2")
    questions = [
        Question(position.to_text(), margins)
        for position, margins in zip(exam.positions, exam.margins, strict=True)
    ]
    expected, found = exam.regret(player), examine(player, questions, SIX.ruleset, 0)
    for phase in ("all", "opening", "middle", "endgame"):
        one, other = getattr(expected, phase), getattr(found, phase)
        assert one.positions == other.positions
        for share in ("optimal", "outcome_changing"):
            assert vars(getattr(one, share)) == pytest.approx(vars(getattr(other, share)))
        assert vars(one.seeds_lost) == pytest.approx(vars(other.seeds_lost))
    assert (found.illegal, found.error, found.failure) == (0, 0, None)


def test_a_choice_that_fails_or_is_illegal_counts_as_the_worst_move() -> None:
    questions = SIX.questions(50)
    worst = sum(map(worst_of, questions)) / 50

    def fails(_observations: npt.NDArray[Any], _masks: npt.NDArray[Any]) -> Any:
        raise RuntimeError("no idea")

    players: list[tuple[Any, int, int]] = [
        (fails, 0, 50),
        (lambda _observations, masks: np.full(len(masks), 6), 50, 0),
        (lambda _observations, masks: masks.argmax(axis=1) + 0.5, 0, 50),
        (lambda _observations, _masks: None, 0, 50),
        (lambda _observations, _masks: sys.exit(3), 0, 50),
    ]
    for policy, illegal, error in players:
        found = examine(policy, questions, SIX.ruleset, 0)
        assert (found.illegal, found.error) == (illegal, error)
        assert found.all.seeds_lost.mean == pytest.approx(worst)
        assert found.failure

    def sometimes(observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        if (observations[:, 0] == 0).any():
            raise RuntimeError("no idea")
        return masks.argmax(axis=1)

    found = examine(sometimes, questions, SIX.ruleset, 0)
    texts = (ed.Position.from_text(one.position, SIX.ruleset) for one in questions)
    assert found.error == sum(position.observation()[0] == 0 for position in texts)
    assert 0 < found.error < 50
    assert found.failure == "RuntimeError: no idea"


def test_the_interval_of_scores_is_that_of_the_core() -> None:
    # The core's own example.
    low, high = paired_interval([1.0] * 200, 200)
    assert 0.97 < low < 0.99
    assert high == 1.0
    scores = [0.5, 1.0, 0.0, 0.5] * 25
    less, more = paired_interval(scores, 50), paired_interval(scores, 100)
    assert less[0] < more[0] < 0.5 < more[1] < less[1]
    standings = ed.arena.tournament(["greedy", "greedy"], ruleset=SIX.ruleset, games=20)
    (pairing,) = standings.pairings
    found = paired_interval([0.5] * 10, pairing.distinct_pairs)
    assert found == pytest.approx((pairing.low, pairing.high))


# The card


def test_a_card_has_the_boards_asked_for_in_the_order_of_the_suite(card: ReportCard) -> None:
    assert [part.name for part in card.parts] == ["2x6", "2x8"]
    assert (card.player, card.suite, card.scale) == ("lowest", 1, "small")
    assert card.endodoi == ed.__version__
    for part in card.parts:
        overall = part.overall
        assert overall is not None
        assert part.cannot_play is None
        assert [one.opponent for one in part.opponents] == [
            "random",
            "greedy",
            "alphabeta:2",
            "alphabeta:4",
            "alphabeta:8",
            f"agent:en-dodoi-{part.name}",
        ]
        for one in (*part.opponents, overall):
            assert one.wins + one.draws + one.losses == one.games
            assert one.score == pytest.approx((one.wins + one.draws / 2) / one.games, abs=1e-6)
            assert one.low <= one.score <= one.high
        assert {one.games for one in part.opponents} == {20}
        assert overall.games == 120
        mean = sum(one.score for one in part.opponents) / 6
        assert overall.score == pytest.approx(mean, abs=1e-5)
        margin = sum(one.margin for one in part.opponents) / 6
        assert overall.margin == pytest.approx(margin, abs=1e-5)
        assert part.opponents[0].score > part.opponents[4].score
    regret = card["2x6"].regret
    assert regret is not None
    assert regret.all.positions == 50
    assert card["2x8"].regret is None
    with pytest.raises(KeyError, match="no part '2x50', there are 2x6, 2x8"):
        card["2x50"]


def test_games_are_those_of_a_tournament(card: ReportCard) -> None:
    standings = ed.arena.tournament(
        [lowest, "greedy"],
        ruleset=SIX.ruleset,
        games=20,
        seed=SUITE.games_seed,
        openings=SUITE.opening_plies,
    )
    (pairing,) = standings.pairings
    (greedy,) = (one for one in card["2x6"].opponents if one.opponent == "greedy")
    assert (greedy.wins, greedy.draws, greedy.losses, greedy.distinct) == (
        pairing.wins,
        pairing.draws,
        pairing.losses,
        pairing.distinct,
    )
    assert (greedy.low, greedy.high) == pytest.approx((pairing.low, pairing.high), abs=1e-6)


def test_the_card_is_the_same_for_any_number_of_threads_and_reads_back(
    card: ReportCard, tmp_path: Path
) -> None:
    again = small(lowest, ["2x6", "2x8"], num_threads=3)
    assert again == card
    assert again.to_json() == card.to_json()
    path = tmp_path / "card.json"
    card.write_json(path)
    assert ReportCard.read(path) == card == ReportCard.from_dict(card.to_dict())
    assert pickle.loads(pickle.dumps(card)) == card
    assert small("random") == small("random", num_threads=1)


def test_a_player_scores_one_half_against_itself() -> None:
    found = small("alphabeta:2", "2x8")["2x8"]
    (itself,) = (one for one in found.opponents if one.opponent == "alphabeta:2")
    assert itself.score == 0.5
    assert itself.margin == 0
    policy = small(ed.policies.AlphaBeta(2), "2x8")
    assert policy["2x8"] == found
    assert policy.player == "alphabeta:2"


def test_an_agent_of_another_size_cannot_play_and_the_rest_goes_on() -> None:
    card = small("agent:en-dodoi-2x8@none", ["2x6", "2x8", "2x10"])
    reason = card["2x6"].cannot_play
    assert reason is not None
    assert "columns is 6, expected 8" in reason
    assert card["2x6"].overall is None
    assert card["2x10"].cannot_play
    overall = card["2x8"].overall
    assert overall is not None
    assert overall.games == 120
    for text in (str(card), card.to_markdown()):
        assert f"Cannot play: {reason}" in text
    assert ReportCard.from_json(card.to_json()) == card


def test_a_folder_of_the_agents_name_does_not_replace_the_opponent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: ReportCard
) -> None:
    (tmp_path / "en-dodoi-2x6").write_text("mine", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert small(lowest)["2x6"] == card["2x6"]


def test_faults_are_counted_and_shown() -> None:
    def misbehaving(observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        seeds = observations[:, :6].sum(axis=1)
        if (seeds == 13).any():
            raise RuntimeError("lost its\nnerve")
        return np.where(seeds == 17, 99, masks.argmax(axis=1))

    card = small(misbehaving)
    part = card["2x6"]
    assert part.illegal > 0
    assert part.error > 0
    assert part.late == 0
    assert part.failure
    regret = part.regret
    assert regret is not None
    assert regret.error > 0
    text = str(card)
    assert f"Games lost by its own fault: {part.illegal} illegal, {part.error} error" in text
    assert f"{regret.illegal} illegal, {regret.error} error" in text
    assert "lost its\nnerve" not in text
    faults = f"{part.illegal + part.error} games, {regret.illegal + regret.error} choices"
    assert faults in str(card.compare(card))
    assert "faults" in str(card.compare(small(lowest)))


def test_committees_play_games_and_choose_in_positions() -> None:
    alone = small("greedy")["2x6"]
    of_names = small(ed.policies.Committee(["greedy", "greedy"]))
    assert of_names.player == "committee:2xgreedy"
    mixed = small(ed.policies.Committee(["greedy", lowest], [3, 1]))
    for card in (of_names, small("committee:2xgreedy"), mixed):
        assert card["2x6"] == alone


def test_what_is_no_player_is_refused_before_anything_is_played() -> None:
    with pytest.raises(ed.PolicyError, match='player is "nobody", expected random'):
        small("nobody")
    with pytest.raises(ed.ArgumentTypeError, match="player is 7"):
        small(7)
    with pytest.raises(ed.ArgumentTypeError, match="name is ''"):
        small("greedy", name="")
    assert small(lambda _, masks: masks.argmax(axis=1), name="mine").player == "mine"


def test_progress_counts_the_games_of_all_boards() -> None:
    told: list[int] = []
    benchmark(lowest, parts=["2x6", "2x8"], scale="small", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 240


# The folder


def test_a_folder_is_gone_on_with_board_by_board(tmp_path: Path, card: ReportCard) -> None:
    out = tmp_path / "deep" / "card"
    first = small(lowest, ["2x8"], out=out)
    assert [part.name for part in first.parts] == ["2x8"]

    calls: list[int] = []

    def counting(observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        calls.append(masks.shape[1])
        return lowest(observations, masks)

    both = small(counting, ["2x6", "2x8"], out=out, name="lowest")
    assert set(calls) == {6}
    assert both == card
    assert ReportCard.read(out / "card.json") == both
    assert (out / "card.md").read_text(encoding="utf-8") == both.to_markdown()
    # What is finished stays on the card, whatever is asked for.
    assert small(lowest, ["2x6"], out=out) == both


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ("", FileNotFoundError, "out is empty, expected the path of a folder"),
        ("file", NotADirectoryError, "out is a file, expected a folder: 'file'"),
        (3, ed.ArgumentTypeError, r"out is 3 \(int\), expected the path of a folder"),
    ],
)
def test_what_is_no_folder_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: Any, error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(error, match=message):
        small("greedy", out=out)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_of_something_else_is_refused_by_the_field(tmp_path: Path) -> None:
    out = tmp_path / "card"
    found = small(lowest, out=out)
    with pytest.raises(ed.ArenaError, match="player was 'lowest' there and is 'greedy' now"):
        small("greedy", out=out)
    with pytest.raises(ed.ArenaError, match="scale was 'small' there and is 'full' now"):
        benchmark(lowest, parts="2x6", out=out)
    replace(found, suite=0).write_json(out / "card.json")
    with pytest.raises(ed.ArenaError, match="suite was 0 there and is 1 now"):
        small(lowest, out=out)
    replace(found, endodoi="0.0.1").write_json(out / "card.json")
    with pytest.raises(ed.ArenaError, match=r"endodoi was '0\.0\.1' there"):
        small(lowest, out=out)
    (out / "card.json").write_text("{", encoding="utf-8")
    with pytest.raises(ed.ArenaError, match=r"card\.json: this is no report card"):
        small(lowest, out=out)


def agent_of(columns: int) -> Path:
    return _core.agent_file(f"en-dodoi-2x{columns}")


@pytest.mark.parametrize("form", ["agent:{}@none", "committee:3xagent:{}@none+greedy"])
def test_another_agent_under_the_same_name_is_refused(tmp_path: Path, form: str) -> None:
    place, out = tmp_path / "a.safetensors", tmp_path / "card"
    shutil.copy(agent_of(6), place)
    player = form.format(place)
    small(player, out=out)
    assert small(player, out=out)["2x6"].overall is not None
    before = (out / "card.json").read_bytes()
    shutil.copy(agent_of(8), place)
    with pytest.raises(ed.ArenaError, match=r"the file of agent:.*a\.safetensors@none was another"):
        small(player, ["2x6", "2x8"], out=out)
    assert (out / "card.json").read_bytes() == before
    # The same agent in another place is the same player.
    moved = tmp_path / "moved.safetensors"
    shutil.copy(agent_of(6), moved)
    small(form.format(moved), out=out, name=player)
    # Nor does it matter that a function votes with it.
    mixed = tmp_path / "mixed"
    committee = ed.policies.Committee([f"agent:{moved}@none", lowest])
    small(committee, out=mixed, name="mixed")
    shutil.copy(agent_of(8), moved)
    with pytest.raises(ed.ArenaError, match=r"the file of agent:.*moved\.safetensors@none was"):
        small(committee, out=mixed, name="mixed")
    (out / "player.json").write_text("[", encoding="utf-8")
    with pytest.raises(ed.ArenaError, match=r"player\.json is damaged"):
        small(player, out=out)


def test_ctrl_c_keeps_the_boards_finished(tmp_path: Path) -> None:
    def impatient(observations: npt.NDArray[Any], masks: npt.NDArray[Any]) -> Any:
        if masks.shape[1] == 8:
            raise KeyboardInterrupt
        return lowest(observations, masks)

    with pytest.raises(KeyboardInterrupt) as raised:
        small(impatient, ["2x6", "2x8"], out=tmp_path / "card")
    found = raised.value.card  # type: ignore[attr-defined]
    assert [part.name for part in found.parts] == ["2x6"]
    assert ReportCard.read(tmp_path / "card" / "card.json") == found
