"""Sums, means, maxima, softmax and the normalisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.elementwise import larger, smaller
from fuseloom.frontends.torch.masks import covers
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Support, Value
from fuseloom.program import Op
from fuseloom.wording import counted


def dims_of(value: Value, dim: Any) -> list[int]:
    if dim is None or dim == [] or not value.rank:
        return list(range(value.rank))
    return [d % value.rank for d in ([dim] if isinstance(dim, int) else dim)]


def kept(value: Value, dims: Sequence[int], keepdim: bool) -> Value:
    """Drop the reduced dimensions, which have size 1 and are not stored."""
    if keepdim:
        return value
    rest = [d for d in range(value.rank) if d not in dims]
    return value.picked(rest, [value.shape[d] for d in rest])


def reduced(m: Traced, op: Op, value: Value, dim: Any, keepdim: bool, part: str) -> Value:
    dims = dims_of(value, dim)
    return kept(m.builder.reduce(op, value, dims, part), dims, keepdim)


def sum_(m: Traced, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    return reduced(m, Op.SUM, m.value(x), dim, keepdim, "total")


def mean_of(m: Traced, value: Value, dims: Sequence[int]) -> Value:
    count = prod(value.shape[d] for d in dims)
    return m.builder.scale(m.builder.reduce(Op.SUM, value, dims, "total"), 1.0 / count, "mean")


def mean(m: Traced, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    value = m.value(x)
    dims = dims_of(value, dim)
    return kept(mean_of(m, value, dims), dims, keepdim)


def amax(m: Traced, x: Any, dim: Any = None, keepdim: bool = False) -> Value:
    return reduced(m, Op.MAX, m.value(x), dim, keepdim, "top")


def amin(m: Traced, x: Any, dim: Any = None, keepdim: bool = False) -> Value:
    b = m.builder
    turned = b.scale(m.value(x), -1.0, "negative")
    return b.scale(reduced(m, Op.MAX, turned, dim, keepdim, "top"), -1.0, "negative")


def max_(m: Traced, x: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
    """``max()`` and ``max(other)`` are values; ``max(dim)`` a pair of values and places."""
    if other is not None:
        return larger(m.builder, m.value(x), m.value(other))
    result = amax(m, x, dim, keepdim)
    return result if dim is None else (result, _places(m, "argmax", x, dim, keepdim))


def min_(m: Traced, x: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
    if other is not None:
        return smaller(m.builder, m.value(x), m.value(other))
    result = amin(m, x, dim, keepdim)
    return result if dim is None else (result, _places(m, "argmin", x, dim, keepdim))


def _places(m: Traced, handler: str, x: Any, dim: int, keepdim: bool) -> Any:
    """Return the positions of the extrema, if they are used."""
    parts = [user for user in m.builder.node.users if user.args[1:] == (1,)]
    return m.handlers[handler](m, x, dim, keepdim) if any(p.users for p in parts) else None


def _variance(m: Traced, value: Value, dims: Sequence[int], correction: float) -> Value:
    b = m.builder
    count = prod(value.shape[d] for d in dims)
    if count <= correction:
        raise b.refuse(
            f"the variance of {counted(count, 'element')} less {correction:g}",
            "correction=0 gives a number",
        )
    centred = b.add(value, mean_of(m, value, dims), "centred", Op.SUB)
    total = b.reduce(Op.SUM, b.mul(centred, centred, "squares"), dims, "spread")
    return b.scale(total, 1.0 / (count - correction), "variance")


def var(
    m: Traced,
    x: Any,
    dim: Any = None,
    correction: float | None = None,
    keepdim: bool = False,
    unbiased: bool = True,
) -> Value:
    value = m.value(x)
    dims = dims_of(value, dim)
    share = (1.0 if unbiased else 0.0) if correction is None else float(correction)
    return kept(_variance(m, value, dims, share), dims, keepdim)


def std(m: Traced, x: Any, dim: Any = None, keepdim: bool = False, **how: Any) -> Value:
    return m.builder.apply(Op.SQRT, var(m, x, dim, keepdim=keepdim, **how))


def with_mean(spread: Callable[..., Value]) -> Callable[..., tuple[Value, Value]]:
    """``var_mean`` and ``std_mean``."""

    def handler(
        m: Traced, x: Any, dim: Any = None, keepdim: bool = False, **how: Any
    ) -> tuple[Value, Value]:
        return spread(m, x, dim, keepdim=keepdim, **how), mean(m, x, dim, keepdim)

    return handler


def aminmax(
    m: Traced, x: Any, dim: int | None = None, keepdim: bool = False
) -> tuple[Value, Value]:
    return amin(m, x, dim, keepdim), amax(m, x, dim, keepdim)


# Softmax ------------------------------------------------------------------------------------------


def _shifted(m: Traced, value: Value, dim: int) -> tuple[Value, Value, list[int]]:
    """Logits less their maximum, the exponentials' sums, and the dimension."""
    b = m.builder
    dims = [b.axis(dim, value.rank)]
    if value.support is Support.ZERO:
        value = b.filled(value)
    value = b.stored_dims(value, dims)
    top = b.reduce(Op.MAX, value, dims, "max")
    less = _less_fiber(b, value, top, dims[0])
    return less, _exponentials(m, less, value.support), dims


