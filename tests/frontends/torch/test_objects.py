"""Objects that hold tensors, as inputs: what they hold is data, and none of it a constant."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
import torch_geometric

import fuseloom as fl
from fuseloom.errors import DataError


@dataclass
class Pair:
    x: Any
    scale: Any


@dataclass(frozen=True)
class Frozen:
    x: Any
    scale: Any


@dataclass
class Nested:
    pair: Pair
    name: str = "nested"


class Named(NamedTuple):
    x: Any
    scale: Any


class Own:
    def __init__(self, x, scale):
        self.x = x
        self.scale = scale


class Slotted:
    __slots__ = ("scale", "x")

    def __init__(self, x, scale):
        self.x = x
        self.scale = scale


class Layer(torch.nn.Module):
    """A layer of what an object holds, however it holds it."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, batch):
        if isinstance(batch, dict):
            return torch.relu(self.linear(batch["x"])) * batch["scale"]
        pair = getattr(batch, "pair", batch)
        return torch.relu(self.linear(pair.x)) * pair.scale


def held(seed: int):
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(5, 4, generator=chance), torch.randn(3, generator=chance)


TUPLE = ("namedtuple", True)
"""A tuple that is given alone is all arguments of ``forward``."""
KINDS = {
    "dataclass": lambda x, s: Pair(x, s),
    "frozen dataclass": lambda x, s: Frozen(x, s),
    "nested": lambda x, s: Nested(Pair(x, s)),
    "namedtuple": lambda x, s: Named(x, s),
    "namespace": lambda x, s: SimpleNamespace(x=x, scale=s),
    "slots": lambda x, s: Slotted(x, s),
    "class": lambda x, s: Own(x, s),
    "dictionary": lambda x, s: {"x": x, "scale": s},
}


CASES = [(kind, bare) for kind in KINDS for bare in (False, True) if (kind, bare) != TUPLE]


@pytest.mark.parametrize(("kind", "bare"), CASES)
def test_what_an_object_holds_is_an_input(kind, bare):
    module, make = Layer(), KINDS[kind]
    given = make(*held(0))
    imported = fl.from_torch(module, given if bare else (given,))
    assert len(imported.program.given) == 4
    assert imported.check().ok
    other = imported.bind(make(*held(1)))
    assert other.check().ok
    assert not (other.expected[0] == imported.expected[0]).all()


def test_inputs_are_called_as_their_attributes():
    imported = fl.from_torch(Layer(), (Nested(Pair(*held(0))),), formats={"batch_pair_x": "csr"})
    assert {"batch_pair_x", "batch_pair_scale"} <= set(imported.program.given)


class Sum(torch.nn.Module):
    def forward(self, given):
        return sum(next(iter(given), given))


@pytest.mark.parametrize("make", [lambda s: s, lambda s: [s], lambda s: SimpleNamespace(s=s)])
def test_tensors_that_cannot_be_told_apart_are_refused(make):
    given = make({torch.ones(2), torch.zeros(2)})
    with pytest.raises(DataError, match="holds tensors where they cannot be told apart"):
        fl.from_torch(Sum(), (given,))


def test_objects_without_tensors_are_left_alone():
    class Scaled(torch.nn.Module):
        def forward(self, x, options):
            return x * options.factor

    imported = fl.from_torch(Scaled(), (torch.ones(2, 3), SimpleNamespace(factor=2.0)))
    assert imported.check().ok


class TestGraphs:
    """The form of most tutorials: ``forward(self, data)``."""

    @pytest.fixture
    def geometric(self):
        return torch_geometric

    @staticmethod
    def graph(geometric, seed: int):
        chance = torch.Generator().manual_seed(seed)
        edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        x = torch.randn(4, 5, generator=chance)
        return geometric.data.Data(x=x, edge_index=edges, y=torch.tensor([0, 1, 0, 1]))

    @pytest.mark.parametrize("bare", [False, True])
    def test_a_graph_is_an_input(self, geometric, bare):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = geometric.nn.GCNConv(5, 3)

            def forward(self, data):
                return torch.relu(self.conv(data.x, data.edge_index))

        module, data = Net(), self.graph(geometric, 0)
        imported = fl.from_torch(module, data if bare else (data,))
        assert "data_x" in imported.program.given
        assert imported.check().ok
        assert imported.bind(self.graph(geometric, 1)).check().ok
        run = fl.simulate(fl.compile(imported.program), imported.data)
        assert imported.check(run.outputs).ok

    def test_kinds_of_nodes_are_told_apart(self, geometric):
        data = geometric.data.HeteroData()
        data["paper"].x = torch.randn(3, 4)
        data["author"].x = torch.randn(2, 4)
        edges = torch.tensor([[0, 1, 1], [0, 1, 2]])
        data["author", "writes", "paper"].edge_index = edges

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = geometric.nn.SAGEConv((4, 4), 3)

            def forward(self, data):
                x = data.x_dict
                return self.conv((x["author"], x["paper"]), data["author", "paper"].edge_index)

        imported = fl.from_torch(Net(), (data,))
        assert {"data_paper_x", "data_author_x"} <= set(imported.program.given)
        assert imported.check().ok
