"""Areas by adding up, beside Yosys on whole graphs; and circuits without latches and loops."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import verilog
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.alone import UnitAlone
from fuseloom.dataflow.rtl.area import area_table, block_memories, graph_area, unit_kind
from fuseloom.dataflow.rtl.area_table import typical_nodes
from fuseloom.dataflow.rtl.channel import ChannelBuffer
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.registry import BUILDERS
from fuseloom.dataflow.rtl.synthesis import (
    CHECKS,
    PROGRAMS,
    SYNTHESIS,
    HardwareArea,
    netlists,
    synthesised,
    yosys,
)
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.rtl.verilog import TOP, modules_rtlil
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.errors import GraphError, SimulationError
from tests.property.random_graphs import random_graph

needs_yosys = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAMS)), reason="needs Yosys: apt-get install yosys"
)
MACHINE = Machine.preset("rtl")
TOLERANCE, REGISTERS = 0.05, 0.06
"""Largest differences of LUTs and flip-flops from whole graphs (``docs/rtl.md``)."""
UNAVOIDABLE = ("DECLFILENAME", "UNUSEDSIGNAL", "WIDTH")
"""Warnings of Verilator about what Yosys writes: modules of any name in any file, a signal for each
range of bits of an expression, operands that are extended to a width without saying so."""


@dataclass(frozen=True)
class WholeGraph:
    """A region of a model's program, or a random graph by its seed."""

    model: str
    preset: str | None = None
    region: int = 0

    def hardware(self) -> HardwareGraph:
        """The graph as hardware, on the machine ``rtl``."""
        if self.model == "random":
            bound = random_graph(self.region)
            return HardwareGraph(replace(bound, graph=bound.graph.with_capacity(8)), MACHINE)
        given, arrays = (
            fl.load(self.model, "karate") if self.model == "gcn" else fl.load(self.model)
        )
        schedule = [given.presets[self.preset]] if self.preset else []
        run = fl.simulate(fl.compile(given.program, *schedule).sized(), arrays, MACHINE)
        graph = run.regions[self.region].region.graph
        return HardwareGraph(bind(graph, {**run.data, **run.outputs}), MACHINE)

    @property
    def name(self) -> str:
        return f"{self.model} {self.preset or 'as given'} {self.region}"


FEW = [WholeGraph("gcn", "unfused", 3), WholeGraph("random", region=20_270_014)]
MANY = [
    WholeGraph("spmv"),
    WholeGraph("spmm"),
    *(WholeGraph("attention", None, region) for region in (1, 2, 5)),
    WholeGraph("gcn", "unfused", 2),
    WholeGraph("gcn", None, 8),
    *(WholeGraph("graphsage", None, region) for region in (8, 13)),
    *(WholeGraph("gpt3", None, region) for region in (0, 1, 3, 15)),
]
"""Regions of models, and a random graph."""


def compared(graph: WholeGraph, command: str = SYNTHESIS) -> tuple[HardwareArea, HardwareArea]:
    """The area by adding up, and by synthesis of the whole."""
    hardware = graph.hardware()
    made = modules_rtlil({**hardware.library, TOP: hardware.top()})
    return graph_area(hardware).logic, synthesised(made, TOP, command=command)[TOP]


@needs_yosys
@pytest.mark.parametrize(
    "graph",
    [*FEW, *(pytest.param(graph, marks=pytest.mark.fuzz) for graph in MANY)],
    ids=lambda graph: graph.name,
)
def test_a_sum_is_near_to_the_whole(graph: WholeGraph) -> None:
    summed, whole = compared(graph)
    print(f"{graph.name}: {summed}, {whole}, LUTs {summed.luts / whole.luts - 1:+.1%}")
    assert summed.luts == pytest.approx(whole.luts, rel=TOLERANCE)
    assert summed.flip_flops == pytest.approx(whole.flip_flops, rel=REGISTERS)
    assert (summed.block_rams, round(summed.dsps)) == (whole.block_rams, whole.dsps)


def typical() -> dict[str, PrimitiveUnit]:
    """A module of each primitive."""
    found: dict[str, PrimitiveUnit] = {}
    for node in typical_nodes():
        if node.op not in found:
            found[node.op] = node.unit()
    return found


