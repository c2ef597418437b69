"""The sources of streams, and the sinks of test benches (``docs/spec/machine.md`` §3.1, §3.2)."""

from __future__ import annotations

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, decode


@golden_model("root")
def root(node: Process) -> Behaviour:
    """Put the reference 0 and the end."""
    (out,) = node.outputs
    for token in (0, DONE):
        yield out.put(token)
        node.clock += 1


@golden_model("source")
def source(node: Process) -> Behaviour:
    """Put given tokens: each at its time or, without times, one a cycle."""
    (out,) = node.outputs
    tokens = decode(node.array("tokens"), StreamKind(node.param("kind", "crd")))
    if "times" not in node.arrays:
        for token in tokens:
            yield out.put(token)
            node.clock += 1
        return
    for token, time in zip(tokens, node.array("times").tolist(), strict=True):
        node.clock = max(node.clock, time - 1)
        yield out.put(token)


@golden_model("sink")
def sink(node: Process) -> Behaviour:
    """Take one token a cycle."""
    (stream,) = node.inputs
    while (yield stream.take) is not DONE:
        node.clock += 1
    node.clock += 1
