"""Build the reference of the Python package from its docstrings; every warning is an error.

    python python/tools/reference.py [FOLDER]

The pages are for reading in a browser, from `target/doc/python/endodoi.html` on. Modules that need
the library of an extra are left out, and named, where it is not installed.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pdoc
import pdoc.doc

import endodoi
from endodoi.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).resolve().parents[2] / "target" / "doc" / "python"

#: Public modules beside those that `endodoi` imports on first use.
OTHERS = ("errors",)

#: Annotations that name what type checkers alone import are shown as they are written.
AS_WRITTEN = "Error parsing type annotation|Failed to run TYPE_CHECKING code"


def modules() -> tuple[list[str], list[str]]:
    """Return the names of the public modules, and why others of them are left out."""
    names = [f"endodoi.{name}" for name in sorted({*endodoi.MODULES, *OTHERS})]
    lacks = {name: lack_of(name) for name in names}
    missing = [f"left out: {name}: {lack}" for name, lack in lacks.items() if lack]
    return ["endodoi", *(name for name in names if lacks[name] is None)], missing


def lack_of(name: str) -> str | None:
    """Return which library a module lacks, None if it can be imported."""
    try:
        import_module(name)
    except MissingExtraError as error:
        return str(error)
    return None


def undocumented(found: pdoc.doc.Module | pdoc.doc.Class) -> Iterator[str]:
    """Yield what is public in a module or class and has no docstring."""
    for member in found.own_members:
        # Dunder methods do what Python's own documentation says.
        if member.name.startswith("_") or isinstance(member, pdoc.doc.Module):
            continue
        if not member.docstring and not isinstance(member, pdoc.doc.Variable):
            yield f"{member.fullname} has no docstring"
        if isinstance(member, pdoc.doc.Class):
            yield from undocumented(member)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the pages and return the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    folder = Path(words[0]) if words else FOLDER
    names, missing = modules()
    print("\n".join(missing))
    pdoc.render.configure(docformat="numpy", footer_text=f"endodoi {endodoi.__version__}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=AS_WRITTEN)
        # The package brings along the modules that it exports.
        alone = [name for name in names if name.rpartition(".")[2] not in endodoi.__all__]
        pdoc.pdoc(*alone, output_directory=folder)
        bare = [
            line for name in names for line in undocumented(pdoc.doc.Module(import_module(name)))
        ]
    print("\n".join([*bare, f"{folder}: {len(names)} modules"]))
    return 1 if bare else 0


if __name__ == "__main__":
    sys.exit(main())
