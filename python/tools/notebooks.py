"""Run the notebooks, in small to check them, or in full to store what they show.

    python python/tools/notebooks.py                      # all, in small; nothing is written
    python python/tools/notebooks.py --write NOTEBOOK ... # these, in full, with their outputs

Each runs in an empty folder of its own. Those that need the trainer are left out, and this is said,
where it is not there.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from endodoi.errors import TrainError
from endodoi.training import find_trainer

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"

#: Seconds after which a cell is taken for stuck.
PATIENCE = 1800


def notebooks() -> list[Path]:
    """Return all notebooks, in the order of their names."""
    return sorted(FOLDER.glob("*.ipynb"))


def lacks_trainer(notebook: nbformat.NotebookNode) -> bool:
    """Tell whether a notebook needs the trainer and it is not there."""
    if notebook.metadata.get("endodoi", {}).get("needs") != "trainer":
        return False
    try:
        find_trainer()
    except TrainError as error:
        print(f"left out: {error}")
        return True
    return False


def run(path: Path, *, write: bool) -> bool:
    """Run a notebook and tell whether it ended well."""
    notebook = nbformat.read(path, as_version=4)
    if lacks_trainer(notebook):
        return True
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=PATIENCE,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            # A kernel of this machine alone needs no encryption, of which it would warn.
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute()
        except CellExecutionError as error:
            print(error, file=sys.stderr)
            return False
    print(f"{time.monotonic() - began:.0f} s")
    if write:
        store(notebook, path)
    return True


def store(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook with its outputs, without what only this machine's Python says of itself."""
    notebook.metadata["language_info"] = {"name": "python"}
    partial = path.with_suffix(".partial")
    nbformat.write(notebook, partial)
    partial.replace(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the notebooks and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebook", nargs="*", type=Path, help="those to run (default: all)")
    parser.add_argument("--write", action="store_true", help="run in full and store the outputs")
    options = parser.parse_args(arguments)
    os.environ["ENDODOI_SMALL"] = "0" if options.write else "1"
    # Other settings draw other pictures.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    failed = []
    for path in options.notebook or notebooks():
        print(f"running {path.name}: ", end="", flush=True)
        if not run(path, write=options.write):
            failed.append(path.name)
    print(f"failed: {', '.join(failed)}" if failed else "all notebooks ran")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
