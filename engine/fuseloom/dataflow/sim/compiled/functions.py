"""The functions of ALUs, in ``float32``, on one value and on slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int
from fuseloom.program.functions import FUNCTIONS, Op

ADD, SUB, MUL, DIV, LARGER = range(5)
BINARY = {"add": ADD, "sub": SUB, "mul": MUL, "elemmul": MUL, "div": DIV, "max": LARGER}


@inline
def larger(a: Any, b: Any) -> Any:
    """The larger of two values, the first of equal ones; NaN wins wherever it stands."""
    return b if b > a or b != b else a


@inline
def apply(fn: Int, a: Any, b: Any) -> Any:
    if fn == MUL:
        return a * b
    if fn == ADD:
        return a + b
    if fn == SUB:
        return a - b
    if fn == LARGER:
        return b if b > a or b != b else a
    return a / b


@inline
def slices(fn: Int, o: Any, a: Any, b: Any) -> None:
    if fn == MUL:
        for e in range(len(o)):
            o[e] = a[e] * b[e]
    elif fn == ADD:
        for e in range(len(o)):
            o[e] = a[e] + b[e]
    elif fn == SUB:
        for e in range(len(o)):
            o[e] = a[e] - b[e]
    elif fn == LARGER:
        for e in range(len(o)):
            o[e] = b[e] if b[e] > a[e] or b[e] != b[e] else a[e]
    else:
        for e in range(len(o)):
            o[e] = a[e] / b[e]


@inline
def slice_right(fn: Int, o: Any, a: Any, b: Any) -> None:
    """One left operand for all."""
    if fn == MUL:
        for e in range(len(o)):
            o[e] = a * b[e]
    elif fn == ADD:
        for e in range(len(o)):
            o[e] = a + b[e]
    elif fn == SUB:
        for e in range(len(o)):
            o[e] = a - b[e]
    elif fn == LARGER:
        for e in range(len(o)):
            o[e] = b[e] if b[e] > a or b[e] != b[e] else a
    else:
        for e in range(len(o)):
            o[e] = a / b[e]


@inline
def slice_left(fn: Int, o: Any, a: Any, b: Any) -> None:
    """One right operand for all."""
    if fn == MUL:
        for e in range(len(o)):
            o[e] = a[e] * b
    elif fn == ADD:
        for e in range(len(o)):
            o[e] = a[e] + b
    elif fn == SUB:
        for e in range(len(o)):
            o[e] = a[e] - b
    elif fn == LARGER:
        for e in range(len(o)):
            o[e] = b if b > a[e] or b != b else a[e]
    else:
        for e in range(len(o)):
            o[e] = a[e] / b


MAX, SCALAR_ADD, SCALAR_MUL, SCALAR_DIV = range(4)
UNARY = {
    "max": MAX,
    "scalaradd": SCALAR_ADD,
    "scalarmul": SCALAR_MUL,
    "scalardiv": SCALAR_DIV,
    **{op.value: number for number, op in enumerate(FUNCTIONS, 4)},
}


@inline
def _with_constant(fn: Int, a: Any, c: Any) -> Any:
    if fn == MAX:
        return c if c > a or c != c else a
    if fn == SCALAR_ADD:
        return a + c
    if fn == SCALAR_MUL:
        return a * c
    return a / c


def _also(rest: Any, number: int, kernel: Any) -> Any:
    """A helper that computes one more function than another helper does."""
    own = inline(kernel)

    def function(fn: Int, a: Any, c: Any) -> Any:
        if fn == number:
            return own(a)
        return rest(fn, a, c)

    return inline(function)


function: Any = _with_constant
"""A function of one value and the node's constant, by its number in :data:`UNARY`."""
for _op, _row in FUNCTIONS.items():
    function = _also(function, UNARY[_op.value], _row.kernel)


def numbered(fn: str, constant: float) -> tuple[int, float]:
    """A unary function's number, and the constant in float32.

    A ReLU is the maximum with 0, which kernels compute of many values at once.
    """
    return (MAX, 0.0) if fn == Op.RELU.value else (UNARY[fn], float(np.float32(constant)))
