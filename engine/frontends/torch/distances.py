"""Similarities and distances of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.frontends.torch.builder import broadcast_shape
from engine.frontends.torch.reductions import norm_of
from engine.frontends.torch.values import Value
from engine.program import Op

if TYPE_CHECKING:
    from engine.frontends.torch.importer import Importer


def _without(value: Value, dim: int) -> Value:
    rest = [d for d in range(value.rank) if d != dim]
    return value.picked(rest, [value.shape[d] for d in rest])


def cosine_similarity(m: Importer, x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Value:
    """``x y / (max(|x|, eps) max(|y|, eps))``"""
    b = m.builder
    first, second = (b.unmasked(m.value(x), "a similarity") for x in (x1, x2))
    shape = broadcast_shape(first.shape, second.shape)
    first, second = b.aligned([first, second], shape)
    dim = dim % len(shape)
    total = b.reduce(Op.SUM, b.mul(first, second, "products"), [dim], "total")

    def length(value: Value, part: str) -> Value:
        squares = b.reduce(Op.SUM, b.mul(value, value, f"squares{part}"), [dim], f"square{part}")
        return b.at_least(b.apply(Op.SQRT, squares), eps)

    below = b.mul(length(first, "1"), length(second, "2"), "lengths")
    return _without(b.div(total, below), dim)


def cdist(m: Importer, x1: Any, x2: Any, p: float = 2, compute_mode: int | None = None) -> Value:
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


HANDLERS: dict[str, Callable[..., Any]] = {
    "cosine_similarity": cosine_similarity, "cdist": cdist, "_cdist_forward": cdist,
}  # fmt: skip
