"""Elements that were looked up in front of a union are not used where only others are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.passes.fanout_free import tidy, unwoven, woven
from fuseloom.dataflow.samml.presence import required_operands
from fuseloom.dataflow.samml.verify import verify
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import GraphError
from fuseloom.program import parse

TWICE = """
A: 4 dense
B: 4x4 csr
C: 4x4 csr
T[i,j] = C[i,j] * A[j]
U[i,j] = B[i,j] + T[i,j]
R[i,j] = U[i,j] * A[j]
"""
DATA = {
    "A": [2.0, 3.0, 5.0, 7.0],
    "B": [[1.0, 0, 0, 2], [0, 0, 3, 0], [0, 0, 0, 0], [4, 0, 5, 0]],
    "C": [[0, 6.0, 0, 7], [0, 0, 0, 0], [0, 8, 0, 9], [0, 0, 1, 0]],
}


@pytest.mark.parametrize("between", ["B[i,j] + T", "B[i,j] - T", "B[i,j] * T"])
def test_a_dense_tensor_is_there_behind_a_union(between: str) -> None:
    program = parse(TWICE.replace("B[i,j] + T", between))
    assert simulate(compile_program(program, "fuse T..R"), DATA).check().ok


def test_a_graph_that_uses_it_all_the_same_is_refused() -> None:
    """The second look-up replaced by the first one's element, as it leaves the union."""
    region = compile_program(parse(TWICE), "fuse T..R").regions[0]
    plain = unwoven(region.graph)
    nodes = list(plain.nodes)
    (union,) = (n for n in nodes if n.op == "union")
    loads = [n for n in nodes if n.op == "array" and n.params["tensor"] == "A"]
    (early,) = (n for n in loads if n.inputs[0] in union.outputs)
    (late,) = (n for n in loads if n is not early)
    nodes[late.id] = replace(late, inputs=early.inputs)
    graph = woven(tidy(plain.name, nodes, plain.streams))
    with pytest.raises(GraphError, match="looked up in front of a"):
        verify(graph)


GATED = {
    "a dense row beside other rows": """
    A: 2x3x4 [dense, compressed, dense]
    b: 2x4 dense
    C: 2x3x4 csf
    T[i,j,k] = A[i,j,k] + b[i,k]
    R[i,j,k] = T[i,j,k] - C[i,j,k]
    """,
    "a vector for the rows of another": """
    A: 2x3 dcsr
    b: 2 dense
    c: 3 compressed
    S[j,i] = c[j] * b[i]
    s[i] = b[i] * b[i]
    M[i,j] = max(c[j], A[i,j])
    T[i,j] = s[i] * M[i,j]
    R[i,j] = S[j,i] + T[i,j]
    """,
}


@pytest.mark.parametrize("name", GATED)
def test_rows_that_a_sum_has_not_need_no_element(name: str) -> None:
    program = parse(GATED[name])
    compilation = compile_program(program, f"fuse {program.statements[0].out.tensor}..R")
    rng = np.random.default_rng(1)
    data = {
        t: rng.integers(1, 9, program.tensor(t).shape) * (rng.random(program.tensor(t).shape) < 0.6)
        for t in program.inputs
    }
    assert simulate(compilation, data).check().ok


@pytest.mark.parametrize(
    ("params", "needed"),
    [
        ({"fn": "mul"}, "ab"),
        ({"fn": "elemmul"}, "ab"),
        ({"fn": "div"}, "ab"),
        ({"fn": "add"}, ""),
        ({"fn": "sub"}, ""),
        ({"fn": "add", "needs": "a"}, "a"),
        ({"fn": "mul", "needs": "a"}, "ab"),
    ],
)
def test_products_need_both_and_sums_what_is_there(params: dict, needed: str) -> None:
    assert required_operands(Node(0, "binary", (), (), params)) == needed


def test_the_alu_leaves_out_what_lacks_a_needed_operand() -> None:
    a, b = "1 N N S0 D", "2 2 N S0 D"
    assert bench("binary", a, b, params={"fn": "add"}).tokens == ("3 2 N S0 D",)
    assert bench("binary", a, b, params={"fn": "mul"}).tokens == ("2 N N S0 D",)
    assert bench("binary", a, b, params={"fn": "add", "needs": "a"}).tokens == ("3 N N S0 D",)
