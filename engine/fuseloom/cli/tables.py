"""The tables that commands print: a list of lines each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuseloom.results.area import AreaUse
from fuseloom.results.energy import EnergyTerm, EnergyUse
from fuseloom.results.record import RegionRecord, RunRecord
from fuseloom.results.text_table import Align, TextColumn, text_table, totals_table
from fuseloom.wording import agreeing, counted, grouped

_MEMORY = (
    TextColumn("memory", 24, Align.LEFT),
    TextColumn("reads", 12),
    TextColumn("writes", 12),
    TextColumn("moved, bytes", 14),
    TextColumn("GB/s", 8),
    TextColumn("of peak", 8),
    TextColumn("row hits", 9),
    TextColumn("latency", 8),
)
_STATISTICS = (
    TextColumn("tensor", 8, Align.LEFT),
    TextColumn("level", 5),
    TextColumn("size", 10),
    TextColumn("fibers", 10),
    TextColumn("positions", 12),
    TextColumn("mean", 10),
    TextColumn("mean square", 12),
    TextColumn("longest", 8),
    TextColumn("empty", 8),
)
_ORDERS = (
    TextColumn("chosen", 1, Align.LEFT),
    TextColumn("order", 32, Align.LEFT),
    TextColumn("alike", 8),
    TextColumn("orders", 7, Align.LEFT),
    TextColumn("cycles", 0, Align.LEFT),
)
_SUMMARY = (*map(TextColumn, ("cycles", "share", "times")), TextColumn("what", align=Align.LEFT))
_CHANNELS = (*map(TextColumn, ("mean", "most", "slots")), TextColumn("stream", align=Align.LEFT))
_TERMS = (
    *map(TextColumn, ("count", "each, pJ", "energy, J")),
    TextColumn("action", align=Align.LEFT),
    TextColumn("energy of each", align=Align.LEFT),
)
_JOULES = (("J", 1.0), ("mJ", 1e-3), ("µJ", 1e-6), ("nJ", 1e-9))


def run_table(record: RunRecord) -> list[str]:
    """Cycles, FLOPs and bytes of every region and in total."""
    regions = [(r.name, r.cycles, r.flops, r.bytes) for r in record.regions]
    return totals_table(regions, (record.cycles, record.flops, record.bytes))


def energy_line(energy: EnergyUse) -> str:
    """The energy, the kinds of actions that take most of it, and the energy-delay product."""
    joules = energy.joules
    most = sorted(energy.actions.items(), key=lambda item: -item[1])[:3]
    shares = "".join(f", {part / joules:.0%} {kind}" for kind, part in most if part > joules / 200)
    unit, size = next((u for u in _JOULES if joules >= u[1]), _JOULES[-1])
    told = f"energy: {joules / size:.4g} {unit}{shares}"
    return f"{told}; energy-delay product: {energy.edp:.3g} J s"


def area_line(area: AreaUse) -> str:
    """The area of the largest region's hardware, or why it is not known."""
    if area.luts is None:
        return f"area: not known: {area.reason}"
    parts = [(area.luts, "LUTs"), (area.flip_flops, "flip-flops"), (area.dsps, "multipliers")]
    told = ", ".join(f"{grouped(count)} {what}" for count, what in parts if count is not None)
    return f"area: {told} of the largest region"


def energy_table(terms: Iterable[EnergyTerm]) -> list[str]:
    """The terms of an energy: counts of actions, the energy of each, and where that is from."""
    cells = [
        (
            f"{grouped(term.count)} {term.unit}",
            f"{term.picojoules:.4g}",
            f"{term.joules:.4g}",
            term.kind,
            term.source,
        )
        for term in terms
    ]
    return text_table(_TERMS, cells, indent="  ")


def memory_table(regions: Iterable[RegionRecord]) -> list[str]:
    """Return a table of the memory's activity in every region; empty without a memory."""
    rows = [
        (
            region.name,
            f"{m['reads']:,}",
            f"{m['writes']:,}",
            f"{m['bytes']:,}",
            f"{m['bandwidth'] / 1e9:.2f}",
            f"{m['share']:.1%}",
            f"{m['hit_rate']:.1%}",
            f"{m['read_latency']:.1f}",
        )
        for region in regions
        if (m := region.memory) is not None
    ]
    return text_table(_MEMORY, rows, gap=" ") if rows else []


def statistics_table(statistics: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """A row per level of every tensor."""
    rows = [
        (
            name,
            str(depth),
            f"{level['size']:,}",
            f"{level['fibers']:,}",
            f"{level['positions']:,}",
            f"{level['mean']:,.2f}",
            f"{level['second_moment']:,.2f}",
            f"{level['longest']:,}",
            f"{level['empty']:,}",
        )
        for name, levels in statistics.items()
        for depth, level in enumerate(levels)
    ]
    return text_table(_STATISTICS, rows, gap=" ")


def orders_table(graphs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The distinct graphs of a region: chosen or not, an order, how many give it, its cycles."""
    rows = [
        (
            "*" if graph["chosen"] else " ",
            "→".join(graph["order"]),
            f"{graph['orders']:,}",
            agreeing(graph["orders"], "order", "orders"),
            graph["reason"] or f"{counted(graph['cycles'], 'cycle')}",
        )
        for graph in graphs
    ]
    return text_table(_ORDERS, rows, gap=" ", indent="  ", header=False)


def summary_table(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a table of the causes of the cycles on a critical path."""
    cells = [
        (f"{r['cycles']:,}", f"{r['share']:.1%}", f"{r['segments']:,}", r["what"]) for r in rows
    ]
    return text_table(_SUMMARY, cells, indent="  ")


def channel_table(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Occupancy of channels, in tokens."""
    cells = [
        (
            f"{r['mean']:,.1f}",
            f"{r['most']:,}",
            "-" if r["capacity"] is None else f"{r['capacity']:,}",
            f"{r['label']} ({r['producer']['label']} to {r['consumer']['label']})",
        )
        for r in rows
    ]
    return text_table(_CHANNELS, cells, indent="  ")
