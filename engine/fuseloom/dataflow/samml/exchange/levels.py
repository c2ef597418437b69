"""The origin of a graph's coordinates: index variables, sizes and storage levels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fuseloom.dataflow.samml.graph import Graph, Node, StreamKind
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.types import Tensor

SCANS = ("scan", "dense_scan")
_ACCUMULATOR = re.compile(r"spacc([1-9])")
_THROUGH: Mapping[str, Mapping[int, int]] = {
    "broadcast": {},
    "fork": {},
    "join": {0: 0},
    "ordered_join": {0: 1},
    "crddrop": {0: 0, 1: 1},
    "crdhold": {0: 0, 1: 1},
    "crdmask": {0: 0, 1: 1},
    "valdrop": {1: 1},
    "zerodrop": {1: 1},
    "stopdrop": {0: 0},
    "sam_locate": {2: 1},
    "intersect": {0: 0},
    "union": {0: 0},
}
"""By op: the input whose coordinates an output passes on (absent: input 0)."""


@dataclass(frozen=True)
class ScannerOrigin:
    """The scanner that first made a stream's coordinates."""

    node: Node

    def size(self, tensors: Mapping[str, Tensor]) -> int | None:
        """Number of its coordinates, if known."""
        if "dim" in self.node.params:
            return int(self.node.params["dim"])
        key, level = str(self.node.params["tensor"]), int(self.node.params["level"])
        name, _, order = key.partition("@")
        if name not in tensors:
            return None
        modes = tuple(map(int, order.split(","))) if order else tensors[name].format.mode_order
        return tensors[name].shape[modes[level]]


def accumulator_order(op: str) -> int:
    """Levels a sparse accumulator keeps below the one it sums over; 0 for other primitives."""
    match = _ACCUMULATOR.fullmatch(op)
    return int(match[1]) if match else 0


def origin(graph: Graph, stream: int) -> ScannerOrigin | None:
    """Return the scanner that a stream's coordinates come from; None if there is none."""
    while stream in graph.producer:
        node = graph.nodes[graph.producer[stream]]
        if node.op in SCANS:
            return ScannerOrigin(node)
        port = node.outputs.index(stream)
        if accumulator_order(node.op):
            stream = node.inputs[port + 1]
        elif node.op in _THROUGH and node.inputs:
            stream = node.inputs[_THROUGH[node.op].get(port, 0)]
        else:
            return None
    return None


def index_names(graph: Graph) -> dict[int, str]:
    """An index variable for every coordinate stream; streams that are joined share theirs.

    Names come from the cells that made the scanners, or are made up.
    """
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.get(node, node) != node:
            node = parent[node]
        return node

    homes = {s.id: origin(graph, s.id) for s in graph.streams if s.kind is StreamKind.CRD}
    for node in graph.nodes:
        if node.op in ("intersect", "union"):
            made = [home.node.id for s in node.inputs[::2] if (home := homes.get(s)) is not None]
            for other in made[1:]:
                parent[root(other)] = root(made[0])
    named: dict[int, str] = {}
    for node in graph.nodes:
        if node.op in SCANS:
            row = node.origin.rpartition(".")[2]
            if row.isidentifier() and root(node.id) not in named:
                named[root(node.id)] = row
    fresh = (name for name in _letters() if name not in set(named.values()))
    names: dict[int, str] = {}
    for stream, home in homes.items():
        if home is None:
            continue
        key = root(home.node.id)
        if key not in named:
            named[key] = next(fresh)
        names[stream] = named[key]
    return names


def _letters() -> Iterator[str]:
    yield from "ijklmnpqrstuv"
    number = 0
    while True:
        yield f"i{number}"
        number += 1


def tensors_of(graph: Graph) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys of the tensors a graph reads, and of those it writes, in order of appearance."""
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    for node in graph.nodes:
        if node.op in ("crdwrite", "valwrite"):
            writes[str(node.params["tensor"])] = None
        elif "tensor" in node.params:
            reads[str(node.params["tensor"])] = None
    return tuple(reads), tuple(writes)


def dense_levels(graph: Graph, key: str, tensors: Mapping[str, Tensor]) -> tuple[int, ...]:
    """Levels of a tensor that a graph writes without a level writer: they are dense."""
    if key.partition("@")[0] not in tensors:
        return ()
    written = {
        int(node.params["level"])
        for node in graph.nodes
        if node.op == "crdwrite" and node.params["tensor"] == key
    }
    return tuple(k for k in range(tensors[key.partition("@")[0]].rank) if k not in written)


def written_tensor(
    graph: Graph, key: str, tensors: Mapping[str, Tensor], order: tuple[int, ...]
) -> Tensor:
    """The declaration of a tensor the graph writes; sizes nobody knows are as large as can be."""
    levels = {
        int(node.params["level"]): node.inputs[0]
        for node in graph.nodes
        if node.op == "crdwrite" and node.params["tensor"] == key
    }
    rank = len(levels)
    modes = order if sorted(order) == list(range(rank)) else tuple(range(rank))
    shape = [0] * rank
    for level, stream in levels.items():
        home = origin(graph, stream)
        size = home.size(tensors) if home is not None else None
        shape[modes[level]] = size if size is not None else 2**31 - 1
    return Tensor(key.partition("@")[0], tuple(shape), Format.compressed(rank, modes))


def guessed_tensor(graph: Graph, name: str, shape: tuple[int, ...]) -> Tensor:
    """The declaration of a tensor the graph reads, its formats those of the nodes."""
    levels = [LevelFormat.COMPRESSED] * len(shape)
    seen: set[int] = set()
    order = tuple(range(len(shape)))
    for node in graph.nodes:
        key = str(node.params.get("tensor", ""))
        if key.partition("@")[0] != name or "level" not in node.params:
            continue
        level = int(node.params["level"])
        if level < len(shape) and level not in seen:
            seen.add(level)
            if node.op != "scan":
                levels[level] = LevelFormat.DENSE
    if not seen:
        levels = [LevelFormat.DENSE] * len(shape)
    return Tensor(name, shape, Format(tuple(levels), order))
