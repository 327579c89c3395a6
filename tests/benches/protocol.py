"""How `make bench` talks to the processes that measure: one JSON object a line, both ways."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["BenchError", "Row", "Worker", "build_rows", "check_file", "serve", "write_json"]

#: The folder of the checkout.
ROOT = Path(__file__).resolve().parents[2]


class BenchError(Exception):
    """A measurement that cannot be made, or an answer that is wrong."""


class Row(TypedDict):
    """What is measured; the same as `Row` of `tests/benches/rows`."""

    what: str
    variant: str
    columns: int
    engine: str
    threads: int
    draw: str
    batch: int


def build_rows(*, release: bool = True) -> Path:
    """Build the Rust rows and return the program's path.

    Raises
    ------
    BenchError
        If they do not build; cargo has written why to standard error.
    """
    command = ["cargo", *(["bench", "--no-run"] if release else ["build"])]
    command += ["--bench", "rows", "--message-format=json-render-diagnostics"]
    command += ["--locked"] if os.environ.get("CI") else []
    try:
        built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(f"the Rust rows were not built: {error}") from error
    for message in map(json.loads, built.stdout.splitlines()):
        if message.get("executable") and message["target"]["name"] == "rows":
            return Path(message["executable"])
    raise BenchError("cargo named no program of the Rust rows")


def check_file(path: Path) -> None:
    """Refuse a file that could not be written, before anything is measured.

    Raises
    ------
    OSError
        If it is a folder, or its folder cannot be made or written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file", str(path))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "the folder cannot be written to", str(path.parent))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write an object to a file, which is never seen half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


class Worker:
    """A process that answers requests until it is closed.

    Parameters
    ----------
    name : str
        What errors call it.
    command : sequence of str
        The program and its arguments.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        # Ctrl-C is for the caller, which then closes the worker.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to one request.

        Raises
        ------
        BenchError
            If the process has ended; it has written why to standard error.
        """
        requests, answers = self.process.stdin, self.process.stdout
        line = ""
        if requests is not None and answers is not None:
            try:
                requests.write(json.dumps(request) + "\n")
                requests.flush()
                line = answers.readline()
            except BrokenPipeError:
                line = ""
        if not line:
            raise BenchError(f"{self.name} ended at the request {json.dumps(request)}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let the process end and wait for it."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process.wait()


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer the requests on standard input until it is closed.

    What libraries print goes to standard error, so that it cannot pass for an answer.
    """
    out: IO[str] = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        answered = json.dumps(answer(json.loads(line)))
        try:
            out.write(answered + "\n")
            out.flush()
        except BrokenPipeError:
            # Who asked has gone; what is not written is not wanted.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
            return
