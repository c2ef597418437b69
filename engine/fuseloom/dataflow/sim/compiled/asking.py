"""The kernels' requests to the memory model, and its answers in the port's ring."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.sim.compiled import control, layout, visits, waits
from fuseloom.dataflow.sim.compiled.dram import push
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState
from fuseloom.dataflow.sim.compiled.slots import inline_common

MAX_PORTS = 1 << 16
"""A request's tag is its number at its port, times this, plus the port's number."""


@inline
def base_of(s: SimulationState, port: Int) -> Int:
    """Address of what a port reads or writes."""
    return s.ints[s.ctl[control.PORTS] + layout.PORT_SIZE * port + layout.PORT_BASE]


@inline
def _place(s: SimulationState, port: Int, request: Int) -> Int:
    """Return the position of the answer to a port's request of that number."""
    p = s.ctl[control.PORTS] + layout.PORT_SIZE * port
    return s.ints[p + layout.PORT_RING] + (request & s.ints[p + layout.PORT_MASK])


@inline
def ask(
    s: SimulationState, port: Int, request: Int, t: Int, address: Int, size: Int, write: Int
) -> None:
    """Issue a port's request of that number at clock ``t``."""
    s.ints[_place(s, port, request)] = -1
    push(s.mem, t, port, address, size, write, request * MAX_PORTS + port)


@inline
def answer(s: SimulationState, port: Int, request: Int) -> Int:
    """Cycle in which a request is answered; -1 as long as that is not known."""
    return s.ints[_place(s, port, request)]


@inline
def request(s: SimulationState, port: Int, t: Int, words: Int, write: Int) -> None:
    """Ask for words at the port's own address; no other request of the port is under way."""
    ask(s, port, 0, t, base_of(s, port), words, write)


@inline_common
def stand_still(s: SimulationState, nd: Any, t: Int, when: Int) -> Int:
    """The clock after a wait for the memory, which is booked."""
    if when <= t:
        return t
    nd.sm += visits.waited(s, waits.MEMORY, t, when)
    return when
