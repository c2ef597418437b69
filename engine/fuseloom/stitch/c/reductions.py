"""Reductions in C: variables that many values are combined in, and the order of loops for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuseloom.stitch.c.scalars import C_TYPES, computing_element
from fuseloom.stitch.phase_values import (
    ElementLoad,
    ElementResult,
    KernelPhase,
    PhaseValue,
)

_SIGNS: Mapping[str, str] = {"add": "+", "multiply": "*", "and": "&", "or": "|", "xor": "^"}
_OF_TRUTH: Mapping[str, str] = {
    "add": "or", "multiply": "and", "maximum": "or", "minimum": "and",
}  # fmt: skip
LEAST_ROW = 4
"""Elements of a row whose sums are made at once."""
TILE_ROWS = (8, 4, 2, 1)
TILE_WIDTHS = {"f32": (32, 16), "f64": (16, 8)}
"""Extents of parts of products whose sums are kept in registers, the best first; processors with
fewer registers divide them further."""


class KernelAccumulator:
    """A variable of C that the values of a phase are combined in.

    Parameters
    ----------
    phase : KernelPhase
        With a reduction.
    name : str
    """

    def __init__(self, phase: KernelPhase, name: str) -> None:
        assert phase.reduction is not None
        element = phase.operation.array.element
        own = computing_element(element)
        opcode = phase.reduction.opcode
        self.name = name
        self.opcode = _OF_TRUTH.get(opcode, opcode) if element == "pred" else opcode
        self.element = own
        self.is_float = own in ("f32", "f64")
        wraps = own[0] == "s" and self.opcode in ("add", "multiply")
        self.value_kind = C_TYPES[own]
        self.kind = f"u{self.value_kind}" if wraps else self.value_kind
        self.is_extreme = self.opcode in ("maximum", "minimum")

    @property
    def pragma(self) -> str:
        """The line before the innermost loop, which lets the compiler combine in vectors."""
        if self.is_extreme:
            short = "max" if self.opcode == "maximum" else "min"
            missing = " reduction(|:missing)" if self.is_float else ""
            return f"#pragma omp simd reduction({short}:{self.name}){missing}"
        return f"#pragma omp simd reduction({_SIGNS[self.opcode]}:{self.name})"

    @property
    def result(self) -> str:
        """The value in the end."""
        return f"({self.value_kind}){self.name}" if self.kind != self.value_kind else self.name

    @property
    def neutral(self) -> str:
        """A value that changes none; empty if the start may be combined any number of times."""
        return {"add": "0", "xor": "0", "multiply": "1"}.get(self.opcode, "")

    def begin(self, start: str) -> list[str]:
        """Lines before the loops."""
        made = [f"{self.kind} {self.name} = {start or '0'};"]
        if self.is_extreme and self.is_float:
            made.append(f"int missing = {self.name} != {self.name};")
        return made

    def combine(self, value: str) -> list[str]:
        """Lines that combine a value with those before it, in any order."""
        if not self.is_extreme:
            return [f"{self.name} {_SIGNS[self.opcode]}= {value};"]
        sign = ">" if self.opcode == "maximum" else "<"
        made = [f"{self.name} = {value} {sign} {self.name} ? {value} : {self.name};"]
        return [f"missing |= {value} != {value};", *made] if self.is_float else made

    def end(self) -> list[str]:
        """Lines behind the loops."""
        if self.is_extreme and self.is_float:
            return [f"{self.name} = missing ? NAN : {self.name};"]
        return []

    def in_place(self, value: str) -> str:
        """The line that combines a value with those before it, where it is an element of many."""
        if self.is_extreme:
            return f"{self.name} = {self.opcode}_{self.element}({self.name}, {value});"
        return f"{self.name} {_SIGNS[self.opcode]}= {value};"


def reduces_rows(phase: KernelPhase) -> bool:
    """Tell if the elements of a row are best combined at once, so that rows are read in order.

    They are if fewer arrays would be read in steps than if elements are combined one by one.
    """
    assert phase.reduction is not None
    loops = [loop for loop in phase.loops if loop.extent > 1]
    if not loops or phase.loops[-1].extent < LEAST_ROW or not phase.reduction.loops:
        return False
    row, last = phase.loops[-1].name, phase.reduction.loops[-1].name
    reads = [value.at for value in phase.values if isinstance(value, ElementLoad)]
    in_rows = sum(at.factor(row) not in (0, 1) for at in reads)
    one_by_one = sum(at.factor(last) not in (0, 1) for at in reads)
    return in_rows < one_by_one


@dataclass(frozen=True)
class ProductTile:
    """A part of a product whose sums are kept in registers.

    Attributes
    ----------
    rows : int
        Its largest extent along the loop before the last.
    width : int
        That along the last.
    factor : PhaseValue
        What each row is multiplied with: a number for each row.
    line : ElementLoad
        A line of elements that lie side by side, the same for all rows.
    """

    rows: int
    width: int
    factor: PhaseValue
    line: ElementLoad


def product_tile(phase: KernelPhase) -> ProductTile | None:
    """Find the tiles of a dot that reads lines of one operand; None if it is no such dot."""
    element = phase.operation.array.element
    product = phase.value
    if (
        phase.operation.opcode != "dot"
        or element not in TILE_WIDTHS
        or len(phase.loops) < 2
        or not isinstance(product, ElementResult)
    ):
        return None
    row, last = phase.loops[-2:]
    rows = next(n for n in TILE_ROWS if row.extent % n == 0)
    width = next((n for n in TILE_WIDTHS[element] if last.extent % n == 0), 0)
    if not width or any(store.at.factor(last.name) != 1 for store in phase.stores):
        return None
    one, other = product.operands
    for factor, line in ((one, other), (other, one)):
        if (
            isinstance(line, ElementLoad)
            and line.element == element
            and line.at.factor(last.name) == 1
            and row.name not in line.names
            and last.name not in factor.names
            and all(
                last.name not in value.names for value in phase.values
                if value is not line and value is not product
            )
        ):  # fmt: skip
            return ProductTile(rows, width, factor, line)
    return None
