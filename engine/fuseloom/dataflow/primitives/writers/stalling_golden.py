"""Writers as the reference has them when its memory is modelled (``docs/spec/comal.md`` §4).

They stand still whenever they ask the memory, and ask for eight words at most.
"""

from __future__ import annotations

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.sim.golden.memory import stall
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, Stop, is_number


@golden_model("stalling_crdwrite")
def crdwrite(node: Process) -> Behaviour:
    """Write coordinates and segment ends, eight at a time; what has no use writes all at hand."""
    (crds,) = node.inputs
    coordinates, segments = node.ports
    crd = node.written["crd"] = []
    seg = node.written["seg"] = [0]
    fiber_open = node.quirks.writer_records_leading_empty
    held_crd = held_seg = 0
    while True:
        token = yield crds.take
        if is_number(token):
            crd.append(token)
            fiber_open = True
            held_crd += 1
            if held_crd == BUNDLE:
                yield from stall(node, coordinates, held_crd)
                held_crd = 0
        elif isinstance(token, Stop) and fiber_open:
            seg.append(len(crd))
            fiber_open = False
            held_seg += 1
            if held_seg == BUNDLE:
                yield from stall(node, segments, held_seg)
                held_seg = 0
        else:
            if held_crd:
                yield from stall(node, coordinates, held_crd)
            if held_seg:
                yield from stall(node, segments, held_seg)
            held_crd = held_seg = 0
            if token is DONE:
                return
            continue
        node.clock += 1


@golden_model("stalling_valwrite")
def valwrite(node: Process) -> Behaviour:
    """Write one value at a time."""
    (values,) = node.inputs
    (port,) = node.ports
    vals = node.written["vals"] = []
    while True:
        token = yield values.take
        if token is DONE:
            node.clock += 1
            return
        if is_number(token):
            vals.append(token)
            yield from stall(node, port, 1)
            node.clock += 1
