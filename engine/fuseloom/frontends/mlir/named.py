"""Named operations as what they abbreviate: maps, and a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fuseloom.frontends.mlir.arithmetic import apply
from fuseloom.frontends.mlir.expressions import (
    Apply,
    Arg,
    Node,
    Num,
    add,
    div,
    largest,
    made,
    mul,
    sub,
)
from fuseloom.frontends.mlir.syntax import AffineMap, Type
from fuseloom.frontends.mlir.values import Ignored
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Op


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
    "linalg.matmul_unsigned": ("ikj", "ik", "kj", "ij"),
}
_ELEMENTWISE: Mapping[str, tuple[str, int]] = {
    "linalg.add": ("arith.addf", 2),
    "linalg.sub": ("arith.subf", 2),
    "linalg.mul": ("arith.mulf", 2),
    "linalg.div": ("arith.divf", 2),
    "linalg.div_unsigned": ("arith.divui", 2),
    "linalg.exp": ("math.exp", 1),
    "linalg.log": ("math.log", 1),
    "linalg.rsqrt": ("math.rsqrt", 1),
    "linalg.negf": ("arith.negf", 1),
    "linalg.sqrt": ("math.sqrt", 1),
    "linalg.tanh": ("math.tanh", 1),
    "linalg.abs": ("math.absf", 1),
    "linalg.floor": ("math.floor", 1),
    "linalg.ceil": ("math.ceil", 1),
    "linalg.round": ("math.round", 1),
    "linalg.erf": ("math.erf", 1),
    "linalg.max": ("arith.maximumf", 2),
    "linalg.min": ("arith.minimumf", 2),
    "linalg.select": ("arith.select", 3),
}
_POWERS: Mapping[str, Node] = {
    "linalg.square": mul(Arg(0), Arg(0)),
    "linalg.reciprocal": div(Num(1.0), Arg(0)),
}
QUANTIZED = "linalg.quantized_matmul"
"""A product of differences: two more inputs say what zero is."""
_MOVES = ("linalg.copy", "linalg.transpose", "linalg.broadcast")
CONTRACT = "linalg.contract"
"""A product and sum whose maps the text gives."""
SOFTMAX = "linalg.softmax"
"""A softmax over a dimension; it is several computations."""
NAMED = (
    *_CONTRACTIONS, *_ELEMENTWISE, *_POWERS, *_MOVES, CONTRACT, SOFTMAX, "linalg.fill",
)  # fmt: skip


def inputs_of(op: str) -> int:
    """Return the number of inputs of a named operation."""
    if op == QUANTIZED:
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
    whole_numbers: bool = False,
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
    whole_numbers : bool
        Whether the output holds integers, among which a quotient is rounded towards 0.
    """
    if op in _CONTRACTIONS or (op == CONTRACT and maps):
        return _contraction(op, maps, place)
    if op == CONTRACT:
        return None
    dims = maps[0].dims if maps else tuple(f"d{n}" for n in range(rank))
    whole = AffineMap(dims, dims)
    if op in _ELEMENTWISE or op in _POWERS:
        count = inputs_of(op)
        word, count = _ELEMENTWISE.get(op, ("", count))
        word = "arith.divsi" if whole_numbers and op == "linalg.div" else word
        tree = _POWERS.get(op) or _applied(word, count)
        given = maps or (whole,) * (count + 1)
        return Computation(dims, given, frozenset(), (tree,), place)
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


def _applied(word: str, count: int) -> Node:
    return apply(word, tuple(Arg(n) for n in range(count)), None)


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
    if op == QUANTIZED:
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
        tree if isinstance(tree, Ignored) else _replaced(tree, given) for tree in computation.trees
    )
    return replace(computation, trees=trees)


def _replaced(node: Node, given: Mapping[int, Node]) -> Node:
    match node:
        case Arg(number=number) if number in given:
            return given[number]
        case Apply(op=op, operands=operands) if op in _AGAIN:
            return _AGAIN[op](*(_replaced(x, given) for x in operands))
    return node


def in_whole_numbers(computation: Computation, ins: Sequence[Type]) -> Computation:
    """The same computation where inputs with a point lose what stands behind it first."""
    return with_inputs(
        computation, {k: made(Op.TRUNC, Arg(k)) for k, x in enumerate(ins) if x.is_float}
    )


_AGAIN: Mapping[Op, Callable[..., Node]] = {Op.MUL: mul, Op.ADD: add, Op.SUB: sub}
