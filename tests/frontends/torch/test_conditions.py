"""Conditions on computed values, and choices by them, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fuseloom.errors import ProgramError
from fuseloom.frontends.torch.conditions import HANDLERS
from fuseloom.frontends.torch.nodes import COMPARING, CONDITIONS
from tests.frontends.torch.support import agrees, imported, normal, sparse

KNOWN = torch.tensor([True, False, True, True])
CASES: dict[str, Callable[[Any], Any]] = {
    "greater": lambda x: (x > 0.5).float(),
    "less": lambda x: (x < x.mean(0)).float() * x,
    "of numbers": lambda x: torch.logical_or(x, x.flip(0)) & ~torch.logical_xor(x, x.relu()),
    "counts": lambda x: (x > 0).sum(1) * 2 + torch.logical_not(x).sum(),
    "bits of numbers": lambda x: (x > 0).long() + x.bool().int(),
    "cut off": lambda x: (x * 3).int(),
    "greater or equal": lambda x: (x >= 0).float(),
    "less or equal": lambda x: torch.le(x, 0.25) * 2.0,
    "equal": lambda x: (x == x.amax(1, keepdim=True)).float(),
    "other": lambda x: (x != 0).float(),
    "choice": lambda x: torch.where(x > 0.1, x * x, 0.1 * x),
    "choice of numbers": lambda x: torch.where(x > 0, 2.0, -1.0),
    "choice of nothing": lambda x: torch.where(x > 0, 0.0, x),
    "filled": lambda x: x.masked_fill(x > 1, 0.5),
    "and": lambda x: ((x > -0.5) & (x < 0.5)).float(),
    "or": lambda x: torch.logical_or(x < -0.5, x > 0.5) * x,
    "xor": lambda x: ((x > 0) ^ (x > 1)).float(),
    "not": lambda x: (~(x > 0)).float(),
    "with a known one": lambda x: torch.where((x > 0) & KNOWN, x, -x),
    "a row is left out": lambda x: torch.where(x.sum(1, keepdim=True) > 0, x, 0.0),
    "counted": lambda x: (x > 0).float().mean(1),
}


def test_all_operations_have_a_translation() -> None:
    assert set(HANDLERS) == CONDITIONS | COMPARING - {"isinf"} | {"nan_to_num"}


@pytest.mark.parametrize("name", CASES)
def test_conditions(name: str) -> None:
    function = CASES[name]
    agrees(lambda x: function(2 * x), (normal(5, 4),), fused="layers")
    agrees(lambda x: function(2 * x), (sparse(5, 4),), {"x_0": "dcsr"}, fused="kernels")


INF = float("inf")
FINITE: dict[str, Any] = {
    "degrees": lambda x: (d := x.abs().sum(1).pow(-0.5)).masked_fill(d == INF, 0)[:, None] * x,
    "isinf": lambda x: torch.where((x * 2).isinf(), 0.0, x + 1),
    "isnan": lambda x: (x * 2).masked_fill(x.exp().isnan(), 1.0),
    "isfinite": lambda x: torch.where(x.exp().isfinite(), x * 2, 3.0),
    "less than infinity": lambda x: (x.exp() < INF) * x,
    "not infinite": lambda x: (x * 3 != -INF).float(),
    "nan_to_num": lambda x: (x * 2).softmax(-1).nan_to_num(),
    "bounds that are none": lambda x: (2 * x).clamp(-INF, 0.5) + (2 * x).clamp(0, INF),
    "a softmax of what is small": lambda x: (2 * x).masked_fill(2 * x > 1, -INF).softmax(1),
    "the largest of some": lambda x: torch.where((x * 2).sum(0) > 0, x.exp(), -INF).amax(1),
    "its place": lambda x: (x * 1).masked_fill(x.exp() > 1, INF).argmin(1),
    "a softmax of nothing": lambda x: (
        (x * 2).masked_fill(torch.tensor([[0], [1], [0], [0], [1]]).bool(), -INF)
        .softmax(-1).nan_to_num()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FINITE)
def test_what_is_computed_is_finite(name: str) -> None:
    agrees(FINITE[name], (normal(5, 4),), fused="layers")


def test_numbers_next_to_each_other_differ() -> None:
    rows = torch.tensor([[1.0, 1.0 + 2**-23, 1e-45, 0.0]])
    agrees(lambda x: (1 * x > x.flip(1)).float() + 2 * (1 * x != x.flip(1)).float(), (rows,))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[(2 * x).sum(1) > 0], "mask|index|nonzero"),
        (lambda x: torch.bitwise_and((2 * x).int(), 3).float(), "bitwise_and"),
    ],
)
def test_what_is_no_arithmetic_is_refused(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        imported(function, normal(5, 4))
    assert caught.value.hint
