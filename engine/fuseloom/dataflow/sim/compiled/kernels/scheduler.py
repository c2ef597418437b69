"""The loop that runs the kernels until nothing moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuseloom.dataflow.sim.compiled import control, layout, rings, visits, waits
from fuseloom.dataflow.sim.compiled.asking import MAX_PORTS
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.dram import advance, answer_tag, answer_time
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.observer import harvest
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of


@inline
def _wake(s: SimulationState, nd: Any) -> None:
    """Make neighbours ready for which the visit of this node changed something."""
    for k in range(nd.n_out):
        c = s.ints[nd.outs + k]
        q = s.ch[c]
        if q.cap >= 0:
            other = s.nd[q.cons]
            if other.wk == waits.INPUT and other.wc == c and rings.has(s, c):
                other.ready = 1
    for k in range(nd.n_in):
        c = s.ints[nd.ins + k]
        other = s.nd[s.ch[c].prod]
        if other.wk == waits.ROOM and other.wc == c and rings.room(s, c) > 0:
            other.ready = 1


@inline
def _activity(s: SimulationState, nd: Any) -> Int:
    """Tokens taken and put so far by a node."""
    total = 0
    for k in range(nd.n_out):
        total += s.ch[s.ints[nd.outs + k]].tt
    for k in range(nd.n_in):
        total += s.ch[s.ints[nd.ins + k]].ht
    return total


@inline
def _wants_more_memory(s: SimulationState, nd: Any) -> Int:
    """Return whether a node waits for space that the machine has and its arrays here lack."""
    if nd.done:
        return False
    if nd.wk == waits.DRAIN:
        return True
    if nd.wk == waits.ROOM:
        return not rings.starved(s, nd.wc)
    if nd.wk == waits.MEMORY:
        return False
    return s.ch[nd.wc].tr > s.ch[nd.wc].hr


@kernel("memory")
def memory(node: Int, table: Int) -> Int:
    """Let the memory answer something, and wake who asked; how many answers there were.

    A kernel of its own, as its code is by far the largest: only machines with a memory need it.
    """
    s = state_of(table)
    count = advance(s.mem)
    for k in range(count):
        tag = answer_tag(s.mem, k)
        port = s.ctl[control.PORTS] + layout.PORT_SIZE * (tag & (MAX_PORTS - 1))
        ring = s.ints[port + layout.PORT_RING]
        place = ring + ((tag // MAX_PORTS) & s.ints[port + layout.PORT_MASK])
        s.ints[place] = answer_time(s.mem, k)
        s.nd[s.ints[port + layout.PORT_NODE]].ready = 1
    return count


@inline
def _serve(s: SimulationState, table: Int) -> Int:
    """Call :func:`memory`, if there is one; whether it answered.

    When no node can move, no request can come that is earlier than these answers.
    """
    if not s.ctl[control.MEMORY]:
        return False
    return layout.call_kernel(s.ctl[control.MEMORY], 0, table) > 0


def _scheduling(observed: bool) -> Callable[[Int, Int], Int]:
    """The loop over the nodes; that of plain runs has nothing of observing in it to compile."""

    @inline
    def visit(s: SimulationState, node: Int, table: Int) -> Int:
        """Run one node; its status."""
        nd = s.nd[node]
        nd.ready = 0
        status = layout.call_kernel(nd.fn, node, table)
        s.ctl[control.LAST] = node
        s.ctl[control.VISITS] += 1
        if observed and status != visits.FAILED:
            harvest(s, node, status)
        if status == visits.FINISHED:
            nd.done = 1
            s.ctl[control.LEFT] -= 1
        if status != visits.FAILED:
            _wake(s, nd)
        return status

    @inline
    def schedule(budget: Int, table: Int) -> Int:
        s = state_of(table)
        order, count = s.ctl[control.ORDER], s.ctl[control.COUNT]
        while True:
            moved = False
            for k in range(count):
                node = s.ints[order + k]
                if not s.nd[node].ready:
                    continue
                moved = True
                status = visit(s, node, table)
                if status == visits.FAILED:
                    return status
                if s.ctl[control.LEFT] == 0:
                    return visits.FINISHED
                budget -= 1
                if budget <= 0 or (observed and s.ctl[control.LACKING]):
                    return visits.PAUSED
            if moved:
                continue
            for k in range(count):
                if _wants_more_memory(s, s.nd[s.ints[order + k]]):
                    return visits.STUCK
            for k in range(count):
                node = s.ints[order + k]
                nd = s.nd[node]
                if nd.done:
                    continue
                before = _activity(s, nd)
                nd.eager = 1
                status = visit(s, node, table)
                nd.eager = 0
                if status == visits.FAILED:
                    return status
                if s.ctl[control.LEFT] == 0:
                    return visits.FINISHED
                if status == visits.FINISHED or _activity(s, nd) != before:
                    moved = True
                    budget -= 1
                    if budget <= 0 or (observed and s.ctl[control.LACKING]):
                        return visits.PAUSED
            if not moved and not _serve(s, table):
                return visits.STUCK

    return schedule


_plain, _observed = _scheduling(observed=False), _scheduling(observed=True)


@kernel("scheduler")
def scheduler(budget: Int, table: Int) -> Int:
    """Visit ready nodes in order of the dataflow, at most so many.

    When none is ready, every node is visited once more and told to go ahead token by token
    (see :func:`fuseloom.dataflow.sim.compiled.visits.no_room`): only if that moves nothing, nothing
    can.
    """
    return _plain(budget, table)


@kernel("observed_scheduler")
def observed_scheduler(budget: Int, table: Int) -> Int:
    """The same, harvesting what each visit did; it pauses where there is little room for more."""
    return _observed(budget, table)
