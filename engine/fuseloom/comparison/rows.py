"""The rows of a comparison: one for each system, and for each scheme of fusion inside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from fuseloom.errors import FuseloomError
from fuseloom.results.declarations import LARGEST, Amount, Count, Record
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, described, duration, grouped

TOLERANCE = 1e-4
"""The largest error of a right result, relative to the largest value of the reference: float32."""


class FusionSystem(Enum):
    """A system that fuses a program for its own machine."""

    DATAFLOW = "dataflow"  # streaming dataflow graphs, simulated
    CONTRACTION = "contraction"  # loop nests of sparse products, on this processor
    ACCESS = "access"  # access patterns on a systolic array, whose cycles are predicted
    CALLS = "calls"  # calls of libraries tile by tile, on this processor
    STITCH = "stitch"  # dense kernels of many operations, on this processor


@dataclass(frozen=True)
class ComparisonRow(Record):
    """A program by one scheme of one system.

    What does not apply, or is not known, is None.  Simulated cycles, predictions and times by the
    clock are different things, and never in one column.

    Attributes
    ----------
    system : FusionSystem
    way : str
        The scheme of fusion, such as ``unfused`` or the name of a preset.
    applies : bool
        Whether the system takes this program on these data.
    reason : str
        The rule and the place why it does not, or what its kernels leave to others.
    kernels : int, optional
        Regions, loop nests, calls or kernels that run one after another.
    bytes_between : int, optional
        Bytes of intermediates that memory holds between kernels.
    recompute : float, optional
        Arithmetic, over that of the same system without fusion.
    flops : int or float, optional
        Arithmetic operations.
    simulated_cycles : int, optional
        Cycles of the simulated dataflow machine.
    predicted : int or float, optional
        What a model of costs expects.
    predicted_unit : str, optional
        ``cycles`` of the machine that is predicted, or ``s``.
    measured_seconds : float, optional
        By the clock, on this processor; None of a result that is wrong.
    energy : float, optional
        Joules of a simulated run.
    max_rel_error : float, optional
        The largest error against the reference, over the largest value of it; the largest float
        where something is infinite or no number that is to be one.
    command : str, optional
        The command that gives this row.
    """

    system: FusionSystem
    way: str
    applies: bool
    reason: str = ""
    kernels: Count | None = None
    bytes_between: Count | None = None
    recompute: Amount | None = None
    flops: Amount | None = None
    simulated_cycles: Count | None = None
    predicted: Amount | None = None
    predicted_unit: Literal["cycles", "s"] | None = None
    measured_seconds: Amount | None = None
    energy: Amount | None = None
    max_rel_error: Amount | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        if self.max_rel_error is not None and not self.max_rel_error <= LARGEST:
            object.__setattr__(self, "max_rel_error", LARGEST)  # JSON knows no infinity
        if not self.is_right:
            object.__setattr__(self, "measured_seconds", None)

    def __repr__(self) -> str:
        return described(self, f"{self.system.value}, {self.way}")

    @property
    def is_right(self) -> bool:
        """False if a result was compared and differs from the reference by more than rounding."""
        return self.max_rel_error is None or self.max_rel_error <= TOLERANCE


def refused_rows(
    system: FusionSystem, ways: Iterable[str], refusal: FuseloomError
) -> Iterator[ComparisonRow]:
    """Return rows that do not apply, with the rule that is broken and the line that breaks it.

    Examples
    --------
    >>> from fuseloom.errors import ProgramError
    >>> [row] = refused_rows(FusionSystem.CALLS, ["tuned"], ProgramError("no calls", line=3))
    >>> row.applies, row.reason
    (False, 'no calls (line 3)')
    """
    for way in ways:
        yield ComparisonRow(system, way, applies=False, reason=reason_of(refusal))


def reason_of(refusal: FuseloomError) -> str:
    """Return the rule that is broken, and the line that breaks it."""
    place = "" if refusal.line is None else f" (line {refusal.line})"
    return f"{refusal.message}{place}"


@dataclass(frozen=True)
class Comparison(Record):
    """A program by every system.

    Attributes
    ----------
    name : str
        Of the program.
    data : str
        The data's label.
    rows : tuple of ComparisonRow
    """

    name: str
    data: str
    rows: tuple[ComparisonRow, ...]

    def __repr__(self) -> str:
        return described(self, f"of {self.name}: {counted(len(self.rows), 'row')}")

    def __str__(self) -> str:
        return "\n".join(text_table(_COLUMNS, [_cells(row) for row in self.rows]))

    @property
    def ok(self) -> bool:
        """True if every result that was compared is right."""
        return all(row.is_right for row in self.rows)

    def of(self, system: FusionSystem | str) -> tuple[ComparisonRow, ...]:
        """Return the rows of one system."""
        return tuple(row for row in self.rows if row.system is FusionSystem(system))


_COLUMNS = (
    TextColumn("system", align=Align.LEFT), TextColumn("way", align=Align.LEFT),
    TextColumn("kernels"), TextColumn("between, bytes"), TextColumn("recompute"),
    TextColumn("FLOPs"), TextColumn("simulated, cycles"), TextColumn("predicted"),
    TextColumn("measured"), TextColumn("largest error"), TextColumn("", align=Align.LEFT),
)  # fmt: skip


def _cells(row: ComparisonRow) -> tuple[str, ...]:
    return (
        row.system.value, row.way,
        *(grouped(x) if x is not None else "" for x in (row.kernels, row.bytes_between)),
        "" if row.recompute is None else f"{row.recompute:.2f}",
        *(grouped(x) if x is not None else "" for x in (row.flops, row.simulated_cycles)),
        _predicted(row), "" if row.measured_seconds is None else duration(row.measured_seconds),
        "" if row.max_rel_error is None else f"{row.max_rel_error:.1e}",
        ("" if row.applies else "does not apply: ") + row.reason,
    )  # fmt: skip


def _predicted(row: ComparisonRow) -> str:
    if row.predicted is None:
        return ""
    if row.predicted_unit == "s":
        return duration(row.predicted)
    return counted(round(row.predicted), "cycle")
