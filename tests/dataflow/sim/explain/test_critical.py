"""Critical paths of small graphs whose bottleneck is known beforehand, on both engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.explain.critical import (
    CriticalPath,
    PathCause,
    Segment,
    critical_path,
    explained,
)
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.tokens import encode, parse_tokens
from fuseloom.errors import SimulationError
from fuseloom.models import gcn, karate

OURS = Machine.default()
LOGGED = Observe(log=True)
KINDS = {kind.value: kind for kind in StreamKind}


@dataclass
class Sketch:
    """A graph in the making; streams carry the label of their producer."""

    nodes: list[Node] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    arrays: dict[int, dict[str, Any]] = field(default_factory=dict)

    def add(self, label: str, op: str, ins: tuple[int, ...], outs: str = "", **params: Any) -> Any:
        """A node; its only output stream, or all of them."""
        made = []
        for kind in outs.split():
            made.append(len(self.streams))
            self.streams.append(Stream(len(self.streams), KINDS[kind], 1, label))
        self.nodes.append(Node(len(self.nodes), op, ins, tuple(made), params, label))
        return made[0] if len(made) == 1 else tuple(made)

    def source(self, label: str, kind: str, tokens: str, every: int = 1, after: int = 0) -> int:
        """Tokens at cycles ``after + 1``, ``after + 1 + every``, ..."""
        made: int = self.add(label, "source", (), kind, kind=kind)
        times = after + 1 + every * np.arange(len(tokens.split()))
        self.arrays[self.nodes[-1].id] = {
            "tokens": encode(parse_tokens(tokens, KINDS[kind])),
            "times": times.astype(np.int64),
        }
        return made

    def bound(self) -> BoundGraph:
        return BoundGraph(Graph("small", tuple(self.nodes), tuple(self.streams)), self.arrays)


def row(count: int) -> str:
    return " ".join(map(str, range(1, count + 1))) + " S0 D"


def number(bound: BoundGraph, label: str) -> int:
    return next(node.id for node in bound.graph.nodes if node.label == label)


def with_params(bound: BoundGraph, label: str, **params: Any) -> BoundGraph:
    nodes = list(bound.graph.nodes)
    k = number(bound, label)
    nodes[k] = replace(nodes[k], params={**nodes[k].params, **params})
    return replace(bound, graph=replace(bound.graph, nodes=tuple(nodes)))


def with_capacity(bound: BoundGraph, label: str, slots: int | None) -> BoundGraph:
    streams = tuple(
        replace(s, capacity=slots) if s.label == label else s for s in bound.graph.streams
    )
    return replace(bound, graph=replace(bound.graph, streams=streams))


def sooner(bound: BoundGraph, label: str) -> BoundGraph:
    """The source with half of its clocks, rounded up: a token at ``t`` is put at ``t - 1``."""
    k = number(bound, label)
    arrays = {**bound.arrays[k], "times": bound.arrays[k]["times"] // 2 + 1}
    return replace(bound, arrays={**bound.arrays, k: arrays})


def slow_alu() -> BoundGraph:
    g = Sketch()
    a = g.add("slow", "unary", (g.source("in", "val", row(20)),), "val", fn="exp", ii=4)
    b = g.add("quick", "unary", (a,), "val", fn="relu", latency=3)
    g.add("out", "valwrite", (b,), tensor="X")
    return g.bound()


def slow_source() -> BoundGraph:
    g = Sketch()
    a = g.add("alu", "unary", (g.source("in", "val", row(12), every=5),), "val", fn="relu", ii=3)
    g.add("out", "valwrite", (a,), tensor="X")
    return g.bound()


def long_reduction() -> BoundGraph:
    """The sum of 40 values meets one value that has long been there."""
    g = Sketch()
    a = g.add("square", "unary", (g.source("many", "val", row(40)),), "val", fn="relu", ii=2)
    total = g.add("sum", "reduce", (a,), "val", fn="add")
    one = g.add("prepare", "unary", (g.source("one", "val", "5 D"),), "val", fn="exp", latency=9)
    g.add("out", "valwrite", (g.add("add", "binary", (total, one), "val", fn="add"),), tensor="X")
    return g.bound()


def one_slot() -> BoundGraph:
    """A channel of one slot carries a token every other cycle."""
    g = Sketch()
    a = g.add("first", "unary", (g.source("in", "val", row(30)),), "val", fn="relu")
    b = g.add("second", "unary", (a,), "val", fn="relu")
    g.add("out", "valwrite", (b,), tensor="X")
    return with_capacity(with_capacity(g.bound(), "first", 1), "second", 8)


def late_operand() -> BoundGraph:
    g = Sketch()
    left = g.source("left crd", "crd", row(6)), g.source("left ref", "ref", row(6))
    right = g.source("late crd", "crd", row(6), every=7), g.source("right ref", "ref", row(6))
    crd, *refs = g.add("and", "intersect", (*left, *right), "crd ref ref")
    g.add("out", "crdwrite", (crd,), tensor="X", level=0)
    for k, ref in enumerate(refs):
        g.add(f"drain {k}", "sink", (ref,))
    return g.bound()


def flush() -> BoundGraph:
    """A row of 16 leaves an accumulator in one cycle and is written one by one."""
    g = Sketch()
    outer = g.source("outer", "crd", "0 S0 D")
    inner = g.source("inner", "crd", " ".join(map(str, range(16))) + " S1 D")
    values = g.source("values", "val", " ".join("1" * 16) + " S1 D")
    crd, val = g.add("accumulate", "spacc1", (outer, inner, values), "crd val", fn="add", dim=16)
    g.add("coordinates", "crdwrite", (crd,), tensor="X", level=0)
    slow = g.add("scale", "unary", (val,), "val", fn="scalarmul", scalar=2.0, ii=3)
    g.add("values out", "valwrite", (slow,), tensor="X")
    return g.bound()


def block_load() -> BoundGraph:
    g = Sketch()
    val = g.add("load", "array", (g.source("refs", "ref", "0 1 S0 D"),), "val", latency=60)
    g.arrays[g.nodes[-1].id] = {"vals": np.array([1, 2], np.float32)}
    b = g.add("alu", "unary", (val,), "val", fn="relu", latency=2)
    g.add("out", "valwrite", (b,), tensor="X")
    return g.bound()


def softmax() -> BoundGraph:
    """docs/spec/machine.md §12.2: what is divided waits for the repeated maximum of its row."""
    g = Sketch()
    row_, kept = g.add("fan", "broadcast", (g.source("in", "val", row(9)),), "val val")
    slow = g.add("widen", "unary", (row_,), "val", fn="relu", ii=3)
    top = g.add("max", "reduce", (slow,), "val", fn="max")
    signal = g.add("signal", "repsig", (g.source("crd", "crd", row(9)),), "sig")
    again = g.add("repeat", "repeat", (top, signal), "val")
    out = g.add("subtract", "binary", (kept, again), "val", fn="sub")
    g.add("out", "valwrite", (out,), tensor="X")
    return g.bound()


def heavy_lane() -> BoundGraph:
    g = Sketch()
    lanes = g.add("fork", "fork", (g.source("in", "val", row(24)),), "val val")
    light = g.add("light", "unary", (lanes[0],), "val", fn="relu", ii=2)
    heavy = g.add("heavy", "unary", (lanes[1],), "val", fn="relu", ii=8)
    for label, lane in (("light out", light), ("heavy out", heavy)):
        g.add(label, "valwrite", (lane,), tensor="X")
    return g.bound()


def serial_join() -> BoundGraph:
    """Four lanes scan side by side what one join collects."""
    g = Sketch()
    lanes = g.add("fork", "fork", (g.source("in", "ref", "0 1 2 3 S0 D"),), "ref ref ref ref")
    crds = []
    for k, lane in enumerate(lanes):
        crd, ref = g.add(f"scan {k}", "dense_scan", (lane,), "crd ref", dim=10)
        g.add(f"drain {k}", "sink", (ref,))
        crds.append(crd)
    g.add("out", "crdwrite", (g.add("join", "join", tuple(crds), "crd"),), tensor="X", level=0)
    return g.bound()


Change = Callable[[BoundGraph], BoundGraph]


def halved(label: str, **params: int) -> Change:
    return lambda bound: with_params(bound, label, **params)


@dataclass(frozen=True)
class PathCase:
    """A graph, the node or stream that holds it up, and what helps and what does not."""

    make: Callable[[], BoundGraph]
    on_path: tuple[str, ...]
    off_path: tuple[str, ...]
    bottleneck: str | None = None
    faster: Change | None = None
    useless: Mapping[str, Change] = field(default_factory=dict)


CASES = {
    "slow ALU": PathCase(
        slow_alu, ("slow",), (), "slow", halved("slow", ii=2), {"room": halved("quick", ii=1)}
    ),
    "slow source": PathCase(
        slow_source, ("in",), (), "in", lambda b: sooner(b, "in"), {"alu": halved("alu", ii=1)}
    ),
    "long reduction": PathCase(
        long_reduction, ("square", "sum", "add"), ("one", "prepare"), "square",
        halved("square", ii=1), {"prepare": halved("prepare", latency=5)},
    ),
    "one slot": PathCase(
        one_slot, ("first", "second"), (), None, lambda b: with_capacity(b, "first", 2),
        {"other channel": lambda b: with_capacity(b, "second", 16)},
    ),
    "late operand": PathCase(
        late_operand, ("late crd", "and", "out"), ("left crd", "left ref", "right ref"),
        "late crd", lambda b: sooner(b, "late crd"),
        {"left": lambda b: sooner(b, "left crd")},
    ),
    "flush": PathCase(
        flush, ("accumulate", "scale", "values out"), ("coordinates", "outer"), "scale",
        halved("scale", ii=2),
        {"more slots": lambda b: with_capacity(b, "accumulate", 100)},
    ),
    "block load": PathCase(
        block_load, ("load", "out"), (), "load", halved("load", latency=30),
        {"slots": lambda b: with_capacity(b, "load", 10)},
    ),
    "softmax": PathCase(
        softmax, ("widen", "max", "repeat", "subtract"), ("crd", "signal"), "widen",
        halved("widen", ii=2), {"crd": lambda b: sooner(b, "crd")},
    ),
    "heavy lane": PathCase(
        heavy_lane, ("heavy", "heavy out"), ("light", "light out"), "heavy",
        halved("heavy", ii=4), {"light": halved("light", ii=1)},
    ),
    "serial join": PathCase(
        serial_join, ("join", "out"), ("scan 3",), "join", None,
        {"slots": lambda b: with_capacity(b, "fork", 50)},
    ),
}  # fmt: skip


def path_of(bound: BoundGraph, engine: str) -> CriticalPath:
    return critical_path(run_graph(bound, OURS, engine, observe=LOGGED))


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("name", CASES)
def test_the_bottleneck_is_named(name: str, engine: str) -> None:
    case = CASES[name]
    bound = case.make()
    path = path_of(bound, engine)
    labels = {bound.graph.nodes[s.node].label for s in path.segments}
    assert labels >= set(case.on_path)
    assert not labels & set(case.off_path)
    if case.bottleneck is not None:
        assert path.bottleneck == number(bound, case.bottleneck)
    for change in case.useless.values():
        assert run_graph(change(bound), OURS, engine).cycles == path.cycles
    if case.faster is not None:
        faster = run_graph(case.faster(bound), OURS, engine).cycles
        assert faster < path.cycles
        if case.bottleneck is not None:
            assert faster >= path.what_if(number(bound, case.bottleneck)).cycles


def test_every_cycle_of_a_slow_alu() -> None:
    """Three values at ii 4 and latency 6, by hand.

    The source puts 1, 2, 3, S0, D at clocks 0 to 4; the ALU takes them at 1, 5, 9, 13, 17 and
    stamps the last value 9 + 6, the final token 17 + 1, which the writer takes at 18 and ends
    at 19.
    """
    g = Sketch()
    a = g.add("alu", "unary", (g.source("in", "val", row(3)),), "val", fn="exp", ii=4, latency=6)
    g.add("out", "valwrite", (a,), tensor="X")
    for engine in ("interpreter", "compiled"):
        path = path_of(g.bound(), engine)
        assert path.segments == (
            Segment(1, 0, 1, PathCause.TOKEN, 0, 0),
            Segment(1, 1, 17, PathCause.WORK),
            Segment(2, 17, 18, PathCause.TOKEN, 1, 1),
            Segment(2, 18, 19, PathCause.WORK),
        )
        assert path.own(1) == 16
        assert path.what_if(1).cycles == 11
        assert [(share.node, share.cycles) for share in path.summary()] == [
            (1, 16), (1, 1), (2, 1), (2, 1),
        ]  # fmt: skip


def test_a_full_channel_is_waited_for() -> None:
    """One slot: each put but the first waits for the take of the token before."""
    bound = one_slot()
    for engine in ("interpreter", "compiled"):
        path = path_of(bound, engine)
        rooms = [s for s in path.segments if s.why is PathCause.ROOM]
        assert len(rooms) > 25
        assert {bound.graph.streams[s.stream].label for s in rooms} == {"first"}


def test_a_late_load_is_latency() -> None:
    path = path_of(block_load(), "compiled")
    top = path.summary()[0]
    assert (top.why, top.cycles) == (PathCause.LATENCY, 60)


def test_a_path_needs_a_log() -> None:
    with pytest.raises(SimulationError, match="needs a log"):
        critical_path(run_graph(slow_alu(), OURS, "compiled", observe=Observe()))


def test_a_short_log_is_read_window_by_window() -> None:
    """The log forgets the beginning; further runs bring it back, as far as they are allowed."""
    g = Sketch()
    a = g.source("in", "val", row(3000))
    for k in range(3):
        a = g.add(f"alu {k}", "unary", (a,), "val", fn="relu")
    g.add("out", "valwrite", (a,), tensor="X")
    bound = with_capacity(with_capacity(g.bound(), "alu 0", 1), "alu 1", 2)
    whole = path_of(bound, "compiled")
    assert whole.start == 0
    short = Observe(log=True, log_limit=6000)
    result = run_graph(bound, OURS, "compiled", observe=short)
    assert result.observed is not None
    assert result.observed.logged > 12_000
    one = explained(bound, OURS, "compiled", result, short, passes=1)
    assert 0 < one.start < one.cycles
    assert one.segments == whole.segments[-len(one.segments) :]
    some = explained(bound, OURS, "compiled", result, short, passes=2)
    assert 0 < some.start < one.start
    full = explained(bound, OURS, "compiled", result, short, passes=100)
    assert full == whole


@pytest.mark.deep  # takes seconds
def test_both_engines_tell_one_of_two_paths_of_equal_length() -> None:
    """In this order a path through the scanner of A is as long as one through the accumulator."""
    data = karate()
    schedule = "fuse T1..H; fuse T5..Y; order T1..H: i,k,p,n; order T5..Y: i,k,n,m"
    compiled = compile_program(gcn().program, schedule)
    told = []
    for engine in ("interpreter", "compiled"):
        run = simulate(compiled, data, engine=engine, observe=Observe(log=True))
        told.append([region.path.segments for region in run.regions if region.path])
    assert told[0] == told[1]
    assert sum(s.cycles for region in told[0] for s in region) == run.cycles == 14_106
