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
from fuseloom.errors import ProgramError
from tests.frontends.torch.support import imported, normal


class LogGamma(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.relu(torch.lgamma(x))  # two lines: the place is not that of the function


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "mode": (lambda x: x.mode(1).values, r"aten\.mode.*mask or by indices"),
    "many to sort": (lambda x: torch.cat([x] * 30, 1).sort(1)[0], "150 elements.*the order as"),
    "running maximum": (lambda x: x.cummax(1).values, r"aten\.cummax.*no running maximum"),
    "lgamma": (lambda x: torch.lgamma(x), r"aten\.lgamma.*no counterpart.*beforehand"),
    "fourier": (lambda x: torch.fft.rfft(x.relu()).real, r"aten\.fft_rfft.*matrix of cosines"),
    "bessel": (lambda x: torch.special.i0(x), r"special_i0.*there is no counterpart for it"),
    "inverse": (lambda x: torch.linalg.inv(x[:, :4].relu()), r"linalg_inv.*inverse or the factors"),
    "factors": (lambda x: torch.linalg.qr(x).R, r"linalg_qr.*inverse or the factors"),
    "noise in place": (lambda x: x + torch.empty(4, 5).cauchy_(), r"cauchy.*draw random numbers"),
    "random numbers": (lambda x: x + torch.randn_like(x), r"aten\.randn_like.*draw random numbers"),
    "noise": (lambda x: x + torch.randn(4, 5), r"aten\.randn.*draw random numbers"),
    "dropout that trains": (lambda x: F.dropout(x, 0.5, True), "dropout that trains.*eval"),
    "of channels": (lambda x: F.feature_alpha_dropout(x.relu(), 0.5, True), "trains.*eval|alpha"),
    "norm of order -1": (lambda x: x.norm(p=-1, dim=1), "order -1.*orders from 0 to infinity"),
    "a dimension of a scalar": (lambda x: x.sum().softmax(0), r"a scalar.*x\.reshape\(1\)"),
}  # fmt: skip


def test_hints_are_about_operations_without_a_translation() -> None:
    from fuseloom.frontends.torch.frontend import HANDLERS
    from fuseloom.frontends.torch.messages import HINTS
    from fuseloom.frontends.torch.views import VIEWS

    assert not set(HINTS) & {*HANDLERS, *VIEWS} - {"dropout"}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_operation_and_a_way_out(name: str) -> None:
    function, message = REFUSED[name]
    with pytest.raises(ProgramError, match=message) as caught:
        imported(function, normal(4, 5))
    assert "support.py:" in str(caught.value)
    assert caught.value.hint


def test_a_refusal_names_the_line_of_the_users_module() -> None:
    module = nn.Sequential(nn.Linear(3, 3), LogGamma())
    lines, first = inspect.getsourcelines(LogGamma)
    line = first + next(n for n, text in enumerate(lines) if "torch.lgamma" in text)
    with pytest.raises(ProgramError) as caught:
        fl.from_torch(module, normal(2, 3))
    text = str(caught.value)
    assert "aten.lgamma.default is not supported" in text
    here = Path(__file__).name
    assert f"{here}:{line}" in text or f"{here}:{line - 1}" in text
    assert "(hint: it has no counterpart on the machine" in text


def test_a_cell_of_a_notebook_is_called_as_the_notebook_calls_it() -> None:
    shell = InteractiveShell()
    shell.run_cell("import fuseloom as fl\nimport torch\nx = torch.ones(2, 3)", store_history=True)
    shell.run_cell(
        "class Sum(torch.nn.Module):\n    def forward(self, x):\n        return x.lgamma()\n"
        "def refused():\n    try:\n        fl.from_torch(Sum(), x)\n"
        "    except fl.FuseloomError as problem:\n        return str(problem)",
        store_history=True,
    )
    with patch("IPython.get_ipython", return_value=shell):
        said = shell.user_ns["refused"]()
    assert "not supported, at In[2], line 3 (`return x.lgamma()`)" in said
