"""Equations of the library: each means what its function computes."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.call_program import program_of_case
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.library.equations import EQUATIONS
from fuseloom.calls.pipelines import PipelineCase
from fuseloom.program import evaluate


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_mean_what_functions_compute(name: str) -> None:
    row = LIBRARY[name]
    arguments = row.example(3)
    row.function(*(arguments[x] for x in row.parameters))
    handles = [DataHandle(x, row.kinds[x]) if x in row.kinds else arguments[x]
               for x in row.parameters]  # fmt: skip
    given = {x: arguments[x] for x in row.kinds if x != "out"}
    case = PipelineCase([row.annotated(*handles)], given, arguments["out"])
    program = program_of_case(case).program
    (output,) = program.outputs
    found = evaluate(program, {x: arguments[x] for x in program.given})[output].dense()
    np.testing.assert_allclose(found, arguments["out"], rtol=2e-5, atol=2e-6)
