"""The cost of other channels, latencies and lanes, without a run.

A graph that was executed on coordinates is timed again for every change (``docs/estimate.md``
§ What if); only lanes make another graph.  Channels are never smaller than
what no data can deadlock (:func:`fuseloom.dataflow.samml.passes.buffers.size_buffers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, TypedDict

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.cost import Estimate, EstimateMode, estimate
from fuseloom.dataflow.cost.estimate import EstimateContext
from fuseloom.dataflow.cost.executed import executed_region
from fuseloom.dataflow.machine import Machine
from fuseloom.display import bar, shown, table
from fuseloom.errors import DataError, FuseloomError
from fuseloom.program.formats import suggestion
from fuseloom.program.inputs import check_data
from fuseloom.results.declarations import Amount, Record
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, described

CAPACITIES = tuple(2**k for k in range(1, 13))
"""Tokens that channels are given where nobody says how many."""
_COLUMNS = (
    TextColumn("change", 24, Align.LEFT),
    TextColumn("cycles", 16),
    TextColumn("of now", 8),
    TextColumn("on chip, bytes", 16),
    TextColumn("", 0, Align.LEFT),
)


class VariantData(TypedDict):
    """A :class:`Variant` as plain data."""

    change: str
    cycles: Amount | None
    on_chip: Amount | None
    reason: Annotated[str | None, "Why it cannot be built; null where it can."]


@dataclass(frozen=True)
class Variant:
    """A program under one change.

    Attributes
    ----------
    change : str
        What differs, for people; "as it is" for nothing.
    estimate : Estimate or None
        What it costs; None if it cannot be built.
    compilation : Compilation or None
    machine : Machine
        What it runs on.
    reason : str
        Why it cannot be built.
    """

    change: str
    estimate: Estimate | None
    compilation: Compilation | None
    machine: Machine
    reason: str = ""

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.change}: "
            f"{'not possible' if self.cycles is None else counted(self.cycles, 'cycle')}",
        )

    @property
    def cycles(self) -> float | None:
        """Expected clock cycles."""
        return None if self.estimate is None else self.estimate.cycles

    @property
    def on_chip(self) -> float | None:
        """Bytes of channels and accumulators of the largest region, as regions run in turn.

        None where a channel has no bound, or only statistics are known.
        """
        if self.estimate is None:
            return None
        totals = [region.on_chip.total for region in self.estimate.regions]
        return None if None in totals else max((t for t in totals if t is not None), default=0.0)

    def to_dict(self) -> VariantData:
        """Plain data."""
        return {
            "change": self.change,
            "cycles": self.cycles,
            "on_chip": self.on_chip,
            "reason": self.reason or None,
        }


@dataclass(frozen=True)
class WhatIf(Record):
    """A program as it is, and under changes, in the order they were asked for."""

    base: Variant
    variants: tuple[Variant, ...]

    def __repr__(self) -> str:
        return described(self, f"{self.base!r}, {counted(len(self.variants), 'change')}")

    def __str__(self) -> str:
        return "\n".join(text_table(_COLUMNS, [self._row(v) for v in (self.base, *self.variants)]))

    def _repr_html_(self) -> str:
        every = (self.base, *self.variants)
        most = max((v.cycles or 0.0 for v in every), default=0.0) or 1.0
        rows = []
        for variant in every:
            name, cycles, share, on_chip, reason = self._row(variant)
            length = bar((variant.cycles or 0.0) / most, cycles) if cycles else reason
            rows.append((name, length, share.replace("x", "×"), on_chip))
        heads = ("change", "cycles, estimated", "of now", "on chip, bytes")
        return shown(table(heads, rows, figures=(2, 3)))

    def _row(self, variant: Variant) -> tuple[str, ...]:
        now, then = self.base.cycles, variant.cycles
        return (
            variant.change,
            "" if then is None else f"{then:,.0f}",
            "" if not now or then is None else f"{then / now:.2f}x",
            "unbounded" if variant.on_chip is None else f"{variant.on_chip:,.0f}",
            variant.reason,
        )


@check_arguments
def what_if(
    compilation: Compilation,
    data: Mapping[str, Any],
    *,
    machine: Machine | None = None,
    mode: EstimateMode | str = EstimateMode.AUTO,
    capacities: Iterable[int] = (),
    lanes: Iterable[tuple[str, int]] = (),
    settings: Iterable[tuple[str, int]] = (),
) -> WhatIf:
    """Estimate a program as it is, and under one change at a time.

    Parameters
    ----------
    capacities : iterable of int
        Tokens of each channel that needs no more lest data deadlock it; at least 2.
    lanes : iterable of (str, int)
        Index and number of lanes, in every region that has the index.
    settings : iterable of (str, int)
        A size of the machine, such as ``load_latency``, and its value.

    Raises
    ------
    DataError
        If the data do not fit, or the program has no such index.
    SimulationError
        If the machine has no such size, or not of that value.
    GraphError
        If channels would be too small.

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmm, data = fl.load("spmm")
    >>> found = fl.what_if(fl.compile(spmm.program), data, capacities=[2], lanes=[("i", 2)])
    >>> print(found)
    change                              cycles    of now    on chip, bytes
    as it is                               107     1.00x         unbounded
    channels of 2                          115     1.07x               668
    i by 2 lanes                            71     0.66x         unbounded
    """
    machine = machine or Machine.default()
    context = check_data(compilation.program, data)

    def of(change: str, made: Compilation, on: Machine) -> Variant:
        return Variant(change, estimate(made, context, mode=mode, machine=on), made, on)

    base = of("as it is", compilation, machine)
    variants = [of(f"channels of {n:,}", compilation.sized(n), machine) for n in capacities]
    for name, value in settings:
        variants.append(of(f"{name} {value:,}", compilation, with_size(machine, name, value)))
    for index, factor in lanes:
        change = f"{index} by {counted(factor, 'lane')}"
        try:
            variants.append(of(change, _in_lanes(compilation, index, factor), machine))
        except DataError:
            raise
        except FuseloomError as problem:
            variants.append(Variant(change, None, None, machine, str(problem)))
    return WhatIf(base, tuple(variants))


@check_arguments
def capacity_pareto(
    compilation: Compilation,
    data: Mapping[str, Any],
    *,
    machine: Machine | None = None,
    mode: EstimateMode | str = EstimateMode.AUTO,
    capacities: Sequence[int] = CAPACITIES,
    any_data: bool = False,
) -> tuple[Variant, ...]:
    """Channels that cost fewer cycles or fewer bytes than all others that were tried.

    None of them can deadlock: channels in which tokens must wait have room for all that may have
    to, which for data whose counts are known is never more than the tokens that pass.

    Parameters
    ----------
    capacities : sequence of int
        Tokens of the channels that need no more, to try.
    any_data : bool
        Whether channels must not deadlock whatever the data; otherwise on these.

    Returns
    -------
    tuple of Variant
        From the fewest bytes on chip to the fewest cycles.

    Raises
    ------
    DataError, GraphError
        As for :func:`what_if`.

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmm, data = fl.load("spmm")
    >>> for variant in fl.capacity_pareto(fl.compile(spmm.program), data, capacities=[2, 4, 8]):
    ...     print(variant.change, variant.cycles, variant.on_chip)
    channels of 2 115.0 600.0
    channels of 4 110.0 696.0
    channels of 8 107.0 944.0
    """
    machine = replace(machine or Machine.default(), channel_capacity=None)
    stored = check_data(compilation.program, data)
    context = EstimateContext.shared(compilation.program, stored, mode, machine)
    found = []
    for capacity in sorted(set(capacities)):
        made = compilation.sized(capacity)
        if not any_data:
            regions = tuple(_no_more_than_pass(region, context) for region in made.regions)
            made = replace(made, regions=regions)
        cost = estimate(made, stored, mode=mode, machine=machine)
        found.append(Variant(f"channels of {capacity:,}", cost, made, machine))
    return _undominated(found)


def _undominated(found: Sequence[Variant]) -> tuple[Variant, ...]:
    best: list[Variant] = []
    context = [v for v in found if v.on_chip is not None and v.cycles is not None]
    for variant in sorted(context, key=lambda v: (v.on_chip, v.cycles)):
        if not best or (variant.cycles or 0.0) < (best[-1].cycles or 0.0):
            best.append(variant)
    return tuple(best)


def _no_more_than_pass(region: CompiledRegion, context: EstimateContext) -> CompiledRegion:
    """The region with channels that hold no more than all tokens that pass, if those are known."""
    found = executed_region(region, context)
    if found is None or found.mode is not EstimateMode.EXACT:
        return region
    context.note(found.executed)
    streams = []
    for stream in region.graph.streams:
        passing = 1 + round(found.executed.streams[stream.id].tokens.total)  # the final one, too
        room = stream.capacity
        streams.append(stream if room is None else replace(stream, capacity=min(room, passing)))
    return replace(region, graph=replace(region.graph, streams=tuple(streams)))


def with_size(machine: Machine, name: str, value: int) -> Machine:
    """The machine with another value of a size, such as ``load_latency``.

    Raises
    ------
    DataError
        If it has no such size.
    SimulationError
        If it has not that value.
    """
    sizes = [f.name for f in fields(machine) if isinstance(getattr(machine, f.name), int)]
    if name not in sizes:
        raise DataError(
            f"a machine has no size {name!r}", hint=suggestion(name, sizes) or ", ".join(sizes)
        )
    sizes_of: dict[str, Any] = {name: value}
    return replace(machine, **sizes_of)


def _in_lanes(compilation: Compilation, index: str, factor: int) -> Compilation:
    """The same orders with an index dealt to so many lanes, in every region that has it."""
    every = dict.fromkeys(x for r in compilation.regions for x in r.region.extents)
    if index not in every:
        raise DataError(f"no region has an index {index!r}", hint=f"indices: {', '.join(every)}")
    if factor < 1:
        raise DataError(f"{counted(factor, 'lane')} are too few", hint="at least 1")
    return replace(
        compilation,
        regions=tuple(_dealt(region, index, factor) for region in compilation.regions),
    )


def _dealt(compiled: CompiledRegion, index: str, factor: int) -> CompiledRegion:
    region = compiled.region
    if index not in region.extents:
        return compiled
    others = tuple((x, n) for x, n in region.options.lanes if x != index)
    lanes = others if factor == 1 else (*others, (index, factor))
    return compile_region(
        replace(region, options=replace(region.options, lanes=lanes)), compiled.own_order
    )
