"""Areas by adding up, beside Yosys on whole graphs; and circuits without latches and loops."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import verilog
from amaranth.hdl import ClockSignal, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.rtl.alone import ChannelAlone, UnitAlone
from fuseloom.dataflow.rtl.area import area_table, graph_area, measured_unit
from fuseloom.dataflow.rtl.area_table import typical_nodes
from fuseloom.dataflow.rtl.channel import ChannelBuffer
from fuseloom.dataflow.rtl.design import HardwareGraph
from fuseloom.dataflow.rtl.memories import (
    BLOCK_MODULE,
    MemoryImage,
    block_memories,
    check_block_memories,
)
from fuseloom.dataflow.rtl.registry import BUILDERS
from fuseloom.dataflow.rtl.synthesis import (
    CHECKS,
    PROGRAMS,
    SYNTHESIS,
    USE,
    HardwareArea,
    Netlist,
    netlists,
    synthesised,
    yosys,
)
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.rtl.verilog import TOP, modules_rtlil
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.errors import GraphError, SimulationError
from fuseloom.models.data import random_tensor
from fuseloom.program.parser import parse
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


KERNELS = {
    "sddmm": """\
program sddmm
S: 8x8 csr
A: 8x4 dense
B: 4x8 dense
Y[i,j] = S[i,j] * A[i,k] * B[k,j]
output Y
""",
    "mttkrp": """\
program mttkrp
X: 6x5x4 csf
B: 5x3 dense
C: 4x3 dense
Y[i,r] = X[i,j,k] * B[j,r] * C[k,r]
output Y
""",
    "ttv": """\
program ttv
X: 6x5x4 csf
v: 4 dense
Y[i,j] = X[i,j,k] * v[k]
output Y
""",
    "residual": """\
program residual
A: 8x8 csr
x: 8 dense
b: 8 dense
y[i] = b[i] - A[i,k] * x[k]
output y
""",
    "product": """\
program product
A: 8x8 csr
B: 8x8 csr
Y[i,j] = A[i,k] * B[k,j]
output Y
""",
    "sum": """\
program sum
A: 8x8 csr
B: 8x8 csr
Y[i,j] = A[i,j] + B[i,j]
output Y
""",
}
"""Kernels that nothing was fitted to, by name."""


@dataclass(frozen=True)
class WholeGraph:
    """A region of a model's program or of a kernel, or a random graph by its seed."""

    model: str
    preset: str | None = None
    region: int = 0

    def hardware(self) -> HardwareGraph:
        """The graph as hardware, on the machine ``rtl``."""
        if self.model == "random":
            bound = random_graph(self.region)
            return HardwareGraph(replace(bound, graph=bound.graph.with_capacity(8)), MACHINE)
        run = self.run()
        graph = run.regions[self.region].region.graph
        return HardwareGraph(bind(graph, {**run.data, **run.outputs}), MACHINE)

    def run(self) -> Run:
        """The simulation of its program."""
        if self.model in KERNELS:
            program = parse(KERNELS[self.model])
            data = {
                name: random_tensor(program.tensor(name), density=0.4) for name in program.inputs
            }
            made: Run = fl.simulate(fl.compile(program).sized(), data, MACHINE)
            return made
        data_set = ["karate"] if self.model == "gcn" else []
        given, arrays = fl.load(self.model, *data_set)
        schedule = [given.presets[self.preset]] if self.preset else []
        run: Run = fl.simulate(fl.compile(given.program, *schedule).sized(), arrays, MACHINE)
        return run

    @property
    def name(self) -> str:
        return f"{self.model} {self.preset or 'as given'} {self.region}"


FEW = [WholeGraph("random", region=20_270_014)]
MANY = [
    WholeGraph("spmv"),
    WholeGraph("spmm"),
    *(WholeGraph("attention", None, region) for region in (1, 2, 5)),
    *(WholeGraph("gcn", "unfused", region) for region in (2, 3)),
    WholeGraph("gcn", None, 8),
    *(WholeGraph("graphsage", None, region) for region in (8, 13)),
    *(WholeGraph("gpt3", None, region) for region in (0, 1, 3, 15)),
    WholeGraph("random", region=20_270_019),
    *map(WholeGraph, KERNELS),
    *(WholeGraph(kernel, None, 1) for kernel in ("sddmm", "residual")),
]
"""Regions of models, a random graph, and kernels that nothing was fitted to."""


