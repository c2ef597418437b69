"""Shared memory of a kernel: which values get buffers, which of these share space, what shrinks.

Operations of a kernel that have a buffer, and its roots, are computed in *phases*, one after
another, with a barrier between them; the others are computed where they are read.  After section
5.1 of FusionStitching (Long et al., 2018), which shares space by dominance; by liveness, which is
the default here, everything can be shared that dominance shares, and more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property

from fuseloom.errors import LimitError, ProgramError
from fuseloom.wording import counted


class BufferNeed(IntEnum):
    """The reasons for a buffer, in the order in which buffers are given up; the last stays."""

    CHEAP = 0
    """A cheap operation that several others read."""
    EXPENSIVE = 1
    """An expensive one that several others read."""
    FOR_PRODUCT = 2
    """An expensive one whose elements a matrix product reads many times."""
    DIRECT = 3
    """A reduction or a matrix product, whose threads work together."""


class SpaceSharing(StrEnum):
    """The ways to find out that a buffer is no longer read."""

    NONE = "none"
    DOMINANCE = "dominance"
    LIVENESS = "liveness"


@dataclass(frozen=True)
class KernelDataflow:
    """What decides on the buffers of a kernel.

    Attributes
    ----------
    operands : mapping
        Per operation, each behind those that it reads, those of the kernel that it reads.
    roots : tuple of str
        Operations whose values leave the kernel.
    bytes : mapping
        Per operation with a reason for a buffer, the bytes of a block's part of its value.
    needs : mapping
        The reason of each of these.
    spans : mapping
        Per operation its distance from the root.
    elementwise : frozenset of str
        Operations that read, for an element, the same element of each operand.

    Raises
    ------
    ProgramError
        If an operation reads one that is not before it, or a size is negative.
    """

    operands: Mapping[str, tuple[str, ...]]
    roots: tuple[str, ...]
    bytes: Mapping[str, int]
    needs: Mapping[str, BufferNeed]
    spans: Mapping[str, int]
    elementwise: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        known: set[str] = set()
        for name, operands in self.operands.items():
            for operand in operands:
                if operand not in known:
                    raise ProgramError(f"{name} reads {operand}, which is not before it")
            known.add(name)
        for name in self.needs:
            if self.bytes[name] < 0:
                raise ProgramError(f"the part of {name} has {self.bytes[name]} bytes")

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """The operations that read each one."""
        found: dict[str, list[str]] = {name: [] for name in self.operands}
        for name, operands in self.operands.items():
            for operand in dict.fromkeys(operands):
                found[operand].append(name)
        return {name: tuple(users) for name, users in found.items()}

    @cached_property
    def _ways(self) -> Mapping[str, tuple[int, int]]:
        """Per operation its number in a tree, and the next one that is not below it.

        An operation lies below the nearest of those that are on every way from it to a root.
        """
        above: dict[str, str | None] = {}
        depths: dict[str | None, int] = {None: 0}
        for name in reversed([*self.operands]):
            ends = name in self.root_names or not self.users[name]
            found = None if ends else self.users[name][0]
            for user in () if ends else self.users[name][1:]:
                other: str | None = user
                while found != other:  # the nearest that is above both
                    if found is None or other is None:
                        found = other = None
                    elif depths[found] < depths[other]:
                        other = above[other]
                    else:
                        found = above[found]
            above[name], depths[name] = found, depths[found] + 1
        below: dict[str | None, int] = dict.fromkeys(above, 1)
        below[None] = 0
        for name in self.operands:
            below[above[name]] += below[name]
        free: dict[str | None, int] = {None: 0}
        made: dict[str, tuple[int, int]] = {}
        for name, parent in above.items():
            number = free[parent]
            free[parent] += below[name]
            free[name] = number + 1
            made[name] = (number, number + below[name])
        return made

    @cached_property
    def root_names(self) -> frozenset[str]:
        """Operations whose values leave the kernel, in no order."""
        return frozenset(self.roots)

    def dominates(self, name: str, other: str) -> bool:
        """Tell if every way from another operation to a root, or to an end, leads through one.

        It does through the other operation itself.
        """
        start, end = self._ways[name]
        return start <= self._ways[other][0] < end


@dataclass(frozen=True)
class SharedBuffer:
    """The buffer of an operation.

    Attributes
    ----------
    name : str
        The operation.
    slot : int
        The space that it lies in.
    bytes : int
    shares : str
        The operation whose buffer lay there before; empty for the first.
    """

    name: str
    slot: int
    bytes: int
    shares: str = ""


@dataclass(frozen=True)
class SharedMemoryPlan:
    """The buffers of a kernel.

    Attributes
    ----------
    phases : tuple of str
        Operations in the order of their phases: those with a buffer, and the roots.
    buffers : mapping
        Per operation its buffer.
    slots : tuple of int
        Bytes of each space.
    recomputed : tuple of str
        Operations whose buffers were given up, in order: they are computed where they are read.
    """

    phases: tuple[str, ...]
    buffers: Mapping[str, SharedBuffer]
    slots: tuple[int, ...]
    recomputed: tuple[str, ...] = ()

    @property
    def byte_size(self) -> int:
        """Bytes of shared memory of a block."""
        return sum(self.slots)

    @property
    def shared_bytes(self) -> int:
        """Bytes of buffers that lie where another lay before."""
        return sum(one.bytes for one in self.buffers.values() if one.shares)


def plan_memory(
    dataflow: KernelDataflow,
    limit: int,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
) -> SharedMemoryPlan:
    """Plan the buffers of a kernel.

    Where they do not fit, buffers are given up in the order of :class:`BufferNeed`, and of one
    reason that of the operation that is nearest to the root first.

    Parameters
    ----------
    limit : int
        Bytes of shared memory that a block may have.

    Raises
    ------
    LimitError
        If what reductions and products need does not fit.

    Examples
    --------
    Softmax of a row: the largest, the powers, their sum, the quotients.

    >>> from fuseloom.stitch.shared_memory import KernelDataflow as Dataflow
    >>> operands = {"max": (), "exp": ("max",), "sum": ("exp",), "div": ("exp", "sum"),
    ...             "dot": ("div",)}
    >>> needs = {"max": BufferNeed.DIRECT, "exp": BufferNeed.EXPENSIVE, "sum": BufferNeed.DIRECT,
    ...          "div": BufferNeed.FOR_PRODUCT}
    >>> sizes = {"max": 4, "exp": 128, "sum": 4, "div": 128}
    >>> spans = {"max": 4, "exp": 3, "sum": 2, "div": 1, "dot": 0}
    >>> made = plan_memory(
    ...     Dataflow(operands, ("dot",), sizes, needs, spans, frozenset({"div"})), 1024)
    >>> made.byte_size, made.buffers["div"].shares, made.buffers["sum"].shares
    (132, 'exp', 'max')
    """
    if limit <= 0:
        raise LimitError(f"a block has {limit} bytes of shared memory", hint="give a limit above 0")
    every = PhaseOrder(dataflow).buffered
    order = sorted(
        (need, dataflow.spans[name], name)
        for name, need in dataflow.needs.items()
        if need is not BufferNeed.DIRECT and name in every
    )
    for count in range(len(order) + 1):
        phases = PhaseOrder(dataflow, tuple(name for _, _, name in order[:count]))
        if count < len(order) and phases.least_bytes > limit:
            continue
        plan = _planned(phases, sharing)
        if plan.byte_size <= limit:
            return plan
    largest = max(plan.buffers.values(), key=lambda one: one.bytes)
    raise LimitError(
        f"reductions and products need {counted(plan.byte_size, 'byte')} of shared memory, "
        f"{largest.bytes:,} of them for {largest.name}, and a block has {limit:,}",
        hint="fuse less, or choose a schedule of more blocks",
    )


def _planned(phases: PhaseOrder, sharing: SpaceSharing) -> SharedMemoryPlan:
    plan = _shared(phases, sharing)
    if sharing is not SpaceSharing.LIVENESS or plan.byte_size == phases.least_bytes:
        return plan
    other = _shared(phases, SpaceSharing.DOMINANCE)  # what is chosen greedily could need more
    return min(plan, other, key=lambda plan: plan.byte_size)


def _shared(phases: PhaseOrder, sharing: SpaceSharing) -> SharedMemoryPlan:
    dataflow = phases.dataflow
    slots: list[int] = []
    last: list[str] = []  # the operation whose buffer lies in each space
    buffers: dict[str, SharedBuffer] = {}
    for number, name in enumerate(phases.names):
        if name not in phases.buffered:
            continue
        size = dataflow.bytes[name]
        free = [
            slot for slot, before in enumerate(last)
            if phases.is_free(before, number, sharing)
        ]  # fmt: skip
        # The space that grows least; of those, the one that fits best.
        best = min(free, key=lambda slot: (max(size - slots[slot], 0), slots[slot]), default=None)
        if best is None:
            buffers[name] = SharedBuffer(name, len(slots), size)
            slots.append(size)
            last.append(name)
        else:
            buffers[name] = SharedBuffer(name, best, size, last[best])
            slots[best] = max(slots[best], size)
            last[best] = name
    return SharedMemoryPlan(phases.names, buffers, tuple(slots), phases.given_up)


@dataclass(frozen=True)
class PhaseOrder:
    """The phases of a kernel, and what each reads from buffers.

    Attributes
    ----------
    dataflow : KernelDataflow
    given_up : tuple of str
        Operations without the buffer that there would be a reason for.
    """

    dataflow: KernelDataflow
    given_up: tuple[str, ...] = ()

    @cached_property
    def buffered(self) -> frozenset[str]:
        """Operations with a buffer; a root has one only if others of the kernel read it."""
        flow, without = self.dataflow, frozenset(self.given_up)
        return frozenset(
            name for name in flow.needs
            if name not in without and (name not in flow.root_names or flow.users[name])
        )  # fmt: skip

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Operations in the order of their phases."""
        own = self.buffered | {*self.dataflow.roots}
        return tuple(name for name in self.dataflow.operands if name in own)

    @cached_property
    def last_reads(self) -> Mapping[str, int]:
        """Per buffer the number of the last phase that reads it."""
        flow, numbers = self.dataflow, {name: number for number, name in enumerate(self.names)}
        computed: dict[str, int] = {}  # the last phase that an operation is computed in
        found: dict[str, int] = {}
        for name in reversed([*flow.operands]):
            last = max((computed[user] for user in flow.users[name]), default=-1)
            if name not in self.buffered:
                computed[name] = max(last, numbers.get(name, -1))
                continue
            computed[name] = numbers[name]
            if last >= 0:
                found[name] = last
        return found

    @cached_property
    def least_bytes(self) -> int:
        """The most bytes that are needed at once, less than which no sharing of space takes."""
        most = live = 0
        free: dict[int, int] = defaultdict(int)
        for number, name in enumerate(self.names):
            live -= free[number]
            own = self.dataflow.bytes[name] if name in self.buffered else 0
            most = max(most, live + own)
            if own and self.last_reads.get(name, -1) > number:
                live += own
                free[self.last_reads[name]] += own
        return most

    @cached_property
    def _reads(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for name, operands in self.dataflow.operands.items():
            parts = [
                frozenset((one,)) if one in self.buffered else found[one]
                for one in dict.fromkeys(operands)
            ]
            found[name] = parts[0] if len(parts) == 1 else frozenset[str]().union(*parts)
        return found

    def reads(self, name: str) -> frozenset[str]:
        """The buffers that an operation reads, itself or by what is computed for it."""
        return self._reads[name]

    def is_free(self, buffer: str, number: int, sharing: SpaceSharing) -> bool:
        """Tell if the operation of a phase may have its buffer where another lies."""
        name = self.names[number]
        if sharing is SpaceSharing.NONE:
            return False
        if sharing is SpaceSharing.DOMINANCE and not self.dataflow.dominates(name, buffer):
            return False
        last = self.last_reads.get(buffer, -1)
        return last < number or (last == number and self.is_in_place(name, buffer))

    def is_in_place(self, name: str, buffer: str) -> bool:
        """Tell if each element is computed from the same element of a buffer alone."""
        sizes = self.dataflow.bytes
        return sizes.get(name) == sizes[buffer] and self._elementwise(name, buffer)

    def _elementwise(self, name: str, buffer: str) -> bool:
        waiting, seen = [name], {name}
        while waiting:
            one = waiting.pop()
            if one not in self.dataflow.elementwise:
                return False
            inside = {*self.dataflow.operands[one]} - self.buffered - seen
            through = [operand for operand in inside if buffer in self._reads[operand]]
            waiting += through
            seen.update(through)
        return True


def wrong_reads(dataflow: KernelDataflow, plan: SharedMemoryPlan) -> Iterator[str]:
    """Run the phases of a plan, and give every read of what was overwritten.

    Examples
    --------
    >>> operands = {"a": (), "b": ("a",), "c": ("a", "b")}
    >>> needs = {"a": BufferNeed.DIRECT, "b": BufferNeed.DIRECT}
    >>> flow = KernelDataflow(operands, ("c",), {"a": 4, "b": 4}, needs, {"a": 2, "b": 1, "c": 0})
    >>> list(wrong_reads(flow, plan_memory(flow, 64)))
    []
    >>> both = {name: SharedBuffer(name, 0, 4) for name in "ab"}
    >>> list(wrong_reads(flow, SharedMemoryPlan(("a", "b", "c"), both, (4,))))
    ['b overwrites a while it reads it', 'c reads a, where b lies']
    """
    phases = PhaseOrder(dataflow, plan.recomputed)
    holds: dict[int, str] = {}
    for name in plan.phases:
        own = plan.buffers.get(name)
        for buffer in sorted(phases.reads(name)):
            slot = plan.buffers[buffer].slot
            if holds.get(slot) != buffer:
                yield f"{name} reads {buffer}, where {holds.get(slot, 'nothing')} lies"
            elif own is not None and own.slot == slot and not phases.is_in_place(name, buffer):
                yield f"{name} overwrites {buffer} while it reads it"
        if own is not None:
            if own.bytes > plan.slots[own.slot]:
                yield f"{name} has {own.bytes} bytes in a space of {plan.slots[own.slot]}"
            holds[own.slot] = name
