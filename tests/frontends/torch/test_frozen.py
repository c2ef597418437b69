"""Choices by computed values, and random draws, held as the example inputs and a seed have them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import dropout, gumbel_softmax, one_hot, softmax

import fuseloom as fl
from tests.frontends.torch.geometric import BATCH, EDGES, FEATURES, NODES, numbers
from tests.frontends.torch.support import Module

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch_geometric.nn as geo

X = numbers(NODES, FEATURES)
GRAPHS = BATCH.clamp(max=1)
HELD = "held in every run as the example inputs have it: "


class Pooled(nn.Module):
    """A layer, a pooling that selects by scores, and another layer."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.first, self.pool, self.last = geo.GCNConv(FEATURES, 4), pool, geo.GCNConv(4, 3)

    def forward(self, x: Any, edges: Any, batch: Any) -> Any:
        made = self.pool(self.first(x, edges).relu(), edges, batch=batch)
        if isinstance(self.pool, geo.EdgePooling):
            x, edges, batch, _ = made
        else:
            x, edges, _, batch = made[:4]
        return geo.global_mean_pool(self.last(x, edges), batch)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.net = geo.GraphUNet(FEATURES, 4, 3, depth=2)

    def forward(self, x: Any, edges: Any) -> Any:
        return self.net(x, edges)


