# amaranth: UnusedElaboratable=no
"""Measure the areas of all modules with Yosys: ``python -m fuseloom.dataflow.rtl.area_table``.

Adds to ``area.json`` beside this file, or to another one, what it lacks; what is named is measured
again.  All of it takes ten minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fuseloom.atomic_files import replacing
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.alone import BETWEEN, ChannelAlone, UnitAlone, UnitBetween
from fuseloom.dataflow.rtl.area import (
    COMMAND,
    KINDS_ONLY,
    TABLE,
    MeasuredArea,
    MeasuredAs,
    PortUse,
    channel_area,
    channel_kind,
    unit_kind,
    without_outputs,
)
from fuseloom.dataflow.rtl.channel import ChannelBuffer
from fuseloom.dataflow.rtl.registry import NodeSpec, unit_of
from fuseloom.dataflow.rtl.synthesis import (
    SYNTHESIS,
    USE,
    HardwareArea,
    Netlist,
    netlists,
    synthesised,
    yosys_version,
)
from fuseloom.dataflow.rtl.tokens import TOKEN_BITS
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.rtl.verilog import modules_rtlil
from fuseloom.dataflow.samml.graph import Node, Scalar
from fuseloom.dataflow.sim.tokens import TOKEN_DTYPE

T = TypeVar("T")
TypicalChannel = tuple[int, bool, int, PortUse, PortUse]
"""Capacity, late, width, and what is done at both ends."""
MACHINE = Machine.preset("rtl")
CAPACITIES = (4, 8, 64, 128, 256, 1024)
"""Capacities of channels that are measured."""
SOME_CAPACITIES = (8, 64, 256)
"""The same of channels into which two tokens are put."""
FEW_CAPACITIES = (8, 64, 1024)
"""The same of channels of tokens of which only the kind is used."""
LATE_CAPACITIES = (8, 63, 64, 256)
"""The same of channels whose values come later, which have room for one more."""
BATCH = 8
"""Modules per run of Yosys."""


@dataclass(frozen=True)
class TypicalNode:
    """A node to be measured: its primitive, numbers of ports, parameters and sizes of arrays."""

    op: str
    inputs: int
    outputs: int
    params: Mapping[str, Scalar]
    length: int = 100
    read: int = TOKEN_BITS
    """Bits that a neighbour reads of the tokens that it puts."""
    unread: tuple[int, ...] = ()
    """Outputs that lead nowhere."""

    @property
    def node(self) -> Node:
        """The node, alone."""
        inputs = tuple(range(self.inputs))
        outputs = tuple(
            None if port in self.unread else self.inputs + port for port in range(self.outputs)
        )
        return Node(0, self.op, inputs, outputs, dict(self.params), self.op)

    @property
    def kind(self) -> MeasuredAs:
        """The row of the table that it is measured for."""
        return without_outputs(unit_kind(self.unit()), self.node)

    def unit(self) -> PrimitiveUnit:
        """Its hardware."""
        seg = np.array([0, self.length, self.length])
        arrays = {
            "seg": seg,
            "crd": np.arange(self.length),
            "vals": np.ones(self.length, np.float32),
            "tokens": np.zeros(self.length, TOKEN_DTYPE),
        }
        if self.params.get("timed"):
            arrays["times"] = np.arange(self.length)
        return unit_of(NodeSpec(self.node, MACHINE, arrays))


def typical_nodes() -> Iterator[TypicalNode]:
    """The nodes that are measured, the first of each primitive a typical one."""

    def make(op: str, inputs: int, outputs: int, length: int = 100, **params: Any) -> TypicalNode:
        return TypicalNode(op, inputs, outputs, params, length)

    yield make("root", 0, 1)
    yield replace(make("repsig", 1, 1), read=KINDS_ONLY)
    yield make("repeat", 2, 1)
    yield make("scan", 1, 2)
    for factor in (34, 8):
        yield make("dense_scan", 1, 2, dim=factor)
        yield make("locate", 2, 1, dim=factor)
    yield make("dense_scan", 1, 2, dim=0)
    yield make("array", 1, 1)
    for function in ("mul", "add", "sub", "max", "div"):
        yield make("binary", 2, 1, fn=function)
    yield make("binary", 2, 1, fn="sub", needs="a")
    yield make("reduce", 1, 1, fn="add", empty_is_zero=False)
    yield make("valdrop", 2, 2)
    yield make("crddrop", 2, 2)
    yield make("crdwrite", 1, 0)
    yield make("valwrite", 1, 0)
    yield make("intersect", 4, 3)
    for copies in (2, 3, 8, 16):
        yield make("broadcast", 1, copies)
    for dim in (2, 4, 8, 16, 34, 64):
        yield make("spacc1", 3, 2, fn="add", dim=dim)
    yield make("union", 4, 3)
    yield make("union", 4, 3, gate=1)
    for function in ("relu", "exp", "rsqrt"):
        yield make("unary", 1, 1, fn=function)
    for scalar in (0.3, 0.5):
        yield make("unary", 1, 1, fn="scalarmul", scalar=scalar)
    for function in ("add", "max"):
        yield make("reduce", 2, 1, fn=function, empty_is_zero=False)
    yield make("zerodrop", 2, 2)
    yield make("stopdrop", 1, 1)
    yield make("source", 0, 1, 16, kind="crd")
    yield make("sink", 1, 0)
    yield make("shift", 1, 1, offset=3)
    yield make("crdhold", 2, 2)
    yield make("flatten", 2, 1, factor=34)
    yield make("intersect", 6, 4)
    yield make("union", 6, 4)
    for operands in (4, 5):
        yield make("intersect", 2 * operands, operands + 1)
        yield make("union", 2 * operands, operands + 1)
    yield make("reduce", 1, 1, fn="add", empty_is_zero=True)
    for function in ("scalaradd", "scalardiv"):
        yield make("unary", 1, 1, fn=function, scalar=0.3)
    for lanes in (2, 4):
        yield make("fork", 1, lanes)
        yield make("join", lanes, 1)
        yield make("ordered_join", lanes + 1, 1, levels=1)
    yield make("crdmask", 3, 3)
    yield make("search", 2, 2, 127)
    for dim in (4, 2):
        yield make("spacc2", 4, 3, fn="add", dim1=4, dim=dim)
    for unread in ((0,), (1,)):
        yield replace(make("scan", 1, 2), unread=unread)


def channels() -> Iterator[TypicalChannel]:
    """The channels that are measured: capacity, late, width, and what is done at both ends."""
    one, two = PortUse(two=False), PortUse(two=True)
    for takes in (one, two):
        for capacity in CAPACITIES:
            yield capacity, False, TOKEN_BITS, one, takes
        for capacity in FEW_CAPACITIES:
            yield capacity, False, KINDS_ONLY, one, takes
        for capacity in SOME_CAPACITIES:
            yield capacity, False, TOKEN_BITS, two, takes
        for capacity in LATE_CAPACITIES:
            yield capacity, True, TOKEN_BITS, one, takes


def uses(netlist: Netlist, unit: PrimitiveUnit) -> tuple[tuple[PortUse, ...], tuple[PortUse, ...]]:
    """The use of a unit's inputs and of its outputs, by its circuit."""
    read = {
        bit
        for cell in netlist["cells"].values()
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "input"
        for bit in bits
    }
    ports = {name: port["bits"] for name, port in netlist["ports"].items()}
    for port in netlist["ports"].values():
        if port["direction"] == "output":
            read |= set(port["bits"])

    takes = []
    for k in range(len(unit.sources)):
        following = [bit in read for bit in ports[f"in{k}__following"]]
        seen = [
            bit in read or also for bit, also in zip(ports[f"in{k}__head"], following, strict=True)
        ]
        bits = sum(1 << position for position, one in enumerate(seen) if one)
        takes.append(PortUse(bits, any(following) or ports[f"in{k}__pop"][1] != "0"))
    pushes = [ports[f"out{k}__push"] for k in range(len(unit.sinks))]
    return tuple(takes), tuple(PortUse(two=push[1] != "0") for push in pushes)


