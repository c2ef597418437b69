"""Predictions of the time of a kernel, from the times of its operations.

Each operation counts as often as it is computed: what has no buffer may be computed several times.
Operations that only choose elements (bitcasts, broadcasts, slices) are passed over, and cheap ones
that are computed once, where they are read; of others that are computed there the time of a copy
is subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from fuseloom.stitch.consistency import OperationPart
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.opcodes import POINTWISE, OperationClass, is_light, operation_class, work_of
from fuseloom.stitch.operation_timing import PerformanceKey, PerformanceLookup, PerformanceTime
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shared_memory import SharedMemoryPlan
from fuseloom.stitch.stitched import StitchedKernel

KnownTimes: TypeAlias = Mapping[PerformanceKey, PerformanceTime]


@dataclass(frozen=True)
class OperationCost:
    """The keys that the cost of an operation follows from.

    Attributes
    ----------
    name : str
    key : PerformanceKey
    copy : PerformanceKey, optional
        That of a copy of its value, which it does not make if it has no buffer.
    """

    name: str
    key: PerformanceKey
    copy: PerformanceKey | None

    def without_store(self, known: KnownTimes) -> float:
        """Return its time less that of the copy."""
        time = known[self.key].nanoseconds
        return max(time - known[self.copy].nanoseconds, 0.0) if self.copy else time


class KernelCosts:
    """Sums up times of operations of kernels of one computation.

    Parameters
    ----------
    module : DenseModule
        Has the computations that reductions apply.
    computation : DenseComputation
    library : PerformanceLibrary

    Examples
    --------
    The exponential is computed where the negation reads it, and stores nothing.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> from fuseloom.stitch.kernel_memory import memory_of
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[8] parameter(0)
    ...   y = f32[8] exponential(x)
    ...   ROOT z = f32[8] negate(y)
    ... }''')
    >>> (kernel,) = fuse(module.main).kernels
    >>> times = {"exponential": 50, "negate": 9, "copy": 8}
    >>> with TemporaryDirectory() as folder:
    ...     library = PerformanceLibrary(Path(folder) / "times.sqlite", lambda some: [
    ...         PerformanceTime(times[one.key.opcode], 1) for one in some])
    ...     made = KernelCosts(module, module.main, library)
    ...     costs = made.costs(kernel.parts, kernel.roots)
    ...     known = library.times(made.lookups(costs))
    >>> made.total(kernel, memory_of(module.main, kernel), costs, known)
    51.0
    """

    def __init__(
        self, module: DenseModule, computation: DenseComputation, library: PerformanceLibrary
    ) -> None:
        self.module = module
        self.computation = computation
        self.library = library
        self._lookups: dict[tuple[str, BlockSchedule], PerformanceLookup] = {}
        self._by_key: dict[PerformanceKey, PerformanceLookup] = {}
        self._copies: dict[str, DenseOperation] = {}

    def lookups(self, costs: Iterable[OperationCost]) -> list[PerformanceLookup]:
        """The lookups of all keys of costs."""
        keys = (key for cost in costs for key in (cost.key, cost.copy))
        return [self._by_key[key] for key in keys if key is not None]

    def costs(
        self, parts: Mapping[str, OperationPart], roots: Sequence[str]
    ) -> tuple[OperationCost, ...]:
        """The keys of operations that have parts of a kernel of some roots."""
        made = []
        for name, part in parts.items():
            operation = self.computation.by_name[name]
            if name in roots or not is_light(self.computation, operation):
                schedule = part.schedule or BlockSchedule(0, 1)
                key, copy = self._lookup(operation, schedule).key, None
                if name not in roots and operation_class(operation) in POINTWISE:
                    copy = self._lookup(self._copy(name), schedule).key
                made.append(OperationCost(name, key, copy))
        return tuple(made)

    def least(
        self,
        kernel: StitchedKernel,
        costs: Sequence[OperationCost],
        known: KnownTimes,
        bound: float = inf,
    ) -> float:
        """The sum without what depends on the buffers, or the first part that reaches a bound."""
        total = 0.0
        for cost in costs:
            if cost.name in kernel.roots or not self._is_cheap(cost.name):
                total += cost.without_store(known)
                if total >= bound:
                    break
        return total

    def total(
        self,
        kernel: StitchedKernel,
        plan: SharedMemoryPlan,
        costs: Iterable[OperationCost],
        known: KnownTimes,
    ) -> float:
        """The sum of the times of operations, each as often as it is computed.

        One that is computed where it is read stores nothing, and if it is cheap costs nothing the
        first time: its time in the library is that of reading and writing.
        """
        repeats: dict[str, float] = {}
        for name in reversed(kernel.operations):
            own = self.computation.by_name[name]
            repeats[name] = 1.0
            if name not in plan.phases:
                readers = [one for one in self.computation.users[name] if one in repeats]
                repeats[name] = sum(repeats[one] * self._reuse(one, own) for one in readers)
        total = 0.0
        for cost in costs:
            if cost.name in plan.phases:
                total += known[cost.key].nanoseconds
            else:
                times = repeats[cost.name] - self._is_cheap(cost.name)
                total += max(times, 0.0) * cost.without_store(known)
        return total

    def _reuse(self, reader: str, operand: DenseOperation) -> float:
        """The number of times that a reader reads each element of an operand; at least once."""
        operation = self.computation.by_name[reader]
        if operation.opcode not in ("dot", "broadcast"):
            return 1.0
        return max(work_of(self.computation, operation) / max(operand.array.elements, 1), 1.0)

    def _is_cheap(self, name: str) -> bool:
        return operation_class(self.computation.by_name[name]) is OperationClass.CHEAP

    def _copy(self, name: str) -> DenseOperation:
        """A copy of the value of an operation."""
        if name not in self._copies:
            shape = self.computation.by_name[name].shape
            self._copies[name] = DenseOperation(f"copy of {name}", "copy", shape, (name,))
        return self._copies[name]

    def _lookup(self, operation: DenseOperation, schedule: BlockSchedule) -> PerformanceLookup:
        place = (operation.name, schedule)
        if place not in self._lookups:
            made = self.library.lookup(self.module, self.computation, operation, schedule)
            self._lookups[place] = self._by_key[made.key] = made
        return self._lookups[place]
