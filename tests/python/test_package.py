"""The package as a whole: import, contents, documentation."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import endodoi as ed

# Without the programs, and the modules whose libraries `make test-ecosystem` brings.
MODULES = [
    module.name
    for module in pkgutil.iter_modules(ed.__path__, "endodoi.")
    if not module.name.endswith(("__main__", "_core", ".rllib", ".sb3", ".torch"))
    and not module.name.startswith("endodoi.ray")
]


def test_a_fresh_shell_imports_the_package_with_its_ids_and_without_torch() -> None:
    program = (
        "import sys, endodoi, gymnasium;"
        "assert 'endodoi/EnGehe-v0' in gymnasium.registry;"
        "assert not {'torch', 'matplotlib', 'pettingzoo'} & set(sys.modules);"
        # Imported on first use: what is not needed costs no time.
        "assert not {'endodoi.simulation', 'endodoi.training'} & set(sys.modules);"
        "assert endodoi.simulate is sys.modules['endodoi.simulation'].simulate;"
        "assert {'simulate', 'arena', 'torch', 'Env'} <= set(dir(endodoi));"
        "print(endodoi.__version__)"
    )
    # Nothing of the environment but what finds the package where it is not installed.
    environment = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ed.__version__


def test_a_broken_torch_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('a wrong torch')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = "import endodoi as ed; print(len(ed.simulate(9, ruleset=ed.Ruleset())))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "9", done.stderr


def test_the_package_is_typed() -> None:
    folder = Path(inspect.getfile(ed)).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


def test_everything_public_is_there_and_documented() -> None:
    for name in ed.__all__:
        thing = getattr(ed, name)
        if name != "__version__":
            assert inspect.getdoc(thing), name
    for kind in (ed.Ruleset, ed.Position, ed.Sowing, ed.GameRecord, ed.VectorEnv, ed.Env):
        for name, member in vars(kind).items():
            if not name.startswith("_") and (
                callable(member) or inspect.isgetsetdescriptor(member)
            ):
                assert inspect.getdoc(member), f"{kind.__name__}.{name}"


@pytest.mark.parametrize("name", ["endodoi", *MODULES])
def test_examples_of_the_documentation_run(name: str) -> None:
    # The classes of the core belong to the package itself.
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted >= (10 if name == "endodoi" else 0)


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("pettingzoo", "pettingzoo"),
        ("ray", "ray"),
        ("rllib", "ray"),
        ("sb3", "stable_baselines3"),
        ("torch", "torch"),
    ],
)
def test_a_missing_library_is_told_by_the_name_of_its_extra(module: str, library: str) -> None:
    # An entry of None is how Python marks a module that cannot be imported.
    program = (
        "import sys, endodoi as ed\n"
        f"assert {library!r} not in sys.modules and {module!r} in dir(ed)\n"
        f"sys.modules[{library!r}] = None\n"
        f"try: ed.{module}\n"
        "except ed.MissingExtraError as error: print(error.extra, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith(f"{module} "), done.stderr
    assert f"pip install 'endodoi[{module}]'" in done.stdout
