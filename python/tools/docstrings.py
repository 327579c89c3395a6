"""Read NumPy docstrings: paragraphs, sections, entries and tables, as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

__all__ = ["entries", "fill", "paragraph", "section", "table", "write_table"]

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
WIDTH = 100


def markdown(text: str) -> str:
    """Return reStructuredText of one paragraph as Markdown in one line."""
    return " ".join(text.replace("``", "`").split())


def fill(text: str) -> str:
    """Return a paragraph in lines of the width of the pages."""
    return textwrap.fill(" ".join(text.split()), WIDTH, break_on_hyphens=False)


def paragraph(owner: Any, start: str, name: str = "") -> str:
    """Return the paragraph that begins with `start`, of the summary or of the section `name`.

    Raises
    ------
    LookupError
        If there is none.
    """
    for part in section(owner, name).split("\n\n"):
        if markdown(part).startswith(start):
            return fill(markdown(part))
    raise LookupError(f"{owner.__qualname__} has no paragraph that begins with {start!r}")


def section(owner: Any, name: str) -> str:
    """Return the text of a section, or with an empty name what stands before the first.

    Raises
    ------
    LookupError
        If there is no such section.
    """
    parts = SECTION.split(inspect.getdoc(owner) or "")
    named = {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}
    if name not in named:
        raise LookupError(f"{owner.__qualname__} has no section {name!r}")
    return named[name].strip("\n")


def entries(owner: Any, name: str) -> dict[str, tuple[str, str]]:
    """Return name, type and text of each entry of a section, as of its parameters."""
    found: dict[str, tuple[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", section(owner, name)):
        head, _, text = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        for one in names.split(", "):
            found[one] = (kind, markdown(text))
    return found


def table(owner: Any) -> list[list[str]]:
    """Return the cells of the first simple table of a docstring, its heading first."""
    lines = (inspect.getdoc(owner) or "").split("\n")
    rules = [at for at, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line)]
    starts = [found.start() for found in re.finditer("=+", lines[rules[0]])]
    rows: list[list[str]] = []
    for line in lines[rules[0] + 1 : rules[2]]:
        if line.startswith("==="):
            continue
        cells = [
            line[a:b].strip() for a, b in zip(starts, [*starts[1:], len(line) + 1], strict=True)
        ]
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
    return rows


def write_table(rows: list[list[str]]) -> str:
    """Return rows of cells, the heading first, as a Markdown table."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    head, *body = lines
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])
