"""Operations of ``torch.sparse`` in every layout that PyTorch computes them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import fuseloom as fl
from fuseloom.errors import FuseloomError
from tests.frontends.torch.support import Module, agrees, normal, sparse

MATRIX = sparse(4, 4, seed=3)
X, LEFT, RIGHT = normal(4, 5), normal(4, 3, seed=7), normal(3, 4, seed=8)
Function = Callable[[Any], Any]


def laid_out(layout: str) -> Any:
    """The matrix, with an element whose value is 0 if it is stored one by one."""
    if layout.startswith("bs"):
        return MATRIX.to_sparse(layout=getattr(torch, f"sparse_{layout}"), blocksize=(2, 2))
    coo = (MATRIX + torch.diag(torch.tensor([0.0, 9.0, 0.0, 0.0]))).to_sparse_coo().coalesce()
    values = torch.where(coo.values() == 9, 0.0, coo.values())
    made = torch.sparse_coo_tensor(coo.indices(), values, (4, 4)).coalesce()
    return made if layout == "coo" else made.to_sparse(layout=getattr(torch, f"sparse_{layout}"))


CASES: dict[str, tuple[str, Function]] = {
    "product": ("csr coo csc bsr", lambda a: a @ X),
    "sparse.mm": ("csr coo csc bsr", lambda a: torch.sparse.mm(a, X)),
    "addmm": ("csr bsr", lambda a: torch.addmm(X, a, X)),
    "linear": ("csr bsr", lambda a: F.linear(X.t(), a)),
    "mean": ("csr", lambda a: torch.sparse.mm(a, X, "mean")),
    "sum": ("csr", lambda a: torch.sparse.mm(a, X, "sum")),
    "largest": ("csr", lambda a: torch.sparse.mm(a, X, "amax")),
    "smallest": ("csr", lambda a: torch.sparse.mm(a, X, "amin")),
    "sampled": ("csr", lambda a: torch.sparse.sampled_addmm(a, LEFT, RIGHT)),
    "sampled, scaled": (
        "csr",
        lambda a: torch.sparse.sampled_addmm(a, LEFT, RIGHT, beta=0.5, alpha=-2.0) @ X,
    ),
    "sampled alone": (
        "csr",
        lambda a: torch.sparse.sampled_addmm(a, LEFT, RIGHT, beta=0.0).to_dense().relu(),
    ),
    "attention": (
        "csr",
        lambda a: torch.sparse.mm(
            torch.sparse.softmax(torch.sparse.sampled_addmm(a, LEFT, RIGHT).to_sparse_coo(), 1), X
        ),
    ),
    "softmax": ("coo", lambda a: torch.sparse.softmax(a, 1)),
    "softmax of columns": ("coo", lambda a: torch.sparse.softmax(a * 2, 0).to_dense() @ X),
    "log_softmax": ("coo", lambda a: torch.sparse.log_softmax(a, 1)),
    "sparse.sum": ("coo", lambda a: torch.sparse.sum(a, 1)),
    "dense": ("csr bsr bsc", lambda a: a.to_dense() @ X + 1),
    "another layout": ("csr bsr bsc", lambda a: a.to_sparse_coo() @ X),
    "transposed": ("csr coo bsc", lambda a: a.t() @ X),
}


@pytest.mark.parametrize(
    ("name", "layout"), [(n, each) for n, (all_, _) in CASES.items() for each in all_.split()]
)
def test_agrees(name: str, layout: str) -> None:
    agrees(CASES[name][1], (laid_out(layout),))


@pytest.mark.parametrize(("layout", "words"), [("bsr", "csr block 2"), ("bsc", "csc block 2")])
def test_square_blocks_are_kept(layout: str, words: str) -> None:
    result = fl.from_torch(Module(lambda a: a.to_dense() @ X[:, :4]), (laid_out(layout),))
    assert f"4x4 {words}" in str(result.program)


def test_the_pattern_counts_however_the_matrix_is_stored() -> None:
    """A dense level or a block holds zeros that are no elements of the matrix."""
    function: Function = CASES["largest"][1]
    for words in ("dense", "[compressed, dense]"):
        result = fl.from_torch(Module(function), (laid_out("csr"),), {"x_0": words})
        assert result.check().ok
        assert "x_0_pattern" in result.program.inputs
    with pytest.raises(FuseloomError, match="stored with elements that it removes"):
        fl.from_torch(Module(function), (laid_out("csr"),), {"x_0": "csr block 2"})


def test_other_patterns() -> None:
    result = fl.from_torch(Module(CASES["mean"][1]), (laid_out("csr"),))
    other = result.bind(sparse(4, 4, seed=12).to_sparse_csr())
    assert other.check().ok


@pytest.mark.parametrize(
    ("function", "layout", "words"),
    [
        (lambda a: a @ X, "bsc", "PyTorch itself cannot compute.*square blocks only"),
        (lambda a: X.t() @ a, "bsr", "PyTorch itself cannot compute"),
        (lambda a: (a.to_dense() * 2).to_sparse_csr() @ X, "csr", "sparse layout of a computed"),
        (lambda a: torch.sparse.softmax(a, 1), "csr", "cannot trace"),
    ],
)
def test_refused(function: Function, layout: str, words: str) -> None:
    with pytest.raises(FuseloomError, match=words):
        fl.from_torch(Module(function), (laid_out(layout),))


def test_blocks_that_are_not_square() -> None:
    given = MATRIX.to_sparse_bsr((2, 1))
    agrees(lambda a: a.to_dense() @ X, (given,))
    with pytest.raises(FuseloomError, match="square blocks"):
        fl.from_torch(Module(lambda a: a @ X), (given,))
