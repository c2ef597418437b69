"""The level scanner as the reference has it when its memory is modelled.

It stands still whenever it asks the memory, and asks for eight words at most
(``docs/spec/comal.md`` §4).
"""

from __future__ import annotations

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.sim.golden.memory import stall
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop
from fuseloom.wording import counted


@golden_model("stalling_scan")
def scan(node: Process) -> Behaviour:
    """Two segment ends per fiber, then its coordinates, eight at a time, which leave together."""
    (refs,) = node.inputs
    crd_out, ref_out = node.outputs
    segments, coordinates = node.ports
    seg, crd = node.array("seg").tolist(), node.array("crd").tolist()
    while True:
        token = yield refs.take
        closing = token
        if isinstance(token, Stop):
            closing = Stop(token.level + 1)
        elif token is not DONE and not (token is EMPTY and node.quirks.scanner_forwards_empty):
            if token is not EMPTY:
                if not 0 <= token < len(seg) - 1:
                    node.fail(
                        f"reference outside the level's {counted(len(seg) - 1, 'fiber')}", token
                    )
                yield from stall(node, segments, 2)
                for first in range(seg[token], seg[token + 1], BUNDLE):
                    bundle = range(first, min(first + BUNDLE, seg[token + 1]))
                    yield from stall(node, coordinates, len(bundle))
                    for position in bundle:
                        yield crd_out.put(crd[position])
                        yield ref_out.put(position)
            following = yield refs.peek
            closing = Stop(0)
            if isinstance(following, Stop):
                yield refs.take
                closing = Stop(following.level + 1)
        yield crd_out.put(closing)
        yield ref_out.put(closing)
        if token is DONE:
            return
        node.clock += 1
