"""Tracing a module."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.program import evaluate
from tests.frontends.torch.families.measure import problems
from tests.frontends.torch.support import Module, imported, normal


def test_a_module_that_cannot_be_traced() -> None:
    def branching(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    with pytest.raises(
        ProgramError, match=r"branches on values that it computes, at .*test_capture"
    ):
        imported(branching, normal(3))


def test_without_pytorch(tmp_path: Any) -> None:
    """The engine imports, and from_torch says how to install what it lacks."""
    (tmp_path / "torch.py").write_text("raise ImportError('no such thing')\n")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import fuseloom as fl\n"
        "try:\n    fl.from_torch(None, ())\n"
        "except fl.FuseloomError as problem:\n    print(problem)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "not installed" in run.stdout
    assert "pip install 'fuseloom[torch]'" in run.stdout


def test_the_modules_mode_is_restored() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.9)).train()
    module[0].eval()
    result = fl.from_torch(module, normal(2, 3))
    assert [part.training for part in module.modules()] == [True, False, True]
    assert result.check().ok
    assert len(result.program.statements) == 2


class Cache:
    """A class that only its module knows."""

    def __init__(self, *kept: Any) -> None:
        self.kept = kept


class Remembering(nn.Linear):
    def forward(self, x: Any) -> Any:
        made = super().forward(x)
        return {"state": made, "cache": Cache(x, made), "none": None, "kept": made.relu()}


def test_what_is_returned_besides_tensors_is_left_out() -> None:
    result = fl.from_torch(Remembering(3, 2), normal(4, 3))
    assert [o.shape for o in result.outputs] == [(4, 2), (4, 2)]
    assert result.check().ok
    assert {"weight", "bias", "x"} <= set(result.program.inputs)
    assert result.bind(normal(4, 3, seed=9)).check().ok


def test_a_module_is_left_without_hooks() -> None:
    module = Remembering(3, 2)
    fl.from_torch(module, normal(4, 3))
    assert not module._forward_hooks


LINEAR = nn.Linear(3, 4)


def under_no_autocast(x: Any) -> Any:
    with torch.autocast("cpu", enabled=False):
        return LINEAR(x).relu()


def under_autocast(x: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return LINEAR(x).float() * 2


def without_gradients(x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
    return LINEAR(y)


OWN_GRAPHS: dict[str, Any] = {
    "without autocast": under_no_autocast,
    "autocast": under_autocast,
    "no_grad": without_gradients,
    "checkpoint": lambda x: checkpoint(LINEAR, x, use_reentrant=False),
    "vmap": torch.vmap(lambda v: v.softmax(-1)),
    "vmap of a layer": torch.vmap(LINEAR),
    "half": lambda x: (x.half() @ x.t().half()).float().relu(),
}


@pytest.mark.parametrize("name", OWN_GRAPHS)
def test_what_pytorch_keeps_in_graphs_of_its_own(name: str) -> None:
    assert problems(fl.from_torch(Module(OWN_GRAPHS[name]), (normal(4, 3),))) == []


def test_what_is_computed_in_fewer_bits_is_compared_with_their_rounding() -> None:
    made = fl.from_torch(Module(under_autocast), (normal(4, 3),))
    assert made.check().ok
    assert 1e-4 < made.check().rounding < 0.02
    assert made.bind(normal(4, 3, seed=1)).check().ok
    wrong = {name: replace(t, values=t.values * 1.1) for name, t in made.data.items()}
    assert not made.check(evaluate(made.program, wrong)).ok


def test_a_choice_by_values_is_refused_where_it_is_made() -> None:
    def choosing(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y * 3, (x,))

    with pytest.raises(ProgramError, match=r"cond chooses by values.*support\.py:") as caught:
        imported(choosing, normal(3))
    assert "torch.where" in str(caught.value.hint)
