"""The parts of an imported program: outputs, agreement, kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import fuseloom as fl
from fuseloom.errors import DataError
from tests.frontends.torch.support import agrees, imported, normal


def test_several_outputs_in_the_modules_shapes() -> None:
    result = agrees(lambda x: (x.t(), [x.sum(0, keepdim=True)], x.unsqueeze(1)), (normal(3, 4),))
    assert [o.shape for o in result.outputs] == [(4, 3), (1, 4), (3, 1, 4)]
    arrays = result.results(fl.evaluate(result.program, result.data))
    for got, want in zip(arrays, result.expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_wrong_result_is_noticed() -> None:
    result = imported(torch.relu, normal(3, 4))
    tensors = fl.evaluate(result.program, result.data)
    name = result.outputs[0].tensor
    tensors[name].values[tensors[name].values > 0] += 0.1
    assert not result.check(tensors).ok
    assert "DIFFERS" in str(result.check(tensors))
    with pytest.raises(DataError, match=r"output .* is missing"):
        result.check({})


NEAR_ZERO = {
    "a sum that cancels": lambda x: (x + 1e4).sum() - x.sum() - 12e4 + 0 * x.sum(),
    "less its mean": lambda x: x * 0 + 1000.1 - (x * 0 + 1000.1).mean(),
    "in another shape": lambda x: ((x * 1e5 + 1e6).t() - 1e6 - x.t() * 1e5).reshape(2, 6),
    "zero": lambda x: x.softmax(0).sum(0) - 1.0,
}


@pytest.mark.parametrize("name", NEAR_ZERO)
def test_an_output_near_zero_is_what_rounding_leaves(name: str) -> None:
    result = imported(NEAR_ZERO[name], normal(3, 4))
    run = fl.simulate(fl.compile(result.program), result.data)
    assert result.check(run.outputs).ok, str(result.check(run.outputs))
    assert result.check().ok, str(result.check())
    wrong = fl.evaluate(result.program, result.data)
    wrong[result.outputs[0].tensor].values[...] += 10.0
    assert not result.check(wrong).ok


def test_kernels_cover_the_program_and_name_their_lines() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))
    result = fl.from_torch(module, normal(2, 4))
    covered = [name for kernel in result.kernels for name in kernel.statements]
    assert covered == [s.out.tensor for s in result.program.statements]
    assert [k.name for k in result.kernels] == ["aten.linear.default", "aten.softmax.int"]


def test_a_saved_module_is_simulated_elsewhere(tmp_path: Path) -> None:
    """Program, data, presets, notes, and where operations stand, in one file."""
    given = fl.from_torch(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()), normal(5, 4))
    given.save(tmp_path / "model.fuseloom")
    again = fl.read_model(tmp_path / "model.fuseloom")
    assert again.program == given.program
    assert dict(again.presets) == dict(given.presets)
    assert again.notes == given.notes
    assert [k.place for k in again.kernels] == [k.place for k in given.kernels]
    assert [k.name for k in again.kernels] == ["0: linear", "1: relu"]
    assert given.check(fl.simulate(fl.compile(again.program), again.data).outputs).ok
