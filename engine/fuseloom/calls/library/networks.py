"""Layers of neural networks in NumPy: of images in NHWC without padding, and by rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fuseloom.calls.data_kinds import DataKind, ImageTensor, Matrix, Vector
from fuseloom.calls.library.library_call import (
    ROUNDED,
    VECTORISED,
    Array,
    Examples,
    LibraryCall,
    two_extents,
)

_IMAGES = """
k: Symbolic
n: Symbolic
m: Symbolic
for b in [0, out.images, k] {
  for i in [0, out.rows, n] {
    for j in [0, out.cols, m] {
      produces {
        out { n: b, row: i, col: j, channel: 0, images: k, rows: n, cols: m, channels: CHANNELS }
      }
      when consumes {
        INPUTS
      }
    }
  }
}"""
_SAME = "a { n: b, row: i, col: j, channel: 0, images: k, rows: n, cols: m, channels: channels }"
POINTWISE = _IMAGES.replace("CHANNELS", "channels").replace("INPUTS", _SAME)
PER_CHANNEL = _IMAGES.replace("CHANNELS", "channels").replace(
    "INPUTS", f"{_SAME},\n        v {{ start: 0, len: channels }}"
)
PER_CHANNEL_SCALED = _IMAGES.replace("CHANNELS", "channels").replace(
    "INPUTS",
    f"{_SAME},\n        v {{ start: 0, len: channels }},\n        w {{ start: 0, len: channels }}",
)
CONVOLUTION = _IMAGES.replace("CHANNELS", "weights.images").replace(
    "INPUTS",
    """a {
          n: b, row: i, col: j, channel: 0, images: k,
          rows: n + weights.rows - 1, cols: m + weights.cols - 1, channels: weights.channels
        },
        weights {
          n: 0, row: 0, col: 0, channel: 0, images: weights.images,
          rows: weights.rows, cols: weights.cols, channels: weights.channels
        }""",
)
POOLING = _IMAGES.replace("CHANNELS", "channels").replace(
    "INPUTS",
    """a {
          n: b, row: 2*i, col: 2*j, channel: 0,
          images: k, rows: 2*n, cols: 2*m, channels: channels
        }""",
)
_ROWS = """
n: Symbolic
for i in [0, out.rows, n] {
  produces { out { row: i, col: 0, rows: n, cols: WIDTH } }
  when consumes {
    INPUTS
  }
}"""
_ROW = "a { row: i, col: 0, rows: n, cols: width }"
BY_ROWS = _ROWS.replace("WIDTH", "width").replace("INPUTS", _ROW)
NORMALISED = _ROWS.replace("WIDTH", "width").replace(
    "INPUTS", f"{_ROW},\n    gain {{ start: 0, len: width }}, bias {{ start: 0, len: width }}"
)
NORMALISED_BY_GAIN = _ROWS.replace("WIDTH", "width").replace(
    "INPUTS", f"{_ROW},\n    gain {{ start: 0, len: width }}"
)
LINEAR = _ROWS.replace("WIDTH", "weights.rows").replace(
    "INPUTS",
    """a { row: i, col: 0, rows: n, cols: weights.cols },
    weights { row: 0, col: 0, rows: weights.rows, cols: weights.cols },
    bias { start: 0, len: bias.len }""",
)
ATTENTION = _ROWS.replace("WIDTH", "width").replace(
    "INPUTS",
    """q { row: i, col: 0, rows: n, cols: width },
    keys { row: 0, col: 0, rows: count, cols: width },
    values { row: 0, col: 0, rows: count, cols: width }""",
)
EMBEDDING = _ROWS.replace("WIDTH", "table.cols").replace(
    "INPUTS",
    """indices { start: i, len: n },
    table { row: 0, col: 0, rows: table.rows, cols: table.cols }""",
)


def relu_images(a: Array, channels: int, out: Array) -> None:
    """The larger of each element and 0."""
    np.maximum(a, 0, out=out)


def bias_add(a: Array, v: Array, channels: int, out: Array) -> None:
    """Each channel plus its bias."""
    np.add(a, v, out=out)


def batch_norm(a: Array, v: Array, w: Array, channels: int, out: Array) -> None:
    """Each channel times a number and plus another, as in inference."""
    np.multiply(a, v, out=out)
    np.add(out, w, out=out)


def conv2d(a: Array, weights: Array, out: Array) -> None:
    """The convolution of images, without padding."""
    _, height, width, _ = weights.shape
    windows = sliding_window_view(a, (height, width), axis=(1, 2))
    np.einsum("bijcyx,oyxc->bijo", windows, weights, out=out)


def max_pool(a: Array, channels: int, out: Array) -> None:
    """The largest of each block of two by two pixels."""
    np.max(_blocks(a), axis=(2, 4), out=out)


def mean_pool(a: Array, channels: int, out: Array) -> None:
    """The mean of each block of two by two pixels."""
    np.mean(_blocks(a), axis=(2, 4), out=out)


def _blocks(a: Array) -> Array:
    images, rows, columns, channels = a.shape
    return a.reshape(images, rows // 2, 2, columns // 2, 2, channels)


def linear(a: Array, weights: Array, bias: Array, out: Array) -> None:
    """A linear layer, as PyTorch has it."""
    np.matmul(a, weights.T, out=out)
    np.add(out, bias, out=out)


def softmax(a: Array, width: int, out: Array) -> None:
    """The softmax of each row."""
    np.subtract(a, np.max(a, axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, np.sum(out, axis=1, keepdims=True), out=out)


def log_softmax(a: Array, width: int, out: Array) -> None:
    """The logarithm of the softmax of each row."""
    np.subtract(a, np.max(a, axis=1, keepdims=True), out=out)
    np.subtract(out, np.log(np.sum(np.exp(out), axis=1, keepdims=True)), out=out)


def layer_norm(a: Array, gain: Array, bias: Array, width: int, out: Array) -> None:
    """Each row with mean 0 and variance 1, times a gain and plus a bias."""
    np.subtract(a, np.mean(a, axis=1, keepdims=True), out=out)
    np.divide(out, np.sqrt(np.var(a, axis=1, keepdims=True) + 1e-5), out=out)
    np.multiply(out, gain, out=out)
    np.add(out, bias, out=out)


def rms_norm(a: Array, gain: Array, width: int, out: Array) -> None:
    """Each row divided by its root mean square, times a gain."""
    np.divide(a, np.sqrt(np.mean(a * a, axis=1, keepdims=True) + 1e-5), out=out)
    np.multiply(out, gain, out=out)


def attention(q: Array, keys: Array, values: Array, width: int, count: int, out: Array) -> None:
    """Attention of each query to all keys."""
    scores = q @ keys.T / np.sqrt(width)
    softmax(scores, count, scores)
    np.matmul(scores, values, out=out)


def embedding(indices: Array, table: Array, out: Array) -> None:
    """The row of a table for each index."""
    np.take(table, indices, axis=0, out=out)


def gelu(a: Array, channels: int, out: Array) -> None:
    """The Gaussian error linear unit of each element, by its approximation with tanh."""
    np.multiply(a, a * a * 0.044715 + 1.0, out=out)
    np.tanh(out * np.sqrt(2.0 / np.pi), out=out)
    np.multiply(a, out * 0.5 + 0.5, out=out)


def _image_shape(rng: np.random.Generator) -> tuple[int, int, int, int]:
    height, width = two_extents(rng, 4)
    return int(rng.integers(2, 4)), height, width, int(rng.integers(2, 5))


def image_examples(*per_channel: str, pooled: bool = False, dtype: Any = np.float64) -> Examples:
    """Examples of images, with vectors that have an element for each channel.

    Parameters
    ----------
    pooled : bool
        Whether the output has half the rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(image_examples("v")(np.random.default_rng(0)))
    ['a', 'channels', 'out', 'v']
    """

    def made(rng: np.random.Generator) -> dict[str, Any]:
        shape = images, rows, columns, channels = _image_shape(rng)
        source = (images, 2 * rows, 2 * columns, channels) if pooled else shape
        vectors = {name: rng.normal(size=channels).astype(dtype) for name in per_channel}
        a = rng.normal(size=source).astype(dtype)
        return {"a": a, **vectors, "channels": channels, "out": np.zeros(shape, dtype)}

    return made


def convolved(dtype: Any = np.float64) -> Examples:
    """Examples of images and weights of convolutions, three by two.

    Examples
    --------
    >>> import numpy as np
    >>> convolved()(np.random.default_rng(0))["weights"].shape[1:3]
    (3, 2)
    """

    def made(rng: np.random.Generator) -> dict[str, Any]:
        images, rows, columns, channels = _image_shape(rng)
        filters = channels + 1
        a = rng.normal(size=(images, rows + 2, columns + 1, channels)).astype(dtype)
        weights = rng.normal(size=(filters, 3, 2, channels)).astype(dtype)
        return {
            "a": a,
            "weights": weights,
            "out": np.zeros((images, rows, columns, filters), dtype),
        }

    return made


def row_examples(*vectors: str, dtype: Any = np.float64) -> Examples:
    """Examples of a matrix whose rows are taken each for itself.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(row_examples("gain")(np.random.default_rng(0)))
    ['a', 'gain', 'out', 'width']
    """

    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        more = {name: rng.normal(size=width).astype(dtype) for name in vectors}
        a = rng.normal(size=(height, width)).astype(dtype)
        return {"a": a, **more, "width": width, "out": np.zeros((height, width), dtype)}

    return made


def linear_examples(dtype: Any = np.float64) -> Examples:
    """Examples of a linear layer.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(linear_examples()(np.random.default_rng(0)))
    ['a', 'bias', 'out', 'weights']
    """

    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        weights = rng.normal(size=(width + height, width)).astype(dtype)
        return {
            "a": rng.normal(size=(height, width)).astype(dtype), "weights": weights,
            "bias": rng.normal(size=width + height).astype(dtype),
            "out": np.zeros((height, width + height), dtype),
        }  # fmt: skip

    return made


def attention_examples(dtype: Any = np.float64) -> Examples:
    """Examples of queries, keys and values.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(attention_examples()(np.random.default_rng(0)))
    ['count', 'keys', 'out', 'q', 'values', 'width']
    """

    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        count = height + 3
        keys, values = (rng.normal(size=(count, width)).astype(dtype) for _ in range(2))
        q = rng.normal(size=(height, width)).astype(dtype)
        data = {"q": q, "keys": keys, "values": values, "out": np.zeros((height, width), dtype)}
        return {**data, "width": width, "count": count}

    return made


def _embedded(rng: np.random.Generator) -> dict[str, Any]:
    height, width = two_extents(rng)
    table, count = rng.normal(size=(height, width)), height + width
    indices = rng.integers(0, height, count)
    return {"indices": indices, "table": table, "out": np.zeros((count, width))}


_VECTORS = ("v", "w", "gain", "bias")


def image_call(
    name: str,
    text: str,
    function: Callable[..., Any],
    annotation: str,
    parameters: str,
    examples: Examples,
    tolerance: float = 0.0,
    dtype: Any = np.float64,
    needs: str | None = None,
) -> LibraryCall:
    """A row for a layer of images.

    Examples
    --------
    >>> image_call("relu", "The larger of each element and 0.", relu_images, POINTWISE,
    ...            "a channels out", image_examples()).annotated
    <annotated relu(a, channels, out)>
    """
    names = tuple(parameters.split())
    kinds: dict[str, DataKind] = {
        one: Vector(dtype) if one in _VECTORS else ImageTensor(dtype)
        for one in names
        if one != "channels"
    }
    return LibraryCall(name, text, function, annotation, names, kinds, examples, tolerance, needs)


def row_call(
    name: str,
    text: str,
    function: Callable[..., Any],
    annotation: str,
    parameters: str,
    examples: Examples,
    tolerance: float = ROUNDED,
    dtype: Any = np.float64,
    needs: str | None = None,
) -> LibraryCall:
    """A row for a layer of the rows of a matrix.

    Examples
    --------
    >>> row_call("softmax", "The softmax of each row.", softmax, BY_ROWS, "a width out",
    ...          row_examples()).annotated
    <annotated softmax(a, width, out)>
    """
    names = tuple(parameters.split())
    kinds: dict[str, DataKind] = {
        one: Vector(dtype) if one in _VECTORS else Matrix(dtype)
        for one in names
        if one not in ("width", "count")
    }
    return LibraryCall(name, text, function, annotation, names, kinds, examples, tolerance, needs)


ROWS = (
    image_call(
        "relu_images", "The larger of each element and 0.", relu_images, POINTWISE,
        "a channels out", image_examples(),
    ),
    image_call(
        "gelu_images", "The Gaussian error linear unit of each element.", gelu, POINTWISE,
        "a channels out", image_examples(), VECTORISED,
    ),
    image_call(
        "bias_add", "Each channel plus its bias.", bias_add, PER_CHANNEL,
        "a v channels out", image_examples("v"),
    ),
    image_call(
        "batch_norm", "Each channel times a number and plus another, as in inference.", batch_norm,
        PER_CHANNEL_SCALED, "a v w channels out", image_examples("v", "w"),
    ),
    image_call(
        "conv2d", "The convolution of images in NHWC, without padding.", conv2d, CONVOLUTION,
        "a weights out", convolved(), ROUNDED,
    ),
    image_call(
        "max_pool", "The largest of each block of two by two pixels.", max_pool, POOLING,
        "a channels out", image_examples(pooled=True),
    ),
    image_call(
        "mean_pool", "The mean of each block of two by two pixels.", mean_pool, POOLING,
        "a channels out", image_examples(pooled=True), ROUNDED,
    ),
    row_call(
        "linear", "A linear layer of rows, as PyTorch has it.", linear, LINEAR,
        "a weights bias out", linear_examples(),
    ),
    row_call(
        "softmax", "The softmax of each row.", softmax, BY_ROWS, "a width out", row_examples()
    ),
    row_call(
        "log_softmax", "The logarithm of the softmax of each row.", log_softmax, BY_ROWS,
        "a width out", row_examples(),
    ),
    row_call(
        "layer_norm", "Each row with mean 0 and variance 1, times a gain and plus a bias.",
        layer_norm, NORMALISED, "a gain bias width out", row_examples("gain", "bias"),
    ),
    row_call(
        "rms_norm", "Each row divided by its root mean square, times a gain.", rms_norm,
        NORMALISED_BY_GAIN, "a gain width out", row_examples("gain"),
    ),
    row_call(
        "attention", "Attention of each query to all keys.", attention, ATTENTION,
        "q keys values width count out", attention_examples(),
    ),
    LibraryCall(
        "embedding", "The row of a table for each index; any part may need every row.", embedding,
        EMBEDDING, ("indices", "table", "out"),
        {"indices": Vector(np.int64), "table": Matrix(), "out": Matrix()}, _embedded,
    ),
)  # fmt: skip
"""The rows of this subject."""
