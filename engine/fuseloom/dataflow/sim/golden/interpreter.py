"""The interpreter: runs the golden models with exact times (``docs/spec/machine.md`` §2).

A node runs until it lacks a token or a free slot; whoever provides it wakes the node again.
Neither the order of running nor real time has any influence on the result.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.deadlock import Blocked, Need, stuck_error
from fuseloom.dataflow.sim.golden.memory import Attached
from fuseloom.dataflow.sim.golden.observing import observed
from fuseloom.dataflow.sim.golden.registry import implementation
from fuseloom.dataflow.sim.observe import Observe, Observed
from fuseloom.dataflow.sim.ports import ports_of, stalled
from fuseloom.dataflow.sim.process import (
    ANSWER,
    ISSUE,
    PEEK,
    PUT,
    ROOM,
    TAKE,
    Behaviour,
    Channel,
    MemoryRequest,
    PendingStamp,
    Process,
    Request,
    RequestPort,
)
from fuseloom.dataflow.sim.reports import Limits, Progress, Reports
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.tokens import is_value

MOVES_PER_REPORT = 1 << 12
BYTES_PER_TOKEN = 160
"""A tuple of a token and its timestamp in a queue, both objects."""
BYTES_PER_NUMBER = 40


@dataclass
class GeneratorTask:
    """A process, the generator that drives it, and the request it is blocked on."""

    process: Process
    behaviour: Behaviour
    request: Request | None = None
    finished: bool = False


class Interpreter:
    """One run of one bound graph on one machine.

    With ``until``, a node whose clock is beyond that cycle rests before its next request, so that
    what happens up to there happens exactly as in the whole run: whatever a resting node would
    do next comes later.
    """

    def __init__(
        self,
        bound: BoundGraph,
        machine: Machine,
        *,
        log: bool = False,
        observe: Observe | None = None,
        progress: Progress | None = None,
        limits: Limits | None = None,
        until: int | None = None,
    ) -> None:
        self.until = sys.maxsize if until is None else until
        self.graph = graph = bound.graph
        self.machine = machine
        self.log = log
        self.observe = observe
        self.limits = limits or Limits()
        self.reports = Reports(
            bound, progress, self.limits, first=MOVES_PER_REPORT, most=16 * MOVES_PER_REPORT
        )
        self.moves = self.tokens = 0
        self.next_report = self.reports.stride
        self.channels = [
            Channel(
                stream.id,
                machine.capacity_of(stream),
                log=log,
                watch=observe is not None,
            )
            for stream in graph.streams
        ]
        self.tasks: list[GeneratorTask] = []
        ports = ports_of(graph, machine)
        for node in graph.nodes:
            process = Process(
                node,
                machine,
                bound.of(node.id),
                tuple(self.channels[stream] for stream in node.inputs),
                tuple(
                    Channel(-1, None) if stream is None else self.channels[stream]
                    for stream in node.outputs
                ),
                ports=ports.get(node.id, ()),
            )
            process.waits = None if observe is None else []
            code = implementation(stalled(node, machine) or node.op)
            self.tasks.append(GeneratorTask(process, code.generator(process)))
        self.memory = Attached.of(machine, sum(map(len, ports.values())))

    def run(self) -> EngineResult:
        """Run to the end.

        Raises
        ------
        DeadlockError
            If nodes wait for each other in a circle.
        SimulationError
            If tokens contradict each other, a limit is reached or the run is cancelled.
        """
        self.advance()
        blocked = self.blocked()
        if blocked:
            raise stuck_error(self.graph, blocked, lambda stream: self.channels[stream].capacity)
        return self.result()

    @np.errstate(all="ignore")  # overflow, 0/0 and the like are values, as on the machine
    def advance(self) -> None:
        """Run every node until it ends, lacks something or rests."""
        ready = deque(self.graph.topological())
        waiting = set(ready)

        def wake(nodes: set[int]) -> None:
            for other in nodes:
                if other not in waiting and not self.tasks[other].finished:
                    waiting.add(other)
                    ready.append(other)

        while ready:
            number = ready.popleft()
            waiting.discard(number)
            wake(self._advance(self.tasks[number]))
            while not ready and self.memory is not None and (woken := self.memory.serve()):
                wake(woken)  # nothing else moves before the memory answers

    def blocked(self) -> list[Blocked]:
        """Nodes that lack a token or room."""
        return [
            Blocked(task.process.node.id, task.request[1].id,
                    Need.TOKEN if task.request[0] in (TAKE, PEEK) else Need.ROOM)
            for task in self.tasks
            if not task.finished
            and task.request is not None
            and task.request[0] in (TAKE, PEEK, ROOM, PUT)
            and task.process.clock <= self.until
        ]  # fmt: skip

    def _advance(self, task: GeneratorTask) -> set[int]:
        """Run one node until it blocks or ends; return the nodes this may have unblocked."""
        touched: set[int] = set()
        process, request = task.process, task.request
        behaviour, until = task.behaviour, self.until
        producer, consumer = self.graph.producer, self.graph.consumer
        answer: Any = None
        try:
            if request is None:
                request = next(behaviour)
            while process.clock <= until:
                kind, channel, token, at = request
                if kind in (TAKE, PEEK):
                    if not channel.queue:
                        break
                    answer, stamp = channel.queue[0]
                    if type(stamp) is PendingStamp:
                        if stamp.access.answered < 0:
                            break
                        stamp = channel.arrive(stamp)
                    if process.waits is not None and stamp >= process.clock:
                        process.waits.append(
                            (process.clock, stamp, False, channel.id, channel.taken_count)
                        )
                    if stamp > process.clock:
                        process.stall_input += stamp - process.clock
                        process.clock = stamp
                    if kind == TAKE:
                        self._take(process, channel)
                        touched.add(producer[channel.id])
                elif kind == ISSUE:
                    answer = token
                    self._issue(process, channel, token)
                elif kind == ANSWER:
                    if token.answered < 0:
                        break
                    answer = token.answered
                else:
                    answer = None
                    if not channel.void:
                        if not self._has_room(process, channel):
                            break
                        if kind == PUT:
                            self._put(process, channel, token, at)
                            touched.add(consumer[channel.id])
                request = behaviour.send(answer)
        except StopIteration:
            task.finished = True
            request = None
        task.request = request
        return touched

    def _take(self, process: Process, channel: Channel) -> None:
        entry = channel.queue.popleft()
        channel.taken_count += 1
        self._move()
        if channel.capacity is not None:
            channel.slots.append(process.clock + 1)
        if channel.watch is not None:
            channel.watch.takes.append(process.clock)
        if channel.log is not None:
            channel.log.append(entry)
        if process.first < 0:
            process.first = process.clock

    def _has_room(self, process: Process, channel: Channel) -> bool:
        """Return whether a slot is free, now or at a known time, to which the clock then moves."""
        if channel.capacity is None or channel.put_count < channel.capacity:
            return True
        if not channel.slots:
            return False
        free = channel.slots[0]
        if process.waits is not None and free >= process.clock:
            process.waits.append((process.clock, free, True, channel.id, channel.put_count))
        if free > process.clock:
            process.stall_output += free - process.clock
            process.clock = free
        return True

    def _issue(self, process: Process, port: RequestPort, access: MemoryRequest) -> None:
        """Hand a request to the memory; its answer wakes the node and its readers."""
        assert self.memory is not None  # only machines with one have ports
        access.issued = process.clock
        readers = [self.graph.consumer[s] for s in process.node.outputs if s is not None]
        self.memory.issue(port, access, (process.node.id, *readers))

    def _put(self, process: Process, channel: Channel, token: Any, at: Any) -> None:
        if channel.capacity is not None and channel.put_count >= channel.capacity:
            channel.slots.popleft()
        late = isinstance(at, MemoryRequest)
        stamp = process.clock + 1 if late else max(at, process.clock + 1)
        if channel.watch is not None:
            channel.watch.puts.append(process.clock)
            channel.watch.stamps.append(stamp)
        channel.put_count += 1
        channel.value_count += is_value(token)
        channel.queue.append((token, PendingStamp(stamp, at) if late else stamp))
        if process.first < 0:
            process.first = process.clock
        self.tokens += 1
        if self.limits.tokens is not None:
            self.limits.check_tokens(self.tokens)
        self._move()

    def _move(self) -> None:
        """Count a token put or taken, and report now and then."""
        self.moves += 1
        if self.moves < self.next_report:
            return
        taken = np.array([c.taken_count for c in self.channels], np.int64)
        self.limits.check_memory(self._bytes())
        self.limits.check_cycles(max((task.process.clock for task in self.tasks), default=0))
        self.reports.tell(self.tokens, taken)
        self.next_report = self.moves + self.reports.stride

    def _bytes(self) -> int:
        """Memory held for tokens, logged, waiting or written, as far as it grows with them."""
        waiting = sum(
            len(c.queue) + (len(c.log) if c.log is not None else 0) for c in self.channels
        )
        written = sum(len(array) for task in self.tasks for array in task.process.written.values())
        return BYTES_PER_TOKEN * waiting + BYTES_PER_NUMBER * written

    def result(self) -> EngineResult:
        """Clocks, counters and outputs so far."""
        processes = [task.process for task in self.tasks]

        def column(values: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
            return np.array(values, dtype=np.int64)

        result = EngineResult(
            self.graph,
            clocks=column([p.clock for p in processes]),
            stall_input=column([p.stall_input for p in processes]),
            stall_output=column([p.stall_output for p in processes]),
            stall_memory=column([p.stall_memory for p in processes]),
            first=column([p.first for p in processes]),
            tokens=column([c.put_count for c in self.channels]),
            values=column([c.value_count for c in self.channels]),
            taken=column([c.taken_count for c in self.channels]),
            outputs={p.node.id: p.results() for p in processes if p.written},
            log={c.id: c.log or [] for c in self.channels} if self.log else None,
            observed=self._observed(processes),
        )
        if self.memory is None:
            return result
        return replace(result, memory=self.memory.stats(result.cycles))

    def _observed(self, processes: list[Process]) -> Observed | None:
        if self.observe is None:
            return None
        return observed(self.observe, self.graph, self.machine, processes, self.channels)


def run(
    bound: BoundGraph,
    machine: Machine,
    *,
    log: bool = False,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> EngineResult:
    """Run a bound graph on the golden models (see :meth:`Interpreter.run`).

    ``observe`` says what the result's ``observed`` is to hold.
    """
    return Interpreter(
        bound, machine, log=log, observe=observe, progress=progress, limits=limits
    ).run()
