"""The documents that commands print with ``--json``; schemas and types are made of them.

Runs have a record of their own (:mod:`fuseloom.results.record`), and so has what is printed of one
thing: it is declared beside that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from fuseloom.cli.region_documents import CompiledRegionData
from fuseloom.contraction.solution import SolutionData
from fuseloom.dataflow.cost.on_chip import OnChip
from fuseloom.dataflow.cost.why import Provenance
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.energy_provider import ModelledEnergy
from fuseloom.dataflow.sim.conformance.conform import Replayed
from fuseloom.dataflow.what_if import Variant
from fuseloom.experiments.claims import Claim
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.totals import KindTotal
from fuseloom.exploration.autoschedule import AutoscheduledData
from fuseloom.exploration.designs import CodesignData
from fuseloom.exploration.store.runs import StoredRun
from fuseloom.exploration.sweep.explored import ExploredData
from fuseloom.models.parameters import ParameterData
from fuseloom.results.area import AreaUse
from fuseloom.results.declarations import Amount, Count, Positive
from fuseloom.results.energy import EnergyUse
from fuseloom.results.record import DataSource


class EstimatedRegion(TypedDict):
    """Expected figures of a region."""

    name: Annotated[str, "Name of the region."]
    cycles: Annotated[Amount, "Expected clock cycles."]
    flops: Annotated[Amount, "Arithmetic operations on values, accumulations included."]
    bytes: Annotated[Amount, "Bytes moved to and from memory."]
    mode: Annotated[
        Literal["exact", "sampled", "metadata"],
        "What the figures rest on: the graph executed on coordinates, on some coordinates of "
        "its outermost indices, or statistics.",
    ]
    least: Annotated[
        Amount | None,
        "Cycles that no run takes fewer than; null where the region is not executed whole.",
    ]
    low: Annotated[Amount, "Cycles that a run takes no fewer than, nineteen times out of twenty."]
    high: Annotated[Amount, "Cycles that a run takes no more than, nineteen times out of twenty."]
    on_chip: Annotated[OnChip, "Bytes on chip."]
    energy: Annotated[EnergyUse, "Expected energy, J, by kind of action."]
    area: Annotated[
        AreaUse | None,
        "What its hardware takes on any data; null unless --area is given.",
    ]


class LevelStatisticsData(TypedDict):
    """Figures of one level."""

    size: Annotated[Count, "Coordinates a fiber can have."]
    fibers: Annotated[Count, "Fibers."]
    positions: Annotated[Count, "Coordinates stored in all fibers."]
    mean: Annotated[Amount, "Mean coordinates per fiber."]
    second_moment: Annotated[Amount, "Mean of the squared coordinates per fiber."]
    longest: Annotated[Count, "Most coordinates of a fiber."]
    empty: Annotated[Count, "Fibers without coordinates."]


class EstimateDocument(TypedDict):
    """The document of ``fuseloom estimate --json``."""

    name: Annotated[str, "Name of the program."]
    cycles: Annotated[Amount, "Expected clock cycles of all regions, one after another."]
    flops: Annotated[Amount, "Arithmetic operations on values, accumulations included."]
    bytes: Annotated[Amount, "Bytes moved to and from memory."]
    regions: Annotated[Sequence[EstimatedRegion], "Regions, in the order they run."]
    least: Annotated[
        Amount | None,
        "Cycles that no run takes fewer than; null where that is not known of a region.",
    ]
    low: Annotated[Amount, "Cycles that a run takes no fewer than, nineteen times out of twenty."]
    high: Annotated[Amount, "Cycles that a run takes no more than, nineteen times out of twenty."]
    energy: Annotated[EnergyUse, "Expected energy of all regions, J, by kind of action."]
    area: Annotated[AreaUse | None, "That of the largest region; null unless --area is given."]
    data: Annotated[DataSource | None, "The data set; null where the data are no data set."]
    statistics: Annotated[
        Mapping[str, Sequence[LevelStatisticsData]] | None,
        "Per input the statistics of its levels, outermost first; null unless --statistics is "
        "given.",
    ]
    explanation: Annotated[
        Sequence[Provenance] | None,
        "Where the numbers come from, of regions and tensors; null unless asked for.",
    ]


class WhatIfDocument(TypedDict):
    """The document of ``fuseloom what-if --json``."""

    name: Annotated[str, "Name of the program."]
    data: Annotated[DataSource | None, "The data set; null where the data are no data set."]
    base: Variant
    variants: Annotated[Sequence[Variant], "The changes that were asked for."]
    pareto: Annotated[
        Sequence[Variant] | None,
        "Channels that cost fewer cycles or fewer bytes than all others (--pareto), from the "
        "fewest bytes; null if not asked for.",
    ]


class RankedGraph(TypedDict):
    """Orders that give the same graph."""

    order: Annotated[Sequence[str], "One of them: index variables, outermost first."]
    orders: Annotated[Positive, "How many give this graph."]
    cycles: Annotated[Amount | None, "Expected clock cycles; null where no machine can realise it."]
    reason: Annotated[str | None, "Why no machine can realise it; null where it can."]
    chosen: Annotated[bool, "Whether the schedule chose it."]


class OrderedRegion(TypedDict):
    """Dataflow orders of a region."""

    name: Annotated[str, "Name of the region."]
    legal_orders: Annotated[
        Count | None,
        "Orders that keep every constraint; null where there are too many to be counted.",
    ]
    complete: Annotated[bool, "Whether every distinct graph is listed; --limit says how many are."]
    graphs: Annotated[Sequence[RankedGraph], "Distinct graphs, the cheapest first."]


class OrdersDocument(TypedDict):
    """The document of ``fuseloom explore --json``."""

    name: Annotated[str, "Name of the program."]
    data: Annotated[DataSource | None, "The data set; null where the data are no data set."]
    regions: Annotated[Sequence[OrderedRegion], "Regions, in the order they run."]


class CompilationDocument(TypedDict):
    """The document of ``fuseloom compile --json``."""

    name: Annotated[str, "Name of the program."]
    schedule: Annotated[str, "Text of the schedule; empty where every statement is alone."]
    data: Annotated[DataSource | None, "The data set; null where the data are no data set."]
    stored: Annotated[
        Mapping[str, str],
        "Tensors between regions that have dense levels, and their formats; those that are "
        "not named are compressed.",
    ]
    regions: Annotated[Sequence[CompiledRegionData], "Regions, in the order they run."]


class AutoscheduleDocument(AutoscheduledData):
    """The document of ``fuseloom autoschedule --json``."""

    name: Annotated[str, "Name of the program."]
    data: Annotated[DataSource | None, "The data set; null where the data are no data set."]


class CodesignDocument(CodesignData):
    """The document of ``fuseloom autoschedule --machine-space FILE --json``."""

    name: Annotated[str, "Name of the program."]
    data: Annotated[DataSource | None, "The data set; null where the data are no data set."]


class WhyDocument(TypedDict):
    """The document of ``fuseloom why --json``."""

    schedule: Annotated[str, "The schedule that was asked about."]
    answer: Annotated[str, "The rule, bound or rival that removed it."]
    best: Annotated[str, "The schedule that was found."]
    cycles: Annotated[Amount, "Clock cycles of the best one's run."]


class SweepDocument(ExploredData):
    """The document of ``fuseloom explore --vary ... --json``."""


class RunsDocument(TypedDict):
    """The document of ``fuseloom runs list|show --json``, and of ``fuseloom runs export``."""

    total: Annotated[Count, "Runs that there are, those beyond --limit among them."]
    runs: Annotated[Sequence[StoredRun], "Runs, the latest change first in lists."]


class UpkeepDocument(TypedDict):
    """The document of ``fuseloom runs export|import|gc --json``."""

    action: Annotated[Literal["export", "import", "gc"], "What was done."]
    store: Annotated[str, "File of the run store."]
    file: Annotated[str | None, "File that was written or read; null for gc."]
    runs: Annotated[Count, "Runs that were written, added or thrown away (or would be: dry_run)."]
    skipped: Annotated[
        Count | None, "Runs that were there already and stay as they are; null unless imported."
    ]
    bytes: Annotated[Count | None, "Bytes that the runs took in the store, about; null unless gc."]
    dry_run: Annotated[bool, "Whether nothing was changed, as --dry-run asks."]


class SolverAnswer(TypedDict):
    """The answer of the solver under bounds."""

    bounds: Annotated[
        Mapping[str, Count], "Per intermediate, the most dimensions of its workspace."
    ]
    verdict: Annotated[
        Literal["sat", "unsat", "unknown"],
        "Whether there is a solution; unknown: no answer in time.",
    ]
    variables: Annotated[Count, "Variables of the system."]
    constraints: Annotated[Count, "Constraints of the system."]
    seconds: Annotated[Amount, "For building and solving it, s."]
    blockers: Annotated[
        Sequence[str],
        "Where there is none: constraints that together forbid one, none of which can be left out.",
    ]


class LoopNest(SolutionData):
    """One loop nest."""

    way: Annotated[Literal["fused", "unfused", "n-ary"], "How the contractions are put together."]
    first: Annotated[bool, "Whether the solver found it first."]
    nest: Annotated[str, "The loops, in concrete index notation."]
    predicted: Annotated[Amount, "Expected time, s."]
    products: Annotated[Amount, "Expected multiplications."]
    workspace: Annotated[Count, "Elements of all workspaces of this nest."]
    measured: Annotated[
        Amount | None,
        "Median time of its runs, s; null where it was not run, or its result is wrong.",
    ]
    max_rel_error: Annotated[
        Amount | None, "Largest relative difference from the reference; null where it was not run."
    ]


class ContractionDocument(TypedDict):
    """The document of ``fuseloom contract --json``."""

    contractions: Annotated[Sequence[str], "The tree, producers first."]
    extents: Annotated[Mapping[str, Positive], "Size of each index."]
    bound: Annotated[Count, "The least number of dimensions that suffices for every intermediate."]
    answers: Annotated[Sequence[SolverAnswer], "The solver's answers, by bound."]
    complete: Annotated[bool, "Whether these are all nests of the bounds looked at."]
    alike: Annotated[Count, "How many further solutions give one of these nests."]
    solutions: Annotated[
        Sequence[LoopNest],
        "Loop nests, best first: those that were run by their time, then the others by the "
        "expected one.",
    ]


class FigureEntry(TypedDict):
    """A table or figure."""

    id: Annotated[str, "As the command takes it."]
    title: Annotated[str, "What it is called."]
    text: Annotated[str, "What it shows, and where and why ours differs."]


class FiguresDocument(TypedDict):
    """The document of ``fuseloom figures --json``."""

    size: Annotated[ExperimentSize, "How large the experiments are."]
    mode: Annotated[AccountingMode, "Whose accounting: the published one, or this project's."]
    store: Annotated[str, "File of the run store."]
    engine: Annotated[str, "Version of the engine, with a hash of its sources."]
    seconds: Annotated[Amount, "Wall time of this command, s."]
    figures: Annotated[Sequence[FigureEntry], "The tables and figures, in the order of the paper."]
    totals: Annotated[Sequence[KindTotal], "The claims of each kind, counted."]
    claims: Annotated[Sequence[Claim], "Claims about one number each, with ours."]


class WrittenGraph(TypedDict):
    """A written graph."""

    region: Annotated[str, "Name of the region."]
    path: Annotated[str, "File or folder."]
    notes: Annotated[Sequence[str], "What the user of the file should know."]


class ExportDocument(TypedDict):
    """The document of ``fuseloom compile --export --json``."""

    format: Annotated[Literal["sam", "tortilla", "json"], "Which files were written."]
    written: Annotated[Sequence[WrittenGraph], "What was written, a graph per region."]


class ModelEntry(TypedDict):
    """A model."""

    name: Annotated[str, "Its name, as --model takes it."]
    about: Annotated[str, "What it computes."]
    presets: Annotated[Sequence[str], "Names of its schedules, as --preset takes them."]
    data: Annotated[
        Sequence[str],
        "Names of the data sets that fit it, as --data takes them; the first is its own.",
    ]
    parameters: Annotated[Sequence[ParameterData], "What can be chosen of it, as --with takes it."]


class ModelsDocument(TypedDict):
    """The document of ``fuseloom models --json``."""

    models: Annotated[Sequence[ModelEntry], "Ready-made models."]


class KernelArchive(TypedDict):
    """Compiled kernels as one file."""

    file: Annotated[str, "The archive."]
    sha256: Annotated[str, "Its SHA-256."]
    installed: Annotated[Sequence[str], "Kernels that were put into the cache (--import)."]
    outdated: Annotated[Sequence[str], "Kernels of other sources, left out (--import)."]


class WarmupDocument(TypedDict):
    """The document of ``fuseloom warmup --json``."""

    directory: Annotated[str, "Folder of the compiled kernels."]
    seconds: Annotated[Amount, "Wall time, in seconds."]
    archive: Annotated[KernelArchive | None, "The archive (--export, --import); null without one."]


class ConformanceDocument(TypedDict):
    """The document of ``fuseloom conform --json``."""

    passed: Annotated[Count, "Vectors that agree with the reference."]
    failed: Annotated[Count, "Vectors that do not."]
    failures: Annotated[Sequence[Replayed], "Those that do not."]
    not_implemented: Annotated[
        Mapping[str, Positive], "Vectors by what they need that is not implemented."
    ]


class CheckedThingData(TypedDict):
    """The result of a check."""

    group: Annotated[
        Literal[
            "Python",
            "libraries",
            "files",
            "C compiler",
            "Graphviz",
            "Verilog",
            "browser",
            "fonts",
            "extras",
        ],
        "What it belongs to.",
    ]
    name: Annotated[str, "A library, a program, a file or an extra."]
    state: Annotated[
        Literal["ok", "missing", "broken"],
        "ok: it works; missing: it is not there; broken: it is there and does not work.",
    ]
    required: Annotated[bool, "Whether Fuseloom cannot do without it."]
    version: Annotated[
        str | None, "Its version, or the size of a file or folder; null if there is none."
    ]
    detail: Annotated[str, "Where it is, or what is wrong with it; may be empty."]
    hint: Annotated[str | None, "What to do about it; null for nothing."]


class DoctorDocument(TypedDict):
    """The document of ``fuseloom doctor --json``."""

    ok: Annotated[bool, "Whether everything compulsory works; the exit code is 0 then, else 1."]
    checks: Annotated[Sequence[CheckedThingData], Meta(min_length=1), "The result of every check."]


class NotebooksDocument(TypedDict):
    """The document of ``fuseloom notebooks --json``."""

    folder: Annotated[str, "Folder of the files."]
    files: Annotated[
        Sequence[str], Meta(min_length=1), "Files that were written, seen from that folder."
    ]


class ErrorPlace(TypedDict):
    """A place in a text."""

    source: Annotated[str | None, "Text or file that the place is in; null where it has no name."]
    line: Annotated[Positive | None, "Line in that text, from 1."]
    column: Annotated[Positive | None, "Column in that line, from 1."]


class ErrorDocument(TypedDict):
    """The document of any command with ``--json`` that did not do what it was asked."""

    error: Annotated[str, "What is wrong."]
    place: Annotated[ErrorPlace | None, "Where; null where no text is at fault."]
    rule: Annotated[
        Literal[
            "input",
            "grammar",
            "program",
            "data",
            "schedule",
            "order",
            "lowering",
            "internal",
            "graph",
            "simulation",
            "limit",
            "abandoned",
            "record",
            "store",
            "deadlock",
            "usage",
            "cancelled",
        ],
        "What was broken: the grammar of a text (grammar), what a program, its data, a "
        "schedule, a dataflow order, a graph, a record or the store of runs must be, what the "
        "machine's primitives can express (lowering), a run that could not finish "
        "(simulation), would use more than it may (limit) or waits for itself (deadlock), how "
        "commands are written (usage); or the user ended it (cancelled).",
    ]
    hint: Annotated[str | None, "What to do about it."]


@dataclass(frozen=True)
class MachineDocument(Machine):
    """The document of ``fuseloom machine --json``.

    Attributes
    ----------
    fingerprint : str
        Hash of all that the numbers of a run depend on.
    modelled_energy : ModelledEnergy or None
        Where each of its energies comes from (--energy-from); null unless asked for.
    """

    derived = ("fingerprint",)

    modelled_energy: ModelledEnergy | None = None
