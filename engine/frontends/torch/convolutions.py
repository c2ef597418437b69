"""Convolutions whose windows do not overlap: patches of an image, each through a linear layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from engine.frontends.torch import views
from engine.frontends.torch.builder import LETTERS
from engine.frontends.torch.values import Value

if TYPE_CHECKING:
    from engine.frontends.torch.importer import Importer


def convolution(
    m: Importer,
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    """``conv1d`` to ``conv3d`` whose stride is the size of the kernel, without padding."""
    b = m.builder
    value, kernel = m.value(input), m.value(weight)
    window = kernel.shape[2:]
    count = len(window)
    dilated = any(k > 1 and d > 1 for k, d in zip(window, _each(dilation, count), strict=True))
    if isinstance(padding, str):  # "same" leaves windows of 1 as they are
        padding = 0 if padding == "valid" or set(window) == {1} else 1
    padded = any(p != 0 for p in _each(padding, count))
    if padded or dilated or groups != 1 or tuple(_each(stride, count)) != window:
        raise b.refuse(
            f"{b.node.target} whose windows overlap, are padded, dilated or in groups",
            "a stride of the size of the kernel is supported; else an nn.Linear over unfolded "
            "patches computes the same",
        )
    if value.rank == count + 1:  # no batch
        value = value.picked([None, *range(value.rank)], (1, *value.shape))
    patches = _patches(m, value, window)
    n, c, o, *rest = list(LETTERS)
    places, inside = rest[:count], rest[count : 2 * count]
    within = [x for pair in zip(places, inside, strict=True) for x in pair]
    result = b.contract(
        [(patches, [n, c, *within]), (kernel, [o, c, *inside])], [n, o, *places], "product"
    )
    if bias is not None:
        given = m.value(bias)
        shape = (1, given.shape[0], *[1] * count)
        result = b.add(result, given.picked([None, 0, *[None] * count], shape), "biased")
    wanted = tuple(b.node.meta["val"].shape)
    if len(wanted) == result.rank:
        return result
    result = b.dropped(result, [0])
    return result.picked(list(range(1, result.rank)), wanted)


def _each(given: Any, count: int) -> list[Any]:
    """One number per dimension; PyTorch takes one for all of them."""
    numbers = list(given) if isinstance(given, Sequence) else [given]
    return numbers * count if len(numbers) == 1 else numbers


def _patches(m: Importer, value: Value, window: Sequence[int]) -> Value:
    """Each spatial dimension as two, the place of the window and the place inside of it."""
    shape: list[int] = list(value.shape[:2])
    for dim, size in enumerate(window, 2):
        places = value.shape[dim] // size
        if places * size != value.shape[dim]:  # what no window reaches
            value = views.pieces(m.builder, "slice", value, (dim, 0, places * size))
        shape += [places, size]
    renamed = views.rename(m.builder, "view", value, (), shape)
    return views.reshape(m.builder, value, shape) if renamed is None else renamed


HANDLERS: dict[str, Callable[..., Any]] = {
    "conv1d": convolution, "conv2d": convolution, "conv3d": convolution,
}  # fmt: skip
