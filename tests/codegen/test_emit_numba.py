"""Routines as Python: as text that runs as it is, and as numba compiles it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from fuseloom.codegen import compile as compiling
from fuseloom.codegen.compile import Backend
from fuseloom.contraction.shipped import SHIPPED
from tests.contraction.kernels.nests import C, D, check_all, compiled, smallest, solved


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A numba that compiles nothing."""
    module: Any = ModuleType("numba")
    module.__version__ = "none"

    def njit(*_: Any, **__: Any) -> Callable[[Any], Any]:
        return lambda function: function

    module.njit = njit
    monkeypatch.setitem(sys.modules, "numba", module)
    monkeypatch.setattr(compiling, "LOADED", {})


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.usefixtures("plain")
def test_solutions_of_shipped_networks_as_plain_python(name: str) -> None:
    tree = smallest(name)
    check_all(compiled(solved(tree, 24), tree, backend=Backend.NUMBA), tree, (0.4,))


@pytest.mark.parametrize(
    ("name", "levels"), [("running example", {"A": (D, C, C)}), ("MTTKRP", {"B": (D, D)})]
)
def test_solutions_of_shipped_networks_in_numba(name: str, levels: dict) -> None:
    tree = smallest(name)
    nest, *_, nary, unfused = solved(tree, 1)
    made = compiled([nest, nary, unfused], tree, levels, Backend.NUMBA)
    assert made[0].built.backend is Backend.NUMBA
    check_all(made, tree, (0.5, 0.15))