class Experts(nn.Module):
    """A loop over experts, each of which computes the rows that are routed to it, if any are."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.router = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Any) -> Any:
        weights, chosen = softmax(self.router(x), -1).topk(2, -1)
        routed = one_hot(chosen, 3).permute(2, 1, 0)
        made = torch.zeros_like(x)
        for expert, mask in zip(self.experts, routed, strict=True):
            if mask.sum() > 0:
                place, row = torch.where(mask)
                made.index_add_(0, row, expert(x[row]) * weights[row, place, None])
        return made


def top(pool: Callable[..., nn.Module], *given: Any) -> Callable[[], tuple[nn.Module, Any]]:
    def case() -> tuple[nn.Module, Any]:
        torch.manual_seed(0)
        return Pooled(pool(*given)), (X, EDGES, GRAPHS)

    return case


def listed(x: Any) -> Any:
    return torch.stack([x[k].exp() for k in x.sum(1).argsort().tolist()[:2]]).sum(0)


def up_to_the_last(x: Any) -> Any:
    return x[: int((x.sum(1) > 0).nonzero().max()) + 1] * 3


CHOOSING: dict[str, tuple[Callable[[], tuple[nn.Module, Any]], str]] = {
    "TopKPooling": (top(geo.TopKPooling, 4, 0.6), "sort"),
    "SAGPooling": (top(geo.SAGPooling, 4, 0.6), "sort"),
    "EdgePooling": (top(geo.EdgePooling, 4), "argsort"),
    "GraphUNet": (lambda: (UNet(), (X, EDGES)), "sort"),
    "a loop over experts": (lambda: (Experts(), (numbers(6, 4),)), "topk"),
    "a list of what was chosen": (lambda: (Module(listed), (X,)), "argsort"),
    "a mask": (lambda: (Module(lambda x: x[x.sum(1) > 0].exp().sum(0) + listed(x)), (X,)), "gt"),
    "masked_select": (
        lambda: (Module(lambda x: x.masked_select(x * x > 0.5).sum() + listed(x)), (X,)), "gt"
    ),
    "nonzero": (lambda: (Module(up_to_the_last), (X,)), "nonzero"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOOSING)
def test_a_choice_is_that_of_the_inputs_and_said(name: str) -> None:
    build, chosen = CHOOSING[name]
    module, inputs = build()
    imported = fl.from_torch(module, inputs, infer_density=None)
    assert imported.check().ok
    assert any(
        note.startswith(f"{HELD}the ") and f" of {chosen}, at " in note for note in imported.notes
    )
    compiled = fl.compile(imported.program, imported.presets["unfused"])
    run = fl.simulate(compiled, imported.data)
    assert run.check().ok
    assert imported.check(run.outputs).ok


def test_inputs_that_choose_the_same_are_bound() -> None:
    module, inputs = CHOOSING["TopKPooling"][0]()
    imported = fl.from_torch(module, inputs, infer_density=None)
    bound = imported.bind(inputs[0] * 1.001, *inputs[1:])
    assert bound.check().ok
    assert not torch.equal(torch.tensor(bound.expected[0]), torch.tensor(imported.expected[0]))


@pytest.mark.parametrize(
    "name", ["TopKPooling", "a loop over experts", "a list of what was chosen", "nonzero"]
)
def test_inputs_that_choose_otherwise_are_refused(name: str) -> None:
    module, inputs = CHOOSING[name][0]()
    imported = fl.from_torch(module, inputs, infer_density=None)
    with pytest.raises(fl.FuseloomError, match="or chooses other elements"):
        imported.bind(inputs[0].flip(0) * -1, *inputs[1:])


def test_a_module_that_needs_no_choice_makes_none() -> None:
    """Short orders are computed on the machine, for all inputs."""
    imported = fl.from_torch(Module(lambda x: x.topk(2, 0)[0]), (X,), infer_density=None)
    assert not any(note.startswith(HELD) for note in imported.notes)
    assert imported.bind(X.flip(0) * -1).check().ok


@pytest.mark.parametrize(
    "forward",
    [
        lambda x: x * 2 if x.sum() > 0 else x * 3,
        lambda x: x / float(x.abs().max().item()),
        lambda x: x[: int((x[:, 0] > 0).sum())],
    ],
)
def test_a_branch_on_computed_numbers_is_still_refused(forward: Callable[[Any], Any]) -> None:
    with pytest.raises(fl.FuseloomError, match="branches on values that it computes"):
        fl.from_torch(Module(forward), (X,))


def drawn(*shape: int) -> Any:
    return torch.randn(*shape)


DRAWING: dict[str, tuple[Callable[[Any], Any], str]] = {
    "dropout": (lambda x: dropout(x, 0.4, training=True) * 2, "the elements of dropout"),
    "all dropped": (
        lambda x: dropout(x, 1.0, training=True) + x,
        "the elements of dropout",
    ),
    "randn": (lambda x: x @ drawn(FEATURES, 2), "the numbers of randn"),
    "rand_like": (lambda x: x + torch.rand_like(x), "the numbers of rand_like"),
    "gumbel_softmax": (lambda x: gumbel_softmax(x), "the numbers of exponential"),
    "noise in place": (lambda x: x + torch.empty(4).normal_(), "the numbers of normal"),
    "bernoulli": (lambda x: x * torch.bernoulli(torch.sigmoid(x)), "the numbers of bernoulli"),
    "a permutation": (lambda x: x[torch.randperm(NODES)] * 2, "the numbers of randperm"),
    "two draws": (lambda x: x * drawn(4) + drawn(4), "the numbers of randn"),
}


@pytest.mark.parametrize("name", DRAWING)
def test_draws_are_those_of_the_seed_and_said(name: str) -> None:
    forward, held = DRAWING[name]
    state = torch.random.get_rng_state()
    imported = fl.from_torch(Module(forward), (X,), infer_density=None, seed=3)
    assert torch.equal(state, torch.random.get_rng_state()), "the generator stays as it was"
    assert imported.check().ok
    assert any(
        note.startswith(f"held in every run as the example inputs and seed 3 have it: {held}")
        for note in imported.notes
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        own = forward(X)
    assert torch.allclose(torch.tensor(imported.expected[0]).float(), own)
    if name == "bernoulli":  # whose draws depend on the input
        with pytest.raises(fl.FuseloomError, match="or chooses other elements"):
            imported.bind(X * -1.5)
    else:
        assert imported.bind(X * 1.5).check().ok


def test_another_seed_draws_others() -> None:
    forward = DRAWING["randn"][0]
    a, b = (fl.from_torch(Module(forward), (X,), infer_density=None, seed=seed) for seed in (1, 2))
    assert not torch.equal(torch.tensor(a.expected[0]), torch.tensor(b.expected[0]))


@pytest.mark.parametrize("name", ["dropout", "randn", "rand_like", "gumbel_softmax"])
def test_draws_without_a_seed_are_refused(name: str) -> None:
    with pytest.raises(fl.FuseloomError):
        fl.from_torch(Module(DRAWING[name][0]), (X,))


def test_a_measure_that_is_drawn_around_computed_numbers_is_refused() -> None:
    """A constant would lose what the numbers depend on."""
    with pytest.raises(fl.FuseloomError, match="normal"):
        fl.from_torch(Module(lambda x: torch.normal(x, 1.0)), (X,), seed=0)
