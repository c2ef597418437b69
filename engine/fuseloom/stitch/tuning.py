"""Tuning: the schedules of kernels that take the least time, by times of their operations.

Section 4.3 of FusionStitching (Long et al., 2018).  The time of a kernel is predicted from the
times that its operations have in the performance library; the best predictions may be checked by
timing whole kernels, which the library keeps, too.

Roots that have no operation in common may have different schedules, of equally many blocks.  A
kernel is searched in two stages: first the numbers of blocks that all its groups of roots have,
then the schedules of these numbers, and a sum that exceeds the best so far is not continued.  A
kernel with one group is searched exhaustively.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple, TypeAlias

from fuseloom.errors import LimitError
from fuseloom.stitch.consistency import OperationPart, ScheduleConsistency, ScheduleTrial
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.kernel_costs import KernelCosts, KnownTimes, OperationCost
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.operation_timing import PerformanceLookup
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.schedules import BlockSchedule, divisions_of
from fuseloom.stitch.shared_memory import SharedMemoryPlan, SpaceSharing
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel

MOST_TRIED = 1_000
"""Choices of one number of blocks whose shared memory is planned."""


@dataclass(frozen=True)
class TuningCandidate:
    """Schedules that a kernel may have, and the time that is predicted for them.

    Attributes
    ----------
    schedules : tuple of BlockSchedule
        Of each group of roots that have operations in common, that of the first root first.
    blocks : int
    nanoseconds : float
        If buffers were not planned, or do not fit, at least this.
    fits : bool or None
        False if the buffers do not fit into shared memory; None if the sum was not continued, since
        it exceeds the best.
    measured : float or None
        The time of the whole kernel; None if it was not measured.
    """

    schedules: tuple[BlockSchedule, ...]
    blocks: int
    nanoseconds: float
    fits: bool | None
    measured: float | None = None


@dataclass(frozen=True)
class TunedKernel:
    """A kernel with the schedule that is predicted to take the least time.

    Attributes
    ----------
    kernel : StitchedKernel
        As it was given, if there is nothing to choose from.
    nanoseconds : float or None
        The prediction; None if there was none.
    candidates : tuple of TuningCandidate
    hits, misses : int
        Lookups of the performance library.
    """

    kernel: StitchedKernel
    nanoseconds: float | None
    candidates: tuple[TuningCandidate, ...]
    hits: int
    misses: int

    @property
    def schedule(self) -> BlockSchedule | None:
        """The schedule of its first root."""
        return self.kernel.schedule


@dataclass(frozen=True)
class _Option:
    """A schedule of a group of roots, the parts of its operations, and what is summed."""

    schedule: BlockSchedule
    parts: Mapping[str, OperationPart]
    costs: tuple[OperationCost, ...]


_Planned: TypeAlias = tuple[float, int, StitchedKernel, SharedMemoryPlan]
"""A kernel that may be chosen: its cost, the place of its candidate, and its buffers."""


class _Tried(NamedTuple):
    candidates: list[TuningCandidate]
    planned: list[_Planned]


class KernelTuner:
    """Chooses the schedules of kernels of one fusion.

    Parameters
    ----------
    module : DenseModule
        Has the computations that reductions apply.
    fusion : DeepFusion
    library : PerformanceLibrary
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing
    prune : bool
        True if sums that exceed the best are not continued.
    finalists : int
        Candidates with the best predictions that are timed as whole kernels, by which one of them
        is chosen; with 0 or 1 predictions alone decide, as in the paper.
    """

    def __init__(
        self,
        module: DenseModule,
        fusion: DeepFusion,
        library: PerformanceLibrary,
        *,
        limit: int = SHARED_MEMORY,
        sharing: SpaceSharing = SpaceSharing.LIVENESS,
        prune: bool = True,
        finalists: int = 0,
    ) -> None:
        self.module = module
        self.computation = fusion.computation
        self.library = library
        self.limit = limit
        self.sharing = sharing
        self.prune = prune
        self.finalists = finalists if finalists > 1 else 0
        self._checker = ScheduleConsistency(fusion.computation)
        self._outputs = {*self.computation.outputs, self.computation.root}
        self._costs = KernelCosts(module, fusion.computation, library)
        self._groups: dict[tuple[str, ...], list[dict[int, list[_Option]]]] = {}

    def lookups(self, kernel: StitchedKernel) -> list[PerformanceLookup]:
        """All lookups that a kernel is tuned with."""
        if kernel.schedule is None or kernel.is_call:
            return []
        return self._costs.lookups(
            cost
            for group in self._options(kernel)
            for options in group.values()
            for option in options
            for cost in option.costs
        )

    def tune(self, *kernels: StitchedKernel) -> list[TunedKernel]:
        """Choose the schedules of kernels; what the library does not know is timed at once."""
        known, counts = self._times([self.lookups(kernel) for kernel in kernels])
        found = [
            self._search(kernel, self._options(kernel), known)
            if kernel.schedule is not None and not kernel.is_call
            else _Tried([], [])
            for kernel in kernels
        ]
        last = [[self._whole(one) for one in some.planned[: self.finalists]] for some in found]
        known, more = self._times(last)
        made = []
        for kernel, some, whole, (hits, misses), (others, new) in zip(
            kernels, found, last, counts, more, strict=True
        ):
            chosen, least = 0, inf
            for number, lookup in enumerate(whole):
                time = known[lookup.key]
                if time.runs:
                    place = some.planned[number][1]
                    measured = replace(some.candidates[place], measured=time.nanoseconds)
                    some.candidates[place] = measured
                    if time.nanoseconds < least:
                        chosen, least = number, time.nanoseconds
            cost, _, best, _ = some.planned[chosen] if some.planned else (None, 0, kernel, None)
            candidates = tuple(some.candidates)
            made.append(TunedKernel(best, cost, candidates, hits + others, misses + new))
        return made

    def _times(
        self, asked: Sequence[Sequence[PerformanceLookup]]
    ) -> tuple[KnownTimes, list[tuple[int, int]]]:
        """Times, and the numbers of hits and misses of each kernel's lookups."""
        missing = {one.key for some in asked for one in some if one.key not in self.library}
        known = self.library.times([one for some in asked for one in some])
        counts = []
        for some in asked:
            new = missing & {one.key for one in some}
            missing -= new
            counts.append((len(some) - len(new), len(new)))
        return known, counts

    def _whole(self, planned: _Planned) -> PerformanceLookup:
        _, _, kernel, plan = planned
        return self.library.kernel_lookup(self.module, self.computation, kernel, plan)

    # Stage 1: groups of roots, and their schedules by numbers of blocks ---------------------------

    def _options(self, kernel: StitchedKernel) -> list[dict[int, list[_Option]]]:
        """Per group of roots its schedules by blocks, of numbers that all groups have."""
        if kernel.operations in self._groups:
            return self._groups[kernel.operations]
        groups = self._root_groups(kernel)
        inside = frozenset(kernel.operations)
        dims = self.computation.by_name[kernel.roots[0]].array.dims
        schedules = kernel.satisfiable if len(groups) == 1 else divisions_of(dims)
        made: list[dict[int, list[_Option]]] = []
        common: set[int] | None = None
        for roots, members in groups:
            by_blocks: dict[int, list[_Option]] = {}
            for schedule in schedules:
                blocks = schedule.blocks(dims)
                if common is not None and blocks not in common:
                    continue
                parts = self._parts(roots, members, inside, schedule)
                if parts is not None:
                    option = _Option(schedule, parts, self._costs.costs(parts, kernel.roots))
                    by_blocks.setdefault(blocks, []).append(option)
            common = set(by_blocks) if common is None else common & set(by_blocks)
            made.append(by_blocks)
        assert common is not None
        made = [{b: some for b, some in one.items() if b in common} for one in made]
        self._groups[kernel.operations] = made
        return made

    def _root_groups(self, kernel: StitchedKernel) -> list[tuple[list[str], list[str]]]:
        """Roots that others of the kernel do not read, by what they have in common."""
        inside = set(kernel.operations)
        home = {name: name for name in kernel.operations}

        def first(name: str) -> str:
            while home[name] != name:
                name = home[name]
            return name

        for name in kernel.operations:
            for operand in self.computation.by_name[name].operands:
                if operand in inside:
                    home[first(operand)] = first(name)
        made: dict[str, tuple[list[str], list[str]]] = {}
        for root in kernel.roots:
            if not any(user in inside for user in self.computation.users[root]):
                made.setdefault(first(root), ([], []))[0].append(root)
        for name in kernel.operations:
            made[first(name)][1].append(name)
        return list(made.values())

    def _parts(
        self,
        roots: Sequence[str],
        members: Sequence[str],
        inside: frozenset[str],
        schedule: BlockSchedule,
    ) -> dict[str, OperationPart] | None:
        """The parts of all operations of a group, if the schedule fits them."""
        trial = ScheduleTrial(schedule, 1, {root: OperationPart(schedule) for root in roots})
        for name in reversed(members):
            if name in trial.parts:
                continue
            readers = self.computation.users[name]
            stored = name in self._outputs or any(user not in inside for user in readers)
            part = self._checker.part(trial, name, stored)
            if not isinstance(part, OperationPart):
                return None
            trial.parts[name] = part
        return trial.parts

    # Stage 2: search ------------------------------------------------------------------------------

    def _search(
        self,
        kernel: StitchedKernel,
        groups: Sequence[Mapping[int, Sequence[_Option]]],
        known: KnownTimes,
    ) -> _Tried:
        """All candidates, and of those whose buffers fit what they cost, the least first."""
        best: float | None = None
        candidates: list[TuningCandidate] = []
        planned: list[_Planned] = []
        prune = self.prune and len(groups) > 1
        for blocks in groups[0]:
            total, ranked = 0.0, list[list[tuple[float, _Option]]]()
            for group in groups:
                bound = inf if best is None or not prune else best - total
                costed = [
                    (self._costs.least(kernel, one.costs, known, bound), one)
                    for one in group[blocks]
                ]
                costed.sort(key=lambda one: one[0])
                ranked.append(costed)
                total += costed[0][0]
                if costed[0][0] >= bound:
                    break
            for nanoseconds, options in _by_cost(ranked):
                schedules = tuple(one.schedule for one in options)
                if best is not None and prune and nanoseconds >= best:
                    candidates.append(TuningCandidate(schedules, blocks, nanoseconds, None))
                    break
                made = self._kernel(kernel, options)
                try:
                    plan = memory_of(self.computation, made, self.limit, self.sharing)
                except LimitError:
                    candidates.append(TuningCandidate(schedules, blocks, nanoseconds, False))
                    continue
                costs = (one for option in options for one in option.costs)
                cost = self._costs.total(made, plan, costs, known)
                candidates.append(TuningCandidate(schedules, blocks, cost, True))
                planned.append((cost, len(candidates) - 1, made, plan))
                best = cost if best is None else min(cost, best)
        return _Tried(candidates, sorted(planned, key=lambda one: one[:2]))

    def _kernel(self, kernel: StitchedKernel, options: Sequence[_Option]) -> StitchedKernel:
        """The kernel with the parts of options."""
        parts = {name: part for option in options for name, part in option.parts.items()}
        ordered = {name: parts[name] for name in kernel.operations}
        return replace(kernel, schedule=options[0].schedule, parts=ordered)


