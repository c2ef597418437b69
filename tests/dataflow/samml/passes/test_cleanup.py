"""Clean-ups leave the meaning alone and take away what adds nothing."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.passes.cleanup import (
    clean,
    collapse_joiners,
    share_common_nodes,
    without_dead_nodes,
)
from fuseloom.dataflow.samml.passes.parallelise import parallelise
from fuseloom.dataflow.samml.verify import verify
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.tokens import encode, parse_tokens
from fuseloom.errors import GraphError
from fuseloom.models import gcn, random_data
from fuseloom.program import parse
from tests.dataflow.samml.passes import passed
from tests.property.programs import make_case

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
SEED = 20_251_123


def ops(graph: Graph) -> Counter[str]:
    return Counter(n.op for n in graph.nodes)


def built(streams: str, *nodes: tuple[str, str, str, dict[str, object]]) -> Graph:
    """A graph of depth-1 streams (``c``, ``r``, ``v`` or ``s`` each) and (op, in, out, params)."""
    kinds = {"c": CRD, "r": REF, "v": VAL, "s": SIG}
    made = tuple(Stream(k, kinds[c], 1, f"s{k}", indices=("i",)) for k, c in enumerate(streams))

    def ids(text: str) -> tuple[int | None, ...]:
        return tuple(None if x == "_" else int(x) for x in text.split())

    return Graph(
        "built",
        tuple(
            Node(k, op, tuple(s for s in ids(ins) if s is not None), ids(outs), params)
            for k, (op, ins, outs, params) in enumerate(nodes)
        ),
        made,
    )


def source(kind: str) -> dict[str, object]:
    return {"kind": kind}


def written(graph: Graph, **tokens: str) -> dict[str, list[float]]:
    """Return the output of a graph's writers, its sources fed in order."""
    kinds = {n.id: StreamKind(str(n.params["kind"])) for n in graph.nodes if n.op == "source"}
    arrays = {
        node: {"tokens": encode(parse_tokens(text, kinds[node]))}
        for node, text in zip(kinds, tokens.values(), strict=True)
    }
    run = run_graph(BoundGraph(graph, arrays), Machine.default(), "interpreter")
    return {
        str(graph.nodes[n].params["tensor"]): [*map(float, out.get("crd", out.get("vals", [])))]
        for n, out in run.outputs.items()
    }


def test_common_nodes_of_an_imported_graph_become_one() -> None:
    """Copies of one stream are one stream, however many broadcasts made them."""
    graph = built(
        "ccccsscc",
        ("source", "", "0", source("crd")),
        ("broadcast", "0", "1 2 3", {}),
        ("repsig", "1", "4", {}),
        ("repsig", "2", "5", {}),
        ("broadcast", "3", "6 7", {}),
        ("crdwrite", "6", "", {"tensor": "T", "level": 0}),
        ("crdwrite", "7", "", {"tensor": "U", "level": 0}),
        ("sink", "4", "", {}),
        ("sink", "5", "", {}),
    )
    verify(graph)
    shared = share_common_nodes(graph)
    verify(shared)
    assert ops(shared) == Counter(source=1, broadcast=2, repsig=1, crdwrite=2, sink=2)
    assert written(shared, a="0 4 S0 D") == {"T": [0, 4], "U": [0, 4]}


def test_sources_are_never_one() -> None:
    graph = built(
        "vvv",
        ("source", "", "0", source("val")),
        ("source", "", "1", source("val")),
        ("binary", "0 1", "2", {"fn": "sub"}),
        ("valwrite", "2", "", {"tensor": "T"}),
    )
    assert share_common_nodes(graph) == graph
    assert clean(graph) == graph


def test_what_no_writer_needs_goes_and_its_outputs_become_void() -> None:
    graph = built(
        "crcrcrrcrs",
        ("source", "", "0", source("crd")),
        ("source", "", "1", source("ref")),
        ("source", "", "2", source("crd")),
        ("source", "", "3", source("ref")),
        ("intersect", "0 1 2 3", "4 5 6", {}),
        ("broadcast", "4", "7 _", {}),
        ("crdwrite", "7", "", {"tensor": "T", "level": 0}),
        ("sam_locate", "5 8", "_ _ _", {}),
        ("source", "", "8", source("crd")),
    )
    alive = without_dead_nodes(graph)
    assert ops(alive) == Counter(source=4, intersect=1, crdwrite=1)
    joiner = next(n for n in alive.nodes if n.op == "intersect")
    assert joiner.outputs[1:] == (None, None)
    verify(alive)


def test_a_stream_nothing_writes_is_named() -> None:
    graph = built("c", ("crdwrite", "0", "", {"tensor": "T", "level": 0}))
    with pytest.raises(GraphError, match="crdwrite reads stream %0, which nothing writes"):
        clean(graph)


@pytest.mark.parametrize(("op", "params"), [("intersect", {}), ("union", {"gate": 1})])
def test_operands_with_the_same_coordinates_need_no_joiner(
    op: str, params: dict[str, object]
) -> None:
    graph = built(
        "crrcccrrcvv",
        ("source", "", "0", source("crd")),
        ("source", "", "1", source("ref")),
        ("source", "", "2", source("ref")),
        ("broadcast", "0", "3 4", {}),
        (op, "3 1 4 2", "5 6 7", params),
        ("crdwrite", "5", "", {"tensor": "C", "level": 0}),
        ("sink", "6", "", {}),
        ("sink", "7", "", {}),
    )
    graph = replace(graph, streams=graph.streams[:8])
    verify(graph)
    collapsed = collapse_joiners(graph)
    verify(collapsed)
    assert ops(collapsed) == Counter(source=3, crdwrite=1, sink=2)
    tokens = {"a": "1 5 S0 D", "b": "10 11 S0 D", "c": "20 21 S0 D"}
    assert written(collapsed, **tokens) == written(graph, **tokens) == {"C": [1, 5]}


