"""Single operations as modules, with inputs; XLA computed their values.

``python -m benchmarks.stitch_examples --cases`` writes the values to ``case_values.npz``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.hlo import read_hlo
from tests.stitch.meaning.cases import arrays, elements, places, products
from tests.stitch.meaning.cases.operation_case import OperationCase

VALUES = Path(__file__).parent.with_name("case_values.npz")
TOLERANCES = {"f64": 1e-12, "f32": 1e-5, "c64": 1e-5, "f16": 2e-3, "bf16": 1e-2}

CASES: Mapping[str, OperationCase] = {
    name: one
    for make in (
        elements.elementwise, elements.conversions, arrays.shape_changes, arrays.reductions,
        arrays.ordering, products.products, products.normalization, places.indexing, places.control,
    )
    for name, one in make()
}  # fmt: skip


@lru_cache(maxsize=1)
def roots() -> Mapping[str, str]:
    """Opcodes of the operations that cases are about."""
    mains = {name: read_hlo(one.text).main for name, one in CASES.items()}
    return {name: main.by_name[main.root].opcode for name, main in mains.items()}


def cases_of(table: Iterable[str]) -> list[str]:
    """Cases about operations of a table."""
    opcodes = set(table)
    return [name for name, opcode in roots().items() if opcode in opcodes]


def untested(table: Iterable[str]) -> set[str]:
    """Operations of a table that no case is about."""
    return set(table) - set(roots().values())


@lru_cache(maxsize=1)
def case_values() -> Mapping[str, npt.NDArray[Any]]:
    with np.load(VALUES) as stored:
        return dict(stored)


def verify(name: str) -> None:
    """Compare the interpreter with XLA: floats to their precision, all else exactly."""
    one = CASES[name]
    got = one.results()
    wanted = [value for key, value in case_values().items() if key.rpartition("/")[0] == name]
    assert len(got) == len(wanted) > 0
    module = read_hlo(one.text)
    shape = module.main.by_name[module.main.root].shape
    for made, want, part in zip(got, wanted, getattr(shape, "parts", (shape,)), strict=True):
        assert made.dtype == want.dtype
        assert made.shape == want.shape
        if part.element in TOLERANCES:
            limit = TOLERANCES[part.element]
            np.testing.assert_allclose(made, want, rtol=limit, atol=limit)
        else:
            np.testing.assert_array_equal(made, want)