def batches(things: Iterable[T]) -> Iterator[list[T]]:
    """Parts of as many things as one run of Yosys takes."""
    rest = iter(things)
    while some := list(islice(rest, BATCH)):
        yield some


class AreaMeasurements:
    """Rows by kind and size."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[int, MeasuredArea]] = {}

    def add(self, measured: MeasuredAs, row: MeasuredArea) -> None:
        """Keep a row."""
        self.rows.setdefault(measured.kind, {})[measured.size] = row

    @property
    def table(self) -> dict[str, list[MeasuredArea]]:
        """All rows by growing size."""
        return {
            kind: [rows[size] for size in sorted(rows)] for kind, rows in sorted(self.rows.items())
        }

    def has(self, measured: MeasuredAs) -> bool:
        """Return whether this kind and size was measured."""
        return measured.size in self.rows.get(measured.kind, ())

    def has_channel(self, channel: TypicalChannel) -> bool:
        """Return whether a channel was measured."""
        capacity, late, width, puts, takes = channel
        return self.has(channel_kind(ChannelBuffer(capacity, late), width, puts, takes))

    def measure_channels(self, some: Sequence[TypicalChannel]) -> None:
        """Measure channels in one run."""
        names = tuple(f"channel{k}" for k in range(len(some)))
        modules = {
            name: ChannelAlone(capacity, late, width, puts.two, takes.two)
            for name, (capacity, late, width, puts, takes) in zip(names, some, strict=True)
        }
        areas = synthesised(modules_rtlil(modules), *names)
        for name, (capacity, late, width, puts, takes) in zip(names, some, strict=True):
            kind = channel_kind(ChannelBuffer(capacity, late), width, puts, takes)
            self.add(kind, MeasuredArea(capacity, areas[name]))

    def measure_units(self, nodes: Sequence[TypicalNode]) -> None:
        """Measure the units of nodes in one run, each between channels, which are subtracted."""
        units = {f"unit{k}": node.unit() for k, node in enumerate(nodes)}
        alone = {name: UnitAlone(unit) for name, unit in units.items()}
        found = netlists(modules_rtlil(alone), tuple(units), USE)
        between = {
            f"unit{k}": UnitBetween(node.unit(), node.read, node.unread)
            for k, node in enumerate(nodes)
        }
        areas = synthesised(modules_rtlil(between), *units)
        for node, (name, unit) in zip(nodes, units.items(), strict=True):
            takes, puts = uses(found[name], unit)
            area = areas[name] - self._around(node, unit, takes, puts)
            self.add(node.kind, MeasuredArea(node.kind.size, area, takes, puts))

    def write(self, path: Path) -> None:
        """Write all rows."""
        write_table(content_of(self.table, yosys_version()), path)

    def _around(
        self,
        node: TypicalNode,
        unit: PrimitiveUnit,
        takes: Sequence[PortUse],
        puts: Sequence[PortUse],
    ) -> HardwareArea:
        """The area of the channels that a unit was measured between."""
        every = PortUse(two=False)
        total = HardwareArea()
        for take in takes:
            total += channel_area(self.table, ChannelBuffer(BETWEEN), every, take, 0)
        for k, put in enumerate(puts):
            if k in node.unread:
                continue
            channel = ChannelBuffer(BETWEEN, k in unit.late_outputs)
            taken = PortUse((1 << node.read) - 1, two=False)
            total += channel_area(self.table, channel, put, taken, 0)
        return total


def content_of(table: Mapping[str, Sequence[MeasuredArea]], version: str) -> dict[str, Any]:
    """The content of the file."""
    return {
        "made_by": COMMAND,
        "synthesis": SYNTHESIS,
        "version": version,
        "modules": {kind: [_row(row) for row in rows] for kind, rows in table.items()},
    }


def _row(row: MeasuredArea) -> dict[str, Any]:
    area = row.area
    said: dict[str, Any] = {
        "size": row.size,
        "luts": round(area.luts, 1),
        "flip_flops": round(area.flip_flops, 1),
        "block_rams": area.block_rams,
        "dsps": area.dsps,
    }
    for name, uses_ in (("takes", row.takes), ("puts", row.puts)):
        if uses_:
            said[name] = [[f"{use.bits:x}", use.two] for use in uses_]
    return said


def write_table(content: Mapping[str, Any], path: Path) -> None:
    """Write the file, a row a line."""
    kinds = [
        f"  {json.dumps(kind)}: [\n"
        + ",\n".join(f"    {json.dumps(row)}" for row in rows)
        + "\n  ]"
        for kind, rows in content["modules"].items()
    ]
    head = "".join(
        f" {json.dumps(key)}: {json.dumps(value)},\n"
        for key, value in content.items()
        if key != "modules"
    )
    text = "{\n" + head + ' "modules": {\n' + ",\n".join(kinds) + "\n }\n}\n"
    with replacing(path) as file:
        file.write(text.encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the table."""
    from fuseloom.dataflow.rtl.area import read_table

    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("again", nargs="*", help="primitives, or channel: measure these again")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name(TABLE))
    options = parser.parse_args(arguments)
    measurements = AreaMeasurements()
    if options.output.exists():
        for kind, rows in read_table(json.loads(options.output.read_text())).items():
            measurements.rows[kind] = {row.size: row for row in rows}
    for some in batches(channels()):
        if "channel" in options.again or not all(map(measurements.has_channel, some)):
            measurements.measure_channels(some)
            measurements.write(options.output)
            print(f"{len(some)} channels: measured", flush=True)
    lacking = (
        node
        for node in typical_nodes()
        if node.op in options.again or not measurements.has(node.kind)
    )
    for nodes in batches(lacking):
        measurements.measure_units(nodes)
        measurements.write(options.output)
        print(f"{', '.join(node.op for node in nodes)}: measured", flush=True)


if __name__ == "__main__":
    main()
