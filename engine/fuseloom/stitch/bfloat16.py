"""Floats of 16 bits with the exponents of float32, kept as float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def rounded_to_bf16(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Round to the nearest bf16, and from the middle to the even one.

    Examples
    --------
    >>> rounded_to_bf16(np.float32([1.00390625, 1.01171875, 3.1415927, np.inf]))
    array([1.      , 1.015625, 3.140625,      inf], dtype=float32)
    """
    narrow = np.ascontiguousarray(array, dtype=np.float32)
    bits = narrow.view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + even) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(narrow), narrow, rounded.view(np.float32)).reshape(np.shape(array))
