"""Sums, means, maxima, softmax and the normalisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from engine.frontends.torch.pointwise import sqrt_of
from engine.frontends.torch.values import Support, Value
from engine.program import Op

if TYPE_CHECKING:
    from engine.frontends.torch.importer import Importer


def _dims(value: Value, dim: Any) -> list[int]:
    if dim is None or dim == []:
        return list(range(value.rank))
    return [d % value.rank for d in ([dim] if isinstance(dim, int) else dim)]


def _kept(value: Value, dims: Sequence[int], keepdim: bool) -> Value:
    """Drop the reduced dimensions, which have size 1 and are not stored."""
    if keepdim:
        return value
    rest = [d for d in range(value.rank) if d not in dims]
    return value.picked(rest, [value.shape[d] for d in rest])


def reduced(m: Importer, op: Op, value: Value, dim: Any, keepdim: bool, part: str) -> Value:
    dims = _dims(value, dim)
    return _kept(m.builder.reduce(op, value, dims, part), dims, keepdim)


def sum_(m: Importer, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    return reduced(m, Op.SUM, m.value(x), dim, keepdim, "total")


def _mean(m: Importer, value: Value, dims: Sequence[int]) -> Value:
    count = prod(value.shape[d] for d in dims)
    return m.builder.scale(m.builder.reduce(Op.SUM, value, dims, "total"), 1.0 / count, "mean")


def mean(m: Importer, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
    value = m.value(x)
    dims = _dims(value, dim)
    return _kept(_mean(m, value, dims), dims, keepdim)


def amax(m: Importer, x: Any, dim: Any = None, keepdim: bool = False) -> Value:
    return reduced(m, Op.MAX, m.value(x), dim, keepdim, "top")


def amin(m: Importer, x: Any, dim: Any = None, keepdim: bool = False) -> Value:
    b = m.builder
    turned = b.scale(m.value(x), -1.0, "negative")
    return b.scale(reduced(m, Op.MAX, turned, dim, keepdim, "top"), -1.0, "negative")


def max_(m: Importer, x: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
    """``max()`` is a value; ``max(dim)`` a pair whose indices are not there."""
    result = amax(m, x, dim, keepdim)
    return result if dim is None else (result, None)


def min_(m: Importer, x: Any, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
    result = amin(m, x, dim, keepdim)
    return result if dim is None else (result, None)


def _variance(m: Importer, value: Value, dims: Sequence[int], correction: float) -> Value:
    b = m.builder
    centred = b.add(value, _mean(m, value, dims), "centred", Op.SUB)
    total = b.reduce(Op.SUM, b.mul(centred, centred, "squares"), dims, "spread")
    return b.scale(total, 1.0 / (prod(value.shape[d] for d in dims) - correction), "variance")


def var(
    m: Importer,
    x: Any,
    dim: Any = None,
    correction: float | None = None,
    keepdim: bool = False,
    unbiased: bool = True,
) -> Value:
    value = m.value(x)
    dims = _dims(value, dim)
    share = (1.0 if unbiased else 0.0) if correction is None else float(correction)
    return _kept(_variance(m, value, dims, share), dims, keepdim)


def std(
    m: Importer,
    x: Any,
    dim: Any = None,
    correction: float | None = None,
    keepdim: bool = False,
    unbiased: bool = True,
) -> Value:
    spread = var(m, x, dim, correction, keepdim, unbiased)
    return m.builder.on_stored(spread, lambda v: sqrt_of(m, v))


def vector_norm(
    m: Importer, x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    b, value = m.builder, m.value(x)
    if ord != 2:
        raise b.refuse(f"the norm of order {ord}", "order 2 is supported; abs, sum and amax too")
    dims = _dims(value, dim)
    total = b.reduce(Op.SUM, b.mul(value, value, "squares"), dims, "total")
    return _kept(b.on_stored(total, lambda v: sqrt_of(m, v)), dims, keepdim)


def norm(
    m: Importer, x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    return vector_norm(m, x, 2 if p is None else p, dim, keepdim)


# Softmax ------------------------------------------------------------------------------------------


def _shifted(m: Importer, x: Any, dim: int) -> tuple[Value, Value, list[int]]:
    """Logits less their maximum, the exponentials' sums, and the dimension."""
    b, value = m.builder, m.value(x)
    dims = [dim % value.rank]
    if value.support is Support.ZERO:
        value = b.filled(value)
    value = b.stored_dims(value, dims)
    top = b.reduce(Op.MAX, value, dims, "max")
    less = b.less_fiber(value, top, dims[0])
    return less, _exponentials(m, less, value.support), dims


def _exponentials(m: Importer, less: Value, support: Support) -> Value:
    to = Support.FULL if support is Support.FULL else Support.ZERO
    return m.builder.unary("exp", Op.EXP, less, support=to)


