"""A dataflow graph of SAMML primitives: nodes joined by single-producer, single-consumer streams.

Fan-out is always an explicit broadcast node, so a graph is exactly what the machine runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any

from fuseloom.display.shows import Shows
from fuseloom.errors import GraphError
from fuseloom.wording import counted, described

Scalar = str | int | float | bool
JSON_VERSION = 1


class StreamKind(Enum):
    """The meaning of a stream's value tokens (``docs/spec/machine.md`` §1)."""

    CRD = "crd"
    REF = "ref"
    VAL = "val"
    SIG = "sig"


@dataclass(frozen=True)
class Stream:
    """One channel.

    Attributes
    ----------
    id : int
        Position in ``Graph.streams``.
    depth : int
        Nesting depth of the tokens; 0 is a scalar.
    capacity : int or None
        Tokens the channel holds; None is unbounded.
    indices : tuple of str
        Index variables of its levels, outermost first; empty where a graph was not lowered
        from a program.
    """

    id: int
    kind: StreamKind
    depth: int
    label: str = ""
    capacity: int | None = None
    indices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Node:
    """One primitive of the machine.

    Attributes
    ----------
    op : str
        Name of its entry in ``fuseloom.dataflow.samml.catalogue``.
    inputs : tuple of int
        Stream ids in the order of the catalogue's input ports.
    outputs : tuple of (int or None)
        Stream ids in the order of the output ports; None is an unused (void) output.
    params : mapping
        The entry's parameters (sizes, function names, tensor and level to bind).
    origin : str
        The fusion-table cell that made it, as ``column.row``; empty for inserted nodes.
    """

    id: int
    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int | None, ...]
    params: Mapping[str, Scalar] = field(default_factory=dict)
    label: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.params, MappingProxyType):  # a copy of a node keeps its own
            object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            Node,
            (
                self.id,
                self.op,
                self.inputs,
                self.outputs,
                dict(self.params),
                self.label,
                self.origin,
            ),
        )

    def __hash__(self) -> int:
        return hash((self.id, self.op, self.inputs, self.outputs))


