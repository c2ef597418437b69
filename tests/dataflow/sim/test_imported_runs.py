"""Running graphs from files: outputs by name, what is no tensor, and the check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import export_sam, import_sam
from fuseloom.dataflow.samml.exchange.record import ImportedGraph
from fuseloom.dataflow.samml.graph import Graph, Node, Stream
from fuseloom.dataflow.sim import imported_runs
from fuseloom.dataflow.sim.imported_runs import ImportedRun, run_imported
from fuseloom.errors import DataError, SimulationError
from fuseloom.program import parse
from fuseloom.program.storage import StoredTensor
from tests.dataflow.sim.doubling import X, doubled, matrix

GIVEN = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
B = matrix(GIVEN)
IMPORTED = ImportedGraph(doubled(), {"B": B.tensor}, (X,))


def run(machine: Machine | None = None) -> ImportedRun:
    return run_imported(IMPORTED, {"B": B}, machine, engine="interpreter")


def test_outputs_by_name_and_what_writers_hold() -> None:
    made = run()
    assert made.outputs["X"].to_dense().tolist() == (2 * np.array(GIVEN)).tolist()
    levels, values = made.written("X")
    assert [level["crd"] for level in levels] == [[0, 2], [0, 2, 1]]
    assert levels[1]["seg"] == [0, 2, 3]
    assert values == [2.0, 4.0, 6.0]
    assert made.written("Y") == ([], [])
    assert made.cycles == made.result.cycles
    assert made.work.flops == 3


def test_the_check_compares_values_and_shape() -> None:
    made = run()
    assert made.check(2 * np.array(GIVEN)).ok
    assert not made.check(np.array(GIVEN)).ok
    other = made.check(np.zeros((2, 2)))
    assert other.max_rel_error == float("inf")
    assert (other.shape, other.expected_shape) == ((3, 3), (2, 2))
    assert not other.ok


def test_small_channels_change_the_cycles_and_not_the_tensor() -> None:
    free, tight = run(), run(Machine.default(2))
    assert tight.cycles > free.cycles
    assert {s.capacity for s in tight.result.graph.streams} == {2}
    assert tight.outputs["X"].content_hash() == free.outputs["X"].content_hash()


def test_operands_must_be_there() -> None:
    with pytest.raises(DataError):
        run_imported(IMPORTED, {})


def test_levels_that_make_no_tensor_fail_or_are_noted() -> None:
    """Without a dropper, a row that is stored but empty leaves a coordinate without a fiber."""
    stored = StoredTensor.from_levels(
        B.tensor, [([0, 3], [0, 1, 2]), ([0, 0, 2, 2], [0, 2])], [5, 6]
    )
    broken = replace(IMPORTED, graph=doubled(drop=False))
    with pytest.raises(SimulationError, match="1 fiber for 3 coordinates"):
        run_imported(broken, {"B": stored}, engine="interpreter")
    made = run_imported(broken, {"B": stored}, engine="interpreter", lenient=True)
    assert made.outputs == {}
    assert list(made.problems) == ["X"]
    with pytest.raises(SimulationError, match="X is no tensor: level 1 of X has 1 fiber"):
        made.check(np.zeros((3, 3)))


def test_tables_too_large_for_kernels_are_found_by_the_trait() -> None:
    def graph(dim: int) -> ImportedGraph:
        node = Node(0, "spacc1", (), (), {"dim": dim, "fn": "add"})
        streams: tuple[Stream, ...] = ()
        return ImportedGraph(Graph("table", (node,), streams), {}, ())

    large = imported_runs.LARGE_TABLE
    assert imported_runs.has_large_tables(graph(large + 1))
    assert not imported_runs.has_large_tables(graph(large))
    assert not imported_runs.has_large_tables(IMPORTED)


@pytest.mark.parametrize(
    "given",
    [np.array(GIVEN), np.array(GIVEN, dtype=np.float32), GIVEN, scipy.sparse.csr_array(GIVEN)],
    ids=["array", "float32", "list", "scipy"],
)
@pytest.mark.parametrize("words", ["dense", "csr", "csc", "dcsr"])
def test_operands_as_a_user_has_them(given: Any, words: str) -> None:
    program = parse(f"A: 3x3 {words}\nx: 3 dense\ny[i] = A[i,j] * x[j]")
    tensors = {tensor.name: tensor for tensor in program.tensors}
    text = export_sam(compile_program(program).regions[0].graph, tensors).text
    shapes = {"A": (3, 3), "x": (3,)}
    made = run_imported(
        import_sam(text, shapes), {"A": given, "x": [1, 2, 3]}, engine="interpreter"
    )
    assert made.check(np.array(GIVEN) @ [1, 2, 3]).ok


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros((2, 3)), "shape"),
        (np.array([[np.nan] * 3] * 3), "nan|finite"),
        (np.array([["a"] * 3] * 3), "number"),
        (None, "B"),
    ],
    ids=["shape", "nan", "text", "nothing"],
)
def test_operands_that_do_not_fit_are_refused(given: Any, words: str) -> None:
    with pytest.raises(DataError, match=f"(?i){words}"):
        run_imported(IMPORTED, {"B": given}, engine="interpreter")


def test_a_misspelt_operand_is_refused() -> None:
    with pytest.raises(DataError, match="no data called 'B'"):
        run_imported(IMPORTED, {"b": np.array(GIVEN)}, engine="interpreter")


def test_numbers_that_float32_has_few_digits_of_are_compared_as_such() -> None:
    made = run_imported(IMPORTED, {"B": np.array(GIVEN) * 1e-41}, engine="interpreter")
    assert made.check(2e-41 * np.array(GIVEN)).ok
    assert not made.check(2e-37 * np.array(GIVEN)).ok
