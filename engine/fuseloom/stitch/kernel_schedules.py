"""Schedules of a kernel's roots: those that fit all its operations, and what the others meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fuseloom.errors import ScheduleError
from fuseloom.stitch.consistency import (
    InconsistentPart,
    OperationPart,
    ScheduleConsistency,
    ScheduleTrial,
)
from fuseloom.stitch.graph import DenseComputation
from fuseloom.stitch.schedules import BlockSchedule, first_schedule, schedules_of
from fuseloom.stitch.stitched import StitchedKernel


@dataclass(frozen=True)
class ScheduleChoice:
    """A division of a kernel's roots, and what follows for its operations.

    Attributes
    ----------
    schedule : BlockSchedule
        The first that divides the roots so.
    alike : tuple of BlockSchedule
        The others that do.
    blocks : int
    parts : mapping
        Per operation its part; empty if the schedule does not fit all.
    operation : str
        The first operation that the schedule does not fit, from the roots on; empty if there is
        none.
    why : InconsistentPart, optional
        The reason.
    """

    schedule: BlockSchedule
    alike: tuple[BlockSchedule, ...]
    blocks: int
    parts: Mapping[str, OperationPart] = field(default_factory=dict)
    operation: str = ""
    why: InconsistentPart | None = None

    @property
    def fits(self) -> bool:
        """True if all operations have parts."""
        return self.why is None


def schedule_choices(
    computation: DenseComputation, kernel: StitchedKernel
) -> tuple[ScheduleChoice, ...]:
    """Try every division of the roots of a kernel.

    Parameters
    ----------
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    kernel : StitchedKernel
        One without a schedule has no choices.

    Examples
    --------
    Of sums of rows, blocks have whole rows.

    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... total { a = f32[] parameter(0)
    ...   b = f32[] parameter(1)
    ...   ROOT s = f32[] add(a, b) }
    ... ENTRY main {
    ...   x = f32[4,2] parameter(0)
    ...   zero = f32[] constant(0)
    ...   s = f32[4] reduce(x, zero), dimensions={1}, to_apply=total
    ...   w = f32[4,2] broadcast(s), dimensions={0}
    ...   ROOT y = f32[4,2] divide(x, w)
    ... }''')
    >>> made = fuse(module.main)
    >>> found = schedule_choices(made.computation, made.kernels[0])
    >>> [str(one.schedule) for one in found if one.fits]
    ['row 0/1', 'row 0/2', 'row 0/4']
    >>> [(str(one.schedule), one.operation, one.why.reader) for one in found if not one.fits]
    [('row 1/2', 's', 'w'), ('column 0/1', 's', 'w'), ('column 0/2', 's', 'w')]
    """
    if kernel.schedule is None:
        return ()
    dims = computation.by_name[kernel.name].array.dims
    alike: dict[BlockSchedule, list[BlockSchedule]] = {}
    for one in schedules_of(dims):
        alike.setdefault(first_schedule(one, dims), []).append(one)
    checker = ScheduleConsistency(computation)
    return tuple(
        schedule_choice(checker, kernel, first, tuple(one for one in others if one != first))
        for first, others in alike.items()
    )


def with_schedule(
    computation: DenseComputation,
    kernel: StitchedKernel,
    schedule: BlockSchedule,
    checker: ScheduleConsistency | None = None,
) -> StitchedKernel:
    """Return a kernel with another schedule of its roots, and the parts that follow.

    Parameters
    ----------
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    kernel : StitchedKernel
    schedule : BlockSchedule
    checker : ScheduleConsistency, optional
        Of the computation, where several schedules are tried; it keeps what it has found.

    Raises
    ------
    ScheduleError
        If it is no schedule of the roots, or does not fit an operation.
    """
    if kernel.schedule is None:
        raise ScheduleError(f"{kernel.name} has no schedule: {kernel.reason}")
    dims = computation.by_name[kernel.name].array.dims
    first = first_schedule(schedule, dims)
    choice = schedule_choice(checker or ScheduleConsistency(computation), kernel, first)
    if choice.why is not None:
        raise ScheduleError(
            f"{schedule} of {kernel.name} does not fit {choice.operation}, which "
            f"{choice.why.reader} reads: {choice.why.rule}",
            hint=f"schedules that fit are {', '.join(map(str, kernel.satisfiable))}",
        )
    return replace(kernel, schedule=first, parts=choice.parts)


def schedule_choice(
    checker: ScheduleConsistency,
    kernel: StitchedKernel,
    schedule: BlockSchedule,
    alike: tuple[BlockSchedule, ...] = (),
) -> ScheduleChoice:
    """Find the parts of a kernel's operations under a schedule, or what stands in its way.

    Parameters
    ----------
    checker : ScheduleConsistency
        Of the computation that was fused.
    kernel : StitchedKernel
        With a schedule.
    schedule : BlockSchedule
        The first that divides the roots so.
    alike : tuple of BlockSchedule
        The others that do.
    """
    computation = checker.computation
    blocks = schedule.blocks(computation.by_name[kernel.name].array.dims)
    inside, outputs = {*kernel.operations}, {*computation.outputs, computation.root}
    roots = [
        name for name in kernel.roots if not any(one in inside for one in computation.users[name])
    ]
    trial = ScheduleTrial(schedule, blocks, {name: OperationPart(schedule) for name in roots})
    for name in reversed(kernel.operations):
        if name in trial.parts:
            continue
        stored = name in outputs or any(one not in inside for one in computation.users[name])
        part = checker.part(trial, name, stored)
        if isinstance(part, InconsistentPart):
            return ScheduleChoice(schedule, alike, blocks, {}, name, part)
        trial.parts[name] = part
    parts = {name: trial.parts[name] for name in kernel.operations}
    return ScheduleChoice(schedule, alike, blocks, parts)
