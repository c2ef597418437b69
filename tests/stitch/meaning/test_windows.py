"""Padding and windows, element by element."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.meaning.windows import padded, windowed


@pytest.mark.parametrize("extent", range(5))
@pytest.mark.parametrize("interior", range(3))
def test_padding_of_all_sizes(extent: int, interior: int) -> None:
    value = np.arange(1, extent + 1)
    spread: list[int] = []
    for k, one in enumerate(value.tolist()):
        spread += [0] * interior * (k > 0) + [one]
    for low, high in product(range(-4, 4), range(-4, 4)):
        if len(spread) + low + high < 0 or min(low, 0) + min(high, 0) + len(spread) < 0:
            continue
        kept = spread[max(-low, 0) : len(spread) - max(-high, 0)]
        wanted = [0] * max(low, 0) + kept + [0] * max(high, 0)
        assert padded(value, [(low, high, interior)], 0).tolist() == wanted


def test_windows_over_two_dimensions() -> None:
    rng = np.random.default_rng(0)
    value = rng.integers(1, 100, (2, 5, 6))
    for _ in range(300):
        window = [
            WindowDimension(*rng.integers([1, 1, -1, -1, 1, 1, 0], [4, 4, 3, 3, 4, 3, 2]).tolist())
            for _ in range(2)
        ]
        made = windowed(value, window, -1)
        outputs = [one.outputs(n) for one, n in zip(window, (5, 6), strict=True)]
        assert made.shape == (2, *outputs, *(one.size for one in window))
        for place in product(*map(range, made.shape)):
            at = [
                (o * w.stride - w.low) + (w.size - 1 - k if w.reversed else k) * w.window_dilation
                for o, k, w in zip(place[1:3], place[3:], window, strict=True)
            ]
            inside = all(
                0 <= x <= (n - 1) * w.base_dilation and x % w.base_dilation == 0
                for x, n, w in zip(at, (5, 6), window, strict=True)
            )
            index = [x // w.base_dilation for x, w in zip(at, window, strict=True)]
            assert made[place] == (value[place[0], index[0], index[1]] if inside else -1)


def test_no_windows() -> None:
    assert windowed(np.zeros((2, 3)), [WindowDimension(4)], 0).shape == (2, 0, 4)
    assert windowed(np.zeros((0, 3)), [WindowDimension(2)], 0).shape == (0, 2, 2)
    assert windowed(np.zeros(3), [], 0).shape == (3,)
