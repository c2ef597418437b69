"""Parts that are assigned, as ``torch.export`` traces them and as they are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.frontends.torch import ImportedModule, tracing
from tests.frontends.torch.families.measure import problems
from tests.frontends.torch.support import Module, normal
from tests.tiers import counts

X, OTHER = normal(4, 3), normal(4, 3, seed=3)


def column(x: Any) -> Any:
    x = x.clone()
    x[:, 0] = 1.0
    return x


def rows_of_zeros(x: Any) -> Any:
    made = torch.zeros(4, 3)
    made[1:3] = x[1:3] @ x.t()[:, :3]
    return made * 2


def halves(x: Any) -> Any:
    made = torch.empty(4, 3)
    made[:2] = x[:2].exp()
    made[2:] = x[2:] * 2
    return made


def in_place(x: Any) -> Any:
    x = x * 2
    x[1:, 1].mul_(3)
    x[0] += 1
    return x


def a_view_that_stays(x: Any) -> Any:
    x = x * 2
    rest = x[1:]
    rest[0] = 7
    before = rest * 1
    rest.add_(1)
    return x + before.sum()


def nested(x: Any) -> Any:
    made = torch.zeros(2, 4, 3)
    made[0, 1:, :2] = x[1:, :2]
    made[1] = x.exp()
    return made


def every_other(x: Any) -> Any:
    x = x.clone()
    x[::2] = 0
    x[1] = x[2] + x[3]
    return x


def where_a_computed_mask_says(x: Any) -> Any:
    x = x * 2
    x[x < 0] = 0.5
    return x


ASSIGNED: dict[str, Callable[[Any], Any]] = {
    made.__name__: made
    for made in (
        *(column, rows_of_zeros, halves, in_place, a_view_that_stays, nested, every_other),
        where_a_computed_mask_says,
    )
}


@pytest.fixture(params=["exported", "recorded"])
def traced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "recorded":
        monkeypatch.setattr(tracing, "export_suffices", lambda exported: False)
    return str(request.param)


@pytest.mark.parametrize("name", ASSIGNED)
def test_parts(name: str, traced: str) -> None:
    made = fl.from_torch(Module(ASSIGNED[name]), (X,))
    assert problems(made, ["kernels"]) == []
    assert made.bind(OTHER).check().ok


def a_transposed_part(x: Any) -> Any:
    x = x * 2
    x.t()[0] = 5
    return x


def the_elements_in_order(x: Any) -> Any:
    x = x * 2
    x.view(-1)[2] = 5
    return x


def an_older_view(x: Any) -> Any:
    x = x * 1
    rest = x[1:3]
    x[2] = 4.0
    return x * 1 + rest.sum()


@pytest.mark.parametrize("function", [a_transposed_part, the_elements_in_order, an_older_view])
def test_other_views(function: Callable[[Any], Any], traced: str) -> None:
    made = fl.from_torch(Module(function), (X,))
    assert right(made)


def test_a_table_that_is_made_by_parts_is_known_beforehand(traced: str) -> None:
    def banded(x: Any) -> Any:
        band = torch.zeros(4, 4)
        band[0] = 1
        rest = band[1:]
        band.add_(1)
        return band @ x + rest.sum()

    made = fl.from_torch(Module(banded), (X,))
    assert right(made)


def right(made: ImportedModule) -> bool:
    """For these inputs, and for others."""
    return made.check().ok and made.bind(OTHER).check().ok


def random_assignments(seed: int) -> Callable[[Any], Any]:
    """A function that makes views and sets parts of them, at random, always the same."""
    rng = torch.Generator().manual_seed(seed)

    def pick(n: int) -> int:
        return int(torch.randint(n, (), generator=rng))

    plan: list[tuple[int, ...]] = [tuple(pick(1000) for _ in range(6)) for _ in range(2 + pick(5))]

    def function(x: Any) -> Any:
        held = [(x * 2, torch.zeros(4, 3), torch.ones(4, 3))[seed % 3]]
        for which, what, a, b, c, d in plan:
            base = held[which % len(held)]
            if base.dim() == 0:
                continue
            first = a % base.shape[0]
            last = first + 1 + b % (base.shape[0] - first)
            part = base[first] if c % 3 == 0 else base[first : last : 1 + c % 2]
            new = (x.sum(), 0.5, x[0, 0] * 2)[d % 3]
            match what % 4:
                case 0:
                    held.append(part)
                case 1:
                    part.add_(new)
                case 2:
                    base[first:last] = new
                case 3:
                    held.append(base * 1.5)
        return held[0] + sum(h.sum() for h in held[1:]) + 0 * x

    return function


@counts(small=6, deep=9, fuzz=24)
def test_random_assignments_are_right(count: int, traced: str) -> None:
    for seed in range(count):
        assert right(fl.from_torch(Module(random_assignments(seed)), (X,))), seed
