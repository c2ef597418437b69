"""Tiles as value tokens: what nodes do to them, when they arrive, and what the engines refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.samml.tile_values import (
    TileSpec,
    flops_per_value,
    interval,
    is_tiled,
    latency,
    with_tiles,
)
from fuseloom.dataflow.sim import run_graph
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled.functions import UNARY
from fuseloom.dataflow.sim.golden.functions import unary_function
from fuseloom.dataflow.sim.tokens import (
    encode,
    format_token,
    is_leaf,
    is_number,
    is_value,
    parse_tokens,
    same,
)
from fuseloom.errors import LoweringError, SimulationError
from fuseloom.program import block_program

REF, VAL = StreamKind.REF, StreamKind.VAL
RNG = np.random.default_rng(5)
TILES = RNG.integers(1, 9, (3, 2, 2)).astype(np.float32)
ROWS = RNG.integers(1, 9, (3, 2)).astype(np.float32)
NUMBERS = np.array([2, 3, 4], dtype=np.float32)
STORED = {"ij": TILES, "i": ROWS, "": NUMBERS}


def feed(
    op: str, tile: str, *refs: str, machine: Machine | None = None, **params: Scalar
) -> list[tuple[Any, int]]:
    """Tokens with timestamps of a node whose operands are loaded from ``STORED``."""
    operands = tile.partition("->")[0].split(",") if op != "reduce" else [tile]
    nodes: list[Node] = []
    streams: list[Stream] = []
    arrays: dict[int, Any] = {}
    loaded = []
    for axes, text in zip(operands, refs, strict=True):
        streams += [Stream(len(streams), REF, 1), Stream(len(streams) + 1, VAL, 1)]
        tokens = encode(parse_tokens(text, REF))
        arrays[len(nodes)] = {"tokens": tokens, "times": np.arange(1, len(tokens) + 1)}
        nodes.append(Node(len(nodes), "source", (), (streams[-2].id,), {"kind": "ref"}))
        rank = len(axes)
        shape: dict[str, Scalar] = {"tile": axes, "block": 2} if axes else {}
        arrays[len(nodes)] = {"vals": STORED["ij"[:rank]]}
        load = {"tensor": "A", "latency": 1, **shape}
        nodes.append(Node(len(nodes), "array", (streams[-2].id,), (streams[-1].id,), load))
        loaded.append(streams[-1].id)
    streams.append(Stream(len(streams), VAL, 1))
    out = streams[-1].id
    nodes.append(Node(len(nodes), op, tuple(loaded), (out,), {"tile": tile, "block": 2, **params}))
    nodes.append(Node(len(nodes), "sink", (out,), ()))
    bound = BoundGraph(Graph("tiles", tuple(nodes), tuple(streams)), arrays)
    logs = [
        run_graph(bound, machine or Machine.default(), engine, log=True).log or {}
        for engine in ("interpreter", "compiled")
    ]
    for (a, t), (b, u) in zip(*(log[out] for log in logs), strict=True):
        assert t == u
        if is_number(a):
            np.testing.assert_allclose(np.float64(a), np.float64(b), rtol=1e-6)
        else:
            assert a == b
    return logs[1][out]


def values(log: list[tuple[Any, int]]) -> list[Any]:
    return [token.tolist() for token, _ in log if is_number(token)]


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ("ik,kj->ij", TILES[0] @ TILES[1]),
        ("ik,jk->ij", TILES[0] @ TILES[1].T),
        ("ij,ij->", (TILES[0] * TILES[1]).sum()),
        ("ij,kl->jk", np.outer(TILES[0].sum(0), TILES[1].sum(1))),
        ("ij,i->j", TILES[0].T @ ROWS[1]),
        ("i,->", ROWS[0].sum() * NUMBERS[1]),
        ("ij,ij->ji", (TILES[0] * TILES[1]).T),
        ("ij,j->ij", TILES[0] * ROWS[1]),
        ("i,j->ij", np.outer(ROWS[0], ROWS[1])),
        (",ij->ij", NUMBERS[0] * TILES[1]),
    ],
)
def test_products(tile: str, expected: Any) -> None:
    got = values(feed("binary", tile, "0 S0 D", "1 S0 D", fn="mul"))
    np.testing.assert_array_equal(got, [expected])


def test_sums_align_axes_and_take_an_absent_operand_as_zero() -> None:
    def add(tile: str, a: str, b: str, **params: Scalar) -> list[Any]:
        return values(feed("binary", tile, f"{a} S0 D", f"{b} S0 D", fn="sub", **params))

    assert add("ij,j->ij", "0", "1") == [(TILES[0] - ROWS[1]).tolist()]
    assert add("i,ij->ji", "0", "1") == [(ROWS[0][:, None] - TILES[1]).T.tolist()]
    assert add("ij,j->ij", "0", "N") == [TILES[0].tolist()]
    assert add("ij,j->ij", "N", "1") == [np.broadcast_to(-ROWS[1], (2, 2)).tolist()]
    assert add("ij,j->ij", "N", "1", needs="a") == []
    assert add("ij,j->ij", "N", "N") == []


def test_an_absent_tile_is_zero_whatever_was_held_before() -> None:
    """In full channels the left operand waits in the node for the right one."""
    narrow = Machine.default(1)
    log = feed("binary", ",ij->ij", "0 N 1 N S0 D", "0 1 N 2 S0 D", machine=narrow, fn="sub")
    expected = [NUMBERS[0] - TILES[0], -TILES[1], np.full((2, 2), NUMBERS[1]), -TILES[2]]
    np.testing.assert_array_equal(values(log), expected)
    turned = feed("binary", "ij,->ij", "0 1 N 2 S0 D", "0 N 1 N S0 D", machine=narrow, fn="sub")
    np.testing.assert_array_equal(values(turned), -np.array(expected))


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        ("exp", np.exp),
        ("log", np.log),
        ("rsqrt", lambda x: 1 / np.sqrt(x)),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("relu", lambda x: x),
        ("scalaradd", lambda x: x - 3),
        ("scalarmul", lambda x: -3 * x),
    ],
)
def test_unary_functions(fn: str, expected: Any) -> None:
    (got,) = values(feed("unary", "ij->ji", "2 N S0 D", fn=fn, scalar=-3.0))
    np.testing.assert_allclose(got, expected(TILES[2].astype(np.float64)).T, rtol=1e-6)


def test_functions_of_tiles_are_those_of_numbers() -> None:
    for fn in UNARY:
        function = unary_function(fn)
        (tile,) = values(feed("unary", "ij->ij", "1 S0 D", fn=fn, scalar=2.5))
        scalars = [[np.float32(function(x, np.float32(2.5))) for x in row] for row in TILES[1]]
        np.testing.assert_array_equal(np.float32(tile), scalars)


def test_folds() -> None:
    tiles = "0 N S0 1 S1 D"
    assert values(feed("tilefold", "im->i", tiles, fn="max")) == TILES[:2].max(axis=2).tolist()
    assert values(feed("tilefold", "im->m", tiles, fn="add")) == TILES[:2].sum(axis=1).tolist()
    assert values(feed("tilefold", "im->", tiles, fn="add")) == TILES[:2].sum(axis=(1, 2)).tolist()
    turned = feed("tilefold", "ij->ji", tiles, fn="add")
    assert values(turned) == [tile.T.tolist() for tile in TILES[:2]]
    assert [str(token) for token, _ in turned if not is_number(token)] == ["N", "S0", "S1", "D"]


def test_reduction_of_tiles() -> None:
    total = feed("reduce", "ij", "0 1 S0 2 N S0 S1 D", fn="add")
    assert values(total) == [(TILES[0] + TILES[1]).tolist(), TILES[2].tolist()]
    top = feed("reduce", "ij", "0 1 S0 D", fn="max")
    assert values(top) == [np.maximum(TILES[0], TILES[1]).tolist()]
    np.testing.assert_array_equal(TILES, STORED["ij"])  # nothing was added in place


def test_sums_of_nothing_have_the_shape_of_a_tile_where_they_are_zero() -> None:
    """On the reference's machine, which gives an explicit 0."""
    assert values(feed("reduce", "ij", "S0 D", fn="add", machine=Machine.comal())) == [
        [[0, 0], [0, 0]]
    ]


