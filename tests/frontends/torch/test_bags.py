"""Embedding bags, against PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import fuseloom as fl
from fuseloom.errors import DataError, ProgramError
from tests.frontends.torch.support import Module, agrees, imported, normal, positive

WORDS = torch.tensor([1, 4, 4, 2, 0, 3])
STARTS = torch.tensor([0, 2, 5])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_a_list(mode: str) -> None:
    torch.manual_seed(0)
    made = agrees(nn.EmbeddingBag(5, 3, mode=mode), (WORDS, STARTS), fused="layers")
    other = made.bind(WORDS.flip(0), torch.tensor([0, 3, 4]))
    assert other.check().ok


@pytest.mark.parametrize("padding", [1, -1, -4])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_a_matrix_with_words_that_do_not_count(mode: str, padding: int) -> None:
    torch.manual_seed(0)
    bags = nn.EmbeddingBag(5, 3, mode=mode, padding_idx=padding)
    agrees(bags, (WORDS.reshape(2, 3),), fused="layers")


def test_weights_per_word() -> None:
    table = normal(5, 3)

    def weighted(words: Any, starts: Any, weights: Any) -> Any:
        return F.embedding_bag(words, table, starts, mode="sum", per_sample_weights=weights)

    agrees(weighted, (WORDS, STARTS, normal(6)))
    with pytest.raises(ProgramError, match=r"weights per row are computed.*as an input"):
        imported(lambda w, s, x: weighted(w, s, x.exp()), WORDS, STARTS, positive(6))


def test_an_empty_bag() -> None:
    table, starts = normal(5, 3), torch.tensor([0, 2, 2])
    for mode in ("sum", "mean"):
        agrees(lambda w, s, m=mode: F.embedding_bag(w, table, s, mode=m), (WORDS, starts))
    agrees(lambda w, s: F.embedding_bag(w, table, s, mode="max"), (WORDS, starts))  # beforehand
    largest = Module(lambda w, s, t: F.embedding_bag(w, t, s, mode="max"))
    with pytest.raises(ProgramError, match=r"an empty bag.*a row"):
        fl.from_torch(largest, (WORDS, starts, table))
    made = fl.from_torch(largest, (WORDS, STARTS, table))
    with pytest.raises(DataError, match=r"bags of 0 to 4 rows.*import the module again"):
        made.bind(WORDS, starts, table)
