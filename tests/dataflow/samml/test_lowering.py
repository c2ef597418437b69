"""From tables to graphs: one node per need, and fan-out only where it is written out."""

from collections import Counter
from textwrap import dedent

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from tests.dataflow.table.tables import compiled, of_all_models


def test_a_sparse_product() -> None:
    graph = compiled("A: 4x5 dcsr\nX: 5x3 dcsr\nT[i,j] = A[i,k] * X[k,j]").graph
    assert str(graph) == dedent(
        """\
        graph T
          %0:ref0 = root()  # root
          %1:ref0, %2:ref0 = broadcast(%0)  # copy root
          %3:crd1, %4:ref1 = scan(%1) {level=0, tensor=A}  # LS A.i
          %5:crd1, %6:crd1 = broadcast(%3)  # copy A.i crd
          %7:crd2, %8:ref2 = scan(%4) {level=1, tensor=A}  # LS A.k
          %9:sig1 = repsig(%5)  # repeat signal
          %10:ref1 = repeat(%2, %9)  # Rep X.i
          %11:crd2, %12:ref2 = scan(%10) {level=0, tensor=X}  # LS X.k
          %13:crd2, %14:ref2, %15:ref2 = intersect(%7, %8, %11, %12)  # I_k
          %16:val2 = array(%14) {tensor=A}  # Val A
          %17:crd3, %18:ref3 = scan(%15) {level=1, tensor=X}  # LS X.j
          %19:crd3, %20:crd3 = broadcast(%17)  # copy X.j crd
          %21:sig3 = repsig(%19)  # repeat signal
          %22:val3 = repeat(%16, %21)  # Rep A.val
          %23:val3 = array(%18) {tensor=X}  # Val X
          %24:val3 = binary(%22, %23) {fn=mul}  # * T
          %25:crd2, %26:val2 = spacc1(%13, %20, %24) {dim=3, fn=add}  # Acc1_k
          %27:crd2, %28:crd1 = crddrop(%25, %6)  # Drop T.i
          crdwrite(%28) {level=0, tensor=T}  # LW T.i
          crdwrite(%27) {level=1, tensor=T}  # LW T.j
          valwrite(%26) {tensor=T}  # VW T"""
    )


def test_a_look_up_leaves_the_scanner_out() -> None:
    """The vector is read at the matrix's coordinates, and its own are never emitted."""
    graph = compiled("A: 4x5 dcsr\nx: 5 dense\ny[i] = A[i,j] * x[j]").graph
    text = str(graph)
    assert "locate" in text
    assert "dense_scan" not in text


def test_a_permuted_operand_is_bound_in_its_mode_order() -> None:
    """Traversing a dense tensor against its storage asks for a copy, named with its order."""
    graph = compiled("A: 4x5 dense\nx: 4 dense\ny[j] = A[i,j] * x[i]", order="j,i").graph
    tensors = {node.params["tensor"] for node in graph.nodes if "tensor" in node.params}
    assert tensors == {"A@1,0", "x", "y"}


def test_equal_nodes_are_made_once() -> None:
    """Both products traverse the same rows of A, and the exponential feeds two readers."""
    text = """
        A: 4x5 dcsr
        E[i,j] = exp(A[i,j])
        s[i] = E[i,j]
        R[i,j] = E[i,j] / s[i]
    """
    graph = compiled(text, "fuse E..R").graph
    count = Counter(node.op for node in graph.nodes)
    assert (count["scan"], count["array"], count["unary"]) == (2, 1, 1)


@pytest.mark.deep  # takes seconds
@of_all_models
def test_no_two_nodes_compute_the_same(region: CompiledRegion) -> None:
    """Streams behind broadcasts count as one; only writers and broadcasts may repeat."""
    graph = region.graph
    source: dict[int, int] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        for s in node.outputs:
            if s is not None:
                copied = node.op == "broadcast"
                source[s] = source.get(node.inputs[0], node.inputs[0]) if copied else s
    made = Counter(
        (node.op, tuple(source[s] for s in node.inputs), tuple(sorted(node.params.items())))
        for node in graph.nodes
        if node.op != "broadcast"
    )
    assert set(made.values()) == {1}