# Timing (docs/spec/machine.md §5.5) -------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "tile", "fn", "stamps"),
    [
        # Operands arrive at 2, 3; the result follows a latency later, the next after an interval.
        ("binary", "ik,kj->ij", "mul", [2 + 3, 4 + 3]),  # 2b-1, b
        ("binary", "ij,j->i", "mul", [2 + 3, 3 + 3]),  # b² sums, b² a cycle
        ("binary", "ij,ij->ij", "mul", [2 + 4, 3 + 4]),  # b², 1
        ("binary", "ij,ij->ij", "add", [2 + 4, 3 + 4]),
        ("binary", "i,i->i", "add", [2 + 2, 3 + 2]),
        ("unary", "ij->ij", "exp", [2 + 2, 3 + 2]),  # b, 1
        ("tilefold", "ij->i", "add", [2 + 4, 3 + 4]),  # b², 1
    ],
)
def test_latency_and_interval(op: str, tile: str, fn: str, stamps: list[int]) -> None:
    refs = ["0 1 S0 D"] * (1 + (op == "binary"))
    log = feed(op, tile, *refs, fn=fn)
    assert [time for token, time in log if is_number(token)] == stamps


def test_a_reduced_tile_takes_its_size() -> None:
    log = feed("reduce", "ij", "0 1 S0 D", fn="add")
    assert [time for token, time in log if is_number(token)] == [4 + 4]


