"""The statistics of a memory: counters per channel, bandwidth, hit rate, latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fuseloom.dataflow.dram.config import PICOSECONDS as SECOND
from fuseloom.dataflow.dram.config import Config, Dram, Queues, peak_bandwidth
from fuseloom.dataflow.dram.state import (
    AT_CHANNELS,
    BINS,
    BYTES,
    C_ACTIVATES,
    C_CONFLICTS,
    C_DONE_READS,
    C_DONE_WRITES,
    C_DUE,
    C_HITS,
    C_MISSES,
    C_PRECHARGES,
    C_REFRESHES,
    CHANNELS,
    CYCLE_PS,
    DONE_READS,
    DONE_WRITES,
    FOREVER,
    HISTOGRAM,
    LATENCY_READS,
    LATENCY_WRITES,
    STRIDE,
)
from fuseloom.display.shows import Shows
from fuseloom.results.document import plain
from fuseloom.results.run_parts import MemoryWork
from fuseloom.results.text_table import TextColumn, text_table
from fuseloom.wording import counted


@dataclass(frozen=True)
class ChannelStats:
    """Counters of one channel (of an ideal memory: of all of it; of queues: one queue).

    Attributes
    ----------
    reads, writes : int
        Accesses; words where the memory is queues, requests where it is ideal.
    bytes : int
        Bytes moved, whole accesses.
    hits, misses, conflicts : int
        Accesses whose row was open; whose bank was closed; whose bank had another row open.
    activates, precharges, refreshes : int
        Commands; precharges are those of their own, not the ones within column commands.
    busy : int
        Clocks of the memory in which the data bus was in use (queues: machine cycles).
    bandwidth : float
        Bytes per second.
    share : float
        Part of the peak.
    """

    reads: int
    writes: int
    bytes: int
    hits: int
    misses: int
    conflicts: int
    activates: int
    precharges: int
    refreshes: int
    busy: int
    bandwidth: float
    share: float


@dataclass(frozen=True)
class MemoryStats(Shows, html="fuseloom.dataflow.dram.display:memory_html"):
    """The statistics of a memory in a run.

    Attributes
    ----------
    name : str
        The memory.
    cycles : int
        Machine cycles of the run.
    seconds : float
        How long that is.
    reads, writes : int
        Requests answered.
    requested : int
        Bytes asked for; less than moved where requests are not whole accesses.
    read_latency, write_latency : float
        Mean machine cycles from request to answer; 0 without requests.
    read_histogram, write_histogram : tuple of int
        Entry ``k``: requests answered after ``2**k`` to ``2**(k+1) - 1`` machine cycles.
    peak : float
        Bytes per second.
    channels : tuple of ChannelStats
        By number.
    """

    name: str
    cycles: int
    seconds: float
    reads: int
    writes: int
    requested: int
    read_latency: float
    write_latency: float
    read_histogram: tuple[int, ...]
    write_histogram: tuple[int, ...]
    peak: float
    channels: tuple[ChannelStats, ...]

    @classmethod
    def of(cls, m: Any, config: Config, cycles: int) -> MemoryStats:
        """Read the counters of a memory after a run of so many machine cycles."""
        seconds = cycles * int(m[CYCLE_PS]) / SECOND
        peak = peak_bandwidth(config, SECOND / int(m[CYCLE_PS]))
        reads, writes = int(m[DONE_READS]), int(m[DONE_WRITES])
        number = int(m[CHANNELS])
        channels = tuple(
            _channel(m, config, k, seconds, peak / number, cycles) for k in range(number)
        )
        return cls(
            config.name,
            cycles,
            seconds,
            reads,
            writes,
            int(m[BYTES]),
            int(m[LATENCY_READS]) / max(reads, 1),
            int(m[LATENCY_WRITES]) / max(writes, 1),
            _histogram(m, 0),
            _histogram(m, 1),
            peak,
            channels,
        )

    @property
    def bytes(self) -> int:
        """Bytes moved by all channels."""
        return sum(channel.bytes for channel in self.channels)

    @property
    def bandwidth(self) -> float:
        """Bytes per second of all channels."""
        return self.bytes / self.seconds if self.seconds else 0.0

    @property
    def share(self) -> float:
        """Part of the peak bandwidth; 0 where there is no limit."""
        return self.bandwidth / self.peak

    @property
    def hit_rate(self) -> float:
        """Part of the accesses that found their row open; 0 where there are no rows."""
        return _rate(self.channels)

    def to_dict(self) -> MemoryWork:
        """Plain data, with the totals; the peak is None where there is no limit."""
        names = ("bytes", "bandwidth", "share", "hit_rate")
        made: MemoryWork = plain({**asdict(self), **{name: getattr(self, name) for name in names}})
        return made

    def __str__(self) -> str:
        lines = [
            f"memory {self.name}: {counted(self.cycles, 'cycle')}, {self.seconds * 1e6:.3f} µs",
            f"  requests: {self.reads:,} reads, {self.writes:,} writes, "
            f"{counted(self.requested, 'byte')} asked for, {self.bytes:,} moved",
            f"  bandwidth: {self.bandwidth / 1e9:.2f} GB/s, {self.share:.1%} of the peak",
            f"  latency: {self.read_latency:.1f} cycles of reads, "
            f"{self.write_latency:.1f} of writes",
            f"  row hits: {self.hit_rate:.1%}",
        ]
        rows = [
            (
                str(k),
                *(f"{n:,}" for n in (c.reads, c.writes, c.hits, c.misses, c.conflicts)),
                f"{c.refreshes:,}",
                f"{c.bandwidth / 1e9:.2f}",
                f"{c.share:.1%}",
            )
            for k, c in enumerate(self.channels)
        ]
        lines += text_table(_COLUMNS, rows, gap=" ", indent="  ")
        return "\n".join(lines)


_COLUMNS = (
    TextColumn("channel", 7),
    *(TextColumn(title, 10) for title in ("reads", "writes", "hits", "misses", "conflicts")),
    TextColumn("refreshes", 9),
    TextColumn("GB/s", 7),
    TextColumn("of peak", 7),
)


def _rate(channels: Sequence[ChannelStats]) -> float:
    hits = sum(c.hits for c in channels)
    return hits / max(1, hits + sum(c.misses + c.conflicts for c in channels))


def _histogram(m: Any, write: int) -> tuple[int, ...]:
    start = HISTOGRAM + BINS * write
    counts = [int(m[k]) for k in range(start, start + BINS)]
    while counts and counts[-1] == 0:
        counts.pop()
    return tuple(counts)


def _channel(
    m: Any, config: Config, number: int, seconds: float, peak: float, cycles: int
) -> ChannelStats:
    at = int(m[AT_CHANNELS] + number * m[STRIDE])
    reads, writes = int(m[at + C_DONE_READS]), int(m[at + C_DONE_WRITES])
    refreshes = int(m[at + C_REFRESHES])
    if isinstance(config, Dram):
        size, burst = config.access_bytes, config.timing.bl
        due, end = int(m[at + C_DUE]), cycles * int(m[CYCLE_PS]) // config.tck_ps
        if due < FOREVER and due <= end:  # those with no access after them
            refreshes += (end - due) // config.timing.refi + 1
    elif isinstance(config, Queues):
        size, burst = config.WORD, config.init_interval
    else:
        size, burst = 0, 0
    moved = (reads + writes) * size if size else int(m[BYTES])
    bandwidth = moved / seconds if seconds else 0.0
    return ChannelStats(
        reads,
        writes,
        moved,
        int(m[at + C_HITS]),
        int(m[at + C_MISSES]),
        int(m[at + C_CONFLICTS]),
        int(m[at + C_ACTIVATES]),
        int(m[at + C_PRECHARGES]),
        refreshes,
        (reads + writes) * burst,
        bandwidth,
        bandwidth / peak,
    )
