"""Operations in parts, and what of a module is computed beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import fuseloom as fl
from fuseloom.errors import ProgramError
from tests.frontends.torch.support import agrees, imported, normal

PARTS: dict[str, tuple[Callable[..., Any], int]] = {
    "tensordot": (lambda x, y: torch.tensordot(x, y, dims=([1], [1])), 1),
    "kron": (torch.kron, 1),
    "diag": (lambda x, y: torch.diag(x[0]) @ y.t(), 1),  # in parts that have parts
    "pairwise distance": (F.pairwise_distance, 1),
    "hinge": (lambda x, y: F.hinge_embedding_loss(x, torch.ones(3, 4)) + y.sum(), 2),
    "pixels": (lambda x, y: F.pixel_unshuffle((x @ y.t() @ x).view(1, 1, 2, 6), 2), 1),
}


@pytest.mark.parametrize("name", PARTS)
def test_operations_in_parts(name: str) -> None:
    agrees(PARTS[name][0], (normal(3, 4), normal(3, 4, seed=1)), fused="layers")


def test_parts_have_the_place_of_the_operation() -> None:
    made = imported(lambda x: F.pairwise_distance(x, 2 * x), normal(3, 4))
    assert all("support.py" in kernel.place for kernel in made.kernels)


def test_an_operation_whose_parts_are_not_there_is_refused_by_its_name() -> None:
    with pytest.raises(ProgramError, match=r"aten\.cov\.default is not supported"):
        imported(torch.cov, normal(3, 4))


class Waves(nn.Module):
    """Angles of places, by frequencies that are a buffer or a parameter."""

    def __init__(self, learned: bool) -> None:
        super().__init__()
        self.frequencies: Any
        frequencies = torch.tensor([1.0, 0.1])
        if learned:
            self.frequencies = nn.Parameter(frequencies)
        else:
            self.register_buffer("frequencies", frequencies)

    def forward(self, x: Any, places: Any) -> Any:
        angles = places[:, None].float() * self.frequencies
        return x * torch.cat([angles.cos(), angles.sin()], -1)


def test_angles_of_given_places_are_computed_beforehand_and_said_to_be() -> None:
    given = (normal(3, 4), torch.tensor([0, 1, 5]))
    made = agrees(Waves(False), given)
    assert any("aten.cat.default of places, frequencies" in note for note in made.notes)
    assert any("computed beforehand, at" in note for note in made.notes)
    assert made.bind(normal(3, 4), torch.tensor([7, 2, 0])).check().ok
    assert "computed beforehand" in made._repr_html_()


def test_what_follows_from_parameters_alone_is_computed_beforehand() -> None:
    module = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    made = agrees(module, (normal(4, 3),))
    assert len(made.program.statements) == 2
    assert len(made.notes) == 1


def test_numbers_of_the_user_are_not_computed_beforehand() -> None:
    with pytest.raises(ProgramError, match=r"aten\.lgamma\.default is not supported"):
        imported(torch.lgamma, normal(3))
    with pytest.raises(ProgramError, match=r"aten\.fft_fft\.default is not supported.*cosines"):
        imported(lambda x: torch.fft.fft(x).real, normal(4))


@pytest.mark.parametrize("few", [torch.bfloat16, torch.float16])
def test_a_module_in_fewer_bits_is_compared_with_its_own_rounding(few: Any) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 6), nn.Softmax(-1), nn.Linear(6, 3)).to(few)
    made = fl.from_torch(module, normal(5, 4).to(few))
    agreement = made.check()
    assert agreement.ok
    assert 0 < agreement.rounding < 0.02
    assert "of the module's own rounding" in str(agreement)
    assert not made.check(tolerance=-1).ok
    other = made.bind(normal(5, 4, seed=3).to(few))
    assert other.check().ok
    assert other.rounding != made.rounding
    assert fl.from_torch(nn.Linear(2, 2), normal(3, 2)).rounding == ()
