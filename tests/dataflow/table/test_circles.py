"""Levels that would wait for themselves: cut, or refused with the statement to cut after."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.nests import place
from fuseloom.dataflow.fusion.view_builder import build_views
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.table.circles import check_circles, waiting_reduction
from fuseloom.dataflow.table.joins import Joins
from fuseloom.errors import LoweringError
from fuseloom.program import parse

POST_NORM = """
    src: 1x4x8 dense
    L: 4x8 dense
    W1: 16x8 dense
    W2: 8x16 dense
    option broadcast_add dense
    a[i,j,k] = src[i,j,k] + L[j,k]
    t[i,j] = a[i,j,k]
    m[i,j] = 0.125 * t[i,j]
    c[i,j,k] = a[i,j,k] - m[i,j]
    p[i,j,l] = c[i,j,k] * W1[l,k]
    o[i,j,l] = p[i,j,k] * W2[l,k]
    z[i,j,k] = c[i,j,k] + o[i,j,k]
    """


def test_a_reduction_over_a_level_that_joins_what_depends_on_it_is_cut() -> None:
    """t sums over k; the level of k joins o, and o is computed from t: a post-norm residual."""
    compiled = compile_program(parse(POST_NORM), "fuse a..z")
    (region,) = compiled.regions
    assert "k*" in region.order
    rng = np.random.default_rng(0)
    data = {n: rng.normal(size=compiled.program.tensor(n).shape) for n in compiled.program.inputs}
    for engine in ("interpreter", "compiled"):
        assert simulate(compiled, data, engine=engine).check().ok


def joins(order: str) -> Joins:
    program = parse(POST_NORM)
    roots, _ = build_views(program, program.statements, program.outputs)
    chosen = tuple(order.split(","))
    return Joins(program, place(roots, chosen)[0], chosen)


def test_where_to_cut_is_told() -> None:
    found = waiting_reduction(joins("i,j,k'',k',k"))
    assert found is not None
    reader, producer, index = found
    assert (str(reader), str(producer), index) == ("z[i,j,k]", "c[i,j,k]", "k")


def test_a_circle_is_refused_with_the_statement_to_cut_after() -> None:
    with pytest.raises(LoweringError, match="would wait for itself") as caught:
        check_circles(joins("i,j,k'',k',k"))
    assert (caught.value.hint or "").startswith("cut the region after")
    program = parse("A: 4x4 csr\nT[i,j] = relu(A[i,j])\nx[i] = T[i,j]\nY[i,j] = T[i,j] / x[i]")
    roots, _ = build_views(program, program.statements, program.outputs)
    check_circles(Joins(program, place(roots, ("i", "j"))[0], ("i", "j")))
