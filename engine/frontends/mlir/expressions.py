"""What the region of a ``linalg.generic`` computes: trees of the operations that programs have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.errors import ProgramError
from engine.program.limits import MAX_NESTING
from engine.program.syntax import Place
from engine.program.types import Op

MAX_NODES = 1_000
CAST = "cast"
"""Raw tree of a region that does nothing but change the type of an element."""
ROOT_HALF = 1.0 / math.sqrt(2.0)
_CLOSE = 1e-6


@dataclass(frozen=True)
class Arg:
    """The element of an operand, inputs before outputs; -1 - n for the n-th value from outside."""

    number: int
    size: int = 1
    depth: int = 1


@dataclass(frozen=True)
class Num:
    value: float
    size: int = 1
    depth: int = 1


@dataclass(frozen=True)
class Apply:
    """An operation of programs on one or more trees."""

    op: Op
    operands: tuple[Node, ...]
    constant: float | None = None
    size: int = field(default=1, compare=False)
    depth: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Raw:
    """What has a meaning only inside a larger pattern: a maximum, a comparison, a root, ..."""

    name: str
    operands: tuple[Node, ...]
    size: int = field(default=1, compare=False)
    depth: int = field(default=1, compare=False)


Node: TypeAlias = Arg | Num | Apply | Raw


def arguments(node: Node) -> tuple[int, ...]:
    """Numbers of the operands that a tree reads, in order of first appearance."""
    found: dict[int, None] = {}
    todo = [node]
    while todo:
        match todo.pop():
            case Arg(number=number):
                found[number] = None
            case Apply(operands=operands) | Raw(operands=operands):
                todo += reversed(operands)
            case _:
                pass
    return tuple(found)


def _made(op: Op, *operands: Node, constant: float | None = None) -> Node:
    return Apply(op, operands, constant, *_measures(operands))


def cast_of(node: Node) -> Node:
    """A region that yields an element in another type."""
    return _raw(CAST, node)


def _raw(name: str, *operands: Node) -> Node:
    return Raw(name, operands, *_measures(operands))


def _measures(operands: tuple[Node, ...]) -> tuple[int, int]:
    """Size and depth of a tree over these."""
    return 1 + sum(n.size for n in operands), 1 + max(n.depth for n in operands)


def _scaled(node: Node, factor: float) -> Node:
    return _made(Op.SCALE, node, constant=factor)


def _shifted(node: Node, term: float) -> Node:
    return _made(Op.SHIFT, node, constant=term)


class Unsupported(Exception):  # noqa: N818 - not an error of its own; gets its place above
    """A value that no statement computes: what is wrong, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


# Arithmetic -----------------------------------------------------------------------------------


def _mul(a: Node, b: Node) -> Node:
    match a, b:
        case Num(x), Num(y):
            return Num(x * y)
        case (Num(x), node) | (node, Num(x)):
            return _gelu(_scaled(node, x))
    return _gelu(_made(Op.MUL, *_factors(a), *_factors(b)))


def _factors(node: Node) -> tuple[Node, ...]:
    return node.operands if isinstance(node, Apply) and node.op is Op.MUL else (node,)


def _div(a: Node, b: Node) -> Node:
    match a, b:
        case _, Num(0.0):
            raise Unsupported("division by zero", "divide by a non-zero constant")
        case Num(x), Num(y):
            return Num(x / y)
        case node, Num(y):
            return _scaled(node, 1.0 / y)
        case Num(1.0), Apply(Op.SQRT, (x,)):
            return _made(Op.RSQRT, x)
        case Num(1.0), Apply(Op.SHIFT, (Apply(Op.EXP, (negative,)),), 1.0):
            if isinstance(negative, Apply) and (negative.op, negative.constant) == (Op.SCALE, -1.0):
                return _made(Op.SIGMOID, negative.operands[0])
    if isinstance(a, Num):
        raise Unsupported(
            "a number cannot be divided by a tensor",
            "pass the number as an argument of type tensor<f32> and divide that",
        )
    return _made(Op.DIV, a, b)


def _add(a: Node, b: Node) -> Node:
    match a, b:
        case Num(x), Num(y):
            return Num(x + y)
        case (Num(x), node) | (node, Num(x)):
            return _shifted(node, x)
    return _made(Op.ADD, a, b)


def _sub(a: Node, b: Node) -> Node:
    match a, b:
        case Num(x), Num(y):
            return Num(x - y)
        case node, Num(y):
            return _shifted(node, -y)
        case Num(0.0), node:
            return _scaled(node, -1.0)
        case Num(x), node:
            return _shifted(_scaled(node, -1.0), x)
    return _made(Op.SUB, a, b)


def _max(a: Node, b: Node) -> Node:
    match a, b:
        case Num(x), Num(y):
            return Num(max(x, y))
        case (Num(0.0), node) | (node, Num(0.0)):
            return _made(Op.RELU, node)
        case (Num(x), node) | (node, Num(x)) if math.isfinite(x):
            return _made(Op.AT_LEAST, node, constant=x)
    return _raw("max", a, b)


def _min(a: Node, b: Node) -> Node:
    """The maximum of what is negated, which is exact."""
    match a, b:
        case Num(x), Num(y):
            return Num(min(x, y))
        case (Num(x), node) | (node, Num(x)):
            return _negated(_max(_negated(node), Num(-x)))
    return _raw("min", a, b)


def _negated(node: Node) -> Node:
    return Num(-node.value) if isinstance(node, Num) else _scaled(node, -1.0)