@of_all_models
def test_fan_out_is_by_broadcast_only(region: CompiledRegion) -> None:
    graph = region.graph
    read = Counter(s for node in graph.nodes for s in node.inputs)
    assert set(read.values()) == {1}
    for node in graph.nodes:
        if node.op == "broadcast":
            assert len(node.inputs) == 1
            assert len(node.outputs) >= 2
            assert None not in node.outputs
            (feeding,) = [n for n in graph.nodes if node.inputs[0] in n.outputs]
            assert feeding.op != "broadcast"


@of_all_models
def test_every_node_reaches_a_writer(region: CompiledRegion) -> None:
    graph = region.graph
    needed: set[int] = set()
    for k in reversed(graph.topological()):
        node = graph.nodes[k]
        readers = {graph.consumer[s] for s in node.outputs if s is not None}
        if not node.outputs or readers & needed:
            needed.add(k)
    assert len(needed) == len(graph.nodes)


def test_outputs_that_nothing_reads_are_void() -> None:
    """The columns of a sum over rows and columns are counted by their values alone."""
    graph = compiled("A: 4x5 dense\ns[] = A[i,j]").graph
    (inner,) = [n for n in graph.nodes if n.op == "dense_scan" and n.params["level"] == 1]
    assert inner.outputs[0] is None
    assert inner.outputs[1] is not None
    assert "_, %" in str(graph)


@of_all_models
def test_levels_are_written_once_from_the_outermost(region: CompiledRegion) -> None:
    graph = region.graph
    levels: dict[object, list[object]] = {}
    for node in graph.nodes:
        if node.op == "crdwrite":
            levels.setdefault(node.params["tensor"], []).append(node.params["level"])
    values = [node.params["tensor"] for node in graph.nodes if node.op == "valwrite"]
    assert sorted(map(str, values)) == sorted(map(str, levels))
    for written in levels.values():
        assert written == list(range(len(written)))


def test_nodes_say_which_cell_made_them() -> None:
    built = compiled("A: 4x5 dcsr\nX: 5x3 dcsr\nT[i,j] = A[i,k] * X[k,j]")
    origins = {node.label: node.origin for node in built.graph.nodes if node.origin}
    assert origins["LS A.k"] == "A.k"
    assert origins["Val X"] == "X.val"
    assert origins["Acc1_k"] == "T.j"
    cells = {f"{column}.{row}" for column, row in built.table.cells}
    assert origins["I_k"] == "A.k"  # a join belongs to several cells: the first stands for them
    assert set(origins.values()) <= cells


def test_a_dense_range_opens_a_fiber_per_joined_coordinate() -> None:
    """In dense mode D is added in every row of U, not only in those that A * B accumulates."""
    built = compiled(
        """
        option broadcast_add dense
        A: 3x4 csr
        B: 3 [compressed]
        C: 4 [compressed]
        D: 5 [compressed]
        T[m] = A[k,m] * B[k]
        U[m] = T[m] + C[m]
        V[m,j] = U[m] + D[j]
        """,
        "fuse T..V",
        "k,m,j",
    )
    (dense,) = [node for node in built.graph.nodes if node.label == "dense j"]
    assert dense.op == "dense_scan"
    # what opens it belongs to no cell, though a tensor is called D
    cells = {f"{column}.{row}" for column, row in built.table.cells}
    assert {node.origin for node in built.graph.nodes if node.origin} <= cells
    program = built.region.program
    data = {"A": np.eye(3, 4), "B": [1, 0, 1], "C": [0, 2, 0, 2], "D": [1, 0, 3, 0, 0]}
    compilation = Compilation(program, Schedule(), (built,))
    assert simulate(compilation, data, engine="interpreter").check().ok
