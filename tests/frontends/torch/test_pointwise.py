"""Functions with steps, and waves, against PyTorch itself: away from steps, and on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import fuseloom as fl
from fuseloom.errors import ProgramError
from tests.frontends.torch.support import agrees, imported, normal, sparse

DIVISORS = torch.tensor([2.0, -3.0, 0.5, 4.0])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "floor": torch.floor,
    "ceil": torch.ceil,
    "trunc": torch.trunc,
    "round": torch.round,
    "frac": torch.frac,
    "sign": torch.sign,
    "sgn": torch.sgn,
    "fix": torch.fix,
    "divided and rounded down": lambda x: torch.div(x, DIVISORS, rounding_mode="floor"),
    "divided and cut off": lambda x: torch.div(x, 0.75, rounding_mode="trunc"),
    "floor divide": lambda x: x // 0.75,
    "remainder": lambda x: x % DIVISORS,
    "fmod": lambda x: torch.fmod(x, 0.75),
    "hardshrink": lambda x: F.hardshrink(x, 0.3),
    "threshold": lambda x: F.threshold(x, 0.1, -2.0),
    "rrelu": lambda x: F.rrelu(x, training=False),
    "quantised": lambda x: torch.round(x / 0.25).clamp(-8, 7) * 0.25,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": lambda x: torch.tan(x / 4),
    "erf": torch.erf,
    "erfc": torch.erfc,
    "atan": torch.atan,
    "asin": lambda x: torch.asin(x.sin()),
    "acos": lambda x: torch.acos(x.cos() * 0.9),
    "asinh": torch.asinh,
    "acosh": lambda x: torch.acosh(x.abs() + 1.5),
    "atanh": lambda x: torch.atanh(x.tanh() * 0.9),
    "atan2": lambda x: torch.atan2(x.abs(), DIVISORS),  # of -0, which no format keeps, it is -π
    "arctan2 of the other side": lambda x: torch.arctan2(DIVISORS, x + 0.25),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function = FUNCTIONS[name]
    agrees(lambda x: function(3 * x), (normal(5, 4),), fused="layers")
    agrees(lambda x: function(3 * x), (sparse(5, 4),), {"x_0": "dcsr"}, fused="kernels")


@pytest.mark.parametrize(
    "name",
    ["floor", "ceil", "trunc", "round", "frac", "sign", "floor divide", "fmod", "threshold"],
)
def test_on_the_steps_themselves(name: str) -> None:
    halves = torch.arange(-6, 6).reshape(3, 4) / 2.0
    agrees(FUNCTIONS[name], (halves,), fused="full")


def test_angles_of_every_direction() -> None:
    """On the axes and at the origin, too."""
    side = torch.tensor([-2.0, -1.0, 0.0, 0.5, 3.0])
    y, x = (t.contiguous() for t in torch.meshgrid(side, side, indexing="ij"))
    agrees(torch.atan2, (y, x), fused="full")


def test_the_ends_of_what_has_an_arc() -> None:
    ends = torch.tensor([-1.0, -0.999, 0.0, 1e-4, 0.999, 1.0])
    agrees(torch.asin, (ends,))
    agrees(torch.acos, (ends,))
    agrees(torch.acosh, (ends + 2.0,))
    agrees(torch.asinh, (ends * 1e4,))


def test_a_wave_after_a_layer() -> None:
    torch.manual_seed(0)
    first, second = torch.nn.Linear(4, 6), torch.nn.Linear(6, 1)
    agrees(lambda x: second(torch.sin(3 * first(x))), (normal(5, 4),))


def test_what_keeps_zero_keeps_a_sparse_result() -> None:
    for function in (torch.floor, torch.sin, torch.log1p, torch.sign):
        made = imported(lambda x, f=function: f(x), sparse(5, 4).abs(), formats={"x_0": "dcsr"})
        (statement,) = made.program.statements
        assert len(statement.operands) == 1, made.program
        run = fl.simulate(fl.compile(made.program), made.data)
        assert next(iter(run.results.values())).nnz == made.data["x_0"].nnz


def test_rrelu_that_trains_is_refused() -> None:
    with pytest.raises(ProgramError, match="rrelu"):
        imported(lambda x: F.rrelu(x.relu(), training=True), normal(3, 4))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x / 0.0,
        lambda x: x // 0.0,
        lambda x: torch.div(x, 0.0, rounding_mode="trunc"),
        lambda x: torch.addcdiv(x, x, torch.zeros(4)),
        lambda x: torch.addcdiv(x, x, torch.zeros_like(x), value=-2.0),
    ],
)
def test_what_is_divided_by_the_number_zero_is_infinite(function: Callable[[Any], Any]) -> None:
    x = normal(3, 4).abs() + 0.5
    made = imported(function, x)
    (result,) = fl.simulate(fl.compile(made.program), made.data).results.values()
    assert (result.to_dense() == function(x).numpy()).all()
    assert abs(result.to_dense()).min() == float("inf")
