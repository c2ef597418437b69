"""Memory that nothing was written to: who reads an element of it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.frontends.torch import tracing
from tests.frontends.torch.support import Module, imported, normal

X, OTHER = normal(4, 6), normal(4, 6, seed=3)


@pytest.fixture(params=["exported", "recorded"])
def traced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "recorded":
        monkeypatch.setattr(tracing, "export_suffices", lambda exported: False)
    return str(request.param)


def right(function: Callable[[Any], Any]) -> bool:
    """For these inputs, and for others."""
    made = fl.from_torch(Module(function), (X,))
    return made.check().ok and made.bind(OTHER).check().ok


def all_written(x: Any) -> Any:
    made = torch.empty(4, 6)
    made.t()[:3].copy_(x.t()[:3].exp())
    made[:, 3:].diagonal().fill_(1.0)
    made[:, 3:] = x[:, 3:]
    return made * 2


def partly_read(x: Any) -> Any:
    made = x.new_empty(4, 6)
    made[:, :2] = x[:, :2]
    return made[:, 1] + made.t()[0]


def known_at_first(x: Any) -> Any:
    made = torch.empty(3, 6)
    made[1] = 1
    made[::2].fill_(2.0)
    made[1].mul_(3)
    return made @ x.t()


def by_a_mask(x: Any) -> Any:
    made = torch.empty_like(x)
    low = torch.arange(4)[:, None].expand(4, 6) > 1
    made[low] = 0.5
    return torch.where(low, made, x)


def moved(x: Any) -> Any:
    made = torch.empty_strided((4, 2), (2, 1))
    made[:2], made[2:] = 1, x[2:, :2]
    return torch.cat([made, x[:, 2:]], 1).flip(0).reshape(2, 12)


def sizes_only(x: Any) -> Any:
    return x + torch.zeros_like(torch.empty(4, 6)) + torch.empty(4, 6).shape[0]


@pytest.mark.parametrize(
    "function", [all_written, partly_read, known_at_first, by_a_mask, moved, sizes_only]
)
def test_new_memory_that_is_written_before_it_is_read(
    function: Callable[[Any], Any], traced: str
) -> None:
    assert right(function)


UNWRITTEN: dict[str, Callable[[Any], Any]] = {
    "returned": lambda x: torch.empty(4, 6),
    "added": lambda x: x + torch.empty(4, 6),
    "like": lambda x: x + torch.empty_like(x),
    "half": lambda x: torch.empty(4, 6).index_fill(0, torch.tensor([0, 2]), 1.0) * x,
    "a view of it": lambda x: torch.empty(6, 4).t()[1:3] @ x.t(),
    "written later": lambda x: (lambda t: (t * x, t.fill_(1.0))[0])(torch.empty(4, 6)),
    "in place": lambda x: torch.empty(4, 6).add_(x),
    "integers": lambda x: x[torch.empty(2, dtype=torch.int64)],
    "joined": lambda x: torch.cat([x, torch.empty(1, 6)]),
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_memory_that_nothing_was_written_to_is_refused(name: str, traced: str) -> None:
    with pytest.raises(ProgramError, match="nothing was written to, at") as caught:
        imported(UNWRITTEN[name], X)
    assert "torch.zeros" in caught.value.hint
