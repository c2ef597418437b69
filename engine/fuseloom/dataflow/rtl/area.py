"""The area of a graph as hardware: the sum of what its primitives and channels take of an FPGA.

Each kind of module was synthesised once; ``area.json`` beside this file has what Yosys found, the
command, and its version (:mod:`fuseloom.dataflow.rtl.area_table` makes it).  A primitive's area is
what it adds to the channels around it, so that areas of neighbours can be added.  What depends on a
size (a row, a channel, lanes) was measured at some sizes and lies on lines between them.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fuseloom.dataflow.rtl.channel import ChannelBuffer
from fuseloom.dataflow.rtl.design import HardwareGraph, WrittenArray
from fuseloom.dataflow.rtl.memories import block_memories
from fuseloom.dataflow.rtl.synthesis import HardwareArea
from fuseloom.dataflow.rtl.tokens import TOKEN_BITS, WORD_BITS
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.errors import GraphError

TABLE = "area.json"
"""The file of what was measured."""
COMMAND = "python -m fuseloom.dataflow.rtl.area_table"
"""The command that measures."""
JOINED_LUTS = 15
"""LUTs that a channel takes less where both neighbours are merged with it than where one is: the
mean of 60 channels of six graphs, those behind roots left out (``docs/rtl.md``)."""
KINDS_ONLY = 2
"""Bits of tokens of which only the kind is used."""


@dataclass(frozen=True)
class MeasuredAs:
    """The row of the table that a module has: its kind, and the size that varies, if any."""

    kind: str
    size: int = 0


@dataclass(frozen=True)
class PortUse:
    """The use of a port by a unit: the bits that it reads, and whether two tokens in a cycle."""

    bits: int = (1 << TOKEN_BITS) - 1
    two: bool = True


@dataclass(frozen=True)
class MeasuredArea:
    """A row of the table.

    Attributes
    ----------
    size : int
        What varies between the rows of a kind.
    area : HardwareArea
        What was found.
    takes, puts : tuple of PortUse
        Of a unit, what it does at its inputs and outputs.
    """

    size: int
    area: HardwareArea
    takes: tuple[PortUse, ...] = ()
    puts: tuple[PortUse, ...] = ()


AreaTable = Mapping[str, Sequence[MeasuredArea]]
"""Rows by kind, by growing size."""


def unit_kind(unit: PrimitiveUnit) -> MeasuredAs:
    """The kind of a unit, and its size: what of its arguments changes its area by much."""
    name, arguments, named = unit.configuration
    arguments = (*arguments, *(value for _, value in named))
    match name, arguments:
        case "CompressedScannerUnit" | "ShifterUnit", _:
            return MeasuredAs(name)
        case "SearcherUnit", (_, _, halvings, latency, interval):
            return MeasuredAs(f"{name} latency {latency} interval {min(interval, 2)}", halvings)
        case "DenseScannerUnit", (0,):  # whose fibers are all empty
            return MeasuredAs(f"{name} empty")
        case (("DenseScannerUnit" | "LocatorUnit" | "FlattenerUnit"), (factor,)):
            return MeasuredAs(f"{name} {_factor(factor)}")
        case "ValueLoadUnit", (_, latency, interval):
            return MeasuredAs(f"{name} interval {min(interval, 2)}", latency)
        case "BinaryUnit", (function, needs, _, latency, interval):
            needed = ("none", "a", "ab")[len(needs)]  # whether a or b hardly matters
            said = f"{name} {function} needs {needed}"
            return MeasuredAs(f"{said} latency {latency} interval {min(interval, 2)}")
        case "UnaryUnit", (function, constant, latency, interval):
            said = f"{name} {function}{_constant(function, constant)}"
            return MeasuredAs(f"{said} latency {latency} interval {min(interval, 2)}")
        case "IntersecterUnit", (pairs,):
            return MeasuredAs(name, pairs)
        case "UnionerUnit", (pairs, gate):
            return MeasuredAs(f"{name} {'gated' if gate else 'plain'}", pairs)
        case (("BroadcastUnit" | "ForkUnit" | "JoinUnit"), (count,)):
            return MeasuredAs(name, count)
        case "OrderedJoinUnit", (lanes, _):
            return MeasuredAs(name, lanes)  # levels are compared with, and change little
        case "RowAccumulatorUnit", (function, dim):
            return MeasuredAs(f"{name} {function}", dim)
        case "MatrixAccumulatorUnit", (function, rows, columns):
            return MeasuredAs(f"{name} {function} rows {_power_of_two(rows)}", columns)
        case "SourceUnit", (_, timed, *stride):
            return MeasuredAs(
                f"{name}{' timed' if timed else ''}{' streams' if any(stride) else ''}"
            )
    return MeasuredAs(" ".join([name, *map(str, arguments)]))


def without_outputs(kind: MeasuredAs, node: Node) -> MeasuredAs:
    """The kind of a node whose unit is of this kind: outputs that lead nowhere are left out of it.

    Examples
    --------
    >>> from fuseloom.dataflow.samml.graph import Node
    >>> scanner = Node(0, "scan", (0,), (None, 1), {}, "scan")
    >>> without_outputs(MeasuredAs("CompressedScannerUnit"), scanner).kind
    'CompressedScannerUnit without output 0'
    """
    unread = [str(port) for port, stream in enumerate(node.outputs) if stream is None]
    if not unread:
        return kind
    return MeasuredAs(f"{kind.kind} without output {' '.join(unread)}", kind.size)


def measured_unit(table: AreaTable, node: Node, unit: PrimitiveUnit) -> MeasuredArea:
    """The row of a node's unit: without its unread outputs, where that was measured.

    Raises
    ------
    GraphError
        If the unit is not in the table, naming the node.
    """
    kind = unit_kind(unit)
    fewer = without_outputs(kind, node)
    known = table.get(fewer.kind)
    found = fewer if known and fewer.size <= known[-1].size else kind
    return measured(table, found, f"{node.label or node.op} (node {node.id})")


def channel_kind(channel: ChannelBuffer, width: int, put: PortUse, take: PortUse) -> MeasuredAs:
    """The kind of a channel whose tokens have that many bits: who puts and takes two a cycle."""
    said = f"channel {'late ' if channel.late else ''}{width} bits"
    return MeasuredAs(f"{said} puts {1 + put.two} takes {1 + take.two}", channel.capacity)


def _factor(factor: int) -> str:
    return "other" if factor & (factor - 1) else "power of two"


def _power_of_two(count: int) -> int:
    """The least power of two that is no smaller."""
    return 1 << (count - 1).bit_length()


def _constant(function: str, bits: int) -> str:
    """The part of a kind for the second operand: powers of two need no multiplier."""
    return " power of two" if function == "mul" and bits & 0x7FFFFF == 0 else ""


@cache
def area_table() -> AreaTable:
    """The table that was measured."""
    text = files("fuseloom.dataflow.rtl").joinpath(TABLE).read_text(encoding="utf-8")
    return read_table(json.loads(text))


def read_table(content: Mapping[str, Any]) -> AreaTable:
    """The rows of the file's content."""
    return {
        kind: [
            MeasuredArea(
                row["size"],
                HardwareArea(row["luts"], row["flip_flops"], row["block_rams"], row["dsps"]),
                tuple(PortUse(int(bits, 16), two) for bits, two in row.get("takes", ())),
                tuple(PortUse(int(bits, 16), two) for bits, two in row.get("puts", ())),
            )
            for row in rows
        ]
        for kind, rows in content["modules"].items()
    }


