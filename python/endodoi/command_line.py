"""What all commands share: parser, status, output, refusals that tell the way out."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from endodoi.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "INTERRUPTED",
    "Commands",
    "Parser",
    "actions_of",
    "interrupted_after",
    "kept_by",
    "leaves_of",
    "printable",
    "refuse_unknown",
]

#: Where commands are added. argparse has no public name for it.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

#: What an interrupted command has finished.
Kept = TypeVar("Kept")

#: Status of a Ctrl-C, as shells give it.
INTERRUPTED = 130

#: How argparse names a word that is none of those it expects.
CHOICE = re.compile(r"invalid choice: '([^']*)'")


class Parser(argparse.ArgumentParser):
    """A parser whose epilog keeps its lines and whose errors name the help.

    Commands that are added to it are such parsers too, and leave themselves as ``parser`` among
    the options read.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **options)
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and what lists the right words, and end with status 2."""
        if wrong := CHOICE.search(message):
            known = [str(one) for action in actions_of(self) for one in action.choices or ()]
            message += like(wrong[1], known)
        self.exit(2, f"{self.prog}: {message}\n`{self.prog} --help` lists what it takes\n")


def refuse_unknown(parser: argparse.ArgumentParser, words: Sequence[str]) -> NoReturn:
    """Refuse words that a command does not take, with the option that the first looks like."""
    known = [name for action in actions_of(parser) for name in action.option_strings]
    meant = like(words[0].partition("=")[0], known)
    parser.error(f"unrecognized arguments: {' '.join(words)}{meant}")


def like(word: str, known: Sequence[str]) -> str:
    """Return a question for the known word that looks most like this one, if any does."""
    found = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def leaves_of(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return the parsers of all commands; of a command with commands of its own, theirs."""
    inner = [
        command
        for action in actions_of(parser)
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        for command in action.choices.values()
    ]
    return [leaf for command in inner for leaf in leaves_of(command)] if inner else [parser]


def actions_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser, for which argparse has no public name."""
    return parser._actions  # noqa: SLF001


def kept_by(interrupt: KeyboardInterrupt, name: str, kind: type[Kept]) -> Kept:
    """Return what an interruption has in an attribute; without it, interrupt again."""
    kept = getattr(interrupt, name, None)
    if not isinstance(kept, kind):
        raise interrupt
    return kept


def interrupted_after(count: int, what: str) -> int:
    """Say what was finished before a Ctrl-C, as a count of ``what``, and return the status."""
    print(f"endodoi: interrupted after {counted(count, what)}", file=sys.stderr)  # noqa: T201
    return INTERRUPTED


def printable(text: str) -> str:
    """Return a text as the output can show it."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.replace("±", "+-")
    return text