SAVED = {WholeGraph("gpt3", None, 15): 0.5}
"""Block memories that synthesis saves: of two words of 64 bits many bits are equal."""


def compared(graph: WholeGraph, command: str = SYNTHESIS) -> tuple[HardwareArea, HardwareArea]:
    """The area by adding up, and by synthesis of the whole."""
    hardware = graph.hardware()
    made = modules_rtlil({**hardware.library, TOP: hardware.top()})
    area = graph_area(hardware)
    memories = HardwareArea(block_rams=area.total.block_rams)
    whole = synthesised(made, TOP, command=command, images=hardware.images)[TOP]
    return area.logic + memories, whole


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
    saved = SAVED.get(graph, 0.0)
    assert (summed.block_rams - saved, round(summed.dsps)) == (whole.block_rams, whole.dsps)


def typical() -> dict[str, PrimitiveUnit]:
    """A module of each primitive."""
    found: dict[str, PrimitiveUnit] = {}
    for node in typical_nodes():
        if node.op not in found:
            found[node.op] = node.unit()
    return found


def test_every_primitive_is_measured() -> None:
    assert set(typical()) == set(BUILDERS)
    kinds = [node.kind for node in typical_nodes()]
    table = area_table()
    sizes = {kind: {row.size for row in rows} for kind, rows in table.items()}
    missing = [kind for kind in kinds if kind.size not in sizes.get(kind.kind, ())]
    assert not missing, "measure them: python -m fuseloom.dataflow.rtl.area_table NAME"


def test_a_scanner_takes_less_where_nothing_reads_its_coordinates() -> None:
    hardware = WholeGraph("gpt3", None, 3).hardware()
    graph, table = hardware.bound.graph, area_table()
    scanners = [node for node in graph.nodes if node.op == "scan"]
    assert [node.outputs[0] is None for node in scanners] == [False, True]
    read, unread = (measured_unit(table, n, hardware.units[n.id]).area for n in scanners)
    assert unread.luts < read.luts
    whole = {kind: rows for kind, rows in table.items() if " without output " not in kind}
    assert measured_unit(whole, scanners[1], hardware.units[scanners[1].id]).area == read
    assert graph_area(hardware).nodes[scanners[1].id] == unread


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
    assert {name: memory.block_rams for name, memory in area.memories.items()} == {
        image.name: block_memories(len(image.words), image.width) for image in hardware.images
    }
    assert area.total.block_rams == sum(one.block_rams for one in area.memories.values()) > 0
    assert area.memory_bits == sum(image.bits for image in hardware.images)
    assert area.total.luts == area.logic.luts > 0
    (values,) = (array for array in hardware.written if array.name == "vals")
    assert graph_area(hardware, written={values: 3_000}).memories[values.port] == HardwareArea(
        block_rams=3
    )
    deeper = replace(hardware.bound, graph=hardware.bound.graph.with_capacity(200))
    assert graph_area(HardwareGraph(deeper, MACHINE)).logic.luts > area.logic.luts


@pytest.mark.parametrize(
    ("words", "width", "blocks"),
    [
        (0, 32, 0),
        (1, 32, 0),
        (2, 32, 0.5),
        (512, 32, 0.5),
        (513, 32, 1),
        (1024, 32, 1),
        (1025, 32, 1.5),
        (512, 64, 1),
        (513, 64, 2),
        (1500, 64, 3),
        (2000, 34, 2),
        (4096, 32, 4),
        (4096, 4, 0.5),
    ],
)
def test_block_memories(words: int, width: int, blocks: float) -> None:
    assert block_memories(words, width) == blocks


