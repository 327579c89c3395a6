"""The commands ``endodoi tables build``, ``verify`` and ``info``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from endodoi import tables
from endodoi._core import EndgameTable
from endodoi.command_options import add_threads, ruleset_of

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands

__all__ = ["add_tables"]

EXAMPLES = """\
examples:
  endodoi tables build --columns 6 --seeds 16
  endodoi tables build --variant cross-endodoi --seeds 14 --out cross.edt
  endodoi tables verify en-dodoi-2x6-stays-16.edt
  endodoi tables info en-dodoi-2x6-stays-16.edt --json
"""

BUILD_EXAMPLES = """\
examples:
  endodoi tables build --columns 6 --seeds 16
  endodoi tables build --variant cross-endodoi --seeds 14 --out cross.edt
"""

VERIFY_EXAMPLES = """\
examples:
  endodoi tables verify en-dodoi-2x6-stays-16.edt
  endodoi tables verify en-dodoi-2x6-stays-16.edt --all --threads 2
"""

INFO_EXAMPLES = """\
examples:
  endodoi tables info en-dodoi-2x6-stays-16.edt
  endodoi tables info en-dodoi-2x6-stays-16.edt --json
"""


def add_tables(commands: Commands, rules: argparse.ArgumentParser) -> None:
    """Add the commands of endgame tables."""
    parser = commands.add_parser(
        "tables",
        help="build and check endgame tables",
        description="Endgame tables: the exact value of every position with few seeds.",
        epilog=EXAMPLES,
    )
    inner = parser.add_subparsers(required=True, metavar="COMMAND")

    build = inner.add_parser(
        "build",
        parents=[rules],
        help="work out all positions with few seeds and write a file",
        description="Works out the value of every position with few seeds and writes a file.",
        epilog=BUILD_EXAMPLES,
    )
    build.set_defaults(run=build_command)
    build.add_argument("--seeds", type=int, required=True, help="the most seeds on the board")
    build.add_argument(
        "--out", metavar="FILE", help="file or folder (default: a name that tells the rules, here)"
    )
    build.add_argument("--force", action="store_true", help="replace a file that is there already")
    add_threads(build)

    verify = inner.add_parser(
        "verify",
        help="check every checksum, and values against the moves of their positions",
        description="Checks every checksum, and values against the moves of their positions.",
        epilog=VERIFY_EXAMPLES,
    )
    verify.set_defaults(run=verify_command)
    verify.add_argument("file", metavar="FILE")
    verify.add_argument("--all", action="store_true", help="check all positions, not a sample")
    add_threads(verify)

    info = inner.add_parser(
        "info",
        help="say what a file holds",
        description="Says what a file holds: rules, seeds, positions, size.",
        epilog=INFO_EXAMPLES,
    )
    info.set_defaults(run=info_command)
    info.add_argument("file", metavar="FILE")
    info.add_argument("--json", action="store_true", help="print it as JSON")


def build_command(options: argparse.Namespace) -> int:
    """Build a table and say where it is."""
    ruleset = ruleset_of(options)
    out = options.out
    if out is None:
        out = EndgameTable.file_name(ruleset, options.seeds)
    table = tables.build(
        ruleset, options.seeds, out=out, force=options.force, num_threads=options.threads
    )
    print(f"{table.path}: {table.positions:,} positions, up to {table.max_seeds} seeds")
    return 0


def verify_command(options: argparse.Namespace) -> int:
    """Check a table and say that it is sound."""
    table = tables.verify(options.file, all_positions=options.all, num_threads=options.threads)
    checked = "all positions" if options.all else "a sample of positions"
    print(f"{options.file}: sound; every checksum, {checked} of {table.positions:,}")
    return 0


def info_command(options: argparse.Namespace) -> int:
    """Print what a file holds."""
    info = tables.info(options.file)
    if options.json:
        print(json.dumps(info))
        return 0
    rules = info.pop("ruleset")
    names = ("variant", "columns", "direction", "lone_capture", "lap_limit")
    for name, value in {**{name: rules[name] for name in names}, **info}.items():
        print(f"{name:<12} {value:,}" if isinstance(value, int) else f"{name:<12} {value}")
    return 0
