"""Refusals name the operation, the line and a way out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

import fuseloom as fl
from engine.errors import ProgramError
from tests.frontends.torch.support import imported, normal


class Sine(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.relu(torch.sin(x))  # two lines, so that the place is not that of the function


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "conv": (lambda x: F.conv1d(x[None], x[None, :, :3]), r"aten\.conv1d.*nn\.Linear"),
    "sort": (lambda x: x.sort().values, r"aten\.sort.*mask"),
    "topk": (lambda x: x.topk(2).values, r"aten\.topk.*mask given as input"),
    "cumsum": (lambda x: x.cumsum(1), r"aten\.cumsum.*triangular"),
    "prod": (lambda x: x.prod(1), r"aten\.prod.*logarithms"),
    "cos": (lambda x: torch.cos(x), r"aten\.cos.*outside"),
    "sinh": (lambda x: torch.sinh(x), r"aten\.sinh.*"),
    "log1p": (lambda x: torch.log1p(x), r"aten\.log1p.*nearest supported: log"),
    "computed mask": (lambda x: x.masked_fill(x.relu() > 1, 0.0), "from computed values.*inputs"),
    "argmax": (lambda x: x.relu().argmax(1), "aten.argmax.*from computed values|argmax outside"),
    "odd power": (lambda x: x.abs() ** 1.5, r"exponent 1\.5.*exp\(p \* log\(x\)\)"),
    "diagonal": (lambda x: torch.einsum("ii->i", x[:, :4]), "index twice.*identity matrix"),
    "rounding": (lambda x: torch.div(x, 2, rounding_mode="floor"), "rounds.*without rounding"),
    "norm of order 1": (lambda x: x.norm(p=1, dim=1), "order 1.*order 2"),
    "indices of a maximum": (lambda x: x.relu().max(1).indices.float(), "max|argmax"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_operation_and_a_way_out(name: str) -> None:
    function, message = REFUSED[name]
    with pytest.raises(ProgramError, match=message) as caught:
        imported(function, normal(4, 5))
    assert "support.py:" in str(caught.value)
    assert caught.value.hint


def test_a_refusal_names_the_line_of_the_users_module() -> None:
    module = nn.Sequential(nn.Linear(3, 3), Sine())
    lines, first = inspect.getsourcelines(Sine)
    line = first + next(n for n, text in enumerate(lines) if "torch.sin" in text)
    with pytest.raises(ProgramError) as caught:
        fl.from_torch(module, normal(2, 3))
    text = str(caught.value)
    assert "aten.sin.default is not supported" in text
    here = Path(__file__).name
    assert f"{here}:{line}" in text or f"{here}:{line - 1}" in text
    assert "(hint: compute it outside" in text


def test_a_cell_of_a_notebook_is_called_as_the_notebook_calls_it() -> None:
    shell = InteractiveShell()
    shell.run_cell("import fuseloom as fl\nimport torch\nx = torch.ones(2, 3)", store_history=True)
    shell.run_cell(
        "class Sum(torch.nn.Module):\n    def forward(self, x):\n        return x.cumsum(1)\n"
        "def refused():\n    try:\n        fl.from_torch(Sum(), x)\n"
        "    except fl.FuseloomError as problem:\n        return str(problem)",
        store_history=True,
    )
    with patch("IPython.get_ipython", return_value=shell):
        said = shell.user_ns["refused"]()
    assert "not supported, at In[2], line 3 (`return x.cumsum(1)`)" in said
