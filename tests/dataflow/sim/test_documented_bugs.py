"""Each bug that docs/spec/comal.md §2 documents: what the default machine does, on both engines.

===  ==============================================  ==========================================
No.  Bug of the reference                            Here
===  ==============================================  ==========================================
1    scanner puts no stop for N                      an empty fiber
2    intersect livelocks, union loses references     N never reaches a coordinate stream
3    repeat ignores the stop after N                 merged
4    max-reduce restarts at 0                        starts from nothing
5    accumulator of order 1 fails on empty fibers    right
6    that of order 2 puts no inner stops             right
7    coordinate dropper leaves inner stops           taken
8    value dropper discards every second stop        stops pass
9    mask and flattener lose stops                   every fiber keeps its stop
10   join's stop levels                              ``ordered_join``
11   level writer ignores repeated stops             a dropper upstream makes them superfluous
12   locate ignores the parent reference             ``locate`` adds it
13   an absent operand counts as 0 in products       absent result
14   functions missing on blocks, zeros, max by rows each function of each number
15   nodes end with unread input                     every channel is read to its end
16   accumulators of order 3 and more are missing    any order up to 6
17   "row misses" of the compressed scanner          no such model: a cycle per coordinate
18   panicked nodes vanish from the elapsed cycles   the run fails, naming the node and the cycle
===  ==============================================  ==========================================

Left out, as they concern the reference's driver or its reports only: orders of accumulators that
its driver drops silently (part of 16), what its command line prints (part of 18).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import BenchRun, bench
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.tokens import encode, is_number, parse_tokens
from fuseloom.errors import DeadlockError, SimulationError

ADD, MAX = {"fn": "add"}, {"fn": "max"}
REF, VAL, CRD = StreamKind.REF, StreamKind.VAL, StreamKind.CRD
COMAL = Machine.comal()


@pytest.fixture(params=["interpreter", "compiled"])
def run(request: pytest.FixtureRequest) -> Any:
    """The test bench on one of the engines."""

    def on_engine(op: str, *inputs: str, **options: Any) -> BenchRun:
        return bench(op, *inputs, engine=request.param, **options)

    return on_engine


def test_1_a_scanner_makes_an_empty_fiber_of_an_empty_reference(run: Any) -> None:
    arrays = {"seg": [0, 1, 3], "crd": [4, 5, 6]}
    assert run("scan", "0 N S0 N 1 S1 D", arrays=arrays).tokens[0] == "4 S0 S1 S0 5 6 S2 D"


def test_2_an_absent_operand_is_an_empty_fiber_to_a_joiner(run: Any) -> None:
    arrays = {"seg": [0, 1, 3], "crd": [4, 5, 6]}
    a = run("scan", "0 N 1 S0 D", arrays=arrays).tokens
    b = run("scan", "1 1 N S0 D", arrays=arrays).tokens
    both = run("union", *a, *b, outputs=3, params={"gate": 0}).tokens
    assert both[0] == "4 5 6 S0 5 6 S0 5 6 S1 D"
    assert both[1:] == ("0 N N S0 N N S0 1 2 S1 D", "N 1 2 S0 1 2 S0 N N S1 D")
    assert run("intersect", *a, *b, outputs=3).tokens == ("S0 S0 S1 D",) * 3
    for op, params in (("union", {"gate": 0}), ("intersect", {})):  # and no livelock
        with pytest.raises(SimulationError, match="operand"):
            run(op, "N S0 D", "0 S0 D", "1 S0 D", "0 S0 D", outputs=3, params=params)


def test_3_repeat_merges_the_stop_after_an_empty_token(run: Any) -> None:
    assert run("repeat", "5 N S0 D", "R S R S D").tokens == ("5 S0 N S1 D",)


def test_4_a_maximum_starts_from_nothing_in_every_fiber(run: Any) -> None:
    assert run("reduce", "-1 S0 -2 S0 S1 D", params=MAX).tokens == ("-1 -2 N S0 D",)


def test_5_an_accumulator_takes_empty_fibers_anywhere(run: Any) -> None:
    params = {"fn": "add", "dim": 9}
    streams = ("S0 0 S0 1 2 S1 D", "S1 5 S1 S0 5 S2 D", "S1 5 S1 S0 N S2 D")
    assert run("spacc1", *streams, params=params).tokens == ("S0 5 S0 S1 D", "S0 5 S0 S1 D")


def test_6_so_does_that_of_order_2(run: Any) -> None:
    streams = ("0 1 S0 S1 D", "3 S0 S1 S2 D", "1 S1 S2 S3 D", "5 S1 S2 S3 D")
    assert run("spacc2", *streams, params=ADD).tokens == ("3 S0 S1 D", "1 S1 S2 D", "5 S1 S2 D")


def test_7_a_dropper_takes_the_stop_of_an_empty_outer_fiber(run: Any) -> None:
    inner, outer = "3 S1 S1 4 S2 D", "0 S0 S0 1 S1 D"
    assert run("crddrop", inner, outer).tokens == (inner, outer)


def test_8_stops_pass_a_dropper_of_zeros(run: Any) -> None:
    values = "1 S0 2 S0 0 3 S0 4 S1 D"
    assert run("zerodrop", values, values).tokens == ("1 S0 2 S0 3 S0 4 S1 D",) * 2
    assert run("zerodrop", values, values, machine=COMAL).tokens == ("1 S0 2 3 S0 4 D",) * 2


def test_9_a_masked_fiber_keeps_its_stop(run: Any) -> None:
    """Elements left of the diagonal go."""
    outer = "0 2 S0 S0 3 1 S1 D"
    inner = "0 1 S0 0 1 S1 S1 0 2 S0 0 1 S2 D"
    refs = "0 1 S0 2 3 S1 S1 4 5 S0 6 7 S2 D"
    kept, above, loads = run("crdmask", inner, outer, refs).tokens
    assert kept == "0 1 S0 S1 S1 S0 1 S2 D"
    assert loads == "0 1 S0 S1 S1 S0 7 S2 D"
    assert above == outer
    # A dropper behind it then drops the two outer coordinates that have nothing left.
    assert run("crddrop", kept, above).tokens[1] == "0 S0 S0 1 S1 D"
    lost = run("crdmask", "0 1 S0 0 1 S1 D", "0 2 S0 D", "0 1 S0 2 3 S1 D", machine=COMAL)
    assert lost.tokens == ("0 1 S0 D", "0 S0 D", "0 1 S0 D")


@pytest.mark.parametrize(
    ("inner", "outer", "flat"),
    [
        ("1 2 S0 0 S1 D", "0 3 S0 D", "1 2 30 S0 D"),
        ("1 S0 S0 2 S1 D", "0 1 2 S0 D", "1 22 S0 D"),
        ("1 S1 S1 0 S0 4 S2 D", "5 S0 S0 1 2 S1 D", "51 S0 S0 10 24 S1 D"),
        ("S1 S2 D", "S0 3 S1 D", "S0 S1 D"),
        ("S1 D", "S0 D", "S0 D"),
    ],
)
def test_9_a_flattener_puts_every_stop(run: Any, inner: str, outer: str, flat: str) -> None:
    assert run("flatten", inner, outer, params={"factor": 10}).tokens == (flat,)


def test_9_the_reference_loses_the_last_stop(run: Any) -> None:
    streams, params = ("1 2 S0 0 S1 D", "0 3 S0 D"), {"factor": 10}
    assert run("flatten", *streams, params=params, machine=COMAL).tokens == ("1 2 30 D",)
    assert run("flatten", *streams, params=params).outputs == ("1@2 2@3 30@5 S0@6 D@7",)


def test_10_lanes_of_different_lengths_are_joined_in_order(run: Any) -> None:
    lanes = ("1 S0 3 S1 D", "2 S1 D")
    assert run("join", *lanes).tokens == ("1 S0 2 S1 3 S0 D",)
    joined = run("ordered_join", "0 1 2 S0 D", *lanes, params={"levels": 1})
    assert joined.tokens == ("1 S0 2 S0 3 S1 D",)


def test_11_a_level_is_written_right_behind_a_dropper(run: Any) -> None:
    inner, outer = run("crddrop", "S0 4 5 S0 S0 6 S1 D", "0 1 2 3 S0 D").tokens
    written = run("crdwrite", inner, params={"tensor": "X", "level": 1}).written
    assert written["seg"].tolist() == [0, 2, 3]
    assert written["crd"].tolist() == [4, 5, 6]
    assert outer == "1 3 S0 D"


def test_12_locate_adds_the_parent_reference(run: Any) -> None:
    assert run("locate", "1 2 S0 D", "0 3 S0 D", params={"dim": 10}).tokens == ("1 32 S0 D",)


@pytest.mark.parametrize(("fn", "result"), [("mul", "N N N"), ("div", "N N N"), ("add", "6 3 N")])
def test_13_an_absent_operand(run: Any, fn: str, result: str) -> None:
    made = run("binary", "6 N N S0 D", "N 3 N S0 D", params={"fn": fn})
    assert made.tokens == (f"{result} S0 D",)


TILES = np.array([[[1, -5], [0, 2]], [[3, -4], [-1, 2]], [[0, 1], [1, 0]]], np.float32)


def on_tiles(
    engine: str, op: str, inputs: dict[str, str], params: dict[str, Any], out: int
) -> list[Any]:
    """Tokens of output ``out`` of a node; inputs named val carry the tiles of those numbers."""
    nodes, streams, arrays, taken = [], [], {}, []
    for name, text in inputs.items():
        kind = REF if name.startswith("val") else CRD
        streams.append(Stream(len(streams), kind, 1))
        arrays[len(nodes)] = {"tokens": encode(parse_tokens(text, kind))}
        nodes.append(Node(len(nodes), "source", (), (len(streams) - 1,), {"kind": kind.value}))
        if kind is REF:
            streams.append(Stream(len(streams), VAL, 1))
            arrays[len(nodes)] = {"vals": TILES}
            load = {"tensor": "A", "tile": "ij", "block": 2}
            nodes.append(Node(len(nodes), "array", (len(streams) - 2,), (len(streams) - 1,), load))
        taken.append(len(streams) - 1)
    kinds = {"union": [CRD, VAL, VAL], "spacc1": [CRD, VAL]}.get(op, [VAL])
    made = tuple(range(len(streams), len(streams) + len(kinds)))
    streams += [Stream(s, kind, 1) for s, kind in zip(made, kinds, strict=True)]
    nodes.append(Node(len(nodes), op, tuple(taken), made, params))
    nodes += [Node(len(nodes) + k, "sink", (s,), ()) for k, s in enumerate(made)]
    bound = BoundGraph(Graph("tiles", tuple(nodes), tuple(streams)), arrays)
    log = run_graph(bound, Machine.default(), engine, log=True).log
    assert log is not None
    return [token.tolist() if is_number(token) else str(token) for token, _ in log[made[out]]]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_14_blocks(engine: str) -> None:
    tile = {"tile": "ij", "block": 2}
    first, second, third = TILES.tolist()
    for fn in ("exp", "sigmoid", "max"):
        params = {**tile, "tile": "ij->ij", "fn": fn, "scalar": 1.0}
        (got, *_) = on_tiles(engine, "unary", {"val": "0 S0 D"}, params, 0)
        x = TILES[0].astype(np.float64)
        right = {"exp": np.exp(x), "sigmoid": 1 / (1 + np.exp(-x)), "max": np.maximum(x, 1)}
        np.testing.assert_allclose(got, right[fn], rtol=1e-6)
    params = {**tile, "tile": "ij,ij->ij", "fn": "div"}
    (got, *_) = on_tiles(engine, "binary", {"val": "0 S0 D", "val2": "1 S0 D"}, params, 0)
    np.testing.assert_allclose(got, TILES[0] / TILES[1], rtol=1e-6)
    (got, *_) = on_tiles(engine, "reduce", {"val": "0 1 S0 D"}, {**tile, **MAX}, 0)
    assert got == np.maximum(TILES[0], TILES[1]).tolist()
    streams = {"outer": "0 1 S0 D", "inner": "3 S0 3 4 S1 D", "val": "0 S0 1 2 S1 D"}
    got = on_tiles(engine, "spacc1", streams, {**tile, "fn": "add", "dim": 9}, 1)
    assert got == [(TILES[0] + TILES[1]).tolist(), third, "S0", "D"]
    streams = {"a": "0 1 S0 D", "val": "0 1 S0 D", "b": "1 S0 D", "val2": "2 S0 D"}
    assert on_tiles(engine, "union", streams, {"gate": 0}, 1) == [first, second, "S0", "D"]
    assert on_tiles(engine, "union", streams, {"gate": 0}, 2) == ["N", third, "S0", "D"]


HELD = {
    "repeat": ("4 5 S0 D", "R R S R S D", {}),
    "crdhold": ("5 6 S0 S0 7 S1 D", "0 1 2 S0 D", {}),
    "flatten": ("5 6 S0 S0 7 S1 D", "0 1 2 S0 D", {"factor": 10}),
}


@pytest.mark.parametrize("op", HELD)
@pytest.mark.parametrize("capacity", [1, 2, None])
def test_15_every_input_is_read_to_its_end(run: Any, op: str, capacity: int | None) -> None:
    first, second, params = HELD[op]
    ours = run(op, first, second, params=params, capacity=capacity).result
    np.testing.assert_array_equal(ours.taken, ours.tokens)
    if capacity is None:
        theirs = run(op, first, second, params=params, machine=COMAL).result
        assert theirs.taken.sum() < theirs.tokens.sum()


def test_15_a_mask_reads_all_too(run: Any) -> None:
    result = run("crdmask", "5 6 S0 1 S1 D", "0 3 S0 D", "0 1 S0 2 S1 D").result
    np.testing.assert_array_equal(result.taken, result.tokens)


@pytest.mark.parametrize(
    ("op", "first", "second", "params"),
    [
        ("repeat", "4 5 S0 D", "R S D", {}),
        ("crdhold", "5 S1 D", "0 S0 4 S0 D", {}),
        ("flatten", "5 S1 D", "0 S0 4 S0 D", {"factor": 2}),
    ],
)
def test_15_an_input_that_goes_on_is_reported(
    run: Any, op: str, first: str, second: str, params: dict[str, int]
) -> None:
    with pytest.raises(SimulationError, match="goes on after the others"):
        run(op, first, second, params=params)


def test_a_hold_is_right_where_an_inner_fiber_is_empty(run: Any) -> None:
    """The reference takes an empty fiber for the outer stop before it."""
    inner, outer = "5 S1 S0 7 S2 D", "0 S0 1 2 S1 D"
    assert run("crdhold", inner, outer).tokens == (inner, "0 S1 S0 2 S2 D")
    assert run("crdhold", inner, outer, machine=COMAL).tokens == (inner, "0 S1 S0 1 S2 D")


@pytest.mark.parametrize("order", [3, 4, 5, 6])
def test_16_accumulators_of_any_order(run: Any, order: int) -> None:
    """Two outer coordinates that open one path each, which part at the last coordinate."""
    paths = [f"3 S0 3 S{1} D"]
    for level in range(1, order):
        last = "1 S{0} 2 S{1} D" if level == order - 1 else "1 S{0} 1 S{1} D"
        paths.append(last.format(level, level + 1))
    values = f"5 S{order - 1} 7 S{order} D"
    made = run(f"spacc{order}", "0 1 S0 D", *paths, values, params=ADD).tokens
    assert made[0] == "3 S0 D"
    assert made[1:-2] == tuple(f"1 S{level} D" for level in range(1, order - 1))
    assert made[-2:] == (f"1 2 S{order - 1} D", f"5 7 S{order - 1} D")


def test_17_every_coordinate_takes_a_cycle(run: Any) -> None:
    made = run("scan", "0@1 S0@2 D@3", arrays={"seg": [0, 40], "crd": range(40)})
    times = [int(item.partition("@")[2]) for item in made.outputs[0].split()]
    assert times == list(range(2, 44))


def test_18_a_node_that_fails_fails_the_run(run: Any) -> None:
    with pytest.raises(SimulationError, match=r"^binary at cycle 2: operands disagree") as caught:
        run("binary", "1 S0 D", "1 2 S0 D", params=ADD)
    assert not isinstance(caught.value, DeadlockError)
