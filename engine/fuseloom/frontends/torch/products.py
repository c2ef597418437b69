"""Products and what is made of them: linear layers, selections, concatenation."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.frontends.algebra.tensors import axes_of
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.indexing import held_index
from fuseloom.frontends.torch.masks import mask_bound, under_mask
from fuseloom.frontends.torch.moves import diagonal_of
from fuseloom.frontends.torch.ranking import computed, read_by
from fuseloom.frontends.torch.selections import selections_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Support, Value, broadcast_shape
from fuseloom.program import Op


def product(m: Traced, a: Value, b: Value, part: str = "product") -> Value:
    """``matmul``: vectors, matrices, and batches of matrices that broadcast."""
    if a.rank == 1 and b.rank == 1:
        return m.builder.contract([(a, "k"), (b, "k")], "", part)
    if a.rank == 1:
        batch = [x for x in LETTERS if x not in "ky"][: b.rank - 2]
        return m.builder.contract([(a, "k"), (b, [*batch, "k", "y"])], [*batch, "y"], part)
    if b.rank == 1:
        names = [x for x in LETTERS if x not in "k"][: a.rank - 1]
        return m.builder.contract([(a, [*names, "k"]), (b, "k")], names, part)
    shape = broadcast_shape(a.shape[:-2], b.shape[:-2])
    names = [x for x in LETTERS if x != "k"][: len(shape) + 2]
    batch, row, column = names[: len(shape)], names[-2], names[-1]
    operands = []
    for value, last in ((a, [row, "k"]), (b, ["k", column])):
        own = batch[len(shape) - (value.rank - 2) :]
        operands.append((value, [*own, *last]))
    result = m.builder.contract(operands, [*batch, row, column], part)
    want = (*shape, a.shape[-2], b.shape[-1])
    return result if result.shape == want else result.expanded(want)


def matmul(m: Traced, x: Any, other: Any) -> Value:
    return product(m, m.value(x), m.value(other))


def mm(m: Traced, x: Any, mat2: Any) -> Value:
    return product(m, m.value(x), m.value(mat2))


def mv(m: Traced, x: Any, vec: Any) -> Value:
    return product(m, m.value(x), m.value(vec))


def dot(m: Traced, x: Any, tensor: Any) -> Value:
    return product(m, m.value(x), m.value(tensor))


def _added(m: Traced, x: Any, result: Value, beta: float, alpha: float) -> Value:
    b = m.builder
    result = b.scale(result, float(alpha))
    if beta == 1 and (bound := mask_bound(m, x)) is not None:
        return under_mask(m, result, x, bound)
    return result if beta == 0 else b.add(result, b.scale(m.value(x), float(beta), "share"))


def addmm(m: Traced, x: Any, mat1: Any, mat2: Any, beta: float = 1, alpha: float = 1) -> Value:
    return _added(m, x, product(m, m.value(mat1), m.value(mat2)), beta, alpha)


def baddbmm(
    m: Traced, x: Any, batch1: Any, batch2: Any, beta: float = 1, alpha: float = 1
) -> Value:
    return _added(m, x, product(m, m.value(batch1), m.value(batch2)), beta, alpha)


def addbmm(m: Traced, x: Any, batch1: Any, batch2: Any, beta: float = 1, alpha: float = 1) -> Value:
    """The sum of the products of two batches of matrices, added to a matrix."""
    operands = [(m.value(batch1), "bik"), (m.value(batch2), "bkj")]
    return _added(m, x, m.builder.contract(operands, "ij", "total"), beta, alpha)


MOST_POWER = 64
"""Larger powers of a matrix are refused: float32 overflows at little more than 1."""


def matrix_power(m: Traced, x: Any, n: int) -> Value:
    """A square matrix times itself, by squaring."""
    value, result = m.value(x), None
    if not 1 <= n <= MOST_POWER:
        raise m.builder.refuse(
            f"a matrix to the power of {n}",
            f"powers from 1 to {MOST_POWER} are supported; give an inverse as an input",
        )
    while True:
        if n % 2:
            result = value if result is None else product(m, result, value, "power")
        n //= 2
        if not n:
            assert result is not None
            return result
        value = product(m, value, value, "square")


def addmv(m: Traced, x: Any, mat: Any, vec: Any, beta: float = 1, alpha: float = 1) -> Value:
    return _added(m, x, product(m, m.value(mat), m.value(vec)), beta, alpha)


def outer(m: Traced, x: Any, vec2: Any) -> Value:
    return m.builder.contract([(m.value(x), "i"), (m.value(vec2), "j")], "ij", "product")


def linear_of(m: Traced, value: Value, weight: Value, bias: Value | None, part: str) -> Value:
    names = [x for x in LETTERS if x != "k"][: value.rank]
    rows = names[:-1]
    if weight.rank == 1:
        result = m.builder.contract([(value, [*rows, "k"]), (weight, "k")], rows, part)
    else:
        result = m.builder.contract(
            [(value, [*rows, "k"]), (weight, [names[-1], "k"])], names, part
        )
    return result if bias is None else m.builder.add(result, bias, "biased")


def linear(m: Traced, input: Any, weight: Any, bias: Any = None) -> Value:
    given = None if bias is None else m.value(bias)
    return linear_of(m, m.value(input), m.value(weight), given, "product")


def bilinear(m: Traced, input1: Any, input2: Any, weight: Any, bias: Any = None) -> Value:
    b = m.builder
    first, second, kernel = m.value(input1), m.value(input2), m.value(weight)
    names = [x for x in LETTERS if x not in "kh"][: first.rank]
    half = b.contract(
        [(first, [*names[:-1], "k"]), (kernel, [names[-1], "k", "h"])], [*names, "h"], "half"
    )
    result = b.contract([(half, [*names, "h"]), (second, [*names[:-1], "h"])], names, "product")
    return result if bias is None else b.add(result, m.value(bias), "biased")


def einsum(m: Traced, equation: str, tensors: Sequence[Any], path: Any = None) -> Value:
    """Two operands at a time; an index is summed as soon as nobody needs it any more."""
    b = m.builder
    values = [m.value(t) for t in tensors]
    labels, out = _subscripts(equation, values)
    for n, own in enumerate(labels):
        while twice := next((x for x in own if own.count(x) > 1), None):
            first = own.index(twice)
            second = own.index(twice, first + 1)
            values[n] = diagonal_of(m, values[n], first, second)
            own = [x for d, x in enumerate(own) if d not in (first, second)] + [twice]
        labels[n] = own
    done, names = values[0], labels[0]
    for n in range(1, len(values)):
        later = {x for own in labels[n + 1 :] for x in own} | set(out)
        last = n == len(values) - 1
        both = list(dict.fromkeys([*names, *labels[n]]))
        kept = out if last else [x for x in both if x in later]
        done = b.contract([(done, names), (values[n], labels[n])], kept, "product")
        names = list(kept)
    if len(values) == 1:
        done = b.contract([(done, names)], out, "total")
    return done


def _subscripts(equation: str, values: Sequence[Value]) -> tuple[list[list[str]], list[str]]:
    """Index names per operand and of the result; an ellipsis gets names of its own."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    free = [x for x in string.ascii_letters if x not in equation]
    wide = max(
        (v.rank - len(t.replace("...", "")) for t, v in zip(left.split(","), values, strict=True)
         if "..." in t),
        default=0,
    )  # fmt: skip
    dots = free[:wide]
    labels = []
    for text, value in zip(left.split(","), values, strict=True):
        before, found, after = text.partition("...")
        count = value.rank - len(before) - len(after) if found else 0
        labels.append([*before, *dots[wide - count :], *after])
    if arrow:
        before, found, after = right.partition("...")
        return labels, [*before, *(dots if found else []), *after]
    named = [x for own in labels for x in own if x not in dots]
    return labels, [*dots, *sorted(x for x in set(named) if named.count(x) == 1)]


