"""The pages in a real browser: replays, and games against a player."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

import endodoi as ed
from endodoi.play_game import Game
from endodoi.play_web import PlayServer
from played import endless_draw, play, positions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from endodoi import Position

pytestmark = pytest.mark.browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

#: Seconds that the slowest step may take.
PATIENCE = 60


class Page:
    """One page of the browser, and what it shows."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def click(self, name: str) -> None:
        self.find(f"#{name}").click()

    def press(self, key: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415

        ActionChains(self.driver).send_keys(key).perform()

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def data(self, name: str) -> str:
        return str(self.run("return document.body.dataset[arguments[0]]", name))

    def wait(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < end, "the page does not come to it"
            time.sleep(0.05)

    def board(self) -> tuple[list[int], list[int]]:
        """The numbers of seeds in the pits and of captured ones."""
        script = """
            const numbers = (name, count) => Array.from({length: count}, (_, place) =>
                Number(document.querySelector(`[data-${name}="${place}"]`).textContent));
            const pits = document.querySelectorAll("[data-pit]").length;
            return [numbers("pit", pits), numbers("captured", 2)];
        """
        pits, captured = self.run(script)
        return pits, captured

    def shows(self, position: Position) -> bool:
        return self.board() == (
            position.board.reshape(-1).tolist(),
            list(position.captured),
        )

    def rests(self) -> bool:
        return self.data("sowing") == "false"

    def set_size(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def set_scheme(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def fits(self) -> bool:
        """Whether nothing is wider than the window."""
        return bool(self.run("return document.documentElement.scrollWidth <= innerWidth"))

    def errors(self) -> list[Any]:
        return list(self.driver.get_log("browser"))


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="needs selenium: make test-browser installs it"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    service = shutil.which("chromedriver")
    if program is None or service is None:
        pytest.skip("needs Chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    made.set_script_timeout(PATIENCE)
    yield made
    made.quit()


@pytest.fixture
def page(driver: Any) -> Iterator[Page]:
    page = Page(driver)
    page.set_size(1200, 900)
    page.set_scheme("light")
    page.errors()
    yield page
    assert page.errors() == []


def show(page: Page, folder: Path, *records: ed.GameRecord) -> None:
    file = folder / "games.html"
    ed.replay(list(records)).html(file)
    page.driver.get(file.as_uri())


@pytest.mark.parametrize(
    "ruleset", [ed.Ruleset(columns=6), ed.Ruleset("en-gehe"), ed.Ruleset("cross-endodoi")]
)
def test_after_k_plies_the_board_is_that_of_the_core(
    page: Page, tmp_path: Path, ruleset: ed.Ruleset
) -> None:
    record = play(ruleset)
    positions = positions_of(record)
    show(page, tmp_path, record)
    last = len(record)
    for ply in sorted({0, 1, 2, last // 2, last - 1, last}):
        script = "const at = document.getElementById('ply'); at.value = arguments[0];"
        page.run(script + "at.dispatchEvent(new Event('input'));", ply)
        assert page.shows(positions[ply])
        assert page.data("ply") == str(ply)
    assert page.find("#note").text
    page.run("document.querySelectorAll('#moves button')[arguments[0]].click()", 2)
    assert page.shows(positions[3])


@pytest.mark.parametrize(
    "ruleset",
    [
        ed.Ruleset("en-gehe"),
        ed.Ruleset("cross-endodoi"),
        ed.Ruleset(columns=3, lone_capture="taken"),
    ],
)
def test_sowings_are_shown_as_the_core_sows_them(
    page: Page, tmp_path: Path, ruleset: ed.Ruleset
) -> None:
    record = play(ruleset)
    show(page, tmp_path, record)
    # The steps of every move, without the pictures of them.
    script = """
        const [game] = JSON.parse(document.getElementById("games").textContent);
        const nothing = () => {};
        const pictures = { paintSeeds: nothing, paintTray: nothing, mark: nothing };
        const board = { columns: game.columns, ...pictures };
        return game.moves.map((move, ply) => {
            const { pits, captured } = game.positions[ply];
            const moving = { pits: [...pits], captured: [...captured] };
            const steps = Board.prototype.steps.call(board, move);
            for (const step of steps) {
                Board.prototype.take.call(board, step, move, moving);
            }
            return [moving.pits, moving.captured, steps.every(({ hand }) => hand >= 0)];
        });
    """
    shown = page.run(script)
    assert len(shown) == len(record)
    for (pits, captured, counted), after in zip(shown, positions_of(record)[1:], strict=True):
        assert counted
        if not after.is_over:
            assert pits == after.board.reshape(-1).tolist()
            assert captured == list(after.captured)


def test_buttons_and_keys_lead_through_a_game(page: Page, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    record = play(ed.Ruleset(columns=6))
    positions = positions_of(record)
    show(page, tmp_path, record)
    page.click("forward")
    assert page.data("sowing") == "true"
    # The first sowing goes on seed by seed, until the second click ends it.
    page.wait(lambda: not page.shows(positions[0]))
    page.click("forward")
    page.wait(page.rests)
    assert page.shows(positions[1])
    page.press(Keys.ARROW_RIGHT)
    page.press(Keys.ARROW_RIGHT)
    page.wait(lambda: page.data("ply") == "2")
    assert page.shows(positions[2])
    page.click("back")
    assert page.shows(positions[1])
    page.press(Keys.ARROW_LEFT)
    assert page.shows(positions[0])
    page.press(Keys.END)
    assert page.shows(positions[-1])
    page.press(Keys.HOME)
    assert page.shows(positions[0])
    page.click("last")
    assert page.shows(positions[-1])
    assert not page.find("#forward").is_enabled()
    page.click("first")
    assert page.shows(positions[0])
    chosen = "return document.getElementById('speed').value"
    page.run("document.activeElement.blur()")
    for key, speed in (("+", "2"), ("-", "1"), ("-", "0.5")):
        page.press(key)
        assert page.run(chosen) == speed


def test_a_game_plays_to_its_end_and_pauses(page: Page, tmp_path: Path) -> None:
    record = play(ed.Ruleset(columns=3))
    positions = positions_of(record)
    show(page, tmp_path, record)
    page.click("play")
    assert page.data("playing") == "true"
    page.wait(lambda: page.data("ply") >= "1")
    page.click("play")
    assert page.data("playing") == "false"
    page.wait(page.rests)
    ply = int(page.data("ply"))
    assert page.shows(positions[ply])
    page.run("document.getElementById('speed').selectedIndex = 6; document.activeElement.blur()")
    page.press(" ")
    page.wait(lambda: page.data("ply") == str(len(record)))
    assert page.shows(positions[-1])
    assert page.data("playing") == "false"
    # From the end it begins again.
    page.press(" ")
    page.wait(lambda: page.data("ply") == "1")


def test_several_games_are_chosen_from_and_names_stay_text(page: Page, tmp_path: Path) -> None:
    names = ("</script><b>one", "'\"&amp;<img src=x onerror=alert(1)>")
    first = play(ed.Ruleset(columns=2), players=names)
    second = play(ed.Ruleset(columns=7), cap=5)
    show(page, tmp_path, first, second, endless_draw())
    assert (page.find("#south").text, page.find("#north").text) == names
    assert page.run("return document.querySelectorAll('header img, header b b').length") == 0
    script = "const game = document.getElementById('game'); game.selectedIndex = arguments[0];"
    script += "game.dispatchEvent(new Event('change'))"
    page.run(script, 1)
    assert page.shows(positions_of(second)[0])
    page.click("last")
    assert page.shows(positions_of(second)[-1])
    assert page.find("#note").text == "Cut after 5 plies, no outcome."
    page.run("location.hash = '#game=1&ply=1'")
    page.wait(lambda: page.shows(positions_of(first)[1]))
    page.run(script, 2)
    page.run("document.getElementById('speed').selectedIndex = 6")
    page.click("forward")
    page.wait(page.rests)
    assert page.shows(positions_of(endless_draw())[-1])
    assert "S6" in page.find("#note").text


@pytest.mark.parametrize("columns", [1, 6, 50, 64])
def test_boards_fit_into_wide_and_narrow_windows(page: Page, tmp_path: Path, columns: int) -> None:
    record = play(ed.Ruleset(columns=columns), cap=3)
    show(page, tmp_path, record)
    for width, scheme in ((1200, "dark"), (400, "light"), (2000, "dark")):
        page.set_scheme(scheme)
        page.set_size(width, 900)
        # Bands follow the width in the next frame.
        page.run("return new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        assert page.fits()
        assert page.shows(positions_of(record)[0])
        size = "return document.querySelector('[data-pit]').getBoundingClientRect().height"
        assert page.run(size) >= 9


def test_whoever_wants_no_motion_sees_the_ends_of_sowings(page: Page, tmp_path: Path) -> None:
    record = play(ed.Ruleset(columns=6))
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    show(page, tmp_path, record)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.click("forward")
    assert page.shows(positions_of(record)[1])


def test_controls_have_names(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, play(ed.Ruleset(columns=6)))
    for control in page.driver.find_elements("css selector", "button, select, input"):
        if control.is_displayed():
            assert control.accessible_name
    assert "captured 0" in page.find("svg.board").accessible_name


def test_a_notebook_frame_runs(page: Page, tmp_path: Path) -> None:
    record = play(ed.Ruleset(columns=6))
    file = tmp_path / "notebook.html"
    file.write_text(f"<!DOCTYPE html>{ed.replay(record)._repr_html_()}", encoding="utf-8")
    page.driver.get(file.as_uri())
    page.driver.switch_to.frame(0)
    page.click("last")
    assert page.shows(positions_of(record)[-1])
    page.driver.switch_to.default_content()


def test_a_film_moves(page: Page, tmp_path: Path) -> None:
    record = play(ed.Ruleset(columns=6), cap=4)
    file = tmp_path / "film.svg"
    ed.replay(record).svg(file)
    page.driver.get(file.as_uri())
    page.run("document.documentElement.pauseAnimations()")
    duration = page.run("return parseFloat(document.querySelector('animate').getAttribute('dur'))")
    shown = """
        document.documentElement.setCurrentTime(arguments[0]);
        return Array.from(document.querySelectorAll('use'), use =>
            Number(use.href.animVal.slice(2)));
    """
    positions = positions_of(record)
    assert page.run(shown, 0) == positions[0].board.reshape(-1).tolist()
    assert page.run(shown, duration - 0.1) == positions[-1].board.reshape(-1).tolist()


# ---- a game against a player


@pytest.fixture
def server() -> Iterator[PlayServer]:
    with PlayServer(Game("greedy", ruleset=ed.Ruleset(columns=6), seed=1)) as server:
        yield server


def idle(page: Page) -> bool:
    return page.data("busy") == "false"


def test_a_game_is_played_by_clicks_and_keys(page: Page, server: PlayServer) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    page.driver.get(server.url)
    page.wait(lambda: idle(page))
    page.run("document.getElementById('speed').selectedIndex = 5")
    start = server.table.game.position
    assert page.shows(start)
    page.find('[data-hit="2"]').click()
    page.wait(lambda: page.data("ply") == "2" and idle(page))
    position = server.table.game.position
    assert server.table.game.columns[0] == 2
    assert page.shows(position)
    column = position.legal_moves()[-1]
    page.run("document.activeElement.blur()")
    page.press(str(column))
    page.press(Keys.ENTER)
    page.wait(lambda: page.data("ply") == "4" and idle(page))
    assert server.table.game.columns[2] == column
    assert page.shows(server.table.game.position)
    page.click("undo")
    page.wait(lambda: page.data("ply") == "2" and idle(page))
    assert page.shows(position)
    assert len(page.driver.find_elements("css selector", "#moves li")) == 2
    page.click("hint")
    page.wait(lambda: idle(page) and "best" in page.find("#note").text)
    assert page.driver.find_elements("css selector", ".label.best")
    assert page.fits()
    page.set_size(400, 900)
    page.run("return new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert page.fits()


def test_a_game_is_played_to_its_end(page: Page, server: PlayServer) -> None:
    rules = ed.Ruleset(columns=3, seeds_per_pit=2)
    server.table.game = Game("greedy", ruleset=rules)
    page.driver.get(server.url)
    page.run("document.getElementById('speed').selectedIndex = 5")
    for control in page.driver.find_elements("css selector", "button, select, input, .hit[role]"):
        assert control.accessible_name
    for _ in range(rules.quiet_limit):
        page.wait(lambda: idle(page))
        game = server.table.game
        assert page.shows(game.position)
        if game.position.is_over:
            break
        page.find(f'[data-hit="{game.position.legal_moves()[0]}"]').click()
    assert server.table.game.position.is_over
    assert re.search(r"\(E[13]\)", page.find("#note").text)
    assert not page.driver.find_elements("css selector", ".hit[role]")
    record = page.run("return fetch('record.jsonl').then(answer => answer.text())")
    assert ed.GameRecord.from_json(record.strip()) == server.table.game.record()


def test_another_game_begins_and_refusals_are_told(page: Page, server: PlayServer) -> None:
    page.driver.get(server.url)
    page.wait(lambda: idle(page))
    page.run("document.getElementById('speed').selectedIndex = 5")
    fill = "document.getElementById(arguments[0]).value = arguments[1]"
    page.run(fill, "side", "north")
    page.run(fill, "variant", "cross-endodoi")
    page.run(fill, "columns", 4)
    page.run(fill, "seeds", 3)
    page.find("#new button").click()
    page.wait(lambda: page.data("game") == "1" and page.data("ply") == "1" and idle(page))
    game = server.table.game
    assert (game.ruleset.variant, game.ruleset.columns, game.side) == ("cross-endodoi", 4, "north")
    assert page.shows(game.position)
    page.run(fill, "opponent", "nobody")
    page.find("#new button").click()
    page.wait(lambda: "nobody" in page.find("#note").text)
    assert page.shows(game.position)
    refused = page.errors()
    assert len(refused) == 1
    assert "400" in refused[0]["message"]


def test_record_and_replay_are_handed_out(page: Page, server: PlayServer) -> None:
    page.driver.get(server.url)
    page.wait(lambda: idle(page))
    server.table.game.play(0)
    text = page.run("return fetch('record.jsonl').then(answer => answer.text())")
    assert json.loads(text)["moves"] == [0]