def tune(
    module: DenseModule,
    fusion: DeepFusion,
    kernel: StitchedKernel,
    library: PerformanceLibrary,
    *,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    finalists: int = 0,
) -> TunedKernel:
    """Choose the schedule of a kernel of a fusion; see :class:`KernelTuner` for the parameters.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> from fuseloom.stitch.operation_timing import PerformanceTime
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[8,4] parameter(0)
    ...   ROOT y = f32[8,4] exponential(x)
    ... }''')
    >>> made = fuse(module.main)
    >>> with TemporaryDirectory() as folder:
    ...     library = PerformanceLibrary(Path(folder) / "times.sqlite", lambda some: [
    ...         PerformanceTime(abs(one.key.sword - 4), 1) for one in some])
    ...     tuned = tune(module, made, made.kernels[0], library)
    >>> str(tuned.schedule), tuned.nanoseconds, len(tuned.candidates), tuned.misses
    ('row 0/4', 0.0, 10, 10)
    """
    tuner = KernelTuner(
        module, fusion, library, limit=limit, sharing=sharing, finalists=finalists
    )  # fmt: skip
    return tuner.tune(kernel)[0]


def tuned_fusion(
    module: DenseModule,
    fusion: DeepFusion,
    library: PerformanceLibrary,
    *,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    finalists: int = 0,
) -> tuple[DeepFusion, tuple[TunedKernel, ...]]:
    """Choose the schedules of all kernels of a fusion; what is not known is timed at once.

    Returns
    -------
    fusion : DeepFusion
        With the kernels that were chosen.
    tuned : tuple of TunedKernel
        Each in the place of its kernel.
    """
    tuner = KernelTuner(
        module, fusion, library, limit=limit, sharing=sharing, finalists=finalists
    )  # fmt: skip
    tuned = tuple(tuner.tune(*fusion.kernels))
    return replace(fusion, kernels=tuple(one.kernel for one in tuned)), tuned


def _by_cost(
    ranked: Sequence[Sequence[tuple[float, _Option]]],
) -> Iterator[tuple[float, tuple[_Option, ...]]]:
    """Choices of one option of each group, those with the least sum first."""
    start = (0,) * len(ranked)
    waiting = [(sum(one[0][0] for one in ranked), start)]
    seen = {start}
    for _ in range(MOST_TRIED):
        if not waiting:
            return
        nanoseconds, places = heapq.heappop(waiting)
        yield nanoseconds, tuple(one[at][1] for one, at in zip(ranked, places, strict=True))
        for number, one in enumerate(ranked):
            if places[number] + 1 < len(one):
                after = (*places[:number], places[number] + 1, *places[number + 1 :])
                if after not in seen:
                    seen.add(after)
                    total = sum(some[at][0] for some, at in zip(ranked, after, strict=True))
                    heapq.heappush(waiting, (total, after))
