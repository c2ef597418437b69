"""Masks: minus infinity before a softmax is sparsity, everything else keeps its dense meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import fuseloom as fl
from fuseloom.errors import DataError, ProgramError
from fuseloom.program import evaluate
from tests.frontends.torch.support import Module, agrees, normal, sparse

INF = float("inf")
KEPT = torch.tensor(
    [[1, 0, 0, 1, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 1]],
    dtype=torch.bool,
)
SCORES = normal(5, 5)
ADDED = torch.where(KEPT, 0.0, -INF)

SOFTMAX: dict[str, Callable[[Any, Any], Any]] = {
    "masked_fill": lambda s, m: F.softmax(s.masked_fill(~m, -INF), -1),
    "masked_fill of a comparison": lambda s, m: s.masked_fill(m == 0, -INF).softmax(-1),
    "where": lambda s, m: torch.where(m, s, -INF).softmax(-1),
    "added": lambda s, m: (s + ADDED).softmax(-1),
    "added negative": lambda s, m: (s + (1.0 - m.float()) * -10000.0).softmax(-1),
    "hugely negative": lambda s, m: s.masked_fill(~m, -1e9).softmax(-1),
    "least number": lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1),
    "scaled after": lambda s, m: (s.masked_fill(~m, -INF) / 2).softmax(-1),
    "shifted after": lambda s, m: (s.masked_fill(~m, -INF) + 1).softmax(-1),
    "biased after": lambda s, m: (s.masked_fill(~m, -INF) + s[0]).softmax(-1),
    "two masks": lambda s, m: s.masked_fill(~m, -INF).masked_fill(~m.t(), -INF).softmax(-1),
    "sparse logits": lambda s, m: s.relu().masked_fill(~m, -INF).softmax(-1),
    "log_softmax": lambda s, m: F.log_softmax(s.masked_fill(~m, -INF), -1).exp(),
    "log_softmax itself": lambda s, m: F.log_softmax(s.masked_fill(~m, -INF), -1),
    "masked logits themselves": lambda s, m: s.masked_fill(~m, -INF),
    "maximum": lambda s, m: s.masked_fill(~m, -INF).amax(-1),
    "exp": lambda s, m: s.masked_fill(~m, -INF).exp().sum(0),
    "sigmoid": lambda s, m: s.masked_fill(~m, -INF).sigmoid(),
    "relu": lambda s, m: s.masked_fill(~m, -INF).relu(),
    "then a product": lambda s, m: s.masked_fill(~m, -INF).softmax(-1) @ s + s[1],
    "over queries": lambda s, m: s.masked_fill(~m, -INF).softmax(0),
    "heads": lambda s, m: (s * normal_heads).masked_fill(~m, -INF).softmax(-1),
    "attention": lambda s, m: F.scaled_dot_product_attention(s, s, s, attn_mask=m),
    "attention, added mask": lambda s, m: F.scaled_dot_product_attention(s, s, s, ADDED),
    "attention, biased": lambda s, m: F.scaled_dot_product_attention(s, s, s, s.relu()),
    "causal attention": lambda s, m: F.scaled_dot_product_attention(s, s, s, is_causal=True),
}
normal_heads = normal(3, 1, 5, seed=9)


@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax_over_a_mask(name: str) -> None:
    agrees(SOFTMAX[name], (SCORES, KEPT), fused="layers")


def test_the_softmax_runs_over_what_the_mask_keeps() -> None:
    imported = agrees(SOFTMAX["masked_fill"], (SCORES, KEPT), {"x_1": "csr"})
    (keep,) = (s for s in imported.data.values() if s.nnz < 25)
    assert keep.nnz == int(KEPT.sum())
    assert f"{keep.tensor.name}: 5x5 csr" in str(imported.program)
    assert set(keep.values.tolist()) == {1.0}


def test_a_finite_fill_is_no_mask() -> None:
    """A row that the mask removes altogether is uniform after the softmax, as in PyTorch."""
    none = KEPT.clone()
    none[2] = False
    imported = agrees(SOFTMAX["hugely negative"], (SCORES, none), fused="layers")
    assert imported.expected[0][2] == pytest.approx(0.2)
    agrees(lambda s, m: s.masked_fill(~m, -1e9).softmax(0), (SCORES, KEPT.t()), fused="layers")
    agrees(lambda s, m: s.masked_fill(~m, -1e9).softmax(0), (SCORES, none.t()), fused="layers")
    agrees(lambda s, m: s.masked_fill(~m, -3.0).softmax(-1), (SCORES, KEPT), fused="layers")
    agrees(lambda s, m: s.masked_fill(~m, -1e5) * 2, (SCORES, KEPT), fused="layers")


def test_logits_that_lack_elements_are_zeros_inside_the_mask() -> None:
    agrees(SOFTMAX["masked_fill"], (sparse(5, 5), KEPT), {"x_0": "dcsr"}, "layers")


def test_a_mask_in_blocks_must_keep_whole_blocks() -> None:
    blocks = torch.block_diag(torch.ones(2, 2), torch.ones(2, 2)).bool()
    scores = normal(4, 4)
    imported = agrees(SOFTMAX["masked_fill"], (scores, blocks), {"x_1": "bsr2"}, "layers")
    assert imported.program.block == 2
    blocks[0, 1] = False
    with pytest.raises(ProgramError, match=r"stored with elements that it removes.*as a whole"):
        fl.from_torch(Module(SOFTMAX["masked_fill"]), (scores, blocks), {"x_1": "bsr2"})


def test_another_mask_must_cover_what_the_first_did() -> None:
    imported = agrees(SOFTMAX["then a product"], (SCORES, KEPT), fused="layers")
    other = imported.bind(SCORES, KEPT.flip(0))
    assert other.check().ok
    none = KEPT.clone()
    none[2] = False
    with pytest.raises(DataError, match=r"removes a whole fiber.*import the module again"):
        imported.bind(SCORES, none)
    with pytest.raises(DataError, match=r"x_0 has shape \(4, 5\)"):
        imported.bind(SCORES[:4], KEPT)
    with pytest.raises(DataError, match=r"1 input for a module of 2"):
        imported.bind(SCORES)


REFUSED = {
    "sum": lambda s, m: s.masked_fill(~m, -INF).sum(),
    "product": lambda s, m: s.masked_fill(~m, -INF) @ s,
    "gelu": lambda s, m: F.gelu(s.masked_fill(~m, -INF)),
    "negative": lambda s, m: -s.masked_fill(~m, -INF),
    "concatenation": lambda s, m: torch.cat([s.masked_fill(~m, -INF), s]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_minus_infinity_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ProgramError, match=r"that a mask filled with -inf.*right before their"):
        fl.from_torch(Module(REFUSED[name]), (SCORES, KEPT))


DEFINED: dict[str, Callable[[Any], Any]] = {
    "logarithm": lambda x: torch.where(x > 0, x.log(), 0.0),
    "logarithm of what else": lambda x: torch.where(x <= 0, x * 2, x.log() + 1),
    "root": lambda x: x.sqrt().masked_fill(x < 0, -1.0),
    "quotient": lambda x: torch.where(x == 0, x, 1 / x),
    "then a function": lambda x: torch.where(x > 0, x.log(), x).exp(),
    "one condition for all": lambda x: x.exp().masked_fill(torch.tensor(True), 2.0),
    "no number": lambda x: torch.where(x.isnan(), float("nan"), x + 1),
}


@pytest.mark.parametrize("name", DEFINED)
def test_what_a_condition_leaves_out_may_be_no_number(name: str) -> None:
    agrees(DEFINED[name], (SCORES,))
    agrees(DEFINED[name], (sparse(5, 5),), {"x_0": "csr"})


def test_other_data_may_leave_out_others() -> None:
    made = fl.from_torch(Module(DEFINED["logarithm"]), (SCORES,))
    turned = made.bind(-SCORES)
    assert turned.check().ok
    assert not turned.check(evaluate(made.program, made.data)).ok


def test_a_choice_by_what_it_chooses_is_a_maximum() -> None:
    """A comparison is known to be one: no condition is computed, and no product with it."""

    def larger(x: Any, y: Any) -> Any:
        return torch.where(x.exp() > 2 * y, x.exp(), 2 * y)

    given = agrees(Module(larger), (SCORES, SCORES.T.contiguous()))
    assert [s.op.value for s in given.program.statements] == ["exp", "scale", "max()"]


def test_what_is_computed_twice_is_one_statement() -> None:
    def chosen(x: Any, y: Any) -> Any:
        return torch.where(2 * x > y, 2 * x, 3 * y)

    given = agrees(Module(chosen), (SCORES, SCORES.T.contiguous()))
    assert len(given.program.statements) == 9


def test_a_mask_that_removes_something_only_later() -> None:
    """It was stored dense; what it removes would be taken as kept."""

    def chosen(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, torch.log(x), torch.zeros(()))

    x = normal(4, 4)
    imported = fl.from_torch(Module(chosen), x.abs() + 0.1)
    with pytest.raises(ProgramError, match=r"is stored with elements that it removes.*compressed"):
        imported.bind(x)
    assert fl.from_torch(Module(chosen), x).bind(x.abs() + 0.1).check().ok
