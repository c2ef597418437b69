"""Operations that move elements along a dimension, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from fuseloom.errors import ProgramError
from tests.frontends.torch.support import agrees, imported, normal, sparse

WEIGHT = normal(2, 3)

MOVES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "zeros around": (lambda x: F.pad(x, (1, 2, 0, 1)), (3, 2)),
    "zeros in front": (lambda x: F.pad(x.relu(), (2, 0)), (2, 3)),
    "cut": (lambda x: F.pad(x.relu(), (-1, 1)), (2, 4)),
    "a number around": (lambda x: F.pad(x.relu(), (1, 1), value=2.5), (2, 3)),
    "mirrored": (lambda x: F.pad(x.relu(), (2, 1), mode="reflect"), (1, 2, 4)),
    "the edge again": (lambda x: F.pad(x.relu(), (2, 1), mode="replicate"), (1, 2, 3)),
    "in a circle": (lambda x: F.pad(x.relu(), (2, 1), mode="circular"), (1, 2, 4)),
    "turned round": (lambda x: x.relu().flip(0, 1), (3, 4)),
    "rolled": (lambda x: x.relu().roll((1, -2), (0, 1)), (3, 4)),
    "rolled as a whole": (lambda x: x.relu().roll(2), (2, 3)),
    "repeated": (lambda x: x.relu().repeat(2, 1, 3), (2, 3)),
    "tiled": (lambda x: x.relu().tile(2, 2), (2, 3)),
    "repeated, of one row": (lambda x: x.relu().repeat(3, 1), (1, 3)),
    "each twice": (lambda x: x.relu().repeat_interleave(2, 0), (3, 2)),
    "each element twice": (lambda x: x.relu().repeat_interleave(2), (2, 3)),
    "nearest": (lambda x: F.interpolate(x.relu(), scale_factor=2), (1, 2, 3)),
    "nearest, of an image": (lambda x: F.interpolate(x.relu(), size=(3, 5)), (1, 1, 2, 3)),
    "linear": (lambda x: F.interpolate(x, scale_factor=2.0, mode="linear"), (1, 2, 3)),
    "bilinear": (lambda x: F.interpolate(x, size=(5, 2), mode="bilinear"), (1, 1, 3, 4)),
    "bilinear, by corners": (
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        (1, 2, 2, 3),
    ),
    "bicubic": (lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), (1, 1, 3, 2)),
    "running sum": (lambda x: x.relu().cumsum(1), (2, 4)),
    "diagonal": (lambda x: x.relu().diagonal(), (3, 4)),
    "another diagonal": (lambda x: x.relu().diagonal(-1, 0, 2), (3, 2, 4)),
    "trace": (lambda x: x.relu().trace(), (3, 3)),
    "einsum of a diagonal": (lambda x: torch.einsum("bii->bi", x.relu()), (2, 3, 3)),
    "einsum of a trace": (lambda x: torch.einsum("iij,jk->k", x.relu(), WEIGHT), (3, 3, 2)),
    "shuffled pixels": (lambda x: F.pixel_shuffle(x.relu(), 2), (1, 4, 2, 2)),
    "a part written": (lambda x: torch.slice_scatter(x, x[:, :2].exp(), 1, 1, 3), (2, 4)),
    "a row written": (lambda x: torch.select_scatter(x, x[0].exp(), 0, -1), (3, 2)),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str) -> None:
    function, shape = MOVES[name]
    agrees(function, (normal(*shape),))
    agrees(function, (sparse(*shape),), {"x_0": "compressed"}, fused="layers")


def test_infinity_around_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"padding with -inf.*finite number"):
        imported(lambda x: F.pad(x, (1, 1), value=-torch.inf), normal(2, 3))
