"""Operations have the names of the parts of a module that carry them out."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

import fuseloom as fl
from fuseloom.frontends.torch.calls import called_parts
from tests.frontends.torch.support import normal


class Plain(nn.Module):
    """What ``torch.export`` traces."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.head = nn.Sequential(nn.Linear(4, 2), nn.Softmax(1))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


class Graph(nn.Module):
    """What is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(4, 8), GCNConv(8, 3)

    def forward(self, x: Any, edges: Any) -> Any:
        return self.second(torch.relu(self.first(x, edges)), edges)


EDGES = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 2]])


def test_parts_of_an_exported_module() -> None:
    imported = fl.from_torch(Plain(), normal(3, 4))
    assert [kernel.label for kernel in imported.kernels] == [
        "layers.0: linear", "relu", "layers.1: linear", "relu", "head.0: linear", "head.1: softmax",
    ]  # fmt: skip


def test_parts_of_a_recorded_module() -> None:
    imported = fl.from_torch(Graph(), (normal(3, 4), EDGES))
    labels = [kernel.label for kernel in imported.kernels]
    assert [label.partition(":")[0].partition(".")[0] for label in labels] == [
        *(["first"] * 3), "relu", *(["second"] * 3),
    ]  # fmt: skip
    assert labels[0] == "first.lin: linear"
    assert labels[2] == "first: add"


def test_an_operation_made_of_others_keeps_its_part() -> None:
    imported = fl.from_torch(nn.Sequential(nn.Linear(4, 3), nn.Hardswish()), normal(2, 4))
    assert {kernel.module for kernel in imported.kernels} == {"0", "1"}


def test_a_part_that_is_used_twice_and_one_that_fails() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return self.layer(self.layer(x))

    kernels = fl.from_torch(Twice(), normal(3, 4)).kernels
    assert [kernel.module for kernel in kernels] == ["layer", "layer"]
    module = Twice()
    with called_parts(module) as called:
        with pytest.raises(RuntimeError):
            module(normal(3, 5))
        assert called == []
    module(normal(3, 4))
    assert called == []


def test_parts_in_torchscript() -> None:
    scripted = torch.jit.script(nn.Linear(4, 3))
    with called_parts(nn.Sequential(scripted)) as called:
        assert scripted(normal(2, 4)).shape == (2, 3)
        assert called == []
