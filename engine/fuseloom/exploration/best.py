"""The best schedule of a model, beside its presets: found, proved and compared in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, TypedDict, runtime_checkable

from fuseloom.arguments import ArgumentError, check_arguments, kind_of
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.display.shows import Shows
from fuseloom.exploration.autoschedule import GAP, Autoscheduled, AutoscheduledData, autoschedule
from fuseloom.exploration.rivals import PresetCost
from fuseloom.exploration.search import Progress
from fuseloom.program import Program, StoredTensor
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, described, grouped

TIME_LIMIT = 30.0
"""Seconds of a search by default."""


@runtime_checkable
class ModelWithData(Protocol):
    """A program with data and presets: an imported module, or a model from a file."""

    @property
    def program(self) -> Program: ...
    @property
    def data(self) -> Mapping[str, StoredTensor]: ...
    @property
    def presets(self) -> Mapping[str, str]: ...


class BestScheduleData(TypedDict):
    """A :class:`BestSchedule` as plain data."""

    best: Annotated[AutoscheduledData, "What the search found."]
    presets: Annotated[list[PresetCost], "From least to most fused."]


@dataclass(frozen=True)
class BestSchedule(Shows, html="fuseloom.exploration.display:best_html"):
    """The best schedule that was found for a model, and its presets.

    Attributes
    ----------
    found : Autoscheduled
        Result of the search: its run, certificate, reasons.
    compilation : Compilation
        The model under that schedule.
    """

    found: Autoscheduled
    compilation: Compilation = field(repr=False)

    @property
    def presets(self) -> tuple[PresetCost, ...]:
        """Estimated costs of the presets, from least to most fused."""
        return self.found.presets

    @property
    def schedule(self) -> str:
        """Its text: ``fl.compile(program, schedule)`` gives it again."""
        return self.found.schedule

    @property
    def cycles(self) -> int:
        """Clock cycles of its run."""
        return self.found.cycles

    def __repr__(self) -> str:
        return described(self, f"{counted(self.cycles, 'cycle')}, {self.found.certificate.verdict}")

    def __str__(self) -> str:
        rows = [_row(preset, self.cycles) for preset in self.presets]
        run = self.found.run
        costs = (run.cycles, run.work.bytes, run.work.flops)
        regions = len(self.compilation.regions)
        rows.append(("best", f"{regions:,}", *(grouped(n) for n in costs), "1.00", "simulated"))
        return "\n".join(
            [
                *self.schedule.split("; "),
                "",
                f"{counted(self.cycles, 'cycle')}, simulated; {self.found.certificate.verdict}",
                "",
                *text_table(_COLUMNS, rows),
            ]
        )

    def to_dict(self) -> BestScheduleData:
        """Plain data."""
        return {"best": self.found.to_dict(), "presets": [p.to_dict() for p in self.presets]}


_COLUMNS = (
    TextColumn("schedule", align=Align.LEFT),
    TextColumn("regions"),
    TextColumn("cycles"),
    TextColumn("bytes"),
    TextColumn("FLOPs"),
    TextColumn("times the best"),
    TextColumn("", align=Align.LEFT),
)


def _row(preset: PresetCost, best: float) -> tuple[str, ...]:
    if preset.cycles is None:
        return (preset.name, "", "", "", "", "", preset.reason)
    costs = (preset.regions, preset.cycles, preset.bytes, preset.flops)
    times = f"{preset.cycles / best:,.2f}" if best else ""
    return (preset.name, *(grouped(n or 0) for n in costs), times, "estimated")


@check_arguments
def best(
    model: Any,
    *,
    machine: Machine | None = None,
    time_limit: float = TIME_LIMIT,
    gap: float = GAP,
    lanes: int = 1,
    copies: int = 0,
    stores: int = 0,
    nonzero: bool = True,
    progress: Progress | None = None,
) -> BestSchedule:
    """Find the best schedule of a model, with a proof, and compare its presets with it.

    The search is that of :func:`fuseloom.autoschedule`, with the model's presets as its first cuts.

    Parameters
    ----------
    model : ModelWithData
        An imported module, or a model from a file.
    machine : Machine, optional
    time_limit : float
        Seconds of the search; then the presets are estimated, which takes some more.
    gap : float
        The search ends when no schedule can be better by more than this share.
    lanes, copies, stores : int
        Lanes of a region, inputs it may read in another mode order, too, and tensors between
        regions that may be stored dense, at most.
    nonzero : bool
        Whether results may leave out their zeros, such as those of a relu, where the estimate says
        that it saves cycles.
    progress : callable, optional
        Told how far the search is; it is cancelled when that returns False.

    Raises
    ------
    FuseloomError
        If no schedule fits the budget, or a value is out of bounds.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from fuseloom.results.archive import ModelArchive
    >>> gcn, data = fl.load("gcn", "karate")
    >>> found = fl.best(ModelArchive(gcn.program, data, gcn.presets), time_limit=5)
    >>> found.cycles == fl.simulate(found.compilation, data).cycles
    True
    >>> [preset.name for preset in found.presets]
    ['unfused', 'C+S', 'partial', 'full']
    """
    if not isinstance(model, ModelWithData):
        raise ArgumentError(
            f"best takes a model with data, not {kind_of(model)}",
            hint="fl.from_torch(module, inputs) gives one, and fl.read_model(file); for a program, "
            "fl.autoschedule(program, data)",
        )
    found = autoschedule(
        model.program,
        model.data,
        machine=machine,
        presets=model.presets,
        lanes=lanes,
        copies=copies,
        stores=stores,
        nonzero=nonzero,
        gap=gap,
        time_limit=time_limit,
        progress=progress,
    )
    return BestSchedule(found, compile_program(model.program, found.schedule))
