"""Integers of some number of bits, as numbers that programs compute.

An integer is the number that its bits are with a sign, one of type ``ui8`` that without; an ``i1``
is 0 or 1.  Operations on at most 24 bits are exact: a result is taken modulo 2^bits (:data:`WRAP`),
and an operand without a sign is the number of the same bits (:data:`UNSIGNED`).  Of wider integers
programs have those that float32 has, up to 2^24.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from fuseloom.frontends.algebra.conditions import (
    BOOLEAN,
    DIFFERS,
    GREATER,
    INFINITE,
    NOT,
    combined,
    compared,
    not_,
    selected,
)
from fuseloom.frontends.algebra.expressions import (
    UNSIGNED,
    WRAP,
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    Unsupported,
    add,
    largest,
    leaves,
    made,
    mul,
    raw,
    scaled,
    smallest,
    sub,
)
from fuseloom.program.float32 import EXACT_INTEGERS, INTEGER_BITS
from fuseloom.program.functions import Op

_HALF = 8
_TYPE = re.compile(r"([su]?)i([1-9]\d?)")
_EVERY = (-math.inf, math.inf)


def bits_of(element: str | None) -> int | None:
    """Return the number of bits of a type of integers; None for ``index`` and other types."""
    found = _TYPE.fullmatch(element or "")
    return int(found[2]) if found else None


def range_of(element: str | None) -> tuple[float, float]:
    """The least and the largest integer of a type that programs have.

    >>> range_of("i8"), range_of("ui8"), range_of("i64")
    ((-128.0, 127.0), (0.0, 255.0), (-16777216, 16777216))
    """
    bits = bits_of(element)
    if bits is None or bits > INTEGER_BITS:
        return -EXACT_INTEGERS, EXACT_INTEGERS
    return _whole_range(element, bits)


def canonical(value: int, element: str | None) -> int:
    """The integer of a type that has the last bits of another one.

    >>> canonical(200, "i8"), canonical(-1, "ui8"), canonical(-1, "i1"), canonical(200, "index")
    (-56, 255, 1, 200)
    """
    bits = bits_of(element)
    if bits is None:
        return value
    rest: int = value % 2**bits
    signed = bits > 1 and not (element or "").startswith("u")
    return rest - 2**bits if signed and rest >= 2 ** (bits - 1) else rest


# Bounds ---------------------------------------------------------------------------------------


def bounds(node: Node, element: str | None) -> tuple[float, float]:
    """The least and the largest value that a tree of a type may have.

    >>> from fuseloom.frontends.algebra.expressions import Arg
    >>> bounds(Arg(0), "i8"), bounds(Index(0), "index")
    ((-128.0, 127.0), (0.0, 16777216))
    """
    low, high = range_of(element)
    least, most = _bounds(node)
    return max(low, least), min(high, most)


def _bounds(node: Node) -> tuple[float, float]:
    match node:
        case Num(value=value):
            return value, value
        case Index():
            return 0.0, EXACT_INTEGERS
        case Arg(range=(low, high)):
            return low, high
        case Apply(op=op, operands=operands, constant=constant):
            known = [_bounds(x) for x in operands]
            found = _applied(op, known, constant)
        case Raw(name=name, operands=operands):
            found = _of_raw(name, operands)
        case _:
            return _EVERY
    return _EVERY if any(math.isnan(x) for x in found) else found


def _applied(
    op: Op, known: Sequence[tuple[float, float]], constant: float | None
) -> tuple[float, float]:
    (low, high), *others = known
    match op:
        case Op.SCALE if constant is not None:
            ends = sorted((low * constant, high * constant)) if constant else [0.0, 0.0]
            return ends[0], ends[1]
        case Op.SHIFT if constant is not None:
            return low + constant, high + constant
        case Op.AT_LEAST if constant is not None:
            return max(low, constant), max(high, constant)
        case Op.RELU:
            return max(low, 0.0), max(high, 0.0)
        case Op.SIGN:
            return -1.0, 1.0
        case Op.ABS:
            return max(low, -high, 0.0), max(-low, high)
        case Op.FLOOR | Op.CEIL | Op.TRUNC | Op.ROUND if math.isfinite(low + high):
            return math.floor(low), math.ceil(high)
    if len(others) != 1:
        return _EVERY
    a, b = others[0]
    match op:
        case Op.ADD:
            return low + a, high + b
        case Op.SUB:
            return low - b, high - a
        case Op.MAXIMUM:
            return max(low, a), max(high, b)
        case Op.MUL:
            ends = [x * y for x in (low, high) for y in (a, b)]
            return min(ends), max(ends)
    return _EVERY


def _of_raw(name: str, operands: Sequence[Node]) -> tuple[float, float]:
    if name in (GREATER, DIFFERS, NOT, INFINITE, *BOOLEAN):
        return 0.0, 1.0
    known = [_bounds(x) for x in operands]
    (low, high), *others = known
    match name:
        case "cast":
            return low, high
        case "wrap":
            (start, _), (size, _) = others
            return start, start + size - 1.0
        case "unsigned":
            return 0.0, others[0][0] - 1.0
        case "max":
            return max(low, others[0][0]), max(high, others[0][1])
        case "min":
            return min(low, others[0][0]), min(high, others[0][1])
        case "select":
            return min(x for x, _ in others), max(x for _, x in others)
        case "divide" | "floordiv" | "ceildiv" if low >= 0.0 and others[0][0] >= 1.0:
            return 0.0, high
        case "remainder" if low >= 0.0 and others[0][0] >= 1.0:
            return 0.0, min(high, others[0][1] - 1.0)
    return _EVERY


def overflows(node: Node, element: str | None) -> bool:
    """Return whether what is known of a tree says that it may not fit a type.

    >>> overflows(mul(Arg(0, range=(0.0, 1e5)), Arg(1, range=(0.0, 1e5))), "i32")
    True
    """
    bits = bits_of(element)
    if bits is None or any(isinstance(x, Index) for x in leaves(node)):
        return False
    least, most = _bounds(node)
    low, high = _whole_range(element, bits)
    return math.isfinite(least + most) and not low <= least <= most <= high


def natural(node: Node, element: str | None) -> bool:
    """Return whether a tree is never negative."""
    return bounds(node, element)[0] >= 0.0


# Bits -----------------------------------------------------------------------------------------


def wrapped(node: Node, element: str | None, known: tuple[float, float] | None = None) -> Node:
    """The number of a type that has the last bits of another number.

    Parameters
    ----------
    known : tuple of float, optional
        The least and the largest value of the tree, where these are known.
    """
    bits = bits_of(element)
    if bits is None:
        return node
    if isinstance(node, Num):
        whole = math.isfinite(node.value) and node.value == int(node.value)
        return Num(float(canonical(int(node.value), element))) if whole else node
    low, high = _whole_range(element, bits)
    least, most = known or _bounds(node)
    if low <= least and most <= high:
        return node
    return raw(WRAP, node, Num(low), Num(2.0**bits))


def _whole_range(element: str | None, bits: int) -> tuple[float, float]:
    if bits == 1 or (element or "").startswith("u"):
        return 0.0, 2.0**bits - 1.0
    return -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1.0


def unsigned(op: str, node: Node, element: str | None, way_out: str) -> Node:
    """The number that the bits of an integer are without a sign.

    Raises
    ------
    Unsupported
        A wide integer that may be negative.
    """
    bits = bits_of(element)
    if natural(node, element):
        return node
    if isinstance(node, Num):
        return Num(node.value + 2.0**bits) if bits is not None else node
    if bits is None or bits > INTEGER_BITS:
        raise Unsupported(
            f"{op} of {element or 'integers'}, which may be negative",
            f"without a sign a negative one is more than 2^24; {way_out}, where none is negative",
        )
    return raw(UNSIGNED, node, Num(2.0**bits))


def lowered_bits(node: Raw) -> Node | None:
    """Return :data:`WRAP` or :data:`UNSIGNED` as arithmetic; None for other trees.

    Every step is exact: factors are powers of two.
    """
    x, *numbers = node.operands
    values = [n.value for n in numbers if isinstance(n, Num)]
    if node.name == UNSIGNED:
        return add(x, scaled(raw(GREATER, Num(0.0), x), values[0]))
    if node.name != WRAP:
        return None
    low, size = values
    if low == 0.0:
        times = made(Op.FLOOR, scaled(x, 1.0 / size))
    else:
        halves = made(Op.FLOOR, scaled(x, 2.0 / size))
        times = made(Op.FLOOR, scaled(add(halves, Num(1.0)), 0.5))
    return sub(x, scaled(times, size))


def below(a: Node, b: Node, element: str | None) -> Node:
    """Compare two unsigned integers (1 if the first is less), exactly for all bits."""
    less = compared("slt", a, b, True)
    if natural(a, element) and natural(b, element):
        return less
    signs = [
        Num(0.0) if natural(x, element) else compared("slt", x, Num(0.0), True) for x in (a, b)
    ]
    return combined("xor", combined("xor", less, signs[0]), signs[1])


def compared_bits(predicate: str | None, a: Node, b: Node, element: str | None) -> Node:
    """A comparison of integers."""
    match predicate:
        case "ult":
            return below(a, b, element)
        case "ugt":
            return below(b, a, element)
        case "uge":
            return not_(below(a, b, element))
        case "ule":
            return not_(below(b, a, element))
    return compared(predicate, a, b, True)


def extreme(op: str, a: Node, b: Node, element: str | None) -> Node:
    """``arith.maxui`` and ``arith.minui``."""
    best = largest if op == "arith.maxui" else smallest
    if natural(a, element) and natural(b, element):
        return best(a, b)
    bits = bits_of(element)
    if bits is not None and bits <= INTEGER_BITS:
        return wrapped(best(*(unsigned(op, x, element, "") for x in (a, b))), element)
    less = below(a, b, element)
    return selected(less, b, a) if op == "arith.maxui" else selected(less, a, b)


# Operations -----------------------------------------------------------------------------------


def product(a: Node, b: Node, element: str | None) -> Node:
    """``arith.muli``: of numbers whose product float32 may not have, by halves of the first.

    Raises
    ------
    Unsupported
        Integers whose halves have products that are too large.
    """
    bits = bits_of(element)
    if bits is None or bits > INTEGER_BITS or (isinstance(a, Num) and isinstance(b, Num)):
        return mul(a, b)
    ends = [x * y for x in bounds(a, element) for y in bounds(b, element)]
    if max(map(abs, ends)) <= EXACT_INTEGERS:
        return mul(a, b)
    if bits > 2 * _HALF:
        raise Unsupported(
            f"a product of {element}", "products are exact up to 2^24: use i16 or i32"
        )
    if isinstance(a, Num):
        a, b = b, a
    high = made(Op.FLOOR, scaled(a, 2.0**-_HALF))
    low = sub(a, scaled(high, 2.0**_HALF))
    return add(scaled(wrapped(mul(high, b), f"i{bits - _HALF}"), 2.0**_HALF), mul(low, b))


def shifted_bits(op: str, node: Node, places: Node, element: str | None) -> Node:
    """A shift by a number.

    Raises
    ------
    Unsupported
        A shift by a tensor, by too much, or of a negative number that is wide.
    """
    bits = bits_of(element) or 64
    most = min(bits, INTEGER_BITS)
    whole = isinstance(places, Num) and places.value == int(places.value)
    n = int(places.value) if isinstance(places, Num) and whole else -1
    if not 0 <= n < (most if op == "arith.shli" else bits):
        raise Unsupported(f"{op} by this number", f"shift by 0 to {most - 1}")
    if isinstance(node, Num):
        value = int(node.value)
        if op == "arith.shli":
            return Num(float(canonical(value << n, element)))
        return Num(float((value % 2**bits if op == "arith.shrui" else value) >> n))
    if op == "arith.shli":
        low, high = bounds(node, element)
        return wrapped(scaled(node, 2.0**n), element, (low * 2.0**n, high * 2.0**n)) if n else node
    if op == "arith.shrsi" or natural(node, element) or n == 0:
        return made(Op.FLOOR, scaled(node, 2.0**-n)) if n else node
    if bits <= INTEGER_BITS:
        return made(Op.FLOOR, scaled(unsigned(op, node, element, ""), 2.0**-n))
    if bits - n > INTEGER_BITS:
        raise Unsupported(
            f"{op} of {element}, which may be negative, by {n}",
            f"the result may be more than 2^24; use arith.shrsi, where none is negative, or shift "
            f"by at least {bits - INTEGER_BITS}",
        )
    sign = compared("slt", node, Num(0.0), True)
    return add(made(Op.FLOOR, scaled(node, 2.0**-n)), scaled(sign, 2.0 ** (bits - n)))


def last_bit(node: Node) -> Node:
    """Return 1 for odd numbers, and 0 for even ones."""
    rest = sub(node, scaled(made(Op.FLOOR, scaled(node, 0.5)), 2.0))
    return compared("ne", rest, Num(0.0), True)


def loosened(node: Node, element: str | None) -> Node:
    """A sum whose terms need not be taken modulo 2^bits, as the sum is; products of few bits, too.

    Parameters
    ----------
    element : str, optional
        The type of the sum.
    """
    bits = bits_of(element)
    if bits is None or bits > 2 * _HALF:
        return node
    match node:
        case Raw(name="wrap", operands=(Apply(op=op) as inner, _, Num(size))) if size >= 2.0**bits:
            if op in _SUMS or (op is Op.MUL and size <= 2.0**_HALF and len(inner.operands) == 2):
                return inner
        case Apply(op=Op.ADD | Op.SUB as op, operands=(a, b)):
            return _SUMS[op](loosened(a, element), loosened(b, element))
    return node


_SUMS: Mapping[Op, Callable[[Node, Node], Node]] = {Op.ADD: add, Op.SUB: sub}
