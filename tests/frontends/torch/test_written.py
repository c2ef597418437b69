"""Writing into a part of a tensor: by masks, on diagonals; products of what comes before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fuseloom.errors import FuseloomError, ProgramError
from tests.frontends.torch.support import agrees, imported, normal, sparse

X = normal(4, 6)

WRITTEN: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "a diagonal": (lambda x: torch.diagonal_scatter(x, x[0, :3].exp(), 1), (3, 4)),
    "a diagonal of a batch": (
        lambda x: torch.diagonal_scatter(x * 2, x[0, :, :2].exp(), -1, 0, 2), (3, 2, 4)
    ),
    "a diagonal of zeros": (
        lambda x: torch.diagonal_scatter(torch.zeros(3, 3), x[0].exp()), (2, 3)
    ),
    "strides": (lambda x: torch.as_strided_scatter(x, x[0].exp(), (3,), (2,), 1), (2, 3)),
    "strides that are read": (lambda x: (x * 2).as_strided((2, 2), (1, 3)), (2, 3)),
    "no slice": (lambda x: torch.slice_scatter(x, x[:0], 0, 2, 2), (3, 2)),
    "the only row": (lambda x: torch.select_scatter(x, x[0].exp(), 0, 0), (1, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_parts(name: str) -> None:
    function, shape = WRITTEN[name]
    agrees(function, (normal(*shape),), fused="layers")
    agrees(function, (sparse(*shape),), {"x_0": "compressed"}, fused="layers")


def test_a_power_of_each() -> None:
    agrees(torch.vander, (normal(3),), fused="layers")
    agrees(lambda x: torch.vander(x.relu(), 5, increasing=True), (normal(4),), fused="layers")


@pytest.mark.parametrize("dim", [0, 1])
def test_a_running_product(dim: int) -> None:
    agrees(lambda x: x.cumprod(dim), (normal(5, 3),), fused="layers")
    agrees(lambda x: x.relu().cumprod(dim), (normal(2, 7),), fused="layers")


MASK = torch.tensor([[True, False, True], [False, False, True]])
MASKED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "elements": (lambda x, m, v: x.masked_scatter(m, v) * 2, (normal(2, 3), MASK, normal(3))),
    "more than enough": (
        lambda x, m, v: x.relu().masked_scatter(m, v.exp()), (normal(2, 3), MASK, normal(2, 4))
    ),
    "rows": (
        lambda x, m, v: x.masked_scatter(m.unsqueeze(-1), v) * 2,
        (torch.zeros(2, 3, 4), MASK, normal(3, 4)),
    ),
    "expanded": (
        lambda x, m, v: x.masked_scatter(m[..., None].expand_as(x), v.relu()),
        (normal(2, 3, 4), MASK, normal(3, 4)),
    ),
    "in place": (
        lambda x, m, v: (x * 1).masked_scatter_(m[0], v), (normal(2, 3), MASK, normal(5))
    ),
    "of nothing": (lambda x, m, v: x.masked_scatter(m & ~m, v), (normal(2, 3), MASK, normal(5))),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_masked_scatter_by_a_known_mask(name: str) -> None:
    function, given = MASKED[name]
    agrees(function, given, fused="layers")
    made = imported(function, *given)
    assert made.bind(given[0] + 1, given[1].flip(1), given[2] * 2).check().ok
    other = given[1].clone()
    other[0, 1] = True
    if name != "of nothing":
        with pytest.raises(FuseloomError, match=r"import the module again|PyTorch itself"):
            made.bind(given[0], other, given[2])


def test_masked_scatter_by_a_computed_mask_is_refused() -> None:
    with pytest.raises(ProgramError, match="computed") as caught:
        imported(lambda x: (x * 2).masked_scatter(x * 2 > 0, x), X)
    assert caught.value.hint
