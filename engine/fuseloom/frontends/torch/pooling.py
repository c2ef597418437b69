"""Pooling: the greatest or the mean of each window, of fixed or of adaptive sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.frontends.algebra import moves
from fuseloom.frontends.torch.moves import along as product_along
from fuseloom.frontends.torch.nodes import shape_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Support, Value
from fuseloom.frontends.torch.windows import (
    SlidingWindows,
    declared,
    each,
    spread,
    spread_together,
)
from fuseloom.program import Op

MOST_VISITS = 2.5
"""Elements of windows of all dimensions at once, per element of those in turn, up to which they
take fewer cycles unfused (maxima over 2 to 9 places in each of two dimensions)."""


def greatest(m: Traced, value: Value, dim: int, windows: SlidingWindows) -> Value:
    """Along a dimension the maximum of each window, none of which is empty."""
    return _reduced(m, spread(m, m.builder.filled(value), dim, windows), [dim + 1])


def _greatest_together(m: Traced, value: Value, windows: Mapping[int, SlidingWindows]) -> Value:
    """Along several dimensions the maximum of each window, of all of them at once if that pays."""
    if _visits(value, windows) > MOST_VISITS * _visits_in_turn(value, windows):
        for dim, along in windows.items():
            value = greatest(m, value, dim, along)
        return value
    together = spread_together(m, m.builder.filled(value), windows)
    return _reduced(m, together, [dim + 1 + more for more, dim in enumerate(sorted(windows))])


def _visits(value: Value, windows: Mapping[int, SlidingWindows]) -> float:
    """Elements that all windows of some dimensions have together."""
    rest = math.prod(n for d, n in enumerate(value.shape) if d not in windows)
    return rest * math.prod(float(along.count) for along in windows.values())


def _visits_in_turn(value: Value, windows: Mapping[int, SlidingWindows]) -> float:
    """Elements that they have if each dimension's maximum is taken before the next's."""
    shape, visits = list(value.shape), 0.0
    for dim, along in windows.items():
        visits += math.prod(shape) / shape[dim] * along.count
        shape[dim] = along.shape[0]
    return visits


def _reduced(m: Traced, windows: Value, inside: Sequence[int]) -> Value:
    """The maximum over the positions inside windows."""
    masked = replace(windows, support=Support.MASKED)
    result = m.builder.reduce(Op.MAX, masked, inside, "top")
    rest = [d for d in range(result.rank) if d not in inside]
    return replace(result.picked(rest, [result.shape[d] for d in rest]), support=Support.FULL)


def max_pool(count: int, pair: bool = False) -> Callable[..., Any]:
    """``max_pool1d`` to ``max_pool3d``; ``pair``: with indices, which are not there."""

    def handler(
        m: Traced,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        value = m.builder.unmasked(m.value(x), "a window")
        size = each(kernel_size, count)
        step = each(stride, count) if stride not in (None, [], ()) else size
        before, gap = each(padding, count), each(dilation, count)
        wanted, along = shape_of(m.builder.node), {}
        for n, dim in enumerate(range(value.rank - count, value.rank)):
            relation = moves.windows(step[n], gap[n], before[n])
            along[dim] = declared(m.builder, relation, wanted[dim], size[n], value.shape[dim])
            if len(set(relation.coordinates(along[dim].shape)[:, 0])) < wanted[dim]:
                raise m.builder.refuse(
                    "a maximum over a window that lies in the padding alone", "pad less"
                )
        value = _greatest_together(m, value, along)
        return (value, None) if pair else value

    return handler


def adaptive_max_pool(count: int) -> Callable[..., Any]:
    def handler(m: Traced, x: Any, output_size: Any) -> Any:
        value = m.builder.unmasked(m.value(x), "a window")
        wanted = shape_of(m.builder.node)
        dims = range(value.rank - count, value.rank)
        along = {dim: _shares(m, wanted[dim], value.shape[dim]) for dim in dims}
        return _greatest_together(m, value, along), None

    return handler


def _shares(m: Traced, places: int, length: int) -> SlidingWindows:
    """Windows over a dimension that begin and end at whole shares of it, rounded outwards."""
    first = [p * length // places for p in range(places)]
    last = [-(-(p + 1) * length // places) for p in range(places)]
    sizes = [b - a for a, b in zip(first, last, strict=True)]
    shape = (places, max(sizes), length)
    even = moves.spaced(first)
    if even is not None and len(set(sizes)) == 1:
        return declared(m.builder, moves.windows(even[1], before=-even[0]), *shape)
    held = m.torch.zeros(shape)
    for place, (start, size) in enumerate(zip(first, sizes, strict=True)):
        inside = m.torch.arange(size)
        held[place, inside, start + inside] = 1.0
    return SlidingWindows(shape, None, lambda env: held, sum(sizes))


def average_pool(count: int) -> Callable[..., Any]:
    """``avg_pool1d`` to ``avg_pool3d``: a product with the shares of each window, per dimension."""

    def handler(
        m: Traced,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Value:
        value = m.builder.unmasked(m.value(x), "a window")
        size = each(kernel_size, count)
        step = each(stride, count) if stride not in (None, [], ()) else size
        pool = m.torch.nn.functional.avg_pool1d
        for n in range(count):
            dim = value.rank - count + n
            eye = m.torch.eye(value.shape[dim], dtype=m.torch.float64)[None]
            held = pool(
                eye, size[n], step[n], each(padding, count)[n], ceil_mode, count_include_pad
            )[0].t()
            if divisor_override is not None:
                held = (held != 0).to(eye.dtype)
            value = product_along(m, value, dim, held, "pooled")
        return value if divisor_override is None else m.builder.scale(value, 1 / divisor_override)

    return handler


def adaptive_average_pool(count: int) -> Callable[..., Any]:
    def handler(m: Traced, x: Any, output_size: Any) -> Value:
        b, value = m.builder, m.builder.unmasked(m.value(x), "a window")
        wanted = shape_of(m.builder.node)
        dims = [d for d in range(value.rank - count, value.rank) if wanted[d] != value.shape[d]]
        whole = [d for d in dims if wanted[d] == 1]
        if whole:
            total = b.reduce(Op.SUM, value, whole, "total")
            value = b.scale(total, 1 / math.prod(value.shape[d] for d in whole), "mean")
        for dim in (d for d in dims if d not in whole):
            eye = m.torch.eye(value.shape[dim], dtype=m.torch.float64)[None]
            held = m.torch.nn.functional.adaptive_avg_pool1d(eye, wanted[dim])[0].t()
            value = product_along(m, value, dim, held, "pooled")
        return value

    return handler


HANDLERS: dict[str, Callable[..., Any]] = {
    **{f"max_pool{n}d": max_pool(n) for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices": max_pool(n, True) for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d": adaptive_max_pool(n) for n in (1, 2, 3)},
    **{f"avg_pool{n}d": average_pool(n) for n in (1, 2, 3)},
    **{f"adaptive_avg_pool{n}d": adaptive_average_pool(n) for n in (1, 2, 3)},
    **{f"_adaptive_avg_pool{n}d": adaptive_average_pool(n) for n in (2, 3)},
}
