"""Products to estimate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, estimate
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.program import parse

PRODUCT = "A: {0}x{0} {1}\nX: {0}x{0} {1}\nT[i,j] = A[i,k] * X[k,j]"


def both(compilation: Compilation, data: Mapping[str, Any]) -> tuple[Estimate, Run]:
    run = simulate(compilation, data, engine="interpreter")
    assert run.check().ok
    return estimate(compilation, data), run


def compiled(text: str, schedule: str = "") -> Compilation:
    return compile_program(parse(text), schedule)


def near(expected: float, share: float) -> Any:
    return pytest.approx(expected, rel=share)
