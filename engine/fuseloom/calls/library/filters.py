"""Filters of signals and images whose windows lie inside: elements at the borders are not computed.

A window of three elements makes an output that is two elements shorter. Filters that continue an
image beyond its borders cannot be annotated: the borders of a part are not those of the image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.library.library_call import (
    ROUNDED,
    Array,
    Examples,
    LibraryCall,
    extent,
    two_extents,
)

_SIGNAL = """
n: Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes { INPUTS }
}"""
TWO_NEIGHBOURS = _SIGNAL.replace("INPUTS", "a { start: i, len: n + 1 }")
THREE_NEIGHBOURS = _SIGNAL.replace("INPUTS", "a { start: i, len: n + 2 }")
WINDOW = _SIGNAL.replace("INPUTS", "a { start: i, len: n + taps - 1 }")
KERNEL = _SIGNAL.replace(
    "INPUTS", "a { start: i, len: n + kernel.len - 1 }, kernel { start: 0, len: kernel.len }"
)
EVERY_SECOND = _SIGNAL.replace("INPUTS", "a { start: 2*i, len: 2*n - 1 }")
TWICE = """
n: Symbolic
for i in [0, out.len / 2, n] {
  produces { out { start: 2*i, len: 2*n } }
  when consumes { a { start: i, len: n } }
}"""
_IMAGE = """
n: Symbolic
m: Symbolic
for i in [0, out.rows, n] {
  for j in [0, out.cols, m] {
    produces { out { row: i, col: j, rows: n, cols: m } }
    when consumes { INPUTS }
  }
}"""
ALONG_ROWS = _IMAGE.replace("INPUTS", "a { row: i, col: j, rows: n, cols: m + 2 }")
ALONG_COLUMNS = _IMAGE.replace("INPUTS", "a { row: i, col: j, rows: n + 2, cols: m }")
THREE_BY_THREE = _IMAGE.replace("INPUTS", "a { row: i, col: j, rows: n + 2, cols: m + 2 }")
FIVE_BY_FIVE = _IMAGE.replace("INPUTS", "a { row: i, col: j, rows: n + 4, cols: m + 4 }")
IMAGE_KERNEL = _IMAGE.replace(
    "INPUTS",
    """
      a { row: i, col: j, rows: n + kernel.rows - 1, cols: m + kernel.cols - 1 },
      kernel { row: 0, col: 0, rows: kernel.rows, cols: kernel.cols }
    """,
)
HALF = _IMAGE.replace("INPUTS", "a { row: 2*i, col: 2*j, rows: 2*n, cols: 2*m }")

_SMOOTHING = np.array([1.0, 2.0, 1.0])
_BINOMIAL = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0


def difference(a: Array, out: Array) -> None:
    """The difference of each element and the one before it."""
    np.subtract(a[1:], a[:-1], out=out)


def midpoints(a: Array, out: Array) -> None:
    """The mean of each two neighbours."""
    np.add(a[1:], a[:-1], out=out)
    np.multiply(out, 0.5, out=out)


def smooth(a: Array, out: Array) -> None:
    """The mean of each three neighbours."""
    np.add(a[:-2], a[1:-1], out=out)
    np.add(out, a[2:], out=out)
    np.divide(out, 3.0, out=out)


def moving_max(a: Array, taps: int, out: Array) -> None:
    """The largest element of each window."""
    np.max(sliding_window_view(a, taps), axis=1, out=out)


def moving_mean(a: Array, taps: int, out: Array) -> None:
    """The mean of each window."""
    np.mean(sliding_window_view(a, taps), axis=1, out=out)


def convolve(a: Array, kernel: Array, out: Array) -> None:
    """The convolution with a kernel, where the kernel lies inside."""
    np.copyto(out, np.convolve(a, kernel, mode="valid"), casting="no")


def every_second(a: Array, out: Array) -> None:
    """Every second element, from the first on."""
    np.copyto(out, a[::2])


def twice(a: Array, out: Array) -> None:
    """Each element twice."""
    np.copyto(out.reshape(-1, 2), a[:, None])


def blur_rows(a: Array, out: Array) -> None:
    """The mean of each three neighbours in a row."""
    np.add(a[:, :-2], a[:, 1:-1], out=out)
    np.add(out, a[:, 2:], out=out)
    np.divide(out, 3.0, out=out)


def blur_columns(a: Array, out: Array) -> None:
    """The mean of each three neighbours in a column."""
    np.add(a[:-2], a[1:-1], out=out)
    np.add(out, a[2:], out=out)
    np.divide(out, 3.0, out=out)


def stencil(a: Array, weights: Array, out: Array) -> None:
    """The correlation of an image with weights, one product after another."""
    rows, columns = out.shape
    if a.shape != (rows + weights.shape[0] - 1, columns + weights.shape[1] - 1):
        raise ValueError(f"a part of {out.shape} is not computed from one of {a.shape}")
    out[...] = 0.0
    for (i, j), weight in np.ndenumerate(weights):
        out += weight * a[i : i + rows, j : j + columns]


def box(a: Array, out: Array) -> None:
    """The mean of each three by three pixels."""
    stencil(a, np.full((3, 3), 1.0 / 9.0), out)


def sobel_columns(a: Array, out: Array) -> None:
    """The derivative along rows after Sobel, which finds vertical edges."""
    stencil(a, np.outer(_SMOOTHING, [-1.0, 0.0, 1.0]), out)


def sobel_rows(a: Array, out: Array) -> None:
    """The derivative along columns after Sobel, which finds horizontal edges."""
    stencil(a, np.outer([-1.0, 0.0, 1.0], _SMOOTHING), out)


def laplacian(a: Array, out: Array) -> None:
    """The sum of the second derivatives."""
    stencil(a, np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]), out)


def gaussian(a: Array, out: Array) -> None:
    """A blur with binomial weights of five by five pixels."""
    stencil(a, np.outer(_BINOMIAL, _BINOMIAL), out)


def median(a: Array, out: Array) -> None:
    """The median of each three by three pixels."""
    np.median(sliding_window_view(a, (3, 3)), axis=(2, 3), out=out)


def erode(a: Array, out: Array) -> None:
    """The smallest of each three by three pixels."""
    np.min(sliding_window_view(a, (3, 3)), axis=(2, 3), out=out)


def dilate(a: Array, out: Array) -> None:
    """The largest of each three by three pixels."""
    np.max(sliding_window_view(a, (3, 3)), axis=(2, 3), out=out)


def correlate(a: Array, kernel: Array, out: Array) -> None:
    """The correlation of an image with a kernel, by SciPy."""
    from scipy.ndimage import correlate as correlate_everywhere

    rows, columns = (n - m + 1 for n, m in zip(a.shape, kernel.shape, strict=True))
    top, left = (m // 2 for m in kernel.shape)
    made = correlate_everywhere(a, kernel, mode="constant")
    np.copyto(out, made[top : top + rows, left : left + columns], casting="no")


def halve(a: Array, out: Array) -> None:
    """The mean of each block of two by two pixels."""
    np.add(a[::2, ::2], a[::2, 1::2], out=out)
    np.add(out, a[1::2, ::2], out=out)
    np.add(out, a[1::2, 1::2], out=out)
    np.multiply(out, 0.25, out=out)


def _signal(lost: int, **values: int) -> Examples:
    def made(rng: np.random.Generator) -> dict[str, Any]:
        count = int(rng.integers(9, 30))
        return {"a": rng.normal(size=count), **values, "out": np.zeros(count - lost)}

    return made


def _with_kernel(rng: np.random.Generator) -> dict[str, Any]:
    count, taps = int(rng.integers(9, 30)), int(rng.integers(2, 6))
    kernel = rng.normal(size=taps)
    return {"a": rng.normal(size=count), "kernel": kernel, "out": np.zeros(count - taps + 1)}


def _resampled(rng: np.random.Generator) -> dict[str, Any]:
    count = extent(rng)
    return {"a": rng.normal(size=2 * count - 1), "out": np.zeros(count)}


def _doubled(rng: np.random.Generator) -> dict[str, Any]:
    count = extent(rng)
    return {"a": rng.normal(size=count), "out": np.zeros(2 * count)}


def _image(rows: int, columns: int) -> Examples:
    """An image, and an output that lacks some rows and columns."""

    def made(rng: np.random.Generator) -> dict[str, Any]:
        height, width = two_extents(rng)
        image = rng.normal(size=(height + rows, width + columns))
        return {"a": image, "out": np.zeros((height, width))}

    return made


def _image_and_kernel(rng: np.random.Generator) -> dict[str, Any]:
    height, width = two_extents(rng)
    kernel = rng.normal(size=(3, 2))
    return {"a": rng.normal(size=(height + 2, width + 1)), "kernel": kernel,
            "out": np.zeros((height, width))}  # fmt: skip


def _halved(rng: np.random.Generator) -> dict[str, Any]:
    height, width = two_extents(rng)
    return {"a": rng.normal(size=(2 * height, 2 * width)), "out": np.zeros((height, width))}


def _of_signal(
    name: str,
    text: str,
    function: Callable[..., Any],
    annotation: str,
    examples: Examples,
    tolerance: float = 0.0,
) -> LibraryCall:
    extra = {WINDOW: ("taps",), KERNEL: ("kernel",)}.get(annotation, ())
    kinds = {"a": Vector(), **({"kernel": Vector()} if annotation == KERNEL else {})}
    return LibraryCall(
        name, text, function, annotation, ("a", *extra, "out"), {**kinds, "out": Vector()},
        examples, tolerance,
    )  # fmt: skip


def _of_image(
    name: str,
    text: str,
    function: Callable[..., Any],
    annotation: str,
    examples: Examples,
    tolerance: float = 0.0,
) -> LibraryCall:
    names = ("a", "kernel", "out") if annotation == IMAGE_KERNEL else ("a", "out")
    kinds = dict.fromkeys(names, Matrix())
    return LibraryCall(name, text, function, annotation, names, kinds, examples, tolerance)


_small, _large = _image(2, 2), _image(4, 4)

ROWS = (
    _of_signal(
        "difference", "The difference of each element and the one before it.", difference,
        TWO_NEIGHBOURS, _signal(1),
    ),
    _of_signal(
        "midpoints", "The mean of each two neighbours.", midpoints, TWO_NEIGHBOURS, _signal(1)
    ),
    _of_signal(
        "smooth", "The mean of each three neighbours; borders are not computed.", smooth,
        THREE_NEIGHBOURS, _signal(2),
    ),
    _of_signal(
        "moving_max", "The largest element of each window of a number of elements.", moving_max,
        WINDOW, _signal(3, taps=4),
    ),
    _of_signal(
        "moving_mean", "The mean of each window of a number of elements.", moving_mean, WINDOW,
        _signal(4, taps=5), ROUNDED,
    ),
    _of_signal(
        "convolve", "The convolution with a kernel, where the kernel lies inside.", convolve,
        KERNEL, _with_kernel, ROUNDED,
    ),
    _of_signal(
        "every_second", "Every second element, from the first on.", every_second, EVERY_SECOND,
        _resampled,
    ),
    _of_signal("twice", "Each element twice.", twice, TWICE, _doubled),
    _of_image(
        "blur_rows", "The mean of each three neighbours in a row; borders are not computed.",
        blur_rows, ALONG_ROWS, _image(0, 2),
    ),
    _of_image(
        "blur_columns", "The mean of each three neighbours in a column; borders are not computed.",
        blur_columns, ALONG_COLUMNS, _image(2, 0),
    ),
    _of_image(
        "box", "The mean of each three by three pixels; borders are not computed.", box,
        THREE_BY_THREE, _small,
    ),
    _of_image(
        "sobel_columns", "The derivative along rows after Sobel; borders are not computed.",
        sobel_columns, THREE_BY_THREE, _small,
    ),
    _of_image(
        "sobel_rows", "The derivative along columns after Sobel; borders are not computed.",
        sobel_rows, THREE_BY_THREE, _small,
    ),
    _of_image(
        "laplacian", "The sum of the second derivatives; borders are not computed.", laplacian,
        THREE_BY_THREE, _small, ROUNDED,
    ),
    _of_image(
        "gaussian", "A blur with binomial weights of five by five pixels; borders are not "
        "computed.", gaussian, FIVE_BY_FIVE, _large,
    ),
    _of_image(
        "median", "The median of each three by three pixels; borders are not computed.", median,
        THREE_BY_THREE, _small,
    ),
    _of_image(
        "erode", "The smallest of each three by three pixels; borders are not computed.", erode,
        THREE_BY_THREE, _small,
    ),
    _of_image(
        "dilate", "The largest of each three by three pixels; borders are not computed.", dilate,
        THREE_BY_THREE, _small,
    ),
    _of_image(
        "correlate", "The correlation of an image with a kernel, where the kernel lies inside.",
        correlate, IMAGE_KERNEL, _image_and_kernel, ROUNDED,
    ),
    _of_image(
        "halve", "The mean of each block of two by two pixels.", halve, HALF, _halved
    ),
)  # fmt: skip
"""The rows of this subject."""
