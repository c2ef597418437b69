"""Dealing a level to lanes: what is cloned, where it is collected, and what is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.passes.fanout_free import unwoven, woven
from fuseloom.dataflow.samml.passes.parallelise import apply_parallel, parallelise
from fuseloom.dataflow.samml.verify import verify
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import ScheduleError
from fuseloom.models import gcn, random_data, spmm
from fuseloom.program import StoredTensor, parse
from tests.dataflow.samml.passes import (
    PRESETS,
    SMALL,
    TOLERANCE,
    data_of,
    engines,
    in_lanes,
    indices,
    passed,
)
from tests.dataflow.samml.passes.dealt import ALIGNED, graph_of, ops

FACTORS = (2, 3, 4, 7, 8)

SPMM = "A: 8x8 csr\nX: 8x4 dense\nT[i,j] = A[i,k] * X[k,j]"

MAP = "A: 8 [compressed]\nT[i] = exp(A[i])"

SOFTMAX = """A: 6x9 csr
x[i] = max[m] A[i,m]
d[i,m] = A[i,m] - x[i]
e[i,m] = exp(d[i,m])
s[i] = e[i,m]
Y[i,m] = e[i,m] / s[i]"""


def test_the_rewrite_of_a_map() -> None:
    """Load and function are there once per lane; the coordinates pass the lanes by."""
    before, after = graph_of(MAP), parallelise(graph_of(MAP), "i", 2)
    assert ops(before) == Counter(root=1, scan=1, array=1, unary=1, crdwrite=1, valwrite=1)
    made = ops(after) - ops(before)
    assert made == Counter(array=1, unary=1, fork=1, ordered_join=1, broadcast=1)
    fork = next(n for n in after.nodes if n.op == "fork")
    join = next(n for n in after.nodes if n.op == "ordered_join")
    lanes = [after.nodes[after.consumer[s]] for s in fork.outputs if s is not None]
    assert [n.label for n in lanes] == ["Val A (i 0)", "Val A (i 1)"]
    assert join.params["levels"] == 0
    guide = after.nodes[after.producer[join.inputs[0]]]
    assert guide.op == "broadcast"
    assert after.nodes[after.producer[guide.inputs[0]]].op == "scan"
    reads = {after.nodes[after.consumer[s]].op for s in guide.outputs if s is not None}
    assert reads == {"ordered_join", "crdwrite"}


def test_an_accumulator_inside_the_index_is_cloned_and_its_row_collected() -> None:
    after = parallelise(graph_of(SPMM), "i", 4)
    assert ops(after)["spacc1"] == ops(after)["binary"] == 4
    joins = [n for n in after.nodes if n.op == "ordered_join"]
    assert [n.params["levels"] for n in joins] == [1, 1]
    assert {after.streams[n.outputs[0]].indices for n in joins if n.outputs[0]} == {("i", "j")}


def test_what_an_accumulator_over_the_index_reads_is_collected_first() -> None:
    after = parallelise(graph_of(SPMM), "k", 4)
    assert ops(after)["spacc1"] == 1
    assert ops(after)["binary"] == 4
    accumulator = next(n for n in after.nodes if n.op == "spacc1")
    outer, inner, val = (after.nodes[after.producer[s]] for s in accumulator.inputs)
    assert inner.op == val.op == "ordered_join"
    assert outer.op == "broadcast"  # the coordinates of k themselves pass the lanes by


def test_what_an_accumulator_over_an_outer_index_reads_is_collected_first() -> None:
    after = parallelise(graph_of(SPMM), "j", 2)
    assert ops(after)["spacc1"] == 1
    (join,) = (n for n in after.nodes if n.op == "ordered_join")
    assert join.params["levels"] == 0
    assert after.nodes[after.consumer[join.outputs[0] or 0]].op == "spacc1"


def test_a_reducer_in_a_lane_gets_a_guide() -> None:
    text = "A: 6x5 dense\nx[i] = A[i,j]"
    before = graph_of(text)
    assert [len(n.inputs) for n in before.nodes if n.op == "reduce"] == [1]
    after = parallelise(before, "i", 4)
    assert [len(n.inputs) for n in after.nodes if n.op == "reduce"] == [2] * 4
    compilation = compile_program(parse(text))
    data = {"A": np.ones((6, 5), np.float32)}
    for engine in engines(compilation):
        assert simulate(in_lanes(compilation, "i", 8), data, engine=engine).check().ok


def test_factor_one_is_the_graph_itself() -> None:
    graph = graph_of(SPMM)
    assert parallelise(graph, "i", 1) is graph
    assert apply_parallel(graph, [("i", 1), ("k", 1)]) is graph


def test_inner_lanes_lie_inside_outer_ones() -> None:
    after = apply_parallel(graph_of(SPMM), [("i", 2), ("k", 3)])
    verify(after)
    assert ops(after)["binary"] == 6
    assert ops(after)["spacc1"] == 2
    assert "* T (i 1) (k 2)" in {n.label for n in after.nodes}
    other = apply_parallel(graph_of(SPMM), [("k", 3), ("i", 2)])
    verify(other)
    assert ops(other)["binary"] == 6


def test_every_level_of_the_index_is_dealt_on_its_own() -> None:
    """Hidden features head a level where W1 is read, one per node and neighbour, one per node."""
    model = gcn(8, 6, 5, 3)
    (region,) = compile_program(model.program, model.presets["full"]).regions
    after = parallelise(region.graph, "n", 2)
    forked = {after.streams[n.inputs[0]].indices for n in after.nodes if n.op == "fork"}
    assert forked == {("i", "k", "p", "n"), ("i", "k", "n"), ("i", "n")}


@pytest.mark.parametrize(
    ("index", "factor", "message", "hint"),
    [
        ("z", 2, "no index 'z' to parallelise", "it has i, k, j"),
        ("i", 0, "index i cannot be dealt to 0 lanes", "1 to 1,024 lanes"),
        ("i", -3, "cannot be dealt to -3 lanes", "1 to 1,024"),
        ("i", 1_025, "cannot be dealt to 1025 lanes", "1 to 1,024"),
        ("i", True, "cannot be dealt to True lanes", "1 to 1,024"),
    ],
)
def test_refusals(index: str, factor: int, message: str, hint: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        parallelise(graph_of(SPMM), index, factor)
    assert message in str(caught.value)
    assert hint in str(caught.value)


def test_an_unknown_index_is_refused_for_one_lane_too() -> None:
    with pytest.raises(ScheduleError, match="no index 'z'"):
        parallelise(graph_of(SPMM), "z", 1)


def test_a_graph_without_names_is_refused() -> None:
    with pytest.raises(ScheduleError, match="its streams name no index variables"):
        parallelise(graph_of(SPMM).bare(), "i", 2)


def test_too_large_a_graph_is_refused() -> None:
    with pytest.raises(ScheduleError) as caught:
        parallelise(graph_of(SPMM), "i", 1_000, max_nodes=5_000)
    assert "1,000 lanes of i make" in str(caught.value)
    assert "more than 5,000 (hint: use fewer lanes)" in str(caught.value)


def test_the_same_index_twice_is_refused() -> None:
    once = parallelise(graph_of(SPMM), "i", 2)
    for again in (
        lambda: parallelise(once, "i", 2),
        lambda: apply_parallel(graph_of(SPMM), [("i", 2), ("i", 2)]),
    ):
        with pytest.raises(ScheduleError, match=r"parallelised (already|twice).*integer"):
            again()


def test_an_index_nothing_works_on_is_refused() -> None:
    """A joiner and writers alone read only the coordinates and payloads of an index."""
    graph = graph_of("A: 4x4 csr\nT[i,j] = A[i,j]")
    assert parallelise(graph, "j", 2) is not graph
    idle = graph_of("A: 4 [compressed]\nB: 4 dense\nx[] = A[k] * B[k]")
    verify(parallelise(idle, "k", 2))
    fanout_free = unwoven(graph_of(MAP))
    bare = [n for n in fanout_free.nodes if n.op not in ("array", "unary", "valwrite")]
    with pytest.raises(ScheduleError, match="index i has nothing to parallelise"):
        parallelise(woven(type(fanout_free)("copy", tuple(bare), fanout_free.streams)), "i", 2)


def check_lanes(name: str, preset: str, factors: tuple[int, ...], in_turn: bool = False) -> None:
    """Every index, both engines: the reference's results.

    The indices have all the factors, or one each, in turn.
    """
    model, data = SMALL[name], data_of(name)
    compilation = compile_program(model.program, model.presets.get(preset))
    every = sorted({x for r in compilation.regions for x in indices(r.graph)})
    for number, index in enumerate(every):
        for factor in (factors[number % len(factors)],) if in_turn else factors:
            lanes = in_lanes(compilation, index, factor)
            for engine in engines(lanes):
                check = simulate(lanes, data, engine=engine).check(TOLERANCE)
                assert check.ok, f"{factor} lanes of {index}, {engine}: {check}"


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        pytest.param(name, preset, marks=[pytest.mark.deep] * (name == "gpt3" and preset != "full"))
        for name, preset in PRESETS
    ],
)
def test_models_in_lanes(name: str, preset: str) -> None:
    check_lanes(name, preset, (3, 8), in_turn=True)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name, preset in PRESETS if name != "gpt3"]
)
def test_models_in_other_lanes(name: str, preset: str) -> None:
    check_lanes(name, preset, (2, 7, 4), in_turn=True)


@pytest.mark.fuzz
@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_models_in_all_lanes(name: str, preset: str) -> None:
    check_lanes(name, preset, FACTORS)


def rows(lengths: list[int], size: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Rows of that many entries."""
    dense = np.zeros((len(lengths), size), np.float32)
    for k, length in enumerate(lengths):
        dense[k, :length] = np.arange(1, length + 1) / 4
    return dense


