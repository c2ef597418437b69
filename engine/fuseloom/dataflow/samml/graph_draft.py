"""A graph while it is being built: streams may have many readers, equal nodes are made once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind

Indices = tuple[str, ...]


@dataclass
class GraphDraft:
    """Nodes and streams before fan-out is made explicit."""

    streams: list[Stream] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    made: dict[tuple[object, ...], tuple[int, ...]] = field(default_factory=dict)

    def add(
        self,
        op: str,
        inputs: tuple[int, ...],
        outputs: tuple[tuple[StreamKind, Indices, str], ...],
        params: dict[str, Scalar] | None = None,
        label: str = "",
        origin: str = "",
    ) -> tuple[int, ...]:
        """Make a node, or find the one that already computes the same.

        ``outputs`` has the kind, the index of each level, and a label per stream.
        """
        params = params or {}
        key = (op, inputs, tuple(sorted((k, _lettered(k, v)) for k, v in params.items())))
        if key not in self.made:
            first = len(self.streams)
            for k, (kind, indices, text) in enumerate(outputs):
                stream = Stream(first + k, kind, len(indices), text, indices=indices)
                self.streams.append(stream)
            ids = tuple(range(first, len(self.streams)))
            self.nodes.append(Node(len(self.nodes), op, inputs, ids, params, label, origin))
            self.made[key] = ids
        return self.made[key]

    def indices(self, stream: int) -> Indices:
        return self.streams[stream].indices

    def kind(self, stream: int) -> StreamKind:
        return self.streams[stream].kind

    def finish(self, name: str) -> Graph:
        """The graph, with fan-out made explicit by broadcast nodes.

        Nodes that nothing needs are left out, and outputs nothing reads become void.
        """
        needed = self._needed()
        readers = Counter(s for n in self.nodes if n.id in needed for s in n.inputs)
        streams: list[Stream] = []
        nodes: list[Node] = []
        copies: dict[int, list[int]] = {}

        def stream(like: int) -> int:
            streams.append(replace(self.streams[like], id=len(streams)))
            return len(streams) - 1

        for node in self.nodes:
            if node.id not in needed:
                continue
            inputs = tuple(copies[s].pop(0) for s in node.inputs)
            made = {s: stream(s) for s in node.outputs if s is not None and readers[s]}
            outputs = tuple(made.get(s) if s is not None else None for s in node.outputs)
            nodes.append(replace(node, id=len(nodes), inputs=inputs, outputs=outputs))
            for s, one in made.items():
                copies[s] = [one]
                if readers[s] > 1:
                    copies[s] = [stream(s) for _ in range(readers[s])]
                    label = f"copy {self.streams[s].label}"
                    nodes.append(Node(len(nodes), "broadcast", (one,), tuple(copies[s]), {}, label))
        return Graph(name, tuple(nodes), tuple(streams))

    def _needed(self) -> set[int]:
        """Nodes from which a writer is reached."""
        producer = {s: n for n in self.nodes for s in n.outputs}
        stack = [n for n in self.nodes if not n.outputs]
        needed = {n.id for n in stack}
        while stack:
            for s in stack.pop().inputs:
                node = producer[s]
                if node.id not in needed:
                    needed.add(node.id)
                    stack.append(node)
        return needed


def _lettered(name: str, value: Scalar) -> Scalar:
    """A parameter; axes of tiles by letters in order of appearance, whatever they are called."""
    if name != "tile" or not isinstance(value, str):
        return value
    letters = {
        c: chr(ord("a") + k) for k, c in enumerate(filter(str.isalpha, dict.fromkeys(value)))
    }
    return "".join(letters.get(c, c) for c in value)
