"""All units as one native program, which Verilator makes of their Verilog."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from amaranth.back import verilog

from fuseloom.dataflow.rtl.float32 import UNITS, float_unit

Words = npt.NDArray[np.uint32]

UNAVOIDABLE = ("-Wno-DECLFILENAME", "-Wno-UNUSEDSIGNAL", "-Wno-WIDTH")
"""Warnings about what Yosys writes: modules of any name in any file, a signal for each bit range of
an expression, the reset of the domain, and operands that are extended to a width without saying so.
"""


def module_name(name: str) -> str:
    return f"float32_{name}"


def write_verilog(name: str, folder: Path) -> Path:
    """Write the Verilog of one unit."""
    path = folder / f"{module_name(name)}.v"
    text = verilog.convert(float_unit(name), name=module_name(name), emit_src=False)
    path.write_text(text, encoding="utf-8")
    return path


def top_text() -> str:
    """The module that gives all units the same operands."""
    bits = 32 * len(UNITS)
    lines = [
        f"module every_unit(input clk, input [31:0] a, input [31:0] b, output [{bits - 1}:0] z);"
    ]
    for number, name in enumerate(UNITS):
        unit = float_unit(name)
        ports = [".a(a)"]
        ports += [".b(b)"] * (unit.operands == 2)
        ports += [".clk(clk), .rst(1'b0)"] * (unit.stages > 0)
        ports.append(f".z(z[{32 * number} +: 32])")
        lines.append(f"  {module_name(name)} {name}_({', '.join(ports)});")
    return "\n".join([*lines, "endmodule\n"])


@dataclass(frozen=True)
class Verilated:
    """The program, and the files of Verilog that it was made of."""

    program: Path
    sources: dict[str, Path]

    def run(self, a: Words, b: Words, folder: Path) -> dict[str, Words]:
        """The result of each unit for each pair of operands."""
        last = max(float_unit(name).stages for name in UNITS)
        pairs = np.zeros((len(a) + last, 2), np.uint32)
        pairs[: len(a), 0], pairs[: len(a), 1] = a, b
        given, found = folder / "operands", folder / "results"
        pairs.tofile(given)
        subprocess.run([self.program, given, found], check=True, timeout=300)
        rows = np.fromfile(found, np.uint32).reshape(len(UNITS), -1)
        return {
            name: row[float_unit(name).stages :][: len(a)]
            for name, row in zip(UNITS, rows, strict=True)
        }


def verilated(folder: Path) -> Verilated:
    """Write all units as Verilog, and compile them."""
    sources = {name: write_verilog(name, folder) for name in UNITS}
    top = folder / "every_unit.v"
    top.write_text(top_text(), encoding="utf-8")
    harness = Path(__file__).with_name("harness.cpp")
    command = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "-CFLAGS", "-O2"]
    command += ["-Wno-WIDTH", "--top-module", "every_unit", "-o", "every_unit"]
    command += ["--Mdir", str(folder / "made")]
    done = subprocess.run(
        [*command, top, *sources.values(), harness],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return Verilated(folder / "made" / "every_unit", sources)
