"""Storage: layouts of PyTorch, annotations, density, blocks."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.program import Format
from tests.frontends.torch.support import Module, agrees, imported, normal, sparse

LAYOUTS = {
    "csr": (lambda a: a.to_sparse_csr(), "8x8 csr\n"),
    "csc": (lambda a: a.to_sparse_csc(), "8x8 csc\n"),
    "coo": (lambda a: a.to_sparse_coo(), "8x8 coo\n"),
    "bsr": (lambda a: a.to_sparse_bsr((2, 2)), "8x8 csr block 2\n"),
    "unequal blocks": (lambda a: a.to_sparse_bsr((2, 4)), "8x8 csr\n"),
    "hybrid": (lambda a: a.to_sparse(1), "8x8 compressed\n"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_sparse_inputs(name: str) -> None:
    made, words = LAYOUTS[name]
    module = Module(
        lambda a, x: a.to_dense() @ x if name in ("hybrid", "unequal blocks") else a @ x
    )
    result = agrees(module, (made(sparse(8, 8)), normal(8, 4)))
    assert words in str(result.program).replace("dcsr", "compressed")


def test_a_sparse_buffer() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("adj", sparse(6, 6).to_sparse_csr())

        def forward(self, x: Any) -> Any:
            return torch.sparse.mm(self.adj, x)

    result = agrees(Layer(), (normal(6, 3),))
    assert "adj: 6x6 csr\n" in str(result.program)
    assert result.data["adj"].nnz == int((sparse(6, 6) != 0).sum())


def test_explicit_zeros_of_a_sparse_tensor_stay() -> None:
    adj = torch.sparse_csr_tensor([0, 2, 3], [0, 1, 1], [0.0, 2.0, 3.0], (2, 2))
    result = imported(lambda a, x: a @ x, adj, normal(2, 2))
    assert result.data["x_0"].nnz == 3


def test_annotations_and_inferred_density() -> None:
    layer = nn.Linear(8, 6)
    with torch.no_grad():
        layer.weight.mul_(sparse(6, 8) != 0)
    program = fl.from_torch(
        layer, normal(5, 8), {"weight": "csc", "input": Format.dense(2)}
    ).program
    assert "weight: 6x8 csc" in str(program)
    imported = fl.from_torch(layer, normal(5, 8), {"weight": "csc"})
    assert set(imported.unpinned) == {"input", "bias"}
    other = imported.stored_as({"input": "dcsr"})
    assert "weight: 6x8 csc" in str(other.program)
    assert "input: 5x8 dcsr" in str(other.program)
    assert other.unpinned == ("bias",)
    assert other.check().ok


def test_an_annotated_result_and_an_inner_activation() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    result = agrees(module, (normal(5, 4),), {"relu": "dense", "linear": "dcsc"})
    assert result.program.tensor(result.outputs[0].tensor).format.all_dense
    assert "linear: 5x3 dcsc" in str(result.program)
    agrees(module, (normal(5, 4),), {"linear": "dense"})  # complete: a dense input, or its bias
    unbiased = nn.Sequential(nn.Linear(4, 3, bias=False), nn.ReLU())
    with pytest.raises(ProgramError, match=r"linear has a dense level 0 .i., but may lack"):
        fl.from_torch(unbiased, normal(5, 4).to_sparse_csr(), {"linear": "dense"})


def test_blocks_spread_along_the_indices() -> None:
    result = agrees(nn.Linear(8, 6, bias=False), (normal(4, 8),), {"weight": "bsr2"})
    text = str(result.program)
    assert "weight: 6x8 csr block 2" in text
    assert "input: 4x8 dense block 2 over 1" in text
    with pytest.raises(ProgramError, match=r"edge|divide"):
        fl.from_torch(nn.Linear(8, 6), normal(4, 8), {"weight": "bsr3"})


def test_wrong_annotations() -> None:
    for formats, message in [
        ({"wieght": "csr"}, "formats names 'wieght'.*did you mean 'weight'"),
        ({"weight": "crs"}, "format 'crs' of weight.*did you mean"),
        ({"bias": "csr"}, "format 'csr' of bias"),
    ]:
        with pytest.raises(ProgramError, match=message):
            fl.from_torch(nn.Linear(4, 3), normal(2, 4), formats)
