"""The end of nodes that have read all they need of an input before its end.

Rules: ``docs/spec/comal.md`` §2.15.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled.layout import (
    DONE,
    INPUT,
    KIND,
    STOP,
    WAIT_INPUT,
    WAIT_NONE,
    Int,
    SimulationState,
)
from fuseloom.dataflow.sim.compiled.rings import has, head, take_one
from fuseloom.dataflow.sim.compiled.rules import LEFT_OVER
from fuseloom.dataflow.sim.compiled.slots import inline_common
from fuseloom.dataflow.sim.compiled.visits import fail, leave, stall


@inline_common
def finish(s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int) -> Int:
    """Take the stops left and the end; the status."""
    while has(s, c):
        p = s.run[head(s, c)]
        k = p.x & KIND
        t, si = stall(s, INPUT, t, p.t, si)
        if k != STOP and k != DONE:
            return fail(nd, t, LEFT_OVER)
        take_one(s, c, t)
        if k == DONE:
            return leave(nd, t, si, so, WAIT_NONE, 0)
    return leave(nd, t, si, so, WAIT_INPUT, c)
