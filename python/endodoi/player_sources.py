"""The files that a player's file needs of its folder: it, and what it imports from there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["sources_of"]


def sources_of(file: Path) -> dict[str, str]:
    """Return the texts of a file and of the files of its folder that it imports.

    They are found without running anything, wherever in the text an import stands: modules beside
    the file, and packages there with all of their modules; and what these import in turn.

    Parameters
    ----------
    file : Path
        A Python file.

    Returns
    -------
    dict
        Texts by path in the folder, with slashes; the file itself is the first.

    Raises
    ------
    OSError, UnicodeDecodeError, SyntaxError
        If one of them cannot be read.
    """
    folder = file.parent
    found: dict[str, str] = {}
    waiting = [file]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(folder).as_posix()
        if name not in found:
            found[name] = path.read_text(encoding="utf-8")
            tree = ast.parse(found[name], filename=str(path))
            for module in sorted(set(imported(tree))):
                waiting += files_of(folder, module)
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """Iterate over the first names of the modules that are imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def files_of(folder: Path, module: str) -> list[Path]:
    """Return the files of a module or package of the folder; none where it is another's."""
    package = folder / module
    if (package / "__init__.py").is_file():
        return sorted(package.rglob("*.py"))
    single = folder / f"{module}.py"
    return [single] if single.is_file() else []
