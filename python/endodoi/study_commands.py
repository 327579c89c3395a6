"""The command ``endodoi studies``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from endodoi import studies
from endodoi.study_text import list_text, replay_text

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands

__all__ = ["add_studies"]

#: Status of a study that is not proven.
FAILED = 1

EXAMPLES = """\
examples:
  endodoi studies
  endodoi studies 3
  endodoi studies 3 --solve
  endodoi studies 3 --moves
  endodoi studies --json
"""


def add_studies(commands: Commands) -> None:
    """Add the command of the endgame studies."""
    parser = commands.add_parser(
        "studies",
        help="list endgame studies of En Gehé, replay one",
        description="Lists the endgame studies, or replays the solution of one of them.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=studies_command)
    parser.add_argument(
        "number", type=int, nargs="?", metavar="NUMBER", help="the study (default: list all)"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--moves", action="store_true", help="print the columns of the solution")
    shown.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--solve", action="store_true", help="prove it again now")


def studies_command(options: argparse.Namespace) -> int:
    """List the studies, or replay one; the status tells whether what was proven again holds."""
    chosen = studies.load_all() if options.number is None else (studies.load(options.number),)
    if not options.solve:
        show(options, chosen)
        return 0
    if options.number is not None and not options.json:
        show(options, chosen)
    proofs = {study: study.prove() for study in chosen}
    if options.json:
        told = [{**study.to_dict(), "proof": proof.to_dict()} for study, proof in proofs.items()]
        print(json.dumps(told if options.number is None else told[0]))
    else:
        print("\n".join(proof_text(study, proof) for study, proof in proofs.items()))
    return 0 if all(proof.holds for proof in proofs.values()) else FAILED


def show(options: argparse.Namespace, chosen: tuple[studies.Study, ...]) -> None:
    """Print studies as the options ask for."""
    if options.json:
        told = [study.to_dict() for study in chosen]
        print(json.dumps(told if options.number is None else told[0]))
    elif options.moves:
        print("\n".join(" ".join(map(str, study.solution)) for study in chosen))
    else:
        print(list_text() if options.number is None else replay_text(chosen[0]))


def proof_text(study: studies.Study, proof: studies.Proof) -> str:
    """Return what proving a study again has shown."""
    cost = f"{proof.nodes:,} positions in {proof.seconds:.1f} s"
    if proof.holds:
        return f"{study.number}. {study.title}: proven, {cost}"
    return f"{study.number}. {study.title}: not proven, {cost}: {'; '.join(proof.faults)}"
