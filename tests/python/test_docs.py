"""Every example of README and docs: run, or checked where it is marked as long."""

from __future__ import annotations

import doctest
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from doc_examples import MARK, ROOT, Example, commands, examples, pages, run_python
from endodoi.cli import main, make_parser
from endodoi.training_commands import train_command

if TYPE_CHECKING:
    from pathlib import Path

PAGES = pages()
CONSOLES = [example for page in PAGES for example in examples(page, "console")]
#: Programs of other projects that pages may call.
OTHERS = {
    "cargo",
    "cd",
    "chromium",
    "jq",
    "pip",
    "printf",
    "python",
    "ray",
    "source",
    "tensorboard",
}
#: What a shell may be told before the program.
BEFORE = re.compile(r"^(?:(?:/usr/bin/)?time (?:-v )?|[A-Z_]+=\S+ )*")


def with_examples(*languages: str) -> list[Path]:
    return [page for page in PAGES if examples(page, *languages)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_code_have_a_language_that_is_known(page: Path) -> None:
    fences = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) % 2 == 0
    for words in fences[::2]:
        language, *marks = words.split() or [""]
        assert language in {"", "console", "pycon", "python", "rust", "text", "toml"}
        assert all(MARK.fullmatch(mark) for mark in marks)
        assert not marks or language in {"console", "pycon", "python"}


@pytest.mark.parametrize("page", with_examples("python", "pycon"), ids=name_of)
def test_examples_in_python_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {}
    for example in examples(page, "python", "pycon"):
        if example.language == "pycon":
            run_session(example, names)
        elif example.long or example.needs:
            compile(example.source, example.name, "exec")
        else:
            run_python(example.source, names, example.name)


def run_session(example: Example, names: dict[str, Any]) -> None:
    session = doctest.DocTestParser().get_doctest(
        example.source, names, example.name, example.name, example.line
    )
    assert session.examples
    if example.long or example.needs:
        return
    shown: list[str] = []
    runner = doctest.DocTestRunner()
    result = runner.run(session, out=shown.append, clear_globs=False)
    names.update(session.globs)
    assert result.failed == 0, "".join(shown)


@pytest.mark.parametrize("example", CONSOLES, ids=lambda example: example.name)
def test_commands_of_a_page_exist_and_take_their_words(example: Example) -> None:
    found = list(commands(example.source))
    assert found
    for command in found:
        program, _, rest_of_line = BEFORE.sub("", command).partition(" ")
        if program in OTHERS - {"python"}:
            continue
        words = shlex.split(rest_of_line)
        if program == "endodoi":
            options, rest = make_parser().parse_known_args(words)
            assert not rest or options.run is train_command
        elif program == "make":
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            doors = [word for word in words if "=" not in word]
            assert all(re.search(rf"^{door}:", makefile, re.MULTILINE) for door in doors)
        elif program == "python" and not words[0].startswith("-"):
            assert (ROOT / words[0]).is_file()
        else:
            assert program in {"endodoi-train", "python"}


@pytest.mark.parametrize(
    "example",
    [example for example in CONSOLES if not example.long],
    ids=lambda example: example.name,
)
def test_commands_of_a_page_run(
    example: Example,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if example.needs:
        pytest.skip(f"not installed: {', '.join(example.needs)}")
    monkeypatch.chdir(tmp_path)
    ran = 0
    for command in commands(example.source):
        program, *words = shlex.split(BEFORE.sub("", command))
        if program == "endodoi":
            assert main(words) == 0, command
            ran += 1
    assert ran, "only commands of others: mark it as long"
    assert capsys.readouterr().out


def test_the_picture_of_the_readme_is_what_the_command_below_it_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [picture] = re.findall(r"^!\[.*\]\((.*)\)$", text, re.MULTILINE)
    [command] = re.findall(r"`endodoi (show .*)` draws it", text)
    assert main(shlex.split(command)) == 0
    drawn = (tmp_path / "board.svg").read_text(encoding="utf-8")
    assert drawn.strip() == (ROOT / picture).read_text(encoding="utf-8").strip()


def test_a_literal_that_is_not_the_value_is_an_error() -> None:
    run_python("x = 3\nx + 1  # 4\nx  # a remark\n", {}, "page")
    with pytest.raises(AssertionError, match="page: x is 3, not 4"):
        run_python("x = 3\nx  # 4\n", {}, "page")


def test_commands_are_read_as_a_shell_reads_them() -> None:
    block = "endodoi show  # a remark\n\nendodoi simulate \\\n  --games 9 > out.txt\nlearn &\n"
    assert list(commands(block)) == ["endodoi show", "endodoi simulate    --games 9", "learn"]