@pytest.mark.parametrize("gate", [0, 1, 2, 3])
@pytest.mark.parametrize("first", ["1 5 S0 D", "S0 D"])
def test_an_operand_given_twice_is_given_once(gate: int, first: str) -> None:
    """A gate counts operands: one that goes makes it smaller, and it still shuts as it did."""
    graph = built(
        "ccccrrrcrcrrrc",
        ("source", "", "0", source("crd")),
        ("broadcast", "0", "1 2 3", {}),
        ("source", "", "4", source("ref")),
        ("broadcast", "4", "5 6", {}),
        ("source", "", "7", source("crd")),
        ("source", "", "8", source("ref")),
        ("union", "1 5 2 6 7 8", "9 10 11 12", {"gate": gate}),
        ("crdwrite", "9", "", {"tensor": "C", "level": 0}),
        ("sink", "10", "", {}),
        ("sink", "11", "", {}),
        ("sink", "12", "", {}),
        ("sink", "3", "", {}),
    )
    graph = replace(graph, streams=graph.streams[:13])
    verify(graph)
    collapsed = collapse_joiners(graph)
    verify(collapsed)
    (joiner,) = (n for n in collapsed.nodes if n.op == "union")
    assert len(joiner.inputs) == 4
    assert joiner.params["gate"] == {0: 0, 1: 1, 2: 1, 3: 2}[gate]
    tokens = {"a": first, "b": first.replace("5", "7"), "c": "2 S0 D", "d": "9 S0 D"}
    assert written(collapsed, **tokens) == written(graph, **tokens)


def test_a_chain_of_clean_ups() -> None:
    """Two equal joiners become one; what they fed becomes one; the joiner above collapses."""
    text = "A: 5x5 csr\nB: 5x5 csr\nT[i,j] = A[i,j] * B[i,j]\nY[i,j] = T[i,j] + T[i,j]"
    compilation = compile_program(parse(text), "fuse T..Y")
    cleaned = passed(compilation, clean)
    again = passed(cleaned, clean)
    assert [r.graph for r in again.regions] == [r.graph for r in cleaned.regions]
    data = {"A": np.eye(5, dtype=np.float32), "B": np.ones((5, 5), np.float32)}
    assert simulate(cleaned, data, engine="interpreter").check().ok


def test_compiled_graphs_are_clean() -> None:
    model = gcn(8, 6, 5, 3)
    for preset in model.presets.values():
        for region in compile_program(model.program, preset).regions:
            assert clean(region.graph) == region.graph


def test_lanes_are_clean_and_stay_apart() -> None:
    model = gcn(8, 6, 5, 3)
    compilation = compile_program(model.program, model.presets["full"])
    lanes = passed(compilation, lambda g: parallelise(g, "i", 3))
    cleaned = passed(lanes, clean)
    assert [ops(r.graph) for r in cleaned.regions] == [ops(r.graph) for r in lanes.regions]
    assert simulate(cleaned, random_data(model, 1), engine="interpreter").check().ok


def unshared(graph: Graph, rng: random.Random) -> Graph:
    """The same graph with some nodes there twice, each with its own copies of the inputs."""
    nodes, streams = list(graph.nodes), list(graph.streams)

    def fresh(like: int) -> int:
        streams.append(replace(streams[like], id=len(streams)))
        return len(streams) - 1

    for node in graph.nodes:
        if not node.inputs or not node.outputs or node.op == "broadcast" or rng.random() < 0.6:
            continue
        copies = []
        for port, s in enumerate(node.inputs):
            first, second = fresh(s), fresh(s)
            nodes.append(Node(len(nodes), "broadcast", (s,), (first, second)))
            mine = nodes[node.id]
            inputs = (*mine.inputs[:port], first, *mine.inputs[port + 1 :])
            nodes[node.id] = replace(mine, inputs=inputs)
            copies.append(second)
        outputs = tuple(None if s is None else fresh(s) for s in node.outputs)
        nodes.append(replace(node, id=len(nodes), inputs=tuple(copies), outputs=outputs))
        for k, s in enumerate(outputs):
            if s is not None and k % 2:
                nodes.append(Node(len(nodes), "sink", (s,), ()))
    return Graph(graph.name, tuple(nodes), tuple(streams))


@pytest.mark.deep  # takes seconds
def test_random_graphs_with_every_second_node_twice() -> None:
    print(f"seeds from {SEED}")
    cases = 0
    for seed in range(SEED, SEED + 120):
        rng = random.Random(seed)
        case = make_case(rng)
        if case is None:
            continue
        cases += 1
        for region in case.compilation.regions:
            double = unshared(region.graph, rng)
            once = clean(double)
            verify(once)
            sinks = ops(once)["sink"]
            extra = ops(once) - ops(region.graph)
            assert set(extra) <= {"sink", "broadcast"}, f"seed {seed}: {extra}"
            assert extra["broadcast"] <= sinks
    assert cases >= 70
