"""Notebook 16: joins, unions and how results are built, with graphs that are written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.program import Program, StoredTensor, parse
from fuseloom_workbench.notebook.building import LIMITS, contains, graph, program
from fuseloom_workbench.notebook.course.formats import MATRIX
from fuseloom_workbench.notebook.exercises import Exercise, number, primitive_of, tokens
from fuseloom_workbench.notebook.wiring import uses

Array = npt.NDArray[np.float64]
PRODUCT = """program product
a: 8 compressed
b: 8 compressed
y[i] = a[i] * b[i]
"""
SUM = PRODUCT.replace("product", "sum").replace("*", "+")
THREE = """program three
a: 8 compressed
b: 8 compressed
c: 8 compressed
y[i] = product(a[i], b[i], c[i])
"""
CELLS = """program cells
A: 4x4 dcsr
B: 4x4 dcsr
Y[i,j] = A[i,j] * B[i,j]
"""
"""The product of two matrices, element by element."""
COLUMNS = """program columns
B: 4x4 dcsc
c: 4 compressed
T[i] = B[i,j] * c[j]
"""
"""A matrix times a vector, with the matrix stored by columns: Figure 2 of the paper."""
THIRD = """program third
B: 8x8x8 csf
c: 8 dense
Y[i,j] = B[i,j,k] * c[k]
"""
PRODUCT_BY_HAND = """start = root()
ia, pa = scan(start) tensor=a level=0
ib, pb = scan(start) tensor=b level=0
i, qa, qb = intersect(ia, pa, ib, pb)
va = array(qa) tensor=a
vb = array(qb) tensor=b
prod = binary(va, vb) fn=mul
crdwrite(i) tensor=y level=0
valwrite(prod) tensor=y
"""
VECTORS: Mapping[str, Array] = {
    "a": np.array([2.0, 0, 0, 3, 0, 5, 0, 0]),
    "b": np.array([0.0, 0, 0, 4, 7, 0, 0, 0]),
    "c": np.array([1.0, 1, 0, 2, 0, 0, 0, 6]),
}
SCATTERED = 12
"""Elements of the tensor of order 3."""


def scattered() -> Array:
    """A tensor of order 3 with a few elements that are anywhere."""
    draw = np.random.default_rng(3)
    made = np.zeros((8, 8, 8))
    for place in draw.choice(made.size, SCATTERED, replace=False):
        made.flat[place] = 1 + place % 5
    return made


def matrices() -> dict[str, Array]:
    """Two matrices that have elements in common, and a row that both have without one."""
    other = np.array([[0.0, 4, 1, 0], [0, 0, 6, 0], [0, 2, 0, 0], [0, 0, 0, 3]])
    return {"A": MATRIX, "B": other}


def factors() -> dict[str, Array]:
    """Two matrices to be multiplied."""
    other = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [4, 0, 5, 0], [0, 0, 0, 6]])
    return {"A": MATRIX, "X": other}


def _vectors() -> dict[str, Mapping[str, Array]]:
    names = ("a", "b")
    full = {name: np.arange(1.0, 9) for name in names}
    return {
        "the two vectors": {name: VECTORS[name] for name in names},
        "vectors without a zero": full,
        "an empty vector a": {"a": np.zeros(8), "b": full["b"]},
        "an empty vector b": {"a": full["a"], "b": np.zeros(8)},
    }


def _three() -> dict[str, Mapping[str, Array]]:
    none = {**VECTORS, "c": np.zeros(8)}
    full = {name: np.arange(1.0, 9) for name in "abc"}
    return {"the three vectors": VECTORS, "vectors without a zero": full, "an empty vector c": none}


def _cells() -> dict[str, Mapping[str, Array]]:
    apart = {"A": np.eye(4), "B": np.eye(4)[::-1]}
    return {
        "the two matrices": matrices(),
        "full matrices": {"A": np.ones((4, 4)), "B": np.ones((4, 4))},
        "matrices that have no element in common": apart,
    }


def _columns() -> dict[str, Mapping[str, Array]]:
    vector = np.array([1.0, 0, 3, 4])
    return {
        "the matrix of notebook 1": {"B": MATRIX, "c": vector},
        "a full matrix": {"B": np.ones((4, 4)), "c": np.arange(1.0, 5)},
        "a matrix with an empty column": {"B": MATRIX * [1, 0, 1, 1], "c": np.arange(1.0, 5)},
        "an empty vector": {"B": MATRIX, "c": np.zeros(4)},
    }


def _on(text: str, sets: Any) -> Any:
    return lambda: (parse(text), sets())


def _as_asked(made: Program, inputs: Mapping[str, Array], result: str, want: Array) -> Run | str:
    """Run a program on arrays, or say why it is not what was asked for."""
    if sorted(made.inputs) != sorted(inputs):
        return f"its inputs are {', '.join(made.inputs)}, and should be {', '.join(inputs)}"
    for name, array in inputs.items():
        if made.tensor(name).shape != array.shape:
            shape = "x".join(map(str, array.shape))
            return f"{name} should be declared as {shape}, then its format"
    if result not in made.outputs:
        return f"it has no result {result}"
    if len(made.statements) != 1:
        return "it should have a single statement"
    run = simulate(compile_program(made), inputs, limits=LIMITS)
    if not run.check().ok:
        return str(run.check())
    if not np.allclose(run.outputs[result].to_dense(), want):
        return f"{result} is not what was asked for: look at the indices of the statement"
    return run


def _outer_product(made: Program) -> str:
    given = factors()
    run = _as_asked(made, given, "T", given["A"] @ given["X"])
    if isinstance(run, str):
        return run
    used = uses(run.compilation.regions[0].graph)
    if used.get("spacc2"):
        return ""
    order = "→".join(run.compilation.regions[0].order)
    has = "spacc1: it adds up a row at a time" if used.get("spacc1") else "no accumulator"
    return f"its order is {order}, and its graph has {has}"


@cache
def _bytes_in(fmt: str) -> float:
    made = parse(THIRD.replace("csf", fmt))
    return simulate(compile_program(made), _third()).work.bytes


def _third() -> dict[str, Array]:
    return {"B": scattered(), "c": np.arange(1.0, 9)}


def _fewest_bytes(made: Program) -> str:
    given = _third()
    run = _as_asked(made, given, "Y", np.einsum("ijk,k->ij", given["B"], given["c"]))
    if isinstance(run, str):
        return run
    taken, most = run.work.bytes, _bytes_in("coo")
    return "" if taken <= most else f"it moves {taken:,} bytes, more than {most:,}"


def _sums() -> float:
    made = parse(
        "A: 4x4 dcsc\nX: 4x4 dcsr\nT[i,j] = A[i,k] * X[k,j]\n",
    )
    return float(simulate(compile_program(made), factors()).outputs["T"].nnz)


def _payload() -> str:
    operands = ("0 3 5 S0 D", "0 1 2 S0 D", "3 4 S0 D", "0 1 S0 D")
    return bench("union", *operands, params={"gate": 0}, outputs=3).tokens[2]


def stored(fmt: str) -> StoredTensor:
    """The tensor of order 3 in a format."""
    return StoredTensor.from_dense(parse(THIRD.replace("csf", fmt)).tensor("B"), scattered())


EXERCISES = {
    "16.1": Exercise(
        "Which references of b does the unioner put out?",
        tokens(_payload, StreamKind.REF),
        "a token for each coordinate of the union; N where b has none",
    ),
    "16.2": Exercise(
        "Write the unioner of any number of operands as a generator.",
        primitive_of("union"),
        "where the heads differ, the smallest coordinate comes out: operands that have it give "
        "their payload and are taken, the others give EMPTY and stay",
    ),
    "16.3": Exercise(
        "Build the graph of the sum of two sparse vectors.",
        graph(_on(SUM, _vectors)),
        "the graph of the product, with another joiner and another function",
    ),
    "16.4": Exercise(
        "Build the graph of the product of three sparse vectors, with a single intersecter.",
        graph(
            _on(THREE, _three),
            contains("intersect", 1, "one intersecter takes any number of pairs"),
        ),
        "intersect(ia, pa, ib, pb, ic, pc) has four outputs; then two products",
    ),
    "16.5": Exercise(
        "Write the coordinate dropper as a generator.",
        primitive_of("crddrop"),
        "peek at the outer stream; for a coordinate, pass inner tokens up to a stop, and put the "
        "outer coordinate only if there was a coordinate among them; an outer stop that follows "
        "no coordinate has an inner stop of its own",
    ),
    "16.6": Exercise(
        "Build the graph of the product of two sparse matrices, element by element.",
        graph(_on(CELLS, _cells)),
        "join the rows, scan both below them, join the columns; then drop rows without columns "
        "before both levels are written",
    ),
    "16.7": Exercise(
        "Build Figure 2: a matrix that is stored by columns, times a sparse vector.",
        graph(_on(COLUMNS, _columns), contains("spacc1", 1, "sums over j lie outside i")),
        "join the columns j; scan the rows i of each; repeat the vector's reference for each of "
        "them; spacc1(outer, inner, values) adds up what has the same i",
    ),
    "16.8": Exercise(
        "Write the product of two matrices so that its graph has an accumulator of order 2.",
        program(_outer_product),
        "k has to be outermost: store A so that its columns are outside, X so that its rows are",
    ),
    "16.9": Exercise(
        "How many sums does that accumulator hold at most, on the matrices of the notebook?",
        number(_sums, "sums"),
        "it keeps one for each element of the result, until the last k has gone by",
    ),
    "16.10": Exercise(
        f"Store a tensor of order 3 with {SCATTERED} scattered elements so that its product with "
        "a vector moves as few bytes as possible.",
        program(_fewest_bytes),
        "hardly two elements share a row: a format that keeps the coordinates of each element "
        "needs no segments",
    ),
}
