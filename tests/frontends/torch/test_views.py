"""Views that rename indices, and reshapes that need an order."""

from __future__ import annotations

import itertools

import pytest
import torch

from tests.frontends.torch.support import agrees, imported, normal


def test_a_transposed_weight_is_read_under_other_indices() -> None:
    result = imported(lambda x, w: x @ w.t().contiguous(), normal(2, 3), normal(4, 3))
    assert [str(s.operands[1]) for s in result.program.statements] == ["x_1[j,k]"]


def test_merging_heads_writes_the_order_that_the_reshape_needs() -> None:
    result = agrees(
        lambda a, b: (a @ b).transpose(0, 1).reshape(3, 8), (normal(2, 3, 5), normal(2, 5, 4))
    )
    assert [s.op.name for s in result.program.statements] == ["MUL", "RESHAPE"]


PLACES = [1, 2, 3, 5, 8, [2], [0, 3], [1, 1, 4], [-2], [2, 9], [4, 2], []]
"""Numbers of parts, and indices to split at: also of no elements, from the end, behind it."""


@pytest.mark.parametrize(("places", "dim"), list(itertools.product(PLACES, (0, 1, -1))), ids=str)
def test_parts_by_tensor_split(places: int | list[int], dim: int) -> None:
    def total(x):
        parts = torch.tensor_split(x.relu(), places, dim)
        assert parts
        return sum((n + 1) * part.sum() for n, part in enumerate(parts)) + parts[0].sum()

    def first(x):
        return next(p for p in torch.tensor_split(x.relu(), places, dim=dim) if p.numel()) * 2

    x = normal(4, 5)
    for function in (total, first):
        assert imported(function, x).check().ok


@pytest.mark.parametrize(
    "split",
    [
        lambda x: x.chunk(3, 1),
        lambda x: x.split(2, dim=-1),
        lambda x: x.split([1, 0, 4], 1),
        lambda x: x.split_with_sizes([3, 2], -1),
        lambda x: x.hsplit([2]),
        lambda x: x.vsplit(2),
        lambda x: x.unbind(-1),
        lambda x: x.tensor_split(torch.tensor([1, 4]), 1),
        lambda x: x.tensor_split(torch.tensor(2), 1),
        lambda x: torch.unsafe_chunk(x, 2, 1),
    ],
)
def test_parts_along_other_dimensions(split) -> None:
    def function(x):
        return [(n + 1) * part for n, part in enumerate(split(x.relu())) if part.numel()]

    agrees(function, (normal(4, 5),), fused="layers")
