"""The notebooks as they are stored: they read on the web, outputs included."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

#: Folders of machines, which say nothing to a reader.
PLACES = re.compile(r"(?<![\w.])/(?:home|root|tmp|usr|var|work|Users)/|[A-Z]:\\\\")

#: More would be slow to load.
MOST_BYTES = 600_000


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def test_there_are_the_tours_that_the_readme_names() -> None:
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in NOTEBOOKS} == set(
        re.findall(r"notebooks/([\w-]+\.ipynb)", readme)
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_it_ran(path: Path) -> None:
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    pictures = [
        output for output in outputs if {"image/png", "image/svg+xml"} & {*output.get("data", {})}
    ]
    assert pictures
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_no_place_of_the_machine_it_ran_on(path: Path) -> None:
    assert not PLACES.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_prose_and_calls(path: Path) -> None:
    prose = cells(path, "markdown")
    assert "".join(prose[0]["source"]).startswith("# ")
    assert len(prose) >= len(cells(path, "code")) / 2
    text = "".join("".join(cell["source"]) for cell in cells(path, "code"))
    assert "class " not in text


def test_places_of_machines_are_recognised() -> None:
    for place in ("/home/somebody/x", '"/root/x', "in /tmp/y", "C:\\\\\\\\Users"):
        assert PLACES.search(place)
    for text in ("runs/first/best.safetensors", "https://example.org/home/", "and/or", "2/tmp/"):
        assert not PLACES.search(text)