def as_maximum(node: Raw) -> Node:
    """The larger, or smaller, of two elements as an operation of programs.

    >>> as_maximum(Raw("max", (Arg(0), Arg(1)))).op
    <Op.MAXIMUM: 'max()'>
    """
    a, b = node.operands
    if node.name == "max":
        return _made(Op.MAXIMUM, a, b)
    return _negated(_made(Op.MAXIMUM, _negated(a), _negated(b)))


def negated(node: Node) -> Node:
    """A tree times -1."""
    return _negated(node)


def _select(condition: Node, yes: Node, no: Node) -> Node:
    """A maximum written as a comparison and a choice; a bare comparison has no other use."""
    if isinstance(condition, Raw) and condition.name in ("greater", "less"):
        a, b = condition.operands
        greater, smaller = (a, b) if condition.name == "greater" else (b, a)
        if (yes, no) == (greater, smaller):
            return _max(a, b)
        if (yes, no) == (smaller, greater):
            return _min(a, b)
    raise Unsupported(
        "this arith.select is no maximum and no minimum",
        "of selections, these are in the subset: select(x > y, x, y) and select(x < y, x, y)",
    )


def _compared(predicate: str | None, a: Node, b: Node) -> Node:
    word = predicate or ""
    if word in ("ogt", "ugt", "oge", "uge"):
        return _raw("greater", a, b)
    if word in ("olt", "ult", "ole", "ule"):
        return _raw("less", a, b)
    raise Unsupported(f"the comparison {word!r}", "a relu compares with ogt, ugt, olt or ult")


def _gelu(node: Node) -> Node:
    """``0.5 x (1 + erf(x / sqrt 2))`` as GELU, however its factors are arranged."""
    factor, rest = 1.0, [node]
    factors: list[Node] = []
    while rest:
        match rest.pop():
            case Apply(Op.SCALE, (inner,), float() as constant):
                factor *= constant
                rest.append(inner)
            case Apply(Op.MUL, operands):
                rest += operands
            case other:
                factors.append(other)
        if len(factors) > 2:
            return node
    if len(factors) != 2 or abs(factor - 0.5) > _CLOSE:
        return node
    for x, bell in (factors, factors[::-1]):
        match bell:
            case Apply(Op.SHIFT, (Raw("erf", (Apply(Op.SCALE, (same,), float() as root),)),), 1.0):
                if same == x and abs(root - ROOT_HALF) < _CLOSE:
                    return _made(Op.GELU, x)
    return node


_BINARY: Mapping[str, Callable[[Node, Node], Node]] = {
    "arith.mulf": _mul,
    "arith.addf": _add,
    "arith.subf": _sub,
    "arith.divf": _div,
    "arith.maximumf": _max,
    "arith.maxnumf": _max,
    "arith.maxf": _max,
    "arith.minimumf": _min,
    "arith.minnumf": _min,
    "arith.minf": _min,
}
_UNARY: Mapping[str, Callable[[Node], Node]] = {
    "math.exp": lambda x: _made(Op.EXP, x),
    "math.log": lambda x: _made(Op.LOG, x),
    "math.rsqrt": lambda x: _made(Op.RSQRT, x),
    "math.sqrt": lambda x: _made(Op.SQRT, x),
    "math.tanh": lambda x: _made(Op.TANH, x),
    "math.absf": lambda x: _made(Op.ABS, x),
    "math.erf": lambda x: _raw("erf", x),
    "arith.negf": lambda x: _scaled(x, -1.0),
    "arith.extf": lambda x: x,
    "arith.truncf": lambda x: x,
}
ARITHMETIC = (*_BINARY, *_UNARY, "arith.cmpf", "arith.select", "arith.constant")


def apply(op: str, operands: tuple[Node, ...], predicate: str | None) -> Node:
    """The tree of one operation of a region.

    Raises
    ------
    Unsupported
        An operation outside the subset, with too few operands, or on too large a tree.
    """
    wanted = 2
    if op in _UNARY:
        wanted = 1
    elif op == "arith.select":
        wanted = 3
    elif op not in _BINARY and op != "arith.cmpf":
        raise Unsupported(f"the operation {op} is outside the subset",
                          f"known: {', '.join(ARITHMETIC)}")  # fmt: skip
    if len(operands) != wanted:
        raise Unsupported(f"{op} takes {wanted} operands, not {len(operands)}", "see docs/mlir.md")
    if op in _UNARY:
        made = _UNARY[op](operands[0])
    elif op in _BINARY:
        made = _BINARY[op](*operands)
    elif op == "arith.cmpf":
        made = _compared(predicate, *operands)
    else:
        made = _select(*operands)
    if made.size > MAX_NODES:
        raise Unsupported(f"the region computes more than {MAX_NODES:,} operations", "split it")
    if made.depth > MAX_NESTING:
        raise Unsupported(f"the region nests more than {MAX_NESTING} operations", "split it")
    if isinstance(made, Num) and not math.isfinite(made.value) and not _all_infinite(operands):
        raise Unsupported("a constant is too large for a number", "constants are finite")
    return made


def _all_infinite(operands: tuple[Node, ...]) -> bool:
    return any(isinstance(n, Num) and math.isinf(n.value) for n in operands)


def refuse_meaning(message: str, hint: str, place: Place) -> ProgramError:
    """A ProgramError at a place."""
    return ProgramError(message, hint=hint, line=place[0], column=place[1])
