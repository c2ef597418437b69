"""The recomputation of intermediates: the figures of the GCN, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import EstimateContext, estimate
from fuseloom.dataflow.why.recomputation import recomputation
from fuseloom.models import load
from fuseloom.program import parse
from tests.dataflow.why.explained import FULL, PARTIAL, data, explained


def test_the_first_layer_is_computed_once_per_neighbour() -> None:
    made = explained(FULL)
    found = {r.tensor: r for r in recomputation(made.compilation, made.context, made.estimate)}
    assert list(found) == ["T1", "T2", "T3", "H"]
    assert (found["T1"].made, found["T1"].needed) == (41_208, 5_304)
    assert (found["T2"].made, found["T2"].needed) == (43_524, 9_486)
    assert (found["H"].made, found["H"].needed) == (2_496, 544)
    assert found["T1"].factor == pytest.approx(7.77, abs=0.01)
    assert found["H"].factor == pytest.approx(4.59, abs=0.01)
    assert (found["H"].rows, found["H"].rows_needed) == (156, 34)
    assert found["T1"].rows is None  # rows of A differ in length
    assert {r.once_per for r in found.values()} == {"non-zero of A"}
    assert {r.around for r in found.values()} == {("i",)}
    assert found["H"].reason.startswith("once per non-zero of A: i lies around it")
    assert all(r.exact and not r.measured for r in found.values())


def test_a_run_measures_what_was_expected() -> None:
    made = explained(FULL)
    results = {r.name: r.result for r in made.run.regions}
    expected = recomputation(made.compilation, made.context, made.estimate)
    measured = recomputation(made.compilation, made.context, made.estimate, results)
    assert [(r.tensor, r.made) for r in measured] == [(r.tensor, r.made) for r in expected]
    assert all(r.measured for r in measured)


def test_needed_is_what_the_statement_computes_alone() -> None:
    made = explained(FULL)
    alone = compile_program(made.compilation.program)
    context = EstimateContext.of(alone.program, data())
    made_alone = {r.name: r for r in estimate(alone, data()).regions}
    products = [n for n in alone.regions[0].graph.nodes if n.label == "* T1"]
    assert made_alone["T1"].nodes[products[0].id].flops == 5_304
    assert not recomputation(alone, context)


def test_by_layers_nothing_is_computed_again() -> None:
    made = explained(PARTIAL)
    assert recomputation(made.compilation, made.context, made.estimate) == ()


def test_lanes_count_together() -> None:
    compiled = compile_program(explained(FULL).compilation.program, f"{FULL}; parallel i by 4")
    found = {
        r.tensor: r for r in recomputation(compiled, EstimateContext.of(compiled.program, data()))
    }
    assert found["T1"].made == 41_208


def test_without_a_sparse_operand_an_index_is_named() -> None:
    text = """
    B: 3x4 dense
    C: 4x5 dense
    T[j,k] = relu(B[j,k])
    Y[j,m] = T[j,k] * C[k,m]
    """
    program = parse(text)
    values = {"B": np.ones((3, 4)), "C": np.ones((4, 5))}
    compiled = compile_program(program, "fuse T..Y; order T..Y: j,m,k")
    (found,) = recomputation(compiled, EstimateContext.of(compiled.program, values))
    assert (found.tensor, found.made, found.needed) == ("T", 60, 12)
    assert found.factor == 5
    assert found.once_per == "coordinate of m"


def test_several_instances_are_counted_together() -> None:
    model, values = load("graphsage")
    compiled = compile_program(model.program, model.presets["full"])
    found = recomputation(compiled, EstimateContext.of(compiled.program, values))
    assert any(r.instances == 2 and r.factor > 2 for r in found)
    assert found[0].to_dict()["factor"] == found[0].factor
