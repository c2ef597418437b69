"""Estimates from statistics alone: where they are exact, and what they say of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.metadata import from_metadata
from fuseloom.dataflow.cost.rules import RULES
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import LoweringError
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

PRODUCT = parse("A: 8x6 csr\nX: 6x5 dense\nT[i,j] = A[i,k] * X[k,j]")
DATA = {"A": np.tril(np.ones((8, 6))), "X": np.ones((6, 5))}


def test_a_product_with_a_dense_matrix_is_counted() -> None:
    """The entries to each level can be counted where no two sparse operands meet."""
    compilation = compile_program(PRODUCT, "order T: i,k,j")
    run = simulate(compilation, DATA)
    expected = estimate(compilation, DATA, mode="metadata")
    assert expected.flops == run.work.flops
    assert expected.bytes == run.work.bytes
    busiest = max(run.regions[0].result.busy)
    assert expected.regions[0].bottleneck.cycles == pytest.approx(busiest, rel=0.02)


def test_cycles_are_those_of_the_busiest_node_and_the_way_to_the_end() -> None:
    (region,) = compile_program(PRODUCT).regions
    context = EstimateContext(PRODUCT, check_data(PRODUCT, DATA))
    nodes, counts, cycles = from_metadata(region, context)
    assert [n.node for n in nodes] == [n.id for n in region.graph.nodes]
    busiest = max(n.cycles for n in nodes)
    assert busiest < cycles <= busiest + len(nodes)
    assert all(n.end is None for n in nodes)
    assert set(counts.tokens) == {s.id for s in region.graph.streams}
    assert all(counts.values[s] <= counts.tokens[s] for s in counts.tokens)


def test_what_is_written_is_expected() -> None:
    """Two uniform operands: every place of T is expected with the chance that any k has both."""
    (region,) = compile_program(
        parse("A: 40x40 csr\nB: 40x40 csr\nT[i,j] = A[i,k] * B[k,j]")
    ).regions
    rng = np.random.default_rng(0)
    a, b = (rng.random((40, 40)) < 0.1 for _ in range(2))
    program = region.region.program
    context = EstimateContext(
        program, check_data(program, {"A": a * 1.0, "B": b * 1.0}), "metadata"
    )
    from_metadata(region, context)
    assert context.elements("T") == pytest.approx(np.count_nonzero(a.astype(int) @ b), rel=0.1)


def test_operands_that_never_meet_are_not_seen_to() -> None:
    """Why statistics are left where graphs can be executed: the two are fields of a chess board.

    Every row and every column has as many elements of either, so no count tells them apart.
    """
    program = parse("A: 40x40 csr\nB: 40x40 csr\nT[i,j] = A[i,j] * B[i,j]")
    white = np.indices((40, 40)).sum(axis=0) % 2.0
    data, compilation = {"A": white, "B": 1 - white}, compile_program(program)
    run = simulate(compilation, data)
    assert run.work.flops == estimate(compilation, data).flops == 0
    assert estimate(compilation, data, mode="metadata").flops > 100


def test_a_primitive_without_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    (region,) = compile_program(PRODUCT).regions
    others = {name: rule for name, rule in RULES.items() if name != "array"}
    monkeypatch.setattr("fuseloom.dataflow.cost.metadata.RULES", others)
    with pytest.raises(LoweringError, match="array"):
        from_metadata(region, EstimateContext(PRODUCT, check_data(PRODUCT, DATA)))


def test_dense_levels_are_expected_whole() -> None:
    """Whatever is written of them; those inside are as many as there are outside."""
    program = parse("A: 8x6 csr\nX: 6x5 dense\nT[i,j] = A[i,k] * X[k,j]\nY[i,j] = relu(T[i,j])")
    for levels in ("compressed", "compressed,dense"):
        made = compile_program(program, f"store T {levels}")
        context = EstimateContext(made.program, check_data(made.program, DATA), "metadata")
        from_metadata(made.regions[0], context)
        assert context.elements("T") == 8 * 5
        assert [len(counts) for counts in context.expected["T"].counts] == [8, 5]
