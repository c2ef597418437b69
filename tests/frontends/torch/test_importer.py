"""Walking the traced graph: what is unused is left out, what is not finite refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import fuseloom as fl
from fuseloom.errors import DataError
from tests.frontends.torch.support import agrees, imported, normal


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


class Rotary(nn.Module):
    """Positions turned by angles that follow from a buffer of frequencies."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("frequency", 1.0 / 100.0 ** (torch.arange(0, width, 2) / width))

    def forward(self, x: Any) -> Any:
        places = torch.arange(x.shape[-2], device=x.device)[None, :, None].float()
        angles = (places @ self.frequency[None, None, :].float()).repeat(1, 1, 2)
        turned = torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), dim=-1)
        return x * angles.cos() + turned * angles.sin()


class SelfPruned(nn.Linear):
    """A linear layer that masks its smallest weights, and sorts its bias."""

    def forward(self, x: Any) -> Any:
        weight = self.weight * (self.weight.abs() > 0.3)
        return x @ weight.t() + self.bias.sort().values


@pytest.mark.parametrize("module", [Rotary(4), SelfPruned(4, 5)])
def test_what_follows_from_parameters_alone_may_be_anything(module: nn.Module) -> None:
    result = agrees(module, (normal(1, 3, 4),))
    other = result.bind(normal(1, 3, 4, seed=8))
    assert other.check().ok


def test_what_parameters_are_multiplied_by_is_computed_beforehand_and_said_to_be() -> None:
    class Halved(nn.Linear):
        def forward(self, x: Any) -> Any:
            return x @ (self.weight * 0.5).t()

    result = fl.from_torch(Halved(3, 3), normal(2, 3))
    assert len(result.program.statements) == 1
    (note,) = result.notes
    assert note.startswith("mul: aten.mul.Tensor of weight, computed beforehand, at ")
