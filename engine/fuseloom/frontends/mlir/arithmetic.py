"""Operations of the arith and math dialects, as trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from fuseloom.frontends.mlir.choices import combined, compared, difference, is_condition, selected
from fuseloom.frontends.mlir.constants import evaluate
from fuseloom.frontends.mlir.expressions import (
    Node,
    Num,
    Unsupported,
    add,
    div,
    exact_quotient,
    is_known,
    largest,
    made,
    mul,
    raw,
    rounded,
    scaled,
    smallest,
    sub,
)
from fuseloom.frontends.mlir.syntax import Type
from fuseloom.program.formats import suggestion
from fuseloom.program.limits import MAX_NESTING
from fuseloom.program.types import Op
from fuseloom.wording import counted

MAX_NODES = 1_000
EXACT = 2**24
"""Integers up to this are numbers of float32."""

_BINARY: Mapping[str, Callable[[Node, Node], Node]] = {
    "arith.mulf": mul, "arith.addf": add, "arith.subf": difference, "arith.divf": div,
    "arith.maximumf": largest, "arith.maxnumf": largest, "arith.maxf": largest,
    "arith.minimumf": smallest, "arith.minnumf": smallest, "arith.minf": smallest,
    "arith.muli": mul, "arith.addi": add, "arith.subi": sub,
    "arith.maxsi": largest, "arith.maxui": largest,
    "arith.minsi": smallest, "arith.minui": smallest,
}  # fmt: skip
_UNARY: Mapping[str, Callable[[Node], Node]] = {
    "math.exp": lambda x: made(Op.EXP, x),
    "math.log": lambda x: made(Op.LOG, x),
    "math.expm1": lambda x: made(Op.EXPM1, x),
    "math.log1p": lambda x: made(Op.LOG1P, x),
    "math.rsqrt": lambda x: made(Op.RSQRT, x),
    "math.sqrt": lambda x: made(Op.SQRT, x),
    "math.tanh": lambda x: made(Op.TANH, x),
    "math.absf": lambda x: made(Op.ABS, x),
    "math.absi": lambda x: made(Op.ABS, x),
    "math.erf": lambda x: made(Op.ERF, x),
    "math.sin": lambda x: made(Op.SIN, x),
    "math.cos": lambda x: made(Op.COS, x),
    "math.floor": lambda x: made(Op.FLOOR, x),
    "math.ceil": lambda x: made(Op.CEIL, x),
    "math.trunc": lambda x: made(Op.TRUNC, x),
    "math.roundeven": lambda x: made(Op.ROUND, x),
    "math.round": rounded,
    "arith.fptosi": lambda x: made(Op.TRUNC, x),
    "arith.fptoui": lambda x: made(Op.TRUNC, x),
    "arith.negf": lambda x: scaled(x, -1.0),
}
_SAME = (
    "arith.extf", "arith.truncf", "arith.extui", "arith.extsi", "arith.trunci", "arith.sitofp",
    "arith.uitofp", "arith.index_cast", "arith.index_castui",
)  # fmt: skip
"""Changes of type that keep the number."""
_BITS = {"arith.andi": "and", "arith.ori": "or", "arith.xori": "xor"}
_ONE_BIT = {
    "arith.addi": "arith.xori", "arith.subi": "arith.xori", "arith.muli": "arith.andi",
    "arith.maxui": "arith.ori", "arith.minui": "arith.andi",
    "arith.maxsi": "arith.andi", "arith.minsi": "arith.ori",
}  # fmt: skip
"""Arithmetic of ``i1``: 1 + 1 is 0, and signed 1 is -1."""
_ONE_BIT_COMPARED = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}
_WHOLE = {
    "arith.divsi": "divide", "arith.divui": "divide", "arith.floordivsi": "floordiv",
    "arith.ceildivsi": "ceildiv", "arith.ceildivui": "ceildiv",
    "arith.remsi": "remainder", "arith.remui": "remainder",
}  # fmt: skip
"""Divisions of integers: in float32 a quotient of numbers up to 2^24 is whole where it is."""
_STEPS = {"divide": Op.TRUNC, "floordiv": Op.FLOOR, "ceildiv": Op.CEIL, "remainder": Op.TRUNC}
ARITHMETIC = (
    *_BINARY, *_UNARY, *_SAME, *_BITS, "arith.cmpf", "arith.cmpi", "arith.select", "arith.shli",
    "arith.constant", "math.fma", "math.powf",
)  # fmt: skip


def apply(
    op: str,
    operands: tuple[Node, ...],
    predicate: str | None,
    type_: Type | None = None,
    source: Type | None = None,
) -> Node:
    """The tree of one operation of a region.

    Parameters
    ----------
    type_, source : Type, optional
        Of the result and of the first operand.

    Raises
    ------
    Unsupported
        An operation outside the subset, with too few operands, or on too large a tree.
    """
    of = source or type_
    if of is not None and of.element == "i1":
        op, predicate = _ONE_BIT.get(op, op), _ONE_BIT_COMPARED.get(predicate or "", predicate)
    wanted = 2
    if op in _UNARY or op in _SAME:
        wanted = 1
    elif op in ("arith.select", "math.fma"):
        wanted = 3
    elif op not in (*_BINARY, *_BITS, *_WHOLE, *_OTHERS):
        raise Unsupported(f"the operation {op} is outside the subset"[:120],
                          _way_out(op))  # fmt: skip
    if len(operands) != wanted:
        raise Unsupported(
            f"{op} takes {counted(wanted, 'operand')}, not {len(operands)}", "see docs/mlir.md"
        )
    if op in _UNARY:
        found = _UNARY[op](operands[0])
    elif op in _BINARY:
        found = _BINARY[op](*operands)
    elif op in _SAME:
        found = _same(op, operands[0], type_, source)
    elif op in _BITS:
        found = _bits(op, operands[0], operands[1], type_)
    elif op in _WHOLE:
        found = _division(op, *operands)
    else:
        found = _other(op, operands, predicate)
    if all(isinstance(x, Num) for x in operands) and not isinstance(found, Num):
        with np.errstate(all="ignore"):
            found = Num(float(evaluate(found, {})))
    return checked(found, operands)


def _way_out(op: str) -> str:
    """Return a suggestion for an operation that programs lack."""
    if op.startswith("math."):
        return f"compute it beforehand, and pass the result as an argument; {_KNOWN}"
    return suggestion(op, ARITHMETIC)


_KNOWN = f"known: {', '.join(x for x in _UNARY if x.startswith('math.'))}"


def checked(found: Node, operands: tuple[Node, ...] = ()) -> Node:
    """A tree that is not too large.

    Raises
    ------
    Unsupported
        If it is.
    """
    if found.size > MAX_NODES:
        raise Unsupported(f"the region computes more than {MAX_NODES:,} operations", "split it")
    if found.depth > MAX_NESTING:
        raise Unsupported(f"the region nests more than {MAX_NESTING} operations", "split it")
    if isinstance(found, Num) and not math.isfinite(found.value) and not _infinite(operands):
        raise Unsupported("a constant is too large for a number", "constants are finite")
    return found


_RIGHT = ("arith.shrsi", "arith.shrui")
_SHIFTS = ("arith.shli", *_RIGHT)
_OTHERS = ("arith.cmpf", "arith.cmpi", "arith.select", *_SHIFTS, "math.fma", "math.powf",
           "math.fpowi", "math.ipowi")  # fmt: skip


def _other(op: str, operands: tuple[Node, ...], predicate: str | None) -> Node:
    match op:
        case "arith.cmpf" | "arith.cmpi":
            return compared(predicate, operands[0], operands[1], op == "arith.cmpi")
        case "arith.select":
            return selected(*operands)
        case "math.fma":
            return add(mul(operands[0], operands[1]), operands[2])
    node, number = operands
    if isinstance(number, Num) and number.value == int(number.value):
        n = int(number.value)
        if op == "arith.shli" and 0 <= n < 24:
            return mul(node, Num(2.0**n))
        if op in _RIGHT and 0 <= n < 24:
            return made(Op.FLOOR, mul(node, Num(2.0**-n)))
        if op not in _SHIFTS and 1 <= n <= 4:
            found = node
            for _ in range(n - 1):
                found = mul(found, node)
            return found
    raise Unsupported(
        f"{op} by this number",
        "shift by 0 to 23" if op in _SHIFTS else "the exponents 1 to 4 are products",
    )


def _same(op: str, node: Node, type_: Type | None, source: Type | None) -> Node:
    bit = source is not None and source.element == "i1"
    if op in ("arith.extsi", "arith.sitofp") and bit:
        return mul(node, Num(-1.0))  # all bits are set
    if type_ is not None and type_.element == "i1" and not bit and not is_condition(node):
        raise Unsupported(
            f"{op} to i1 keeps the last bit of a number", "compare it: arith.cmpi ne, %x, %zero"
        )
    return node


def _bits(op: str, a: Node, b: Node, type_: Type | None) -> Node:
    if (type_ is not None and type_.element == "i1") or (is_condition(a) and is_condition(b)):
        return combined(_BITS[op], a, b)
    raise Unsupported(
        f"{op} of the bits of integers",
        "programs compute numbers; of i1 it is a condition, and extui makes a number of it",
    )


def _division(op: str, a: Node, b: Node) -> Node:
    if b == Num(0.0):
        raise Unsupported("division by zero", "divide by another number")
    if isinstance(a, Num) and isinstance(b, Num):
        x, y = int(a.value), int(b.value)
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        match _WHOLE[op]:
            case "divide":
                return Num(float(quotient))
            case "floordiv":
                return Num(float(x // y))
            case "ceildiv":
                return Num(float(-(-x // y)))
        return Num(float(x - y * quotient))
    found = raw(_WHOLE[op], a, b)
    if is_known(found):
        return found
    step = made(_STEPS[_WHOLE[op]], exact_quotient(a, b))
    return sub(a, mul(b, step)) if _WHOLE[op] == "remainder" else step


def _infinite(operands: tuple[Node, ...]) -> bool:
    return any(isinstance(n, Num) and math.isinf(n.value) for n in operands)
