"""Attention with masks and grouped queries, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import fuseloom as fl
from tests.frontends.torch.support import Module, agrees, normal

KEPT = torch.tensor([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=torch.bool)
Q, K, V = (normal(1, 4, 3, 2, seed=n) for n in range(3))
FEW = (normal(1, 2, 3, 2, seed=4), normal(1, 2, 3, 2, seed=5))
LEAST = torch.finfo(torch.float32).min

MASKS: dict[str, Callable[[], Any]] = {
    "bits": lambda: KEPT,
    "bits per head": lambda: KEPT.expand(4, 3, 3) ^ (torch.arange(4) == 1)[:, None, None],
    "numbers": lambda: normal(3, 3, seed=7),
    "infinity": lambda: torch.where(KEPT, 0.0, -torch.inf),
    "infinity and numbers": lambda: torch.where(KEPT, normal(3, 3, seed=7), -torch.inf),
    "the least number": lambda: torch.where(KEPT, 0.0, LEAST),
    "the least number and others": lambda: torch.where(KEPT, normal(1, 4, 3, 3), LEAST),
    "a row that keeps nothing": lambda: torch.where(KEPT & KEPT[:, :1], 0.0, LEAST),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name: str) -> None:
    mask = MASKS[name]()
    agrees(lambda q, m: F.scaled_dot_product_attention(q, K, V, m), (Q, mask), fused="layers")
    if mask.is_floating_point() and not name.startswith("a row"):
        agrees(lambda q, m: (q @ K.mT + m).softmax(-1), (Q, mask), fused="kernels")


def test_what_a_mask_removes_is_not_computed() -> None:
    made = fl.from_torch(
        Module(lambda q, m: F.scaled_dot_product_attention(q, K, V, m)),
        (Q, MASKS["infinity and numbers"]()),
    )
    assert [s.nnz for name, s in made.data.items() if name.endswith("keep")] == [int(KEPT.sum())]


@pytest.mark.parametrize("causal", [False, True])
def test_grouped_queries(causal: bool) -> None:
    def grouped(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)

    agrees(grouped, (Q, *FEW), fused="layers")


@pytest.mark.parametrize("attends", [True, False])
def test_a_mask_that_adds_where_the_first_only_removed_is_refused(attends: bool) -> None:
    def product(q: Any, m: Any) -> Any:
        return F.scaled_dot_product_attention(q, K, V, m) if attends else (q @ K.mT + m).softmax(-1)

    made = fl.from_torch(Module(product), (Q, MASKS["infinity"]()))
    assert made.bind(Q, torch.where(KEPT.T, 0.0, -torch.inf)).check().ok
    with pytest.raises(fl.FuseloomError, match=r"adds numbers.*import the module again"):
        made.bind(Q, MASKS["infinity and numbers"]())
