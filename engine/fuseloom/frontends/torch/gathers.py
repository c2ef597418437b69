"""Gathering by known indices: products with selections."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.indexing import held_index, index_apart
from fuseloom.frontends.torch.ranking import computed, gather_by, read_by
from fuseloom.frontends.torch.selections import selection, selections_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Indices, Value

# Indices ------------------------------------------------------------------------------------------


def vector(m: Traced, index: Any, dim: int) -> Indices | None:
    """An index as a vector along a dimension; None if it differs along another one."""
    torch, name = m.torch, index.name

    def along(held: Any) -> Any:
        if held.dtype == torch.bool:
            return held.reshape(-1).nonzero().reshape(-1)
        moved = held.movedim(dim, 0) if held.dim() else held.reshape(1)
        return moved.flatten(1) if moved.dim() > 1 else moved.reshape(-1, 1)

    def entries(env: Mapping[str, Any]) -> Any:
        rows = along(env[name])
        if rows.dim() == 1:
            return rows
        if not bool((rows == rows[:, :1]).all()):
            raise DataError(
                f"index {name} differs along a dimension where the program was made for one that "
                "does not",
                hint="import the module again with these inputs",
            )
        return rows[:, 0]

    rows = along(held_index(m, index))
    if rows.dim() == 2 and (rows.shape[1] == 0 or not bool((rows == rows[:, :1]).all())):
        return None
    return entries


def chosen(m: Traced, indices: Indices, size: int, index: Any, part: str) -> Value:
    """The selection of a vector of entries."""
    label = f"{m.builder.node.name}_{part}"
    return selection(m.builder, m.env, indices, size, label, m.origins.get(index.name, ()))


# Gathering ----------------------------------------------------------------------------------------


def gathered(m: Traced, value: Value, dim: int, indices: Indices, index: Any) -> Value:
    """Entry ``n`` along ``dim`` is the one that the index has at ``n``."""
    b = m.builder
    b.unmasked(value, "a part")
    count = int(indices(m.env).numel())
    if value.axes[dim] is None:
        shape = tuple(count if d == dim else n for d, n in enumerate(value.shape))
        return value.picked(list(range(value.rank)), shape)
    picks = chosen(m, indices, value.shape[dim], index, "rows")
    names = list(LETTERS[: value.rank])
    out = [*names[:dim], "o", *names[dim + 1 :]]
    result = b.contract([(picks, ["o", names[dim]]), (value, names)], out, "rows")
    return replace(result, support=value.support)


def index_select(m: Traced, x: Any, dim: int, index: Any) -> Value:
    value = m.value(x)
    if computed(m, index):
        return read_by(m, value, [(m.builder.axis(dim, value.rank), index)])
    indices = vector(m, index, 0)
    assert indices is not None  # PyTorch takes vectors only
    return gathered(m, value, m.builder.axis(dim, value.rank), indices, index)


def gather(m: Traced, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Value:
    """``out[i,j] = x[index[i,j], j]`` along dimension 0."""
    b, value = m.builder, m.value(x)
    if computed(m, index):
        return gather_by(m, value, dim, index)
    held = held_index(m, index)
    if value.rank == 0:
        return value
    dim = m.builder.axis(dim, value.rank)
    for d, count in enumerate(held.shape):
        if d != dim and count != value.shape[d]:
            value = views.selected(b, value, d, range(count), f"part{d}")
    if (indices := vector(m, index, dim)) is not None:
        return gathered(m, value, dim, indices, index)
    b.unmasked(value, "a part")
    value = b.stored_dims(value, [dim])
    name = index.name
    picks = selections_of(
        b, lambda env: env[name], held.shape, value.shape[dim], f"{b.node.name}_rows"
    )
    names = list(LETTERS[: value.rank])
    own = [*names[:dim], "o", *names[dim + 1 :]]
    result = b.contract([(picks, [*own, names[dim]]), (value, names)], own, "rows")
    return replace(result, support=value.support)


def index(m: Traced, x: Any, indices: Sequence[Any]) -> Value:
    """``x[:, index]``, with one index of any shape or several that broadcast, side by side."""
    b, value = m.builder, m.value(x)
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if any(computed(m, i) for _, i in given):
        return read_by(m, value, given)
    held = [held_index(m, i) for _, i in given]
    first = given[0][0]
    if len(given) == 1 and held[0].dim() == 1:
        along = vector(m, given[0][1], 0)
        assert along is not None
        return gathered(m, value, first, along, given[0][1])
    if len(given) == 1 and held[0].dtype == m.torch.bool:
        shape, along = value.shape, vector(m, given[0][1], 0)
        count = held[0].numel()
        merged = (*shape[:first], count, *shape[first + held[0].dim() :])
        assert along is not None
        return gathered(m, views.moved(b, value, merged), first, along, given[0][1])
    if any(h.dtype == m.torch.bool for h in held):
        raise b.refuse(
            "a selection by a mask and others side by side", "index by one after the other"
        )
    if [d for d, _ in given] != list(range(first, first + len(given))):
        return index_apart(m, value, given, held)
    b.unmasked(value, "a part")
    shape = tuple(m.torch.broadcast_shapes(*(h.shape for h in held)))
    value = b.stored_dims(value, [d for d, _ in given])
    names = list(LETTERS[: value.rank])
    new = [x for x in LETTERS if x not in names][: len(shape)]
    operands: list[tuple[Value, Sequence[str]]] = []
    for d, node in given:
        picks = selections_of(
            b, _broadcast(node.name, shape), shape, value.shape[d], f"{b.node.name}_rows{d}"
        )
        operands.append((picks, [*new, names[d]]))
    out = [*names[:first], *new, *names[first + len(given) :]]
    result = b.contract([*operands, (value, names)], out, "rows")
    return replace(result, support=value.support)


def _broadcast(name: str, shape: tuple[int, ...]) -> Indices:
    return lambda env: env[name].expand(shape)


def repeat_interleave(
    m: Traced, x: Any, repeats: Any, dim: int | None = None, output_size: int | None = None
) -> Value:
    """Each entry along a dimension as often as known numbers say."""
    b, value = m.builder, m.value(x)
    if dim is None:
        value, dim = views.moved(b, value, (math.prod(value.shape),)), 0
    dim, torch = m.builder.axis(dim, value.rank), m.torch
    size = value.shape[dim]

    def entries(env: Mapping[str, Any]) -> Any:
        counts = repeats if isinstance(repeats, int) else env[repeats.name]
        return torch.arange(size).repeat_interleave(counts)

    if not isinstance(repeats, int):
        held_index(m, repeats)
    return gathered(m, value, dim, entries, b.node if isinstance(repeats, int) else repeats)


def repeat(m: Traced, x: Any, repeats: Sequence[int]) -> Value:
    """Copies side by side: a selection, along each dimension that has more than one."""
    value = m.value(x)
    more = len(repeats) - value.rank
    value = value.expanded((*[1] * more, *value.shape))
    for d, times in enumerate(repeats):
        size = value.shape[d]
        if times == 1:
            continue
        if size == 1:
            value = m.builder.dropped(value, [d])
            value = value.picked(
                range(value.rank), [times if e == d else n for e, n in enumerate(value.shape)]
            )
            continue
        places = [n % size for n in range(times * size)]
        value = views.selected(m.builder, value, d, places, f"copies{d}")
    return value


def as_strided(
    m: Traced, x: Any, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None
) -> Value:
    """Elements at places that strides say, of a tensor whose elements lie in order."""
    b, value, torch = m.builder, m.value(x), m.torch
    held = x.meta["val"]
    if not held.is_contiguous() or held.storage_offset():
        raise b.refuse("as_strided of a view", "copy the view with clone first")
    count, shape = math.prod(value.shape), tuple(size)
    places = torch.arange(count).as_strided(shape, stride, storage_offset or 0)
    flat = b.stored_dims(views.moved(b, b.unmasked(value, "a part"), (count,)), [0])
    picks = selections_of(b, lambda env: places, shape, count, f"{b.node.name}_places")
    names = list(LETTERS[: len(shape)])
    return replace(
        b.contract([(picks, [*names, "z"]), (flat, ["z"])], names, "part"), support=value.support
    )


HANDLERS: dict[str, Callable[..., Any]] = {
    "index_select": index_select, "index": index, "gather": gather,
    "as_strided": as_strided, "repeat_interleave": repeat_interleave, "repeat": repeat,
}  # fmt: skip
