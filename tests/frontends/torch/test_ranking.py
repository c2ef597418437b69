"""Sorting, the largest, and indices that a program computes, against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.frontends.torch.nodes import RANKING
from fuseloom.frontends.torch.ranking import HANDLERS, MOST_RANKED
from tests.frontends.torch.families.measure import problems
from tests.frontends.torch.support import Module, imported, normal

X = normal(4, 5)
TIES = torch.tensor(
    [[1.0, 2, 2, 0, 1], [3, 3, 3, 3, 3], [0, -1, 5, 5, 0], [1, 1, 0, 0, 2]], dtype=torch.float32
)
NEXT = torch.tensor([[1.0, 1 + 2**-23, 1 - 2**-24, 1e-45, 0]] * 4)
"""Numbers next to each other, and the smallest one."""
EMBEDDING = nn.Embedding(5, 3)


def nucleus(x: Any) -> Any:
    shares, _ = x.softmax(-1).sort(descending=True)
    return (shares * (shares.cumsum(-1) < 0.8)).sum(-1)


def sparsemax(x: Any) -> Any:
    ordered = x.sort(-1, descending=True)[0]
    numbers = torch.arange(1, 6)
    kept = 1 + numbers * ordered > ordered.cumsum(-1)
    count = kept.sum(-1, keepdim=True)
    threshold = ((ordered * kept).sum(-1, keepdim=True) - 1) / count
    return (x - threshold).clamp(min=0)


RANKED: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: x.sort(-1)[0],
    "sort of columns": lambda x: torch.stack([t.float() for t in x.sort(0, descending=True)]),
    "argsort": lambda x: x.relu().argsort(dim=1, stable=True),
    "msort": torch.msort,
    "topk": lambda x: x.exp().topk(2)[0],
    "smallest": lambda x: x.topk(3, 0, largest=False)[0],
    "kthvalue": lambda x: x.kthvalue(2, keepdim=True)[0],
    "median": torch.median,
    "median of rows": lambda x: (x * 2).median(1)[0],
    "argmax": lambda x: x.exp().argmax(1),
    "argmax of all": lambda x: (x * 1).argmax(),
    "argmin": lambda x: x.exp().argmin(0, keepdim=True),
    "max with its place": lambda x: (x * 2).max(1)[0] + (x * 2).max(1)[1],
    "min with its place": lambda x: (x * 2).min(0)[1],
    "one_hot": lambda x: F.one_hot((x * 2).argmax(-1), 5).float() * x,
    "embedding": lambda x: EMBEDDING((x * 2).argmax(-1)),
    "rows": lambda x: x[(x[:, :4] * 2).argmax(0)],
    "from the end": lambda x: x[:, (x.exp()[:, :3].argmax(0) - 2)],
    "columns": lambda x: x[:, x.sum(0).argsort(dim=-1, stable=True)],
    "one of each row": lambda x: x[torch.arange(4), (x * 2).argmax(1)],
    "gather": lambda x: x.gather(1, (x * 3).argmax(1, keepdim=True)),
    "take_along_dim": lambda x: torch.take_along_dim(x, x.exp().argsort(dim=1, stable=True), 1),
    "scatter": lambda x: torch.zeros(4, 5).scatter(1, (x * 2).argmax(1, keepdim=True), 1.0) * x,
    "the second one": lambda x: (
        (x * 1).scatter(1, (x * 2).argmax(1, keepdim=True), -torch.inf).argmax(1)
    ),
    "scatter into": lambda x: (x * 1).scatter(1, (x * 2).argmax(1, keepdim=True), x[:, :1]),
    "arithmetic": lambda x: ((x * 2).argmax(1) + 1) // 2 * 3 - (x > 0.3).sum(1),
    "agreement": lambda x: ((x * 2).argmax(1) == x.exp().argmin(1)).float().mean(),
    "nucleus": nucleus,
    "sparsemax": sparsemax,
}


@pytest.mark.parametrize("given", [X, TIES, NEXT], ids=["normal", "ties", "close"])
@pytest.mark.parametrize("name", RANKED)
def test_what_is_chosen_by_size(name: str, given: Any) -> None:
    made = fl.from_torch(Module(RANKED[name]), (given,))
    assert problems(made, None if given is X else ["unfused"]) == []
    assert made.bind(normal(4, 5, seed=3)).check().ok


def test_the_names_are_those_of_the_translations() -> None:
    assert set(HANDLERS) == RANKING | {"one_hot"}


class Experts(nn.Module):
    """A mixture whose routing follows from the tokens."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.router = way, nn.Linear(5, 4)
        self.experts = nn.Parameter(normal(4, 5, 3, seed=2))

    def forward(self, x: Any) -> Any:
        logits = self.router(x)
        values, chosen = logits.topk(2)
        shares = values.softmax(-1)
        if self.way == "read":
            parts = torch.einsum("tf,tkfo->tko", x, self.experts[chosen])
            return (parts * shares[..., None]).sum(1)
        if self.way == "one_hot":
            weights = (F.one_hot(chosen, 4).float() * shares[..., None]).sum(1)
        else:
            weights = torch.zeros_like(logits).scatter(1, chosen, shares)
        return torch.einsum("te,tf,efo->to", weights, x, self.experts)


@pytest.mark.parametrize("way", ["read", "one_hot", "scatter"])
def test_experts_that_tokens_choose(way: str) -> None:
    made = fl.from_torch(Experts(way), (X,))
    assert problems(made) == []
    for seed in range(5):
        assert made.bind(normal(4, 5, seed=seed)).check().ok


def test_many_are_not_compared_with_each_other() -> None:
    with pytest.raises(ProgramError, match=f"{MOST_RANKED + 1} elements.*the order as an input"):
        imported(lambda x: x.sort(1)[0], normal(2, MOST_RANKED + 1))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.gather(1, (x[:2] * 2).argsort(1)), "of a part.*slice"),
        (lambda x: F.one_hot((x * 2).argmax(1)), "one_hot|classes"),
        (lambda x: x[(x * 2).sum(1) > 0], "mask|index|nonzero"),
    ],
)
def test_what_is_not_read_by_computed_indices(function: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        imported(function, X)
    assert caught.value.hint
