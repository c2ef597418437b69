"""The compiled engine: packs a bound graph into arrays, runs it, unpacks the result.

Same result as :mod:`fuseloom.dataflow.sim.golden.interpreter`, hundreds of times faster; see
:mod:`fuseloom.dataflow.sim.compiled.rings` for how.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np

from fuseloom.dataflow.dram import MemoryStats, build
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node, StreamKind
from fuseloom.dataflow.samml.tile_values import tile_of
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import control, layout, rules, runs, visits, waits
from fuseloom.dataflow.sim.compiled.arrays import TOKENS, ChannelMemory, power_of_two
from fuseloom.dataflow.sim.compiled.choice import kernel_of, scheduler_name
from fuseloom.dataflow.sim.compiled.collecting import WriterOutput
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.dataflow.sim.compiled.layout import NODE
from fuseloom.dataflow.sim.compiled.observing import Observer
from fuseloom.dataflow.sim.compiled.pools import Pool
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.stores import Stores
from fuseloom.dataflow.sim.deadlock import Blocked, Need, stuck_error
from fuseloom.dataflow.sim.observe import Observe, Observed
from fuseloom.dataflow.sim.ports import ports_of
from fuseloom.dataflow.sim.process import RequestPort
from fuseloom.dataflow.sim.reports import Limits, Progress, Reports
from fuseloom.dataflow.sim.result import EngineResult, Int64
from fuseloom.dataflow.sim.tokens import TOKEN_DTYPE, decode
from fuseloom.errors import SimulationError

FIRST_VISITS = 16
MOST_VISITS = 1 << 16
VISITS_OF_LARGE_TILES = 2  # where one tile may take some hundredths of a second
VISITS_PER_LOOK = 16  # at the length of a log that is to end somewhere
_SCHEDULER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class Simulation:
    """One run of one bound graph on one machine."""

    def __init__(
        self,
        bound: BoundGraph,
        machine: Machine,
        *,
        log: bool = False,
        limits: Limits | None = None,
        ring: int = TOKENS,
        observe: Observe | None = None,
    ) -> None:
        self.bound = bound
        self.graph = graph = bound.graph
        self.machine = machine
        self.limits = limits or Limits()
        self.kernels = [kernel_of(node, machine) for node in graph.nodes]
        ints, floats = Pool(np.int64), Pool(np.float32)
        ints.reserve(TOKENS)  # where void outputs write: nobody reads it
        floats.reserve(TOKENS)
        self.stores = Stores(graph, ints, floats)
        is_value = [
            stream.kind is StreamKind.VAL and not self.stores.axes[stream.id]
            for stream in graph.streams
        ]
        self.nodes = np.zeros(len(graph.nodes), NODE)
        ports = ports_of(graph, machine)
        # Credits tell when a token was taken, so logged channels all have them.
        unbounded = layout.FOREVER if observe is not None and observe.log else 0
        capacities = [
            min(machine.capacity_of(stream) or unbounded, layout.FOREVER)
            for stream in graph.streams
        ]
        ends: list[tuple[int, int]] = [(0, 0)] * len(graph.streams)
        for stream in graph.streams:
            ends[stream.id] = (graph.producer[stream.id], graph.consumer[stream.id])
        for node, kernel in zip(graph.nodes, self.kernels, strict=True):
            outputs = []
            for port, stream_id in enumerate(node.outputs):
                if stream_id is None:
                    outputs.append(len(capacities))
                    capacities.append(-1)
                    carries = self._carries_values(node, port)
                    is_value.append(carries and not self.stores.carries_tiles(node, port))
                    ends.append((node.id, node.id))
                else:
                    self._check_kind(node, port, stream_id)
                    outputs.append(stream_id)
            entry = self.nodes[node.id]
            entry["ins"], entry["n_in"] = ints.add(node.inputs), len(node.inputs)
            entry["outs"], entry["n_out"] = ints.add(outputs), len(outputs)
            entry["ready"] = True
            entry["fn"] = kernel.address
            arrays = bound.of(node.id)
            own = ports.get(node.id, ())
            setup = Setup(node, machine, arrays, ints, floats, self.stores, own)
            named = kernel.slots.view(self.nodes)[node.id]
            for name, number in kernel.setup(setup).items():
                named[name] = number
        order = ints.add(graph.topological())
        port_table = self._attach(ports, ints)
        asked = {s for n in ports for s in graph.nodes[n].outputs if s is not None}
        self.memory = ChannelMemory(ints, floats, capacities, is_value, self.limits, ring, asked)
        self.memory.channels["prod"], self.memory.channels["cons"] = np.array(ends).T
        self.memory.channels["rs"] = -1
        self.observer: Observer | None = None
        self.table = np.zeros(control.SIZE, np.int64)
        if observe is not None:
            self.observer = Observer(observe, graph, machine, self.memory.channels)
            self.table = self.observer.table
        self.table[control.ORDER], self.table[control.COUNT] = order, len(graph.nodes)
        self.table[control.LEFT] = len(graph.nodes)
        self.table[control.PORTS] = port_table
        self.table[control.MEMORY] = KERNELS["memory"].address if ports else 0
        self.written: dict[int, WriterOutput] = {}
        for node in graph.nodes:
            writes = primitive(node.op).memory.writes
            if writes:
                self.written[node.id] = WriterOutput(writes)
        self.log: dict[int, list[Any]] | None = None
        if log:
            self.log = {stream.id: [] for stream in graph.streams}
            self.logged = np.zeros(len(capacities), np.int64)

    def _attach(self, ports: dict[int, tuple[RequestPort, ...]], ints: Pool) -> int:
        """Build the memory's model and the table of ports; where among the integers that is."""
        machine = self.machine
        self.dram = np.zeros(1, np.int64)
        owners = {port.number: (node, port) for node, some in ports.items() for port in some}
        if machine.memory is not None and ports:
            self.dram = build(machine.memory, machine.clock_hz, len(owners), machine.outstanding)
        size = power_of_two(machine.outstanding + machine.port_slots + 1)
        rows = np.zeros((len(owners), layout.PORT_SIZE), np.int64)
        for number, (node, port) in owners.items():
            rows[number, layout.PORT_RING] = ints.add(np.full(size, -1))
            rows[number, layout.PORT_MASK] = size - 1
            rows[number, layout.PORT_NODE], rows[number, layout.PORT_BASE] = node, port.base
        return ints.add(rows)

    def _carries_values(self, node: Node, port: int) -> bool:
        """Return whether an output port carries values, by its kind or that of a copied input."""
        entry = primitive(node.op)
        kinds = entry.output_ports(len(node.outputs))[port].kinds
        if len(kinds) == 1 or StreamKind.VAL not in kinds:
            return kinds[0] is StreamKind.VAL
        if not node.inputs:
            return str(node.params.get("kind")) == StreamKind.VAL.value
        if entry.repeated_outputs and entry.repeated_inputs:  # a joiner's payload
            source = node.inputs[2 * port - 1]
        else:
            ports = zip(entry.input_ports(len(node.inputs)), node.inputs, strict=True)
            source = next(stream for port, stream in ports if len(port.kinds) > 1)
        return self.graph.streams[source].kind is StreamKind.VAL

    def _check_kind(self, node: Node, port: int, stream: int) -> None:
        """Refuse a graph that would have a kernel take numbers for values."""
        is_value = self.graph.streams[stream].kind is StreamKind.VAL
        if self._carries_values(node, port) is not is_value:
            raise SimulationError(
                f"{node.label or node.op}: output {port} and its stream differ in kind"
            )

    def run(self, progress: Progress | None = None) -> EngineResult:
        """Run to the end.

        Raises
        ------
        DeadlockError
            If nodes wait for each other in a circle.
        SimulationError
            If tokens contradict each other, a limit is reached or the run cancelled.
        """
        scheduler = _SCHEDULER(KERNELS[scheduler_name(self.observer is not None)].address)
        most = 1 if self.log is not None else MOST_VISITS
        if self.observer is not None and self.observer.observe.log_end is not None:
            most = VISITS_PER_LOOK
        specs = [tile_of(node) for node in self.bound.graph.nodes]
        if any(spec is not None and spec.points > visits.WORK_PER_VISIT for spec in specs):
            most = min(most, VISITS_OF_LARGE_TILES)
        first = min(FIRST_VISITS, most)
        reports = Reports(self.bound, progress, self.limits, first=first, most=most)
        self._set_addresses()
        while True:
            status = scheduler(reports.stride, self.table.ctypes.data)
            if self.log is not None:
                self._record(self.log)
            if status == visits.FAILED:
                raise self._failure()
            channels = self.memory.channels
            if self.limits.cycles is not None:
                self.limits.check_cycles(int(self.nodes["clk"].max(initial=0)))
            if status == visits.FINISHED:
                self.limits.check_tokens(int(channels["tt"].sum()))
            else:
                reports.tell(int(channels["tt"].sum()), channels["ht"])
            if status == visits.FINISHED or (self.observer is not None and self.observer.ended):
                return self._result()
            if status == visits.STUCK:
                if not self._make_room():
                    raise self._deadlock()
                self._set_addresses()
            if self.observer is not None and (status == visits.STUCK or self.observer.lacks_room):
                self.table = self.observer.make_room(channels)

    def _set_addresses(self) -> None:
        memory = self.memory
        arrays = (
            self.nodes,
            memory.channels,
            memory.runs.array,
            memory.credits.array,
            memory.ints.array,
            memory.floats.array,
            self.dram,
        )
        for k, array in enumerate(arrays):
            self.table[k] = array.ctypes.data
        for n, written in self.written.items():
            written.point(self._writer(n), memory)

    def _name(self, node: int) -> str:
        return self.graph.nodes[node].label or f"{self.graph.nodes[node].op} {node}"

    def _failure(self) -> SimulationError:
        number = int(self.table[control.LAST])
        node = self.nodes[number]
        rule = rules.RULES[int(node["error"])]
        return SimulationError(f"{self._name(number)} at cycle {node['clk']}: {rule}")

    def _make_room(self) -> bool:
        """Empty full writers, or double rings for which everything waits; whether it helps."""
        nodes, memory = self.nodes, self.memory
        helped = False
        active = np.flatnonzero(nodes["done"] == 0)
        full: list[int] = []
        for n in active.tolist():
            node = nodes[n]
            kind, c = int(node["wk"]), int(node["wc"])
            if kind == waits.DRAIN:
                self._serve(n)
            elif kind == waits.INPUT and memory.tokens_wait(c):
                memory.grow_credits(c)
            elif kind == waits.ROOM and memory.artificially_full(c):
                full.append(n)
                continue
            else:
                continue
            node["ready"] = helped = True
        if helped:
            return True
        # A ring whose reader waits for room itself only passes on what holds that one up.
        consumers = memory.channels["cons"]
        culprits = [n for n in full if nodes[consumers[nodes[n]["wc"]]]["wk"] != waits.ROOM]
        for n in culprits or full:
            memory.grow(int(nodes[n]["wc"]))
            nodes[n]["ready"] = True
        return bool(full)

    def _serve(self, n: int) -> None:
        """Give a node that waits for it space: empty its buffers, or make what it has larger."""
        if n in self.written:
            self.written[n].drain(self._writer(n), self.memory)
        else:
            self.stores.serve(n, self.memory, self.nodes)

    def _writer(self, n: int) -> Any:
        """The record of a writer, with the names of its slots."""
        return self.kernels[n].slots.view(self.nodes)[n]

    def _deadlock(self) -> SimulationError:
        blocked = [
            Blocked(n, int(node["wc"]), Need.ROOM if node["wk"] == waits.ROOM else Need.TOKEN)
            for n, node in enumerate(self.nodes)
            if not node["done"]
        ]
        streams = self.graph.streams
        return stuck_error(
            self.graph, blocked, lambda stream: self.machine.capacity_of(streams[stream])
        )

    def _record(self, log: dict[int, list[Any]]) -> None:
        """Log what the node visited last has put, before anybody takes it."""
        for c in self.graph.nodes[int(self.table[control.LAST])].outputs:
            if c is None:
                continue
            start, end = int(self.logged[c]), int(self.memory.channels[c]["tr"])
            if start == end:
                continue
            self.logged[c] = end
            kinds, numbers, stamps = self.memory.tokens_of(c, start, end)
            encoded = np.empty(len(kinds), TOKEN_DTYPE)
            encoded["code"], encoded["value"] = kinds, numbers
            tokens = decode(encoded, self.graph.streams[c].kind)
            if self.stores.axes[c]:
                for k in np.flatnonzero(kinds == runs.LEAF).tolist():
                    tokens[k] = self.stores.tile(c, int(numbers[k]), self.memory)
            log[c].extend(zip(tokens, stamps.tolist(), strict=True))

    def _result(self) -> EngineResult:
        outputs = {
            n: written.arrays(self._writer(n), self.memory) for n, written in self.written.items()
        }
        for n, arrays in outputs.items():
            if "vals" in arrays:
                arrays["vals"] = self.stores.shaped(self.graph.nodes[n], arrays["vals"])
        channels = self.memory.channels[: len(self.graph.streams)]
        taken: Int64 = channels["ht"].copy()
        log = self.log
        if log is not None:
            log = {c: entries[: taken[c]] for c, entries in log.items()}
        result = EngineResult(
            self.graph,
            clocks=self.nodes["clk"].copy(),
            stall_input=self.nodes["si"].copy(),
            stall_output=self.nodes["so"].copy(),
            stall_memory=self.nodes["sm"].copy(),
            first=self._first(),
            tokens=channels["tt"].copy(),
            values=channels["tv"].copy(),
            taken=taken,
            outputs=outputs,
            log=log,
            observed=self._observed(),
        )
        if self.machine.memory is None or not self.table[control.MEMORY]:
            return result
        stats = MemoryStats.of(self.dram, self.machine.memory, result.cycles)
        return replace(result, memory=stats)

    def _observed(self) -> Observed | None:
        if self.observer is None:
            return None
        return self.observer.result(self.memory, self.nodes["clk"].copy())

    def _first(self) -> Int64:
        """Per node, the clock at its first take or put."""
        never = np.iinfo(np.int64).max
        first = np.full(len(self.graph.nodes), never)
        channels = self.memory.channels
        for end, clock in (("cons", "ft"), ("prod", "fp")):
            seen = (channels[clock] >= 0) & (channels["cap"] >= 0)
            np.minimum.at(first, channels[end][seen], channels[clock][seen])
        first[first == never] = -1
        return first


def run(
    bound: BoundGraph,
    machine: Machine,
    *,
    log: bool = False,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> EngineResult:
    """Run a bound graph on the compiled kernels (see :meth:`Simulation.run`).

    Parameters
    ----------
    log : bool
        Keep every token taken, with its timestamp; this costs most of the speed.
    observe : Observe, optional
        What the result's ``observed`` is to say.
    progress : callable, optional
        See :data:`fuseloom.dataflow.sim.reports.Progress`.
    limits : Limits, optional
        What the run may use.
    """
    return Simulation(bound, machine, log=log, observe=observe, limits=limits).run(progress)
