"""Modules imported with the formats that their inputs and weights call for."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

import fuseloom as fl
from fuseloom.errors import FuseloomError
from fuseloom.frontends.torch import ImportedModule


def cycles(imported: ImportedModule, preset: str) -> int:
    compiled = fl.compile(imported.program, imported.presets[preset], imported.data)
    run = fl.simulate(compiled, imported.data)
    assert imported.check(run.outputs).ok
    return run.cycles


class Pruned(nn.Module):
    def __init__(self, share: float = 0.9) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(32, 48), nn.Linear(48, 16)
        for layer in (self.first, self.second):
            prune.l1_unstructured(layer, "weight", amount=share)

    def forward(self, x: Any) -> Any:
        return self.second(torch.relu(self.first(x)))


class TwoOfFour(nn.Module):
    """Of each four weights two are 0."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        weight = torch.randn(32, 64)
        small = weight.reshape(-1, 4).abs().argsort(dim=1)[:, :2]
        weight.reshape(-1, 4).scatter_(1, small, 0.0)
        self.weight = nn.Parameter(weight)

    def forward(self, x: Any) -> Any:
        return nn.functional.linear(x, self.weight)


def inputs(rows: int = 20, columns: int = 32, density: float = 1.0) -> Any:
    torch.manual_seed(1)
    return torch.randn(rows, columns) * (torch.rand(rows, columns) < density)


@pytest.mark.parametrize("preset", ["unfused", "layers"])
def test_pruned_weights_are_stored_compressed(preset: str) -> None:
    chosen, plain = (fl.from_torch(Pruned(), inputs(), infer_density=d) for d in (0.5, 0.0))
    by_hand = fl.from_torch(Pruned(), inputs(), {"mul": "csc", "mul_1": "csc"}, infer_density=0.0)
    assert cycles(chosen, preset) <= 1.05 * cycles(by_hand, preset)
    assert cycles(chosen, preset) < cycles(plain, preset) / 3
    said = [note for note in chosen.notes if "is stored" in note]
    assert len(said) == 2
    assert all("10.0" in note and "by the estimate" in note for note in said)


def test_two_of_four() -> None:
    imported = fl.from_torch(TwoOfFour(), inputs(columns=64))
    assert not imported.program.tensor("weight").format.all_dense
    assert cycles(imported, "unfused") < cycles(
        fl.from_torch(TwoOfFour(), inputs(columns=64), infer_density=None), "unfused"
    )


def test_sparse_inputs_of_dense_layout() -> None:
    imported = fl.from_torch(nn.Linear(64, 16), inputs(40, 64, 0.03))
    assert not imported.program.tensor("input").format.all_dense
    assert imported.program.tensor("weight").format.all_dense
    other = imported.bind(inputs(40, 64, 0.5))
    assert other.check().ok


def test_formats_that_are_given_are_kept() -> None:
    module = Pruned()
    for layer in (module.first, module.second):
        prune.remove(layer, "weight")
    chosen = fl.from_torch(module, inputs()).program
    assert not chosen.tensor("first_weight").format.all_dense
    formats = {"first.weight": "dense", "second.weight": "dcsr"}
    program = fl.from_torch(module, inputs(), formats).program
    assert program.tensor("first_weight").format.all_dense
    assert "second_weight: 16x48 dcsr" in str(program)
    sparse = inputs(20, 32, 0.1).to_sparse_csr()
    assert "x: 20x32 csr" in str(fl.from_torch(Pruned(), sparse).program)


class Exponential(nn.Module):
    """Elements that are 0 count: exp(0) is 1."""

    def forward(self, x: Any, y: Any) -> Any:
        return torch.softmax(x, 1) @ torch.exp(y)


def test_functions_of_zeros_stay_right() -> None:
    imported = fl.from_torch(Exponential(), (inputs(20, 32, 0.1), inputs(32, 12, 0.1)))
    assert imported.check().ok
    cycles(imported, "full")


def test_dense_modules_are_imported_as_before() -> None:
    module = nn.Sequential(nn.Linear(32, 16), nn.ReLU())
    chosen, plain = (fl.from_torch(module, inputs(), infer_density=d) for d in (0.5, None))
    assert chosen.program == plain.program
    assert chosen.notes == plain.notes


@pytest.mark.parametrize("density", [-0.1, 1.5, float("nan"), "half"])
def test_a_density_that_is_no_share(density: Any) -> None:
    with pytest.raises(FuseloomError):
        fl.from_torch(nn.Linear(4, 2), torch.ones(3, 4), infer_density=density)


def test_the_best_schedule_of_a_module() -> None:
    imported = fl.from_torch(Pruned(), inputs())
    found = imported.best(time_limit=10)
    run = fl.simulate(found.compilation, imported.data)
    assert imported.check(run.outputs).ok
    assert run.cycles == found.cycles
    assert [preset.name for preset in found.presets] == [*imported.presets]
    assert found.cycles <= 1.05 * min(cycles(imported, p) for p in ("unfused", "layers"))
