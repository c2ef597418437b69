"""The value load as the reference has it when its memory is modelled (``docs/spec/comal.md`` §4).

It stands still whenever it asks the memory, and asks for eight words at most.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.dram.config import BUNDLE
from fuseloom.dataflow.machine.timing import load_timing
from fuseloom.dataflow.primitives.values.golden import ZERO
from fuseloom.dataflow.sim.golden.memory import stall
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, is_number
from fuseloom.wording import counted


@golden_model("stalling_array")
def array(node: Process) -> Behaviour:
    """Gather references; the eighth, or any other token, has their values loaded."""
    (refs,) = node.inputs
    (out,) = node.outputs
    (port,) = node.ports
    stored: list[Any] = list(node.array("vals").astype(ZERO.dtype, copy=False))
    timing = load_timing(node.node, node.machine)
    gathered: list[int] = []
    while True:
        token = yield refs.take
        if is_number(token):
            if not 0 <= token < len(stored):
                node.fail(f"reference outside the {counted(len(stored), 'stored value')}", token)
            gathered.append(token)
        if gathered and (len(gathered) == BUNDLE or not is_number(token)):
            yield from stall(node, port, len(gathered))
            latency = timing.latency if is_number(token) else 1
            for ref in gathered:
                yield out.put(stored[ref], at=node.clock + latency)
            gathered.clear()
        if not is_number(token):
            blank = token is EMPTY and node.quirks.array_loads_zero
            yield out.put(ZERO if blank else token)
            if token is DONE:
                return
        node.clock += timing.interval
