"""The printer: what it prints is read as the same module."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.hlo.printer import print_hlo
from fuseloom.stitch.hlo.reader import read_hlo
from tests.stitch.meaning.cases import CASES


def literals(module: DenseModule) -> list[np.ndarray]:
    return [
        one.literal
        for computation in module.computations.values()
        for one in computation.operations
        if one.literal is not None
    ]


def verify(module: DenseModule) -> None:
    text = print_hlo(module)
    again = read_hlo(text)
    assert again == module
    assert list(again.computations) == list(module.computations)
    for before, after in zip(literals(module), literals(again), strict=True):
        np.testing.assert_array_equal(before, after, strict=True)
    assert print_hlo(again) == text


@pytest.mark.parametrize("name", EXAMPLES)
def test_models(name: str) -> None:
    verify(read_example(name))


def test_single_operations() -> None:
    for one in CASES.values():
        verify(read_hlo(one.text))


def test_layouts_are_printed_where_bitcasts_need_them() -> None:
    text = """HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3]{0,1} negate(x)
  b = f32[3,2]{1,0} bitcast(y)
  c = f32[6] bitcast(b)
  ROOT z = f32[6] add(c, c)
}
"""
    module = read_hlo(text)
    by_name = module.main.by_name
    assert by_name["b"].attributes == {"operand_layout": (0, 1), "layout": (1, 0)}
    assert by_name["c"].attributes == {}
    assert print_hlo(module) == text
    verify(module)
