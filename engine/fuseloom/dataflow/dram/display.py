"""The activity of a memory, as a notebook shows it."""

from __future__ import annotations

from math import isfinite

from fuseloom.dataflow.dram.stats import MemoryStats
from fuseloom.display import Markup, bar, shown, table, tag
from fuseloom.wording import counted


def memory_html(stats: MemoryStats) -> Markup:
    """Totals, how long answers took, and how evenly the channels worked."""
    limited = isfinite(stats.peak)
    rows = [
        ("requests", f"{stats.reads:,} reads, {stats.writes:,} writes"),
        ("asked for", f"{counted(stats.requested, 'byte')}"),
        ("moved", f"{counted(stats.bytes, 'byte')}"),
        ("bandwidth", f"{stats.bandwidth / 1e9:.2f} GB/s"),
        ("of the peak", bar(stats.share, f"{stats.share:.1%}") if limited else "no limit"),
        ("row hits", bar(stats.hit_rate, f"{stats.hit_rate:.1%}") if limited else "no rows"),
        ("mean wait of a read", f"{stats.read_latency:.1f} cycles"),
        ("mean wait of a write", f"{stats.write_latency:.1f} cycles"),
    ]
    return shown(
        tag("h4", f"memory {stats.name}: {counted(stats.cycles, 'cycle')}"),
        table(["what", "how much"], rows),
        _waits(stats.read_histogram),
    )


def _waits(histogram: tuple[int, ...]) -> Markup | None:
    """Return a table of the number of reads by latency."""
    most = max(histogram, default=0)
    if not most:
        return None
    first = next(k for k, n in enumerate(histogram) if n)
    rows = [
        (f"{2**k:,} to {2 ** (k + 1) - 1:,}" if k else "1", bar(n / most, f"{n:,}"))
        for k, n in enumerate(histogram)
        if k >= first
    ]
    return table(["a read is answered after, cycles", "reads"], rows)
