"""The recomputation of intermediates: actual and necessary counts, and the cause of the excess.

An instance of an intermediate is computed anew for every coordinate of an index that lies around it
and is none of its own (``docs/spec/fusion.md`` §2.4, S2): a layer of a network that is fused into
the product that reads it, once per non-zero of the matrix there.  A tensor that is used twice may
be computed twice, too.  What its statement has to compute at least is what it computes as a region
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isclose
from typing import Any

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, EstimateContext, EstimateMode
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.fusion.directives import (
    Locate,
    LocateLevel,
    Materialise,
    Parallel,
    Setting,
)
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.views import Leaf
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.tile_values import flops_per_value
from fuseloom.dataflow.samml.traits import Arithmetic
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.table.cells import Column
from fuseloom.program.types import Program

_ALONE = CompiledBefore(most=2_000)
"""Statements that have been compiled as regions of their own."""
_KINDS = (Arithmetic.BINARY, Arithmetic.UNARY, Arithmetic.FOLD)
Counts = Sequence[float]
"""Values that each node of a graph makes, or folds."""


@dataclass(frozen=True)
class Recomputation:
    """The recomputation of an intermediate.

    Attributes
    ----------
    tensor, region : str
    made, needed : float
        Values that its statement computes (products, where it multiplies) in this schedule, and as
        a region of its own.
    rows, rows_needed : float or None
        The same in rows, of which each has as many values; None where that cannot be told.
    measured : bool
        Whether ``made`` was counted in a run; otherwise it is expected.
    exact : bool
        Whether both follow from all coordinates, so that a run has the same.
    around : tuple of str
        Indices of the region around it that are none of its own.
    once_per : str
        What it is computed once for, in words: "non-zero of A"; empty for one that is computed
        once, or as several instances only.
    instances : int
        How many times the graph has it.
    """

    tensor: str
    region: str
    made: float
    needed: float
    rows: float | None = None
    rows_needed: float | None = None
    measured: bool = False
    exact: bool = False
    around: tuple[str, ...] = ()
    once_per: str = ""
    instances: int = 1

    @property
    def factor(self) -> float:
        """The number of times that it is computed over; 1 if nothing is needed."""
        return self.made / self.needed if self.needed else 1.0

    @property
    def reason(self) -> str:
        """The cause of the excess, in words; empty if there is none."""
        if self.once_per:
            indices = ", ".join(self.around)
            return f"once per {self.once_per}: {indices} lies around it and is no index of its own"
        if self.instances > 1:
            return f"{self.instances} times, as its uses do not need its elements at the same time"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "tensor": self.tensor,
            "region": self.region,
            "made": self.made,
            "needed": self.needed,
            "factor": self.factor,
            "rows": self.rows,
            "rows_needed": self.rows_needed,
            "measured": self.measured,
            "exact": self.exact,
            "around": list(self.around),
            "reason": self.reason,
        }


def recomputation(
    compilation: Compilation,
    context: EstimateContext,
    estimate: Estimate | None = None,
    results: Mapping[str, EngineResult] | None = None,
) -> tuple[Recomputation, ...]:
    """Every intermediate that may be computed more than once, in the order of the program.

    Parameters
    ----------
    context : EstimateContext
        The program's data.
    estimate : Estimate, optional
        That of the compilation, if it is there already.
    results : mapping, optional
        Runs of regions by name, whose counts are taken in place of expected ones.

    Returns
    -------
    tuple of Recomputation
        Intermediates that lie under an index of another, or are there several times; those of
        which it is not known how much they need are left out.
    """
    expected = estimate.regions if estimate is not None else ()
    found: list[Recomputation] = []
    for number, region in enumerate(compilation.regions):
        at_risk = dict(_at_risk(region))
        if not at_risk:
            continue
        guess = expected[number] if expected else estimate_region(region, context)
        result = (results or {}).get(region.name)
        counts = _expected(guess) if result is None else _measured(result)
        alone = _Alone(compilation, context)
        for tensor, columns in at_risk.items():
            made = _made(region, tensor, counts)
            needed = alone.needed(tensor)
            if made is None or needed is None:
                continue
            exact = guess.mode is EstimateMode.EXACT and alone.exact
            one = Recomputation(
                tensor, region.name, made, needed, measured=result is not None, exact=exact
            )
            found.append(_explained(one, region, columns, context))
    return tuple(found)


def _at_risk(region: CompiledRegion) -> Iterator[tuple[str, list[Column]]]:
    """Intermediates with indices of others around them, or with several instances."""
    for statement in region.region.statements:
        name = statement.out.tensor
        columns = [c for c in _columns(region, name) if _computing(region, c)]
        if len(columns) > 1 or any(_around(region, c) for c in columns):
            yield name, columns


def _columns(region: CompiledRegion, tensor: str) -> list[Column]:
    return [c for c in region.table.columns if c.tensor == tensor and not c.leaf]


def _computing(region: CompiledRegion, column: Column) -> list[Node]:
    """The nodes that compute the values of an instance."""
    own = [n for n in region.graph.nodes if n.origin.rpartition(".")[0] == column.name]
    kinds = [[n for n in own if primitive(n.op).arithmetic is kind] for kind in _KINDS]
    return next(filter(None, kinds), [])


def _around(region: CompiledRegion, column: Column) -> tuple[str, ...]:
    """Indices around an instance that are none of its own."""
    view = region.region.views.get(column.name)
    if view is None or isinstance(view, Leaf):
        return ()
    local = view.local
    inner = [k for k, x in enumerate(region.order) if x in local]
    outer = region.order[: max(inner, default=-1)]
    return tuple(x for x in outer if x not in local and x in column.nest)


def _expected(estimate: RegionEstimate) -> Counts:
    """Values by node, from the arithmetic that is expected of it."""
    nodes = zip(estimate.graph.nodes, estimate.nodes, strict=True)
    return [e.flops / (flops_per_value(node) or 1) if e.flops else 0.0 for node, e in nodes]


def _measured(result: EngineResult) -> Counts:
    """The same of a run."""
    counts = []
    for node in result.graph.nodes:
        folds = primitive(node.op).arithmetic not in (Arithmetic.BINARY, Arithmetic.UNARY)
        streams = node.inputs[-1:] if folds else [s for s in node.outputs if s is not None]
        counts.append(float(sum(result.values[s] for s in streams)))
    return counts


def _made(region: CompiledRegion, tensor: str, counts: Counts) -> float | None:
    """Values that the instances of a tensor compute together; None if nothing computes them."""
    total, computes = 0.0, False
    for column in _columns(region, tensor):
        nodes = _computing(region, column)
        by_name: dict[str, float] = {}  # lanes are nodes of one name
        for node in nodes:
            name = node.label.partition(" (")[0]
            by_name[name] = by_name.get(name, 0.0) + counts[node.id]
        computes |= bool(nodes)
        total += max(by_name.values(), default=0.0)
    return total if computes else None


class _Alone:
    """The results that statements compute as regions of their own."""

    def __init__(self, compilation: Compilation, context: EstimateContext) -> None:
        self.context = context
        source = compilation.source or compilation.program
        self.compilation = unfused(source, compilation.schedule)
        self.regions = {r.region.statements[-1].out.tensor: r for r in self.compilation.regions}
        self.exact = True

    def needed(self, tensor: str) -> float | None:
        """Values that the statement of a tensor computes; None if it is no region."""
        region = self.regions.get(tensor)
        if region is None:
            return None
        for name in region.region.inputs:
            if name in self.regions and not self.context.patterns.knows(name):
                self.needed(name)
        estimate = estimate_region(region, self.context)
        self.exact &= estimate.mode is EstimateMode.EXACT
        return _made(region, tensor, _expected(estimate))


def unfused(source: Program, schedule: Schedule) -> Compilation:
    """A program with every statement a region of its own, under a schedule's settings.

    Settings of single regions are left out.
    """
    settings = tuple(
        s
        for s in schedule.settings
        if not isinstance(s, Materialise | LocateLevel)
        and not (isinstance(s, Locate | Parallel) and s.region is not None)
    )
    return _unfused(source, settings)


@lru_cache(maxsize=8)
def _unfused(source: Program, settings: tuple[Setting, ...]) -> Compilation:
    return compile_program(source, Schedule((), (), settings), before=_ALONE)


def _explained(
    found: Recomputation,
    region: CompiledRegion,
    columns: Sequence[Column],
    context: EstimateContext,
) -> Recomputation:
    """With what it is computed once for, and how many rows that are."""
    found = replace(found, instances=len(columns))
    for column in columns:
        around = _around(region, column)
        if not around:
            continue
        leaf = _leaf(region, column, around)
        if leaf is None:
            return replace(found, around=around, once_per=f"coordinate of {', '.join(around)}")
        found = replace(found, around=around, once_per=f"non-zero of {leaf.tensor}")
        if len(columns) == 1 and context.patterns.knows(leaf.tensor):
            return _in_rows(found, context.elements(leaf.tensor))
        return found
    return found


def _leaf(region: CompiledRegion, column: Column, around: tuple[str, ...]) -> Leaf | None:
    """The sparse operand outside that says under which coordinates an instance is needed.

    It has an index around the instance and one of the instance's own, and no other index than
    those that the instance lies under.
    """
    under = {*around, *column.indices}
    leaves = [v for v in region.region.views.values() if isinstance(v, Leaf)]
    both = (
        v
        for v in leaves
        if set(v.indices) <= under
        and not set(around).isdisjoint(v.indices)
        and not set(column.indices).isdisjoint(v.indices)
        and not region.region.program.tensor(v.tensor).format.all_dense
    )
    return next(both, None)


def _in_rows(found: Recomputation, rows: float) -> Recomputation:
    """In rows, where each has as many values."""
    if not rows or not _whole(found.made / rows):
        return found
    values = round(found.made / rows)
    if not values or not _whole(found.needed / values):
        return found
    return replace(found, rows=rows, rows_needed=round(found.needed / values))


def _whole(number: float) -> bool:
    """Return whether a number is an integer, apart from the rounding of sums over samples."""
    return isclose(number, round(number), rel_tol=1e-9)
