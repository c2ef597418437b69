"""Kernels in Triton with inputs, and what they are to compute of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import DenseModule, random_inputs
from fuseloom.stitch.kernel_cases import StitchedCase, kernel_cases
from fuseloom.stitch.kernel_code import KernelCode, KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.phases import PhasedKernel

from ..random_graphs import random_module

SMALL_TILES: Mapping[str, Any] = {
    "MOST_TILE": 8, "MOST_REDUCED": 16, "MOST_ROW": 4, "MOST_SUMS": 8, "LEAST_DOT": 2,
    "DOT_TILES": (4, 2, 2),
}  # fmt: skip
"""Limits of :mod:`fuseloom.stitch.triton.tiles` with which small arrays take many tiles."""
SETTINGS = (
    None,
    FusionSettings(enough_blocks=4, block_elements=6),
    FusionSettings(enough_blocks=1),
)


def codes_of(
    module: DenseModule,
    *,
    products: ProductFusion = ProductFusion.ALL,
    settings: FusionSettings | None = None,
    prefix: str = "kernel",
) -> tuple[KernelCode, ...]:
    """The kernels of a module, which all have code."""
    made = fuse(module.main, products, settings=settings)
    codes = kernel_codes(module, made, KernelLanguage.TRITON, prefix=prefix)
    for code in codes:
        assert not code.reason, code.reason
    return codes


def cases_of(
    module: DenseModule,
    inputs: Mapping[str, Any] | None = None,
    *,
    products: ProductFusion = ProductFusion.ALL,
    settings: FusionSettings | None = None,
    prefix: str = "kernel",
) -> tuple[StitchedCase, ...]:
    """Cases of the kernels of a module, with random inputs if none are given."""
    made = fuse(module.main, products, settings=settings)
    codes = kernel_codes(module, made, KernelLanguage.TRITON, prefix=prefix)
    for code in codes:
        assert not code.reason, code.reason
    given = random_inputs(module.main) if inputs is None else inputs
    return kernel_cases(module, made.computation, codes, given)


def random_cases(seed: int) -> tuple[StitchedCase, ...]:
    """Cases of the kernels of a random graph, with any limits."""
    draw = random.Random(seed)
    module = random_module(draw, draw.choice((6, 12, 20)))
    products = draw.choice(list(ProductFusion))
    limit = draw.choice((256, 2048, 20_480, 20_480))
    check = memory_check(module.main, products, limit) if draw.random() < 0.5 else None
    made = fuse(module.main, products, settings=draw.choice(SETTINGS), consistent=check)
    codes = kernel_codes(
        module, made, KernelLanguage.TRITON, limit=limit, prefix=f"graph{seed}"
    )  # fmt: skip
    for code in codes:
        assert not code.reason or "library" in code.reason or "shared memory" in code.reason, seed
    return kernel_cases(module, made.computation, codes, random_inputs(module.main, seed))


def phased_of(module: DenseModule, settings: FusionSettings | None = None) -> PhasedKernel:
    """The phases of the only kernel of a module."""
    (code,) = codes_of(module, settings=settings)
    assert code.phased is not None
    return code.phased


def with_nan(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array with NaN and infinities in some rows."""
    made = value.copy()
    made[0, 1], made[1, :], made[2, 0], made[3, 1:] = np.nan, -np.inf, np.inf, -np.inf
    return made
