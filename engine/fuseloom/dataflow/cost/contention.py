"""Estimate the cycles that a region waits for its DRAM, by replaying its requests.

Banks, rows, refreshes and the turns of buses decide how fast a DRAM answers, and which requests
meet there decides in which state they find it.  So the requests of a region are replayed against
the model of the memory itself, and once more against a memory of the same latency that has no
limit; the difference is what the region waits.  Of many requests, those of some windows of the
outermost coordinates stand for all: neighbours together, as lines and rows lie across them.
Rules: ``docs/spec/estimate.md`` §4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.cost.context import EstimateContext, ExecutedGraph
from fuseloom.dataflow.cost.exact.execution import Execution, TooLargeError
from fuseloom.dataflow.cost.exact.requests import AccessPort, MemoryRequests, ports_of
from fuseloom.dataflow.cost.exact.timing import Timed, timed
from fuseloom.dataflow.cost.mode import EstimateMode
from fuseloom.dataflow.cost.replay import replayed
from fuseloom.dataflow.cost.sampling import SampledIndices
from fuseloom.dataflow.dram import Dram, Ideal

TOKENS = 300_000
"""Tokens at ports whose requests are replayed, about."""
CYCLES = 100_000
"""Cycles of the busiest node on windows, about."""
ELEMENTS = 2e6
"""Elements that an execution on windows may make."""
WINDOWS = 4
"""The number of windows, where not all are."""


class Windows(NamedTuple):
    """A region executed on windows, and whether they leave nothing out."""

    execution: Execution
    whole: bool


def on_windows(
    region: CompiledRegion, context: EstimateContext, found: ExecutedGraph, when: Timed
) -> Windows | None:
    """A region that was executed on samples, executed on windows of its outermost indices.

    Samples stand for others, and so say nothing of what follows each other closely.

    Returns
    -------
    Windows or None
        None where one coordinate alone takes too much.
    """
    drawn = SampledIndices(region, context)
    part = min(CYCLES / max([*when.work.values(), 1.0]), 1.0)
    longest = max((drawn.extents[x] for x in drawn.outer), default=1)
    while part * longest >= 0.5:
        try:
            return Windows(drawn.on_windows(part, WINDOWS, ELEMENTS), part >= 1.0)
        except TooLargeError:
            part /= 4.0
    return None


def waiting(
    found: ExecutedGraph, windows: Windows | None, when: Timed, context: EstimateContext
) -> float | None:
    """The cycles that a region waits for its memory, besides the latency of each read.

    Parameters
    ----------
    windows : Windows or None
        The region executed on windows, unless it was on all coordinates.
    when : Timed
        When the region is done without.

    Returns
    -------
    float or None
        None if the machine has no DRAM, the region was executed on samples alone, or one
        coordinate alone has too many tokens.
    """
    machine = context.machine
    if found.mode is EstimateMode.EXACT:
        windows = Windows(found.executed, whole=True)
    if not isinstance(machine.memory, Dram) or windows is None:
        return None
    execution, whole = windows
    ports = ports_of(execution, context.patterns)
    alone = timed(execution, replace(machine, memory=None))
    requests = MemoryRequests(execution, alone, machine, ports)
    tokens = sum(port.tree.n for port in ports)
    if whole and tokens <= TOKENS:
        return _waited(requests, ports, 0.0, 1.0)
    axes: dict[int, list[AccessPort]] = {}
    for port in ports:
        axes.setdefault(requests.axis_of(port), []).append(port)
    part = min(TOKENS / max(tokens, 1), 1.0)
    try:
        waited = sum(_in_windows(requests, some, part) for some in axes.values())
    except TooLargeError:
        return None
    if whole:
        return waited
    every = sum(
        when.total(port.tree.elements, port.index)
        for port in ports_of(found.executed, context.patterns)
    )
    return waited * every / max(tokens, 1)


def _in_windows(requests: MemoryRequests, ports: Sequence[AccessPort], part: float) -> float:
    """The cycles that ports on one axis wait, from windows which are a part of its coordinates.

    Raises
    ------
    TooLargeError
        If one window has too many tokens, as coordinates are not cut.
    """
    tokens = sum(port.tree.n for port in ports)
    waited, seen = 0.0, 0
    for k in range(WINDOWS):
        low = (k + (1.0 - part) / 2.0) / WINDOWS
        high = low + part / WINDOWS
        ranges = [requests.leaves(port, low, high) for port in ports]
        here = sum(end - begin for begin, end in ranges)
        if here > 4 * TOKENS:
            raise TooLargeError
        waited, seen = waited + _waited(requests, ports, low, high), seen + here
    return waited * tokens / max(seen, 1)


def _waited(
    requests: MemoryRequests, ports: Sequence[AccessPort], low: float, high: float
) -> float:
    """The cycles that ports wait in a window."""
    machine = requests.machine
    memory = machine.memory
    assert isinstance(memory, Dram)
    latency = max(round(memory.read_latency(machine.clock_hz)), 1)
    trace, used, count = requests.trace(ports, low, high)
    if not count:
        return 0.0
    free = Ideal(latency, memory.access_bytes)
    least, most = (
        replayed(machine, some, trace, len(used), count)[_last_of(used, low, high)].max()
        for some in (free, memory)
    )
    return float(max(most - least, 0))


def _last_of(ports: Sequence[AccessPort], low: float, high: float) -> list[int]:
    """The ports whose last tokens end a window.

    What is written last waits for more to be written, which there is but in the last window.
    """
    reads = [k for k, port in enumerate(ports) if not port.write]
    return [*range(len(ports))] if (low, high) == (0.0, 1.0) or not reads else reads
