"""Walking the traced graph: what is unused is left out, what is not finite refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import fuseloom as fl
from engine.errors import DataError
from tests.frontends.torch.support import imported, normal


def test_values_that_are_not_finite() -> None:
    with pytest.raises(DataError, match=r"finite"):
        imported(torch.relu, torch.tensor([1.0, float("nan")]))


def test_unused_parameters_and_dead_code_are_left_out() -> None:
    class Wasteful(nn.Linear):
        def forward(self, x: Any) -> Any:
            torch.exp(x @ self.weight.t())
            return torch.relu(x)

    result = fl.from_torch(Wasteful(3, 3), normal(2, 3))
    assert result.program.inputs == ("x",)
    assert len(result.program.statements) == 1
