"""The streams of a run by name."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.steps.rows import tokens_of
from fuseloom.dataflow.sim.tokens import format_tokens
from fuseloom.errors import DataError
from fuseloom.program import parse

TEXT = "B: 3x3 dcsr\nx: 3 dense\ny[i] = B[i,j] * x[j]\nz[i] = relu(y[i])"
DATA = {"B": np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3]]), "x": np.array([1.0, 2, 3])}


def test_every_stream_but_copies_is_there() -> None:
    compiled = compile_program(parse(TEXT))
    rows = {name: format_tokens(tokens) for name, tokens in tokens_of(compiled, DATA).items()}
    assert rows["crd LS B.i"] == "0 2 S0 D"
    assert rows["crd LS B.j"] == "1 S0 0 2 S1 D"
    assert rows["val Red j"] == "4 10 S0 D"
    assert not any("copy" in name for name in rows)


def test_a_later_region_reads_what_earlier_ones_wrote() -> None:
    compiled = compile_program(parse(TEXT))
    rows = tokens_of(compiled, DATA, region=1)
    written = simulate(compiled, DATA).outputs["y"].values.tolist()
    assert format_tokens(rows["val Val y"]) == f"{written[0]:g} {written[1]:g} S0 D"


def test_data_that_do_not_fit() -> None:
    with pytest.raises(DataError):
        tokens_of(compile_program(parse(TEXT)), {"B": np.ones((2, 2)), "x": np.ones(3)})
