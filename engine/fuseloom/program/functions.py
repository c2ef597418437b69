"""The operations of statements, and the one table of the functions of an element.

A function is a row of :class:`Op`: what the dense reference computes, what a machine computes in
float32, as NumPy and as a kernel, how far an error of its argument spreads, and its names.  All
else reads the table: the language, the reference, the bounds of the check, the golden models, the
kernels, SAM graphs, MLIR and PyTorch.  A new function is a new row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.program.float32 import NORMAL, SMALLEST
from fuseloom.program.late import LazyModule

special = LazyModule("scipy.special")

F32, F64 = np.float32, np.float64
Floats: TypeAlias = npt.NDArray[np.float64]
AtPole: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""The spread of a function with a pole, of the argument's relative error, the spread that the slope
gives, and the values."""
Spread: TypeAlias = Callable[[Floats, Floats, Floats, AtPole], Floats]
"""Bounds of |f(y) - f(x)| of the argument x, the values f(x), bounds of |y - x|, and for functions
with a pole what it does to them."""
OwnError: TypeAlias = Callable[[Floats, Floats, float], Floats]
"""Bounds of a machine's own error of the argument, the value, and a relative error."""

_MOST_EXPONENT = 700.0
"""Its exponential is a number; an argument that is wrong by more says nothing."""


def _limited(slope: float, most: float = math.inf) -> Spread:
    """The spread of a function of that slope at most, with values never further apart."""

    def spread(_x: Floats, _values: Floats, bounds: Floats, _at_pole: AtPole) -> Floats:
        # Of an argument that may be anything, the value may be NaN.
        return np.where(np.isinf(bounds), np.inf, np.minimum(slope * bounds, most))

    return spread


def _exponential(plus: float) -> Spread:
    """The spread of exp(x) less a constant."""

    def spread(_x: Floats, values: Floats, bounds: Floats, _at_pole: AtPole) -> Floats:
        found = (values + plus) * np.expm1(np.minimum(bounds, _MOST_EXPONENT))
        certain = np.isfinite(values) & (bounds <= _MOST_EXPONENT)
        return np.where(bounds == 0, 0.0, np.where(certain, found, np.inf))

    return spread


def _logarithm(plus: float) -> Spread:
    """The spread of the logarithm of x plus a constant."""

    def spread(x: Floats, values: Floats, bounds: Floats, at_pole: AtPole) -> Floats:
        share = bounds / np.abs(plus + x)
        return at_pole(share, np.maximum(share, -np.log1p(-below_pole(share))), values)

    return spread


def _root(x: Floats, values: Floats, bounds: Floats, at_pole: AtPole) -> Floats:
    share = bounds / np.abs(x)
    spread = values * share / (1.0 + np.sqrt(np.maximum(1.0 - share, 0.0)))
    # What underflow may have lost keeps its sign, so the root of it is a number.
    tiny = (bounds < NORMAL) & (values >= 0)
    share = np.where(tiny, 0.0, share)
    return np.where(tiny, np.sqrt(bounds), at_pole(share, spread, values))


def _reciprocal_root(x: Floats, values: Floats, bounds: Floats, at_pole: AtPole) -> Floats:
    share = bounds / np.abs(x)
    left = 1.0 - below_pole(share)
    spread = np.abs(values) * np.maximum(0.5 * share / left, 1.0 / np.sqrt(left) - 1.0)
    return at_pole(share, spread, values)


def below_pole(share: Floats) -> Floats:
    """A share of an argument that does not reach the pole."""
    return np.where(share < 1.0, share, 0.5)


def _of_value(_x: Floats, values: Floats, unit: float) -> Floats:
    return np.asarray(unit * np.abs(values) + SMALLEST)


class Integers(Enum):
    """Whether a function keeps or makes integers; then it is computed without rounding."""

    NEITHER = "neither"
    KEEPS = "keeps"  # an integer for every integer
    MAKES = "makes"  # an integer for every number, and never falls


@dataclass(frozen=True)
class ScalarFunction:
    """A function of one element.

    Attributes
    ----------
    name : str
        How the language calls it, and SAM graphs and the machine's units do.
    exact : callable
        The reference: arrays of float64 to arrays of float64.
    spread : callable
        How far an error of the argument spreads (:data:`Spread`).
    kernel : callable
        The machine's function of one float32, which the kernels are compiled of.
    machine : callable, optional
        The same of a number or an array of float32, in NumPy; its result is rounded to float32.
        By default the exact one of the argument in double precision.
    at_zero : float
        The value at 0.
    domain : (float, float)
        Arguments of which the function is a number, ends included.
    own_error : callable
        What the machine's result is wrong by (:data:`OwnError`).
    integers : Integers
        Whether it keeps or makes them.
    mlir : tuple of str
        MLIR's operations that compute it, of which the first is printed; none if it takes several.
    """

    name: str
    _: KW_ONLY
    exact: Callable[[Floats], Floats]
    spread: Spread
    kernel: Callable[[Any], Any]
    machine: Callable[[Any], Any] | None = None
    at_zero: float
    domain: tuple[float, float] = (-math.inf, math.inf)
    own_error: OwnError = _of_value
    integers: Integers = Integers.NEITHER
    mlir: tuple[str, ...] = ()

    def in_float32(self, x: Any) -> Any:
        """The machine's result for a number or an array of float32, not yet rounded to it."""
        if self.machine is not None:
            return self.machine(x)
        wide: Any = F64(x)
        return self.exact(wide)


