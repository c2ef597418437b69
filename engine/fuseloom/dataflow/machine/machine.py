"""The machine a graph runs on: channel sizes, latencies and which oddities it copies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from fuseloom.arguments import check_fields
from fuseloom.dataflow.dram import Dram, Ideal, Queues, ddr4_3200, given_fields, hbm2
from fuseloom.dataflow.dram import from_dict as memory_from_dict
from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.machine.function_latency import RTL, FunctionLatency
from fuseloom.dataflow.samml.block_timing import BlockTiming
from fuseloom.dataflow.samml.graph import Stream
from fuseloom.dataflow.samml.primitive import WORD
from fuseloom.errors import GraphError, SimulationError
from fuseloom.program.formats import suggestion
from fuseloom.results.declarations import Fingerprint, Positive, Record
from fuseloom.wording import counted, described

MemoryModel: TypeAlias = Dram | Ideal | Queues

MAX_NAME = 200
MAX_CLOCK = 1e12
_LIMITS = {
    "channel_capacity": 1 << 40,
    "alu_latency": 1 << 20,
    "alu_interval": 1 << 20,
    "load_latency": 1 << 20,
    "search_latency": 1 << 20,
    "search_interval": 1 << 20,
    "outstanding": 1 << 12,
    "port_slots": 1 << 16,
}
"""Most that each size of a machine may be."""


@dataclass(frozen=True)
class Quirks(Record):
    """Deviations of the reference simulator from sparse semantics, each its own switch.

    All off is this project's machine: the meaning of a graph never depends on the dataflow
    order, and an empty operand never breaks a stream.  Rules:
    ``docs/spec/comal.md`` §2.

    Attributes
    ----------
    array_loads_zero : bool
        A value load turns the empty token into 0.  Off: it stays empty.
    max_reduce_resets_to_zero : bool
        Max-reduce starts at -FLT_MAX, then restarts every fiber at 0.  Off: every fiber
        starts from nothing, and the maximum of nothing is the empty token.
    sum_of_nothing_is_zero : bool
        Reduce gives an explicit 0 for an empty fiber.  Off: it gives the empty token,
        as an accumulator of order 1 gives nothing there either.
    scanner_forwards_empty : bool
        A scanner passes the empty token on without a stop.  Off: the empty token opens
        an empty fiber, of which only the stop appears.
    repeat_ignores_stop_after_empty : bool
        A repeater that ends an empty token's group does not merge the stop after it.
    binary_empty_is_zero : bool
        Every binary function reads an empty operand as 0, and two empty operands are
        an error.  Off: add and sub read it as 0, two empty operands give the empty token, and
        so does any empty operand of mul, elemmul and div.
    unary_empty_panics : bool
        A unary function of the empty token is an error.  Off: it stays empty.
    spacc_strict : bool
        An accumulator fails on a row that starts with an empty inner fiber of stop level
        > 0, on a leading empty outer fiber and on empty values.  Off: all three are right, and
        an empty value makes no coordinate.  The one of order 2 fails on empty fibers too.
    zerodrop_discards_stops : bool
        A zero dropper discards every second stop.  Off: stops pass.
    drop_ignores_empty_outer_fiber : bool
        A coordinate dropper leaves the inner stop of an empty outer fiber unread.
    writer_records_leading_empty : bool
        A level writer records a stop before the first coordinate.  Off: it ignores
        every stop with no coordinate since the last recorded one.
    mask_loses_stops : bool
        A coordinate mask drops the stop of a fiber of which nothing is left, and the outer
        coordinate with it; the coordinate after an outer stop is compared with nothing.  Off:
        only elements vanish.
    flatten_loses_stops : bool
        A flattener leaves outer stops that are not in front at an inner stop, so that the
        last one never comes.  Off: each inner stop of level n > 0 gives one of level n - 1.
    hold_lags_behind : bool
        A coordinate hold takes an outer stop only before the next inner coordinate, and an empty
        inner fiber in between for that stop's.  Off: it takes it with the inner stop.
    ends_with_unread_input : bool
        Repeat, crdhold, crdmask and flatten end before they have read the end of every
        input.  Off: they take it.
    """

    array_loads_zero: bool = False
    max_reduce_resets_to_zero: bool = False
    sum_of_nothing_is_zero: bool = False
    scanner_forwards_empty: bool = False
    repeat_ignores_stop_after_empty: bool = False
    binary_empty_is_zero: bool = False
    unary_empty_panics: bool = False
    spacc_strict: bool = False
    zerodrop_discards_stops: bool = False
    drop_ignores_empty_outer_fiber: bool = False
    writer_records_leading_empty: bool = False
    mask_loses_stops: bool = False
    flatten_loses_stops: bool = False
    hold_lags_behind: bool = False
    ends_with_unread_input: bool = False

    @classmethod
    def comal(cls) -> Quirks:
        """All of them, as the reference simulator has them."""
        return cls(**{quirk.name: True for quirk in fields(cls)})

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the quirks that are on."""
        return tuple(quirk.name for quirk in fields(self) if getattr(self, quirk.name))


