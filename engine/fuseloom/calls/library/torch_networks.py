"""Layers of neural networks by PyTorch, which is imported when one of them is called."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.calls.library.library_call import Array
from fuseloom.calls.library.networks import (
    ATTENTION,
    BY_ROWS,
    CONVOLUTION,
    LINEAR,
    NORMALISED,
    POINTWISE,
    POOLING,
    attention_examples,
    convolved,
    image_call,
    image_examples,
    linear_examples,
    row_call,
    row_examples,
)

SINGLE = 2e-5
"""The tolerance in float32, where the order of additions depends on extents."""


def torch_conv2d(a: Array, weights: Array, out: Array) -> None:
    """The convolution of images in NHWC, without padding."""
    import torch
    from torch.nn.functional import conv2d

    with torch.no_grad():
        made = conv2d(_channels_first(a), _channels_first(weights))
        torch.from_numpy(out).copy_(made.permute(0, 2, 3, 1))


def torch_max_pool(a: Array, channels: int, out: Array) -> None:
    """The largest of each block of two by two pixels."""
    import torch
    from torch.nn.functional import max_pool2d

    torch.from_numpy(out).copy_(max_pool2d(_channels_first(a), 2).permute(0, 2, 3, 1))


def torch_relu(a: Array, channels: int, out: Array) -> None:
    """The larger of each element and 0."""
    import torch

    torch.clamp_min(torch.from_numpy(a), 0.0, out=_room(out, a.shape))


def torch_gelu(a: Array, channels: int, out: Array) -> None:
    """The Gaussian error linear unit of each element."""
    import torch
    from torch.nn.functional import gelu

    torch.from_numpy(out).copy_(gelu(torch.from_numpy(a)))


def torch_linear(a: Array, weights: Array, bias: Array, out: Array) -> None:
    """A linear layer of rows."""
    import torch

    x, w, b = map(torch.from_numpy, (a, weights, bias))
    torch.addmm(b, x, w.T, out=_room(out, (len(a), len(weights))))


def torch_softmax(a: Array, width: int, out: Array) -> None:
    """The softmax of each row."""
    import torch

    torch.softmax(torch.from_numpy(a), dim=1, out=_room(out, a.shape))


def torch_layer_norm(a: Array, gain: Array, bias: Array, width: int, out: Array) -> None:
    """Each row with mean 0 and variance 1, times a gain and plus a bias."""
    import torch
    from torch.nn.functional import layer_norm

    x, g, b = map(torch.from_numpy, (a, gain, bias))
    torch.from_numpy(out).copy_(layer_norm(x, (a.shape[1],), g, b))


def torch_attention(
    q: Array, keys: Array, values: Array, width: int, count: int, out: Array
) -> None:
    """Attention of each query to all keys."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    made = scaled_dot_product_attention(*(torch.from_numpy(x)[None] for x in (q, keys, values)))
    torch.from_numpy(out).copy_(made[0])


def _room(out: Array, shape: tuple[int, ...]) -> Any:
    """An output as PyTorch takes it, which would resize one of another shape."""
    import torch

    if out.shape != shape:
        raise ValueError(f"a result of {shape} does not fit into {out.shape}")
    return torch.from_numpy(out)


def _channels_first(a: Array) -> Any:
    import torch

    return torch.from_numpy(a).permute(0, 3, 1, 2)


_images = image_examples(dtype=np.float32)
_rows = row_examples(dtype=np.float32)

ROWS = (
    image_call(
        "torch_conv2d", "The convolution of images in NHWC, without padding, by PyTorch.",
        torch_conv2d, CONVOLUTION, "a weights out", convolved(np.float32),
        SINGLE, np.float32, "torch",
    ),
    image_call(
        "torch_max_pool", "The largest of each block of two by two pixels, by PyTorch.",
        torch_max_pool, POOLING, "a channels out", image_examples(pooled=True, dtype=np.float32),
        0.0, np.float32, "torch",
    ),
    image_call(
        "torch_relu", "The larger of each element and 0, by PyTorch.", torch_relu, POINTWISE,
        "a channels out", _images, 0.0, np.float32, "torch",
    ),
    image_call(
        "torch_gelu", "The Gaussian error linear unit of each element, by PyTorch.", torch_gelu,
        POINTWISE, "a channels out", _images, SINGLE, np.float32, "torch",
    ),
    row_call(
        "torch_linear", "A linear layer of rows, by PyTorch.", torch_linear, LINEAR,
        "a weights bias out", linear_examples(np.float32), SINGLE, np.float32, "torch",
    ),
    row_call(
        "torch_softmax", "The softmax of each row, by PyTorch.", torch_softmax, BY_ROWS,
        "a width out", _rows, SINGLE, np.float32, "torch",
    ),
    row_call(
        "torch_layer_norm", "Each row with mean 0 and variance 1, times a gain and plus a bias, "
        "by PyTorch.", torch_layer_norm, NORMALISED, "a gain bias width out",
        row_examples("gain", "bias", dtype=np.float32), SINGLE, np.float32, "torch",
    ),
    row_call(
        "torch_attention", "Attention of each query to all keys, by PyTorch.", torch_attention,
        ATTENTION, "q keys values width count out", attention_examples(np.float32),
        SINGLE, np.float32, "torch",
    ),
)  # fmt: skip
"""The rows of this subject."""
