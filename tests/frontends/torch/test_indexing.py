"""Indexing by known indices, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.errors import DataError
from tests.frontends.torch.support import Module, agrees, imported, normal

ROWS, COLUMNS = torch.tensor([2, 0, 0]), torch.tensor([1, 3, -1])
MATRIX = torch.tensor([[0, 2], [1, 1]])

INDEXING: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "a vector": (lambda x: x.relu()[ROWS], (3, 4)),
    "columns": (lambda x: x.relu()[:, ROWS], (2, 3)),
    "a matrix": (lambda x: x.relu()[MATRIX], (3, 2)),
    "a matrix of columns": (lambda x: x.relu()[:, MATRIX], (2, 3, 2)),
    "rows and columns": (lambda x: x.relu()[ROWS, COLUMNS], (3, 4)),
    "rows and columns of a batch": (lambda x: x.relu()[:, ROWS, COLUMNS], (2, 3, 4)),
    "rows and columns apart": (lambda x: x.relu()[ROWS, :, COLUMNS], (3, 2, 4)),
    "a grid": (lambda x: x.relu()[ROWS[:, None], MATRIX[0]], (3, 4)),
    "integers of few bits": (lambda x: x.relu()[ROWS.int()], (3, 2)),
    "the last of each": (lambda x: x.relu()[torch.arange(2), ROWS[:2]], (2, 3, 2)),
    "gather": (lambda x: x.relu().gather(1, MATRIX), (2, 3)),
    "gather of fewer rows": (lambda x: x.relu().gather(1, MATRIX), (4, 3)),
    "gather of whole rows": (
        lambda x: x.relu().gather(1, MATRIX[..., None].expand(2, 2, 3)), (2, 3, 3)
    ),
    "gather of one index": (lambda x: x.relu().gather(0, torch.tensor([[1, 1, 1]])), (2, 3)),
    "a mask of two dimensions": (
        lambda x: x.relu()[torch.tensor([[True, False], [True, True]])], (2, 2, 3)
    ),
    "a mask of the last two": (
        lambda x: x.relu()[:, torch.tensor([[True, False], [True, True]])], (3, 2, 2)
    ),
    "take_along_dim": (lambda x: torch.take_along_dim(x.relu(), MATRIX, 1), (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXING)
def test_known_indices(name: str) -> None:
    function, shape = INDEXING[name]
    agrees(function, (normal(*shape),), fused="layers")


def test_other_indices() -> None:
    made = fl.from_torch(Module(lambda x, i: x.relu().gather(1, i)), (normal(2, 3), MATRIX))
    assert made.bind(normal(2, 3, seed=1), MATRIX.flip(1)).check().ok


def test_an_index_that_must_stay_the_same_along_a_dimension() -> None:
    same = torch.tensor([[1, 2], [1, 2]])
    made = fl.from_torch(Module(lambda x, i: x.relu().gather(1, i)), (normal(2, 3), same))
    with pytest.raises(DataError, match=r"differs along a dimension.*import the module again"):
        made.bind(normal(2, 3), MATRIX)


def test_a_known_mask_chooses_rows() -> None:
    made = imported(lambda x: x.relu()[torch.tensor([True, False, True])], normal(3, 2))
    assert made.check().ok
    assert made.program.tensor(made.program.outputs[0]).shape == (2, 2)
