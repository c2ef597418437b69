"""Rounding to bf16."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.stitch.bfloat16 import rounded_to_bf16


@pytest.mark.parametrize(
    ("bits", "rounded"),
    [
        (0x3F800000, 0x3F800000), (0x3F807FFF, 0x3F800000), (0x3F808000, 0x3F800000),
        (0x3F808001, 0x3F810000), (0x3F818000, 0x3F820000), (0xBF818000, 0xBF820000),
        (0x7F7FFFFF, 0x7F800000), (0x7F800000, 0x7F800000), (0x80000000, 0x80000000),
        (0x00018000, 0x00020000),
    ],
)  # fmt: skip
def test_the_nearest_and_from_the_middle_the_even_one(bits: int, rounded: int) -> None:
    value = np.array([bits], np.uint32).view(np.float32)
    assert rounded_to_bf16(value).view(np.uint32)[0] == rounded


def test_nan_stays_and_shapes_do() -> None:
    assert np.isnan(rounded_to_bf16(np.uint32([0x7FFFFFFF]).view(np.float32)))[0]
    assert rounded_to_bf16(np.float32(2)).shape == ()
    assert rounded_to_bf16(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert rounded_to_bf16(np.arange(6.0).reshape(2, 3).T).tolist() == [[0, 3], [1, 4], [2, 5]]
