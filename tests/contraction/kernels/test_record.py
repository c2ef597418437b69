"""A kernel's run as a record: what is in it, and that it comes back from JSON."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.record import cpu, kernel_record, stored
from fuseloom.contraction.kernels.run import kernels, measure
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.errors import ProgramError
from fuseloom.results.record import DataSource, RunRecord

NEST = "forall(i, forall(j, forall(k, R(i,k) += A(i,j) * B(j,k))))"


def test_a_record_says_what_ran() -> None:
    tree = binary(from_einsum("ij,jk->ik", {"i": 4, "j": 5, "k": 6}))
    data = Data(tree, {"A": np.eye(4, 5), "B": np.full((5, 6), 0.5)})
    (kernel,) = kernels([parse_nest(NEST)], tree)
    found = measure({"it": kernel}, data, runs=2)["it"]
    made = kernel_record(kernel, found, name="product", products=24.0, source=DataSource("eye"))
    assert made.ok
    assert made.schedule == NEST
    assert made.machine == cpu()
    assert made.seconds == found.seconds
    assert made.cycles == max(1, round(made.seconds * 1e9))
    assert made.flops == 48.0
    assert made.regions[0].order == ("i", "j", "k")
    assert RunRecord.from_json(made.to_json()) == made
    with pytest.raises(ProgramError, match="no time"):
        kernel_record(kernel, replace(found, seconds=None, max_rel_error=1.0))


def test_inputs_are_the_dataflow_sides_in_float32() -> None:
    tree = binary(from_einsum("ij,jk->ik", {"i": 2, "j": 2, "k": 2}))
    given = {"A": np.array([[0.1, 0.0], [2.0, 3.0]]), "B": np.eye(2)}
    found = stored(Data(tree, given))
    assert set(found) == {"A", "B"}
    np.testing.assert_array_equal(found["A"].to_dense(), given["A"].astype(np.float32))
