"""Similarities and distances, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from engine.errors import ProgramError
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
}


@pytest.mark.parametrize("name", DISTANCES)
def test_distances(name: str) -> None:
    agrees(DISTANCES[name], (normal(4, 3), normal(4, 3, seed=1)), fused="layers")
    agrees(DISTANCES[name], (sparse(4, 3), normal(4, 3, seed=1)), {"x_0": "csr"}, fused="kernels")


def test_other_orders_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"order 3.*orders 1, 2 and infinity"):
        imported(lambda x: torch.cdist(x, x, p=3), normal(2, 3))
