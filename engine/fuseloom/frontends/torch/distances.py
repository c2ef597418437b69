"""Norms, similarities and distances of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from fuseloom.frontends.algebra.powers import power
from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.elementwise import compute
from fuseloom.frontends.torch.reductions import dims_of, kept
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value, broadcast_shape
from fuseloom.program import Op


def norm_of(m: Traced, value: Value, dims: Sequence[int], order: float) -> Value:
    """The norm of a positive order, or 0, over some dimensions, which stay with size 1."""
    b = m.builder
    if order < 0:
        raise b.refuse(f"the norm of order {order:g}", "orders from 0 to infinity are supported")
    if order == 2:
        total = b.reduce(Op.SUM, b.mul(value, value, "squares"), dims, "total")
        return b.apply(Op.SQRT, total)
    size = b.apply(Op.ABS, value)
    if order == math.inf:
        return b.reduce(Op.MAX, size, dims, "top")
    if order == 0:
        return b.reduce(Op.SUM, b.apply(Op.SIGN, size), dims, "total")
    total = b.reduce(Op.SUM, compute(b, power, size, order), dims, "total")
    return compute(b, power, total, 1.0 / order)


def vector_norm(
    m: Traced, x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    value = m.builder.unmasked(m.value(x), "a norm")
    dims = dims_of(value, dim)
    return kept(norm_of(m, value, dims, float(ord)), dims, keepdim)


def norm(
    m: Traced, x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    return vector_norm(m, x, 2 if p is None else p, dim, keepdim)


def matrix_norm(
    m: Traced,
    x: Any,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    dtype: Any = None,
) -> Value:
    """The root of the squares' sum, or the largest sum of magnitudes of a column or a row."""
    b = m.builder
    value = b.unmasked(m.value(x), "a norm")
    rows, columns = (b.axis(d, value.rank) for d in dim)
    if ord == "fro":
        return kept(norm_of(m, value, [rows, columns], 2.0), [rows, columns], keepdim)
    if ord not in (1, math.inf):
        raise b.refuse(
            f"the matrix norm {ord}",
            "'fro', 1 and inf are supported; the others need singular values: compute them outside "
            "of the module and give the result as an input",
        )
    along, across = (rows, columns) if ord == 1 else (columns, rows)
    sums = norm_of(m, value, [along], 1.0)
    return kept(b.reduce(Op.MAX, sums, [across], "top"), [rows, columns], keepdim)


def any_norm(
    m: Traced, x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """``linalg.norm``: of vectors, or of matrices where two dimensions are meant."""
    rank = m.value(x).rank
    dims = [dim] if isinstance(dim, int) else dim
    if ord is None or (len(dims) == 1 if dims else rank == 1):
        return vector_norm(m, x, 2 if ord is None else ord, dims, keepdim)
    return matrix_norm(m, x, ord, dims or (-2, -1), keepdim)


def _without(value: Value, dim: int) -> Value:
    return kept(value, [dim], keepdim=False)


def cosine_similarity(m: Traced, x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Value:
    """``x y / (max(|x|, eps) max(|y|, eps))``"""
    b = m.builder
    first, second = (b.unmasked(m.value(x), "a similarity") for x in (x1, x2))
    shape = broadcast_shape(first.shape, second.shape)
    first, second = b.aligned([first, second], shape)
    dim = m.builder.axis(dim, len(shape))
    total = b.reduce(Op.SUM, b.mul(first, second, "products"), [dim], "total")

    def length(value: Value, part: str) -> Value:
        squares = b.reduce(Op.SUM, b.mul(value, value, f"squares{part}"), [dim], f"square{part}")
        return b.at_least(b.apply(Op.SQRT, squares), eps)

    below = b.mul(length(first, "1"), length(second, "2"), "lengths")
    return _without(b.div(total, below), dim)


def cdist(m: Traced, x1: Any, x2: Any, p: float = 2, compute_mode: int | None = None) -> Value:
    """The distance of each row of one matrix from each row of another."""
    b = m.builder
    first, second = (b.unmasked(m.value(x), "a distance") for x in (x1, x2))
    rows = first.picked(
        [*range(first.rank - 1), None, first.rank - 1], [*first.shape[:-1], 1, first.shape[-1]]
    )
    columns = second.picked(
        [*range(second.rank - 2), None, second.rank - 2, second.rank - 1],
        [*second.shape[:-2], 1, *second.shape[-2:]],
    )
    difference = b.add(rows, columns, "difference", Op.SUB)
    distance = norm_of(m, difference, [difference.rank - 1], float(p))
    return _without(distance, distance.rank - 1)


def pairwise_distance(
    m: Traced, x1: Any, x2: Any, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Value:
    """``|x1 - x2 + eps|`` of each row."""
    b = m.builder
    first, second = (b.unmasked(m.value(x), "a distance") for x in (x1, x2))
    difference = b.shift(b.add(first, second, "difference", Op.SUB), float(eps))
    last = b.axis(-1, difference.rank)
    return kept(norm_of(m, difference, [last], float(p)), [last], keepdim)


def pdist(m: Traced, x: Any, p: float = 2) -> Value:
    """The distance of each row from each later one."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a distance")
    pairs = list(combinations(range(value.shape[0]), 2))

    def rows(side: int) -> Value:
        return views.selected(b, value, 0, [pair[side] for pair in pairs], f"side{side}")

    difference = b.add(rows(0), rows(1), "difference", Op.SUB)
    return _without(norm_of(m, difference, [1], float(p)), 1)


HANDLERS: dict[str, Callable[..., Any]] = {
    "cosine_similarity": cosine_similarity, "cdist": cdist, "_cdist_forward": cdist,
    "linalg_vector_norm": vector_norm, "norm": norm, "linalg_matrix_norm": matrix_norm,
    "linalg_norm": any_norm, "pairwise_distance": pairwise_distance, "pdist": pdist,
    "_pdist_forward": pdist,
}  # fmt: skip
