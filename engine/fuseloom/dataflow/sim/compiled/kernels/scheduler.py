"""The loop that runs the kernels until nothing moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuseloom.dataflow.sim.compiled.asking import MAX_PORTS
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.dram import advance, answer_tag, answer_time
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.kernels.observer import harvest
from fuseloom.dataflow.sim.compiled.layout import (
    CTL_COUNT,
    CTL_LAST,
    CTL_LEFT,
    CTL_MEMORY,
    CTL_ORDER,
    CTL_PORTS,
    CTL_VISITS,
    FAILED,
    FINISHED,
    PAUSED,
    PORT_MASK,
    PORT_NODE,
    PORT_RING,
    PORT_SIZE,
    STUCK,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_MEMORY,
    WAIT_OUTPUT,
    Int,
    SimulationState,
    call_kernel,
    state_of,
)
from fuseloom.dataflow.sim.compiled.observed_layout import OBS_LACKING
from fuseloom.dataflow.sim.compiled.rings import (
    has,
    room,
    starved,
)


@inline
def _wake(s: SimulationState, nd: Any) -> None:
    """Make neighbours ready for which the visit of this node changed something."""
    for k in range(nd.n_out):
        c = s.ints[nd.outs + k]
        q = s.ch[c]
        if q.cap >= 0:
            other = s.nd[q.cons]
            if other.wk == WAIT_INPUT and other.wc == c and has(s, c):
                other.ready = 1
    for k in range(nd.n_in):
        c = s.ints[nd.ins + k]
        other = s.nd[s.ch[c].prod]
        if other.wk == WAIT_OUTPUT and other.wc == c and room(s, c) > 0:
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
    if nd.wk == WAIT_DRAIN:
        return True
    if nd.wk == WAIT_OUTPUT:
        return not starved(s, nd.wc)
    if nd.wk == WAIT_MEMORY:
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
        port = s.ctl[CTL_PORTS] + PORT_SIZE * (tag & (MAX_PORTS - 1))
        ring = s.ints[port + PORT_RING]
        s.ints[ring + ((tag // MAX_PORTS) & s.ints[port + PORT_MASK])] = answer_time(s.mem, k)
        s.nd[s.ints[port + PORT_NODE]].ready = 1
    return count


@inline
def _serve(s: SimulationState, table: Int) -> Int:
    """Call :func:`memory`, if there is one; whether it answered.

    When no node can move, no request can come that is earlier than these answers.
    """
    if not s.ctl[CTL_MEMORY]:
        return False
    return call_kernel(s.ctl[CTL_MEMORY], 0, table) > 0


def _scheduling(observed: bool) -> Callable[[Int, Int], Int]:
    """The loop over the nodes; that of plain runs has nothing of observing in it to compile."""

    @inline
    def visit(s: SimulationState, node: Int, table: Int) -> Int:
        """Run one node; its status."""
        nd = s.nd[node]
        nd.ready = 0
        status = call_kernel(nd.fn, node, table)
        s.ctl[CTL_LAST] = node
        s.ctl[CTL_VISITS] += 1
        if observed and status != FAILED:
            harvest(s, node, status)
        if status == FINISHED:
            nd.done = 1
            s.ctl[CTL_LEFT] -= 1
        if status != FAILED:
            _wake(s, nd)
        return status

    @inline
    def schedule(visits: Int, table: Int) -> Int:
        s = state_of(table)
        order, count = s.ctl[CTL_ORDER], s.ctl[CTL_COUNT]
        while True:
            moved = False
            for k in range(count):
                node = s.ints[order + k]
                if not s.nd[node].ready:
                    continue
                moved = True
                status = visit(s, node, table)
                if status == FAILED:
                    return status
                if s.ctl[CTL_LEFT] == 0:
                    return FINISHED
                visits -= 1
                if visits <= 0 or (observed and s.ctl[OBS_LACKING]):
                    return PAUSED
            if moved:
                continue
            for k in range(count):
                if _wants_more_memory(s, s.nd[s.ints[order + k]]):
                    return STUCK
            for k in range(count):
                node = s.ints[order + k]
                nd = s.nd[node]
                if nd.done:
                    continue
                before = _activity(s, nd)
                nd.eager = 1
                status = visit(s, node, table)
                nd.eager = 0
                if status == FAILED:
                    return status
                if s.ctl[CTL_LEFT] == 0:
                    return FINISHED
                if status == FINISHED or _activity(s, nd) != before:
                    moved = True
                    visits -= 1
                    if visits <= 0 or (observed and s.ctl[OBS_LACKING]):
                        return PAUSED
            if not moved and not _serve(s, table):
                return STUCK

    return schedule


_plain, _observed = _scheduling(observed=False), _scheduling(observed=True)


@kernel("scheduler")
def scheduler(visits: Int, table: Int) -> Int:
    """Visit ready nodes in order of the dataflow, at most so many.

    When none is ready, every node is visited once more and told to go ahead token by token
    (see :func:`fuseloom.dataflow.sim.compiled.rings.no_room`): only if that moves nothing, nothing
    can.
    """
    return _plain(visits, table)


@kernel("observed_scheduler")
def observed_scheduler(visits: Int, table: Int) -> Int:
    """The same, harvesting what each visit did; it pauses where there is little room for more."""
    return _observed(visits, table)
