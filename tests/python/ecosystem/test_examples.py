"""The examples of the documentation, of the modules that need the libraries."""

from __future__ import annotations

import doctest
import importlib

import pytest

pytestmark = pytest.mark.ecosystem


@pytest.mark.parametrize("name", ["endodoi.rllib", "endodoi.sb3"])
def test_examples_of_the_documentation_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted >= 3
