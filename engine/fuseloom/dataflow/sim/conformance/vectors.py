"""Reference vectors: graphs with the clocks, tokens and outputs they must give.

Format: ``docs/spec/comal.md`` §6.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.samml.verify import check_ends
from fuseloom.dataflow.sim.bound import BoundGraph, canonical
from fuseloom.dataflow.sim.tokens import encode, parse_token
from fuseloom.errors import SimulationError
from fuseloom.program import regular_files

Vector: TypeAlias = Mapping[str, Any]
Fields: TypeAlias = Mapping[str, Any]


MAX_FILE = 2**28
"""Bytes of a file of vectors."""
MOST = 2**24
"""Coordinates of a vector, and capacities, are below."""


def load_vectors(path: str | Path) -> list[Vector]:
    """The vectors of a file.

    Raises
    ------
    SimulationError
        If the file is not a list of vectors, or has none.
    """
    try:
        vectors = json.loads(
            regular_files.text(path, MAX_FILE, what="vectors", error=SimulationError)
        )
    except (ValueError, RecursionError) as problem:
        raise SimulationError(f"cannot read vectors from {path}: {problem}") from None
    if not (isinstance(vectors, list) and vectors) or not all(
        isinstance(v, dict) and {"kind", "cap", "nodes", "clocks", "outputs"} <= v.keys()
        for v in vectors
    ):
        raise SimulationError(
            f"{path} holds no conformance vectors",
            hint="a JSON list of objects with kind, cap, nodes, clocks, dequeued and outputs",
        )
    return vectors


def unsupported(vector: Vector) -> set[str]:
    """Names of what the vector needs and the simulator lacks."""
    with malformed():
        return {str(node["op"]) for node in vector["nodes"]} - OPS.keys()


@contextmanager
def malformed() -> Iterator[None]:
    """Turn what a field of the wrong kind leads to into an error that says so."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        raise SimulationError(
            f"the vector is malformed: {type(problem).__name__} {problem}",
            hint="the fields of its nodes are those of the reference's vectors",
        ) from None


def bind_vector(vector: Vector) -> tuple[BoundGraph, dict[str, int]]:
    """The vector's graph with its arrays, and the stream id of each of its stream names.

    Raises
    ------
    SimulationError
        If it lacks a field, or one holds what it cannot.
    GraphError
        If a stream has not one producer and one reader.
    """
    with malformed():
        bound, ids = _bound(vector)
    check_ends(bound.graph)
    return bound, ids


def _bound(vector: Vector) -> tuple[BoundGraph, dict[str, int]]:
    capacity = vector["cap"]
    if capacity is not None and not (type(capacity) is int and 0 < capacity < MOST):
        raise ValueError(f"cap is {capacity!r}")
    ports = [OPS[fields["op"]].ports(fields) for fields in vector["nodes"]]
    names = dict.fromkeys(
        name for inputs, outputs in ports for name in (*inputs, *outputs) if name is not None
    )
    ids = {name: number for number, name in enumerate(names)}
    streams = tuple(
        Stream(number, stream_kind(name), 0, name, capacity) for name, number in ids.items()
    )
    extent = _extent(vector)
    nodes, arrays = [], {}
    for number, (fields, (inputs, outputs)) in enumerate(zip(vector["nodes"], ports, strict=True)):
        op = OPS[fields["op"]]
        parameters = op.parameters(fields)
        if "dim" in primitive(op.name).params:
            parameters.setdefault("dim", extent)
        nodes.append(
            Node(
                number,
                op.name,
                tuple(ids[name] for name in inputs if name is not None),
                tuple(None if name is None else ids[name] for name in outputs),
                parameters,
                label=fields["name"],
            )
        )
        if bound := op.arrays(fields):
            arrays[number] = canonical(bound)
    return BoundGraph(Graph(vector["kind"], tuple(nodes), streams), arrays), ids


def _extent(vector: Vector) -> int:
    """One more than any coordinate in the vector: the size of an accumulator."""
    largest = 0.0
    for fields in vector["nodes"]:
        numbers = [t for t in fields.get("tokens", ()) if not isinstance(t, str)]
        largest = max([largest, *numbers, *fields.get("crd", ()), fields.get("dim", 0)])
    if not 0 <= largest < MOST:
        raise ValueError(f"{largest} is no coordinate")
    return int(largest) + 1


def stream_kind(name: str) -> StreamKind:
    """Vectors mark value streams by the prefix ``v:``; other kinds behave alike."""
    return StreamKind.VAL if name.startswith("v:") else StreamKind.CRD


@dataclass(frozen=True)
class VectorOperation:
    """The translation of a vector's op to a node of the catalogue entry ``name``.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Fields that name the streams, in port order.
    params : mapping
        Parameters the node has in any case.
    kept : tuple of str
        Fields that become parameters where present.
    arrays : callable
        The arrays the node is bound to.
    """

    name: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    params: Mapping[str, Scalar] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    arrays: Callable[[Fields], dict[str, Any]] = lambda _: {}

    def ports(self, fields: Fields) -> tuple[list[str | None], list[str | None]]:
        return self._streams(fields, self.inputs), self._streams(fields, self.outputs)

    def _streams(self, fields: Fields, ports: Iterable[str]) -> list[str | None]:
        """Stream names; a field with a list stands for a group of ports."""
        return list(
            chain.from_iterable(
                fields[p] if isinstance(fields.get(p), list) else [fields.get(p)] for p in ports
            )
        )

    def parameters(self, fields: Fields) -> dict[str, Scalar]:
        kept = {name: fields[name] for name in self.kept if name in fields}
        if self.name == "source":
            kept["kind"] = stream_kind(fields["out"]).value
        return {**self.params, **kept}