@dataclass(frozen=True)
class Machine(Record):
    """The parameters of a simulated cycle count besides the graph and the data.

    Attributes
    ----------
    name : str
        Shown to the user.
    channel_capacity : int or None
        Tokens each channel holds, where its stream does not say; None is unbounded.
    alu_latency, alu_interval : int
        Cycles from operands to result, and between two results, of ALUs whose node does not
        say (parameters ``latency`` and ``ii``).
    load_latency : int
        Cycles from reference to value, of value loads whose node does not say.
    search_latency, search_interval : int
        Cycles from a coordinate to its position in a compressed level, and between two
        coordinates that are looked up there.
    quirks : Quirks
        Deviations to copy.
    blocks : BlockTiming
        How long work on blocks takes.
    functions : FunctionLatency
        Cycles of functions that take longer than ``alu_latency``.
    energy : Energy
        Picojoules of each action; no cycle count depends on them.
    clock_hz : float
        Cycles per second, to turn cycles into time.
    memory : Dram, Ideal, Queues or None
        What stored arrays lie in (:mod:`fuseloom.dataflow.dram`); None gives every word at
        once, for nothing.
    outstanding : int
        Requests each port of the memory may have under way.
    port_slots : int
        Tokens each read port holds, whose words are under way or not yet taken.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from dataclasses import replace
    >>> spmv, data = fl.load("spmv")
    >>> compiled = fl.compile(spmv.program)
    >>> slow = replace(fl.Machine.default(), name="slow", load_latency=100)
    >>> for machine in (fl.Machine.default(), slow, fl.Machine.preset("hbm2")):
    ...     print(machine.name, fl.simulate(compiled, data, machine).cycles)
    default 38
    slow 137
    hbm2 239
    """

    name: str = "default"
    channel_capacity: Positive | None = None
    alu_latency: Positive = 1
    alu_interval: Positive = 1
    load_latency: Positive = 1
    search_latency: Positive = 4
    search_interval: Positive = 1
    quirks: Quirks = field(default_factory=Quirks)
    clock_hz: Annotated[float, Meta(gt=0)] = 1e9
    blocks: BlockTiming = field(default_factory=BlockTiming)
    functions: FunctionLatency = field(default_factory=FunctionLatency)
    energy: Energy = field(default_factory=Energy)
    memory: MemoryModel | None = None
    outstanding: Positive = 64
    port_slots: Positive = 512

    def __repr__(self) -> str:
        capacity = self.channel_capacity
        channels = "no bound" if capacity is None else counted(capacity, "token")
        memory = "no memory" if self.memory is None else f"memory {self.memory.name}"
        return described(self, f"{self.name}: channels: {channels}, {memory}")

    def __post_init__(self) -> None:
        owner = f"machine {self.name!r}"
        name: object = self.name  # a file may have anything here
        if not isinstance(name, str) or len(name) > MAX_NAME:
            raise SimulationError("a machine's name is text", hint=f"at most {MAX_NAME} characters")
        for what, most in _LIMITS.items():
            size = getattr(self, what)
            if size is None and what == "channel_capacity":
                continue
            _check_size(owner, what, size, most)
        for function in fields(self.functions):
            cycles = getattr(self.functions, function.name)
            if cycles is not None:
                what = f"the latency of {function.name}"
                _check_size(owner, what, cycles, _LIMITS["alu_latency"])
        clock: object = self.clock_hz
        real = isinstance(clock, int | float) and not isinstance(clock, bool)
        if not real or not 0 < self.clock_hz <= MAX_CLOCK:
            raise SimulationError(
                f"{owner}: clock_hz is {clock!r}", hint=f"cycles per second, at most {MAX_CLOCK:g}"
            )
        check_fields(self)

    @property
    def has_searchers(self) -> bool:
        """True if it can search for coordinates in compressed levels: the reference cannot."""
        return not self.quirks.active and not isinstance(self.memory, Queues)

    @classmethod
    def default(cls, channel_capacity: int | None = None) -> Machine:
        """This project's machine: no quirks."""
        return cls("default", channel_capacity)

    @classmethod
    def of_size(cls, size: Literal["S", "M", "L"]) -> Machine:
        """The hardware that graphs are emitted as, with a memory: small, medium or large.

        Each is four times the one before: in channels of HBM2 (1, 4 and 16), requests under way per
        port (16, 64, 256), tokens of a port (128, 512, 2048), and in what energy is counted for:
        buffers (8, 32 and 128 KiB) and channels without a bound (16, 64, 256 tokens).
        """
        factor = {"S": 1, "M": 4, "L": 16}[size]
        return cls(
            f"size-{size}",
            functions=RTL,
            energy=Energy(buffer_bytes=8192 * factor, unbounded_depth=16 * factor),
            memory=hbm2(channels=factor),
            outstanding=16 * factor,
            port_slots=128 * factor,
        )

    @classmethod
    def comal(cls, channel_capacity: int | None = None, *, memory: bool = False) -> Machine:
        """The reference simulator with all its quirks, its memory model off or on."""
        queues = Queues() if memory else None
        name = "comal-hbm" if memory else "comal"
        return cls(name, channel_capacity, quirks=Quirks.comal(), memory=queues)

    @classmethod
    def preset(cls, name: str) -> Machine:
        """The machine of that name.

        Raises
        ------
        SimulationError
            If there is none.
        """
        if name not in PRESETS:
            raise SimulationError(
                f"no machine is called {name!r}", hint=suggestion(name, list(PRESETS))
            )
        return PRESETS[name]()

    def function_latency(self, function: str) -> int:
        """Cycles from operands to the result of a function of numbers."""
        return self.functions.of(function) or self.alu_latency

    @property
    def access_bytes(self) -> int:
        """Bytes that ports ask the memory for at once; 4 where nodes ask word by word."""
        return self.memory.access_bytes if isinstance(self.memory, Dram | Ideal) else WORD

    def capacity_of(self, stream: Stream) -> int | None:
        """Tokens that stream's channel holds; None is unbounded."""
        return self.channel_capacity if stream.capacity is None else stream.capacity

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Machine:
        """Read what ``to_dict`` gave; what is missing is as on the default machine.

        Raises
        ------
        SimulationError
            If a key is unknown or a value is wrong.
        """
        given = given_fields(cls, data, "a machine")
        parts = {
            "quirks": (Quirks, "the table of quirks"),
            "blocks": (BlockTiming, "the timing of blocks"),
            "functions": (FunctionLatency, "the latencies of functions"),
            "energy": (Energy, "the energies of actions"),
        }
        try:
            for name, (kind, what) in parts.items():
                given[name] = kind(**given_fields(kind, given.get(name, {}), what))
        except GraphError as problem:
            raise SimulationError(f"not a machine: {problem.message}", hint=problem.hint) from None
        if given.get("memory") is not None:
            if not isinstance(given["memory"], Mapping):
                raise SimulationError(f"a machine's memory is {given['memory']!r}", hint="a table")
            given["memory"] = memory_from_dict(given["memory"])
        return cls(**given)

    @property
    def fingerprint(self) -> Fingerprint:
        """Hash of all that the numbers of a run depend on, 16 hexadecimal digits.

        Names do not count, nor do the default latencies of functions and energies of actions.
        """
        data = self.to_dict()
        del data["name"]
        if self.functions == FunctionLatency():  # as machines were before they had them
            del data["functions"]
        if self.energy == Energy():
            del data["energy"]
        if data["memory"] is not None:
            data["memory"].pop("name", None)
        text = json.dumps(data, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        capacity = self.channel_capacity
        channels = "unbounded" if capacity is None else counted(capacity, "token")
        lines = [
            f"machine {self.name}",
            f"  channel capacity: {channels}",
            f"  ALU latency: {counted(self.alu_latency, 'cycle')}, one result every "
            f"{self.alu_interval}",
            *([f"  of functions: {self.functions}"] if str(self.functions) else []),
            f"  load latency: {counted(self.load_latency, 'cycle')}",
            f"  search: {counted(self.search_latency, 'cycle')}, a coordinate every "
            f"{self.search_interval}",
            f"  blocks: {self.blocks}",
            f"  clock: {self.clock_hz / 1e6:g} MHz",
            f"  quirks: {', '.join(self.quirks.active) or 'none'}",
        ]
        if self.memory is None:
            lines.append("  memory: every word at once")
        else:
            lines += [f"  {line}" for line in str(self.memory).splitlines()]
            lines.append(
                f"  ports: {counted(self.outstanding, 'request')} under way, "
                f"{counted(self.port_slots, 'token')} each"
            )
        return "\n".join(lines)


PRESETS: Mapping[str, Callable[[], Machine]] = MappingProxyType(
    {
        "default": Machine.default,
        "ideal": lambda: Machine("ideal", memory=Ideal()),
        "hbm2": lambda: Machine("hbm2", memory=hbm2()),
        "ddr4": lambda: Machine("ddr4", memory=ddr4_3200()),
        "rtl": lambda: Machine("rtl", functions=RTL),
        "size-S": lambda: Machine.of_size("S"),
        "size-M": lambda: Machine.of_size("M"),
        "size-L": lambda: Machine.of_size("L"),
        "comal": Machine.comal,
        "comal-hbm": lambda: Machine.comal(memory=True),
    }
)
"""Machines by name: no memory; a memory without limits; two DRAMs; the hardware that graphs are
emitted as; the same with a memory, in three sizes; the reference, its memory off and on."""


def _check_size(owner: str, what: str, size: object, most: int) -> None:
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= most:
        raise SimulationError(f"{owner}: {what} is {size!r}", hint=f"an integer from 1 to {most:,}")
