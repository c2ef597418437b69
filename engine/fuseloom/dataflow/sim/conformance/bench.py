"""A test bench for one primitive: streams written as text in, streams as text out.

The notation is that of ``docs/spec/machine.md`` §2.1: ``token@timestamp``, separated by spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.samml.primitive import Port
from fuseloom.dataflow.sim.bound import Arrays, BoundGraph, canonical
from fuseloom.dataflow.sim.engines import Engine, run_graph
from fuseloom.dataflow.sim.result import EngineResult, Log
from fuseloom.dataflow.sim.tokens import encode, format_token, parse_token


@dataclass(frozen=True)
class BenchRun:
    """The behaviour of a primitive on the given streams.

    Attributes
    ----------
    outputs : tuple of str
        Per output port, its tokens as ``token@timestamp``.
    clock : int
        The primitive's final clock.
    written : mapping
        What it wrote, if it is a writer.
    result : EngineResult
        The whole run; the primitive is node 0.
    """

    outputs: tuple[str, ...]
    clock: int
    written: Mapping[str, npt.NDArray[Any]]
    result: EngineResult

    @property
    def tokens(self) -> tuple[str, ...]:
        """The outputs without timestamps."""
        return tuple(
            " ".join(item.partition("@")[0] for item in out.split()) for out in self.outputs
        )


def bench_graph(
    op: str,
    *inputs: str,
    params: Mapping[str, Scalar] | None = None,
    arrays: Mapping[str, npt.ArrayLike] | None = None,
    outputs: int | None = None,
    capacity: int | None = None,
) -> BoundGraph:
    """One primitive between sources and sinks (see :func:`bench`)."""
    entry = primitive(op)
    in_ports = entry.input_ports(len(inputs))
    count = len(entry.outputs) if outputs is None else outputs
    out_ports = entry.output_ports(count)
    kinds = [_kind(port) for port in (*in_ports, *out_ports)]
    streams = tuple(
        Stream(k, kind, 0, port.name, capacity)
        for k, (kind, port) in enumerate(zip(kinds, (*in_ports, *out_ports), strict=True))
    )
    outs = tuple(range(len(inputs), len(streams)))
    nodes = [Node(0, op, tuple(range(len(inputs))), outs, params or {}, op)]
    bound: dict[int, Arrays] = {
        0: canonical({name: np.asarray(array) for name, array in (arrays or {}).items()})
    }
    for stream, text in enumerate(inputs):
        pairs = [item.partition("@")[::2] for item in text.split()]
        tokens = encode(parse_token(token, kinds[stream]) for token, _ in pairs)
        times = np.array([int(time or k + 1) for k, (_, time) in enumerate(pairs)], dtype=np.int64)
        bound[len(nodes)] = {"tokens": tokens, "times": times}
        kind = {"kind": kinds[stream].value}
        nodes.append(Node(len(nodes), "source", (), (stream,), kind, f"source {stream}"))
    for stream in outs:
        nodes.append(Node(len(nodes), "sink", (stream,), (), {}, f"sink {stream}"))
    return BoundGraph(Graph(op, tuple(nodes), streams), bound)


def bench(
    op: str,
    *inputs: str,
    params: Mapping[str, Scalar] | None = None,
    arrays: Mapping[str, npt.ArrayLike] | None = None,
    outputs: int | None = None,
    machine: Machine | None = None,
    capacity: int | None = None,
    engine: str | Engine = Engine.INTERPRETER,
) -> BenchRun:
    """Run one primitive on streams written as text.

    Parameters
    ----------
    op : str
        Catalogue name.
    *inputs : str
        Per input port, ``token@timestamp``; a token without a time comes at its position + 1.
    arrays : mapping, optional
        What the primitive reads (see :class:`fuseloom.dataflow.sim.bound.BoundGraph`).
    outputs : int, optional
        Number of output ports, where the primitive leaves it open.
    capacity : int, optional
        Of every channel.

    Examples
    --------
    >>> bench("reduce", "1 2 S0 S0 3 S1 D", params={"fn": "add"}).tokens
    ('3 N 3 S0 D',)
    """
    bound = bench_graph(
        op, *inputs, params=params, arrays=arrays, outputs=outputs, capacity=capacity
    )
    result = run_graph(bound, machine or Machine.default(), engine, log=True)
    log: Log = result.log or {}
    return BenchRun(
        tuple(
            " ".join(f"{format_token(token)}@{time}" for token, time in log[stream])
            for stream in bound.graph.nodes[0].outputs
            if stream is not None
        ),
        int(result.clocks[0]),
        result.outputs.get(0, {}),
        result,
    )


def _kind(port: Port) -> StreamKind:
    """Coordinates wherever a port takes them: only value streams carry ``float32``."""
    return port.kinds[0]
