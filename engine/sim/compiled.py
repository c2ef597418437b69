"""The compiled engine: packs a bound graph into arrays, runs it, unpacks the result.

Same result as :mod:`engine.sim.interpreter`, hundreds of times faster; see
:mod:`engine.sim.runs` for how.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import SimulationError
from engine.samml.catalogue import primitive
from engine.samml.graph import Graph, Node, StreamKind
from engine.samml.tiles import tile_of
from engine.sim.bound import BoundGraph
from engine.sim.deadlock import Blocked, Need, stuck_error
from engine.sim.kernels import KERNELS, Kernel
from engine.sim.kernels.rules import RULES
from engine.sim.kernels.setup import Pool, Setup
from engine.sim.layout import (
    CTL_COUNT,
    CTL_LAST,
    CTL_LEFT,
    CTL_ORDER,
    CTL_SIZE,
    FAILED,
    FINISHED,
    LEAF,
    NODE,
    STUCK,
    WAIT_DRAIN,
    WAIT_INPUT,
    WAIT_OUTPUT,
)
from engine.sim.machine import Machine
from engine.sim.memory import TOKENS, Memory
from engine.sim.result import EngineResult, Int64, Progress
from engine.sim.stores import Stores
from engine.sim.tokens import TOKEN_DTYPE, decode

VISITS_PER_REPORT = 1 << 12
MEMORY_LIMIT = 4 << 30
_SCHEDULER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


_ON_TILES = {
    "array": "tile_array",
    "binary": "tile_binary",
    "unary": "tile_unary",
    "tilefold": "tile_unary",
    "reduce": "tile_reduce",
    "spacc1": "spacc",
    "valwrite": "tile_valwrite",
}


def kernel_name(node: Node) -> str:
    """Name of the kernel that runs a node: its op, or the variant for its values or inputs."""
    spec = tile_of(node)
    if node.op in _ON_TILES and spec is not None and any((*spec.operands, spec.result)):
        return _ON_TILES[node.op]
    if node.op.startswith("spacc") and node.op != "spacc1":
        return "spacc"
    return "guided_reduce" if node.op == "reduce" and len(node.inputs) == 2 else node.op


def kernels_of(graph: Graph) -> set[str]:
    """Names of the kernels that a graph needs, the scheduler among them."""
    return {kernel_name(node) for node in graph.nodes} | {"scheduler"}


def kernel_of(node: Node) -> Kernel:
    """The kernel that runs a node.

    Raises
    ------
    SimulationError
        If there is none.
    """
    try:
        return KERNELS[kernel_name(node)]
    except KeyError:
        raise SimulationError(
            f"the compiled engine cannot run the primitive {node.op!r}",
            hint="use the interpreter",
        ) from None


class Simulation:
    """One run of one bound graph on one machine."""

    def __init__(
        self,
        bound: BoundGraph,
        machine: Machine,
        *,
        log: bool = False,
        memory_limit: int = MEMORY_LIMIT,
        ring: int = TOKENS,
    ) -> None:
        self.graph = graph = bound.graph
        self.machine = machine
        self.kernels = [kernel_of(node) for node in graph.nodes]
        ints, floats = Pool(np.int64), Pool(np.float32)
        ints.reserve(TOKENS)  # where void outputs write: nobody reads it
        floats.reserve(TOKENS)
        self.stores = Stores(graph, ints, floats)
        is_value = [
            stream.kind is StreamKind.VAL and not self.stores.axes[stream.id]
            for stream in graph.streams
        ]
        self.nodes = np.zeros(len(graph.nodes), NODE)
        capacities = [machine.capacity_of(stream) or 0 for stream in graph.streams]
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
            setup = Setup(node, machine, bound.of(node.id), ints, floats, self.stores)
            for name, number in kernel.setup(setup).items():
                entry[name] = number
        order = ints.add(graph.topological())
        self.memory = Memory(ints, floats, capacities, is_value, memory_limit, ring)
        self.memory.channels["prod"], self.memory.channels["cons"] = np.array(ends).T
        self.table = np.zeros(CTL_SIZE, np.int64)
        self.table[CTL_ORDER], self.table[CTL_COUNT] = order, len(graph.nodes)
        self.table[CTL_LEFT] = len(graph.nodes)
        self.written: dict[int, dict[str, list[npt.NDArray[Any]]]] = {}
        for node in graph.nodes:
            if node.op == "crdwrite":
                self.written[node.id] = {"crd": [], "seg": [np.zeros(1, np.int64)]}
            elif node.op == "valwrite":
                self.written[node.id] = {"vals": []}
        self.log: dict[int, list[Any]] | None = None
        if log:
            self.log = {stream.id: [] for stream in graph.streams}
            self.logged = np.zeros(len(capacities), np.int64)

    def _carries_values(self, node: Node, port: int) -> bool:
        """Whether an output port carries values: its kind, or that of the input it copies."""
        entry = primitive(node.op)
        kinds = entry.output_ports(len(node.outputs))[port].kinds
        if len(kinds) == 1:
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

    def run(self, progress: Progress | None = None, limit: int | None = None) -> EngineResult:
        """Run to the end.

        Raises
        ------
        DeadlockError
            If nodes wait for each other in a circle.
        SimulationError
            If tokens contradict each other, a limit is reached or the run cancelled.
        """
        scheduler = _SCHEDULER(KERNELS["scheduler"].address)
        visits = 1 if self.log is not None else VISITS_PER_REPORT
        self._set_addresses()
        table = self.table.ctypes.data
        while True:
            status = scheduler(visits, table)
            if self.log is not None:
                self._record(self.log)
            if status == FAILED:
                raise self._failure()
            self._report(progress if status != FINISHED else None, limit)
            if status == FINISHED:
                return self._result()
            if status == STUCK:
                if not self._make_room():
                    raise self._deadlock()
                self._set_addresses()

    def _set_addresses(self) -> None:
        memory = self.memory
        arrays = (
            self.nodes,
            memory.channels,
            memory.runs.array,
            memory.credits.array,
            memory.ints.array,
            memory.floats.array,
        )
        for k, array in enumerate(arrays):
            self.table[k] = array.ctypes.data

    def _name(self, node: int) -> str:
        return self.graph.nodes[node].label or f"{self.graph.nodes[node].op} {node}"

    def _failure(self) -> SimulationError:
        number = int(self.table[CTL_LAST])
        node = self.nodes[number]
        rule = RULES[int(node["error"])]
        return SimulationError(f"{self._name(number)} at cycle {node['clk']}: {rule}")

    def _report(self, progress: Progress | None, limit: int | None) -> None:
        if progress is None and limit is None:
            return
        tokens = int(self.memory.channels["tt"].sum())
        if limit is not None and tokens > limit:
            raise SimulationError(
                f"more than {limit:,} tokens", hint="raise the limit or use smaller data"
            )
        if progress is not None and progress(tokens) is False:
            raise SimulationError(f"run cancelled after {tokens:,} tokens")

    def _make_room(self) -> bool:
        """Empty full writers, or double rings for which everything waits; whether it helps."""
        nodes, memory = self.nodes, self.memory
        helped = False
        active = np.flatnonzero(nodes["done"] == 0)
        full: list[int] = []
        for n in active.tolist():
            node = nodes[n]
            kind, c = int(node["wk"]), int(node["wc"])
            if kind == WAIT_DRAIN:
                self._serve(n)
            elif kind == WAIT_INPUT and memory.tokens_wait(c):
                memory.grow_credits(c)
            elif kind == WAIT_OUTPUT and memory.artificially_full(c):
                full.append(n)
                continue
            else:
                continue
            node["ready"] = helped = True
        if helped:
            return True
        # A ring whose reader waits for room itself only passes on what holds that one up.
        consumers = memory.channels["cons"]
        culprits = [n for n in full if nodes[consumers[nodes[n]["wc"]]]["wk"] != WAIT_OUTPUT]
        for n in culprits or full:
            memory.grow(int(nodes[n]["wc"]))
            nodes[n]["ready"] = True
        return bool(full)

    def _serve(self, n: int) -> None:
        """Give a node that waits for it space: empty its buffers, or make what it has larger."""
        if n in self.written:
            self._drain(n)
        else:
            self.stores.serve(n, self.memory, self.nodes)

    def _drain(self, n: int) -> None:
        """Take over what a writer has in its buffers."""
        node, written = self.nodes[n], self.written[n]
        ints, floats = self.memory.ints.array, self.memory.floats.array
        for name, chunks in written.items():
            field, count = ("p1", "s1") if name == "seg" else ("p0", "s0")
            pool = floats if name == "vals" else ints
            start = int(node[field])
            chunks.append(pool[start : start + int(node[count])].copy())
            node[count] = 0

    def _deadlock(self) -> SimulationError:
        blocked = [
            Blocked(n, int(node["wc"]), Need.ROOM if node["wk"] == WAIT_OUTPUT else Need.TOKEN)
            for n, node in enumerate(self.nodes)
            if not node["done"]
        ]
        streams = self.graph.streams
        return stuck_error(
            self.graph, blocked, lambda stream: self.machine.capacity_of(streams[stream])
        )

    def _record(self, log: dict[int, list[Any]]) -> None:
        """Log what the node visited last has put, before anybody takes it."""
        for c in self.graph.nodes[int(self.table[CTL_LAST])].outputs:
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
                for k in np.flatnonzero(kinds == LEAF).tolist():
                    tokens[k] = self.stores.tile(c, int(numbers[k]), self.memory)
            log[c].extend(zip(tokens, stamps.tolist(), strict=True))

    def _result(self) -> EngineResult:
        for n in self.written:
            self._drain(n)
        outputs = {
            n: {name: np.concatenate(chunks) for name, chunks in arrays.items()}
            for n, arrays in self.written.items()
        }
        for n, arrays in outputs.items():
            if "vals" in arrays:
                arrays["vals"] = self.stores.shaped(self.graph.nodes[n], arrays["vals"])
        channels = self.memory.channels[: len(self.graph.streams)]
        taken: Int64 = channels["ht"].copy()
        log = self.log
        if log is not None:
            log = {c: entries[: taken[c]] for c, entries in log.items()}
        return EngineResult(
            self.graph,
            clocks=self.nodes["clk"].copy(),
            stall_input=self.nodes["si"].copy(),
            stall_output=self.nodes["so"].copy(),
            first=self._first(),
            tokens=channels["tt"].copy(),
            values=channels["tv"].copy(),
            taken=taken,
            outputs=outputs,
            log=log,
        )

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
    progress: Progress | None = None,
    limit: int | None = None,
) -> EngineResult:
    """Run a bound graph on the compiled kernels (see :meth:`Simulation.run`).

    Parameters
    ----------
    log : bool
        Keep every token taken, with its timestamp; this costs most of the speed.
    progress : callable, optional
        Called now and then with the number of tokens put so far; False cancels the run.
    limit : int, optional
        Give up after so many tokens.
    """
    return Simulation(bound, machine, log=log).run(progress, limit)
