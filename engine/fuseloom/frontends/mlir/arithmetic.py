"""Operations of the arith and math dialects, as trees."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from fuseloom.frontends.algebra import functions
from fuseloom.frontends.algebra.conditions import (
    combined,
    compared,
    difference,
    is_condition,
    selected,
)
from fuseloom.frontends.algebra.evaluation import evaluate
from fuseloom.frontends.algebra.expressions import (
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
from fuseloom.frontends.algebra.powers import power
from fuseloom.frontends.mlir.integers import (
    bits_of,
    bounds,
    canonical,
    compared_bits,
    extreme,
    last_bit,
    loosened,
    overflows,
    product,
    shifted_bits,
    unsigned,
    wrapped,
)
from fuseloom.frontends.mlir.syntax import Type
from fuseloom.program.float32 import INTEGER_BITS
from fuseloom.program.formats import suggestion
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.limits import MAX_NESTING
from fuseloom.wording import counted

MAX_NODES = 1_000

_BINARY: Mapping[str, Callable[[Node, Node], Node]] = {
    "arith.mulf": mul, "arith.addf": add, "arith.subf": difference, "arith.divf": div,
    "arith.maximumf": largest, "arith.maxnumf": largest, "arith.maxf": largest,
    "arith.minimumf": smallest, "arith.minnumf": smallest, "arith.minf": smallest,
    "arith.maxsi": largest, "arith.minsi": smallest, "math.atan2": functions.atan2,
}  # fmt: skip
_UNARY: Mapping[str, Callable[[Node], Node]] = {
    **{f"math.{name}": getattr(functions, name)
       for name in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erfc", "exp2", "log10",
                    "log2", "sinh", "tan")},
    **{name: partial(made, op) for op, row in FUNCTIONS.items() for name in row.mlir
       if name.startswith("math.")},  # instead of what is made of others
    "math.round": rounded,
    "arith.negf": lambda x: scaled(x, -1.0),
}  # fmt: skip
_SAME = (
    "arith.extf", "arith.truncf", "arith.extui", "arith.extsi", "arith.trunci", "arith.sitofp",
    "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.index_cast", "arith.index_castui",
)  # fmt: skip
"""Changes of type."""
_BITS = {"arith.andi": "and", "arith.ori": "or", "arith.xori": "xor"}
_ONE_BIT = {
    "arith.addi": "arith.xori", "arith.subi": "arith.xori", "arith.muli": "arith.andi",
    "arith.maxui": "arith.ori", "arith.minui": "arith.andi",
    "arith.maxsi": "arith.andi", "arith.minsi": "arith.ori",
}  # fmt: skip
"""Arithmetic of ``i1``: 1 + 1 is 0, and signed 1 is -1."""
_MODULAR = ("arith.addi", "arith.subi", "arith.muli")
_EXTREMES = ("arith.maxui", "arith.minui")
_ONE_BIT_COMPARED = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}
_WHOLE = {
    "arith.divsi": "divide", "arith.divui": "divide", "arith.floordivsi": "floordiv",
    "arith.ceildivsi": "ceildiv", "arith.ceildivui": "ceildiv",
    "arith.remsi": "remainder", "arith.remui": "remainder",
}  # fmt: skip
_UNSIGNED_DIVISIONS = {
    "arith.divui": "arith.divsi", "arith.remui": "arith.remsi",
    "arith.ceildivui": "arith.ceildivsi",
}  # fmt: skip
"""Divisions of integers: in float32 a quotient of numbers up to 2^24 is whole where it is."""
_STEPS = {"divide": Op.TRUNC, "floordiv": Op.FLOOR, "ceildiv": Op.CEIL, "remainder": Op.TRUNC}
ARITHMETIC = (
    *_BINARY, *_UNARY, *_SAME, *_BITS, *_MODULAR, *_EXTREMES, "arith.cmpf", "arith.cmpi",
    "arith.select", "arith.shli", "arith.constant", "math.fma", "math.powf",
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
    elif op not in (*_BINARY, *_BITS, *_WHOLE, *_MODULAR, *_EXTREMES, *_OTHERS):
        raise Unsupported(f"the operation {op} is outside the subset"[:120],
                          _way_out(op))  # fmt: skip
    if len(operands) != wanted:
        raise Unsupported(
            f"{op} takes {counted(wanted, 'operand')}, not {len(operands)}", "see docs/mlir.md"
        )
    element = None if of is None else of.element
    if op in _UNARY:
        found = _UNARY[op](operands[0])
        if op == "math.absi":
            low, high = bounds(operands[0], element)
            found = wrapped(found, element, (0.0, max(-low, high)))
    elif op in _MODULAR:
        found = _modular(op, operands[0], operands[1], element)
    elif op in _EXTREMES:
        found = extreme(op, operands[0], operands[1], element)
    elif op in _BINARY:
        found = _BINARY[op](*operands)
    elif op in _SAME:
        found = _same(op, operands[0], type_, source)
    elif op in _BITS:
        found = _bits(op, operands[0], operands[1], type_)
    elif op in _WHOLE:
        found = _division(op, operands[0], operands[1], element)
    else:
        found = _other(op, operands, predicate, element)
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


_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
_OTHERS = ("arith.cmpf", "arith.cmpi", "arith.select", *_SHIFTS, "math.fma", "math.powf",
           "math.fpowi", "math.ipowi")  # fmt: skip


def _other(op: str, operands: tuple[Node, ...], predicate: str | None, element: str | None) -> Node:
    match op:
        case "arith.cmpf":
            return compared(predicate, operands[0], operands[1], False)
        case "arith.cmpi":
            return compared_bits(predicate, operands[0], operands[1], element)
        case "arith.select":
            return selected(*operands)
        case "math.fma":
            return add(mul(operands[0], operands[1]), operands[2])
    node, number = operands
    if op in _SHIFTS:
        return shifted_bits(op, node, number, element)
    if op != "math.ipowi":
        return power(node, number)
    if isinstance(number, Num) and 1 <= number.value <= 4:
        found = node
        for _ in range(int(number.value) - 1):
            found = _modular("arith.muli", found, node, element)
        return found
    raise Unsupported(f"{op} by this number", "the exponents 1 to 4 are products")


def _modular(op: str, a: Node, b: Node, element: str | None) -> Node:
    """A sum, a difference or a product of integers: the last bits of it."""
    bits = bits_of(element)
    if isinstance(a, Num) and isinstance(b, Num):
        exact = _EXACTLY[op](int(a.value), int(b.value))
        return Num(float(canonical(exact, element)))
    if bits is None or bits > INTEGER_BITS:
        found = _NUMBERS[op](a, b)
        if overflows(found, element):
            raise Unsupported(
                f"{op} of numbers that are too large for {element}",
                f"the result is taken modulo 2^{bits}, and programs have integers up to 2^24: "
                "use smaller numbers, or floats",
            )
        return found
    (low, high), (least, most) = bounds(a, element), bounds(b, element)
    if op == "arith.muli":
        ends = [x * y for x in (low, high) for y in (least, most)]
        return wrapped(product(a, b, element), element, (min(ends), max(ends)))
    known = (low + least, high + most) if op == "arith.addi" else (low - most, high - least)
    return wrapped(loosened(_NUMBERS[op](a, b), element), element, known)


_NUMBERS: Mapping[str, Callable[[Node, Node], Node]] = {
    "arith.addi": add, "arith.subi": sub, "arith.muli": mul,
}  # fmt: skip
_EXACTLY: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
}  # fmt: skip


def _same(op: str, node: Node, type_: Type | None, source: Type | None) -> Node:
    """A change of type."""
    of = None if source is None else source.element
    to = None if type_ is None else type_.element
    if of == "i1":
        if op in ("arith.extsi", "arith.sitofp", "arith.index_cast"):
            return mul(node, Num(-1.0))  # all bits are set
        return node
    if op in ("arith.fptosi", "arith.fptoui"):
        node = made(Op.TRUNC, node)
        if op == "arith.fptosi" and to != "i1":
            return node
    if op in ("arith.extui", "arith.uitofp"):
        way_out = "use arith.extsi" if op == "arith.extui" else "use arith.sitofp"
        return unsigned(op, node, of, way_out)
    if op == "arith.index_castui" and (bits_of(of) or 64) <= INTEGER_BITS:
        node = unsigned(op, node, of, "")
    if to == "i1":
        return node if is_condition(node) else last_bit(node)
    bits = bits_of(to)
    changes = op in ("arith.trunci", "arith.index_cast", "arith.index_castui", "arith.fptoui")
    if (
        changes
        and bits is not None
        and (bits <= INTEGER_BITS or (op == "arith.fptoui" and bits <= 32))
    ):
        known = bounds(node, of) if op != "arith.fptoui" else None
        return wrapped(loosened(node, to), to, known)
    return node


def _bits(op: str, a: Node, b: Node, type_: Type | None) -> Node:
    if (type_ is not None and type_.element == "i1") or (is_condition(a) and is_condition(b)):
        return combined(_BITS[op], a, b)
    raise Unsupported(
        f"{op} of the bits of integers",
        "programs compute numbers; of i1 it is a condition, and extui makes a number of it",
    )


def _division(op: str, a: Node, b: Node, element: str | None) -> Node:
    if b == Num(0.0):
        raise Unsupported("division by zero", "divide by another number")
    if op in _UNSIGNED_DIVISIONS and element is not None:
        signed = _UNSIGNED_DIVISIONS[op]
        a, b = (unsigned(op, x, element, f"use {signed}") for x in (a, b))
        (_, high), (least, _) = bounds(a, None), bounds(b, None)
        known = (0.0, high) if signed == "arith.remsi" or least < 1.0 else (0.0, high / least)
        return wrapped(_division(signed, a, b, None), element, known)
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