@pytest.mark.parametrize(
    "lengths", [[0] * 6, [9] * 6, [0, 1, 9, 0, 0, 2], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 7]]
)
@pytest.mark.parametrize("order", [[("i", 4)], [("m", 4)], [("i", 4), ("m", 2)]])
def test_fibers_of_any_length(lengths: list[int], order: list[tuple[str, int]]) -> None:
    """Empty tensors, empty rows, rows shorter than the lanes are many, rests."""
    compilation = compile_program(parse(SOFTMAX), "fuse x..Y")
    lanes = passed(compilation, lambda g: apply_parallel(g, order))
    for engine in engines(lanes):
        assert simulate(lanes, {"A": rows(lengths, 9)}, engine=engine).check().ok


def cycles(compilation: Compilation, data: dict[str, StoredTensor]) -> int:
    return simulate(compilation, data, engine="compiled").cycles


def test_lanes_make_work_faster_where_rows_are_independent() -> None:
    """SpMM by rows scales with the lanes; over the reduced index the accumulator stays one."""
    model = spmm(64, 64, 16)
    data = random_data(model, 3)
    compilation = compile_program(model.program)
    one = cycles(compilation, data)
    four = cycles(in_lanes(compilation, "i", 4), data)
    assert one / four > 3
    assert cycles(in_lanes(compilation, "k", 4), data) > 0.9 * one


@pytest.mark.parametrize("index", ["i", "j", "l"])
def test_an_accumulator_of_two_levels_in_lanes(index: str) -> None:
    compilation = compile_program(parse(ALIGNED), "fuse T..Y")
    rng = np.random.default_rng(7)
    data = {
        name: (rng.random(shape) < 0.6).astype(np.float32)
        for name, shape in (("A", (4, 5)), ("B", (4, 6)), ("C", (5, 6)))
    }
    for factor in FACTORS:
        lanes = in_lanes(compilation, index, factor)
        for engine in engines(lanes):
            assert simulate(lanes, data, engine=engine).check().ok
