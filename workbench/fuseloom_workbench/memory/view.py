"""The activity of the machine's memory in the run of the region shown, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.wording import counted
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state.session import Session

GIGA = 1e9
_WITH_MEMORY = ("hbm2", "ddr4")
"""Machines that are offered where the chosen one has no memory."""


@page_part("memory")
def view(session: Session) -> dict[str, Any]:
    """The region's memory, if its run has any: figures with units, latencies, channels."""
    record = session.record
    memory = record.run.regions[session.region].memory if record else None
    return {
        "region": session.current.name,
        "there": session.machine.memory is not None,
        "machines": list(_WITH_MEMORY),
        "memory": None if memory is None else drawn(memory),
    }


def drawn(memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drawn values from a run's statistics; bandwidths in GB/s.

    Examples
    --------
    >>> from fuseloom.dataflow.dram import MemoryStats
    >>> stats = MemoryStats("m", 8, 8e-9, 1, 0, 4, 3.0, 0.0, (0, 1), (), float("inf"), ())
    >>> drawn(stats.to_dict())["latencies"]
    [{'from': 2, 'to': 3, 'reads': 1, 'writes': 0}]
    """
    channels = memory["channels"]
    peak = memory["peak"]
    return {
        "name": memory["name"],
        "figures": _figures(memory),
        "latencies": _latencies(memory["read_histogram"], memory["write_histogram"]),
        "channels": [
            {
                "rate": channel["bandwidth"] / GIGA,
                **{key: channel[key] for key in ("reads", "writes", *_ROWS)},
            }
            for channel in channels
        ],
        "peak": None if peak is None else peak / GIGA / max(len(channels), 1),
        "rows": _rows(memory),
    }


_ROWS = ("hits", "misses", "conflicts")


def _rows(memory: Mapping[str, Any]) -> bool:
    """Return whether the memory has rows, which an access may find open."""
    return any(channel[key] for channel in memory["channels"] for key in _ROWS)


def _latencies(reads: list[int], writes: list[int]) -> list[dict[str, int]]:
    """Requests by the cycles they took, a bin per power of two, from the first that is used."""
    bins = max(len(reads), len(writes))
    both = [[*counts, *[0] * (bins - len(counts))] for counts in (reads, writes)]
    found = [
        {"from": 1 << k, "to": (2 << k) - 1, "reads": r, "writes": w}
        for k, (r, w) in enumerate(zip(*both, strict=True))
    ]
    first = next((k for k, b in enumerate(found) if b["reads"] or b["writes"]), 0)
    return found[first:]


def _figures(memory: Mapping[str, Any]) -> list[dict[str, str]]:
    """Names, values with units, what is said of them below, and their keys of the glossary."""
    limited = memory["peak"] is not None
    peak = f"{memory['peak'] / GIGA:,.1f} GB/s" if limited else ""
    rows = _rows(memory)
    told = (
        (
            "memory.bandwidth",
            "achieved bandwidth",
            f"{memory['bandwidth'] / GIGA:,.2f} GB/s",
            f"{memory['share']:.1%} of {peak}" if limited else "no limit",
        ),
        (
            "memory.hits",
            "row hits",
            f"{memory['hit_rate']:.1%}" if rows else "–",
            "of the accesses" if rows else "it has no rows",
        ),
        *(
            (
                "memory.latency",
                f"mean {what} latency",
                f"{counted(memory[f'{what}_latency'], 'cycle', spec=',.1f')}"
                if memory[f"{what}s"]
                else "–",
                "from request to answer" if memory[f"{what}s"] else f"no {what}s",
            )
            for what in ("read", "write")
        ),
        (
            "memory.requests",
            "requests",
            f"{memory['reads'] + memory['writes']:,}",
            f"{memory['reads']:,} reads, {memory['writes']:,} writes",
        ),
        (
            "memory.moved",
            "moved",
            count(memory["bytes"], "bytes"),
            f"{count(memory['requested'], 'bytes')} asked for",
        ),
        (
            "memory.time",
            "time",
            f"{memory['seconds'] * 1e6:,.2f} µs",
            count(memory["cycles"], "cycles"),
        ),
    )
    return [dict(zip(("help", "name", "value", "more"), one, strict=True)) for one in told]