def _pattern(b: TorchBuilder, value: Value) -> Value:
    """Ones where a masked value has elements."""
    if value.mask is not None:
        return value.mask
    return b.unary("ones", Op.EXP, b.unary("nothing", Op.SCALE, value, 0.0))


def _less_fiber(b: TorchBuilder, value: Value, per_fiber: Value, dim: int) -> Value:
    """A masked value less a number per fiber along ``dim``, on the elements that it has.

    A sum that broadcasts keeps to the elements of the larger operand only in the sparse
    mode, and only where the other lacks the innermost dimension.
    """
    inner = any(axis is not None for axis in value.axes[dim + 1 :])
    if value.support is Support.MASKED and (b.mixed or inner):
        here = replace(_pattern(b, value), support=Support.ZERO)
        per_fiber = b.pointwise("spread", Op.MUL, [per_fiber, here], Support.ZERO)
    result = b.pointwise("less", Op.SUB, [value, per_fiber], value.support)
    return replace(result, mask=value.mask)


def _exponentials(m: Traced, less: Value, support: Support) -> Value:
    to = Support.FULL if support is Support.FULL else Support.ZERO
    return m.builder.unary("exp", Op.EXP, less, support=to)


def softmax(m: Traced, x: Any, dim: int, dtype: Any = None, half_to_float: Any = None) -> Value:
    """Over masked logits: over what the mask keeps; removed elements become 0."""
    return softmax_of(m, m.value(x), dim)


def softmax_of(m: Traced, value: Value, dim: int) -> Value:
    """The softmax of a value over a dimension."""
    b = m.builder
    less, powers, dims = _shifted(m, value, dim)
    total = b.reduce(Op.SUM, powers, dims, "sum")
    result = b.pointwise("share", Op.DIV, [powers, total], powers.support)
    if less.support is Support.MASKED and covers(m, less, dims[0]):
        return replace(result, covered=dims[0])
    return result


def log_softmax(m: Traced, x: Any, dim: int, dtype: Any = None, half_to_float: Any = None) -> Value:
    return log_softmax_of(m, m.value(x), dim)


def log_softmax_of(m: Traced, value: Value, dim: int) -> Value:
    """The logarithm of the softmax of a value over a dimension."""
    b = m.builder
    less, powers, dims = _shifted(m, value, dim)
    total = b.unary("log", Op.LOG, b.reduce(Op.SUM, powers, dims, "sum"))
    if less.support is Support.MASKED:
        covers(m, less, dims[0])
    return _less_fiber(b, less, total, dims[0])


def logsumexp(m: Traced, x: Any, dim: Any, keepdim: bool = False) -> Value:
    b, value = m.builder, m.builder.unmasked(m.value(x), "logsumexp")
    value = b.filled(value)
    dims = dims_of(value, dim)
    value = b.stored_dims(value, dims)
    top = b.reduce(Op.MAX, value, dims, "max")
    powers = b.apply(Op.EXP, b.add(value, top, "less", Op.SUB))
    total = b.apply(Op.LOG, b.reduce(Op.SUM, powers, dims, "total"))
    return kept(b.add(total, top), dims, keepdim)


HANDLERS: dict[str, Callable[..., Any]] = {
    "sum": sum_, "mean": mean, "amax": amax, "amin": amin, "max": max_, "min": min_,
    "var": var, "std": std, "var_mean": with_mean(var), "std_mean": with_mean(std),
    "aminmax": aminmax,
    "softmax": softmax, "_softmax": softmax, "log_softmax": log_softmax,
    "_log_softmax": log_softmax, "logsumexp": logsumexp,
}  # fmt: skip