def test_loading_a_tile_takes_its_size() -> None:
    """On the machine's load latency, which scales."""
    node = Node(0, "array", (0,), (1,), {"tensor": "A", "tile": "ij", "block": 3})
    assert latency(node) == 9
    program = block_program(fl.parse("A: 4x4 dense\nB[i,j] = relu(A[i,j])"), 2)
    cycles = [
        fl.simulate(fl.compile(program), {"A": np.ones((4, 4))}, machine).cycles
        for machine in (Machine(load_latency=1), Machine(load_latency=3))
    ]
    assert cycles[1] - cycles[0] == 2 * 4


def test_work_of_a_tile() -> None:
    def node(op: str, tile: str) -> Node:
        return Node(0, op, (), (), {"tile": tile, "block": 4})

    assert flops_per_value(node("binary", "ik,kj->ij")) == 2 * 4**3 - 4**2
    assert flops_per_value(node("binary", "ij,ij->ij")) == 16
    assert flops_per_value(node("unary", "ij->ij")) == 16
    assert flops_per_value(node("reduce", "ij")) == 16
    assert flops_per_value(node("tilefold", "ij->i")) == 12
    assert flops_per_value(node("tilefold", "ij->ji")) == 0
    assert flops_per_value(Node(0, "binary", (), (), {"fn": "add"})) == 1
    assert interval(node("binary", "ik,kj->ij")) == 4
    assert interval(node("binary", "ij,kl->il")) == 16
    assert TileSpec(("ik", "kj"), "ij", 4).shape == (4, 4)


# Whole programs -----------------------------------------------------------------------------------

SPMM = "A: 8x8 csr block {0}\nX: 8x4 dense block {0}\nT[i,j] = A[i,k] * X[k,j]"


def spmm(block: int, engine: str = "auto") -> fl.Run:
    compiled = fl.compile(fl.parse(SPMM.format(block)))
    rng = np.random.default_rng(1)
    data = {"A": np.kron(np.eye(2), rng.random((4, 4))), "X": rng.random((8, 4))}
    return fl.simulate(compiled, data, engine=engine)


def test_dense_blocks_do_the_same_work_in_fewer_tokens() -> None:
    runs = {block: spmm(block) for block in (1, 2, 4)}
    assert all(run.check().ok for run in runs.values())
    products = 2 * 4 * 4 * 4  # two diagonal blocks times four columns, 4 x 4 x 4 each
    assert runs[4].work.flops == products * 2 - 2 * 16 + 2 * 16  # multiply, add up, accumulate
    assert runs[1].work.flops == 2 * products
    assert runs[4].tokens < runs[2].tokens < runs[1].tokens
    values_read = 2 * 16 + 2 * 16  # A, and the rows of X that it meets
    values_written = 32
    words = values_read + values_written
    assert runs[4].work.bytes < 4 * (words + 30)
    assert runs[4].work.bytes > 4 * words


def test_tiles_of_what_is_written() -> None:
    stored = spmm(2).outputs["T"]
    stored.verify()
    assert stored.values.shape[1:] == (2, 2)
    assert stored.tensor.format.blocked == (0, 1)


def test_an_empty_result_keeps_its_blocks() -> None:
    compiled = fl.compile(fl.parse(SPMM.format(2)))
    run = fl.simulate(compiled, {"A": np.zeros((8, 8)), "X": np.ones((8, 4))})
    assert run.outputs["T"].values.shape == (0, 2, 2)
    assert run.check().ok


@pytest.mark.parametrize("block", [1, 2, 4])
def test_both_engines_take_the_same_cycles(block: int) -> None:
    golden, kernel = (spmm(block, engine) for engine in ("interpreter", "compiled"))
    assert kernel.check().ok
    assert (golden.cycles, golden.tokens) == (kernel.cycles, kernel.tokens)


