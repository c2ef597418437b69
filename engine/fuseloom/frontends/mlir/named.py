"""Named operations as what they abbreviate: maps, and a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from fuseloom.frontends.algebra.expressions import (
    Apply,
    Arg,
    Node,
    Num,
    Raw,
    add,
    div,
    largest,
    made,
    mul,
    raw,
    smallest,
    sub,
)
from fuseloom.frontends.mlir.arithmetic import apply
from fuseloom.frontends.mlir.integers import bits_of, range_of
from fuseloom.frontends.mlir.syntax import AffineMap, Type
from fuseloom.frontends.mlir.values import Ignored
from fuseloom.program.float32 import INTEGER_BITS
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.syntax import SourcePlace


@dataclass(frozen=True)
class Computation:
    """The computation of a structured operation at each point of its iteration space.

    Attributes
    ----------
    dims : tuple of str
        Names of the dimensions, outermost first: the dataflow order that the user asks for.
    maps : tuple of AffineMap
        Of the inputs, then of the outputs.
    reduced : frozenset of str
    trees : tuple
        Per result what is yielded, or why it has no meaning here.
    """

    dims: tuple[str, ...]
    maps: tuple[AffineMap, ...]
    reduced: frozenset[str]
    trees: tuple[Node | Ignored, ...]
    place: SourcePlace


_CONTRACTIONS: Mapping[str, tuple[str, str, str, str]] = {
    # dims in dataflow order, indices of the two inputs and of the output
    "linalg.matmul": ("ikj", "ik", "kj", "ij"),
    "linalg.matmul_transpose_a": ("ikj", "ki", "kj", "ij"),
    "linalg.matmul_transpose_b": ("ijk", "ik", "jk", "ij"),
    "linalg.batch_matmul": ("bikj", "bik", "bkj", "bij"),
    "linalg.matvec": ("ij", "ij", "j", "i"),
    "linalg.vecmat": ("ij", "i", "ij", "j"),
    "linalg.dot": ("i", "i", "i", ""),
    "linalg.batch_matmul_transpose_a": ("bikj", "bki", "bkj", "bij"),
    "linalg.batch_matmul_transpose_b": ("bijk", "bik", "bjk", "bij"),
    "linalg.batch_matvec": ("bij", "bij", "bj", "bi"),
    "linalg.batch_vecmat": ("bij", "bi", "bij", "bj"),
    "linalg.batch_reduce_matmul": ("bikj", "bik", "bkj", "ij"),
    "linalg.mmt4d": ("mnkxyz", "mkxz", "nkyz", "mnxy"),
    "linalg.batch_mmt4d": ("bmnkxyz", "bmkxz", "bnkyz", "bmnxy"),
    "linalg.quantized_matmul": ("ikj", "ik", "kj", "ij"),
    "linalg.quantized_batch_matmul": ("bikj", "bik", "bkj", "bij"),
    "linalg.matmul_unsigned": ("ikj", "ik", "kj", "ij"),
}
_ELEMENTWISE: Mapping[str, tuple[str, int]] = {
    "linalg.add": ("arith.addf", 2),
    "linalg.sub": ("arith.subf", 2),
    "linalg.mul": ("arith.mulf", 2),
    "linalg.div": ("arith.divf", 2),
    "linalg.div_unsigned": ("arith.divf", 2),
    "linalg.max_unsigned": ("arith.maximumf", 2),
    "linalg.min_unsigned": ("arith.minimumf", 2),
    "linalg.powf": ("math.powf", 2),
    "linalg.negf": ("arith.negf", 1),
    "linalg.round": ("math.round", 1),
    "linalg.max": ("arith.maximumf", 2),
    "linalg.min": ("arith.minimumf", 2),
    "linalg.select": ("arith.select", 3),
    **{
        name: (row.mlir[0], 1)
        for row in FUNCTIONS.values()
        for name in row.mlir
        if name.startswith("linalg.")
    },
}
_INTEGERS: Mapping[str, str] = {
    "arith.addf": "arith.addi", "arith.subf": "arith.subi", "arith.mulf": "arith.muli",
    "arith.divf": "arith.divsi", "arith.maximumf": "arith.maxsi", "arith.minimumf": "arith.minsi",
    "math.absf": "math.absi",
}  # fmt: skip
"""The same operations of integers."""
_SIGNLESS = {"arith.divf": "arith.divui", "arith.maximumf": "arith.maxui",
             "arith.minimumf": "arith.minui"}  # fmt: skip
_POWERS: Mapping[str, str] = {"linalg.square": "arith.mulf", "linalg.reciprocal": "arith.divf"}
QUANTIZED = ("linalg.quantized_matmul", "linalg.quantized_batch_matmul")
"""Products of differences: two more inputs say what zero is."""
_MOVES = ("linalg.copy", "linalg.transpose", "linalg.broadcast")
SELECT = "linalg.select"
CONTRACT = "linalg.contract"
"""A product and sum whose maps the text gives."""
SOFTMAX = "linalg.softmax"
"""A softmax over a dimension; it is several computations."""
NAMED = (
    *_CONTRACTIONS, *_ELEMENTWISE, *_POWERS, *_MOVES, CONTRACT, SOFTMAX, "linalg.fill",
)  # fmt: skip


def inputs_of(op: str) -> int:
    """Return the number of inputs of a named operation."""
    if op in QUANTIZED:
        return 4
    if op in _CONTRACTIONS or op == CONTRACT:
        return 2
    return _ELEMENTWISE[op][1] if op in _ELEMENTWISE else 1


def named(
    op: str,
    rank: int,
    maps: tuple[AffineMap, ...] | None,
    dimensions: tuple[int, ...] | None,
    place: SourcePlace,
) -> Computation | None:
    """The meaning of a named operation; None if its dimensions are no permutation or subset.

    Parameters
    ----------
    rank : int
        Of the output.
    maps : tuple of AffineMap, optional
        Given by the text; of a contraction they replace its own.
    dimensions : tuple of int, optional
        The permutation of a transpose, the new dimensions of a broadcast.
    """
    if op in _CONTRACTIONS or (op == CONTRACT and maps):
        return _contraction(op, maps, place)
    if op == CONTRACT:
        return None
    dims = maps[0].dims if maps else tuple(f"d{n}" for n in range(rank))
    whole = AffineMap(dims, dims)
    if op in _ELEMENTWISE or op in _POWERS:
        given = maps or (whole,) * (inputs_of(op) + 1)
        return Computation(dims, given, frozenset(), (_each(op),), place)
    source = dims
    if op == "linalg.transpose":
        if dimensions is None or sorted(dimensions) != list(range(rank)):
            return None
        by_input = {axis: dims[n] for n, axis in enumerate(dimensions)}
        source = tuple(by_input[n] for n in range(rank))
    elif op == "linalg.broadcast":
        if dimensions is None or not set(dimensions) <= set(range(rank)):
            return None
        source = tuple(x for n, x in enumerate(dims) if n not in dimensions)
    return Computation(dims, (AffineMap(dims, source), whole), frozenset(), (Arg(0),), place)


def _each(op: str, type_: Type | None = None) -> Node:
    """The tree of an operation on each element, which are of a type of integers if one is given."""
    if op == "linalg.reciprocal":
        return div(Num(1.0), Arg(0))
    word, count = (_POWERS[op], 2) if op in _POWERS else _ELEMENTWISE[op]
    operands = tuple(Arg(0 if op in _POWERS else n) for n in range(count))
    if type_ is not None:
        words = {**_INTEGERS, **_SIGNLESS} if op.endswith(_UNSIGNED_NAME) else _INTEGERS
        word = words.get(word, word)
    return apply(word, operands, None, type_)


_UNSIGNED_NAME = "_unsigned"


def rounds(op: str, ins: Sequence[Type], out: Type) -> str | None:
    """Why a named operation keeps less than the numbers, where programs do not."""
    products = op in _CONTRACTIONS or op == CONTRACT
    if out.is_integer and any(x.is_float for x in ins) and not products:
        return f"{op} of floats that gives integers"
    if op == "linalg.reciprocal" and out.is_integer:
        return f"{op} of integers"
    if out.element == "i1" and op not in (*_MOVES, "linalg.select"):
        return f"{op} of conditions, whose sums have one bit"
    return None


def softmax(
    rank: int, axis: int, place: SourcePlace
) -> tuple[Computation, Computation, Computation, Computation]:
    """A softmax: the maximum along a dimension, exp(x - maximum), its sum, the quotient."""
    dims = tuple(f"d{n}" for n in range(rank))
    whole, less = AffineMap(dims, dims), AffineMap(dims, (*dims[:axis], *dims[axis + 1 :]))
    over = frozenset((dims[axis],))

    def reduced(tree: Node) -> Computation:
        return Computation(dims, (whole, less), over, (tree,), place)

    def each(tree: Node) -> Computation:
        return Computation(dims, (whole, less, whole), frozenset(), (tree,), place)

    return (
        reduced(largest(Arg(1), Arg(0))),
        each(made(Op.EXP, sub(Arg(0), Arg(1)))),
        reduced(add(Arg(1), Arg(0))),
        each(div(Arg(0), Arg(1))),
    )


def _contraction(op: str, maps: tuple[AffineMap, ...] | None, place: SourcePlace) -> Computation:
    order, *accesses = _CONTRACTIONS.get(op, ("", "", "", ""))
    dims = tuple(order)
    given = maps or tuple(AffineMap(dims, tuple(access)) for access in accesses)
    dims = given[0].dims
    kept = given[-1].results
    product = apply("arith.mulf", (Arg(0), Arg(1)), None)
    tree = apply("arith.addf", (Arg(2), product), None)
    reduced = frozenset(x for x in dims if x not in kept)
    if op in QUANTIZED:
        point = AffineMap(dims, ())
        given = (given[0], given[1], point, point, given[2])
        product = apply(
            "arith.mulf",
            (
                apply("arith.subf", (Arg(0), Arg(2)), None),
                apply("arith.subf", (Arg(1), Arg(3)), None),
            ),
            None,
        )
        tree = apply("arith.addf", (Arg(4), product), None)
    return Computation(dims, given, reduced, (tree,), place)


def with_inputs(computation: Computation, given: Mapping[int, Node]) -> Computation:
    """The same computation where some inputs are numbers, or trees of their own."""
    trees = tuple(
        tree if isinstance(tree, Ignored) else _replaced(tree, given, _AGAIN)
        for tree in computation.trees
    )
    return replace(computation, trees=trees)


def _replaced(node: Node, given: Mapping[int, Node], again: Mapping[Op, Again]) -> Node:
    match node:
        case Arg(number=number) if number in given:
            return given[number]
        case Apply(op=op, operands=operands) if op in again:
            return again[op](*(_replaced(x, given, again) for x in operands))
        case Raw(name=name, operands=operands):
            inner = [_replaced(x, given, again) for x in operands]
            return again[_EXTREMES[name]](*inner) if name in _EXTREMES else raw(name, *inner)
    return node


_EXTREMES = {"max": Op.MAXIMUM, "min": Op.MAX}
"""Operations under which :func:`in_integers` finds those of two elements."""


def in_integers(
    op: str, computation: Computation, ins: Sequence[Type], out: Type, signless: bool
) -> Computation:
    """The same computation on integers of the output's type, to which its inputs are cast.

    Parameters
    ----------
    signless : bool
        Whether inputs are cast, and compared, as integers without a sign.
    """
    number = Type(out.element, place=out.place)
    casts = {k: _cast(_element(k, x), x, number, signless) for k, x in enumerate(ins)}
    if op in _ELEMENTWISE or op in _POWERS:
        computation = replace(computation, trees=(_each(op, number),))
        return with_inputs(computation, casts)

    def apply_as(word: str) -> Again:
        return lambda *x: reduce(lambda a, b: apply(word, (a, b), None, number), x)

    words = {**_WORDS, **_SIGNLESS_WORDS} if signless else _WORDS
    again = {op: apply_as(word) for op, word in words.items()}
    trees = tuple(
        tree if isinstance(tree, Ignored) else _replaced(tree, casts, again)
        for tree in computation.trees
    )
    return replace(computation, trees=trees)


def in_floats(computation: Computation, ins: Sequence[Type], signless: bool) -> Computation:
    """The same computation of floats, to which inputs of integers are cast."""
    number = Type("f32")
    casts = {
        k: _cast(_element(k, x), x, number, signless) for k, x in enumerate(ins) if x.is_integer
    }
    return with_inputs(computation, casts) if casts else computation


def _element(k: int, of: Type) -> Arg:
    """An operand, with the range of its type."""
    bits = bits_of(of.element)
    narrow = bits is not None and bits <= INTEGER_BITS
    return Arg(k, range=range_of(of.element) if narrow else None)


def _cast(node: Node, of: Type, to: Type, signless: bool) -> Node:
    """An element in the type of the output."""
    source = Type(of.element)
    if of.element == to.element:
        return node
    if of.is_float:
        return apply("arith.fptoui" if signless else "arith.fptosi", (node,), None, to, source)
    if to.is_float:
        return apply("arith.uitofp" if signless else "arith.sitofp", (node,), None, to, source)
    narrow = (bits_of(of.element) or 64) > (bits_of(to.element) or 64)
    word = "arith.trunci" if narrow else "arith.extui" if signless else "arith.extsi"
    return apply(word, (node,), None, to, source)


Again: TypeAlias = Callable[..., Node]
_WORDS: Mapping[Op, str] = {
    Op.MUL: "arith.muli", Op.ADD: "arith.addi", Op.SUB: "arith.subi",
    Op.MAXIMUM: "arith.maxsi", Op.MAX: "arith.minsi",
}  # fmt: skip
_SIGNLESS_WORDS: Mapping[Op, str] = {Op.MAXIMUM: "arith.maxui", Op.MAX: "arith.minui"}
_AGAIN: Mapping[Op, Again] = {
    Op.MUL: mul, Op.ADD: add, Op.SUB: sub, Op.MAXIMUM: largest, Op.MAX: smallest,
}  # fmt: skip
