"""Reductions in Triton: neutral numbers of all types, and equal to the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import LoweringError
from fuseloom.stitch.gpu.triton_check import triton_errors
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.kernel_cases import StitchedCase
from fuseloom.stitch.phase_values import ElementNumber, KernelPhase, PhaseReduction
from fuseloom.stitch.shapes import ELEMENTS, TensorShape
from fuseloom.stitch.triton import tiles as triton_tiles
from fuseloom.stitch.triton.reductions import TileAccumulator

from ..c.test_scalars import INTEGERS
from ..stitched_modules import COMBINERS, GraphMaker
from .triton_kernels import SMALL_TILES, cases_of, with_nan


def accumulator(element: str, opcode: str, start: float = 0) -> TileAccumulator:
    one = ElementNumber(start, element)
    operation = DenseOperation("y", "reduce", TensorShape(element, ()), ("x", "zero"))
    reduction = PhaseReduction(opcode, (), one)
    return TileAccumulator(KernelPhase(operation, (), (), (one,), one, reduction, ()))


@pytest.mark.parametrize("element", INTEGERS)
def test_neutral_numbers(element: str) -> None:
    limits = np.iinfo(ELEMENTS[element])
    for other in (limits.min, -1 if limits.min else 5, 0, 7, limits.max):
        for opcode in ("maximum", "minimum", "and", "or", "xor"):
            neutral = int(accumulator(element, opcode).neutral_number)
            assert limits.min <= neutral <= limits.max
            made = {
                "maximum": max(neutral, other), "minimum": min(neutral, other),
                "and": neutral & other, "or": neutral | other, "xor": neutral ^ other,
            }[opcode]  # fmt: skip
            assert made == other


def test_a_start_that_changes_nothing_is_left_out() -> None:
    assert accumulator("f32", "add", 0).start == ()
    assert len(accumulator("f32", "add", 1).start) == 1
    assert accumulator("f64", "maximum", float("-inf")).start == ()
    assert accumulator("pred", "add", 0).opcode == "or"


def test_bits_of_floats_are_not_combined() -> None:
    with pytest.raises(LoweringError, match="reduction by xor of f32"):
        accumulator("f32", "xor")


def cases(prefix: str) -> list[StitchedCase]:
    made: list[StitchedCase] = []
    for element in ("f32", "f64", "bf16", "s8", "u16", "s32", "u64", "pred"):
        floats = element in ("f32", "f64", "bf16")
        for name in list(COMBINERS)[: 4 if floats else 7]:
            for axis in (0, 1):
                graph = GraphMaker(element)
                x, start = graph.parameter(6, 10), graph.parameter()
                dims = ((10,), (6,))[axis]
                graph.add("reduce", dims, x, start, dimensions=(axis,), to_apply=name)
                rng = np.random.default_rng(3)
                if floats:
                    value = np.round(rng.standard_normal((6, 10)) * 4) / 4
                    value = with_nan(value) if name in ("largest", "least") else value
                else:
                    value = rng.integers(0, 2 if element == "pred" else 100, (6, 10))
                dtype = ELEMENTS[element]
                inputs = {x: value.astype(dtype), start: np.asarray(1, dtype)}
                with np.errstate(all="ignore"):
                    made += cases_of(
                        graph.module(), inputs, prefix=f"{prefix}_{element}_{name}_{axis}"
                    )  # fmt: skip
    return made


@pytest.mark.deep
def test_all_reductions_of_all_types(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = cases("whole")
    for name, value in SMALL_TILES.items():
        monkeypatch.setattr(triton_tiles, name, value)
    parts = cases("parts")
    assert not any("for first" in case.code.text for case in whole)
    assert sum("for first" in case.code.text for case in parts) > 50
    for case, error in zip([*whole, *parts], triton_errors([*whole, *parts]), strict=True):
        assert error <= (1e-2 if "bf16" in case.code.function else 1e-6), case.code.function
