"""Random streams for single primitives: what their nodes took in random graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.sim.bound import Arrays, BoundGraph, canonical
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.tokens import DONE, Token, encode
from fuseloom.errors import SimulationError
from tests.property.random_graphs import STORED, random_graph

ARRAYS: Mapping[str, npt.NDArray[Any]] = {
    "vals": np.linspace(-3, 4, STORED, dtype=np.float32),
    "seg": np.array([0, *np.cumsum(np.arange(STORED) % 4)]),
    "crd": np.concatenate([np.sort(np.arange(k % 4) * 3 + k % 2) for k in range(STORED)]),
}
"""What nodes read here, in place of their graphs' data: references lie below ``STORED``."""
READS = {"array": ("vals",), "scan": ("seg", "crd"), "search": ("seg", "crd")}
MOST_PAIRS = 1600
"""Pairs of coordinates of an accumulator of order 2, whose hardware is made for each number."""


@dataclass
class PrimitiveCases:
    """A node, alone, and streams for it.

    Attributes
    ----------
    node : Node
        Its op and parameters.
    streams : tuple of Stream
        Its inputs' and then its outputs', without numbers.
    inputs : list
        Per case and input, the tokens.
    """

    node: Node
    streams: tuple[Stream, ...]
    inputs: list[tuple[tuple[Token, ...], ...]] = field(default_factory=list)

    @property
    def name(self) -> str:
        params = ",".join(f"{key}={value}" for key, value in sorted(self.node.params.items()))
        return f"{self.node.op}({len(self.node.inputs)},{len(self.node.outputs)};{params})"

    def graph(self, tokens: list[list[Token]], capacity: int, **source: Scalar) -> BoundGraph:
        """The node between sources of these tokens and sinks; the node is number 0."""
        count = len(self.node.inputs)
        streams = tuple(
            Stream(k, stream.kind, 0, "", capacity) for k, stream in enumerate(self.streams)
        )
        outputs = tuple(range(count, len(streams)))
        params = {key: value for key, value in self.node.params.items() if key != "kind"}
        nodes = [Node(0, self.node.op, tuple(range(count)), outputs, params, self.node.op)]
        arrays: dict[int, Arrays] = {
            0: canonical({name: ARRAYS[name] for name in READS.get(self.node.op, ())})
        }
        for stream, given in enumerate(tokens):
            arrays[len(nodes)] = {"tokens": encode(given)}
            kind = {"kind": streams[stream].kind.value, **source}
            nodes.append(Node(len(nodes), "source", (), (stream,), kind, f"source {stream}"))
        for stream in outputs:
            nodes.append(Node(len(nodes), "sink", (stream,), (), {}, f"sink {stream}"))
        return BoundGraph(Graph(self.node.op, tuple(nodes), streams), arrays)

    def padded(self, count: int) -> tuple[list[list[Token]], int]:
        """The streams of that many cases one after another, each as long as the longest."""
        cases = self.inputs[:count]
        stride = max(len(tokens) for case in cases for tokens in case)
        joined: list[list[Token]] = [[] for _ in self.node.inputs]
        for case in cases:
            for tokens, into in zip(case, joined, strict=True):
                into += [*tokens, *[DONE] * (stride - len(tokens))]
        return joined, stride


def random_cases(graphs: range, ops: set[str], most: int) -> Iterator[PrimitiveCases]:
    """Cases of these primitives, of each as many as one of its configurations has in the graphs.

    Those are the most frequent ones, and more until ``most`` cases are there.  Tiles are left out,
    and nodes of graphs that fail.
    """
    found: dict[Any, PrimitiveCases] = {}
    for seed in graphs:
        bound = random_graph(seed, searching=seed % 3 == 0)
        try:
            log = interpreter.run(bound, Machine.default(), log=True).log or {}
        except SimulationError:
            continue
        for node in bound.graph.nodes:
            if node.op in ops and "tile" not in node.params:
                _add(found, bound.graph, node, log, most)
    by_op: dict[str, list[PrimitiveCases]] = defaultdict(list)
    for cases in found.values():
        if cases.node.op == "spacc2":
            cases.node = sized(cases.node, [case[1:3] for case in cases.inputs])
        by_op[cases.node.op].append(cases)
    for op in sorted(by_op):
        ranked = sorted(by_op[op], key=lambda cases: -len(cases.inputs))
        least = 6 if op in ("binary", "unary", "reduce", "union") else 2
        total = 0
        for number, cases in enumerate(ranked):
            if number >= least and total >= most:
                break
            total += len(cases.inputs)
            yield cases


def with_sizes(bound: BoundGraph) -> BoundGraph:
    """A graph whose accumulators of order 2 have sizes above the coordinates that they take.

    Those of a graph that fails, and those that would be too large for a test, stay without.
    """
    try:
        log = interpreter.run(bound, Machine.default(), log=True).log or {}
    except SimulationError:
        return bound
    nodes = tuple(
        sized(node, [[[token for token, _ in log[stream]] for stream in node.inputs[1:3]]])
        if node.op == "spacc2"
        else node
        for node in bound.graph.nodes
    )
    return replace(bound, graph=replace(bound.graph, nodes=nodes))


def sized(node: Node, inner: Sequence[Sequence[Sequence[Token]]]) -> Node:
    """An accumulator of order 2 with sizes above the coordinates of these pairs of streams."""
    sizes = [
        1 + max((c for case in inner for c in case[k] if isinstance(c, int)), default=0)
        for k in range(2)
    ]
    if sizes[0] * sizes[1] > MOST_PAIRS:
        return node
    return replace(node, params={**node.params, "dim1": sizes[0], "dim": sizes[1]})


def _whole(taken: Iterable[Token]) -> tuple[Token, ...]:
    """A stream to its end, which some nodes see and do not take."""
    tokens = tuple(taken)
    return tokens if tokens and tokens[-1] is DONE else (*tokens, DONE)


def _is_stored(token: Token) -> bool:
    """Return whether a token is no reference, or one to an entry of :data:`ARRAYS`."""
    return not isinstance(token, int) or token < STORED


def _add(
    found: dict[Any, PrimitiveCases], graph: Graph, node: Node, log: Mapping[int, Any], most: int
) -> None:
    taken = tuple(_whole(token for token, _ in log[stream]) for stream in node.inputs)
    params = {k: v for k, v in node.params.items() if k not in ("tensor", "level", "label")}
    outputs = [stream for stream in node.outputs if stream is not None]
    if len(outputs) < len(node.outputs):
        return
    streams = tuple(graph.streams[stream] for stream in (*node.inputs, *outputs))
    kinds = tuple(stream.kind for stream in streams)
    if any(isinstance(token, np.ndarray) for tokens in taken for token in tokens):
        return  # a block
    references = [t for t, k in zip(taken, kinds, strict=False) if k is StreamKind.REF]
    if node.op in READS and not all(map(_is_stored, chain(*references))):
        return
    key = (node.op, len(node.inputs), kinds, tuple(sorted(params.items())))
    cases = found.setdefault(key, PrimitiveCases(node, streams))
    if len(cases.inputs) < most:
        cases.inputs.append(taken)
