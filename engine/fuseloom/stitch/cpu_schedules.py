"""Schedules for processors: blocks that are rows of some thousand elements.

Fusion takes schedules with many blocks, each as small as is worth a block of threads on a GPU. On
a processor a thread runs a block in vectors, and so all that lies side by side is best in one
block, if its buffers fit; a few blocks keep all threads busy.
"""

from __future__ import annotations

from dataclasses import replace
from math import log2, prod

from fuseloom.errors import LimitError
from fuseloom.stitch.consistency import ScheduleConsistency
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseComputation
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import schedule_choice
from fuseloom.stitch.opcodes import OperationClass, operation_class
from fuseloom.stitch.schedules import BlockSchedule, SplitType, work_space
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel

BLOCK_ELEMENTS = 2_048
"""Elements of the root that a block has best."""
RUN = 64
"""Elements side by side that are worth the beginning of a loop."""
BUSY_BLOCKS = 16
"""Blocks that keep the threads of a processor busy, however late some of them begin."""
LARGE = 1 << 15
"""Elements of a root whose blocks are worth several threads."""


def cpu_fusion(
    fusion: DeepFusion,
    *,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
) -> DeepFusion:
    """Choose the schedules of all kernels of a fusion for a processor.

    Of those that fit it takes one that computes the fewest expensive operations again for want of
    shared memory; then one whose blocks are of elements side by side; then one with blocks enough
    for several threads, if there is work for them; and then that whose blocks are nearest to
    :data:`BLOCK_ELEMENTS`.  Unlike tuning it times nothing.

    Parameters
    ----------
    fusion : DeepFusion
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> made = fuse(read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[512,256] parameter(0)
    ...   ROOT y = f32[512,256] exponential(x)
    ... }''').main)
    >>> [str(one.schedule) for one in (made.kernels[0], cpu_fusion(made).kernels[0])]
    ['row 1/8', 'row 0/64']
    """
    checker = ScheduleConsistency(fusion.computation)
    kernels = tuple(_chosen(checker, one, limit, sharing) for one in fusion.kernels)
    return replace(fusion, kernels=kernels)


def _chosen(
    checker: ScheduleConsistency, kernel: StitchedKernel, limit: int, sharing: SpaceSharing
) -> StitchedKernel:
    if kernel.schedule is None:
        return kernel
    computation = checker.computation
    dims = computation.by_name[kernel.roots[0]].array.dims
    best: tuple[tuple[float, ...], StitchedKernel] | None = None
    for schedule in sorted(kernel.satisfiable, key=lambda one: _rank(one, dims)):
        choice = schedule_choice(checker, kernel, schedule)
        if not choice.fits:
            continue
        made = replace(kernel, schedule=schedule, parts=choice.parts)
        again = _computed_again(computation, made, limit, sharing)
        if again is None:
            continue
        if best is None or (again, *_rank(schedule, dims)) < best[0]:
            best = ((again, *_rank(schedule, dims)), made)
        if not again:
            break
    return kernel if best is None else best[1]


def _rank(schedule: BlockSchedule, dims: tuple[int, ...]) -> tuple[float, ...]:
    """Numbers that are less for schedules that are better, apart from shared memory."""
    space = work_space(dims)
    elements, blocks = prod(space), schedule.blocks(dims)
    if schedule.sched_type is SplitType.ROW:
        run = prod(space[schedule.split_dim :]) // schedule.sword
    else:
        run = space[-1] // schedule.parts(dims)[-1]
    few = elements >= LARGE and blocks < BUSY_BLOCKS
    size = max(elements // blocks, 1)
    return (run < min(RUN, elements), few, abs(log2(size / BLOCK_ELEMENTS)))


def _computed_again(
    computation: DenseComputation, kernel: StitchedKernel, limit: int, sharing: SpaceSharing
) -> int | None:
    """Count expensive operations that are computed again; None if buffers do not fit."""
    try:
        plan = memory_of(computation, kernel, limit, sharing)
    except LimitError:
        return None
    kinds = [operation_class(computation.by_name[name]) for name in plan.recomputed]
    return sum(kind is OperationClass.EXPENSIVE for kind in kinds)
