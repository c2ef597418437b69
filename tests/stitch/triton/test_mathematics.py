"""Mathematics in Triton at numbers where formulas fail: ends of ranges, signs of zero, NaN."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.gpu.triton_check import run_triton
from fuseloom.stitch.triton.mathematics import ANGLES, EXPONENTIALS

from ..c.test_scalars import OF_FLOATS
from ..stitched_modules import GraphMaker
from .triton_kernels import cases_of

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, 1e-8, -1e-8, 1e-30, 20.0,
    -20.0, 88.0, -88.0, 709.0, -745.0, 1e10, -1e10, 1e30, 1e300, -1e300, 1e-300, np.inf, -np.inf,
    np.nan, np.pi, 12345.678, 0.66, 2.4142, 1 - 1e-7, 1 + 1e-7,
)  # fmt: skip
PAIRS = [*product(SPECIAL, SPECIAL)]
OF_TWO = ("power", "remainder", "atan2", "divide")
TOLERANCE = {"f32": 2e-6, "f64": 4e-13}


def graph_of(element: str, opcodes: Sequence[str], *given: int) -> GraphMaker:
    """Operations on operands of so many elements each."""
    graph = GraphMaker(element)
    operands = [graph.parameter(size) for size in given]
    for opcode in opcodes:
        graph.add(opcode, given[:1], *operands)
    return graph


@pytest.mark.deep
def test_special_numbers() -> None:
    cases = []
    with np.errstate(all="ignore"):
        for element, dtype in (("f32", np.float32), ("f64", np.float64)):
            for opcodes, values in ((OF_FLOATS, [*product(SPECIAL)]), (OF_TWO, PAIRS)):
                columns = np.array(values).astype(dtype).T.copy()
                module = graph_of(element, opcodes, *(len(column) for column in columns)).module()
                names = [one.name for one in module.main.parameters]
                inputs = dict(zip(names, columns, strict=True))
                settings = FusionSettings(enough_blocks=1)
                prefix = f"{element}_{len(columns)}"
                cases += cases_of(module, inputs, settings=settings, prefix=prefix)
    assert sum(len(case.expected) for case in cases) == 2 * (len(OF_FLOATS) + len(OF_TWO))
    for case, found in zip(cases, run_triton(cases), strict=True):
        assert case.code.phased is not None
        for operation, a, b in zip(case.code.phased.outputs, found, case.expected, strict=True):
            name = (operation.opcode, operation.array.element)
            # Below, float32 of a GPU is rounded to 0 by some of its instructions.
            least = 1e-37 if operation.array.element == "f32" else 1e-307
            with np.errstate(all="ignore"):
                same = np.isclose(a, b, rtol=TOLERANCE[name[1]], atol=least, equal_nan=True)
            wrong = np.flatnonzero(~same)
            assert not wrong.size, (name, wrong[:4], a[wrong[:4]], b[wrong[:4]])
            zeros = (a == 0) & (b == 0)
            if name[0] in ("atan2", "remainder", "sign", "round-nearest-even", "ceil", "sinh"):
                assert np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros])), name


def test_functions_are_written_once() -> None:
    names = [
        line[4 : line.index("(")]
        for line in (EXPONENTIALS + ANGLES).splitlines()
        if line.startswith("def ")
    ]
    assert len(names) == len({*names}) > 15
