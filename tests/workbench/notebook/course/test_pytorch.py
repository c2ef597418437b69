"""Notebook 10: right answers are accepted, three wrong ones refused with the right words."""

from __future__ import annotations

import inspect
from pathlib import Path

import nbformat
import pytest
import torch
from torch import nn

from fuseloom_workbench.notebook.course import pytorch
from fuseloom_workbench.notebook.course.pytorch import COLUMNS, EXERCISES, ROWS
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

BOOK = Path(__file__).parents[4] / "notebooks" / "10_bring_your_own_model.ipynb"


class Turned(nn.Module):
    """The Fourier transform by a matrix."""

    def __init__(self, matrix):
        super().__init__()
        self.register_buffer("matrix", matrix)

    def forward(self, x):
        return torch.relu(x) @ self.matrix


ANGLES = 2 * torch.pi * torch.outer(torch.arange(8), torch.arange(8)) / 8
ANSWERS = {
    "10.1": (5, [(1, "1 statement is too few"), (11, "too many"), ("softmax", "is no number")]),
    "10.2": (29, [(96, "96 elements are too many"), (14, "too few"), ([29], "is no number")]),
    "10.3": (9729, [(5319, "too few"), (19600, "too many"), ("layers", "is no number")]),
    "10.4": (
        COLUMNS,
        [(ROWS, "takes 9,729 cycles, more than 3,469"),
         ({"inner": "csc"}, "which is no input, parameter or activation"),
         ("csc", "is no dict of names and layouts")],
    ),
    "10.5": (2733, [(3469, "3469 cycles are too many"), (0, "too few"), (None, "no answer yet")]),
    "10.6": (
        "aten.fft_fft.default",
        [("fft", "fft is not among them"), ("aten.relu.default", "is not among them"),
         (5, "5 is no set of names")],
    ),
    "10.7": (
        Turned(torch.cos(ANGLES)),
        [(Turned(torch.sin(ANGLES)), "element [0, 0] is"),
         (pytorch.waves(), "is not supported, at"), (Turned, "type is no module")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_a_result_of_another_shape_is_told():
    assert "not of shape 34 x 8" in check("10.7", nn.Linear(8, 3)).problem


def test_other_columns_of_few_elements_are_accepted():
    assert check("10.4", dict.fromkeys(COLUMNS, "dcsc")).ok


@pytest.mark.parametrize("made", [pytorch.network, pytorch.waves])
def test_the_notebook_has_the_same_classes(made):
    body = [line.strip() for line in inspect.getsource(type(made()).forward).splitlines()]
    cells = [cell.source for cell in nbformat.read(BOOK, as_version=4).cells]
    found = [c for c in cells if f"class {type(made()).__name__}(" in c]
    assert all(line in found[0] for line in body)
