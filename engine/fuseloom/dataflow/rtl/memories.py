"""Memories of a graph as hardware: their contents, their Verilog, and what they take of an FPGA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuseloom.errors import GraphError

MEMORY_MODULE = "fuseloom_memory"
"""The Verilog module of memories that are read without delay."""
BLOCK_MODULE = "fuseloom_block_memory"
"""The Verilog module of memories that take their address at the falling edge of the clock."""
HALF_SHAPES = ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))
"""Widths and depths of a block memory of 18 kilobits, which is half of one of 36."""
LUT_WORDS = 64
"""Words of one bit that a LUT holds."""

_WORDS = "reg [WIDTH-1:0] words [0:DEPTH-1];\n  initial $readmemh(FILE, words);"
_READ = f"""\
  {_WORDS}
  assign word = words[address];
"""
BLOCK_BODY = f"""\
  (* rom_style = "block" *) {_WORDS}
  reg [WIDTH-1:0] last;
  always @(negedge clk) last <= words[address];
  assign word = last;
"""
"""The inside of a block memory."""


def memory_module(name: str, body: str = "", attribute: str = "") -> str:
    """The Verilog of a memory: its ports, with a clock if it is a block memory, and what it does.

    Parameters
    ----------
    name : str
        :data:`MEMORY_MODULE` or :data:`BLOCK_MODULE`.
    body : str
        The inside; a module without one is a black box.
    attribute : str
        Attribute of the module.
    """
    clock = "  input clk,\n" if name == BLOCK_MODULE else ""
    return f"""\
{f"(* {attribute} *)" if attribute else ""}
module {name} #(
  parameter FILE = "",
  parameter DEPTH = 1,
  parameter WIDTH = 32,
  parameter ADDRESS = 1
) (
{clock}  input [ADDRESS-1:0] address,
  output [WIDTH-1:0] word
);
{body}endmodule
""".lstrip()


MEMORY = f"""\
// A memory that is read without delay; its contents come from a file.
{memory_module(MEMORY_MODULE, _READ)}"""
BLOCK_MEMORY = f"""\
// A block memory: it takes its address at the falling edge of the clock, so that the word is there
// in the same cycle. Its contents come from a file.
{memory_module(BLOCK_MODULE, BLOCK_BODY)}"""


@dataclass(frozen=True)
class MemoryImage:
    """The contents of a memory that a node reads: words in hexadecimal, one a line.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    words : tuple of int
        The contents.
    width : int
        Bits of a word.
    chained : bool
        Whether it is read without delay.
    """

    name: str
    words: tuple[int, ...]
    width: int
    chained: bool = False

    @property
    def bits(self) -> int:
        return len(self.words) * self.width

    def text(self) -> str:
        """The file."""
        digits = -(-self.width // 4)
        return "".join(f"{word:0{digits}x}\n" for word in self.words or (0,))

    @property
    def block_rams(self) -> float:
        """Block memories of 36 kilobits that it takes; 0 where it is read without delay."""
        return 0.0 if self.chained else block_memories(len(self.words), self.width)

    @property
    def luts(self) -> int:
        """LUTs that it takes as a memory of LUTs; 0 where it is in block memories."""
        return self.width * -(-len(self.words) // LUT_WORDS) if self.chained else 0


def block_memories(words: int, width: int) -> float:
    """Block memories of 36 kilobits for so many words of that many bits, in halves.

    The words are cut into pieces of one of the shapes of a block memory of 18 kilobits, the one of
    which the fewest are needed.  A single word is a constant.

    Examples
    --------
    >>> block_memories(512, 32), block_memories(1024, 32), block_memories(1025, 32)
    (0.5, 1.0, 1.5)
    """
    if words <= 1:  # none, or a constant
        return 0.0
    return min(-(-width // wide) * -(-words // deep) for wide, deep in HALF_SHAPES) / 2


def check_block_memories(where: str, needed: Mapping[str, float], available: float) -> None:
    """Check that memories find room in the block memories of a device.

    Parameters
    ----------
    where : str
        What they belong to.
    needed : mapping of str to float
        Block memories of 36 kilobits that each takes.
    available : float
        Those of the device.

    Raises
    ------
    GraphError
        If there are too few, naming the largest memory and a way out.
    """
    total = sum(needed.values())
    if total <= available:
        return
    largest = max(needed, key=lambda name: needed[name])
    raise GraphError(
        f"{where} needs {total:,g} block memories of 36 kbit, and the device has {available:,g}; "
        f"the largest array, {largest}, takes {needed[largest]:,g}",
        hint="a device with more block memories, smaller data, or a schedule with fewer tensors in "
        "a region",
    )
