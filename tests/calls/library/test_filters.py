"""Filters: each against SciPy's, where the window lies inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage as nd

from fuseloom.calls.library.filters import ROWS, stencil
from tests.calls.library.computed import SEEDS, close, computed

THIRDS = np.ones(3) / 3
BINOMIAL = np.array([1, 4, 6, 4, 1]) / 16


def inside(values: Any, *lost: int) -> Any:
    """What remains where elements at both borders are left out."""
    return values[tuple(slice(n, len_ - n) for n, len_ in zip(lost, values.shape, strict=True))]


SCIPY = {
    "smooth": lambda a: inside(nd.correlate1d(a, THIRDS), 1),
    "blur_rows": lambda a: inside(nd.correlate1d(a, THIRDS, axis=1), 0, 1),
    "blur_columns": lambda a: inside(nd.correlate1d(a, THIRDS, axis=0), 1, 0),
    "box": lambda a: inside(nd.uniform_filter(a, 3), 1, 1),
    "sobel_columns": lambda a: inside(nd.sobel(a, axis=1), 1, 1),
    "sobel_rows": lambda a: inside(nd.sobel(a, axis=0), 1, 1),
    "laplacian": lambda a: inside(nd.laplace(a), 1, 1),
    "gaussian": lambda a: inside(nd.correlate(a, np.outer(BINOMIAL, BINOMIAL)), 2, 2),
    "median": lambda a: inside(nd.median_filter(a, 3), 1, 1),
    "erode": lambda a: inside(nd.grey_erosion(a, 3), 1, 1),
    "dilate": lambda a: inside(nd.grey_dilation(a, 3), 1, 1),
    "difference": np.diff,
    "midpoints": lambda a: a[:-1] + np.diff(a) / 2,
    "moving_max": lambda a: np.array([max(a[i : i + 4]) for i in range(len(a) - 3)]),
    "moving_mean": lambda a: np.array([sum(a[i : i + 5]) / 5 for i in range(len(a) - 4)]),
    "every_second": lambda a: np.array([a[i] for i in range(0, len(a), 2)]),
    "twice": lambda a: np.repeat(a, 2),
    "halve": lambda a: nd.uniform_filter(a, 2, origin=-1)[::2, ::2],
}


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("seed", SEEDS)
def test_filters(name: str, seed: int) -> None:
    out, arguments = computed(name, seed)
    assert close(out, SCIPY[name](arguments["a"]), 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_filters_with_kernels(seed: int) -> None:
    out, arguments = computed("convolve", seed)
    assert close(out, np.convolve(arguments["a"], arguments["kernel"], mode="valid"))
    out, arguments = computed("correlate", seed)
    a, kernel = arguments["a"], arguments["kernel"]
    rows, columns = kernel.shape
    wanted = [
        [(a[i : i + rows, j : j + columns] * kernel).sum() for j in range(out.shape[1])]
        for i in range(out.shape[0])
    ]
    assert close(out, wanted)


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (1, 4), (4, 1), (5, 2)])
def test_the_correlation_takes_kernels_of_all_extents(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    a, kernel = rng.normal(size=(9, 8)), rng.normal(size=shape)
    room = np.zeros((10 - shape[0], 9 - shape[1]))
    out, _ = computed("correlate", 0, a=a, kernel=kernel, out=room)
    other = np.zeros_like(room)
    stencil(a, kernel, other)
    assert close(out, other)


def test_a_part_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="is not computed from"):
        stencil(np.zeros((5, 5)), np.ones((3, 3)), np.zeros((3, 2)))


def test_all_rows_are_compared() -> None:
    assert {row.name for row in ROWS} == {*SCIPY, "convolve", "correlate"}


def test_what_lacks_borders_says_so() -> None:
    for row in ROWS:
        window = row.name in ("smooth", "blur_rows", "blur_columns", "box", "median", "gaussian")
        assert not window or "borders are not computed" in row.text
