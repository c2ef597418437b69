"""Work/span analysis: layers, barriers, critical paths, frames, joined roots."""

from __future__ import annotations

import random
from itertools import pairwise

from fuseloom.stitch.contracted import ContractedGraph
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.spans import analyse_spans, frames, frames_of, joined_roots

from .figure3 import SPANS, figure3
from .random_graphs import random_computation
from .stitched_modules import GraphMaker

ONE = TensorShape("f32", (4, 4))


def made(*operations: tuple[str, str, tuple[str, ...]], root: str = "y") -> DenseComputation:
    return DenseComputation(
        "f", tuple(DenseOperation(n, o, ONE, r) for n, o, r in operations), root
    )


def test_figure_3_has_layers_0_to_9() -> None:
    analysis = analyse_spans(figure3(), ProductFusion.BATCHED)
    assert {name: analysis.spans[name] for name in SPANS} == SPANS
    assert len(analysis.layers) == 10
    deepest_first = sorted(SPANS, key=SPANS.__getitem__, reverse=True)
    assert analysis.critical_path[1:] == tuple(deepest_first[1:])  # a constant is as deep, too
    assert analysis.barrier_layers == ()
    assert analysis.roof(0) == 10


def test_barriers_are_calls_control_and_what_is_unknown() -> None:
    graph = made(
        ("x", "parameter", ()), ("a", "never-seen", ("x",)), ("b", "negate", ("a",)),
        ("c", "dot", ("b", "b")), ("y", "add", ("c", "b")),
    )  # fmt: skip
    analysis = analyse_spans(graph)
    assert analysis.barriers == {"a", "c"}
    assert analysis.barrier_layers == (1, 3)
    assert [analysis.roof(span) for span in range(5)] == [1, 3, 3, 5, 5]
    assert analyse_spans(graph, ProductFusion.ALL).barrier_layers == (3,)


def test_what_nothing_reads_has_span_0() -> None:
    analysis = analyse_spans(
        made(("x", "parameter", ()), ("z", "abs", ("x",)), ("y", "abs", ("x",)))
    )
    assert analysis.layers == (("z", "y"), ("x",))


def test_layers_of_random_graphs() -> None:
    draw = random.Random(2)
    for _ in range(100):
        graph = random_computation(draw, 20)
        analysis = analyse_spans(graph)
        assert sum(map(len, analysis.layers)) == len(graph.operations)
        assert all(analysis.layers)
        for operation in graph.operations:
            users = graph.users[operation.name]
            longest = max((analysis.spans[user] for user in users), default=-1)
            assert analysis.spans[operation.name] == longest + 1
        path = analysis.critical_path
        assert len(path) == len(analysis.layers)
        for first, second in pairwise(path):
            assert first in graph.by_name[second].operands


def test_frames_are_the_computations_that_control_runs() -> None:
    body = made(("x", "parameter", ()), ("y", "negate", ("x",)))
    x = DenseOperation("x", "parameter", ONE)
    loop = DenseOperation("l", "while", ONE, ("x",), {"condition": "c", "body": "b"})
    either = DenseOperation("e", "conditional", ONE, ("l",), {"branch_computations": ("b", "d")})
    total = DenseOperation("y", "reduce", ONE, ("e", "x"), {"to_apply": "sum"})
    call = DenseOperation("y", "call", ONE, ("x",), {"to_apply": "s"})
    others = {name: DenseComputation(name, body.operations, "y") for name in ("sum", "s", "c", "b")}
    computations = {
        **others,
        "d": DenseComputation("d", (x, call), "y"),
        "main": DenseComputation("main", (x, loop, either, total), "y"),
    }
    found = frames(DenseModule("m", computations, "main"))
    assert [one.name for one in found] == ["main", "c", "b", "d", "s"]
    assert frames_of(total) == ()
    assert frames_of(either) == ("b", "d")


def grouped(maker: GraphMaker, *layer: str, footprint: int = 1 << 20) -> list[tuple[str, ...]]:
    made = maker.module().main
    graph = ContractedGraph({one.name: one.operands for one in made.operations})
    found = joined_roots(made, layer, graph, footprint)
    for group in found:
        assert len({graph.group_of(name) for name in group}) == 1
    return found


def test_elementwise_operations_of_one_shape_are_joined() -> None:
    maker = GraphMaker()
    x, y = maker.parameter(8), maker.parameter(4)
    a, b, c = (maker.add("negate", (8,), x) for _ in range(3))
    d = maker.add("abs", (4,), y)
    assert grouped(maker, a, d, b, c) == [(a, b, c), (d,)]


def test_reductions_of_one_array_by_the_same_dimensions_are_joined() -> None:
    maker = GraphMaker()
    x, y, zero = maker.parameter(8, 4), maker.parameter(8, 4), maker.parameter()
    a, b, c = (
        maker.add("reduce", (8,), one, zero, dimensions=(1,), to_apply="sum") for one in (x, y, x)
    )
    d = maker.add("reduce", (4,), x, zero, dimensions=(0,), to_apply="sum")
    assert grouped(maker, a, b, c, d) == [(a, c), (b,), (d,)]


def test_an_array_that_several_read_counts_once() -> None:
    """Of 32 bytes each: with one array for all, three are made of 128, and two of 96."""
    maker = GraphMaker()
    x = maker.parameter(8)
    a, b, c = (maker.add("add", (8,), x, x) for _ in range(3))
    assert grouped(maker, a, b, c, footprint=128) == [(a, b, c)]
    assert grouped(maker, a, b, c, footprint=127) == [(a, b), (c,)]
    assert grouped(maker, a, b, c, footprint=95) == [(a,), (b,), (c,)]


def test_what_depends_on_another_is_not_joined_to_it() -> None:
    maker = GraphMaker()
    x = maker.parameter(8)
    a = maker.add("negate", (8,), x)
    b = maker.add("abs", (8,), a)
    assert grouped(maker, a, b) == [(a,), (b,)]
