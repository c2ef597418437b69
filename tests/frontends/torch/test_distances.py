"""Similarities and distances, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from fuseloom.errors import ProgramError
from tests.frontends.torch.support import agrees, imported, normal, sparse

DISTANCES: dict[str, Callable[..., Any]] = {
    "cosine": F.cosine_similarity,
    "cosine of columns": lambda x, y: F.cosine_similarity(x, y, dim=0),
    "cosine of all pairs": lambda x, y: F.cosine_similarity(x[:, None], y[None], dim=-1),
    "pairwise": F.pairwise_distance,
    "all pairs": torch.cdist,
    "all pairs, by absolute differences": lambda x, y: torch.cdist(x, y, p=1),
    "all pairs, by the largest difference": lambda x, y: torch.cdist(x, y, p=torch.inf),
    "of batches": lambda x, y: torch.cdist(x.view(2, 2, 3), y.view(2, 2, 3)[:, :1]),
    "norm of order 1": lambda x, y: (x - y).norm(p=1, dim=1),
    "largest magnitude": lambda x, y: torch.linalg.vector_norm(x - y, torch.inf),
    "norm of order 3": lambda x, y: torch.linalg.vector_norm(x - y, 3, dim=1),
    "norm of order 1.5": lambda x, y: (x - y).norm(p=1.5, dim=0),
    "how many are not 0": lambda x, y: torch.linalg.vector_norm(x, 0, dim=1),
    "norm of a matrix": lambda x, y: torch.linalg.norm(x - y),
    "norm of rows": lambda x, y: torch.linalg.norm(x - y, dim=1, keepdim=True),
    "largest sum of a column": lambda x, y: torch.linalg.norm(x - y, 1),
    "largest sum of a row": lambda x, y: torch.linalg.matrix_norm(x - y, torch.inf),
    "Frobenius": lambda x, y: torch.linalg.matrix_norm(x * y),
    "pairwise, order 1": lambda x, y: F.pairwise_distance(x, y, p=1, keepdim=True),
    "all pairs of one": lambda x, y: F.pdist(x - y),
    "all pairs, order 4": lambda x, y: torch.cdist(x, y, p=4),
}


@pytest.mark.parametrize("name", DISTANCES)
def test_distances(name: str) -> None:
    agrees(DISTANCES[name], (normal(4, 3), normal(4, 3, seed=1)), fused="layers")
    agrees(DISTANCES[name], (sparse(4, 3), normal(4, 3, seed=1)), {"x_0": "csr"}, fused="kernels")


def test_negative_orders_and_singular_values_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"order -1.*orders from 0 to infinity"):
        imported(lambda x: torch.linalg.vector_norm(x, -1), normal(2, 3))
    with pytest.raises(ProgramError, match=r"the matrix norm nuc.*singular values"):
        imported(lambda x: torch.linalg.matrix_norm(x, "nuc"), normal(2, 3))
