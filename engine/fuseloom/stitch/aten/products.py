"""ATen operators of matrices and windows: products, convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from fuseloom.stitch.aten.call import AtenCall, Handler, UnknownCaseError, expanded
from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.module_builder import ModuleBuilder

MOST_SPATIAL = 3
"""Dimensions of an image."""


def matrix_product(build: ModuleBuilder, x: str, y: str) -> str:
    """A product of matrices, with batch dimensions repeated as NumPy does.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> builder = ModuleBuilder("m")
    >>> x = builder.parameter("x", TensorShape("f32", (7, 1, 2, 3)))
    >>> y = builder.parameter("y", TensorShape("f32", (5, 3, 4)))
    >>> builder.dims(matrix_product(builder, x, y))
    (7, 5, 2, 4)
    """
    left, right = build.dims(x), build.dims(y)
    if len(right) <= 2:
        return build.dot(x, y, ((len(left) - 1,), (0,)))
    if len(left) == 1:
        made = matrix_product(build, build.reshape(x, (1, *left)), y)
        return build.reshape(made, (*right[:-2], right[-1]))
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    x = expanded(build, x, (*batch, *left[-2:]))
    y = expanded(build, y, (*batch, *right[-2:]))
    rank = len(batch)
    return build.dot(x, y, ((rank + 1,), (rank,)), (range(rank), range(rank)))


def _matmul(left: str, right: str) -> Handler:
    return lambda call: matrix_product(call.builder, call.tensor(left), call.tensor(right))


def _linear(call: AtenCall) -> str:
    build, x, weight = call.builder, call.tensor("input"), call.tensor("weight")
    made = build.dot(x, weight, ((len(build.dims(x)) - 1,), (len(build.dims(weight)) - 1,)))
    if call["bias"] is None:
        return made
    return build.binary("add", made, expanded(build, call.tensor("bias"), build.dims(made)))


def _added(left: str, right: str) -> Handler:
    """A product of matrices, to which an array is added, both with factors."""

    def handle(call: AtenCall) -> str:
        build = call.builder
        made = matrix_product(build, call.tensor(left), call.tensor(right))
        if call["alpha"] not in (None, 1):
            made = build.with_number("multiply", made, call["alpha"])
        if call["beta"] == 0:
            return made
        other = call.operand("self")
        if call["beta"] not in (None, 1):
            other = build.with_number("multiply", other, call["beta"])
        return build.binary("add", made, other)

    return handle


def _numbers(given: Any, count: int, usual: int) -> list[int]:
    """A number for each spatial dimension."""
    if given is None or given == []:
        return [usual] * count
    numbers = [given] if isinstance(given, int) else [int(x) for x in given]
    return numbers * count if len(numbers) == 1 else numbers


def _convolution(call: AtenCall) -> str:
    build, x, weight = call.builder, call.tensor("input"), call.tensor("weight")
    rank = len(build.dims(x))
    count = rank - 2
    if not 1 <= count <= MOST_SPATIAL or call["padding"] in ("same", "valid"):
        raise UnknownCaseError("dimensions")
    groups = 1 if call["groups"] is None else call["groups"]
    strides = _numbers(call["stride"], count, 1)
    padding = _numbers(call["padding"], count, 0)
    dilation = _numbers(call["dilation"], count, 1)
    taps = build.dims(weight)[2:]
    spatial = "".join(map(str, range(count)))
    if call["transposed"]:
        if groups != 1:
            raise UnknownCaseError("groups of a transposed convolution")
        more = _numbers(call["output_padding"], count, 0)
        low = [d * (n - 1) - p for n, d, p in zip(taps, dilation, padding, strict=True)]
        window = tuple(
            WindowDimension(n, 1, at, at + further, step, d, 1)
            for n, at, further, step, d in zip(taps, low, more, strides, dilation, strict=True)
        )
        labels = f"bf{spatial}_io{spatial}->bf{spatial}"
    else:
        window = tuple(
            WindowDimension(n, step, p, p, 1, d)
            for n, step, p, d in zip(taps, strides, padding, dilation, strict=True)
        )
        labels = f"bf{spatial}_oi{spatial}->bf{spatial}"
    attributes: dict[str, Any] = {"window": window, "dim_labels": labels}
    if groups != 1:
        attributes["feature_group_count"] = groups
    made = build.add("convolution", call.result, (x, weight), attributes)
    if call["bias"] is None:
        return made
    return build.binary("add", made, build.broadcast(call.tensor("bias"), call.result.dims, (1,)))


def _windows(call: AtenCall, x: str, count: int) -> list[WindowDimension]:
    """Windows of pooling: so long behind the end that they have as many places as the result."""
    build = call.builder
    sizes = _numbers(call["kernel_size"], count, 1)
    strides = _numbers(call["stride"], count, 1) if call["stride"] else sizes
    padding = _numbers(call["padding"], count, 0)
    dilation = _numbers(call["dilation"], count, 1)
    made = [WindowDimension(1)] * (len(build.dims(x)) - count)
    extents = zip(build.dims(x)[-count:], call.result.dims[-count:], strict=True)
    for (extent, places), n, step, p, d in zip(
        extents, sizes, strides, padding, dilation, strict=True
    ):
        reach = (places - 1) * step + (n - 1) * d + 1
        made.append(WindowDimension(n, step, p, reach - extent - p, 1, d))
    return made


def _largest(call: AtenCall, count: int = 2) -> str:
    x = call.tensor("self")
    return call.builder.reduce_window("maximum", x, _windows(call, x, count))


def _largest_alone(call: AtenCall) -> list[str]:
    """Maxima; where they lie is another result, that is not computed."""
    return [_largest(call)]


def _average(call: AtenCall) -> str:
    build, x = call.builder, call.tensor("self")
    padded = any(_numbers(call["padding"], 2, 0))
    if call["ceil_mode"] or (padded and call["count_include_pad"] is False):
        raise UnknownCaseError("means of fewer elements than a window has")
    window = _windows(call, x, 2)
    count = call["divisor_override"] or prod(one.size for one in window)
    return build.with_number("multiply", build.reduce_window("add", x, window), 1 / count)


def _adaptive_average(call: AtenCall) -> str:
    build, x = call.builder, call.tensor("self")
    extents, places = build.dims(x)[-2:], call.result.dims[-2:]
    if any(n % m for n, m in zip(extents, places, strict=True)):
        raise UnknownCaseError("windows of different sizes")
    sizes = [n // m for n, m in zip(extents, places, strict=True)]
    window = [WindowDimension(1)] * (call.result.rank - 2)
    window += [WindowDimension(n, n) for n in sizes]
    made = build.reduce_window("add", x, window)
    return build.with_number("multiply", made, 1 / prod(sizes))


PRODUCTS: Mapping[str, Handler] = {
    "mm": _matmul("self", "mat2"),
    "bmm": _matmul("self", "mat2"),
    "mv": _matmul("self", "vec"),
    "dot": _matmul("self", "tensor"),
    "matmul": _matmul("self", "other"),
    "addmm": _added("mat1", "mat2"),
    "addmv": _added("mat", "vec"),
    "baddbmm": _added("batch1", "batch2"),
    "linear": _linear,
    **dict.fromkeys(("convolution", "conv1d", "conv2d", "conv3d"), _convolution),
    "max_pool2d": _largest,
    "max_pool2d_with_indices": _largest_alone,
    "avg_pool2d": _average,
    "_adaptive_avg_pool2d": _adaptive_average,
    "adaptive_avg_pool2d": _adaptive_average,
}
"""By the names of operators, without their overloads."""
