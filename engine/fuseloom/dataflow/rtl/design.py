"""A graph as a hardware module: a unit per node, a buffer per stream, a memory per array read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.channel import UNBOUNDED, ChannelBuffer, HardwareModule
from fuseloom.dataflow.rtl.memories import BLOCK_MODULE, MEMORY_MODULE, MemoryImage
from fuseloom.dataflow.rtl.registry import NodeSpec, unit_of
from fuseloom.dataflow.rtl.tokens import WORD_BITS, any_of, encoded
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.tokens import decode
from fuseloom.errors import GraphError


@dataclass(frozen=True)
class WrittenArray:
    """An array that a node writes: the name of its ports, and of the array."""

    node: int
    name: str

    @property
    def port(self) -> str:
        return f"node{self.node}_{self.name}"


def stored_words(name: str, arrays: Mapping[str, npt.NDArray[Any]], kind: str) -> list[int]:
    """The words of an array that a unit reads, as integers."""
    if name == "bounds":
        seg = arrays["seg"].tolist()
        return [start | end << WORD_BITS for start, end in pairwise(seg)]
    if name == "first":
        opening = arrays["seg"][:-1]
        kept = np.append(arrays["crd"], 0)  # an empty fiber may begin behind the last coordinate
        return [int(word) & (1 << WORD_BITS) - 1 for word in kept[opening].tolist()]
    array = arrays[name.rstrip("0123456789")]  # of several ports that read one array
    if name == "tokens":
        return [encoded(token) for token in decode(array, StreamKind(kind))]
    if name == "vals":
        return [int(word) for word in array.astype(np.float32).view(np.uint32)]
    return [int(word) & (1 << WORD_BITS) - 1 for word in array.tolist()]


class HardwareGraph:
    """A graph as modules: one for the graph, made of instances of those in its library.

    The outputs of that one are ``done`` and ``fault``, a bit per node; ``active``, high where a
    token moves; and, per array that a node writes, ``node<id>_<array>_valid`` and
    ``node<id>_<array>_word``.

    Parameters
    ----------
    bound : BoundGraph
        The graph with the arrays that its nodes read; every stream has a capacity.
    machine : Machine
        Latencies; only machines without deviations, memory and blocks can be hardware.

    Attributes
    ----------
    units : list of PrimitiveUnit
        By node.
    slowest : int
        The most cycles in which a node may be at work while no token moves.
    channels : dict
        Buffers by stream.
    library : dict
        The modules, each once, by name.
    images : list of MemoryImage
        What nodes read.
    written : list of WrittenArray
        What they write.

    Raises
    ------
    GraphError
        If a node has no hardware, or a stream no capacity, naming it.
    """

    def __init__(self, bound: BoundGraph, machine: Machine) -> None:
        check_machine(machine)
        self.bound = bound
        graph = bound.graph
        specs = [NodeSpec(node, machine, bound.of(node.id)) for node in graph.nodes]
        self.units = [unit_of(spec) for spec in specs]
        self.slowest = max(spec.latency + spec.interval for spec in specs)
        self.channels = {
            stream: self._channel(stream, port in self.units[node.id].late_outputs)
            for node in graph.nodes
            for port, stream in enumerate(node.outputs)
            if stream is not None
        }
        self.library: dict[str, HardwareModule] = {}
        self._names: dict[Any, str] = {}
        self.images: list[MemoryImage] = []
        self.written: list[WrittenArray] = []
        self.members: dict[str, Any] = {
            "done": Out(len(graph.nodes)),
            "fault": Out(len(graph.nodes)),
            "active": Out(1),
        }
        for node, unit in zip(graph.nodes, self.units, strict=True):
            for name in unit.reads:
                kind = str(node.params.get("kind", "crd"))
                words = stored_words(name, self.bound.of(node.id), kind)
                read = unit.reads[name]
                self.images.append(
                    MemoryImage(f"node{node.id}_{name}", tuple(words), read.width, read.chained)
                )
            for name in unit.writes:
                array = WrittenArray(node.id, name)
                self.written.append(array)
                self.members |= {
                    f"{array.port}_valid": Out(1),
                    f"{array.port}_word": Out(WORD_BITS),
                }
            self.module_name(node.op, unit)
        for channel in self.channels.values():
            self.module_name("channel", channel)

    def _channel(self, stream: int, late: bool) -> ChannelBuffer:
        capacity = self.bound.graph.streams[stream].capacity
        if capacity is None:
            raise GraphError(
                f"stream {stream} of {self.bound.graph.name} has no bound",
                hint="give every channel a capacity: --capacity sized",
            )
        return ChannelBuffer(capacity, late)

    def module_name(self, what: str, module: HardwareModule) -> str:
        """The name of a module, which is new or equal to one that there is."""
        if module.configuration not in self._names:
            count = sum(name.startswith(f"{what}_") for name in self.library)
            name = f"{what}_{count}"
            self._names[module.configuration] = name
            self.library[name] = module
        return self._names[module.configuration]

    def top(self) -> HardwareModule:
        """The module of the graph."""
        return GraphTop(self)


class GraphTop(HardwareModule):
    """The module of a graph, whose parts are instances by name."""

    def __init__(self, whole: HardwareGraph) -> None:
        self.whole = whole
        super().__init__(whole.members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        whole = self.whole
        graph, units, channels = whole.bound.graph, whole.units, whole.channels
        for node, unit in zip(graph.nodes, units, strict=True):
            self._instance(m, f"node{node.id}", node.op, unit)
            self._connect_memories(m, node.id, unit)
            for name in unit.writes:
                array = WrittenArray(node.id, name).port
                for part in ("valid", "word"):
                    m.d.comb += getattr(self, f"{array}_{part}").eq(getattr(unit, f"{name}_{part}"))
            for side, written in zip(unit.sinks, node.outputs, strict=True):
                if written is None:
                    m.d.comb += side.room.eq(UNBOUNDED)
                else:
                    wiring.connect(m, side, channels[written].producer)
            for side, read in zip(unit.sources, node.inputs, strict=True):
                wiring.connect(m, channels[read].consumer, side)
        for stream, channel in channels.items():
            self._instance(m, f"stream{stream}", "channel", channel)
        taken = [side.pop != 0 for unit in units for side in unit.sources]
        sides = [side for unit in units for side in unit.sinks]
        put = [(side.push != 0) | side.late_valid for side in sides]
        m.d.comb += [
            self.done.eq(Cat(unit.done for unit in units)),
            self.fault.eq(Cat(unit.fault for unit in units)),
            self.active.eq(any_of([*taken, *put])),
        ]
        return m

    def _instance(self, m: Module, name: str, what: str, module: HardwareModule) -> None:
        """Instantiate a module of the library, whose signals are those of an equal one."""
        connected: dict[str, Any] = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        for path, member, value in module.signature.flatten(module):
            direction = "o" if member.flow == Out else "i"
            connected[f"{direction}_{'__'.join(map(str, path))}"] = value
        m.submodules[name] = Instance(self.whole.module_name(what, module), **connected)

    def _connect_memories(self, m: Module, node: int, unit: PrimitiveUnit) -> None:
        for name, words in unit.reads.items():
            clocked: dict[str, Any] = {} if words.chained else {"i_clk": ClockSignal()}
            m.submodules[f"node{node}_{name}"] = Instance(
                MEMORY_MODULE if words.chained else BLOCK_MODULE,
                **clocked,
                p_FILE=f"node{node}_{name}.hex",
                p_DEPTH=max(words.count, 1),
                p_WIDTH=words.width,
                p_ADDRESS=words.address_bits,
                i_address=getattr(unit, f"{name}_address"),
                o_word=getattr(unit, f"{name}_word"),
            )


def check_machine(machine: Machine) -> None:
    """Check that a machine can be hardware.

    Raises
    ------
    GraphError
        If it has a memory or copies deviations of the reference.
    """
    if machine.memory is not None:
        raise GraphError(
            f"machine {machine.name!r} has a memory, which has no hardware",
            hint="choose a machine without one, such as rtl",
        )
    if machine.quirks.active:
        raise GraphError(
            f"machine {machine.name!r} copies deviations of a simulator, which have no hardware",
            hint="choose a machine without them, such as rtl",
        )
