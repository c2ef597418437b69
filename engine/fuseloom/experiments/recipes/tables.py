"""Tables 1 and 2, Figs. 9, 10, 13, 20: what there is, on which data, and how a table is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.experiments.accounting import SCANS
from fuseloom.experiments.claims import Got
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Measure,
    MissingError,
    Panel,
    Recipe,
    RecipeResults,
    RegionAddress,
    Value,
    nothing,
)
from fuseloom.experiments.recipes.table_cells import (
    ComparedCell,
    cells_text,
    compared_cells,
    planned,
)
from fuseloom.models import gcn, load_model
from fuseloom.program import parse

# Table 1 ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Capability:
    """Something a compiler can do, what shows it here, and where it is tested."""

    title: str
    shown: Callable[[], bool]
    tests: str


def _gcn(schedule: str) -> Compilation:
    return compile_program(gcn().program, schedule)


def _sparse() -> bool:
    made = compile_program(parse("A: 4x4 dcsr\nB: 4x4 dcsr\nT[i,j] = A[i,k] * B[k,j]"), "")
    return "scan" in str(made.regions[0].graph)


CAPABILITIES = (
    Capability("several expressions", lambda: len(_gcn("").regions) == 12,
               "tests/models/test_the_four_models.py"),
    Capability("sparse operands and results", _sparse, "tests/dataflow/sim/test_formats.py"),
    Capability("fusion across expressions (EKF)", lambda: len(_gcn("fuse T1..Y").regions) == 1,
               "tests/dataflow/fusion/test_fuse.py"),
    Capability("fusion of iteration in an expression (IIF)",
               lambda: len(_gcn("global T1..T2").regions) == 11,
               "tests/dataflow/fusion/test_global_iteration.py"),
    Capability("partial fusion", lambda: len(_gcn("fuse T1..H; fuse T5..Y").regions) == 2,
               "tests/dataflow/fusion/test_regions.py"),
    Capability("dataflow orders",
               lambda: _gcn("fuse T1..Y").regions[0].pog.count() > 1,
               "tests/dataflow/fusion/test_pog.py"),
    Capability("lanes", lambda: bool(_gcn("parallel i by 2").regions),
               "tests/dataflow/samml/passes/test_parallelise.py"),
)  # fmt: skip
"""The capabilities in the paper's Table 1 and two from its text, each with its test."""
PRIOR = """compiler        several expressions   sparse   fusion     for
TensorRT        yes                   no       POF        GPU
XLA             yes                   no       POF, IIF   CPU, GPU
DNNFusion       yes                   no       POF, IIF   CPU, GPU
TVM             yes                   no       POF, IIF   CPU, GPU, TPU
TACO            no                    yes      IIF        CPU, GPU
SparseTIR       no                    yes      IIF        CPU, GPU
ReACT           no                    yes      IIF        CPU, GPU
Stardust        no                    yes      IIF        dataflow
Custard         no                    yes      IIF        dataflow"""


def _capable(results: RecipeResults) -> Got:
    return Got(sum(c.shown() for c in CAPABILITIES) / len(CAPABILITIES))


def _capability_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    lines = [f"{c.title:46}{'yes' if c.shown() else 'NO':6}{c.tests}" for c in CAPABILITIES]
    return (Panel("Here", "text", text="\n".join(lines)),
            Panel("Others, as the paper has them", "text", text=PRIOR))  # fmt: skip


TABLE_1 = Recipe(
    "table1",
    "What compilers fuse",
    "Which compilers take several expressions, know sparse tensors, and fuse across expressions. "
    "What is said of this one is tried when the table is made, and each line names its tests. The "
    "other compilers' lines are the paper's.",
    nothing,
    lambda size, mode: {"table1.shown": _capable},
    _capability_panels,
)

# Table 2 ----------------------------------------------------------------------------------------

DATA = "fuseloom.experiments.measures:describe"
_SETS = {
    ExperimentSize.FULL: ("cora", "cora_ml", "dblp", "collab", "mag"),
    ExperimentSize.SMALL: ("cora", "cora_ml", "dblp"),
    ExperimentSize.SMOKE: ("karate",),
}
_MASKS = {
    ExperimentSize.FULL: (16, 32, 64),
    ExperimentSize.SMALL: (16, 32, 64),
    ExperimentSize.SMOKE: (16, 32, 64),
}


