"""Bits as wires: which is the lowest that is set."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Signal

from fuseloom.dataflow.rtl.tokens import any_of


def lowest(m: Module, bits: Any) -> Any:
    """The position of the lowest bit that is set; 0 where none is."""
    alone = Signal(len(bits))
    m.d.comb += alone.eq(bits & (~bits + 1))
    width = max(1, (len(bits) - 1).bit_length())
    return Cat(
        any_of([alone[k] for k in range(len(bits)) if k >> digit & 1]) for digit in range(width)
    )