def measured(table: AreaTable, wanted: MeasuredAs, who: str) -> MeasuredArea:
    """The row of a kind, between two where its size was not measured.

    Raises
    ------
    GraphError
        If the kind is not there, or was only measured at smaller sizes.
    """
    rows = table.get(wanted.kind)
    if not rows or wanted.size > rows[-1].size:
        size = f" of size {wanted.size:,}" if wanted.size else ""
        known = f", at most {rows[-1].size:,} was" if rows else ""
        raise GraphError(
            f"{who}: the area of {wanted.kind!r}{size} was not measured{known}",
            hint="fuseloom rtl --output DIR writes its Verilog, which Yosys measures (the README "
            "there has the command); the table is made by "
            f"{COMMAND}",
        )
    position = bisect_left(rows, wanted.size, key=lambda row: row.size)
    above = rows[position]
    if above.size == wanted.size or position == 0:
        return above
    below = rows[position - 1]
    share = (wanted.size - below.size) / (above.size - below.size)
    between = below.area + (above.area - below.area).scaled(share)
    return MeasuredArea(wanted.size, between, above.takes, above.puts)


@dataclass(frozen=True)
class GraphArea:
    """The area of a graph.

    Attributes
    ----------
    nodes : mapping
        What a node adds to its channels, by its number; merged gates may make it negative.
    channels : mapping
        Of each channel, by the number of its stream.
    memories : mapping
        Of the arrays that nodes read, by the name of the image, and of those that they write, if
        their sizes were given, by the name of the port: block memories, or LUTs where a node reads
        without delay.
    memory_bits : int
        Bits of the arrays that are read.
    """

    nodes: Mapping[int, HardwareArea]
    channels: Mapping[int, HardwareArea]
    memories: Mapping[str, HardwareArea]
    memory_bits: int

    @property
    def logic(self) -> HardwareArea:
        """Of all nodes and channels, without the memories of arrays."""
        return sum([*self.nodes.values(), *self.channels.values()], start=HardwareArea())

    @property
    def total(self) -> HardwareArea:
        """Of everything."""
        return sum(self.memories.values(), start=self.logic)


