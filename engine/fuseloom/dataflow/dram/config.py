"""The kinds of memory: a DRAM with its timing, fixed-latency queues, or no limit at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, TypeAlias

from fuseloom.dataflow.dram.timing import DramTiming, is_power, whole
from fuseloom.errors import SimulationError
from fuseloom.results.declarations import Count, Positive, Record
from fuseloom.wording import counted

FIELDS = ("row", "bank", "bankgroup", "column", "channel")
DEFAULT_MAPPING = "row bank column bankgroup channel"
PICOSECONDS = 10**12
BUNDLE = 8
"""Words a node asks a memory of :class:`Queues` for at once."""


@dataclass(frozen=True)
class Dram(Record):
    """A DRAM with one first-ready first-come-first-served controller per pseudo channel.

    Attributes
    ----------
    name : str
        Shown to the user.
    channels, pseudo_channels : int
        Channels, and pseudo channels in each.  A pseudo channel has banks, a command bus and a
        data bus of its own; below and in statistics it is simply a channel.
    bank_groups, banks : int
        Bank groups per pseudo channel, banks per group.
    rows, row_bytes : int
        Rows per bank, bytes per row.
    access_bytes : int
        Bytes one column command moves: the granularity of every transfer.
    tck_ps : int
        Memory clock period in picoseconds.
    timing : DramTiming
        Constraints between commands.
    policy : {"open", "closed"}
        Open: rows stay open until another row is needed.  Closed: every column command
        precharges its bank.
    mapping : str
        Fields of an address from most to least significant (see
        :mod:`fuseloom.dataflow.dram.mapping`).
    read_queue, write_queue : int
        Accesses of each kind that a controller chooses among.  Those beyond wait in order.
    write_high, write_low : int
        Writes queued at which a drain begins and ends.
    write_patience : int
        Memory clocks after which waiting writes go ahead of reads.
    row_hit_cap : int
        Row hits that may overtake the oldest access of a bank.
    controller_latency : int
        Machine cycles that requests and answers spend in the controller and on the way,
        besides waiting: half of it (rounded up) before the queue, half after the data.
    refresh : bool
        Whether banks are refreshed.
    """

    name: str
    channels: Positive
    pseudo_channels: Positive
    bank_groups: Positive
    banks: Positive
    rows: Positive
    row_bytes: Positive
    access_bytes: Positive
    tck_ps: Positive
    timing: DramTiming
    policy: Literal["open", "closed"] = "open"
    mapping: str = DEFAULT_MAPPING
    read_queue: Positive = 32
    write_queue: Positive = 32
    write_high: Count = 24
    write_low: Count = 8
    write_patience: Count = 256
    row_hit_cap: Count = 16
    controller_latency: Count = 8
    refresh: bool = True

    def __post_init__(self) -> None:
        owner = f"memory {self.name!r}"
        sizes = ("channels", "pseudo_channels", "bank_groups", "banks", "rows", "access_bytes")
        for name in (*sizes, "row_bytes"):
            _power(owner, name, getattr(self, name))
        if self.row_bytes < self.access_bytes:
            raise SimulationError(
                f"{owner}: a row of {counted(self.row_bytes, 'byte')} holds no access of "
                f"{self.access_bytes}"
            )
        if self.bank_groups * self.banks > 64:
            raise SimulationError(f"{owner}: more than 64 banks", hint="per pseudo channel")
        if self.channels * self.pseudo_channels > 256:
            raise SimulationError(f"{owner}: more than 256 pseudo channels")
        whole(owner, "tck_ps", self.tck_ps, 1, 1 << 20)
        if self.policy not in ("open", "closed"):
            raise SimulationError(
                f"{owner}: no page policy is called {self.policy!r}", hint="open or closed"
            )
        for name in ("read_queue", "write_queue", "write_high", "row_hit_cap", "write_patience"):
            whole(owner, name, getattr(self, name), 1, 1 << 20)
        for name in ("controller_latency", "write_low"):
            whole(owner, name, getattr(self, name), 0, 1 << 20)
        if not isinstance(self.refresh, bool):
            raise SimulationError(f"{owner}: refresh is {self.refresh!r}", hint="true or false")
        if not isinstance(self.mapping, str):
            raise SimulationError(
                f"{owner}: mapping is {self.mapping!r}", hint=f"fields: {', '.join(FIELDS)}"
            )
        if not 0 <= self.write_low < self.write_high <= self.write_queue:
            raise SimulationError(
                f"{owner}: watermarks {self.write_low} and {self.write_high} do not fit a queue "
                f"of {self.write_queue} writes",
                hint="0 <= write_low < write_high <= write_queue",
            )
        self.pieces  # noqa: B018 - raises where the mapping is wrong

    @property
    def widths(self) -> dict[str, int]:
        """Bits of each field of an address; ``channel`` counts pseudo channels."""
        counts = {
            "row": self.rows,
            "bank": self.banks,
            "bankgroup": self.bank_groups,
            "column": self.row_bytes // self.access_bytes,
            "channel": self.total_channels,
        }
        return {name: count.bit_length() - 1 for name, count in counts.items()}

    @property
    def pieces(self) -> tuple[tuple[str, int], ...]:
        """Fields and bits of the mapping, from most to least significant.

        Raises
        ------
        SimulationError
            If the mapping names an unknown field, lacks one, or its bits do not add up.
        """
        owner = f"memory {self.name!r}: mapping {self.mapping!r}"
        left = self.widths
        items = [item.partition(":")[::2] for item in self.mapping.split()]
        for name, bits in items:
            if name not in left:
                raise SimulationError(
                    f"{owner}: no field is called {name!r}", hint=f"known: {', '.join(FIELDS)}"
                )
            if bits:
                if not bits.isdigit() or not 0 < int(bits) <= left[name]:
                    raise SimulationError(
                        f"{owner}: {name}:{bits} does not fit the field's "
                        f"{counted(self.widths[name], 'bit')}"
                    )
                left[name] -= int(bits)
        for field in FIELDS:
            whole = sum(name == field and not bits for name, bits in items)
            parts = sum(name == field for name, _ in items)
            if whole != 1 and not (whole == 0 and parts and left[field] == 0):
                raise SimulationError(
                    f"{owner}: {field} appears {whole} times without a number of bits",
                    hint="each field once; of one in two places, one states its bits: column:2",
                )
            if parts > 2:
                raise SimulationError(f"{owner}: {field} is in more than two places")
        return tuple((name, int(bits) if bits else left[name]) for name, bits in items)

    @property
    def total_channels(self) -> int:
        """Pseudo channels of the whole memory."""
        return self.channels * self.pseudo_channels

    @property
    def capacity(self) -> int:
        """Bytes the memory holds; addresses beyond wrap around."""
        banks = self.total_channels * self.bank_groups * self.banks
        return banks * self.rows * self.row_bytes

    @property
    def peak(self) -> float:
        """Bytes per second with every data bus always busy."""
        burst = self.timing.bl * self.tck_ps
        return self.total_channels * self.access_bytes * PICOSECONDS / burst

    def read_latency(self, clock_hz: float) -> float:
        """Machine cycles of a read that finds the memory idle and its row closed."""
        clocks = self.timing.rcd + self.timing.cl + self.timing.bl + self.controller_latency
        return clocks * self.tck_ps * 1e-12 * clock_hz

    def write_latency(self, clock_hz: float) -> float:
        """Machine cycles of a write that waits as long as one may, and finds its row closed."""
        patience = self.write_patience * self.tck_ps * 1e-12 * clock_hz
        return patience + self.read_latency(clock_hz)

    def peak_per_cycle(self, clock_hz: float) -> float:
        """The peak in bytes per machine cycle."""
        return self.peak / clock_hz

    derived = ("kind",)

    @property
    def kind(self) -> Literal["dram"]:
        """Which kind of memory."""
        return "dram"

    def __str__(self) -> str:
        lines = (
            f"memory {self.name}: {counted(self.total_channels, 'channel')}, "
            f"{self.bank_groups} x {counted(self.banks, 'bank')}, {self.capacity / 2**30:g} GiB",
            f"  peak: {self.peak / 1e9:.1f} GB/s, {counted(self.access_bytes, 'byte')} per access",
            f"  clock: {1e6 / self.tck_ps:g} MHz",
            f"  mapping: {self.mapping}, {self.policy} pages",
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Ideal(Record):
    """A memory that answers every access after a fixed time, however many there are.

    Attributes
    ----------
    latency : int
        Machine cycles from request to answer.
    access_bytes : int
        Granularity of every transfer.
    """

    latency: Positive = 1
    access_bytes: Positive = 32
    name: str = "ideal"

    def __post_init__(self) -> None:
        owner = f"memory {self.name!r}"
        whole(owner, "latency", self.latency, 1, 1 << 30)
        _power(owner, "access_bytes", self.access_bytes)

    @property
    def peak(self) -> float:
        """Bytes per second: no limit."""
        return float("inf")

    def read_latency(self, clock_hz: float) -> float:
        """Machine cycles of a read."""
        return float(self.latency)

    def peak_per_cycle(self, clock_hz: float) -> float:
        """Bytes per machine cycle: no limit."""
        return self.peak / clock_hz

    derived = ("kind",)

    @property
    def kind(self) -> Literal["ideal"]:
        """Which kind of memory."""
        return "ideal"

    def __str__(self) -> str:
        return f"memory {self.name}: {counted(self.latency, 'cycle')}, no limit of bandwidth"


@dataclass(frozen=True)
class Queues(Record):
    """The reference simulator's queues of fixed latency (``docs/spec/comal.md`` §3).

    The words of all bundles seen in one cycle are dealt to the queues at triangular offsets; a
    queue takes a word every ``init_interval`` cycles.

    Attributes
    ----------
    channel_num : int
        Queues.
    init_interval, start_up, per_channel_latency : int
        Machine cycles: between two words of a queue; charged on every request; of a queue.
    """

    channel_num: Positive = 8
    init_interval: Positive = 2
    start_up: Count = 14
    per_channel_latency: Count = 2
    name: str = "queues"

    WORD = 4  # bytes; the size of every request of the reference

    def __post_init__(self) -> None:
        owner = f"memory {self.name!r}"
        whole(owner, "channel_num", self.channel_num, 1, 256)
        whole(owner, "init_interval", self.init_interval, 1, 1 << 20)
        for name in ("start_up", "per_channel_latency"):
            whole(owner, name, getattr(self, name), 0, 1 << 20)

    @property
    def words_per_cycle(self) -> float:
        """Words that all queues together take per machine cycle."""
        return self.channel_num / self.init_interval

    def read_latency(self, clock_hz: float) -> float:
        """Machine cycles of a read that finds the queues empty."""
        return float(self.start_up + self.per_channel_latency)

    def peak_per_cycle(self, clock_hz: float) -> float:
        """Bytes per machine cycle with every queue always busy."""
        return self.words_per_cycle * self.WORD

    derived = ("kind",)

    @property
    def kind(self) -> Literal["queues"]:
        """Which kind of memory."""
        return "queues"

    def __str__(self) -> str:
        return (
            f"memory {self.name}: {counted(self.channel_num, 'queue')}, "
            f"{counted(self.words_per_cycle, 'word', spec='g')} of {counted(self.WORD, 'byte')} "
            "per cycle"
        )


Config: TypeAlias = Dram | Ideal | Queues


def peak_bandwidth(config: Config, clock_hz: float) -> float:
    """Bytes per second of any memory, on a machine of that clock."""
    return config.peak_per_cycle(clock_hz) * clock_hz


def _power(owner: str, name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not is_power(value):
        raise SimulationError(f"{owner}: {name} is {value!r}", hint="a power of two")


def from_dict(data: Mapping[str, Any]) -> Config:
    """Read what ``to_dict`` of any memory gave.

    Raises
    ------
    SimulationError
        If the kind or a key is unknown, or one is missing.
    """
    rest = dict(data)
    kind = rest.pop("kind", None)
    known: dict[Any, type[Config]] = {"dram": Dram, "ideal": Ideal, "queues": Queues}
    if not isinstance(kind, str) or kind not in known:
        raise SimulationError(
            f"no kind of memory is called {kind!r}", hint=f"known: {', '.join(known)}"
        )
    if kind == "dram" and "timing" in rest:
        rest["timing"] = DramTiming(
            **given_fields(DramTiming, rest["timing"], "the timing of a memory")
        )
    return known[kind](**given_fields(known[kind], rest, f"a memory of kind {kind}"))


def given_fields(kind: type[Any], data: Any, what: str) -> dict[str, Any]:
    """The arguments of a record, from a table that may have unknown names or lack some.

    Raises
    ------
    SimulationError
        If it is no such table.
    """
    if not isinstance(data, Mapping):
        raise SimulationError(f"{what} is {data!r:.60}", hint="a table")
    known = [item for item in fields(kind) if item.init]
    names = [item.name for item in known]
    if unknown := [str(name) for name in data if name not in names]:
        raise SimulationError(
            f"{what} has no {unknown[0]!r:.60}", hint=f"it has: {', '.join(names)}"
        )
    needed = [x.name for x in known if x.default is MISSING and x.default_factory is MISSING]
    if lacking := [name for name in needed if name not in data]:
        raise SimulationError(
            f"{what} lacks {', '.join(lacking)}",
            hint='a machine with base = "hbm2" or base = "ddr4" has them all',
        )
    return dict(data)