def _sets(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Measure]:
    found = {name: Measure(DATA, {"graph": name}) for name in _SETS[size]}
    found |= {f"mask{n}": Measure(DATA, {"mask": n, "tokens": 1024}) for n in _MASKS[size]}
    return found


def _density(label: str) -> Value:
    """The stored share, in per cent: that of the empty ones is near 100 for any graph."""

    def density(results: RecipeResults) -> Got:
        one = results.measured(label)
        return Got(100.0 * one["stored"] / one["rows"] ** 2)

    return density


def _set_values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    return {f"table2.{label}": _density(label) for label in _sets(size, mode)}


def _set_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    lines = [f"{'data':32}{'rows':>12}{'stored':>14}{'empty, %':>12}  from"]
    for label in _sets(size, mode):
        try:
            one = results.measured(label)
        except MissingError:
            continue
        lines.append(
            f"{one['label']:32}{one['rows']:>12,}{one['stored']:>14,}"
            f"{one['sparsity']:>12.4f}  {one['origin']}"
        )
    return (Panel("Data sets", "text", text="\n".join(lines)),)


TABLE_2 = Recipe(
    "table2",
    "Data sets",
    "How many elements of each matrix are stored. The paper prints the empty share with one "
    "decimal, which is near 100 % for any graph, so the stored share is compared, to half of that "
    "decimal. Graphs whose files are not there are stand-ins with the same nodes, edges and "
    "two-hop paths, and are labelled so.",
    nothing,
    _set_values,
    _set_panels,
    measures=_sets,
)

# Figs. 9, 10 and 20 -----------------------------------------------------------------------------

SAGE = "fuse N1..N2; order N1..N2: i,l,q,m"
"""T^nbor of the paper: the neighbours' features, summed and multiplied with the weights."""
SIZES = {"nodes": 6, "features": 5, "hidden": 4, "classes": 3}


def neighbours(mode: AccountingMode = AccountingMode.OURS) -> Compilation:
    """The example of the paper's fusion table: ``N2 = (A X) Wn`` of GraphSAGE, i→l→m→j there.

    The paper's mode scans dense levels and repeats references, as the published table does.
    """
    return compile_program(load_model("graphsage", **SIZES).program, _schedule(mode))


def _schedule(mode: AccountingMode) -> str:
    return f"{SAGE}; {SCANS}" if mode is AccountingMode.PAPER else SAGE


def _table_values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    found: dict[str, Value] = {
        "9.rows": lambda results: Got(float(len(_neighbours(mode).table.rows))),
        "9.reductions": lambda results: Got(float(_reductions(_neighbours(mode).graph))),
    }
    if mode is AccountingMode.PAPER:
        found["9.nodes"] = lambda results: Got(float(planned(c.ours for c in _cells()).total()))
        found["9.cells"] = lambda results: Got(float(sum(c.equal for c in _cells())))
        found["9.unexplained"] = lambda results: Got(
            float(sum(not (c.equal or c.reason) for c in _cells()))
        )
    return found


def _cells() -> list[ComparedCell]:
    return compared_cells(str(_neighbours(AccountingMode.PAPER).table))


def _neighbours(mode: AccountingMode) -> CompiledRegion:
    return next(region for region in neighbours(mode).regions if region.name == "N1..N2")


def _reductions(graph: Graph) -> int:
    """Accumulators with levels of their own: reductions that are not innermost."""
    return sum(
        1
        for node in graph.nodes
        if primitive(node.op).family is Family.REDUCE and len(node.outputs) > 1
    )


def _table_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    found = _neighbours(mode)
    sizes = {name: str(size) for name, size in SIZES.items()}
    words = {"model": "graphsage", "data": "random", "schedule": _schedule(mode), **sizes}
    region = RegionAddress(found.name, words)
    panels = [
        Panel("Fusion table", "table", text=str(found.table), region=region),
        Panel("Its graph", "graph", text=str(found.graph), region=region),
    ]
    if mode is AccountingMode.PAPER:
        panels.append(Panel("Cell by cell", "text", text=cells_text(_cells())))
    return tuple(panels)


TABLE = Recipe(
    "9",
    "A fusion table and its graph (Figs. 9, 10, 20)",
    "The table of two fused products of GraphSAGE: a row for each index, a column for each tensor, "
    "a cell for each stream. Intermediates get columns of their own, whose streams later columns "
    "refer to before they exist. Names differ from the paper's (q for m, m for j) and so do "
    "references, while the nodes that the tables plan are the same; every cell is listed.",
    nothing,
    _table_values,
    _table_panels,
)
