"""Normalisations: over the last dimensions, over channels, over groups of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from fuseloom.frontends.torch.elementwise import on_stored
from fuseloom.frontends.torch.moves import along
from fuseloom.frontends.torch.reductions import mean_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value
from fuseloom.program import Op


def _normalised(m: Traced, centred: Value, spread: Value, eps: float) -> Value:
    """``centred / sqrt(spread + eps)``; where nothing is stored, all is 0 and stays so."""
    b = m.builder
    scale = on_stored(b, spread, lambda v: b.apply(Op.RSQRT, b.shift(v, eps)))
    return b.mul(centred, scale, "normal")


Average = Callable[[Value, str], Value]
"""A mean of a value, broadcast to its shape, with what to name it."""


def _standard(m: Traced, value: Value, average: Average, eps: float) -> Value:
    """Less its average, over the root of the average of the squares of that."""
    b = m.builder
    centred = b.add(value, average(value, "means"), "centred", Op.SUB)
    spread = average(b.mul(centred, centred, "squares"), "variances")
    return _normalised(m, centred, spread, eps)


def _over_dims(m: Traced, value: Value, dims: Sequence[int], eps: float) -> Value:
    value = m.builder.stored_dims(value, dims)
    return _standard(m, value, lambda given, _: mean_of(m, given, dims), eps)


def _affine(m: Traced, value: Value, weight: Value | None, bias: Value | None) -> Value:
    if weight is not None:
        value = m.builder.mul(value, weight, "weighted")
    if bias is not None:
        value = m.builder.add(value, bias, "biased")
    return value


def _given(m: Traced, *nodes: Any) -> list[Value | None]:
    return [None if node is None else m.value(node) for node in nodes]


def layer_norm(
    m: Traced,
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Value:
    value = m.builder.unmasked(m.value(input), "layer_norm")
    dims = list(range(value.rank - len(normalized_shape), value.rank))
    return _affine(m, _over_dims(m, value, dims, eps), *_given(m, weight, bias))


def rms_norm(
    m: Traced,
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    eps: float | None = None,
) -> Value:
    b, value = m.builder, m.builder.unmasked(m.value(input), "rms_norm")
    dims = list(range(value.rank - len(normalized_shape), value.rank))
    spread = mean_of(m, b.mul(value, value, "squares"), dims)
    eps = m.torch.finfo(m.torch.float32).eps if eps is None else eps
    return _affine(m, _normalised(m, value, spread, eps), *_given(m, weight, None))


def per_channel(m: Traced, node: Any, value: Value) -> Value | None:
    """A vector of one number per channel, dimension 1, broadcast to the shape of the value."""
    if node is None:
        return None
    given = m.value(node)
    shape = tuple(n if d == 1 else 1 for d, n in enumerate(value.shape))
    return given.picked([0 if d == 1 else None for d in range(value.rank)], shape)


def batch_norm(
    m: Traced,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    """In eval mode a factor and a summand per channel, folded from the stored statistics.

    Without stored statistics, those of the batch.
    """
    b, value = m.builder, m.builder.unmasked(m.value(input), "batch_norm")
    given = (weight, bias, running_mean, running_var)
    if running_mean is None and running_var is None:
        dims = [d for d in range(value.rank) if d != 1]
        return _over(m, value, dims, eps, weight, bias)
    held = [None if g is None else m.held(g) for g in given]
    if training or any(g is not None and h is None for g, h in zip(given, held, strict=True)):
        raise b.refuse(
            "batch_norm that trains, or whose statistics are computed",
            "call module.eval() first, and give the statistics as buffers",
        )
    names = [None if g is None else g.name for g in given]

    def factor(env: Any) -> Any:
        scale = (env[names[3]].detach() + eps).rsqrt()
        return scale if names[0] is None else scale * env[names[0]].detach()

    def term(env: Any) -> Any:
        moved = -env[names[2]].detach() * factor(env)
        return moved if names[1] is None else moved + env[names[1]].detach()

    shape = tuple(n if d == 1 else 1 for d, n in enumerate(value.shape))
    dims_ = [0 if d == 1 else None for d in range(value.rank)]
    label = b.node.name
    scaled = b.feed(f"{label}_factor", (shape[1],), factor).picked(dims_, shape)
    moved = b.feed(f"{label}_term", (shape[1],), term).picked(dims_, shape)
    return b.add(b.mul(value, scaled, "scaled"), moved)


def batch_norm_only(
    m: Traced,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    momentum: float,
    eps: float,
) -> Any:
    """``_native_batch_norm_legit_no_training``, which gives the statistics, too."""
    given = (input, weight, bias, running_mean, running_var)
    return batch_norm(m, *given, False, momentum, eps), None, None


def native_layer_norm(
    m: Traced, input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> Any:
    return layer_norm(m, input, normalized_shape, weight, bias, eps), None, None


def _over(
    m: Traced, value: Value, dims: Sequence[int], eps: float, weight: Any, bias: Any
) -> Value:
    """Normalised by the mean and variance over some dimensions, then scaled per channel."""
    normal = _over_dims(m, value, dims, eps)
    return _affine(m, normal, per_channel(m, weight, value), per_channel(m, bias, value))


def group_norm(
    m: Traced,
    input: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    """Over groups of channels: their means are a product with a block-diagonal matrix."""
    b, value = m.builder, m.builder.unmasked(m.value(input), "group_norm")
    channels = value.shape[1]
    if num_groups in (1, channels):
        first = 1 if num_groups == 1 else 2
        return _over(m, value, list(range(first, value.rank)), eps, weight, bias)
    each = channels // num_groups
    spatial = list(range(2, value.rank))
    share = 1.0 / (each * prod(value.shape[d] for d in spatial))
    block = m.torch.full((each, each), share, dtype=m.torch.float64)
    matrix = m.torch.block_diag(*[block] * num_groups)

    def averaged(given: Value, part: str) -> Value:
        return along(m, b.reduce(Op.SUM, given, spatial, "total"), 1, matrix, part)

    value = b.stored_dims(value, [1, *spatial])
    normal = _standard(m, value, averaged, eps)
    return _affine(m, normal, per_channel(m, weight, value), per_channel(m, bias, value))


def native_group_norm(
    m: Traced, input: Any, weight: Any, bias: Any, group: int, eps: float, **_: Any
) -> Any:
    return group_norm(m, input, group, weight, bias, eps), None, None


def instance_norm(
    m: Traced,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    """Each channel of each element of the batch by itself, or by stored statistics."""
    if not use_input_stats:
        return batch_norm(m, input, weight, bias, running_mean, running_var, False, momentum, eps)
    value = m.builder.unmasked(m.value(input), "instance_norm")
    return _over(m, value, list(range(2, value.rank)), eps, weight, bias)


HANDLERS: dict[str, Callable[..., Any]] = {
    "layer_norm": layer_norm, "rms_norm": rms_norm, "batch_norm": batch_norm,
    "_native_batch_norm_legit_no_training": batch_norm_only,
    "native_layer_norm": native_layer_norm, "group_norm": group_norm,
    "native_group_norm": native_group_norm,
    "instance_norm": instance_norm,
}  # fmt: skip
