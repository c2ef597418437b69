"""Operations of ``torch.sparse``: products that sample or reduce, and softmax over what is there.

A sparse tensor has elements where its layout names them, whatever their values.  That pattern
counts here, and is an input of its own where the tensor's storage holds more than it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fuseloom.frontends.torch import products, reductions
from fuseloom.frontends.torch.ones import ones_at
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Feed, Support, Value
from fuseloom.program import Op
from fuseloom.program.formats import LevelFormat


def coordinates(held: Any) -> Any:
    """Return the coordinates of a sparse tensor's elements, one column each."""
    coo = held.detach().to_sparse_coo()
    return coo.coalesce().indices()


def pattern(m: Traced, given: Any, what: str) -> Value:
    """Ones where a known sparse tensor has elements."""
    held = m.held(given)
    if held is None or held.layout == m.torch.strided:
        raise m.builder.refuse(
            f"{what} of a tensor that is no sparse input",
            "give the sparse tensor as an input, in a layout of torch.sparse",
        )
    name, shape = given.name, tuple(held.shape)
    return m.builder.feed(
        f"{name}_pattern",
        shape,
        lambda env: ones_at(coordinates(env[name]), shape),
        keep=True,
    )


def _exact(m: Traced, value: Value) -> bool:
    """Return whether a value has exactly the elements of its sparse tensor."""
    feed: Feed | None = m.builder.feeds.get(value.tensor)
    if feed is None:
        return value.support is not Support.FULL
    fmt = m.storage.format(feed)
    outer = True
    for level in fmt.levels:
        if level is not LevelFormat.DENSE:
            outer = False
        elif not outer:
            return False
    return fmt.block == 1 and not fmt.all_dense


def _stored(m: Traced, given: Any, what: str) -> Value:
    """A sparse tensor with its own elements only."""
    value = m.value(given)
    if _exact(m, value):
        return value
    return m.builder.pointwise("stored", Op.MUL, [value, pattern(m, given, what)], Support.ZERO)


# Products -----------------------------------------------------------------------------------------


def sparse_mm(
    m: Traced,
    sparse: Any = None,
    dense: Any = None,
    x: Any = None,
    other: Any = None,
    mat2: Any = None,
    reduce: str = "sum",
) -> Value:
    """A product of matrices, or what else is made of its terms: mean, amax, amin."""
    b = m.builder
    left = sparse if sparse is not None else x
    right = next(g for g in (dense, other, mat2) if g is not None)
    if reduce == "sum":
        return products.product(m, m.value(left), m.value(right))
    held = m.held(left)
    if held is None:
        raise b.refuse(
            f"a product that reduces by {reduce} with a computed sparse matrix", "reduce by sum"
        )
    if reduce == "mean":
        total = products.product(m, m.value(left), m.value(right))
        return b.mul(total, _share(m, left), "mean")
    if reduce not in ("amax", "amin"):
        raise b.refuse(
            f"a sparse product that reduces by {reduce}", "sum, mean, amax and amin are supported"
        )
    sign = 1.0 if reduce == "amax" else -1.0
    columns = b.stored_dims(b.filled(b.scale(m.value(right), sign, "negative")))
    terms = b.contract([(_stored(m, left, f"the {reduce}"), "ik"), (columns, "kf")], "ikf", "terms")
    top = b.reduce(Op.MAX, replace(terms, support=Support.MASKED), [1], "largest")
    top = replace(top.picked([0, 2], [top.shape[0], top.shape[2]]), support=Support.ZERO)
    return b.scale(top, sign, "negative")


def _share(m: Traced, given: Any) -> Value:
    """One over the number of elements in each row, as a column."""
    name, rows, torch = given.name, m.held(given).shape[0], m.torch

    def fetch(env: Mapping[str, Any]) -> Any:
        counts = torch.bincount(coordinates(env[name])[0], minlength=rows)
        return 1.0 / counts.clamp(min=1).double()

    made = m.builder.feed(f"{m.builder.node.name}_share", (rows,), fetch, m.origins[name])
    return made.picked([0, None], [rows, 1])


def sampled_addmm(
    m: Traced, x: Any, mat1: Any, mat2: Any, beta: float = 1, alpha: float = 1
) -> Value:
    """``beta x + alpha mat1 mat2``, where the sparse ``x`` has elements."""
    b = m.builder
    left, right = b.filled(m.value(mat1)), b.filled(m.value(mat2))
    here = pattern(m, x, "sampled_addmm")
    batch = "abcdefgh"[: here.rank - 2]
    sampled = b.contract(
        [(here, [*batch, "i", "j"]), (left, [*batch, "i", "k"]), (right, [*batch, "k", "j"])],
        [*batch, "i", "j"],
        "sampled",
    )
    sampled = b.scale(sampled, float(alpha))
    if beta == 0:
        return sampled
    own = b.scale(_stored(m, x, "sampled_addmm"), float(beta), "share")
    return b.pointwise("sum", Op.ADD, [own, sampled], Support.ZERO)


# Softmax ------------------------------------------------------------------------------------------


def sparse_softmax(logarithm: bool) -> Callable[..., Value]:
    """Over the elements that a sparse tensor has; the others stay absent."""

    def handler(m: Traced, x: Any, dim: int, dtype: Any = None, **_: Any) -> Value:
        value = m.value(x)
        if not _exact(m, value):
            value = _stored(m, x, "softmax")
        m.builder.masks = True
        function = reductions.log_softmax_of if logarithm else reductions.softmax_of
        result = function(m, replace(value, support=Support.MASKED, mask=None), dim)
        return replace(result, support=Support.ZERO, mask=None)

    return handler


def sparse_sum(m: Traced, x: Any, dim: Any = None, dtype: Any = None, **_: Any) -> Value:
    return reductions.sum_(m, x, dim)


HANDLERS: dict[str, Callable[..., Any]] = {
    "_sparse_mm": sparse_mm, "_sparse_mm_reduce_impl": sparse_mm,
    "sparse_sampled_addmm": sampled_addmm, "_sparse_softmax": sparse_softmax(False),
    "_sparse_log_softmax": sparse_softmax(True), "_sparse_sum": sparse_sum,
}  # fmt: skip
