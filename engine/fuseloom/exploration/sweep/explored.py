"""The results of a sweep: a row per configuration, for people, for pandas, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from fuseloom.display.shows import Shows
from fuseloom.exploration.store import Outcome, State
from fuseloom.results.declarations import Amount, Count, Hash, Record
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, described

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 20
"""Rows of a table for people."""
_LONGEST = 60
_FIGURES = {"cycles": "Int64", "estimated": "Float64", "flops": "Float64", "bytes": "Float64",
            "seconds": "Float64", "ok": "boolean"}  # fmt: skip


@dataclass
class ExploredRow(Record):
    """A configuration and what came of it.

    Attributes
    ----------
    values : mapping of str to str
        Its value of every axis.
    key : str or None
        Of its run in the store; None where there is no program to run.
    schedule : str
        With every region and order named, where it could be compiled.
    state : State or None
        How its run stands; None if it was neither estimated nor begun.
    reason : str
        Why it has no result, or what is wrong with that.
    estimated, cycles : float or None
        Expected and simulated clock cycles.
    flops, bytes : float or None
        Of a run that was done.
    seconds : float or None
        Wall time of the run.
    ok : bool or None
        Whether its results were right, as far as they were compared.
    """

    values: Mapping[str, str]
    key: Hash | None = None
    schedule: str = ""
    state: State | None = None
    reason: str = ""
    estimated: Amount | None = None
    cycles: Count | None = None
    flops: Amount | None = None
    bytes: Amount | None = None
    seconds: Amount | None = None
    ok: bool | None = None

    def take(self, outcome: Outcome) -> None:
        """Take over how its run came out."""
        self.state, self.reason, self.seconds = outcome.state, outcome.reason, outcome.seconds
        record = outcome.record
        if record is not None:
            self.cycles, self.flops, self.bytes = record.cycles, record.flops, record.bytes
            self.seconds = record.seconds
            self.ok = None if record.check is None else record.check.ok

    @property
    def figure(self) -> float:
        """Cycles, those of the run before those of the estimate; infinite where none are known."""
        known = self.cycles if self.cycles is not None else self.estimated
        return float("inf") if known is None else known


class ExploredData(TypedDict):
    """A sweep as plain data."""

    axes: Annotated[Mapping[str, Sequence[str]], "What was varied: the values of every axis."]
    complete: Annotated[
        bool,
        "Whether these are all configurations of the space, and none is still under way elsewhere.",
    ]
    store: Annotated[str, "The file that the runs are kept in."]
    new: Annotated[
        Mapping[str, Count],
        "Runs that were estimated or done now, by how they stand; the others were there.",
    ]
    configurations: Annotated[Sequence[ExploredRow], "In the order of the space."]


@dataclass(frozen=True)
class Explored(Shows, html="fuseloom.exploration.sweep.display:explored_html"):
    """The rows of a sweep, in the order of its space.

    Attributes
    ----------
    axes : mapping of str to sequence of str
        What was varied.
    complete : bool
        Whether these are all configurations of the space, and each has what was asked for.
    new : mapping of str to int
        Runs that were estimated or done now, by how they stand; the others were there.
    store : Path
        Where the runs are.
    """

    axes: Mapping[str, Sequence[str]]
    rows: tuple[ExploredRow, ...] = field(repr=False)
    complete: bool
    new: Mapping[str, int]
    store: Path

    def __repr__(self) -> str:
        return described(
            self,
            f"{counted(len(self.rows), 'configuration')} of "
            f"{', '.join(self.axes) or 'no axis'}{'' if self.complete else ', not complete'}",
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ExploredRow]:
        return iter(self.rows)

    @property
    def best(self) -> ExploredRow | None:
        """The row with the fewest cycles, simulated ones before estimated ones."""
        done = [r for r in self.rows if r.cycles is not None and r.ok is not False]
        known = done or [r for r in self.rows if r.estimated is not None and r.cycles is None]
        return min(known, key=lambda row: row.figure, default=None)

    @property
    def ok(self) -> bool:
        """True if no result is known to be wrong."""
        return all(row.ok is not False for row in self.rows)

    @property
    def ranked(self) -> list[ExploredRow]:
        """The rows with the fewest cycles first, those without any last."""
        return sorted(self.rows, key=lambda row: row.figure)

    @property
    def frame(self) -> pd.DataFrame:
        """A table for pandas: a column per axis, then figures; missing ones are NA."""
        import pandas as pd

        rows = [row.to_dict() for row in self.rows]
        columns: dict[str, Any] = {
            name: pd.array([row["values"][name] for row in rows], dtype="string")
            for name in self.axes
        }
        for name in ("state", "cycles", "estimated", "flops", "bytes", "seconds", "ok", "reason",
                     "schedule", "key"):  # fmt: skip
            kind = _FIGURES.get(name, "string")
            columns[name] = pd.array([row[name] for row in rows], dtype=kind)
        return pd.DataFrame(columns)

    def to_dict(self) -> ExploredData:
        """Plain data."""
        return {
            "axes": {name: list(values) for name, values in self.axes.items()},
            "complete": self.complete,
            "store": str(self.store),
            "new": dict(self.new),
            "configurations": [row.to_dict() for row in self.rows],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, shown: int = SHOWN) -> list[str]:
        """A table of the rows with the fewest cycles."""
        rows = self.ranked[:shown]
        columns = [
            *(TextColumn(name, len(name), Align.LEFT) for name in self.axes),
            TextColumn("estimated", 14), TextColumn("cycles", 14), TextColumn("bytes", 14),
            TextColumn("state", 10, Align.LEFT), TextColumn("", 0, Align.LEFT),
        ]  # fmt: skip
        lines = text_table(columns, [self._cells(row) for row in rows])
        if len(self.rows) > len(rows):
            lines.append(f"showing {len(rows):,} of {counted(len(self.rows), 'configuration')}")
        return lines

    def _cells(self, row: ExploredRow) -> list[str]:
        about = row.reason
        return [
            *(_short(row.values[name]) for name in self.axes),
            "" if row.estimated is None else f"{row.estimated:,.0f}",
            "" if row.cycles is None else f"{row.cycles:,}",
            "" if row.bytes is None else f"{row.bytes:,.0f}",
            "" if row.state is None else row.state.value,
            _short(about),
        ]


def _short(text: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
