"""Scattering by known indices: products with selections, transposed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fuseloom.frontends.algebra.tensors import axes_of
from fuseloom.frontends.torch import masks, views
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.conditions import everywhere
from fuseloom.frontends.torch.gathers import chosen, vector
from fuseloom.frontends.torch.indexing import held_index
from fuseloom.frontends.torch.moves import along
from fuseloom.frontends.torch.nodes import shape_of
from fuseloom.frontends.torch.products_by_index import multiplied
from fuseloom.frontends.torch.ranking import computed, scatter_by
from fuseloom.frontends.torch.selections import selections_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Indices, Support, Value
from fuseloom.frontends.torch.written import copy, kept_and, once, put
from fuseloom.program import Op


class Targets:
    """The targets of a scatter along a dimension, given by an index.

    Attributes
    ----------
    vector : callable or None
        The entries, if they are the same along all other dimensions.
    """

    def __init__(self, m: Traced, index: Any, dim: int, size: int, indices: Any = None) -> None:
        self.m, self.index, self.dim, self.size = m, index, dim, size
        self.vector: Indices | None = indices if indices is not None else vector(m, index, dim)

    @property
    def empty(self) -> bool:
        """True if the index has no entries."""
        return int(held_index(self.m, self.index).numel()) == 0

    def operands(self, value: Value) -> tuple[list[tuple[Value, list[str]]], list[str]]:
        """Factors of a product, and the indices of its result, of which ``o`` is the target."""
        names = list(LETTERS[: value.rank])
        out = [*names[: self.dim], "o", *names[self.dim + 1 :]]
        if self.vector is not None:
            picks = chosen(self.m, self.vector, self.size, self.index, "targets")
            return [(picks, [names[self.dim], "o"]), (value, names)], out
        name, b = self.index.name, self.m.builder
        picks = selections_of(
            b, lambda env: env[name], value.shape, self.size, f"{b.node.name}_targets"
        )
        return [(picks, [*names, "o"]), (value, names)], out

    def added(self, value: Value, part: str = "moved") -> Value:
        operands, out = self.operands(value)
        return self.m.builder.contract(operands, out, part)

    def largest(self, value: Value) -> Value:
        """The maximum of what comes to each target; absent where nothing does."""
        b = self.m.builder
        value = b.stored_dims(b.filled(value))
        (picks, labels), (_, names) = self.operands(value)[0]
        out = [*names[: self.dim], "o", *names[self.dim + 1 :]]
        wide = b.contract([(picks, labels), (value, names)], [*out, names[self.dim]], "sent")
        sizes = dict(zip([*out, names[self.dim]], wide.shape, strict=True))
        operand = wide.read([*out, names[self.dim]])
        kept = tuple(x for x in out if x in operand.indices)
        name = b.emit("largest", Op.MAX, kept, [operand], sizes)
        return Value(name, axes_of(out, kept), tuple(sizes[x] for x in out), Support.ZERO)

    def hits(self, env: Mapping[str, Any]) -> Any:
        """Count the elements that come to each place of the result."""
        held, shape = env[self.index.name], tuple(self.m.builder.node.meta["val"].shape)
        ones = self.m.torch.ones(tuple(held.shape), dtype=self.m.torch.float64)
        zeros = self.m.torch.zeros(shape, dtype=self.m.torch.float64)
        size = shape[self.dim] if shape else 1
        return zeros.scatter_add(self.dim, held % size if size else held, ones)

    def counts(self, function: Callable[[Any], Any], part: str, whole: bool = True) -> Value:
        """A function of how many come to each target, an input.

        ``whole`` says that the index has all places along the other dimensions.
        """
        m, torch = self.m, self.m.torch
        b = m.builder
        label, origins = f"{b.node.name}_{part}", m.origins.get(self.index.name, ())
        if self.vector is None or not whole:
            shape = tuple(b.node.meta["val"].shape)
            return b.feed(
                label, shape, lambda env: function(self.hits(env)).double(), origins, keep=True
            )
        entries, size = self.vector, self.size

        def fetch(env: Mapping[str, Any]) -> Any:
            return function(torch.bincount(entries(env) % size, minlength=size)).double()

        made = b.feed(label, (size,), fetch, origins)
        rank = len(b.node.meta["val"].shape)
        dims: list[int | None] = [0 if d == self.dim else None for d in range(rank)]
        return made.picked(dims, [size if d == self.dim else 1 for d in range(rank)])

    def spread(self, value: Value) -> Value:
        """A result over the places that the index has, with zeros at the others."""
        shape = self.m.builder.node.meta["val"].shape
        for d, size in enumerate(shape):
            if d != self.dim and value.shape[d] != size:
                ahead = self.m.torch.eye(size, value.shape[d])
                value = along(self.m, value, d, ahead, f"rest{d}")
        return value


def reduced(
    m: Traced, targets: Targets, value: Value, start: Any, reduce: str, include_self: bool
) -> Value:
    """Reduce the scattered values by a sum, mean or extremum into ``start``."""
    b = m.builder
    if targets.empty:
        return b.constant(0.0).expanded(value.shape) if start is None else m.value(start)
    reduce = {"add": "sum", "max": "amax", "min": "amin"}.get(reduce, reduce)
    empty = start is None or m.number(start) == 0
    if reduce in ("amax", "amin"):
        if not empty:
            raise b.refuse(
                f"{reduce} into a tensor that is not 0", "scatter into zeros, then use maximum"
            )
        sign = 1.0 if reduce == "amax" else -1.0
        top = targets.spread(targets.largest(b.scale(value, sign, "negative")))
        top = b.apply(Op.RELU, top) if include_self else top
        return b.scale(top, sign, "negative")
    if reduce in ("prod", "multiply"):
        return multiplied(m, targets, value, start, include_self)
    whole = all(
        n == value.shape[d] for d, n in enumerate(shape_of(m.builder.node)) if d != targets.dim
    )
    total = targets.spread(targets.added(value))
    if not empty:
        if not include_self:
            raise b.refuse(
                f"{reduce} that overwrites a tensor that is not 0", "pass include_self=True"
            )
        total = b.add(m.value(start), total)
    if reduce == "mean":
        own = int(include_self)
        counts = targets.counts(lambda n: 1.0 / (n + own).clamp(min=1), "share", whole)
        total = b.mul(total, counts, "mean")
    return total


def _target(m: Traced, index: Any, dim: int) -> Targets:
    shape = shape_of(m.builder.node)
    held_index(m, index)
    dim = m.builder.axis(dim, len(shape)) if shape else 0
    return Targets(m, index, dim, shape[dim] if shape else 1)


def _scattered(m: Traced, index: Any, src: Any) -> Value:
    """The part of ``src`` that the index has places for."""
    value, shape = m.value(src), tuple(held_index(m, index).shape)
    if value.rank != len(shape):
        return value.expanded(shape)
    for d, count in enumerate(shape):
        if value.shape[d] != count:
            value = views.selected(m.builder, value, d, range(count), f"part{d}")
    return value


def scatter_add(m: Traced, x: Any, dim: int, index: Any, src: Any) -> Value:
    return reduced(m, _target(m, index, dim), _scattered(m, index, src), x, "sum", True)


def scatter_reduce(
    m: Traced, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> Value:
    targets = _target(m, index, dim)
    return reduced(m, targets, _scattered(m, index, src), x, reduce, include_self)


def scatter(
    m: Traced,
    x: Any,
    dim: int,
    index: Any,
    src: Any = None,
    value: Any = None,
    reduce: str | None = None,
) -> Value:
    """Writes to where an index says; no place may be written twice."""
    if computed(m, index) and reduce is None:
        given = src if src is not None else value
        number = m.number(given)
        new = m.value(given) if number is None else m.builder.constant(masks.vast(number))
        return scatter_by(m, x, dim, index, new)
    given = src if src is not None else value
    number = given if isinstance(given, int | float) else None
    if not shape_of(m.builder.node):
        return copy(m, x, given)
    targets = _target(m, index, dim)
    if targets.empty:
        return m.value(x)
    if number is not None and reduce is None:
        return _set(m, targets, float(number), x)
    new = _scattered(m, index, given)
    if reduce is not None:
        return reduced(m, targets, new, x, reduce, True)
    return _written(m, targets, new, x)


def _set(m: Traced, targets: Targets, number: float, x: Any) -> Value:
    """``x`` with a number at the targets, which may be the same ones several times."""
    b = m.builder
    whole = all(n == k for n, k in _others(m, targets))
    hit = targets.counts(lambda n: n > 0, "hit", whole).expanded(shape_of(m.builder.node))
    moved = b.scale(hit, number, "written")
    if m.number(x) == 0:
        return moved
    stays = targets.counts(lambda n: n == 0, "left", whole)
    kept = b.mul(m.value(x), stays, "stays")
    return b.add(kept, moved) if number else kept


def _others(m: Traced, targets: Targets) -> list[tuple[int, int]]:
    """Sizes of the result and of the index along the dimensions that are not scattered along."""
    held = held_index(m, targets.index)
    pairs = (
        list(zip(shape_of(m.builder.node), held.shape, strict=True))
        if held.dim() == len(shape_of(m.builder.node))
        else []
    )
    return [pair for d, pair in enumerate(pairs) if d != targets.dim]


def _written(m: Traced, targets: Targets, new: Value, x: Any) -> Value:
    """``x`` with other entries at the targets."""
    b, dim = m.builder, targets.dim
    whole = all(n == k for n, k in _others(m, targets))
    if new.axes[dim] is None:  # one value for all places along the dimension
        dims = [None if d == dim else d for d in range(new.rank)]
        one = new.picked(dims, [1 if d == dim else n for d, n in enumerate(new.shape)])
        hit = targets.counts(lambda n: n > 0, "hit", whole)
        moved = b.mul(targets.spread(one), hit, "moved").expanded(shape_of(m.builder.node))
        return kept_and(m, x, targets.counts(lambda n: n == 0, "kept", whole), moved)
    stays = targets.counts(partial(once, b.node), "kept", whole)
    return kept_and(m, x, stays, targets.spread(targets.added(new)))


def index_add(m: Traced, x: Any, dim: int, index: Any, source: Any, alpha: float = 1) -> Value:
    """Adds rows to where an index says."""
    b, value = m.builder, m.value(source)
    value = b.scale(value, float(alpha))
    shape = tuple(b.node.meta["val"].shape)
    dim = m.builder.axis(dim, len(shape))
    entries = vector(m, index, 0)
    return reduced(m, Targets(m, index, dim, shape[dim], entries), value, x, "sum", True)


def index_reduce(
    m: Traced, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Value:
    shape = tuple(m.builder.node.meta["val"].shape)
    dim = m.builder.axis(dim, len(shape))
    targets = Targets(m, index, dim, shape[dim], vector(m, index, 0))
    return reduced(m, targets, m.value(source), x, reduce, include_self)


def index_copy(m: Traced, x: Any, dim: int, index: Any, source: Any) -> Value:
    """Writes rows to where an index says."""
    if _nothing(m, index):
        return m.value(x)
    shape = tuple(m.builder.node.meta["val"].shape)
    dim = m.builder.axis(dim, len(shape))
    targets = Targets(m, index, dim, shape[dim], vector(m, index, 0))
    return _written(m, targets, m.value(source), x)


def index_fill(m: Traced, x: Any, dim: int, index: Any, value: Any) -> Value:
    """One value in rows that an index names."""
    if _nothing(m, index) or not shape_of(m.builder.node):
        return m.value(x) if _nothing(m, index) else copy(m, x, value)
    shape, entries = shape_of(m.builder.node), vector(m, index, 0)
    dim = m.builder.axis(dim, len(shape))
    targets = Targets(m, index, dim, shape[dim], entries)
    number = m.number(value)
    if number is not None:
        return _set(m, targets, number, x)
    count = int(held_index(m, index).numel())
    wide = [count if d == dim else n for d, n in enumerate(shape)]
    return _written(m, targets, m.value(value).expanded(wide), x)


def index_put(
    m: Traced, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False, **_: Any
) -> Value:
    """``x[index] = values``, or ``+=``, with one vector of indices or several side by side."""
    b, torch = m.builder, m.torch
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    place, condition = given[0]
    mask = condition.meta["val"]
    if len(given) == 1 and not place and mask.dtype == torch.bool and not accumulate:
        whole = m.held(condition) is None and mask.shape == b.node.meta["val"].shape
        if (whole or mask.dim() > 1) and not m.value(values).rank:
            return masks.fill_rows(m, x, condition, values)
    held = [held_index(m, i) for _, i in given]
    if any(h.numel() == 0 for h in held) or any(_nothing(m, i) for _, i in given):
        return m.value(x)
    first, last = given[0][0], given[-1][0] + 1
    apart = [d for d, _ in given] != list(range(first, last))
    if apart or any(h.dim() != 1 for h in held):
        return _put(m, x, indices, values, accumulate)
    if not accumulate and not m.value(values).rank and _repeats(held):
        return _put(m, x, indices, values, accumulate)
    shape = tuple(b.node.meta["val"].shape)
    vectors = [vector(m, node, 0) for _, node in given]
    count = max(int(v(m.env).numel()) for v in vectors if v is not None)
    want = (*shape[:first], count, *shape[last:])
    value = m.value(values)
    (value,) = b.aligned([value], want) if value.shape != want else (value,)
    names = list(LETTERS[: len(shape)])
    operands: list[tuple[Value, Sequence[str]]] = [
        (chosen(m, _wide(v, count), shape[d], node, f"targets{d}"), ["o", names[d]])
        for v, (d, node) in zip(vectors, given, strict=True) if v is not None
    ]  # fmt: skip
    own = [*names[:first], "o", *names[last:]]
    moved = b.contract([*operands, (value, own)], names, "moved")
    if accumulate:
        return moved if m.number(x) == 0 else b.add(m.value(x), moved)

    here = b.node

    def kept(env: Mapping[str, Any]) -> Any:
        ones = torch.ones(count, dtype=torch.float64)
        at = tuple(_wide(v, count)(env) for v in vectors if v is not None)
        hits = torch.zeros(shape[first:last], dtype=torch.float64)
        hits.index_put_(at, ones, accumulate=True)
        return once(here, hits)

    stays = b.feed(f"{b.node.name}_kept", shape[first:last], kept)
    kept(m.env)
    dims = [d - first if first <= d < last else None for d in range(len(shape))]
    stays = stays.picked(dims, [n if first <= d < last else 1 for d, n in enumerate(shape)])
    return kept_and(m, x, stays, moved)


def _repeats(held: Sequence[Any]) -> bool:
    """Return whether vectors of indices name one place twice."""
    if held[0].dtype != held[0].long().dtype:
        return False
    width: int = max(h.numel() for h in held)
    return len(set(zip(*(h.expand(width).tolist() for h in held), strict=True))) < width


def _put(m: Traced, x: Any, indices: Sequence[Any], values: Any, accumulate: bool) -> Value:
    """By indices of several dimensions, or of dimensions that are not neighbours."""
    torch = m.torch
    shape = shape_of(m.builder.node)
    order = torch.arange(math.prod(shape)).reshape(shape)

    def places(env: Mapping[str, Any]) -> Any:
        own = [slice(None) if i is None else env[i.name] for i in indices]
        return order[tuple(own)]

    want = tuple(places(m.env).shape)
    number = m.number(values)
    new = number if number is not None else m.builder.aligned([m.value(values)], want)[0]
    return put(m, x, new, places, math.prod(want), accumulate)


def _wide(entries: Indices | None, count: int) -> Indices:
    assert entries is not None
    return lambda env: entries(env).expand(count)


def _nothing(m: Traced, index: Any) -> bool:
    """Return whether an index has no entries."""
    held = held_index(m, index)
    return held.numel() == 0 or (held.dtype == m.torch.bool and not bool(held.any()))


def segment_reduce(
    m: Traced,
    data: Any,
    reduce: str,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Value:
    """Brings neighbouring rows together.  Of no rows, the extremum is infinite."""
    b, torch = m.builder, m.torch
    given = lengths if lengths is not None else offsets
    if given is None or axis != 0 or held_index(m, given).dim() != 1:
        raise b.refuse("segments of this form", "give lengths or offsets along dimension 0")
    counted, name = lengths is not None, given.name

    def entries(env: Mapping[str, Any]) -> Any:
        counts = env[name] if counted else env[name].diff()
        return torch.arange(counts.numel()).repeat_interleave(counts)

    size = b.node.meta["val"].shape[0]
    value = m.value(data)
    targets = Targets(m, given, 0, size, entries)
    if reduce in ("max", "amax") and initial is None:
        return replace(targets.largest(value), support=Support.MASKED)
    if initial not in (None, 0, 0.0) or reduce in ("max", "min", "amax", "amin"):
        raise b.refuse(f"segments reduced by {reduce} from {initial}", "use scatter_reduce")
    return reduced(m, targets, value, None, reduce, False)


class Infinite:
    """The positions at which a computed value is minus infinity: those without an element."""

    def __init__(self, value: Value) -> None:
        self.value = value


def isinf(m: Traced, x: Any) -> Value | Infinite:
    value = m.value(x)
    if value.support is Support.MASKED and value.mask is None:
        return Infinite(value)
    m.builder.unmasked(value, "isinf")
    return everywhere(m, False)


def where(m: Traced, condition: Any, x: Any, other: Any) -> Value:
    """As of masks; and 0 where a maximum is of nothing."""
    marked = m.values.get(getattr(condition, "name", ""))
    if isinstance(marked, Infinite):
        if m.number(x) == 0 and m.value(other) == marked.value:
            return replace(marked.value, support=Support.ZERO)
        raise m.builder.refuse("a choice by computed values", "masks must follow from inputs alone")
    return masks.where(m, condition, x, other)


HANDLERS: dict[str, Callable[..., Any]] = {
    "scatter_add": scatter_add, "scatter": scatter,
    "scatter_reduce": scatter_reduce, "index_add": index_add, "index_reduce": index_reduce,
    "index_copy": index_copy, "index_fill": index_fill, "index_put": index_put,
    "_index_put_impl": index_put, "segment_reduce": segment_reduce,
    "isinf": isinf, "where": where,
}  # fmt: skip