class Op(Enum):
    """The operations of a statement; the value is how the text language writes them.

    Attributes
    ----------
    function : ScalarFunction or None
        The row of a function of one element.
    """

    def __new__(cls, row: str | ScalarFunction) -> Op:
        op = object.__new__(cls)
        op.function = row if isinstance(row, ScalarFunction) else None
        op._value_ = row.name if isinstance(row, ScalarFunction) else row
        return op

    _value_: str
    function: ScalarFunction | None

    MUL = "*"
    ADD = "+"
    SUB = "-"
    DIV = "/"
    SUM = "sum"  # one operand; reduces the indices the output lacks, none at all is a copy
    MAX = "max"  # one operand; maximum over the indices the output lacks
    MAXIMUM = "max()"  # the larger of two operands, or the one that is there
    AT_LEAST = "at least"  # the larger of the operand and a constant, on stored elements
    SCALE = "scale"  # times a constant
    SHIFT = "shift"  # plus a constant, on stored elements
    CONCAT = "concat"  # operands one after another along the statement's axis
    RESHAPE = "reshape"  # the same elements, counted in row-major order, in another shape

    RELU = ScalarFunction(
        "relu",
        exact=lambda x: np.maximum(x, 0.0),
        machine=lambda x: np.where(x < 0, F32(0), x),  # -0.0 stays what it is, and so does NaN
        kernel=lambda a: np.float32(0) if a < 0 else a,
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.KEEPS,
    )
    EXP = ScalarFunction(
        "exp",
        exact=np.exp,
        kernel=lambda a: np.float32(math.exp(np.float64(a))),
        spread=_exponential(0.0),
        at_zero=1.0,
        mlir=("math.exp", "linalg.exp"),
    )
    LOG = ScalarFunction(
        "log",
        exact=np.log,
        kernel=lambda a: np.float32(
            math.log(np.float64(a)) if a > 0 else -math.inf if a == 0 else math.nan
        ),
        spread=_logarithm(0.0),
        at_zero=-math.inf,
        domain=(0.0, math.inf),
        mlir=("math.log", "linalg.log"),
    )
    SQRT = ScalarFunction(
        "sqrt",
        exact=np.sqrt,
        machine=np.sqrt,
        kernel=lambda a: np.sqrt(a),
        spread=_root,
        at_zero=0.0,
        domain=(0.0, math.inf),
        mlir=("math.sqrt", "linalg.sqrt"),
    )
    RSQRT = ScalarFunction(
        "rsqrt",
        exact=lambda x: 1.0 / np.sqrt(x),
        machine=lambda x: F32(1) / np.sqrt(x),
        kernel=lambda a: np.float32(1) / np.sqrt(a),
        spread=_reciprocal_root,
        at_zero=math.inf,
        domain=(0.0, math.inf),
        mlir=("math.rsqrt", "linalg.rsqrt"),
    )
    SIGMOID = ScalarFunction(
        "sigmoid",
        exact=lambda x: special.expit(x),
        machine=lambda x: F32(1) / (F32(1) + F32(np.exp(-F64(x)))),
        kernel=lambda a: np.float32(1) / (np.float32(1) + np.float32(math.exp(-np.float64(a)))),
        spread=_limited(0.25, 1.0),
        at_zero=0.5,
        own_error=lambda _x, values, unit: unit * values + NORMAL,
    )
    TANH = ScalarFunction(
        "tanh",
        exact=np.tanh,
        kernel=lambda a: np.float32(math.tanh(np.float64(a))),
        spread=_limited(1.0, 2.0),
        at_zero=0.0,
        mlir=("math.tanh", "linalg.tanh"),
    )
    GELU = ScalarFunction(  # the exact form, x Φ(x), not the approximation by tanh
        "gelu",
        exact=lambda x: 0.5 * x * (1.0 + special.erf(x / math.sqrt(2.0))),
        kernel=lambda a: np.float32(
            0.5 * np.float64(a) * (1.0 + math.erf(np.float64(a) / math.sqrt(2.0)))
        ),
        spread=_limited(1.13),
        at_zero=0.0,
        own_error=lambda x, _values, unit: unit * np.abs(x) + SMALLEST,
    )
    ABS = ScalarFunction(
        "abs",
        exact=np.abs,
        machine=np.abs,
        kernel=lambda a: abs(a),
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.KEEPS,
        mlir=("math.absf", "math.absi", "linalg.abs"),
    )
    SIGN = ScalarFunction(
        "sign",
        exact=np.sign,
        machine=np.sign,
        # Compiled, the sign of -0 is -0; NumPy says 0.
        kernel=lambda a: np.sign(a) + np.float32(0),
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.MAKES,
    )
    FLOOR = ScalarFunction(
        "floor",
        exact=np.floor,
        machine=np.floor,
        kernel=lambda a: np.floor(a),
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.MAKES,
        mlir=("math.floor", "linalg.floor"),
    )
    CEIL = ScalarFunction(
        "ceil",
        exact=np.ceil,
        machine=np.ceil,
        kernel=lambda a: np.ceil(a),
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.MAKES,
        mlir=("math.ceil", "linalg.ceil"),
    )
    TRUNC = ScalarFunction(  # towards 0
        "trunc",
        exact=np.trunc,
        machine=np.trunc,
        kernel=lambda a: np.trunc(a),
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.MAKES,
        mlir=("math.trunc",),
    )
    ROUND = ScalarFunction(  # to the nearest integer, ties to even
        "round",
        exact=np.rint,
        machine=np.rint,
        kernel=lambda a: np.rint(a),
        spread=_limited(1.0),
        at_zero=0.0,
        integers=Integers.MAKES,
        mlir=("math.roundeven",),
    )
    SIN = ScalarFunction(
        "sin",
        exact=np.sin,
        kernel=lambda a: np.float32(math.sin(np.float64(a))),
        spread=_limited(1.0, 2.0),
        at_zero=0.0,
        mlir=("math.sin",),
    )
    COS = ScalarFunction(
        "cos",
        exact=np.cos,
        kernel=lambda a: np.float32(math.cos(np.float64(a))),
        spread=_limited(1.0, 2.0),
        at_zero=1.0,
        mlir=("math.cos",),
    )
    ATAN = ScalarFunction(
        "atan",
        exact=np.arctan,
        kernel=lambda a: np.float32(math.atan(np.float64(a))),
        spread=_limited(1.0, math.pi),
        at_zero=0.0,
        mlir=("math.atan",),
    )
    ERF = ScalarFunction(
        "erf",
        exact=lambda x: special.erf(x),
        kernel=lambda a: np.float32(math.erf(np.float64(a))),
        spread=_limited(1.13, 2.0),
        at_zero=0.0,
        mlir=("math.erf", "linalg.erf"),
    )
    LOG1P = ScalarFunction(
        "log1p",
        exact=np.log1p,
        kernel=lambda a: np.float32(
            math.log1p(np.float64(a)) if a > -1 else -math.inf if a == -1 else math.nan
        ),
        spread=_logarithm(1.0),
        at_zero=0.0,
        domain=(-1.0, math.inf),
        mlir=("math.log1p",),
    )
    EXPM1 = ScalarFunction(
        "expm1",
        exact=np.expm1,
        kernel=lambda a: np.float32(math.expm1(np.float64(a))),
        spread=_exponential(1.0),
        at_zero=0.0,
        mlir=("math.expm1",),
    )

    @property
    def arity(self) -> int:
        """Operands the operation takes; a product may take more (:meth:`takes`)."""
        return 2 if self in _OF_TWO else 1

    def takes(self, operands: int) -> bool:
        """Return whether that many operands are right."""
        return operands == self.arity or (self is Op.MUL and operands > self.arity)

    @property
    def joins_by_union(self) -> bool:
        """True where a coordinate of either operand is enough (``docs/spec/program.md`` §1)."""
        return self.unites or self is Op.CONCAT

    @property
    def unites(self) -> bool:
        """True for what is computed of two elements, or of the one that is there."""
        return self in (Op.ADD, Op.SUB, Op.MAXIMUM)

    @property
    def fuses(self) -> bool:
        """False for what only memory can do: a fusion barrier."""
        return self is not Op.RESHAPE

    @property
    def steps(self) -> bool:
        """True for functions that never fall, and have no values but integers."""
        return self.function is not None and self.function.integers is Integers.MAKES

    @property
    def keeps_zero(self) -> bool:
        """True for functions of one operand of which that of 0 is 0."""
        return self.function is not None and self.function.at_zero == 0

    @property
    def takes_constant(self) -> bool:
        return self in (Op.SCALE, Op.SHIFT, Op.AT_LEAST)


_OF_TWO = (Op.MUL, Op.ADD, Op.SUB, Op.DIV, Op.CONCAT, Op.MAXIMUM)
FUNCTIONS: Mapping[Op, ScalarFunction] = {op: op.function for op in Op if op.function is not None}
"""The functions of one element; the language, SAM and the machine call them by their value."""
