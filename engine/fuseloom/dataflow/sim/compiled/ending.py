"""The end of nodes that have read all they need of an input before its end.

Rules: ``docs/spec/comal.md`` §2.15.
"""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import rings, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState
from fuseloom.dataflow.sim.compiled.slots import inline_common


@inline_common
def finish(s: SimulationState, nd: Any, c: Int, t: Int, si: Int, so: Int) -> Int:
    """Take the stops left and the end; the status."""
    while rings.has(s, c):
        p = s.run[rings.head(s, c)]
        k = p.x & runs.KIND
        t, si = visits.stall(s, waits.INPUT, t, p.t, si)
        if k != runs.STOP and k != runs.DONE:
            return visits.fail(nd, t, rules.LEFT_OVER)
        rings.take_one(s, c, t)
        if k == runs.DONE:
            return visits.leave(nd, t, si, so, waits.NONE, 0)
    return visits.leave(nd, t, si, so, waits.INPUT, c)
