"""Scalar operations in C mean what the interpreter says, for all types, at the ends of ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import LoweringError
from fuseloom.stitch.c.scalars import number_text, scalar_text
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.shapes import ELEMENTS
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs

from ..stitched_modules import GraphMaker, fused

FLOATS = ("f32", "f64", "bf16")
INTEGERS = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")
OF_FLOATS = (
    "abs", "negate", "sign", "exponential", "exponential-minus-one", "log", "log-plus-one", "sqrt",
    "rsqrt", "cbrt", "sine", "cosine", "tan", "tanh", "sinh", "cosh", "asinh", "acosh", "atanh",
    "acos", "asin", "erf", "logistic", "ceil", "floor", "round-nearest-even", "round-nearest-afz",
)  # fmt: skip
OF_TWO_FLOATS = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "remainder",
    "maximum",
    "minimum",
    "power",
    "atan2",
)
OF_TWO_INTEGERS = (
    "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
    "shift-left", "shift-right-arithmetic", "shift-right-logical",
)  # fmt: skip
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
SIZE = 640


def values(element: str, rng: np.random.Generator, size: int = SIZE) -> np.ndarray[Any, Any]:
    """Numbers of all sizes, and the ends of the range."""
    dtype = ELEMENTS[element]
    if element == "pred":
        return rng.integers(0, 2, size).astype(dtype)
    if dtype.kind == "f":
        ends = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e-30, -1e-30]
        made = rng.standard_normal(size) * 10.0 ** rng.integers(-3, 3, size)
        made[:: size // 40] = rng.choice(ends, len(made[:: size // 40]))
        return made.astype(dtype)
    limits = np.iinfo(dtype)
    made = rng.integers(limits.min, limits.max, size, dtype, endpoint=True)
    small = rng.integers(0 if limits.min == 0 else -9, 70, size)
    ends = np.array([limits.min, limits.max, 0, 1], dtype)
    mixed = np.where(rng.random(size) < 0.5, small.astype(dtype), made)
    return np.where(rng.random(size) < 0.1, rng.choice(ends, size), mixed).astype(dtype)


def graph_of(element: str, size: int = SIZE) -> GraphMaker:
    """All operations of a type, as results."""
    graph = GraphMaker(element)
    dims = (size,)
    x, y, z = (graph.parameter(size) for _ in range(3))
    which = graph.parameter(size, element="pred")
    floats = element in FLOATS
    two = OF_TWO_FLOATS if floats else OF_TWO_INTEGERS
    one = OF_FLOATS if floats else ("abs", "negate", "sign", "not")
    if element == "pred":
        one, two = ("not",), ("and", "or", "xor", "maximum", "minimum")
    for opcode in one:
        graph.add(opcode, dims, x)
    for opcode in two:
        graph.add(opcode, dims, x, y)
    if element != "pred":
        graph.add("clamp", dims, y, x, z)
    for direction in DIRECTIONS:
        graph.add("compare", dims, x, y, element="pred", direction=direction)
    graph.add("select", dims, which, x, y)
    for other in (*FLOATS, *INTEGERS, "pred"):
        graph.add("convert", dims, x, element=other)
    if floats:
        graph.add("is-finite", dims, x, element="pred")
    if element == "f32":
        graph.add("reduce-precision", dims, x, exponent_bits=8, mantissa_bits=7)
    bits = {"f32": ("s32", "u32"), "f64": ("s64", "u64"), "s32": ("f32", "u32"), "u64": ("f64",)}
    for other in bits.get(element, ()):
        graph.add("bitcast-convert", dims, x, element=other)
    return graph


@pytest.fixture(scope="module")
def programs() -> dict[str, StitchedProgram]:
    made = {
        element: fused(graph_of(element).module(), prefix=element)
        for element in (*FLOATS, *INTEGERS, "pred")
    }
    compile_programs(list(made.values()))
    return made


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS, "pred"])
def test_elements_are_those_of_the_interpreter(
    element: str, programs: dict[str, StitchedProgram]
) -> None:
    program = programs[element]
    assert program.interpreted == {}
    rng = np.random.default_rng(5)
    inputs = {
        one.name: values(one.array.element, rng) for one in program.module.main.parameters
    }  # fmt: skip
    main = program.module.main
    inputs = {name: rounded(main.by_name[name].array.element, x) for name, x in inputs.items()}
    found, wanted = program(inputs), evaluate(program.module, inputs)
    for name, a, b in zip(main.outputs, found, wanted, strict=True):
        assert a.dtype == b.dtype, name
        if a.dtype.kind != "f":
            assert np.array_equal(a, b), name
            continue
        tolerance = {"bf16": 1e-2, "f32": 2e-6, "f64": 1e-13}[main.by_name[name].array.element]
        assert np.array_equal(np.isnan(a), np.isnan(b)), name
        with np.errstate(all="ignore"):
            assert np.allclose(a, b, rtol=tolerance, atol=1e-37, equal_nan=True), name


def rounded(element: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    from fuseloom.stitch.bfloat16 import rounded_to_bf16

    return rounded_to_bf16(value) if element == "bf16" else value


def test_constants() -> None:
    assert number_text(-0.5, "f64") == "(-0x1.0000000000000p-1)"
    assert number_text(float("nan"), "f32") == "NAN"
    assert number_text(True, "pred") == "1"
    assert number_text(-(2**63), "s64") == "INT64_MIN"
    assert number_text(2**64 - 1, "u64") == "UINT64_C(18446744073709551615)"
    assert number_text(200, "u8") == "UINT32_C(200)"


def test_negative_constants_are_negated() -> None:
    graph = GraphMaker()
    low = graph.add("constant", (), literal=np.float32(-2.5))
    opposite = graph.add("negate", (), low)
    wide = graph.add("broadcast", (3,), opposite, dimensions=())
    x = graph.parameter(3)
    graph.add("subtract", (3,), wide, graph.add("subtract", (3,), x, graph.add(
        "broadcast", (3,), low, dimensions=())))  # fmt: skip
    (made,) = fused(graph.module())({x: np.float32([1, 2, 3])})
    assert made.tolist() == [-1.0, -2.0, -3.0]


@pytest.mark.parametrize(
    ("opcode", "element"),
    [("add", "f16"), ("add", "c64"), ("popcnt", "s32"), ("reduce-precision", "f64")],
)
def test_what_c_has_not_is_refused(opcode: str, element: str) -> None:
    attributes = {"exponent_bits": 5, "mantissa_bits": 3}
    with pytest.raises(LoweringError):
        scalar_text(opcode, [("a", element), ("b", element)], element, attributes)


def test_the_total_order_of_floats_is_refused() -> None:
    more = {"direction": "LT", "type": "TOTALORDER"}
    with pytest.raises(LoweringError, match="no C for compare of f32, f32"):
        scalar_text("compare", [("a", "f32"), ("b", "f32")], "pred", more)
    assert "<" in scalar_text("compare", [("a", "s32"), ("b", "s32")], "pred", more)
