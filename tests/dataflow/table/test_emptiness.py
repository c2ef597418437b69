"""The emptiness of fibers and values: guides, gates and droppers, and where there are none."""

import pytest

from fuseloom.dataflow.samml.graph import Graph, Node
from tests.dataflow.table.tables import compiled

MATVEC = "A: 4x5 {}\nx: 5 {}\ny: 4 dense\ny[i] = A[i,j] * x[j]"
SUM3 = "A: 4x5x6 [{}]\ny[i,j] = A[i,j,k]"
BIAS = "Z: 4x5 {}\nb: 5 {}\nT[i,j] = Z[i,j] + b[j]"


def graph(program: str, schedule: str = "", order: str | None = None) -> Graph:
    return compiled(program, schedule, order).graph


def nodes(made: Graph, op: str) -> list[Node]:
    return [node for node in made.nodes if node.op == op]


def droppers(made: Graph) -> list[str]:
    return [node.label for node in made.nodes if node.op in ("crddrop", "valdrop")]


# Droppers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "vector", "expected"),
    [
        ("dcsr", "dense", []),  # a stored row has an element
        ("dense", "dense", []),
        ("csr", "dense", ["Drop y"]),  # a row may be empty
        ("coo", "dense", []),
        ("[dense, singleton]", "dense", []),  # every row has its one element
        ("[dense, singleton]", "[compressed]", ["Drop y"]),
        ("dcsr", "[compressed]", ["Drop y"]),  # a row may have nothing in common with x
        ("dense", "[compressed]", ["Drop y"]),  # x may hold nothing at all
    ],
)
def test_sums_of_nothing_are_dropped(matrix: str, vector: str, expected: list[str]) -> None:
    assert droppers(graph(MATVEC.format(matrix, vector))) == expected


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ("compressed, compressed, compressed", []),
        ("dense, dense, dense", []),
        ("compressed, compressed, dense", []),
        ("dense, compressed, compressed", ["Drop y.i"]),
        ("compressed, dense, compressed", ["Drop y", "Drop y.i"]),
        ("dense, dense, compressed", ["Drop y", "Drop y.i"]),
    ],
)
def test_coordinates_over_nothing_are_dropped(levels: str, expected: list[str]) -> None:
    assert droppers(graph(SUM3.format(levels))) == expected


def test_intersections_may_leave_empty_rows() -> None:
    rows = "A: 4x5 dcsr\nB: 4x5 {}\nC[i,j] = A[i,j] {} B[i,j]"
    assert droppers(graph(rows.format("dcsr", "*"))) == ["Drop C.i"]
    assert droppers(graph(rows.format("dense", "*"))) == []


def test_an_accumulator_emits_what_its_levels_hold() -> None:
    product = "A: 4x5 dcsr\nX: 5x3 {}\nT[i,j] = A[i,k] * X[k,j]"
    assert droppers(graph(product.format("dense"))) == []
    assert droppers(graph(product.format("csr"))) == ["Drop T.i"]
    assert droppers(graph(product.format("dcsr"))) == ["Drop T.i"]


def test_a_fused_softmax_drops_nothing_a_dense_one_has() -> None:
    text = """
        S: 4x5 {}
        x[i] = max[j] S[i,j]
        d[i,j] = S[i,j] - x[i]
    """
    assert droppers(graph(text.format("dense"), "fuse x..d")) == []


def test_scalars_are_always_written() -> None:
    made = graph("A: 4x5 dcsr\nB: 4x5 dcsr\ns[] = A[i,j] * B[i,j]")
    assert droppers(made) == []
    (outer,) = [n for n in nodes(made, "reduce") if n.params.get("empty_is_zero")]
    assert outer.label == "Red i"


# Guides ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "guided"),
    [
        ("dense, dense, dense", False),
        ("dense, dense, compressed", False),  # every coordinate outside is there
        ("dense, compressed, dense", True),  # (i) may hold no j: no sum, not the sum of nothing
        ("dense, compressed, compressed", True),
        ("compressed, compressed, compressed", True),  # A may hold nothing at all
    ],
)
def test_a_reducer_is_guided_where_a_level_outside_may_be_empty(levels: str, guided: bool) -> None:
    (reducer,) = nodes(graph(SUM3.format(levels)), "reduce")
    assert len(reducer.inputs) == 1 + guided


# Gates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "bias", "gate"),
    [
        ("csr", "dense", 1),  # an empty row of Z gets no bias
        ("dcsr", "dense", 0),
        ("dense", "[compressed]", 0),
    ],
)
def test_a_sparse_broadcast_is_gated_where_rows_may_be_empty(
    matrix: str, bias: str, gate: int
) -> None:
    (union,) = nodes(graph(BIAS.format(matrix, bias)), "union")
    assert union.params["gate"] == gate


def test_a_dense_broadcast_is_not_gated() -> None:
    made = graph("option broadcast_add dense\n" + BIAS.format("csr", "dense"))
    assert [union.params["gate"] for union in nodes(made, "union")] == [0, 0]
    assert droppers(made) == []


def test_all_dense_operands_need_no_union() -> None:
    made = graph(BIAS.format("dense", "dense"))
    assert nodes(made, "union") == []
    assert len(nodes(made, "locate")) == 1


def test_a_filtered_operand_of_a_broadcast_is_cut() -> None:
    """Rows of A * B may be empty though both have the row, so the sum waits for their stream."""
    made = compiled(
        "A: 4x5 dcsr\nB: 4x5 dcsr\nb: 5 dense\nZ[i,j] = A[i,j] * B[i,j]\nT[i,j] = Z[i,j] + b[j]",
        "fuse Z..T",
    )
    (cut,) = made.table.accumulators.values()
    assert cut.is_cut
    (gated,) = nodes(made.graph, "union")
    assert gated.params["gate"] == 1
