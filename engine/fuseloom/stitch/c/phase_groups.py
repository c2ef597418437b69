"""Phases that run in one loop, so that what they have in common is computed and read once.

These are phases one behind another that reduce nothing and have the same loops.  They are not
joined if one reads, at another place, what another one of them stores, or what lies where another
one stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuseloom.stitch.c.ranges import phase_parts
from fuseloom.stitch.phase_values import ElementLoad, KernelPhase
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.positions import PositionSum

MOST_TOGETHER = 16
"""Phases of one loop, each of which stores at least one array."""


def phase_groups(phased: PhasedKernel) -> list[list[KernelPhase]]:
    """Divide the phases of a kernel, in order, into those of one loop each.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> from fuseloom.stitch.kernel_memory import memory_of
    >>> from fuseloom.stitch.phases import phases_of
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[64] parameter(0)
    ...   y = f32[64] exponential(x)
    ...   z = f32[64] negate(y)
    ...   ROOT both = (f32[64], f32[64]) tuple(y, z)
    ... }''')
    >>> (kernel,) = fuse(module.main).kernels
    >>> made = phases_of(module, module.main, kernel, memory_of(module.main, kernel))
    >>> [[phase.operation.name for phase in group] for group in phase_groups(made)]
    [['y', 'z']]
    """
    groups: list[list[KernelPhase]] = []
    for phase in phased.phases:
        if groups and _joins(phased, groups[-1], phase):
            groups[-1].append(phase)
        else:
            groups.append([phase])
    return groups


def _joins(phased: PhasedKernel, group: Sequence[KernelPhase], phase: KernelPhase) -> bool:
    if len(group) >= MOST_TOGETHER or not _is_simple(group[-1]) or not _is_simple(phase):
        return False
    if phase.loops != group[0].loops:
        return False
    return all(_may_follow(phased, before, phase) for before in group)


def _is_simple(phase: KernelPhase) -> bool:
    plain = phase.reduction is None and bool(phase.loops) and not phase.fixed
    return plain and not phase_parts(phase)


def _may_follow(phased: PhasedKernel, before: KernelPhase, phase: KernelPhase) -> bool:
    """Tell if each element of a phase may be computed right behind that of another phase."""
    last = phase.loops[-1].name
    stored = _stored(before)
    for at in _loaded(phase, before.operation.name):
        if stored != at or last not in at.names:
            return False
    over = _stored(phase)
    if over is None:
        return True
    slot = phased.plan.buffers[phase.operation.name].slot
    for name, buffer in phased.plan.buffers.items():
        if buffer.slot == slot and any(at != over for at in _loaded(before, name)):
            return False
    return before.operation.name not in phased.plan.buffers or (
        phased.plan.buffers[before.operation.name].slot != slot or stored == over
    )


def _stored(phase: KernelPhase) -> PositionSum | None:
    """The place in its buffer where a phase stores."""
    return next((store.at for store in phase.stores if store.buffered), None)


def _loaded(phase: KernelPhase, name: str) -> Iterator[PositionSum]:
    """The places in the buffer of an operation that a phase reads."""
    for value in phase.values:
        if isinstance(value, ElementLoad) and value.buffered and value.source == name:
            yield value.at
