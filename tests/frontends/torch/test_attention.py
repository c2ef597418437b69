"""Attention with masks and grouped queries, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

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


PADDED = torch.tensor([[False, False, True], [False, True, True]])
LATER = torch.ones(3, 3).triu(1).bool()


class Masked(nn.Module):
    """PyTorch's attention under two masks, with the weights that it gives."""

    def __init__(self, causal: bool, weights: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.mask, self.weights = LATER if causal else None, weights

    def forward(self, x: Any) -> Any:
        options = {"attn_mask": self.mask, "key_padding_mask": PADDED}
        return self.attention(x, x, x, need_weights=self.weights, **options)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_two_masks_and_weights(causal: bool, weights: bool) -> None:
    torch.manual_seed(0)
    made = fl.from_torch(Masked(causal, weights), (normal(2, 3, 4),))
    assert made.check().ok
    run = fl.simulate(fl.compile(made.program, made.presets["layers"]), made.data)
    assert made.check(run.outputs).ok


def test_padding_of_a_source_is_what_the_formula_says() -> None:
    """In eval mode PyTorch gives zeros there, which its decoder then reads."""
    torch.manual_seed(0)
    sizes = {"d_model": 4, "nhead": 2, "dim_feedforward": 8, "batch_first": True}
    inner = nn.Transformer(num_encoder_layers=1, num_decoder_layers=1, dropout=0.0, **sizes)

    class Padded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Any, y: Any) -> Any:
            return self.inner(x, y, src_key_padding_mask=PADDED, tgt_key_padding_mask=PADDED)

    given = normal(2, 3, 4), normal(2, 3, 4, seed=1)
    made = fl.from_torch(Padded(), given)
    assert made.check().ok
    with_gradients = inner.eval()(*given, None, None, None, PADDED, PADDED).detach()
    assert torch.allclose(torch.tensor(made.expected[0]).float(), with_gradients, atol=1e-5)