def test_every_primitive_is_measured() -> None:
    assert set(typical()) == set(BUILDERS)
    kinds = [unit_kind(node.unit()) for node in typical_nodes()]
    table = area_table()
    sizes = {kind: {row.size for row in rows} for kind, rows in table.items()}
    missing = [kind for kind in kinds if kind.size not in sizes.get(kind.kind, ())]
    assert not missing, "measure them: python -m fuseloom.dataflow.rtl.area_table NAME"


@needs_yosys
def test_no_primitive_has_latches_or_loops() -> None:
    units = {op: UnitAlone(unit) for op, unit in typical().items()}
    assert set(netlists(modules_rtlil(units), tuple(units), CHECKS)) == set(units)


@needs_yosys
@pytest.mark.parametrize(
    "circuit",
    [
        "cell $dlatch $1\n parameter \\WIDTH 1\n parameter \\EN_POLARITY 1'1\n"
        " connect \\D \\b\n connect \\EN \\a\n connect \\Q \\q\n end",
        "cell $_AND_ $1\n connect \\A \\q\n connect \\B \\a\n connect \\Y \\q\n end",
    ],
    ids=["latch", "loop"],
)
def test_the_check_finds_a_latch_and_a_loop(circuit: str) -> None:
    ports = "wire input 1 \\a\nwire input 2 \\b\nwire output 3 \\q\n"
    with pytest.raises(SimulationError, match="failed"):
        netlists(f"module \\faulty\n{ports}{circuit}\nend\n", ("faulty",), CHECKS)


class Everything(wiring.Component):
    """Modules side by side, whose ports are those of the whole."""

    def __init__(self, parts: dict[str, wiring.Component]) -> None:
        self.parts = parts
        super().__init__(
            {
                f"{name}_{'__'.join(map(str, path))}": (Out if port.flow == Out else In)(len(value))
                for name, part in parts.items()
                for path, port, value in part.signature.flatten(part)
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        for name, part in self.parts.items():
            m.submodules[name] = part
            for path, port, value in part.signature.flatten(part):
                outer = getattr(self, f"{name}_{'__'.join(map(str, path))}")
                m.d.comb += outer.eq(value) if port.flow == Out else value.eq(outer)
        return m


@pytest.mark.skipif(shutil.which("verilator") is None, reason="needs Verilator")
def test_verilator_has_no_warnings(tmp_path: Path) -> None:
    """In the module of each primitive, and in those of channels."""
    channels = {"early": ChannelBuffer(6), "late": ChannelBuffer(6, late=True)}
    whole = Everything({**typical(), **channels})
    (tmp_path / "everything.v").write_text(
        verilog.convert(whole, name="everything", emit_src=False)
    )
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", *(f"-Wno-{one}" for one in UNAVOIDABLE),
         "everything.v"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr


def test_the_parts_of_a_graph_make_its_area() -> None:
    """Without Yosys: nodes, channels and memories; more slots and longer rows take more."""
    hardware = WholeGraph("spmv").hardware()
    area = graph_area(hardware)
    assert set(area.nodes) == {node.id for node in hardware.bound.graph.nodes}
    assert set(area.channels) == set(hardware.channels)
    assert area.total.block_rams == len(area.memories) == 4
    assert area.memory_bits == sum(image.bits for image in hardware.images)
    assert area.total.luts == area.logic.luts > 0
    deeper = replace(hardware.bound, graph=hardware.bound.graph.with_capacity(200))
    assert graph_area(HardwareGraph(deeper, MACHINE)).logic.luts > area.logic.luts


@pytest.mark.parametrize(
    ("words", "width", "blocks"),
    [
        (0, 32, 0),
        (1, 32, 1),
        (1024, 32, 1),
        (1025, 32, 2),
        (512, 64, 1),
        (513, 64, 2),
        (8192, 4, 1),
    ],
)
def test_block_memories(words: int, width: int, blocks: int) -> None:
    assert block_memories(words, width) == blocks


def test_what_was_not_measured_is_named_with_a_way_out() -> None:
    bound = bench_graph("unary", "1 S0 D", params={"fn": "relu", "latency": 99}, capacity=2)
    with pytest.raises(GraphError, match=r"node 0.*latency 99.*was not measured") as raised:
        graph_area(HardwareGraph(bound, MACHINE))
    assert "Yosys" in (raised.value.hint or "")


def test_without_yosys_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SimulationError, match="Yosys is not installed") as raised:
        yosys()
    assert "apt-get install yosys" in (raised.value.hint or "")