def memory_areas(
    graph: HardwareGraph, written: Mapping[WrittenArray, int] | None = None
) -> dict[str, HardwareArea]:
    """The areas of the arrays that a graph reads, and of those that it writes.

    What is read for an output that leads nowhere takes nothing.

    Parameters
    ----------
    written : mapping, optional
        Words of 32 bits of the arrays that it writes.
    """
    unread = {
        f"node{node.id}_{name}"
        for node, unit in zip(graph.bound.graph.nodes, graph.units, strict=True)
        for name, words in unit.reads.items()
        if words.output is not None and node.outputs[words.output] is None
    }
    areas = {
        image.name: HardwareArea(luts=image.luts, block_rams=image.block_rams)
        for image in graph.images
        if image.name not in unread
    }
    for array, words in (written or {}).items():
        areas[array.port] = HardwareArea(block_rams=block_memories(words, WORD_BITS))
    return areas


def graph_area(
    graph: HardwareGraph,
    table: AreaTable | None = None,
    written: Mapping[WrittenArray, int] | None = None,
) -> GraphArea:
    """The area of a graph, by adding up.

    Parameters
    ----------
    graph : HardwareGraph
        The graph, on a machine, with the data it reads and the capacities of its channels.
    table : mapping, optional
        What was measured, in place of the table that comes with this package.
    written : mapping, optional
        Words of the arrays that it writes.

    Raises
    ------
    GraphError
        If a module is not in the table, naming the node and a way out.
    """
    nodes, channels = logic_areas(graph.bound.graph, graph.units, graph.channels, table)
    memories = memory_areas(graph, written)
    return GraphArea(nodes, channels, memories, sum(image.bits for image in graph.images))


def logic_areas(
    graph: Graph,
    units: Sequence[PrimitiveUnit],
    buffers: Mapping[int, ChannelBuffer],
    table: AreaTable | None = None,
) -> tuple[dict[int, HardwareArea], dict[int, HardwareArea]]:
    """The areas of a graph's nodes and of its channels.

    Parameters
    ----------
    units : sequence of PrimitiveUnit
        By node.
    buffers : mapping
        By stream.

    Raises
    ------
    GraphError
        As for :func:`graph_area`.
    """
    rows = area_table() if table is None else table
    nodes: dict[int, HardwareArea] = {}
    puts: dict[int, PortUse] = {}
    takes: dict[int, PortUse] = {}
    whole: set[int] = set()  # streams of which one end has nothing to merge with
    for node, unit in zip(graph.nodes, units, strict=True):
        row = measured_unit(rows, node, unit)
        nodes[node.id] = row.area
        if not unit.merges:
            whole |= {stream for stream in (*node.inputs, *node.outputs) if stream is not None}
        for streams, uses, into in (
            (node.inputs, row.takes, takes),
            (node.outputs, row.puts, puts),
        ):
            for port, stream in enumerate(streams):
                if stream is not None:
                    into[stream] = uses[min(port, len(uses) - 1)] if uses else PortUse()

    channels = {
        stream: channel_area(rows, channel, puts[stream], takes.get(stream, PortUse()), stream)
        - HardwareArea(0 if stream in whole else JOINED_LUTS)
        for stream, channel in buffers.items()
    }
    return nodes, channels


def channel_area(
    table: AreaTable, channel: ChannelBuffer, put: PortUse, take: PortUse, stream: int
) -> HardwareArea:
    """The area of a channel, which stores the bits of tokens that its consumer reads."""
    who = f"stream {stream}"
    if channel.late:
        return measured(table, channel_kind(channel, TOKEN_BITS, put, take), who).area
    whole = measured(table, channel_kind(channel, TOKEN_BITS, put, take), who).area
    used = take.bits.bit_count()
    if used == TOKEN_BITS or put.two:
        return whole
    few = measured(table, channel_kind(channel, KINDS_ONLY, put, take), who).area
    return few + (whole - few).scaled((used - KINDS_ONLY) / (TOKEN_BITS - KINDS_ONLY))
