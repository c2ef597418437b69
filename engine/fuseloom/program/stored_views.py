"""Views of stored tensors: the same elements in another mode order, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fuseloom.errors import DataError
from fuseloom.program.formats import Format, LevelFormat, suggestion
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor

GROWTH = 1024
"""The largest ratio of a dimension to the one whose dense level it takes over."""


def view_key(tensor: Tensor, mode_order: Sequence[int]) -> str:
    """Name of a tensor's data in a mode order: ``X`` as declared, else ``X@1,0``.

    Examples
    --------
    >>> view_key(Tensor("X", (3, 4), Format.compressed(2)), (1, 0))
    'X@1,0'
    """
    if tuple(mode_order) == tensor.format.mode_order:
        return tensor.name
    return f"{tensor.name}@{','.join(map(str, mode_order))}"


def view_format(tensor: Tensor, mode_order: Sequence[int]) -> Format:
    """The format of a tensor's data in a mode order, with exactly the same elements stored.

    Level formats stay in place, except that dense innermost levels of a sparse tensor become
    compressed: in another place they would fill other fibers.  So do singletons right below a
    dense level, which need not have one element per position in another place.  Nor does a level
    stay dense that a far larger dimension takes over: a segment for each of ten million columns
    is no price for a few elements.

    Examples
    --------
    >>> banded = Format((LevelFormat.COMPRESSED, LevelFormat.DENSE), (0, 1))
    >>> [level.value for level in view_format(Tensor("X", (3, 4), banded), (1, 0)).levels]
    ['compressed', 'compressed']
    """
    order, levels = tuple(mode_order), list(tensor.format.levels)
    if order == tensor.format.mode_order or tensor.format.all_dense:
        return replace(tensor.format, mode_order=order)
    for at in range(len(levels) - 1, -1, -1):
        if levels[at] is not LevelFormat.DENSE:
            break
        levels[at] = LevelFormat.COMPRESSED
    for at in range(1, len(levels)):
        if levels[at] is LevelFormat.SINGLETON and levels[at - 1] is LevelFormat.DENSE:
            levels[at] = LevelFormat.COMPRESSED
    for at, (was, now) in enumerate(zip(tensor.format.mode_order, order, strict=True)):
        grown = tensor.shape[now] > GROWTH * tensor.shape[was]
        if levels[at] is LevelFormat.DENSE and grown:
            levels[at] = LevelFormat.COMPRESSED
    return replace(tensor.format, levels=tuple(levels), mode_order=order)


def resolve_view(data: Mapping[str, StoredTensor], key: str) -> StoredTensor:
    """The data a :func:`view_key` names, stored again if its mode order is another one.

    Raises
    ------
    DataError
        No such tensor, or not a mode order of it.
    """
    name, _, order = key.partition("@")
    if name not in data:
        raise DataError(f"there are no data called {name!r}", hint=suggestion(name, list(data)))
    if not order:
        return data[name]
    if not all(axis.isdecimal() for axis in order.split(",")):
        raise DataError(f"{key!r} names no view", hint="a view is written X@1,0")
    axes = [int(axis) for axis in order.split(",")]
    tensor = data[name].tensor
    if sorted(axes) != list(range(tensor.rank)):
        return data[name].with_mode_order(axes)  # says what is wrong
    return data[name].with_format(view_format(tensor, axes))
