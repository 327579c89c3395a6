"""The reference of the Python package."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import endodoi as ed

pdoc = pytest.importorskip("pdoc")

import reference  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def test_the_pages_hold_every_public_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reference.main([str(tmp_path)]) == 0
    there, missing = reference.modules()
    assert {"endodoi", "endodoi.arena", "endodoi.policies", "endodoi.errors"} <= set(there)
    assert len(there) + len(missing) == len({*ed.MODULES, *reference.OTHERS}) + 1
    for name in there:
        assert (tmp_path / f"{name.replace('.', '/')}.html").is_file()
    page = (tmp_path / "endodoi.html").read_text(encoding="utf-8")
    assert "observation" in page
    assert 'id="VectorEnv.step"' in page
    assert 'id="Position.play"' in page
    said = capsys.readouterr().out.splitlines()
    assert said == [*missing, f"{tmp_path}: {len(there)} modules"]


def test_what_has_no_docstring_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("shown")
    exec(  # noqa: S102
        "class Bare:\n"
        "    '''A class.'''\n"
        "    def told(self): 'Tell.'\n"
        "    def untold(self): pass\n"
        "def silent(): pass\n",
        vars(module),
    )
    for name in ("Bare", "silent"):
        getattr(module, name).__module__ = "shown"
    monkeypatch.setitem(sys.modules, "shown", module)
    assert list(reference.undocumented(pdoc.doc.Module(module))) == [
        "shown.Bare.untold has no docstring",
        "shown.silent has no docstring",
    ]
