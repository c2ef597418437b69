"""One payload for several readers: it is there for each of them where that reader needs it."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.passes.fanout_free import unwoven
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse

ROWS = """
A: 4x2 dcsr
B: 4x2 dcsr
C: 4x2 dense
D: 3x2 dense
v: 2 dense
"""
DATA = {
    "A": [[0.0, 0], [1, 0], [0, 0], [0, 0]],
    "B": [[0.0, 0], [0, 0], [1, 0], [0, 0]],
    "C": [[-1.0, -1], [-2, -2], [-3, -3], [-4, -4]],
    "D": [[1.0, 1], [1, 1], [1, 1]],
    "v": [3.0, 4.0],
}
VECTORS = ["w[j] = v[j] * v[j]", "w[j] = D[k,j] * v[j]"]
SUMS = {
    "all rows": "T[i,j] = A[i,j] + w[j]; R[i,j] = max(T[i,j] + C[i,j], w[j])",
    "rows of either": "T[i,j] = A[i,j] + w[j]; S[i,j] = B[i,j] + w[j]; R[i,j] = T[i,j] + S[i,j]",
    "a product": "T[i,j] = A[i,j] + w[j]; S[i,j] = B[i,j] * w[j]; R[i,j] = T[i,j] + S[i,j]",
    "the same rows": "T[i,j] = A[i,j] + w[j]; R[i,j] = T[i,j] + w[j]",
    "fewer rows": "T[i,j] = A[i,j] + w[j]; R[i,j] = T[i,j] * w[j]",
    "no rows left out": "T[i,j] = C[i,j] + w[j]; R[i,j] = max(T[i,j] + B[i,j], w[j])",
}


def programs() -> dict[str, str]:
    return {
        f"{name}, {vector}": ROWS + "\n".join([vector, *sums.split("; "), "output R"])
        for name, sums in SUMS.items()
        for vector in VECTORS
    }


@pytest.mark.parametrize("name", programs())
def test_a_vector_is_added_to_the_rows_that_each_sum_has(name: str) -> None:
    program = parse(programs()[name])
    data = {k: v for k, v in DATA.items() if k in program.inputs}
    for schedule in ("", "fuse w..R where possible"):
        assert simulate(compile_program(program, schedule), data).check().ok


@pytest.mark.parametrize(
    ("name", "times"), [("the same rows", 1), ("fewer rows", 1), ("rows of either", 2)]
)
def test_a_vector_is_computed_again_only_for_other_rows(name: str, times: int) -> None:
    program = parse(programs()[f"{name}, {VECTORS[0]}"])
    (region,) = compile_program(program, "fuse w..R").regions
    loads = {n.inputs for n in unwoven(region.graph).nodes if n.params.get("tensor") == "v"}
    squares = [n for n in unwoven(region.graph).nodes if n.label.startswith("* w")]
    assert len(squares) == times <= len(loads)


FILTERED = """
A: 3 compressed
B: 3 compressed
t[i] = B[i] + A[i]
p[i] = A[i] * t[i]
d[i] = B[i] - A[i]
m[i] = max(p[i], d[i])
q[i] = B[i] * t[i]
s[i] = A[i] + q[i]
R[i] = m[i] * s[i]
output R
"""


def test_both_sides_of_a_product_may_filter_what_they_share() -> None:
    """``t`` rides on ``m`` only where A is, and on ``s`` only where B is; both are unions."""
    data = {"A": [0.0, 2, 3], "B": [5.0, 0, 7]}
    program = parse(FILTERED)
    for schedule in ("", "fuse t..R"):
        run = simulate(compile_program(program, schedule), data)
        assert run.check().ok
        assert run.outputs["R"].to_dense().tolist() == [125.0, 8.0, 30.0 * 73.0]
