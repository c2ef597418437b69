"""Modules of PyTorch through every system, by the importer."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.comparison.rows import FusionSystem

torch = pytest.importorskip("torch")
nn = torch.nn
DENSE = frozenset(FusionSystem) - {FusionSystem.CONTRACTION}

MODULES = {
    "product": (lambda: nn.Linear(12, 6, bias=False), (8, 12), frozenset(FusionSystem)),
    "multi-layer perceptron": (
        lambda: nn.Sequential(nn.Linear(12, 16), nn.GELU(), nn.Linear(16, 6)), (8, 12), DENSE,
    ),
    "softmax": (lambda: nn.Sequential(nn.Linear(12, 6), nn.Softmax(-1)), (8, 12), DENSE),
    "convolution": (
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.MaxPool2d(2)), (1, 2, 8, 8), DENSE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_a_module_reaches_the_systems_whose_rules_allow_it(name):
    make, shape, systems = MODULES[name]
    torch.manual_seed(3)
    imported = fl.from_torch(make().eval(), torch.randn(*shape))
    assert imported.check().ok
    made = fl.compare(imported.program, imported.data, seconds=0.5, rounds=1, array=(8, 8))
    assert made.ok
    assert {row.system for row in made.rows if row.applies} == systems
    refused = [row for row in made.rows if not row.applies]
    assert all(row.reason for row in refused)
    assert all(row.max_rel_error is not None for row in made.rows if row.applies)
