"""Writers of levels and of values (``docs/spec/machine.md`` §9)."""

from __future__ import annotations

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, Stop, is_number


@golden_model("crdwrite")
def crdwrite(node: Process) -> Behaviour:
    """Write coordinates and, at the first stop after one, where the fiber ends.

    A stop with no coordinate since the last recorded one is ignored and costs nothing, so
    empty fibers leave no trace: the level relies on a dropper upstream.
    """
    (crds,) = node.inputs
    crd = node.written["crd"] = []
    seg = node.written["seg"] = [0]
    fiber_open = node.quirks.writer_records_leading_empty
    while True:
        token = yield crds.take
        if token is DONE:
            return
        if is_number(token):
            crd.append(token)
            fiber_open = True
        elif isinstance(token, Stop) and fiber_open:
            seg.append(len(crd))
            fiber_open = False
        else:
            continue
        node.clock += 1


@golden_model("valwrite")
def valwrite(node: Process) -> Behaviour:
    """Write values; stops and empty tokens cost nothing, the end costs one cycle."""
    (values,) = node.inputs
    vals = node.written["vals"] = []
    while True:
        token = yield values.take
        if token is DONE:
            node.clock += 1
            return
        if is_number(token):
            vals.append(token)
            node.clock += 1
