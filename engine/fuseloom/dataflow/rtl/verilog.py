"""Verilog of a graph, its memory images, and a test bench that checks itself.

The test bench is plain Verilog for Icarus and for Verilator: it runs the clock until every node has
ended, prints the final clock of each, and compares what writers write with the expected words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.back import rtlil, verilog

from fuseloom.atomic_files import replacing
from fuseloom.dataflow.rtl.channel import HardwareModule
from fuseloom.dataflow.rtl.design import HardwareGraph, WrittenArray
from fuseloom.dataflow.rtl.memories import BLOCK_MEMORY, BLOCK_MODULE, MEMORY, MEMORY_MODULE

TOP = "fuseloom_graph"
"""Name of the module of a graph."""
BENCH = "fuseloom_bench"
"""Name of the test bench, whose clock is an input."""
CLOCKED = "fuseloom_clocked_bench"
"""Name of the test bench with a clock."""

_BENCH = """\
// Runs {top} until every node has ended, and compares what it writes with what is expected.
module {bench} (input clk);
  reg [1:0] started = 0;
  wire rst = !started[1];
  integer cycle = 0;
  integer quiet = 0;
  integer wrong = 0;
  integer run = 1;
  reg again = 0;
  wire [{last}:0] done;
  wire [{last}:0] fault;
  reg [{last}:0] ended = 0;
  wire active;
  integer k;
{wires}
  {top} graph ({connections});

  always @(posedge clk) started <= again ? 0 : {{started[0], 1'b1}};

  function real number(input [31:0] bits);
    if (bits[30:23] == 0)
      number = (bits[31] ? -1.0 : 1.0) * bits[22:0] * 1.401298464324817e-45;
    else
      number = $bitstoreal({{bits[31], {{3'b0, bits[30:23]}} + 11'd896, bits[22:0], 29'b0}});
  endfunction

  function close(input [31:0] got, input [31:0] expected, input real absolute);
    real difference, most;
    if (got == expected) close = 1;
    else if (&got[30:23] || &expected[30:23])
      close = &got[30:23] && &expected[30:23] && |got[22:0] && |expected[22:0];
    else begin
      difference = number(got) - number(expected);
      most = {tolerance} * number({{1'b0, expected[30:0]}}) + absolute;
      close = difference <= most && -difference <= most;
    end
  endfunction

  always @(posedge clk) if (!rst && !again) begin
    for (k = 0; k <= {last}; k = k + 1)
      if (done[k] && !ended[k]) $display("clock %0d %0d", k, cycle);
    ended <= ended | done;
{checks}
    quiet <= active ? 0 : quiet + 1;
    if (|fault || &(ended | done) || quiet > {patience}) begin
      if (|fault) $display("fault %0d %b", cycle, fault);
      else if (!(&(ended | done))) $display("deadlock %0d %b", cycle - quiet, ~(ended | done));
      else begin
{totals}
        $display("%0s: %0d cycles", wrong == 0 ? "PASS" : "FAIL", cycle);
      end
      run <= run + 1;
      again <= 1;
      if (run == {runs}) $finish;
    end
    cycle <= cycle + 1;
  end else begin
    again <= 0;
    cycle <= 0;
    quiet <= 0;
    wrong = 0;
    ended <= 0;
{resets}
  end
endmodule
"""

CLOCK = f"""\
// The clock of the test bench, for simulators of events.
module {CLOCKED};
  reg clk = 0;
  always #1 clk = ~clk;
  {BENCH} bench (.clk(clk));
endmodule
"""

DRIVER = f"""\
// The clock of the test bench, for Verilator.
#include "V{BENCH}.h"
#include "verilated.h"

int main(int argc, char** argv) {{
  VerilatedContext context;
  context.commandArgs(argc, argv);
  V{BENCH} bench{{&context}};
  bench.clk = 0;
  while (!context.gotFinish()) {{
    bench.eval();
    context.timeInc(1);
    bench.clk = !bench.clk;
  }}
  bench.final();
  return 0;
}}
"""

README = f"""\
{TOP}.v         the graph: a module per primitive and channel, and {TOP}
{MEMORY_MODULE}.v        a memory that is read without delay
{BLOCK_MODULE}.v  a memory that is read in the middle of a clock cycle
*.hex                    what primitives read, and (.expected.hex) should write
{BENCH}.v         the test bench: runs the graph and compares what it writes
{CLOCKED}.v its clock, for simulators of events
main.cpp                 its clock, for Verilator

With Icarus Verilog:

    iverilog -g2005 -o bench.vvp {TOP}.v {MEMORY_MODULE}.v {BLOCK_MODULE}.v {BENCH}.v {CLOCKED}.v
    vvp -n bench.vvp

With Verilator:

    verilator --cc --exe --build -Wno-fatal --top-module {BENCH} --Mdir build \\
        {TOP}.v {MEMORY_MODULE}.v {BLOCK_MODULE}.v {BENCH}.v main.cpp
    build/V{BENCH}

The last line is PASS or FAIL and the clock cycles; before it, the final clock of every node, and
every word that is written.

With Yosys, what it takes of an FPGA, with these contents of the memories:

    yosys -p "read_verilog {TOP}.v; read_verilog -defer {MEMORY_MODULE}.v {BLOCK_MODULE}.v; \\
        synth_xilinx -flatten -noiopad -noclkbuf -top {TOP}; stat"
"""
RELATIVE = 2e-5
"""How far a value may be from the expected one, relative: units of special functions and the
simulator round differently."""
OF_LARGEST = 1e-6
"""The same by the largest value of its array: sums of what is rounded otherwise may be nearly 0."""
ABSOLUTE = 1e-30
"""The same, absolute."""
MOST_CONVERTED = 512
"""Modules whose texts are kept, some tens of kB each."""


@dataclass(frozen=True)
class VerilogProject:
    """The files of a design.

    Attributes
    ----------
    files : mapping
        Text by name: the graph, the memory, the test bench, a ``.hex`` file per array that a node
        reads, and an ``.expected.hex`` file per array that one writes, if that is known.
    sources : tuple of str
        Names of the Verilog files of the test bench without a clock.
    """

    files: Mapping[str, str]
    sources: tuple[str, ...]

    def write(self, folder: Path) -> None:
        """Write all files into a folder, each whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            with replacing(folder / name) as file:
                file.write(text.encode())


def emit(
    graph: HardwareGraph,
    expected: Mapping[WrittenArray, Sequence[int]] | None = None,
    patience: int = 1000,
    runs: int = 1,
) -> VerilogProject:
    """The Verilog of a graph with its test bench.

    Parameters
    ----------
    graph : HardwareGraph
        The module of the graph.
    expected : mapping, optional
        The words that nodes write; arrays that are not there are not checked.
    patience : int
        Cycles without a token that moves after which the test bench says deadlock.
    runs : int
        Runs one after another, each after a reset; sources go on with their next stream.
    """
    expected = expected or {}
    files = {
        f"{TOP}.v": modules_text(graph),
        f"{MEMORY_MODULE}.v": MEMORY,
        f"{BLOCK_MODULE}.v": BLOCK_MEMORY,
        f"{BENCH}.v": _bench(graph, expected, patience, runs),
    }
    sources = tuple(files)
    files |= {f"{CLOCKED}.v": CLOCK, "main.cpp": DRIVER, "README": README}
    files |= {f"{image.name}.hex": image.text() for image in graph.images}
    for array, words in expected.items():
        if words:
            files[f"{array.port}.expected.hex"] = "".join(f"{word:08x}\n" for word in words)
    return VerilogProject(files, sources)


def modules_text(graph: HardwareGraph) -> str:
    """Verilog of a graph and of the modules that it is made of."""
    shared = "\n".join(_shared_rtlil(name, module) for name, module in graph.library.items())
    made = f"{shared}\n{modules_rtlil({TOP: graph.top()})}"
    text: str = verilog._convert_rtlil_text(made, strip_internal_attrs=True)
    return text


def modules_rtlil(modules: Mapping[str, Any]) -> str:
    """Modules under these names, as the text that Yosys keeps designs in (RTLIL)."""
    return "\n".join(
        rtlil.convert(module, name=name, emit_src=False) for name, module in modules.items()
    )


def _shared_rtlil(name: str, module: HardwareModule) -> str:
    """A module of a library; one that was made with the same arguments is converted once."""
    key = (module.configuration, repr(module.configuration))  # as 1 equals True and 1.0
    text = _CONVERTED.get(key)
    if text is None:
        text = rtlil.convert(module, name=_PLACEHOLDER, emit_src=False)
        if len(_CONVERTED) >= MOST_CONVERTED:
            _CONVERTED.pop(next(iter(_CONVERTED)))
        _CONVERTED[key] = text
    return text.replace(_PLACEHOLDER, name)


_PLACEHOLDER = "fuseloom_module_without_a_name"
_CONVERTED: dict[tuple[Any, str], str] = {}
"""Texts of modules by the arguments that they were made with."""


def _bench(
    graph: HardwareGraph,
    expected: Mapping[WrittenArray, Sequence[int]],
    patience: int,
    runs: int,
) -> str:
    wires, checks, totals, resets = [], [], [], []
    connections = [".clk(clk)", ".rst(rst)", ".done(done)", ".fault(fault)", ".active(active)"]
    for array in graph.written:
        port = array.port
        wires.append(f"  wire {port}_valid;\n  wire [31:0] {port}_word;")
        connections += [f".{port}_{part}({port}_{part})" for part in ("valid", "word")]
        show = f'$display("word {port} %h", {port}_word);'
        if array not in expected:
            checks.append(f"    if ({port}_valid) {show}")
            continue
        count = len(expected[array])
        resets.append(f"    {port}_count = 0;")
        wires.append(f"  integer {port}_count = 0;")
        compared = "1"
        if count:
            wires.append(
                f"  reg [31:0] {port}_expected [0:{count - 1}];\n"
                f'  initial $readmemh("{port}.expected.hex", {port}_expected);'
            )
            value = f"{port}_expected[{port}_count]"
            equal = f"{port}_word == {value}"
            if array.name == "vals":
                equal = f"close({port}_word, {value}, {_absolute(expected[array])!r})"
            compared = f"{port}_count >= {count} || !({equal})"
        checks.append(
            f"    if ({port}_valid) begin\n      {show}\n"
            f"      if ({compared}) begin\n        wrong = wrong + 1;\n"
            f'        $display("wrong {port} %0d %h", {port}_count, {port}_word);\n      end\n'
            f"      {port}_count = {port}_count + 1;\n    end"
        )
        totals.append(
            f"      if ({port}_count != {count}) begin\n        wrong = wrong + 1;\n"
            f'        $display("wrong {port}: %0d words, expected {count}", {port}_count);\n'
            f"      end"
        )
    return _BENCH.format(
        top=TOP,
        bench=BENCH,
        last=len(graph.units) - 1,
        wires="\n".join(wires),
        connections=", ".join(connections),
        tolerance=RELATIVE,
        checks="\n".join(checks),
        totals="\n".join(totals),
        resets="\n".join(resets),
        patience=patience,
        runs=runs,
    )


def _absolute(words: Sequence[int]) -> float:
    """The difference that values may have from expected ones, by the largest of these."""
    values = np.array(words, np.uint32).view(np.float32).astype(float)
    return ABSOLUTE + OF_LARGEST * float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
