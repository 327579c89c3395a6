"""The examples of the pages: blocks of code, with the marks after their language.

| block | is |
|---|---|
| ``python`` | run, one after another in the names of the page; literals after ``#`` are compared |
| ``pycon`` | a session: run, and its output compared |
| ``console`` | commands: those of ``endodoi`` are run, of all the words are checked |

Marks: ``long`` is checked and not run; ``needs=NAME`` is not run where that library is missing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"long|needs=([\w.]+)")


@dataclass(frozen=True)
class Example:
    """A block of code of a page."""

    page: Path
    line: int
    language: str
    marks: tuple[str, ...]
    source: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def long(self) -> bool:
        return "long" in self.marks

    @property
    def needs(self) -> list[str]:
        """Libraries that it needs and that are not installed."""
        names = [mark.partition("=")[2] for mark in self.marks if mark != "long"]
        return [name for name in names if find_spec(name) is None]


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(page: Path, *languages: str) -> list[Example]:
    """Return the blocks of a page in these languages."""
    text = page.read_text(encoding="utf-8")
    return [
        Example(
            page,
            text.count("\n", 0, match.start()) + 1,
            match[1],
            tuple(match[2].split()),
            match[3],
        )
        for match in FENCE.finditer(text)
        if match[1] in languages
    ]


def run_python(source: str, names: dict[str, Any], file: str) -> None:
    """Run Python, and compare expressions with the literals written after them.

    Raises
    ------
    AssertionError
        If one is not equal.
    """
    lines = source.splitlines()
    for statement in ast.parse(source, file).body:
        code = ast.Module([statement], type_ignores=[])
        expected = literal_after(lines[(statement.end_lineno or 1) - 1])
        if not isinstance(statement, ast.Expr) or expected is None:
            exec(compile(code, file, "exec"), names)  # noqa: S102
            continue
        got = eval(compile(ast.Expression(statement.value), file, "eval"), names)  # noqa: S307
        assert got == expected, f"{file}: {ast.unparse(statement)} is {got!r}, not {expected!r}"


def literal_after(line: str) -> object:
    """Return the literal in the comment of a line, None if there is none."""
    comment = line.rpartition("  # ")[2] if "  # " in line else ""
    try:
        found: object = ast.literal_eval(comment)
    except (SyntaxError, ValueError):
        return None
    return found


def commands(source: str) -> Iterator[str]:
    """Yield the commands of a block, without their comments and what a shell does beside them."""
    for line in source.replace("\\\n", " ").splitlines():
        command = re.split(r"\s+#\s|\s(?:[<>|&]|&&)(?:\s|$)", line, maxsplit=1)[0].strip()
        if command:
            yield command
