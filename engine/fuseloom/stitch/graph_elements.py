"""Operations of dense graphs as trees of what programs have, and why there is none of some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from fuseloom.frontends.algebra import functions
from fuseloom.frontends.algebra.conditions import combined, compared, not_, selected
from fuseloom.frontends.algebra.expressions import (
    Node,
    Num,
    add,
    div,
    largest,
    made,
    mul,
    negated,
    rounded,
    smallest,
    sub,
)
from fuseloom.frontends.algebra.powers import power
from fuseloom.program import Op
from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.program_graph import OPCODES


def differs(x: Node) -> Node:
    """1 where a number is not 0.

    Examples
    --------
    >>> from fuseloom.frontends.algebra.expressions import Arg
    >>> differs(Arg(0)).name
    'differs'
    """
    return compared("ne", x, Num(0.0), whole=False)


def _clamped(least: Node, x: Node, most: Node) -> Node:
    return functions.clamp(x, least, most)


def _quotient(x: Node, y: Node) -> Node:
    """A quotient, also of a number."""
    if isinstance(x, Num) and not isinstance(y, Num):
        return made(Op.DIV, x, y)
    return div(x, y)


def _angle(y: Node, x: Node) -> Node:
    """The angle of a point; beside the number 1 it is the inverse of the tangent."""
    if isinstance(x, Num) and x.value == 1.0:
        return functions.atan(y)
    return functions.atan2(y, x)


def _same(tree: Callable[..., Node]) -> Callable[[DenseOperation], Callable[..., Node]]:
    return lambda _operation: tree


def _comparison(operation: DenseOperation) -> Callable[..., Node]:
    predicate = str(operation.attributes["direction"]).lower()
    return lambda x, y: compared(predicate, x, y, whole=False)


_ARCS = ("asinh", "acosh", "atanh")
OF_FLOATS = {
    *("divide", "power", "round-nearest-afz", "atan2", *_ARCS, *OPCODES.values()),
} - {"abs", "sign"}
"""Operations that integers round or wrap in."""
LOGICAL = {"and", "or", "xor", "not"}
"""Operations on truth values, or on bits."""
TREES: Mapping[str, Callable[[DenseOperation], Callable[..., Node]]] = {
    "add": _same(add), "subtract": _same(sub), "multiply": _same(mul), "divide": _same(_quotient),
    "maximum": _same(largest), "minimum": _same(smallest), "negate": _same(negated),
    "power": _same(power), "tan": _same(functions.tan), "sinh": _same(functions.sinh),
    "cosh": _same(functions.cosh), "round-nearest-afz": _same(rounded),
    "clamp": _same(_clamped), "select": _same(selected), "compare": _comparison,
    "atan2": _same(_angle), **{name: _same(getattr(functions, name)) for name in _ARCS},
    "not": _same(not_), **{name: _same(partial(combined, name)) for name in ("and", "or", "xor")},
    **{opcode: _same(partial(made, op)) for op, opcode in OPCODES.items()},
}  # fmt: skip
"""Trees of operations element by element."""
COMBINED: Mapping[str, tuple[Op, bool, Callable[..., Node]]] = {
    "add": (Op.SUM, False, add), "maximum": (Op.MAX, False, largest),
    "minimum": (Op.MAX, True, smallest), "or": (Op.MAX, False, largest),
    "and": (Op.MAX, True, smallest),
}  # fmt: skip
"""Reductions, whether of what is negated, and how the start is taken in."""


def why_refused(opcode: str) -> tuple[str, str]:
    """Return why no statement computes an operation, and a way out.

    Examples
    --------
    >>> why_refused("gather")[0]
    'its places depend on data'
    """
    return _REASONS.get(opcode, _NO_REASON)


_NO_REASON = "no statement computes it", "compute it before or after the program"
_ON_DATA = "its places depend on data", "multiply by a matrix that selects, which is an input"
_REASONS = {
    **dict.fromkeys(("gather", "scatter", "dynamic-slice", "dynamic-update-slice"), _ON_DATA),
    **dict.fromkeys(("while", "conditional"), ("programs have no loops and no branches",
                                               "unroll it, as a statement for each step")),
    **dict.fromkeys(("convolution", "reduce-window", "select-and-scatter"),
                    ("it goes over windows", "read them at sums of indices, as x[i + k]")),
    "sort": ("its order depends on data", "sort before or after the program"),
    **dict.fromkeys(("rng", "rng-bit-generator"), ("it is random", "give its result as input")),
    "custom-call": ("nothing is known of the code that it calls", "give its result as input"),
}  # fmt: skip
"""Reasons by opcode, each with a way out."""
