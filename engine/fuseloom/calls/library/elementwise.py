"""Functions element by element: of vectors by parts, of matrices by tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuseloom.calls.data_kinds import DataKind, Matrix, Vector
from fuseloom.calls.library.library_call import (
    VECTORISED,
    Array,
    Examples,
    LibraryCall,
    two_extents,
)

VECTORS = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { INPUTS }
}"""
VECTOR_PART = "{ start: i, len: n }"
MATRICES = """
n: Symbolic
m: Symbolic
for i in [0, out.rows, n] {
  for j in [0, out.cols, m] {
    produces { out { row: i, col: j, rows: n, cols: m } }
    when consumes { INPUTS }
  }
}"""
MATRIX_PART = "{ row: i, col: j, rows: n, cols: m }"
TRANSPOSED = MATRICES.replace("INPUTS", "a { row: j, col: i, rows: m, cols: n }")


def relu(a: Array, out: Array) -> None:
    """The larger of each element and 0."""
    np.maximum(a, 0, out=out)


def sigmoid(a: Array, out: Array) -> None:
    """The logistic function of each element."""
    np.negative(a, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.reciprocal(out, out=out)


def maximum(a: Array, b: Array, out: Array) -> None:
    """The larger one of each two elements."""
    np.maximum(a, b, out=out)  # by position, NumPy warns of it


def minimum(a: Array, b: Array, out: Array) -> None:
    """The smaller one of each two elements."""
    np.minimum(a, b, out=out)


def axpy(alpha: float, x: Array, y: Array, out: Array) -> None:
    """A vector times a number plus another vector, as BLAS has it."""
    np.multiply(x, alpha, out=out)
    np.add(out, y, out=out)


def multiply_add(a: Array, b: Array, c: Array, out: Array) -> None:
    """The product of two vectors plus a third."""
    np.multiply(a, b, out=out)
    np.add(out, c, out=out)


def select(condition: Array, a: Array, b: Array, out: Array) -> None:
    """Elements of one vector where a condition holds, of another elsewhere."""
    np.copyto(out, b)
    np.copyto(out, a, where=condition)


def scale(a: Array, factor: float, out: Array) -> None:
    """A matrix times a number."""
    np.multiply(a, factor, out=out)


def transpose(a: Array, out: Array) -> None:
    """The transpose of a matrix."""
    np.copyto(out, a.T)


def _vectors(*names: str, **values: Any) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        count = int(rng.integers(7, 30))
        data = {name: rng.uniform(0.5, 4.0, count) for name in names}
        return {**values, **data, "out": np.zeros(count)}

    return made


def _signed(*names: str, **values: Any) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        count = int(rng.integers(7, 30))
        data = {name: rng.normal(size=count) for name in names}
        return {**values, **data, "out": np.zeros(count)}

    return made


def _matrices(*names: str, **values: Any) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        shape = two_extents(rng)
        data = {name: rng.normal(size=shape) for name in names}
        return {**values, **data, "out": np.zeros(shape)}

    return made


def _condition(rng: np.random.Generator) -> dict[str, Any]:
    made = _signed("a", "b")(rng)
    return {**made, "condition": rng.random(len(made["a"])) < 0.5}


def _transposed(rng: np.random.Generator) -> dict[str, Any]:
    shape = two_extents(rng)
    return {"a": rng.normal(size=shape), "out": np.zeros(shape[::-1])}


def vector_call(
    name: str,
    text: str,
    function: Callable[..., Any],
    names: str = "a",
    *,
    parameters: str = "",
    examples: Examples | None = None,
    tolerance: float = 0.0,
    **kinds: DataKind,
) -> LibraryCall:
    """A row for a function of vectors, element by element.

    Parameters
    ----------
    names : str
        The inputs, with spaces between them.
    parameters : str, optional
        All parameters in order; by default the inputs and ``out``.

    Examples
    --------
    >>> import numpy as np
    >>> row = vector_call("square", "The square of each element.", np.square)
    >>> row.parameters, sorted(row.kinds)
    (('a', 'out'), ['a', 'out'])
    """
    data = names.split()
    inputs = ", ".join(f"{one} {VECTOR_PART}" for one in data)
    return LibraryCall(
        name, text, function, VECTORS.replace("INPUTS", inputs),
        tuple(parameters.split()) or (*data, "out"),
        {one: kinds.get(one, Vector()) for one in (*data, "out")},
        examples or _signed(*data), tolerance,
    )  # fmt: skip


def matrix_call(
    name: str,
    text: str,
    function: Callable[..., Any],
    names: str = "a",
    *,
    parameters: str = "",
    examples: Examples | None = None,
    tolerance: float = 0.0,
) -> LibraryCall:
    """A row for a function of matrices, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> row = matrix_call("square", "The square of each element.", np.square)
    >>> row.annotated.annotation.symbolic
    ('n', 'm')
    """
    data = names.split()
    inputs = ", ".join(f"{one} {MATRIX_PART}" for one in data)
    return LibraryCall(
        name, text, function, MATRICES.replace("INPUTS", inputs),
        tuple(parameters.split()) or (*data, "out"),
        dict.fromkeys((*data, "out"), Matrix()), examples or _matrices(*data), tolerance,
    )  # fmt: skip


_positive, _two_positive = _vectors("a"), _vectors("a", "b")
_last_bit = VECTORISED

ROWS = (
    vector_call("absolute", "The absolute value of each element.", np.absolute),
    vector_call("negative", "Each element with the other sign.", np.negative),
    vector_call("square", "The square of each element.", np.square),
    vector_call("sqrt", "The square root of each element.", np.sqrt, examples=_positive),
    vector_call("reciprocal", "1 divided by each element.", np.reciprocal, examples=_positive),
    vector_call("floor", "The largest integer up to each element.", np.floor),
    vector_call("exp", "The exponential of each element.", np.exp, tolerance=_last_bit),
    vector_call(
        "log", "The natural logarithm of each element.", np.log,
        examples=_positive, tolerance=_last_bit,
    ),
    vector_call("sin", "The sine of each element.", np.sin, tolerance=_last_bit),
    vector_call("cos", "The cosine of each element.", np.cos, tolerance=_last_bit),
    vector_call("tanh", "The hyperbolic tangent of each element.", np.tanh, tolerance=_last_bit),
    vector_call("radians", "Degrees as radians.", np.radians, tolerance=_last_bit),
    vector_call("relu", "The larger of each element and 0.", relu),
    vector_call("sigmoid", "The logistic function of each element.", sigmoid, tolerance=_last_bit),
    vector_call(
        "clip", "Each element, moved into an interval.", np.clip,
        parameters="a low high out", examples=_signed("a", low=-0.5, high=0.75),
    ),
    vector_call("add", "The sum of two vectors.", np.add, "a b"),
    vector_call("subtract", "The difference of two vectors.", np.subtract, "a b"),
    vector_call("multiply", "The product of two vectors, element by element.", np.multiply, "a b"),
    vector_call(
        "divide", "The quotient of two vectors, element by element.", np.divide, "a b",
        examples=_two_positive,
    ),
    vector_call("maximum", "The larger one of each two elements.", maximum, "a b"),
    vector_call("minimum", "The smaller one of each two elements.", minimum, "a b"),
    vector_call(
        "power", "Each element raised to the power of another.", np.power, "a b",
        examples=_two_positive, tolerance=_last_bit,
    ),
    vector_call(
        "arctan2", "The angle of each point (b, a).", np.arctan2, "a b", tolerance=_last_bit
    ),
    vector_call("hypot", "The length of each vector (a, b).", np.hypot, "a b",
                tolerance=_last_bit),
    vector_call(
        "axpy", "A vector times a number plus another vector, as BLAS has it.", axpy, "x y",
        parameters="alpha x y out", examples=_signed("x", "y", alpha=-1.5),
    ),
    vector_call(
        "multiply_add", "The product of two vectors plus a third.", multiply_add, "a b c"
    ),
    vector_call(
        "select", "Elements of one vector where a condition holds, of another elsewhere.",
        select, "condition a b", examples=_condition, condition=Vector(np.bool_),
    ),
    matrix_call("exp_matrix", "The exponential of each element.", np.exp, tolerance=_last_bit),
    matrix_call("tanh_matrix", "The hyperbolic tangent of each element.", np.tanh,
                tolerance=_last_bit),
    matrix_call("relu_matrix", "The larger of each element and 0.", relu),
    matrix_call("add_matrices", "The sum of two matrices.", np.add, "a b"),
    matrix_call("subtract_matrices", "The difference of two matrices.", np.subtract, "a b"),
    matrix_call(
        "multiply_matrices", "The product of two matrices, element by element.", np.multiply, "a b"
    ),
    matrix_call(
        "scale_matrix", "A matrix times a number.", scale,
        parameters="a factor out", examples=_matrices("a", factor=2.5),
    ),
    LibraryCall(
        "transpose", "The transpose of a matrix.", transpose, TRANSPOSED, ("a", "out"),
        {"a": Matrix(), "out": Matrix()}, _transposed,
    ),
)  # fmt: skip
"""The rows of this subject."""
