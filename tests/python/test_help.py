"""The help of every command, and what refusals say."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from endodoi._core import shipped_names
from endodoi.cli import main, make_parser
from endodoi.command_line import leaves_of
from endodoi.training_commands import train_command

if TYPE_CHECKING:
    import argparse

PARSER = make_parser()
COMMANDS = [PARSER, *leaves_of(PARSER)]
#: Lines of a help that begin with the command.
EXAMPLE = re.compile(r"^  (endodoi .+)$", re.MULTILINE)
#: What an agent is named by, without its search.
AGENT = re.compile(r"agent:([^\s@]+)")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.prog)
def test_every_command_shows_examples_that_it_takes(command: argparse.ArgumentParser) -> None:
    assert command.description
    _, _, below = command.format_help().partition("\nexamples:\n")
    # What a line says of other commands is theirs to show.
    examples = [example for example in EXAMPLE.findall(below) if example.startswith(command.prog)]
    assert examples
    for example in examples:
        # As a shell reads it, which keeps what follows these to itself.
        words = shlex.split(re.split(r" (?:[<>|]|&&) ", example)[0])[1:]
        options, rest = make_parser().parse_known_args(words)
        assert not rest or options.run is train_command
        # Files and runs are the reader's own; what is named without an ending or a folder is not.
        for agent in AGENT.findall(example):
            assert agent.endswith(".safetensors") or "/" in agent or agent in shipped_names(), agent


def test_the_commands_with_parts_are_among_them() -> None:
    names = {command.prog for command in COMMANDS}
    assert {"endodoi simulate", "endodoi tables build", "endodoi tables info"} <= names
    assert "endodoi tables" not in names


@pytest.mark.parametrize(
    ("words", "message", "way_out"),
    [
        (["simulate", "--colums", "6"], "--colums 6 (did you mean --columns?)", "simulate --help"),
        (["tables", "info", "x", "--jsno"], "--jsno (did you mean --json?)", "tables info --help"),
        (["simulat"], "invalid choice: 'simulat'", "endodoi --help"),
        (["simulat"], "(did you mean simulate?)", "endodoi --help"),
        (["tables", "biuld"], "(did you mean build?)", "tables --help"),
        ([], "the following arguments are required: COMMAND", "endodoi --help"),
        (["perft", "deep"], "argument depth: invalid int value: 'deep'", "perft --help"),
        (["solve", "--memory", "4X"], "'4X' is no size, expected one as 512M", "solve --help"),
    ],
)
def test_words_that_a_command_does_not_take_are_refused_with_the_way_out(
    words: list[str], message: str, way_out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        main(words)
    assert done.value.code == 2
    captured = capsys.readouterr()
    assert not captured.out
    refusal, way = captured.err.splitlines()
    assert message in refusal
    assert way.endswith(f"{way_out}` lists what it takes")


def test_a_word_like_no_other_gets_no_guess(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["zzz"])
    assert "did you mean" not in capsys.readouterr().err