class JoinOp(VectorOperation):
    """A joiner: coordinates and payloads come as two lists, the ports alternate."""

    def ports(self, fields: Fields) -> tuple[list[str | None], list[str | None]]:
        pairs = zip(fields["in_crds"], fields["in_refs"], strict=True)
        return list(chain.from_iterable(pairs)), [fields["out_crd"], *fields["out_refs"]]


def _source_arrays(fields: Fields) -> dict[str, Any]:
    kind = stream_kind(fields["out"])
    arrays: dict[str, Any] = {"tokens": encode(parse_token(t, kind) for t in fields["tokens"])}
    if "times" in fields:
        arrays["times"] = np.asarray(fields["times"], dtype=np.int64)
        if arrays["times"].shape != arrays["tokens"].shape:
            raise ValueError("times and tokens differ in length")
    return arrays


def _level(fields: Fields) -> dict[str, Any]:
    seg = np.asarray(fields["seg"], dtype=np.int64)
    crd = np.asarray(fields["crd"], dtype=np.int64)
    if not (seg.ndim == crd.ndim == 1 and len(seg) and seg[0] == 0 and seg[-1] == len(crd)):
        raise ValueError("seg does not lead from 0 to the end of crd")
    if (np.diff(seg) < 0).any():
        raise ValueError("seg falls")
    return {"seg": seg, "crd": crd}


def _values(fields: Fields) -> dict[str, Any]:
    return {"vals": np.asarray(fields["vals"], dtype=np.float32)}


OPS: Mapping[str, VectorOperation] = {
    "root": VectorOperation("root", (), ("out",)),
    "gen": VectorOperation("source", (), ("out",), arrays=_source_arrays),
    "trace": VectorOperation("source", (), ("out",), arrays=_source_arrays),
    "consume": VectorOperation("sink", ("in",)),
    "scan": VectorOperation("scan", ("in_ref",), ("out_crd", "out_ref"), arrays=_level),
    "dense": VectorOperation("dense_scan", ("in_ref",), ("out_crd", "out_ref"), kept=("dim",)),
    "repsiggen": VectorOperation("repsig", ("in",), ("out",)),
    "repeat": VectorOperation("repeat", ("in_ref", "in_repsig"), ("out",)),
    "intersect": JoinOp("intersect"),
    "union": JoinOp("union", params={"gate": 0}),
    "array": VectorOperation("array", ("in",), ("out",), kept=("block",), arrays=_values),
    "binary": VectorOperation("binary", ("in1", "in2"), ("out",), kept=("fn", "latency", "ii")),
    "unary": VectorOperation(
        "unary", ("in",), ("out",), {"scalar": 0.0}, ("fn", "scalar", "block")
    ),
    "reduce": VectorOperation("reduce", ("in",), ("out",), {"fn": "add"}),
    "maxreduce": VectorOperation("reduce", ("in",), ("out",), {"fn": "max"}),
    "spacc1": VectorOperation(
        "spacc1", ("in_outer", "in_inner", "in_val"), ("out_inner", "out_val"), {"fn": "add"}
    ),
    "crddrop": VectorOperation("crddrop", ("in_inner", "in_outer"), ("out_inner", "out_outer")),
    "locate": VectorOperation(
        "sam_locate", ("in_ref", "in_crd"), ("out_ref1", "out_ref2", "out_crd")
    ),
    "spacc2": VectorOperation(
        "spacc2",
        ("in_crd2", "in_crd1", "in_crd0", "in_val"),
        ("out_crd1", "out_crd0", "out_val"),
    ),
    "crdhold": VectorOperation("crdhold", ("in_inner", "in_outer"), ("out_inner", "out_outer")),
    "crdmask": VectorOperation(
        "crdmask", ("in_inner", "in_outer", "in_ref"), ("out_inner", "out_outer", "out_ref")
    ),
    "valdrop": VectorOperation("zerodrop", ("in_val", "in_crd"), ("out_val", "out_crd")),
    "stkndrop": VectorOperation("stopdrop", ("in",), ("out",)),
    "flatten": VectorOperation("flatten", ("in_inner", "in_outer"), ("out",), kept=("factor",)),
    "fork": VectorOperation("fork", ("in",), ("outs",)),
    "join": VectorOperation("join", ("ins",), ("out",)),
    "broadcast": VectorOperation("broadcast", ("in",), ("outs",)),
    "crdwrite": VectorOperation("crdwrite", ("in",)),
    "valwrite": VectorOperation("valwrite", ("in",)),
}
"""The ops that the simulator has (``docs/spec/comal.md`` §6)."""
