"""Operators that move elements, each against PyTorch."""

from __future__ import annotations

import pytest

from fuseloom.stitch.torch_graph import torch_module_graph
from tests.stitch.aten.exporting import batched, compare, drawn, module_of, together

torch = pytest.importorskip("torch")
functional = torch.nn.functional

CASES = {
    "view": lambda x: x.view(12, 5),
    "reshape of a transposed tensor": lambda x: x.transpose(0, 2).reshape(-1),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(1, (2, 2)),
    "transpose": lambda x: x.transpose(0, -1),
    "permute": lambda x: x.permute(2, 0, 1),
    "t": lambda x: x[0].t(),
    "movedim": lambda x: x.movedim(0, 2),
    "squeeze": lambda x: x.unsqueeze(1).unsqueeze(-1).squeeze(),
    "expand": lambda x: x.unsqueeze(1).expand(3, 6, 4, 5) * 1,
    "expand in front": lambda x: x.expand(2, -1, -1, -1) + 0,
    "repeat": lambda x: x.repeat(2, 1, 3, 1),
    "cat": lambda x: torch.cat([x, 2 * x, x[:, :1]], 1),
    "cat of types": lambda x: torch.cat([x, x.long()], -1),
    "stack": lambda x: torch.stack([x, x * x], 1),
    "slice": lambda x: x[1:, -3:-1],
    "slice with steps": lambda x: x[:, ::2, 1::3],
    "slice beyond": lambda x: x[:, 2:99],
    "select": lambda x: x[-1],
    "select inside": lambda x: x.select(1, 2),
    "split": lambda x: x.split(2, dim=2),
    "split with sizes": lambda x: x.split([1, 4], dim=2)[1],
    "chunk": lambda x: torch.chunk(x, 3, dim=1),
    "unbind": lambda x: x.unbind(1)[2],
    "flip": lambda x: x.flip(0, 2),
    "roll": lambda x: x.roll(1, 2),
    "pad": lambda x: functional.pad(x, (1, 2, 0, 1), value=3.0),
    "pad that cuts": lambda x: functional.pad(x, (-1, 2)),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(1),
    "index by a list": lambda x: x[:, torch.tensor([2, 0, -1])],
    "index_select": lambda x: x.index_select(2, torch.tensor([4, 0])),
    "a causal mask": lambda x: x.masked_fill(torch.ones(4, 5).tril().bool().logical_not(), -9.0),
}


@pytest.mark.parametrize("names", batched(CASES, 9), ids=", ".join)
def test_of_one_tensor(names: tuple[str, ...]) -> None:
    compare(together(CASES[name] for name in names), [drawn(3, 4, 5)])


def test_embedding() -> None:
    compare(torch.nn.Embedding(7, 3), [torch.tensor([[0, 6, 2], [3, 3, 1]])])


def test_index_by_a_tensor() -> None:
    compare(module_of(lambda x, at: x[at]), [drawn(6, 2), torch.tensor([[5, -6], [0, 1]])])


@pytest.mark.parametrize(
    ("function", "operator"),
    [
        (lambda x: x[torch.tensor([0, 1]), torch.tensor([1, 2])], "aten.index.Tensor"),
        (lambda x: x.gather(0, torch.zeros(1, 4, 5, dtype=torch.int64)), "aten.gather.default"),
        (lambda x: x.sort(-1)[0], "aten.sort.default"),
    ],
)
def test_others_are_opaque(function: object, operator: str) -> None:
    graph = torch_module_graph(module_of(function), [drawn(3, 4, 5)])
    assert graph.opaque == (operator,)