# Selections ---------------------------------------------------------------------------------------


def embedding(m: Traced, weight: Any, indices: Any, *_: Any, **__: Any) -> Value:
    table = m.value(weight)
    if computed(m, indices):
        return read_by(m, table, [(0, indices)])
    held = held_index(m, indices)
    b, name = m.builder, indices.name
    chooser = selections_of(
        b, lambda env: env[name], tuple(held.shape), table.shape[0], f"{b.node.name}_rows"
    )
    names = [x for x in LETTERS if x not in "ko"][: held.dim()]
    result = m.builder.contract(
        [(chooser, [*names, "k"]), (table, ["k", "o"])], [*names, "o"], "rows"
    )
    return replace(result, support=table.support)


# Concatenation ------------------------------------------------------------------------------------


def cat(m: Traced, tensors: Sequence[Any], dim: int = 0) -> Value:
    # What is empty adds nothing, of whatever rank: caches of language models begin so.
    values = [m.value(t) for t in tensors if t.meta["val"].numel()]
    return joined(m, values, dim % values[0].rank)


def stack(m: Traced, tensors: Sequence[Any], dim: int = 0) -> Value:
    values = [m.value(t) for t in tensors]
    dim = dim % (values[0].rank + 1)
    wider = []
    for v in values:
        dims: list[int | None] = [*range(dim), None, *range(dim, v.rank)]
        shape = [*v.shape[:dim], 1, *v.shape[dim:]]
        wider.append(v.picked(dims, shape))
    return joined(m, wider, dim)


def joined(m: Traced, values: Sequence[Value], dim: int) -> Value:
    b = m.builder
    if len(values) == 1:
        return values[0]
    needed = [
        d for d in range(values[0].rank)
        if d == dim or any(v.axes[d] is not None for v in values)
    ]  # fmt: skip
    values = [b.stored_dims(b.unmasked(v, "concatenation"), needed) for v in values]
    names = LETTERS[: values[0].rank]
    out = tuple(names[d] for d in needed)
    result = values[0]
    for other in values[1:]:
        shape = tuple(n + other.shape[d] if d == dim else n for d, n in enumerate(result.shape))
        accesses = [v.read(names) for v in (result, other)]
        sizes = dict(zip(names, shape, strict=True))
        name = b.emit("joined", Op.CONCAT, out, accesses, sizes, axis=names[dim])
        full = result.support is Support.FULL and other.support is Support.FULL
        support = Support.FULL if full else Support.ZERO
        result = Value(name, axes_of(names, out), shape, support)
    return result


def broadcast_tensors(m: Traced, tensors: Sequence[Any]) -> tuple[Value, ...]:
    values = [m.value(t) for t in tensors]
    shape = broadcast_shape(*(v.shape for v in values))
    return tuple(m.builder.aligned(values, shape))


HANDLERS: dict[str, Callable[..., Any]] = {
    "linear": linear, "matmul": matmul, "mm": mm, "bmm": mm, "mv": mv, "dot": dot,
    "addmm": addmm, "baddbmm": baddbmm, "addbmm": addbmm, "linalg_matrix_power": matrix_power,
    "matrix_power": matrix_power, "addmv": addmv, "_sparse_addmm": addmm,
    "outer": outer, "ger": outer, "bilinear": bilinear, "einsum": einsum,
    "embedding": embedding, "cat": cat, "concat": cat, "stack": stack,
    "broadcast_tensors": broadcast_tensors,
}  # fmt: skip
