"""Activations that take parameters, and powers, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from tests.frontends.torch.support import agrees, normal, positive, sparse

SLOPES = positive(4)

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "prelu": lambda x: F.prelu(x, SLOPES),
    "prelu, one slope": lambda x: F.prelu(x, SLOPES[:1]),
    "celu": lambda x: F.celu(x, 0.5),
    "glu": lambda x: F.glu(x, 1),
    "softshrink": lambda x: F.softshrink(x, 0.3),
    "softsign": F.softsign,
    "log1p": lambda x: torch.log1p(x.abs()),
    "expm1": torch.expm1,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "exp2": torch.exp2,
    "power of a number": lambda x: 3.0**x,
    "a root of magnitudes": lambda x: x.abs() ** 0.75,
    "a large power": lambda x: x**11,
    "a power beyond products": lambda x: x**17 + x**18,
    "the power 0": lambda x: x**0 + x,
    "a power of a tensor": lambda x: (x.abs() + 0.5) ** x,
    "signs of a power of a tensor": lambda x: x ** (x.round() + 4),
    "clamp to a tensor": lambda x: torch.clamp(x, -SLOPES, SLOPES),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=0.5),
    "addcdiv": lambda x: torch.addcdiv(x, x, SLOPES, value=2),
    "lerp": lambda x: torch.lerp(x, x * 2, 0.25),
    "logaddexp": lambda x: torch.logaddexp(x, 2 * x),
    "product": lambda x: x.prod(1),
    "product of all": lambda x: (x + 1).prod(),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    agrees(ACTIVATIONS[name], (normal(5, 4),), fused="layers")
    agrees(ACTIVATIONS[name], (sparse(5, 4),), {"x_0": "dcsr"}, fused="kernels")


def test_inverse_roots_and_logarithms() -> None:
    agrees(lambda x: x**-1.5 + x.log2() * x.log10(), (positive(5, 4),))
