"""Modules with hooks, and inputs in objects, at random: an import agrees, or is refused."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import fuseloom as fl
from tests.frontends.torch.families.plain import PLAIN
from tests.frontends.torch.geometric import CASES, case

MODULES = [("plain", name) for name in PLAIN] + [("graph", name) for name in CASES]
EVERY = 5
"""Of so many modules, which come by families, one is in the deep tier: each is imported thrice."""


def made(family: str, name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """The module, in eval mode, and its inputs."""
    if family == "graph":
        return case(name)
    build, inputs = PLAIN[name]
    torch.manual_seed(0)
    return build().eval(), inputs


class Held(nn.Module):
    """A module whose inputs come in one object."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, data: Any) -> Any:
        return self.inner(*data.given)


def hooked(module: nn.Module, rng: random.Random) -> int:
    """Put hooks on some parts of a module; how many."""
    count = 0
    for part in module.modules():
        factor = rng.choice([0.5, 2.0, 3.0])

        def scale(*given: Any, factor: float = factor) -> Any:
            result = given[-1]
            held = isinstance(result, torch.Tensor) and result.is_floating_point()
            return result * factor if held and result.layout == torch.strided else None

        if rng.random() < 0.4:
            part.register_forward_hook(scale)
            count += 1
        for register in ("message", "aggregate"):
            name = f"register_{register}_forward_hook"
            if hasattr(part, name) and rng.random() < 0.5:
                getattr(part, name)(scale)
                count += 1
    return count


def outcome(module: nn.Module, inputs: tuple[Any, ...]) -> str:
    """``agrees``, or why it is refused; anything else fails."""
    try:
        imported = fl.from_torch(module, inputs)
    except fl.FuseloomError as reason:
        return f"refused: {type(reason).__name__}"
    agreement = imported.check()
    assert agreement.ok, agreement
    assert not imported.constant
    return "agrees"


@pytest.mark.parametrize(
    ("family", "name"),
    [
        pytest.param(*module, marks=[pytest.mark.fuzz] * (number % EVERY > 0))
        for number, module in enumerate(MODULES)
    ],
)
def test_hooks_and_objects_are_heard_or_refused(family: str, name: str) -> None:
    module, inputs = made(family, name)
    rng = random.Random(name)
    plain = outcome(module, inputs)
    hooked(module, rng)
    direct = outcome(module, inputs)
    assert direct == plain or direct.startswith("refused")
    assert outcome(Held(module), (SimpleNamespace(given=list(inputs)),)) == direct


def test_most_are_accepted_as_they_are() -> None:
    """Hooks and objects are no reason to refuse a module."""
    rng = random.Random(3)
    agreeing = 0
    chosen = rng.sample(MODULES, 20)
    for family, name in chosen:
        module, inputs = made(family, name)
        hooked(module, rng)
        agreeing += outcome(Held(module), (SimpleNamespace(given=list(inputs)),)) == "agrees"
    assert agreeing >= 0.8 * len(chosen)
