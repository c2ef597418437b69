"""Runs a graph on the golden models and keeps every token, up to limits.

The run is the ordinary one (:mod:`fuseloom.dataflow.sim.golden.interpreter`), with its log.  A run
longer than the limits is ended early: nodes rest when their clock is beyond the last cycle, so
that all until then is as in the whole run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.deadlock import stuck_error
from fuseloom.dataflow.sim.golden.interpreter import GeneratorTask, Interpreter
from fuseloom.dataflow.sim.observe import Int64, Observe, Wait
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.process import (
    PEEK,
    PUT,
    ROOM,
    TAKE,
    Channel,
    MemoryRequest,
    PendingStamp,
)
from fuseloom.dataflow.sim.reports import Progress
from fuseloom.dataflow.sim.steps.recording import NEVER, Recording, StreamRecord
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

MOST_CYCLES = 10_000
"""Cycles that a recording has at most, by default."""
MOST_TOKENS = 200_000
"""Tokens that a recording has at most, by default."""
_FIRST = 512
"""Cycles after which it is first looked how many tokens there are."""


@dataclass(frozen=True)
class RecordingLimits:
    """The limits on the recorded part of a run.

    Attributes
    ----------
    cycles : int
        Most clock cycles.
    tokens : int
        Most tokens in all streams together.

    Raises
    ------
    SimulationError
        If one is not positive.
    """

    cycles: int = MOST_CYCLES
    tokens: int = MOST_TOKENS

    def __post_init__(self) -> None:
        if self.cycles < 1 or self.tokens < 1:
            raise SimulationError(
                f"a recording of {counted(self.cycles, 'cycle')} and "
                f"{counted(self.tokens, 'token')}",
                hint="give positive numbers",
            )


def record(
    bound: BoundGraph,
    machine: Machine,
    kept: RecordingLimits | None = None,
    *,
    progress: Progress | None = None,
) -> Recording:
    """Run a bound graph and keep what its first cycles did with every token.

    The tokens are counted before many more are kept: the run is begun anew with up to four times
    the cycles as long as the tokens counted leave room for that.  A deadlock ends the recording
    and is its note.

    Parameters
    ----------
    kept : RecordingLimits, optional
        Most cycles and tokens.
    progress : callable, optional
        See :data:`fuseloom.dataflow.sim.reports.Progress`.

    Raises
    ------
    SimulationError
        If tokens contradict each other or the run is cancelled.
    """
    kept = kept or RecordingLimits()
    bound = with_ports(bound, machine)
    until = min(kept.cycles, _FIRST)
    while True:
        run = _Run(bound, machine, until, progress)
        if run.over or until == kept.cycles or run.tokens > kept.tokens:
            return run.recording(kept)
        room = kept.tokens / max(run.tokens, 1)  # what went on at this pace would allow
        until = min(kept.cycles, int(until * max(1.25, min(4.0, room))))


class _Run:
    """The run of a graph up to one cycle."""

    def __init__(
        self, bound: BoundGraph, machine: Machine, until: int, progress: Progress | None
    ) -> None:
        self.until = until
        self.run = Interpreter(
            bound, machine, log=True, observe=Observe(log=True), progress=progress, until=until
        )
        self.run.advance()
        self.rest = any(task.process.clock > until and not task.finished for task in self.run.tasks)
        self.blocked = [] if self.rest else self.run.blocked()

    @property
    def over(self) -> bool:
        """True if the run has ended, well or not."""
        return not self.rest

    @property
    def tokens(self) -> int:
        """Tokens put so far."""
        return sum(channel.put_count for channel in self.run.channels)

    def recording(self, kept: RecordingLimits) -> Recording:
        """Return the recording of the run."""
        clocks = np.array([task.process.clock for task in self.run.tasks], np.int64)
        finished = np.array([task.finished for task in self.run.tasks], bool)
        end = min(self.until, int(clocks.max(initial=0))) if self.over else self.until
        last = self._affordable(kept.tokens, end)
        whole = last == end and self.over and not self.blocked
        result = self.run.result() if whole else None
        return Recording(
            self.run.graph,
            self.run.machine,
            tuple(_stream(channel, last) for channel in self.run.channels),
            tuple(_waits(task, last) for task in self.run.tasks),
            np.where(finished & (clocks <= last), clocks, NEVER),
            None if result is None else result.cycles,
            {} if result is None else result.outputs,
            last,
            "" if whole else self._note(kept, last, last < end),
        )

    def _affordable(self, tokens: int, last: int) -> int:
        """The last cycle until which no more than so many tokens are put; at least the first."""
        watches = [channel.watch for channel in self.run.channels if channel.watch is not None]
        clocks = (np.asarray(watch.puts, np.int64) for watch in watches)
        puts = np.concatenate([np.array([], np.int64), *clocks])
        puts.sort()
        if len(puts) <= tokens:
            return last
        return max(1, int(puts[tokens]) - 1)

    def _note(self, kept: RecordingLimits, last: int, cut: bool) -> str:
        """Why the recording ends before the run does."""
        if self.blocked and not cut:
            channels = self.run.channels
            return str(stuck_error(self.run.graph, self.blocked, lambda s: channels[s].capacity))
        limit = f"{counted(kept.tokens, 'token')}" if cut else f"{counted(kept.cycles, 'cycle')}"
        return f"showing the first {counted(last, 'cycle')}: a recording holds at most {limit}"


def _stream(channel: Channel, last: int) -> StreamRecord:
    """A channel's tokens put until that cycle."""
    watch = channel.watch
    assert watch is not None and channel.log is not None  # as the run was asked to
    puts = np.maximum.accumulate(np.asarray(watch.puts, np.int64).reshape(-1))
    count = int(np.searchsorted(puts, last, side="right"))
    tokens = [token for token, _ in channel.log]
    tokens += [token for token, _ in channel.queue]
    stamps = np.array(watch.stamps[:count], np.int64)
    for k, (_, stamp) in enumerate(channel.queue, len(channel.log)):
        if k < count and isinstance(stamp, PendingStamp):
            stamps[k] = _arrival(stamp)
    taken = np.full(count, NEVER, np.int64)
    takes = np.asarray(watch.takes[:count], np.int64)
    taken[: len(takes)] = takes
    return StreamRecord(
        tuple(tokens[:count]),
        puts[:count],
        _kept_until(np.maximum.accumulate(stamps), last),
        _kept_until(taken, last),
        channel.capacity,
    )


def _arrival(late: PendingStamp) -> int:
    """When a token that waits for the memory can be seen, as far as that is known."""
    access: MemoryRequest = late.access
    return max(late.stamp, access.answered) if access.answered >= 0 else NEVER


def _kept_until(clocks: Int64, last: int) -> Int64:
    return np.where(clocks <= last, clocks, NEVER)


def _waits(task: GeneratorTask, last: int) -> tuple[Wait, ...]:
    """A node's waits, and the one it is in."""
    waits = [Wait(*w) for w in task.process.waits or () if w[0] < w[1] and w[0] <= last]
    request = task.request
    if request is not None and not task.finished and task.process.clock <= last:
        kind, channel = request[0], request[1]
        since = task.process.clock
        if kind in (TAKE, PEEK):
            waits.append(Wait(since, NEVER, False, channel.id, channel.taken_count))
        elif kind in (PUT, ROOM):
            waits.append(Wait(since, NEVER, True, channel.id, channel.put_count))
        else:
            waits.append(Wait(since, NEVER, False, -1, 0))
    return tuple(waits)
