"""Tensors on the same memory, written down as values.

A graph of values has no memory: after a write to a view, the tensor that it is a part of is another
value, and so is every other view of it.  Which part of a tensor a view is follows from sizes,
strides and offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fuseloom.frontends.torch.capture import load_torch


@dataclass(eq=False)
class Tracked:
    """A tensor that a recorded module has made or was given.

    Attributes
    ----------
    tensor : Tensor
        The object, kept so that its address stays its own.
    node : Node
        What it holds, as of ``version`` of its memory.
    version : int
        How many writes the memory had seen.
    parent : Tracked, optional
        The tensor of which it is a view.
    again : callable, optional
        Writes down the operation that makes the view of the tensor's present value.
    """

    tensor: Any
    node: Any
    version: int
    parent: Tracked | None = None
    again: Callable[[], Any] | None = None


def storage_of(tensor: Any) -> int:
    """Return the identity of a storage; of a sparse tensor, never a view here, the tensor's."""
    if tensor.layout != load_torch().strided:
        return int(tensor._cdata)
    found = tensor.untyped_storage()
    return int(found._cdata)


def components(tensor: Any) -> list[Any]:
    """The dense tensors that a sparse one keeps its elements in."""
    torch = load_torch()
    if tensor.layout == torch.strided:
        return []
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    by_row = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    outer = tensor.crow_indices if by_row else tensor.ccol_indices
    inner = tensor.col_indices if by_row else tensor.row_indices
    return [outer(), inner(), tensor.values()]


def geometry(tensor: Any) -> tuple[Any, ...]:
    """Return shape, type, layout and place, by which tensors on one memory differ."""
    return (
        tuple(tensor.shape),
        tensor.dtype,
        tensor.layout,
        (tensor.data_ptr(), tensor.stride()) if str(tensor.layout) == "torch.strided" else None,
    )


# Operations that write ----------------------------------------------------------------------------


