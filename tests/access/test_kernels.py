"""Kernels as terms, against NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fuseloom.access.kernels import (
    Convolution,
    batched_matmul,
    conv2d,
    dense,
    matmul,
    pool2d,
)
from fuseloom.access.meaning import evaluate
from fuseloom.errors import ProgramError

LAYERS = [
    Convolution(1, 3, 8, 8, 4, (3, 3)),
    Convolution(2, 4, 9, 11, 6, (3, 2), (2, 1), (1, 1), (2, 1)),
    Convolution(2, 4, 9, 11, 6, (3, 2), (2, 1), (1, 0), (1, 2), groups=2),
    Convolution(1, 6, 9, 9, 6, (3, 3), (2, 2), (1, 1), groups=6),
    Convolution(1, 5, 4, 4, 7, (1, 1)),
]


def _direct(layer: Convolution, a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A convolution, element by element of its definition."""
    (ph, pw), (sh, sw), (dh, dw) = layer.padding, layer.stride, layer.dilation
    a = np.pad(a, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    height, width = layer.result
    made = np.zeros((layer.batch, layer.outputs, height, width))
    channels, outputs = layer.channels // layer.groups, layer.outputs // layer.groups
    for o, c, i, j in product(range(layer.outputs), range(channels), *map(range, layer.kernel)):
        plane = a[:, o // outputs * channels + c, i * dh :, j * dw :]
        made[:, o] += w[o, c, i, j] * plane[:, ::sh, ::sw][:, :height, :width]
    return made


@pytest.mark.parametrize("layer", LAYERS)
def test_a_convolution(layer: Convolution) -> None:
    random = np.random.default_rng(1)
    a, w = random.normal(size=layer.activations), random.normal(size=layer.weights)
    got = evaluate(conv2d(layer), {"activations": a, "weights": w})
    assert np.allclose(got, _direct(layer, a, w))


def test_products() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=(4, 3)), random.normal(size=(3, 5))
    assert np.allclose(evaluate(matmul(4, 3, 5), {"activations": a, "weights": b}), a @ b)
    assert np.allclose(evaluate(dense(4, 3, 5), {"activations": a, "weights": b.T}), a @ b)
    many, others = random.normal(size=(2, 4, 3)), random.normal(size=(2, 3, 5))
    got = evaluate(batched_matmul(2, 4, 3, 5), {"activations": many, "weights": others})
    assert np.allclose(got, many @ others)


def test_pooling() -> None:
    layer = Convolution(1, 2, 5, 5, 2, (3, 3), (2, 2), (1, 1))
    image = -np.ones((1, 2, 5, 5)) - np.arange(50).reshape(1, 2, 5, 5)
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf), (3, 3), (2, 3)
    )[:, :, ::2, ::2]
    assert np.array_equal(
        evaluate(pool2d(layer, "max"), {"activations": image}), windows.max((-1, -2))
    )
    sums = np.where(np.isinf(windows), 0, windows).sum((-1, -2))
    assert np.allclose(evaluate(pool2d(layer, "mean"), {"activations": image}), sums / 9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: matmul(0, 1, 1), "m is 0"),
        (lambda: conv2d(Convolution(1, 3, 8, 8, 4, (9, 9))), "larger than the padded image"),
        (lambda: conv2d(Convolution(1, 3, 8, 8, 4, (3, 3), groups=2)), "do not divide"),
        (lambda: conv2d(Convolution(1, 3, 8, 8, 4, (3, 3), padding=(-1, 0))), "padding is 0"),
        (lambda: pool2d(Convolution(1, 3, 8, 8, 3, (2, 2)), "least"), "no kind of pooling"),
        (lambda: pool2d(Convolution(1, 3, 8, 8, 3, (2, 2), dilation=(2, 2)), "max"), "dilation"),
        (lambda: dense(1, -1, 1), "inputs is -1"),
    ],
)
def test_what_is_no_kernel_is_refused(make: object, words: str) -> None:
    with pytest.raises(ProgramError, match=words):
        make()  # type: ignore[operator]
