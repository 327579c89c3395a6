"""Scripts that complete the command in a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from endodoi.cli import main
from endodoi.completion import SHELLS

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("shtab")


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_knows_commands_options_and_words(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script(shell, capsys)
    for word in ("simulate", "doctor", "seeds-per-pit", "cross-endodoi", "parity", "gumbel"):
        assert word in text
    program = shutil.which(shell)
    if program is not None:
        done = subprocess.run([program, "-n"], input=text, text=True, check=False, timeout=60)
        assert done.returncode == 0


#: Words of a line, and what stands for the last of them.
LINES = [
    (["endodoi", "sim"], {"simulate"}),
    (["endodoi", "tables", ""], {"build", "verify", "info"}),
    (["endodoi", "simulate", "--seeds"], {"--seeds-per-pit"}),
    (["endodoi", "simulate", "--variant", ""], {"en-dodoi", "en-gehe", "cross-endodoi"}),
    (["endodoi", "simulate", "--south", "gr"], {"greedy"}),
    (["endodoi", "tables", "info", "en-d"], {"en-dodoi-2x4.edt"}),
    (["endodoi", "completion", "f"], {"fish"}),
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(("words", "expected"), LINES)
def test_bash_completes_the_word_before_the_cursor(
    words: list[str], expected: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "en-dodoi-2x4.edt").touch()
    (tmp_path / "endodoi.bash").write_text(script("bash", capsys), encoding="utf-8")
    program = (
        "source endodoi.bash\n"
        'function=$(complete -p endodoi | sed "s/.*-F \\([^ ]*\\).*/\\1/")\n'
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
        '"$function" endodoi "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    command = ["bash", "-c", program, "bash", *words]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) - {"-h", "--help"} == expected


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
@pytest.mark.parametrize(("words", "expected"), LINES)
def test_fish_completes_the_word_before_the_cursor(
    words: list[str], expected: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "en-dodoi-2x4.edt").touch()
    (tmp_path / "endodoi.fish").write_text(script("fish", capsys), encoding="utf-8")
    program = f"source endodoi.fish; complete -C '{' '.join(words)}'"
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == expected


def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'endodoi[completion]'" in capsys.readouterr().err


def test_other_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "zhs"])
    assert "(did you mean zsh?)" in capsys.readouterr().err
