"""The least capacity that ends a deadlock is found, and one slot less does not do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.explain.diagnose import Diagnosis, diagnose_deadlock, run_diagnosed
from fuseloom.errors import DeadlockError, SimulationError
from tests.dataflow.sim.explain.test_critical import Sketch
from tests.dataflow.sim.test_deadlock import softmax_like
from tests.property.random_graphs import random_graph

OURS = Machine.default()
SEED = 20_261_123


def softmax_85(capacity: int) -> tuple[BoundGraph, Machine]:
    """docs/spec/machine.md §12.2: rows {1, 3} and {-1}, all channels of one capacity."""
    g = Sketch()
    row = g.source("a", "val", "1 3 S0 -1 S1 D", after=3)
    crds = [g.source(f"crd {k}", "crd", "0 2 S0 1 S1 D", after=3) for k in (1, 2)]
    to_max, kept = g.add("fan a", "broadcast", (row,), "val val")
    top = g.add("max", "reduce", (to_max,), "val", fn="max")
    signal = g.add("signal 1", "repsig", (crds[0],), "sig")
    again = g.add("repeat max", "repeat", (top, signal), "val")
    e = g.add("sub", "binary", (kept, again), "val", fn="sub")
    e = g.add("exp", "unary", (e,), "val", fn="exp")
    to_sum, held = g.add("fan exp", "broadcast", (e,), "val val")
    total = g.add("sum", "reduce", (to_sum,), "val", fn="add")
    signal = g.add("signal 2", "repsig", (crds[1],), "sig")
    again = g.add("repeat sum", "repeat", (total, signal), "val")
    out = g.add("div", "binary", (held, again), "val", fn="div")
    g.add("out", "valwrite", (out,), tensor="X")
    return g.bound(), Machine.default(capacity)


def widened(bound: BoundGraph, machine: Machine, found: Diagnosis, less: int = 0) -> BoundGraph:
    streams = list(bound.graph.streams)
    for w in found.widenings:
        assert machine.capacity_of(streams[w.stream]) == w.before
        streams[w.stream] = replace(streams[w.stream], capacity=w.after - less)
    return replace(bound, graph=replace(bound.graph, streams=tuple(streams)))


def test_the_example_of_the_specification() -> None:
    """Capacity 1 deadlocks, 2 takes 33 cycles, 4 takes 23: so one slot more is enough."""
    bound, machine = softmax_85(1)
    with pytest.raises(DeadlockError):
        run_graph(bound, machine, "interpreter")
    assert run_graph(*softmax_85(2), "interpreter").cycles == 33
    assert run_graph(*softmax_85(4), "interpreter").cycles == 23
    for engine in ("interpreter", "compiled"):
        found = diagnose_deadlock(bound, machine, engine=engine)
        assert found is not None
        assert found.increase == 1
        assert {(w.before, w.after) for w in found.widenings} == {(1, 2)}
        assert run_graph(widened(bound, machine, found), machine, engine).cycles == found.cycles


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_a_row_has_to_fit(engine: str) -> None:
    bound = softmax_like(1)
    (kept,) = [s.id for s in bound.graph.streams if s.label == "kept"]
    found = diagnose_deadlock(bound, OURS, engine=engine)
    assert found is not None
    assert [w.stream for w in found.widenings] == [kept]
    for slots in range(1, found.widenings[0].after + 1):
        streams = list(bound.graph.streams)
        streams[kept] = replace(streams[kept], capacity=slots)
        trial = replace(bound, graph=replace(bound.graph, streams=tuple(streams)))
        if slots < found.widenings[0].after:
            with pytest.raises(DeadlockError):
                run_graph(trial, OURS, engine)
        else:
            assert run_graph(trial, OURS, engine).cycles == found.cycles


def test_the_error_names_the_remedy() -> None:
    with pytest.raises(DeadlockError) as caught:
        run_diagnosed(softmax_like(1), OURS, "interpreter")
    assert caught.value.hint is not None
    assert "the least is stream kept: 3 slots instead of 1" in caught.value.hint


def test_a_run_that_ends_needs_nothing() -> None:
    assert diagnose_deadlock(softmax_like(8), OURS) is None


def test_the_search_is_bounded() -> None:
    with pytest.raises(SimulationError, match="more than 3 tokens"):
        diagnose_deadlock(softmax_like(1), OURS, engine="interpreter", limit=3)


@pytest.mark.deep  # takes seconds
def test_random_deadlocks_have_least_remedies() -> None:
    print(f"seeds from {SEED}")
    resolved = 0
    for seed in range(SEED, SEED + 250):
        bound = random_graph(seed)
        for machine in (Machine.default(1), Machine.default(2)):
            try:
                found = diagnose_deadlock(bound, machine, engine="interpreter")
            except SimulationError:
                continue
            if found is None:
                continue
            resolved += 1
            ended = run_graph(widened(bound, machine, found), machine, "interpreter")
            assert ended.cycles == found.cycles
            with pytest.raises(DeadlockError):
                run_graph(widened(bound, machine, found, less=1), machine, "interpreter")
            for w in found.widenings if len(found.widenings) > 1 else ():
                others = tuple(o for o in found.widenings if o is not w)
                fewer = widened(bound, machine, replace(found, widenings=others))
                with pytest.raises(DeadlockError):
                    run_graph(fewer, machine, "interpreter")
    assert resolved > 4
