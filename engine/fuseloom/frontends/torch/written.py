"""Writing into a part of a tensor: at places along a dimension, on a diagonal, where a mask says.

The result is what stays of the tensor, times a tensor that has no element where something is
written, plus what is written, times a tensor that says where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.algebra.moves import spaced
from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.indexing import held_index
from fuseloom.frontends.torch.messages import where
from fuseloom.frontends.torch.moves import placed
from fuseloom.frontends.torch.selections import selections_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Indices, Value
from fuseloom.wording import counted


def kept_and(m: Traced, x: Any, stays: Value, moved: Value) -> Value:
    """``x`` where ``stays``, a 0/1 tensor, has elements, plus what was moved to its place."""
    b = m.builder
    if m.number(x) == 0:  # what may be written to is checked all the same
        b.checks[stays.tensor] = b.feeds[stays.tensor].fetch
        return moved
    return b.add(b.mul(m.value(x), stays, "stays"), moved)


def once(node: Any, hits: Any) -> Any:
    """One where a node writes nothing, 0 where it writes something, which must be once.

    Raises
    ------
    DataError
        A place is written to twice.
    """
    if bool((hits > 1).any()):
        raise DataError(
            "an index writes to one place twice, and which value stays is not defined, at "
            f"{where(node)}",
            hint="add with index_add or index_put(accumulate=True)",
        )
    return 1 - hits


def put(
    m: Traced, x: Any, new: Any, places: Indices, count: int, accumulate: bool = False
) -> Value:
    """``x`` with other elements at known places, which count its elements in order.

    ``new`` is a number, or ``count`` values in the order of the places.  One value may be written
    to a place several times.
    """
    b, torch = m.builder, m.torch
    shape = tuple(b.node.meta["val"].shape)
    size, number = math.prod(shape), new if isinstance(new, int | float) else None
    node = b.node

    def checked(env: Mapping[str, Any]) -> Any:
        held = places(env).reshape(-1)
        if held.numel() != count:
            raise DataError(
                f"{counted(held.numel(), 'place')} of {b.node.name} are written to, the program "
                f"was made for {count}",
                hint="import the module again with these inputs",
            )
        return held

    def hits(env: Mapping[str, Any]) -> Any:
        return torch.bincount(checked(env), minlength=size).reshape(shape).double()

    alike = number is not None or all(axis is None for axis in new.axes)

    def left(env: Mapping[str, Any]) -> Any:
        return (hits(env) == 0).double() if alike else once(node, hits(env))

    def hit(env: Mapping[str, Any]) -> Any:
        return (hits(env) > 0).double()

    label = b.node.name
    if number is None and alike and not accumulate:
        one = new.picked([None] * len(shape), [1] * len(shape))
        moved = b.mul(b.feed(f"{label}_hit", shape, hit, keep=True), one, "written")
    elif number is None or accumulate:
        value = new if number is None else b.constant(number).expanded((count,))
        value = views.moved(b, b.unmasked(value, "a part"), (count,))
        picks = selections_of(b, checked, (count,), size, f"{label}_places")
        moved = b.contract([(picks, ["o", "i"]), (value, ["o"])], ["i"], "moved")
        moved = views.moved(b, moved, shape)
    elif not number:
        if m.number(x) == 0:
            return m.value(x)
        return b.mul(m.value(x), b.feed(f"{label}_left", shape, left, keep=True), "stays")
    else:
        moved = b.scale(b.feed(f"{label}_hit", shape, hit, keep=True), number, "written")
    if accumulate:
        return moved if m.number(x) == 0 else b.add(m.value(x), moved)
    left(m.env)
    return kept_and(m, x, b.feed(f"{label}_left", shape, left, keep=True), moved)


def _along(m: Traced, x: Any, part: Value, dim: int, places: Sequence[int]) -> Value:
    """The tensor with what is at some places along a dimension replaced."""
    b = m.builder
    shape = tuple(b.node.meta["val"].shape)
    size = shape[dim]
    even = spaced(places)
    assert even is not None  # they are a slice's
    moved = placed(m, part, {dim: (*even, size)}, "written")
    if m.number(x) == 0:
        return moved
    rest = m.torch.ones(size)
    rest[list(places)] = 0.0
    kept = b.feed(f"{b.node.name}_left", rest.shape, lambda env: rest, keep=True)
    wide = [size if d == dim else 1 for d in range(len(shape))]
    kept = kept.picked([0 if d == dim else None for d in range(len(shape))], wide)
    return b.add(b.mul(m.value(x), kept, "kept"), moved)


def copy(m: Traced, x: Any, src: Any, non_blocking: bool = False) -> Value:
    """Return the value that overwrites all of a tensor."""
    return m.builder.aligned([m.value(src)], tuple(m.builder.node.meta["val"].shape))[0]


def fill(m: Traced, x: Any, value: Any) -> Value:
    return copy(m, x, value)


def slice_scatter(
    m: Traced, x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    shape = m.builder.node.meta["val"].shape
    dim = m.builder.axis(dim, len(shape))
    places = range(shape[dim])[slice(start, end, step)]
    if not places:
        return m.value(x)
    part = m.value(src)
    return part if len(places) == shape[dim] else _along(m, x, part, dim, places)


def select_scatter(m: Traced, x: Any, src: Any, dim: int, index: int) -> Value:
    shape = m.builder.node.meta["val"].shape
    dim, part = m.builder.axis(dim, len(shape)), m.value(src)
    dims: list[int | None] = [*range(dim), None, *range(dim, part.rank)]
    part = part.picked(dims, [*part.shape[:dim], 1, *part.shape[dim:]])
    return part if shape[dim] == 1 else _along(m, x, part, dim, [index % shape[dim]])


def diagonal_scatter(
    m: Traced, x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    """The tensor with the elements at equal places of two dimensions replaced."""
    b, part = m.builder, m.value(src)
    shape = tuple(b.node.meta["val"].shape)
    first, second = (b.axis(d, len(shape)) for d in (dim1, dim2))
    line = m.torch.arange(shape[first] * shape[second]).reshape(shape[first], shape[second])
    line = line.diagonal(offset)
    if not line.numel():
        return m.value(x)
    held = m.torch.zeros(line.numel(), shape[first], shape[second])
    held.view(line.numel(), -1)[m.torch.arange(line.numel()), line] = 1.0
    places = b.feed(f"{b.node.name}_places", held.shape, lambda env: held, keep=True)
    part = b.stored_dims(b.unmasked(part, "a diagonal"), [part.rank - 1])
    names = list(LETTERS[: len(shape)])
    rest = [n for d, n in enumerate(names) if d not in (first, second)]
    moved = b.contract(
        [(places, ["o", names[first], names[second]]), (part, [*rest, "o"])], names, "written"
    )
    kept = 1.0 - held.sum(0)
    stays = b.feed(f"{b.node.name}_left", kept.shape, lambda env: kept, keep=True)
    at = {first: 0, second: 1}
    wide = [n if d in at else 1 for d, n in enumerate(shape)]
    return kept_and(m, x, stays.picked([at.get(d) for d in range(len(shape))], wide), moved)


def as_strided_scatter(
    m: Traced,
    x: Any,
    src: Any,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Value:
    """The tensor, in order of its elements, with those at some strides replaced."""
    b, torch = m.builder, m.torch
    if not x.meta["val"].is_contiguous() or x.meta["val"].storage_offset():
        raise b.refuse("as_strided of a view", "copy the view with clone first")
    count = math.prod(b.node.meta["val"].shape)
    places = torch.arange(count).as_strided(size, stride, storage_offset or 0).reshape(-1)
    if places.unique().numel() != places.numel():
        raise b.refuse("a write to a view whose elements overlap", "copy the view with clone first")
    return put(m, x, m.value(src), lambda env: places, places.numel())


def masked_scatter(m: Traced, x: Any, mask: Any, source: Any) -> Value:
    """``x`` with the elements of ``source``, in order, where a known mask says."""
    b, value = m.builder, m.value(source)
    shape, name = tuple(b.node.meta["val"].shape), mask.name
    held = held_index(m, mask)
    count = int(held.expand(shape).sum())
    if not count:
        return m.value(x)
    tail = 0  # dimensions that are written whole
    padded = (1,) * (len(shape) - held.dim()) + tuple(held.shape)
    while tail < min(len(shape), value.rank - 1):
        d = len(shape) - 1 - tail
        if padded[d] != 1 or value.shape[value.rank - 1 - tail] != shape[d]:
            break
        tail += 1
    lead, rest = shape[: len(shape) - tail], shape[len(shape) - tail :]
    rows = count // math.prod(rest)
    ones = (1,) * tail

    def places(env: Mapping[str, Any]) -> Any:
        found = env[name].expand((*lead, *ones)).reshape(-1).nonzero().reshape(-1)
        if found.numel() != rows:
            raise DataError(
                f"the mask {name} keeps {counted(found.numel(), 'place')}, the program was made "
                f"for {rows}",
                hint="import the module again with this mask",
            )
        return found

    all_rows = math.prod(value.shape) // math.prod(rest)
    value = views.moved(b, b.unmasked(value, "a part"), (all_rows, *rest))
    if rows != all_rows:
        value = views.selected(b, value, 0, range(rows), "first")
    value = b.stored_dims(value, [0])
    picks = selections_of(b, places, (rows,), math.prod(lead), f"{b.node.name}_places")
    names = list(LETTERS[:tail])
    moved = b.contract([(picks, ["o", "z"]), (value, ["o", *names])], ["z", *names], "moved")
    moved = views.moved(b, moved, shape)
    stays = m.derived(mask, f"{name}_left", lambda held: held == 0, keep=True)
    return kept_and(m, x, stays, moved)


HANDLERS: dict[str, Callable[..., Any]] = {
    "copy": copy, "fill": fill, "slice_scatter": slice_scatter,
    "select_scatter": select_scatter, "diagonal_scatter": diagonal_scatter,
    "as_strided_scatter": as_strided_scatter, "masked_scatter": masked_scatter,
}  # fmt: skip
