"""Integers that a program computes are few digits long, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.errors import ProgramError
from tests.frontends.torch.support import Module, imported, normal

X = normal(4, 5)
EXACT: dict[str, Callable[[Any], Any]] = {
    "just": lambda x: (2 * x).argmax(1) * 700_000,
    "known ones beside": lambda x: (2 * x).argmax(1) + torch.tensor([3, 1 << 20, 0, 7]),
    "cut off": lambda x: (x * 3).long(),
    "bits": lambda x: (x * 3).bool().long().sum() * (1 << 18),
    "sums": lambda x: (2 * x).argsort(1).cumsum(1).sum(),
}
TOO_LARGE: dict[str, Callable[[Any], Any]] = {
    "a product": lambda x: (2 * x).argmax(1) * 1_000_000,
    "products": lambda x: (2 * x).argmax(1) * 2000 * 2000,
    "a known one": lambda x: (2 * x).argmax(1) + torch.tensor([1 << 24, 1, 0, 7]),
    "a sum": lambda x: ((2 * x).argmax(1) * 400_000).sum(),
    "a square": lambda x: ((2 * x).argmax(1) * 1000) * ((2 * x).argmin(1) * 1000),
    "what nobody bounds": lambda x: (x * 3).int() * 2,
    "a number written": lambda x: (2 * x > 0).long().masked_fill(x > 1, 1 << 25),
    "a factor of a sum": lambda x: torch.add((2 * x).argmax(1), (x * 3).argmax(1), alpha=1 << 22),
    "a piece": lambda x: ((2 * x).argmax(1) * 700_000).chunk(2)[0] * 10,
    "sorted": lambda x: ((2 * x).argmax(1) * 700_000).sort()[0] * 10,
    "digits": lambda x: torch.bitwise_and((2 * x).argmax(1), 3),
}


@pytest.mark.parametrize("name", EXACT)
def test_up_to_what_float32_holds(name: str) -> None:
    made = fl.from_torch(Module(EXACT[name]), (X,))
    assert made.check(tolerance=0).ok
    run = fl.simulate(fl.compile(made.program), made.data)
    assert made.check(run.outputs, tolerance=0).ok


@pytest.mark.parametrize("name", TOO_LARGE)
def test_beyond_it_is_refused(name: str) -> None:
    with pytest.raises(ProgramError, match="makes a mask or an index from computed values"):
        imported(TOO_LARGE[name], X)