class Lookup(wiring.Component):
    """A block memory of that many words."""

    def __init__(self, image: MemoryImage) -> None:
        self.image = image
        self.bits = max(1, (len(image.words) - 1).bit_length())
        super().__init__({"address": In(self.bits), "found": Out(image.width)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.memory = Instance(
            BLOCK_MODULE,
            i_clk=ClockSignal(),
            i_address=self.address,
            o_word=self.found,
            p_FILE=f"{self.image.name}.hex",
            p_DEPTH=len(self.image.words),
            p_WIDTH=self.image.width,
            p_ADDRESS=self.bits,
        )
        m.d.sync += Signal(name="clocked").eq(1)
        return m


@needs_yosys
def test_yosys_makes_as_many_block_memories() -> None:
    shapes = [(2, 32), (100, 32), (513, 32), (1025, 32), (300, 64), (1500, 64), (2000, 34)]
    images = [MemoryImage(f"m{k}", (0,) * words, width) for k, (words, width) in enumerate(shapes)]
    made = modules_rtlil({image.name: Lookup(image) for image in images})
    found = synthesised(made, *(image.name for image in images), images=images)
    assert {image.name: image.block_rams for image in images} == {
        name: area.block_rams for name, area in found.items()
    }


@needs_yosys
@pytest.mark.fuzz
def test_yosys_may_make_a_tenth_fewer_of_thousands_of_words() -> None:
    large = MemoryImage("large", (0,) * 6_000, 32)
    (area,) = synthesised(modules_rtlil({"large": Lookup(large)}), "large", images=[large]).values()
    assert 0.9 * large.block_rams <= area.block_rams <= large.block_rams


def reached(netlist: Netlist, name: str) -> set[str]:
    """The ports of a module that an output follows from without a register between."""
    drivers = {
        bit: [b for port, bits in cell["connections"].items()
              if cell["port_directions"][port] == "input" for b in bits]
        for cell in netlist["cells"].values()
        if "DFF" not in cell["type"].upper() and "mem" not in cell["type"]
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "output"
        for bit in bits
    }  # fmt: skip
    inputs = {
        bit: port
        for port, about in netlist["ports"].items()
        if about["direction"] == "input"
        for bit in about["bits"]
    }
    seen, left = set(), list(netlist["ports"][name]["bits"])
    while left:
        if (bit := left.pop()) not in seen:
            seen.add(bit)
            left += drivers.get(bit, ())
    return {inputs[bit] for bit in seen if bit in inputs}


@needs_yosys
def test_addresses_of_block_memories_are_known_early() -> None:
    """In time for the falling edge: they follow from registers and the tokens that wait."""
    units = {op: unit for op, unit in typical().items() if unit.reads}
    found = netlists(
        modules_rtlil({op: UnitAlone(unit) for op, unit in units.items()}), tuple(units), USE
    )
    early = {
        (op, name): reached(found[op], f"{name}_address")
        for op, unit in units.items()
        for name, words in unit.reads.items()
        if not words.chained
    }
    assert ("scan", "crd") in early
    for unit, ports in early.items():
        assert not any(port.endswith(("_word", "_count")) for port in ports), unit
    (chained,) = (name for name in units["search"].reads if name == "crd1")
    assert "crd0_word" in reached(found["search"], f"{chained}_address")
    channel = ChannelAlone(8, True, 34, False, True)
    (netlist,) = netlists(modules_rtlil({"channel": channel}), ("channel",), USE).values()
    assert reached(netlist, "head") <= {"clk", "rst"}


def test_too_few_block_memories_are_refused_with_the_number() -> None:
    needed = {"node1_crd": 2.5, "node2_vals": 4.0}
    check_block_memories("region y", needed, 7)
    with pytest.raises(GraphError, match=r"region y needs 6.5 .* has 6; .*node2_vals, takes 4"):
        check_block_memories("region y", needed, 6)


def test_memories_read_without_delay_take_luts() -> None:
    image = MemoryImage("node0_crd0", (0,) * 65, 32, chained=True)
    assert (image.luts, image.block_rams) == (64, 0)
    assert replace(image, chained=False).luts == 0


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
