"""Equations of calls of the library: statements of programs over their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, sqrt
from types import MappingProxyType

_ROOT = "t[i] = a[i,j] * a[i,j]; out[i] = sqrt(t[i])"
_EXPONENTIALS = (
    "m[i] = max[j] a[i,j]; d[i,j] = a[i,j] - m[i]; e[i,j] = exp(d[i,j]); s[i] = sum[j] e[i,j]; "
)
_X = "a[n,i,j,c]"
_HALVES = "half_y: index 2; half_x: index 2; "
_BLOCK = "a[n,2*i+half_y,2*j+half_x,c]"

EQUATIONS: Mapping[str, str] = MappingProxyType({
    # Vectors, element by element.
    "absolute": "out[i] = abs(a[i])",
    "negative": "out[i] = -a[i]",
    "square": "out[i] = a[i] * a[i]",
    **{name: f"out[i] = {name}(a[i])"
       for name in ("sqrt", "floor", "exp", "log", "sin", "cos", "tanh", "relu", "sigmoid")},
    "radians": "out[i] = 0.017453292519943295 * a[i]",
    "clip": "out[i] = min(max(a[i], {low}), {high})",
    "add": "out[i] = a[i] + b[i]",
    "subtract": "out[i] = a[i] - b[i]",
    "multiply": "out[i] = a[i] * b[i]",
    "divide": "out[i] = a[i] / b[i]",
    "maximum": "out[i] = max(a[i], b[i])",
    "minimum": "out[i] = min(a[i], b[i])",
    "hypot": "out[i] = sqrt(a[i] * a[i] + b[i] * b[i])",
    "axpy": "out[i] = {alpha} * x[i] + y[i]",
    "multiply_add": "out[i] = a[i] * b[i] + c[i]",
    # Matrices, element by element and with vectors.
    **{f"{name}_matrix": f"out[i,j] = {name}(a[i,j])" for name in ("exp", "tanh", "relu")},
    "add_matrices": "out[i,j] = a[i,j] + b[i,j]",
    "subtract_matrices": "out[i,j] = a[i,j] - b[i,j]",
    "multiply_matrices": "out[i,j] = a[i,j] * b[i,j]",
    "scale_matrix": "out[i,j] = {factor} * a[i,j]",
    "transpose": "out[i,j] = a[j,i]",
    "subtract_per_row": "out[i,j] = a[i,j] - v[i]",
    "multiply_per_row": "out[i,j] = a[i,j] * v[i]",
    "divide_per_row": "out[i,j] = a[i,j] / v[i]",
    "add_per_column": "out[i,j] = a[i,j] + v[j]",
    "subtract_per_column": "out[i,j] = a[i,j] - v[j]",
    "multiply_per_column": "out[i,j] = a[i,j] * v[j]",
    # Reductions.
    "max_rows": "out[i] = max[j] a[i,j]",
    "min_rows": "out[i] = min[j] a[i,j]",
    "sum_rows": "out[i] = sum[j] a[i,j]",
    "mean_rows": "out[i] = (sum[j] a[i,j]) / {width}",
    "norm_rows": _ROOT,
    "dot_rows": "out[i] = a[i,j] * b[i,j]",
    "max_columns": "out[j] = max[i] a[i,j]",
    "sum_columns": "out[j] = sum[i] a[i,j]",
    "mean_columns": "out[j] = (sum[i] a[i,j]) / {height}",
    # Filters: no index is plain where a border is not computed.
    "difference": "out[i] = a[i+1] - a[i+0]",
    "midpoints": "out[i] = 0.5 * (a[i+1] + a[i+0])",
    "smooth": "out[i] = (a[i+0] + a[i+1] + a[i+2]) / 3",
    "every_second": "out[i] = a[2*i]",
    "blur_rows": "out[i,j] = (a[i,j+0] + a[i,j+1] + a[i,j+2]) / 3",
    "blur_columns": "out[i,j] = (a[i+0,j] + a[i+1,j] + a[i+2,j]) / 3",
    # Products.
    **dict.fromkeys(("gemm", "gemm_rows"), "out[i,j] = a[i,k] * b[k,j]"),
    "gemm_transposed": "out[i,j] = a[i,k] * b[j,k]",
    "gemm_left_transposed": "out[i,j] = a[k,i] * b[k,j]",
    "gemv": "out[i] = a[i,j] * x[j]",
    "gemv_transposed": "out[j] = a[i,j] * x[i]",
    "ger": "out[i,j] = {alpha} * (x[i] * y[j])",
    "ger_update": "out[i,j] = {alpha} * (x[i] * y[j]) + a[i,j]",
    # Networks.
    "relu_images": "out[n,i,j,c] = relu(a[n,i,j,c])",
    "gelu_images": (
        f"t[n,i,j,c] = {_X} + 0.044715 * ({_X} * {_X} * {_X}); "
        f"out[n,i,j,c] = {_X} * sigmoid({2 * sqrt(2 / pi)!r} * t[n,i,j,c])"
    ),
    "bias_add": "out[n,i,j,c] = a[n,i,j,c] + v[c]",
    "batch_norm": "out[n,i,j,c] = a[n,i,j,c] * v[c] + w[c]",
    "conv2d": "out[n,i,j,o] = a[n,i+y,j+x,c] * weights[o,y,x,c]",
    "max_pool": f"{_HALVES}out[n,i,j,c] = max[half_y,half_x] {_BLOCK}",
    "mean_pool": f"{_HALVES}out[n,i,j,c] = 0.25 * (sum[half_y,half_x] {_BLOCK})",
    "linear": "t[i,j] = a[i,k] * weights[j,k]; out[i,j] = t[i,j] + bias[j]",
    "softmax": f"{_EXPONENTIALS}out[i,j] = e[i,j] / s[i]",
    "log_softmax": f"{_EXPONENTIALS}l[i] = log(s[i]); out[i,j] = d[i,j] - l[i]",
})  # fmt: skip
"""By name; numbers among the arguments stand in braces, tensors between are anything but them."""
