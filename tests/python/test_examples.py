"""The example programs where the library that they use is missing."""

import subprocess
import sys

import pytest

RUN = """\
import runpy, sys
sys.modules[sys.argv[2]] = None
runpy.run_module("endodoi.examples." + sys.argv[1], run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("example", "library", "extra"),
    [
        ("fine_tune", "torch", "torch"),
        ("ppo_selfplay", "torch", "torch"),
        ("rllib_self_play", "ray", "rllib"),
        ("sb3_maskable_ppo", "torch", "sb3"),
        ("torchrl_ppo", "torch", "torchrl"),
    ],
)
def test_without_its_library_an_example_names_the_extra(
    example: str, library: str, extra: str
) -> None:
    command = [sys.executable, "-c", RUN, example, library]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    wanted = f"this example cannot import {library}: pip install 'endodoi[{extra}]'\n"
    assert done.stderr == wanted