def test_graphs_without_blocks_are_left_alone() -> None:
    graph = fl.compile(fl.parse(SPMM.format(1))).regions[0].graph
    assert not is_tiled(graph)
    assert with_tiles(graph) is graph
    assert is_tiled(fl.compile(fl.parse(SPMM.format(2))).regions[0].graph)


def test_names_of_any_length_become_letters() -> None:
    program = fl.parse(
        "A: 4x4 csr block 2\nX: 4x4 dense block 2\n"
        "T[row,column] = A[row,inner] * X[inner,column]\nU[row,c] = T[row,inner] * X[inner,c]"
    )
    compiled = fl.compile(program, "fuse T..U")
    tiles = [n.params["tile"] for n in compiled.regions[0].graph.nodes if n.op == "binary"]
    assert tiles == ["ri,iI->rI", "ri,ic->rc"]  # inner' is the second index that begins so
    run = fl.simulate(compiled, {"A": np.eye(4), "X": np.arange(16.0).reshape(4, 4)})
    assert run.check().ok


def test_the_table_shows_what_happens_inside_tiles() -> None:
    program = fl.parse(
        "A: 4x4 csr block 2\nx: 4 dense block 2\nT[i,j] = A[i,j] - x[j]\nm[i] = max[j] T[i,j]"
    )
    table = fl.compile(program, "fuse T..m").regions[0].table
    assert str(table.cell("T", "val").expression) == "SUB[ij,j->ij](<A.val>,<x.val>)"
    assert "Fold[ij->i](<T.val>)" in str(table.cell("m", "val").expression)


def test_products_of_many_factors_contract_as_they_go() -> None:
    program = fl.parse(
        "A: 4x6 csr block 2\nB: 6x4 csr block 2\nC: 4x2 dense block 2\nv: 2 dense block 2\n"
        "Y[i] = product(A[i,k], B[k,j], C[j,l], v[l])"
    )
    compiled = fl.compile(program)
    tiles = [n.params["tile"] for n in compiled.regions[0].graph.nodes if n.op == "binary"]
    assert tiles == ["ik,kj->ij", "ij,jl->il", "il,l->i"]
    rng = np.random.default_rng(2)
    data = {name: rng.random(program.tensor(name).shape) for name in program.inputs}
    assert fl.simulate(compiled, data).check().ok


def test_tiles_too_large_for_an_alu_are_refused() -> None:
    program = fl.parse(
        "A: 512x512 csr block 512\nB: 512x512 csr block 512\nY[i] = product(A[i,j], B[k,l], A[j,k])"
    )
    with pytest.raises(LoweringError, match="Y makes tiles of 3 axes of 512") as caught:
        fl.compile(program)
    assert caught.value.hint is not None


def test_operands_of_a_concat_are_shifted_by_blocks() -> None:
    program = fl.parse("A: 4x2 csr block 2\nB: 4x6 csr block 2\nY[i,c] = concat[c](A[i,c], B[i,c])")
    compiled = fl.compile(program)
    offsets = [n.params["offset"] for n in compiled.regions[0].graph.nodes if n.op == "shift"]
    assert offsets == [0, 1]
    rng = np.random.default_rng(2)
    data = {
        name: rng.random(program.tensor(name).shape)
        * (rng.random(program.tensor(name).shape) < 0.3)
        for name in program.inputs
    }
    assert fl.simulate(compiled, data).check().ok


@pytest.mark.parametrize("fmt", ["csf", "csf block 2 over 0", "dense block 2", "coo"])
def test_reshapes_in_and_out_of_blocks(fmt: str) -> None:
    program = fl.parse(
        f"A: 4x6 csr block 2\nR: 8x3 {fmt.replace('dense block 2', 'dense block 2 over 0')}\n"
        "R[a,b] = reshape(A[i,j])\nY[a,b] = exp(R[a,b])"
    )
    array = np.zeros((4, 6))
    array[1, 2] = 2.0
    run = fl.simulate(fl.compile(program), {"A": array})
    assert run.check().ok
    assert fl.estimate(run.compilation, run.data).cycles > 0


def test_tokens() -> None:
    tile = TILES[0]
    assert is_number(tile)
    assert is_leaf(tile)
    assert is_value(tile)
    assert same(tile, tile)
    assert not same(tile, parse_tokens("S0")[0])
    assert format_token(np.array([[1, 2], [3, 4]], dtype=np.float32)) == "[1 2; 3 4]"
    assert format_token(np.array([1, 2.5], dtype=np.float32)) == "[1 2.5]"
    with pytest.raises(SimulationError, match="a tile has no encoding"):
        encode([tile])
