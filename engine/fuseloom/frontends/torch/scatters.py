"""Scattering by known indices: products with selections, transposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch import masks, views
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.conditions import everywhere
from fuseloom.frontends.torch.gathers import chosen, vector
from fuseloom.frontends.torch.indexing import held_index
from fuseloom.frontends.torch.ranking import computed, scatter_by
from fuseloom.frontends.torch.selections import fixed, selections_of
from fuseloom.frontends.torch.values import Indices, Support, Value
from fuseloom.program import Access, Op

if TYPE_CHECKING:
    from fuseloom.frontends.torch.importer import Importer


class Targets:
    """The targets of a scatter along a dimension, given by an index.

    Attributes
    ----------
    vector : callable or None
        The entries, if they are the same along all other dimensions.
    """

    def __init__(self, m: Importer, index: Any, dim: int, size: int, indices: Any = None) -> None:
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
        operand = Access(wide.tensor, wide.accessed([*out, names[self.dim]]))
        kept = tuple(x for x in out if x in operand.indices)
        name = b.emit("largest", Op.MAX, kept, [operand], sizes)
        axes = tuple(kept.index(x) if x in kept else None for x in out)
        return Value(name, tuple(sizes[x] for x in out), axes, Support.ZERO)

    def counts(self, more: int, function: Callable[[Any], Any], part: str) -> Value:
        """A function of how many come to each target, an input."""
        m, torch = self.m, self.m.torch
        if self.vector is None:
            raise m.builder.refuse(
                "a mean by an index that differs along several dimensions",
                "divide a sum by the counts",
            )
        entries, size = self.vector, self.size

        def fetch(env: Mapping[str, Any]) -> Any:
            return function(torch.bincount(entries(env) % size, minlength=size) + more).double()

        b = m.builder
        origins = m.origins.get(self.index.name, ())
        made = b.feed(f"{b.node.name}_{part}", (size,), fetch, origins)
        rank = len(b.node.meta["val"].shape)
        dims: list[int | None] = [0 if d == self.dim else None for d in range(rank)]
        return made.picked(dims, [size if d == self.dim else 1 for d in range(rank)])


def reduced(
    m: Importer, targets: Targets, value: Value, start: Any, reduce: str, include_self: bool
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
        top = targets.largest(b.scale(value, sign, "negative"))
        top = b.apply(Op.RELU, top) if include_self else top
        return b.scale(top, sign, "negative")
    if reduce not in ("sum", "mean"):
        raise b.refuse(
            f"scattering that reduces by {reduce}", "sum, mean, amax and amin are supported"
        )
    total = targets.added(value)
    if not empty:
        if not include_self:
            raise b.refuse(
                f"{reduce} that overwrites a tensor that is not 0", "pass include_self=True"
            )
        total = b.add(m.value(start), total)
    if reduce == "mean":
        counts = targets.counts(int(include_self), lambda n: 1.0 / n.clamp(min=1), "share")
        total = b.mul(total, counts, "mean")
    return total


def _target(m: Importer, index: Any, dim: int) -> Targets:
    shape = tuple(m.builder.node.meta["val"].shape)
    held = held_index(m, index)
    dim = m.builder.axis(dim, len(shape))
    for d, count in enumerate(held.shape):
        if held.dim() == len(shape) and d != dim and count != shape[d]:
            raise m.builder.refuse(
                "scattering into a part of the other dimensions", "use an index of their size"
            )
    return Targets(m, index, dim, shape[dim])


def _scattered(m: Importer, index: Any, src: Any) -> Value:
    """The part of ``src`` that the index has places for."""
    value, shape = m.value(src), tuple(held_index(m, index).shape)
    if value.rank != len(shape):
        return value.expanded(shape)
    for d, count in enumerate(shape):
        if value.shape[d] != count:
            first = list(range(count))
            value = views.selected(m.builder, value, d, fixed(first), count, f"part{d}")
    return value


def scatter_add(m: Importer, x: Any, dim: int, index: Any, src: Any) -> Value:
    return reduced(m, _target(m, index, dim), _scattered(m, index, src), x, "sum", True)


def scatter_reduce(
    m: Importer, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> Value:
    targets = _target(m, index, dim)
    return reduced(m, targets, _scattered(m, index, src), x, reduce, include_self)


def scatter(
    m: Importer,
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
    targets = _target(m, index, dim)
    new = _scattered(m, index, src if src is not None else value)
    if reduce is not None:
        return reduced(m, targets, new, x, reduce, True)
    return _written(m, targets, new, x)


def _left(hits: Any) -> Any:
    """One where nothing is written, 0 where something is, which must be once."""
    if bool((hits > 1).any()):
        raise DataError(
            "an index writes to one place twice, and which value stays is not defined",
            hint="add with index_add or index_put(accumulate=True)",
        )
    return 1 - hits


def _written(m: Importer, targets: Targets, new: Value, x: Any) -> Value:
    """``x`` with other entries at the targets."""
    b = m.builder

    kept = targets.counts(0, _left, "kept")
    moved = targets.added(new)
    return moved if m.number(x) == 0 else b.add(b.mul(m.value(x), kept, "stays"), moved)


def index_add(m: Importer, x: Any, dim: int, index: Any, source: Any, alpha: float = 1) -> Value:
    """Adds rows to where an index says."""
    b, value = m.builder, m.value(source)
    value = b.scale(value, float(alpha))
    shape = tuple(b.node.meta["val"].shape)
    dim = m.builder.axis(dim, len(shape))
    entries = vector(m, index, 0)
    return reduced(m, Targets(m, index, dim, shape[dim], entries), value, x, "sum", True)


def index_reduce(
    m: Importer, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Value:
    shape = tuple(m.builder.node.meta["val"].shape)
    dim = m.builder.axis(dim, len(shape))
    targets = Targets(m, index, dim, shape[dim], vector(m, index, 0))
    return reduced(m, targets, m.value(source), x, reduce, include_self)


def index_copy(m: Importer, x: Any, dim: int, index: Any, source: Any) -> Value:
    """Writes rows to where an index says."""
    if _nothing(m, index):
        return m.value(x)
    shape = tuple(m.builder.node.meta["val"].shape)
    dim = m.builder.axis(dim, len(shape))
    targets = Targets(m, index, dim, shape[dim], vector(m, index, 0))
    return _written(m, targets, m.value(source), x)


def index_put(
    m: Importer, x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False, **_: Any
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
    if any(h.dim() != 1 for h in held) or [d for d, _ in given] != list(range(first, last)):
        raise b.refuse(
            "writing to where indices of several dimensions say", "flatten the dimensions before"
        )
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
    same = m.number(values) is not None

    def kept(env: Mapping[str, Any]) -> Any:
        ones = torch.ones(count, dtype=torch.float64)
        at = tuple(_wide(v, count)(env) for v in vectors if v is not None)
        hits = torch.zeros(shape[first:last], dtype=torch.float64)
        hits.index_put_(at, ones, accumulate=True)
        return _left(hits)

    stays = b.feed(f"{b.node.name}_kept", shape[first:last], kept)
    if same and m.number(x) is None:
        kept(m.env)
    dims = [d - first if first <= d < last else None for d in range(len(shape))]
    stays = stays.picked(dims, [n if first <= d < last else 1 for d, n in enumerate(shape)])
    if m.number(x) == 0:
        kept(m.env)
        return moved
    return b.add(b.mul(m.value(x), stays, "stays"), moved)


def _wide(entries: Indices | None, count: int) -> Indices:
    assert entries is not None
    return lambda env: entries(env).expand(count)


def _nothing(m: Importer, index: Any) -> bool:
    """Return whether an index has no entries."""
    held = held_index(m, index)
    return held.numel() == 0 or (held.dtype == m.torch.bool and not bool(held.any()))


def segment_reduce(
    m: Importer,
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


def isinf(m: Importer, x: Any) -> Value | Infinite:
    value = m.value(x)
    if value.support is Support.MASKED and value.mask is None:
        return Infinite(value)
    m.builder.unmasked(value, "isinf")
    return everywhere(m, False)


def where(m: Importer, condition: Any, x: Any, other: Any) -> Value:
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
    "index_copy": index_copy, "index_put": index_put,
    "_index_put_impl": index_put, "segment_reduce": segment_reduce,
    "isinf": isinf, "where": where,
}  # fmt: skip
