"""The commands ``endodoi doctor`` and ``endodoi completion``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from endodoi.completion import SHELLS, script

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from endodoi.command_line import Commands

__all__ = ["add_completion", "add_doctor"]

#: Status where something is broken.
BROKEN = 1

DOCTOR_EXAMPLES = """\
examples:
  endodoi doctor
  endodoi doctor --json

The exit status is 1 where something is broken. What is not installed is not broken.
"""

COMPLETION_EXAMPLES = """\
examples:
  endodoi completion bash > ~/.local/share/bash-completion/completions/endodoi
  endodoi completion zsh > ~/.zfunc/_endodoi
  endodoi completion fish > ~/.config/fish/completions/endodoi.fish

The folders must exist; for zsh ~/.zshrc holds `fpath+=~/.zfunc; autoload -Uz compinit; compinit`.
New shells complete commands, options and files then. Needs shtab (pip install
'endodoi[completion]'), but only to write the script.
"""


def add_doctor(commands: Commands) -> None:
    """Add the command that looks at what is installed."""
    parser = commands.add_parser(
        "doctor",
        help="say what is installed and whether it works",
        description="Says what is installed and whether it works: versions, extras, instructions "
        "and threads, the trainer and its libtorch, the agents that come with the package.",
        epilog=DOCTOR_EXAMPLES,
    )
    parser.set_defaults(run=doctor_command)
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def add_completion(commands: Commands, parser: argparse.ArgumentParser) -> None:
    """Add the command that writes completions of `parser`, the parser of all commands."""
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="Prints a script that completes the words of this command in a shell.",
        epilog=COMPLETION_EXAMPLES,
    )
    completion.set_defaults(run=lambda options: completion_command(options, parser))
    completion.add_argument("shell", choices=SHELLS, help="the shell")


def completion_command(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Print the script of a shell."""
    print(script(parser, options.shell))
    return 0


def doctor_command(options: argparse.Namespace) -> int:
    """Print what is installed; the status tells whether something is broken."""
    # Imports what no other command needs.
    from endodoi.doctor import examine  # noqa: PLC0415

    found = examine()
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(f"{name:<13} {text}" for name, text in lines_of(found)))
    return BROKEN if found["problems"] else 0


def lines_of(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what was found as names and texts."""
    package = found["package"]
    yield "endodoi", f"{package['endodoi']} in {package['folder']}"
    yield "core", package["core"]
    yield "python", f"{found['python']['version']} on {found['python']['platform']}"
    for name in ("numpy", "gymnasium"):
        yield name, package[name] or "unknown"
    sets = found["instructions"]
    by = f" (named by ENDODOI_INSTRUCTIONS={sets['variable']})" if sets["variable"] else ""
    yield "instructions", f"{sets['chosen'] or 'none'}{by} of {', '.join(sets['available'])}"
    yield "threads", threads_text(**found["threads"])
    yield "trainer", trainer_text(found["trainer"])
    yield "agents", ", ".join(found["agents"]) or "none"
    for extra, libraries in found["extras"].items():
        yield f"[{extra}]", extra_text(extra, libraries)
    for problem in found["problems"]:
        yield "PROBLEM", problem
    yield "", "something is broken" if found["problems"] else "all that is installed works"


def threads_text(default: int, affinity: int, cores: int) -> str:
    """Tell how many threads are used where none are asked for, and what limits them."""
    limits = []
    if affinity < cores:
        limits.append(f"{affinity} by affinity")
    if default < affinity:
        limits.append(f"{default} by the limits of the control group")
    text = f"{default} of {cores} cores"
    return f"{text} ({', '.join(limits)})" if limits else text


def trainer_text(found: dict[str, Any] | None) -> str:
    """Tell where the trainer is and which libtorch it uses."""
    if found is None:
        return "not built; `make train` in a checkout of endodoi builds it"
    if "version" not in found:
        return f"{found['program']} does not run"
    libtorch = found["libtorch"] or {"folder": "an unknown place", "version": None}
    gpus = f", {found['gpus']} GPU" + "s" * (found["gpus"] != 1) if found["gpus"] else ""
    return (
        f"{found['version']} in {found['program']}, libtorch "
        f"{libtorch['version'] or 'of unknown version'} in {libtorch['folder']}{gpus}"
    )


def extra_text(extra: str, libraries: dict[str, str | None]) -> str:
    """Tell which libraries of an extra are installed, and how the others are."""
    there = ", ".join(f"{name} {version}" for name, version in libraries.items() if version)
    missing = [name for name, version in libraries.items() if version is None]
    if not missing:
        return there
    way = f"not installed: {', '.join(missing)} (pip install 'endodoi[{extra}]')"
    return f"{there}; {way}" if there else way
