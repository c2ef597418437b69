"""The functions of ALUs, in ``float32``, on one value and on slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int

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


(
    EXP,
    LOG,
    RSQRT,
    SIGMOID,
    GELU,
    SIN,
    COS,
    MAX,
    SCALAR_ADD,
    SCALAR_MUL,
    SCALAR_DIV,
    SQRT,
    TANH,
    ABS,
    SIGN,
    FLOOR,
    CEIL,
    TRUNC,
    ROUND,
    ERF,
    LOG1P,
    EXPM1,
) = range(22)
UNARY = {
    "exp": EXP,
    "log": LOG,
    "rsqrt": RSQRT,
    "sigmoid": SIGMOID,
    "gelu": GELU,
    "sqrt": SQRT,
    "tanh": TANH,
    "abs": ABS,
    "sin": SIN,
    "cos": COS,
    "sign": SIGN,
    "floor": FLOOR,
    "ceil": CEIL,
    "trunc": TRUNC,
    "round": ROUND,
    "erf": ERF,
    "log1p": LOG1P,
    "expm1": EXPM1,
    "max": MAX,
    "relu": MAX,
    "scalaradd": SCALAR_ADD,
    "scalarmul": SCALAR_MUL,
    "scalardiv": SCALAR_DIV,
}
SQRT_2 = math.sqrt(2)


@inline
def function(fn: Int, a: Any, c: Any) -> Any:
    """A function of one value; transcendental ones in double precision, then rounded."""
    one = np.float32(1)
    if fn == MAX:
        return c if c > a or c != c else a
    if fn == SCALAR_ADD:
        return a + c
    if fn == SCALAR_MUL:
        return a * c
    if fn == SCALAR_DIV:
        return a / c
    if fn == EXP:
        return np.float32(math.exp(np.float64(a)))
    if fn == LOG:
        d = np.float64(a)
        return np.float32(math.log(d) if d > 0 else -math.inf if d == 0 else math.nan)
    if fn == RSQRT:
        return one / np.sqrt(a)
    if fn == SIGMOID:
        return one / (one + np.float32(math.exp(-np.float64(a))))
    if fn == GELU:
        d = np.float64(a)
        return np.float32(0.5 * d * (1 + math.erf(d / SQRT_2)))
    if fn == SQRT:
        return np.sqrt(a)
    if fn == TANH:
        return np.float32(math.tanh(np.float64(a)))
    if fn == ABS:
        return abs(a)
    if fn == SIN:
        return np.float32(math.sin(np.float64(a)))
    if fn == COS:
        return np.float32(math.cos(np.float64(a)))
    if fn == SIGN:
        return np.sign(a) + np.float32(0)  # compiled, the sign of -0 is -0; numpy says 0
    if fn == FLOOR:
        return np.floor(a)
    if fn == CEIL:
        return np.ceil(a)
    if fn == TRUNC:
        return np.trunc(a)
    if fn == ROUND:
        return np.rint(a)
    if fn == ERF:
        return np.float32(math.erf(np.float64(a)))
    if fn == LOG1P:
        d = np.float64(a)
        return np.float32(math.log1p(d) if d > -1 else -math.inf if d == -1 else math.nan)
    return np.float32(math.expm1(np.float64(a)))
