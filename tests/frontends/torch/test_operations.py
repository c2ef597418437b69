"""Every supported operation, on dense and on sparse operands, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from tests.frontends.torch.support import agrees, normal, positive, sparse

MASK = torch.tensor(
    [[1, 0, 0, 1, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 1]],
    dtype=torch.bool,
)
ROWS = torch.tensor([3, 1, 1, 0])
WEIGHT, SCALES, BIAS = normal(3, 4, seed=5), positive(4), normal(4, seed=6)
GAPS = sparse(5, 4)
FULL = normal(5, 4)

UNARY: dict[str, Callable[[Any], Any]] = {
    "relu": torch.relu,
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "abs": torch.abs,
    "neg": lambda x: -x,
    "square": torch.square,
    "pow 2": lambda x: x**2,
    "pow 3": lambda x: x**3,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "elu": F.elu,
    "selu": F.selu,
    "softplus": F.softplus,
    "softplus that is straight above a number": lambda x: F.softplus(x, 2, 0.3),
    "softplus that is straight from below 0 on": lambda x: F.softplus(x, 2, -0.5),
    "mish": F.mish,
    "logsigmoid": F.logsigmoid,
    "clamp": lambda x: x.clamp(-0.5, 0.7),
    "clamp above 0": lambda x: x.clamp(min=0.25),
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "scale": lambda x: 3 * x / 2,
    "shift": lambda x: x + 1.5,
    "subtract a number": lambda x: x - 0.25,
    "subtract from a number": lambda x: 1 - x,
    "softmax": lambda x: F.softmax(x, -1),
    "softmax over rows": lambda x: torch.softmax(x, 0),
    "log_softmax": lambda x: F.log_softmax(x, 1),
    "sum": torch.sum,
    "sum of rows": lambda x: x.sum(1),
    "sum keepdim": lambda x: x - x.sum(0, keepdim=True),
    "mean": lambda x: x.mean(-1),
    "mean of all": torch.mean,
    "amax": lambda x: x.amax(1),
    "amax keepdim": lambda x: x - x.amax(1, keepdim=True),
    "amin": lambda x: x.amin(0),
    "max": lambda x: x.max(1).values,
    "max of all": torch.max,
    "smallest and largest": lambda x: sum(torch.aminmax(x, dim=1)),
    "variance and mean": lambda x: torch.stack(torch.var_mean(x, 1)),
    "deviation and mean": lambda x: torch.cat(torch.std_mean(x, 0, correction=0)),
    "differences": lambda x: torch.diff(x, dim=0),
    "differences of differences": lambda x: torch.diff(x, n=2),
    "log_softmax of channels": lambda x: F.log_softmax(x.view(1, 5, 2, 2), 1),
    "softmax of channels": lambda x: F.softmax(x.view(1, 5, 2, 2), 1),
    "power of a matrix": lambda x: torch.linalg.matrix_power(x[:4], 5),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(1, unbiased=False),
    "norm": lambda x: x.norm(dim=1),
    "normalize": lambda x: F.normalize(x, dim=0),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "layer_norm affine": lambda x: F.layer_norm(x, (4,), SCALES, BIAS),
    "rms_norm": lambda x: F.rms_norm(x, (4,), SCALES, 1e-5),
    "transpose": lambda x: x.t() + 0 * x.t(),
    "returned transposed": lambda x: x.t(),
    "unsqueeze": lambda x: x.unsqueeze(0) * x.unsqueeze(1),
    "expand": lambda x: x.sum(1, keepdim=True).expand(5, 4) * x,
    "sum of expanded": lambda x: x.unsqueeze(0).expand(3, 5, 4).sum(0),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1).exp(),
    "flatten": lambda x: torch.relu(x).flatten(),
    "view": lambda x: torch.relu(x).view(10, 2).sum(1),
    "permute reshape": lambda x: torch.relu(x).view(5, 2, 2).permute(1, 0, 2).reshape(10, 2),
    "slice": lambda x: torch.relu(x)[1:4, ::2],
    "select": lambda x: torch.relu(x)[:, 2],
    "chunk": lambda x: torch.mul(*torch.relu(x).chunk(2, -1)),
    "split": lambda x: torch.relu(x).split([1, 3], 1)[1],
    "unbind": lambda x: torch.relu(x).unbind(1)[3],
    "pieces of an input": lambda x: x[2:, :3] * x[:3, 1:],
    "index_select": lambda x: torch.relu(x).index_select(0, ROWS),
    "index": lambda x: x[:, ROWS].exp(),
    "tril": lambda x: torch.relu(x).tril(),
    "triu": lambda x: torch.relu(x).triu(1),
    "cat": lambda x: torch.cat([x, torch.relu(x)], 1),
    "cat with nothing": lambda x: torch.cat([torch.tensor([]), x, x.new_zeros(x.shape[0], 0)], 1),
    "cat of one with nothing": lambda x: torch.cat([x.new_zeros(0), x.exp()], 0),
    "new_full": lambda x: x * x.new_full((4,), 3) + x.new_ones(4),
    "stack": lambda x: torch.stack([torch.relu(x), -x], 1),
    "dropout": lambda x: F.dropout(x, 0.5, False).clone().contiguous().detach(),
    "the input itself": lambda x: x,
    "masked_fill 0": lambda x: torch.relu(x).masked_fill(MASK[:, :4], 0.0),
    "masked_fill 2": lambda x: x.masked_fill(MASK[:, :4], 2.0),
    "where": lambda x: torch.where(MASK[:, :4], x, x * x),
    "in place": lambda x: torch.relu(x).add_(1).mul_(2),
    "einsum sum": lambda x: torch.einsum("ij->j", x),
    "einsum trace-free": lambda x: torch.einsum("ij,ik,jl->kl", x, x, x.t()),
    "linear": lambda x: F.linear(x, WEIGHT, BIAS[:3]),
    "linear of a vector": lambda x: F.linear(x.sum(0), WEIGHT),
    "batch_norm": lambda x: F.batch_norm(x, BIAS, SCALES, BIAS, SCALES),
}
POSITIVE: dict[str, Callable[[Any], Any]] = {
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "pow 0.5": lambda x: x**0.5,
    "pow -2": lambda x: x**-2,
    "divide a number": lambda x: 2 / x,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": torch.add,
    "add alpha": lambda x, y: torch.add(x, y, alpha=2),
    "sub": torch.sub,
    "mul": torch.mul,
    "div": lambda x, y: x / (y.abs() + 1),
    "maximum": torch.maximum,
    "max of two": torch.max,
    "min of two": lambda x, y: torch.min(x, y[1]),
    "fmax and fmin": lambda x, y: torch.fmax(x, y) - torch.fmin(y, x),
    "hypot": torch.hypot,
    "minimum": torch.minimum,
    "add a row": lambda x, y: x + y[1],
    "add a column": lambda x, y: torch.exp(x) + y[:, :1],
    "outer sum": lambda x, y: x.sum(1).unsqueeze(1) + y.sum(0),
    "matmul": lambda x, y: x @ y.t(),
    "mm": lambda x, y: torch.mm(x.t(), y),
    "matrix times vector": lambda x, y: x @ y[2],
    "vector times matrix": lambda x, y: x[:, 1] @ y,
    "dot": lambda x, y: torch.dot(x[1], y[1]),
    "addmm": lambda x, y: torch.addmm(x[:, :1], x, y.t(), beta=0.5, alpha=2),
    "outer": lambda x, y: torch.outer(x[1], y[:, 0]),
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "einsum ellipsis": lambda x, y: torch.einsum("...j,...j->...", x, y),
    "cat": lambda x, y: torch.cat([x, y.exp(), x], 0),
}
"""Functions of two matrices of one shape."""


@pytest.mark.parametrize("stored", ["dense", "dcsr", "csc"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_a_matrix(name: str, stored: str) -> None:
    matrix = FULL if stored == "dense" else GAPS
    agrees(UNARY[name], (matrix,), formats={"x_0": stored})


@pytest.mark.parametrize("name", POSITIVE)
def test_functions_of_positive_numbers(name: str) -> None:
    agrees(POSITIVE[name], (positive(5, 4),))


@pytest.mark.parametrize("stored", ["dense", "dcsr"])
def test_logsumexp(stored: str) -> None:
    matrix = FULL if stored == "dense" else GAPS
    agrees(lambda x: torch.logsumexp(x, 1), (matrix,), {"x_0": stored})


def test_a_square_root_of_nothing() -> None:
    agrees(torch.sqrt, (GAPS.abs(),), formats={"x_0": "csr"})


@pytest.mark.parametrize(
    "stored", [("dense", "dense"), ("dcsr", "dense"), ("csr", "csr"), ("dense", "csc")], ids=str
)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_matrices(name: str, stored: tuple[str, str]) -> None:
    x = FULL if stored[0] == "dense" else GAPS
    y = normal(5, 4, seed=7) if stored[1] == "dense" else sparse(5, 4, seed=8)
    agrees(BINARY[name], (x, y), formats=dict(zip(("x_0", "x_1"), stored, strict=True)))


BATCHES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "bmm": (torch.bmm, (normal(2, 3, 4), normal(2, 4, 3, seed=1))),
    "matmul": (torch.matmul, (normal(2, 1, 3, 4), normal(5, 4, 2, seed=1))),
    "matmul of a batch and a vector": (torch.matmul, (normal(2, 3, 4), normal(4, seed=1))),
    "matmul of a vector and a batch": (torch.matmul, (normal(3), normal(2, 3, 4, seed=1))),
    "addbmm": (torch.addbmm, (normal(3, 3), normal(2, 3, 4), normal(2, 4, 3, seed=1))),
    "log_softmax of four dimensions": (lambda x: F.log_softmax(x, 1), (normal(2, 3, 2, 3),)),
    "baddbmm": (torch.baddbmm, (normal(3, 3), normal(2, 3, 4), normal(2, 4, 3, seed=1))),
    "addmv": (torch.addmv, (normal(3), normal(3, 4), normal(4, seed=1))),
    "bilinear": (F.bilinear, (normal(3, 4), normal(3, 2, seed=1), normal(5, 4, 2), normal(5))),
    "linear": (F.linear, (normal(2, 3, 4), normal(5, 4, seed=1), normal(5))),
    "layer_norm": (lambda x: F.layer_norm(x, (3, 4)), (normal(2, 3, 4),)),
    "batch_norm": (lambda x: F.batch_norm(x, BIAS, SCALES), (normal(2, 4, 3),)),
    "movedim": (lambda x: x.movedim(0, 2).exp(), (normal(2, 3, 4),)),
    "permute": (lambda x: x.permute(2, 0, 1) * 2, (normal(2, 3, 4),)),
    "narrow": (lambda x: x.relu().narrow(1, 1, 2), (normal(2, 3, 4),)),
    "embedding": (F.embedding, (torch.tensor([[0, 2, 2], [1, 4, 0]]), normal(5, 3))),
    "index_add": (
        lambda x, y: x.index_add(0, ROWS, y, alpha=0.5),
        (normal(5, 3), normal(4, 3, seed=1)),
    ),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_and_what_is_no_matrix(name: str) -> None:
    agrees(*BATCHES[name], fused="layers")


@pytest.mark.parametrize("count", [1, 65, 130])
def test_products_of_many_elements(count: int) -> None:
    agrees(lambda x: (x.relu() + 0.5).prod(1), (torch.rand(2, count) + 0.5,))