@dataclass(frozen=True)
class Graph(Shows, html="fuseloom.dataflow.samml.display:graph_html"):
    """Nodes and streams of one region; prints as text, serialises to versioned JSON."""

    name: str
    nodes: tuple[Node, ...]
    streams: tuple[Stream, ...]

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.name}: {counted(len(self.nodes), 'node')}, "
            f"{counted(len(self.streams), 'stream')}",
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.nodes, self.streams))

    def __getstate__(self) -> dict[str, Any]:
        """Without what is remembered, which other processes may hash to something else."""
        return {"name": self.name, "nodes": self.nodes, "streams": self.streams}

    @cached_property
    def producer(self) -> dict[int, int]:
        """Stream id to the id of the node that writes it."""
        return {s: n.id for n in self.nodes for s in n.outputs if s is not None}

    @cached_property
    def consumer(self) -> dict[int, int]:
        """Stream id to the id of the node that reads it."""
        return {s: n.id for n in self.nodes for s in n.inputs}

    def edges(self) -> Iterator[tuple[int, int, Stream]]:
        """Yield ``(producer id, consumer id, stream)`` for every channel."""
        for stream in self.streams:
            yield self.producer[stream.id], self.consumer[stream.id], stream

    def topological(self) -> tuple[int, ...]:
        """Node ids, producers before consumers.

        Raises
        ------
        GraphError
            If the streams form a cycle.
        """
        return self._topological

    @cached_property
    def _topological(self) -> tuple[int, ...]:
        waiting = {n.id: sum(s in self.producer for s in n.inputs) for n in self.nodes}
        ready = [n.id for n in self.nodes if not waiting[n.id]]
        order: list[int] = []
        while ready:
            node = self.nodes[ready.pop()]
            order.append(node.id)
            for stream in node.outputs:
                if stream is None or stream not in self.consumer:
                    continue
                reader = self.consumer[stream]
                waiting[reader] -= 1
                if not waiting[reader]:
                    ready.append(reader)
        if len(order) < len(self.nodes):
            stuck = ", ".join(
                self.nodes[i].label or str(i) for i in sorted(set(waiting) - set(order))
            )
            raise GraphError(f"graph {self.name!r} has a cycle among: {stuck}")
        return tuple(order)

    def with_capacity(self, capacity: int | None) -> Graph:
        """The same graph with every channel given one capacity (None: unbounded)."""
        return replace(self, streams=tuple(replace(s, capacity=capacity) for s in self.streams))

    def __str__(self) -> str:
        lines = [f"graph {self.name}"]
        for node in self.nodes:
            outs = ", ".join("_" if s is None else self._stream_text(s) for s in node.outputs)
            ins = ", ".join(f"%{s}" for s in node.inputs)
            params = ", ".join(f"{k}={v}" for k, v in sorted(node.params.items()))
            arrow = f"{outs} = " if node.outputs else ""
            note = f"  # {node.label}" if node.label else ""
            lines.append(f"  {arrow}{node.op}({ins})" + (f" {{{params}}}" if params else "") + note)
        return "\n".join(lines)

    def _stream_text(self, stream: int) -> str:
        s = self.streams[stream]
        capacity = "" if s.capacity is None else f"/{s.capacity}"
        return f"%{s.id}:{s.kind.value}{s.depth}{capacity}"

    def bare(self) -> Graph:
        """The same graph without names of streams and origins, which the text leaves out."""
        return replace(
            self,
            nodes=tuple(replace(n, params=dict(n.params), origin="") for n in self.nodes),
            streams=tuple(replace(s, label="", indices=()) for s in self.streams),
        )

    def to_json(self) -> str:
        """Versioned JSON that :meth:`from_json` reads back to an equal graph."""
        return json.dumps(
            {
                "fuseloom": "graph",
                "version": JSON_VERSION,
                "name": self.name,
                "streams": [
                    [s.kind.value, s.depth, s.label, s.capacity, s.indices] for s in self.streams
                ],
                "nodes": [
                    {
                        "op": n.op,
                        "in": n.inputs,
                        "out": n.outputs,
                        "params": dict(n.params),
                        "label": n.label,
                        "origin": n.origin,
                    }
                    for n in self.nodes
                ],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Graph:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        GraphError
            If the text is not a graph of a known version.
        """
        try:
            data = json.loads(text)
            if not isinstance(data, dict):
                raise GraphError("malformed graph JSON: no object", hint="export it again")
            if data.get("fuseloom") != "graph" or data.get("version") != JSON_VERSION:
                raise GraphError(
                    "not a graph file of version 1", hint="export it again with this version"
                )
            streams = tuple(
                Stream(
                    i,
                    StreamKind(kind),
                    _whole(depth, 0),
                    str(label),
                    None if capacity is None else _whole(capacity, 1),
                    tuple(map(str, indices)),
                )
                for i, (kind, depth, label, capacity, indices) in enumerate(data["streams"])
            )
            nodes = tuple(
                Node(
                    i,
                    str(n["op"]),
                    tuple(_whole(s, 0) for s in n["in"]),
                    tuple(None if s is None else _whole(s, 0) for s in n["out"]),
                    {name: _parameter(value) for name, value in n["params"].items()},
                    str(n["label"]),
                    str(n["origin"]),
                )
                for i, n in enumerate(data["nodes"])
            )
            return cls(str(data["name"]), nodes, streams)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
            what = f"no entry {problem}" if isinstance(problem, KeyError) else str(problem)
            raise GraphError(f"malformed graph JSON: {what}") from None


def _whole(given: object, least: int) -> int:
    if type(given) is not int or not least <= given < 2**63:
        raise TypeError(f"{given!r} is not an integer of at least {least}")
    return given


def _parameter(given: Any) -> Scalar:
    if not isinstance(given, str | int | float) or (type(given) is int and abs(given) >= 2**63):
        raise TypeError(f"{given!r} is no parameter")
    return given