def mutated(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The operands that an operation writes to, in the order of its results."""
    schema = func._schema
    if not schema.is_mutable:
        return []
    given = dict(zip((a.name for a in schema.arguments), args, strict=False)) | kwargs
    names = [a.name for a in schema.arguments if a.alias_info and a.alias_info.is_write]
    leaves: list[Any] = load_torch().utils._pytree.tree_leaves([given[name] for name in names])
    return leaves


def value_form(func: Any) -> Any:
    """The operation that gives what another one writes: ``add`` of ``add_`` and of ``add.out``.

    None where PyTorch has no such operation.
    """
    torch = load_torch()
    namespace, name = func._schema.name.split("::")
    if name.startswith("__i") and name.endswith("__"):
        name = f"__{name[3:]}"
    elif name.endswith("_") and not name.endswith("__"):
        name = name[:-1]
    packet = getattr(getattr(torch.ops, namespace), name, None)
    if packet is None:
        return None
    wanted = [(a.name, str(a.type)) for a in func._schema.arguments if not a.is_out]
    for overload in packet.overloads():
        found = getattr(packet, overload)
        own = [(a.name, str(a.type)) for a in found._schema.arguments]
        if own == wanted and not found._schema.is_mutable:
            return found
    return None


# The part that a view is --------------------------------------------------------------------------

Call = tuple[Any, tuple[Any, ...]]
"""An operation, and its arguments behind the operands."""


@dataclass(frozen=True)
class ViewPart:
    """The part of a tensor that a view of it has.

    Attributes
    ----------
    back : Call, optional
        What gives the whole tensor of a view that has all of its elements, moved.
    scatter : Call, optional
        What gives the whole tensor of its value before and that of the view.
    places : Tensor, optional
        For other views: the places of its elements among those of the tensor, in order.
    """

    back: Call | None = None
    scatter: Call | None = None
    places: Any = None


def part_of(whole: Any, view: Any) -> ViewPart | None:
    """Return the part of a tensor that a view has; None if elements share a place there."""
    aten = load_torch().ops.aten
    if view.dtype != whole.dtype:
        return None
    if tuple(view.shape) == tuple(whole.shape) and _same_strides(view, whole):
        return ViewPart(back=(aten.alias.default, ()))
    order = _permutation(whole, view)
    if order is not None:
        inverse = [order.index(d) for d in range(len(order))]
        return ViewPart(back=(aten.permute.default, (inverse,)))
    cut = _cut(whole, view)
    if cut is not None:
        return ViewPart(scatter=cut)
    return _placed(whole, view)


def _same_strides(view: Any, whole: Any) -> bool:
    if view.storage_offset() != whole.storage_offset():
        return False
    pairs = zip(view.shape, view.stride(), whole.stride(), strict=True)
    return all(a == b or n == 1 for n, a, b in pairs)


def _permutation(whole: Any, view: Any) -> list[int] | None:
    """Which dimension of the whole each one of a view is, if it has all of them."""
    if view.storage_offset() != whole.storage_offset() or view.dim() != whole.dim():
        return None
    left = list(enumerate(zip(whole.shape, whole.stride(), strict=True)))
    order = []
    for size, stride in zip(view.shape, view.stride(), strict=True):
        found = next(
            (p for p in left if p[1][0] == size and (p[1][1] == stride or size == 1)), None
        )
        if found is None:
            return None
        left.remove(found)
        order.append(found[0])
    return order


def _cut(whole: Any, view: Any) -> Call | None:
    """A slice along one dimension, or one place along it."""
    aten = load_torch().ops.aten
    ahead = view.storage_offset() - whole.storage_offset()
    shape, strides = list(whole.shape), list(whole.stride())
    own, steps = list(view.shape), list(view.stride())
    for dim, size in enumerate(shape):
        stride = strides[dim]
        if view.dim() == whole.dim() - 1:
            rest = [(n, s) for d, (n, s) in enumerate(zip(shape, strides, strict=True)) if d != dim]
            at = ahead // stride if stride else 0
            if _alike(rest, list(zip(own, steps, strict=True))) and at * stride == ahead < max(
                1, size * stride
            ):
                return aten.select_scatter.default, (dim, at)
        if view.dim() != whole.dim():
            continue
        others = [d for d in range(len(shape)) if d != dim]
        if not _alike(
            [(shape[d], strides[d]) for d in others], [(own[d], steps[d]) for d in others]
        ):
            continue
        step = steps[dim] // stride if stride and own[dim] > 1 else 1
        first = ahead // stride if stride else 0
        last = first + (own[dim] - 1) * step
        fits = stride and step >= 1 and first * stride == ahead and first >= 0 and last < size
        if fits and own[dim] and (own[dim] == 1 or step * stride == steps[dim]):
            return aten.slice_scatter.default, (dim, first, last + 1, step)
    return None


def _alike(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> bool:
    return len(one) == len(other) and all(
        a == b and (s == t or a == 1) for (a, s), (b, t) in zip(one, other, strict=True)
    )


def _positions(tensor: Any) -> Any:
    """The place in memory of each element."""
    torch = load_torch()
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    return torch.arange(count).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def places_in(whole: Any, view: Any) -> Any:
    """Return where the elements of a view lie among those of a tensor on the same memory.

    Returns
    -------
    Tensor of int64, optional
        For each element of the view, in order, its place among those of ``whole``, in order; None
        if one of them is no element of ``whole``, or their types differ.
    """
    torch = load_torch()
    if view.dtype != whole.dtype or storage_of(view) != storage_of(whole):
        return None
    there, own = _positions(whole).reshape(-1), _positions(view).reshape(-1)
    if not own.numel():
        return own
    if not there.numel():
        return None
    place = torch.full((int(max(there.max(), own.max())) + 1,), -1)
    place[there] = torch.arange(there.numel())
    places = place[own]
    return None if bool((places < 0).any()) else places


def _placed(whole: Any, view: Any) -> ViewPart | None:
    torch = load_torch()
    places = places_in(whole, view)
    if places is None:
        return None
    if torch.equal(places, torch.arange(whole.numel())):
        return ViewPart(back=(torch.ops.aten.reshape.default, (list(whole.shape),)))
    return None if places.unique().numel() != places.numel() else ViewPart(places=places)