def softmax(m: Importer, x: Any, dim: int, dtype: Any = None, half_to_float: Any = None) -> Value:
    """Over masked logits: over what the mask keeps; removed elements become 0."""
    b = m.builder
    less, powers, dims = _shifted(m, x, dim)
    total = b.reduce(Op.SUM, powers, dims, "sum")
    result = b.pointwise("share", Op.DIV, [powers, total], powers.support)
    if less.support is Support.MASKED and m.covers(less, dims[0]):
        return replace(result, covered=dims[0])
    return result


def log_softmax(
    m: Importer, x: Any, dim: int, dtype: Any = None, half_to_float: Any = None
) -> Value:
    b = m.builder
    less, powers, dims = _shifted(m, x, dim)
    total = b.unary("log", Op.LOG, b.reduce(Op.SUM, powers, dims, "sum"))
    if less.support is Support.MASKED:
        m.covers(less, dims[0])
    return b.less_fiber(less, total, dims[0])


def logsumexp(m: Importer, x: Any, dim: Any, keepdim: bool = False) -> Value:
    b, value = m.builder, m.builder.unmasked(m.value(x), "logsumexp")
    value = b.filled(value)
    dims = _dims(value, dim)
    value = b.stored_dims(value, dims)
    top = b.reduce(Op.MAX, value, dims, "max")
    powers = b.apply(Op.EXP, b.add(value, top, "less", Op.SUB))
    total = b.apply(Op.LOG, b.reduce(Op.SUM, powers, dims, "total"))
    return _kept(b.add(total, top), dims, keepdim)


# Normalisation ------------------------------------------------------------------------------------


def _normalised(m: Importer, centred: Value, spread: Value, eps: float) -> Value:
    """``centred / sqrt(spread + eps)``; where nothing is stored, all is 0 and stays so."""
    b = m.builder
    scale = b.on_stored(spread, lambda v: b.apply(Op.RSQRT, b.shift(v, eps)))
    return b.mul(centred, scale, "normal")


def _affine(m: Importer, value: Value, weight: Any, bias: Any) -> Value:
    if weight is not None:
        value = m.builder.mul(value, m.value(weight), "weighted")
    if bias is not None:
        value = m.builder.add(value, m.value(bias), "biased")
    return value


def layer_norm(
    m: Importer,
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Value:
    b, value = m.builder, m.builder.unmasked(m.value(input), "layer_norm")
    dims = list(range(value.rank - len(normalized_shape), value.rank))
    value = b.stored_dims(value, dims)
    centred = b.add(value, _mean(m, value, dims), "centred", Op.SUB)
    spread = _mean(m, b.mul(centred, centred, "squares"), dims)
    return _affine(m, _normalised(m, centred, spread, eps), weight, bias)


def rms_norm(
    m: Importer,
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    eps: float | None = None,
) -> Value:
    b, value = m.builder, m.builder.unmasked(m.value(input), "rms_norm")
    dims = list(range(value.rank - len(normalized_shape), value.rank))
    spread = _mean(m, b.mul(value, value, "squares"), dims)
    eps = m.torch.finfo(m.torch.float32).eps if eps is None else eps
    return _affine(m, _normalised(m, value, spread, eps), weight, None)


def batch_norm(
    m: Importer,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool = False,
    *_: Any,
    **others: Any,
) -> Value:
    """In eval mode a factor and a summand per channel, folded from the stored statistics."""
    b, value = m.builder, m.builder.unmasked(m.value(input), "batch_norm")
    eps = float(others.get("eps", 1e-5))
    held = [None if g is None else m.held(g) for g in (weight, bias, running_mean, running_var)]
    if training or held[2] is None or held[3] is None:
        raise b.refuse("batch_norm over the batch's own statistics", "track running statistics")
    names = [None if g is None else g.name for g in (weight, bias, running_mean, running_var)]

    def factor(env: Any) -> Any:
        scale = (env[names[3]].detach() + eps).rsqrt()
        return scale if names[0] is None else scale * env[names[0]].detach()

    def term(env: Any) -> Any:
        moved = -env[names[2]].detach() * factor(env)
        return moved if names[1] is None else moved + env[names[1]].detach()

    shape = tuple(n if d == 1 else 1 for d, n in enumerate(value.shape))
    dims = [0 if d == 1 else None for d in range(value.rank)]
    label = b.node.name
    scaled = b.feed(f"{label}_factor", (shape[1],), factor).picked(dims, shape)
    moved = b.feed(f"{label}_term", (shape[1],), term).picked(dims, shape)
    return b.add(b.mul(value, scaled, "scaled"), moved)


HANDLERS: dict[str, Callable[..., Any]] = {
    "sum": sum_, "mean": mean, "amax": amax, "amin": amin, "max": max_, "min": min_,
    "var": var, "std": std, "linalg_vector_norm": vector_norm, "norm": norm,
    "softmax": softmax, "_softmax": softmax, "log_softmax": log_softmax,
    "_log_softmax": log_softmax, "logsumexp": logsumexp, "layer_norm": layer_norm,
    "rms_norm": rms_norm, "batch_norm": batch_norm,
}  # fmt: skip
