"""The drawings of one kernel as plain data: its schedules, its shared memory, its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.errors import LimitError
from fuseloom.stitch.frames import FusedFrame
from fuseloom.stitch.graph import DenseComputation, DenseModule
from fuseloom.stitch.kernel_code import BACKENDS, KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_memory import dataflow_of, memory_of
from fuseloom.stitch.kernel_schedules import ScheduleChoice, schedule_choices
from fuseloom.stitch.shared_memory import (
    BufferNeed,
    KernelDataflow,
    PhaseOrder,
    SharedMemoryPlan,
    SpaceSharing,
)
from fuseloom.stitch.stitched import StitchedKernel
from fuseloom.stitch.tuning import TunedKernel

NEEDS: Mapping[BufferNeed, str] = {
    BufferNeed.CHEAP: "cheap, read by several",
    BufferNeed.EXPENSIVE: "expensive, read by several",
    BufferNeed.FOR_PRODUCT: "expensive, read by a product",
    BufferNeed.DIRECT: "a reduction or a product",
}
"""The reasons for a buffer in words."""
MOST_CODE = 200_000
"""Characters of a kernel's code that are shown."""


def schedules_view(
    frame: FusedFrame, kernel: StitchedKernel, limit: int, sharing: SpaceSharing
) -> dict[str, Any]:
    """Every division of the roots: whether it fits, its blocks, and its buffers."""
    computation = frame.fusion.computation
    dims = () if kernel.schedule is None else computation.by_name[kernel.name].array.dims
    return {
        "dims": list(dims),
        "rows": [
            _row(computation, kernel, one, limit, sharing)
            for one in schedule_choices(computation, kernel)
        ],
        "reason": "" if kernel.schedule is not None else kernel.reason,
    }


def _row(
    computation: DenseComputation,
    kernel: StitchedKernel,
    choice: ScheduleChoice,
    limit: int,
    sharing: SpaceSharing,
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "schedule": str(choice.schedule),
        "alike": [str(one) for one in choice.alike],
        "blocks": choice.blocks,
        "fits": choice.fits,
        "operation": choice.operation,
        "rule": "" if choice.why is None else choice.why.rule,
        "reader": "" if choice.why is None else choice.why.reader,
        "dims": [] if choice.why is None else list(choice.why.dims),
        "bytes": None,
        "recomputed": 0,
        "inlined": sum(part.schedule is None for part in choice.parts.values()),
        "current": choice.schedule == kernel.schedule,
    }
    if choice.fits:
        made = replace(kernel, schedule=choice.schedule, parts=choice.parts)
        try:
            plan = memory_of(computation, made, limit, sharing)
            row |= {"bytes": plan.byte_size, "recomputed": len(plan.recomputed)}
        except LimitError as reason:
            row |= {"fits": False, "rule": reason.message}
    return row


def times_view(tuned: TunedKernel) -> dict[str, Any]:
    """Predictions and measurements by schedules that all roots have in common.

    Times are in seconds.
    """
    rows = {}
    for one in tuned.candidates:
        if len({*one.schedules}) == 1 and one.fits:
            rows[str(one.schedules[0])] = {
                "predicted": one.nanoseconds * 1e-9,
                "measured": None if one.measured is None else one.measured * 1e-9,
            }
    return {"rows": rows, "best": str(tuned.schedule or "")}


def memory_view(
    frame: FusedFrame, kernel: StitchedKernel, limit: int, sharing: SpaceSharing
) -> dict[str, Any]:
    """The buffers of a kernel over its phases: sizes, places, who lay there before."""
    if kernel.schedule is None:
        return {"reason": kernel.reason, "phases": [], "buffers": [], "given_up": [], "size": 0}
    flow = dataflow_of(frame.fusion.computation, kernel)
    try:
        plan = memory_of(frame.fusion.computation, kernel, limit, sharing)
    except LimitError as reason:
        told = f"{reason.message}; {reason.hint}"
        return {"reason": told, "phases": [], "buffers": [], "given_up": [], "size": 0}
    return {
        "reason": "",
        "phases": list(plan.phases),
        "buffers": _buffers(plan, flow),
        "given_up": [
            {"name": name, "bytes": flow.bytes[name], "need": NEEDS[flow.needs[name]]}
            for name in plan.recomputed
        ],
        "size": plan.byte_size,
        "shared": plan.shared_bytes,
        "lit": phases_by_operation(flow, plan),
    }


def _buffers(plan: SharedMemoryPlan, flow: KernelDataflow) -> list[dict[str, Any]]:
    last = PhaseOrder(flow, plan.recomputed).last_reads
    starts = [sum(plan.slots[:slot]) for slot in range(len(plan.slots))]
    made = []
    for first, name in enumerate(plan.phases):
        buffer = plan.buffers.get(name)
        if buffer is not None:
            made.append({
                "name": name,
                "bytes": buffer.bytes,
                "at": starts[buffer.slot],
                "shares": buffer.shares,
                "first": first,
                "last": max(last.get(name, first), first),
                "need": NEEDS[flow.needs[name]],
            })  # fmt: skip
    return made


def phases_by_operation(flow: KernelDataflow, plan: SharedMemoryPlan) -> dict[str, list[str]]:
    """Per operation the phases in which it is computed: its own, or those of what reads it."""
    found: dict[str, list[str]] = {}
    for name in reversed([*flow.operands]):
        if name in plan.phases:
            found[name] = [name]
        else:
            phases = dict.fromkeys(one for user in flow.users[name] for one in found[user])
            found[name] = sorted(phases, key=plan.phases.index)
    return found


def codes_view(
    module: DenseModule,
    frame: FusedFrame,
    kernel: StitchedKernel,
    limit: int,
    sharing: SpaceSharing,
) -> list[dict[str, Any]]:
    """The code of a kernel in each language, or the reason why there is none."""
    alone = replace(frame.fusion, kernels=(kernel,))
    made = []
    for language in KernelLanguage:
        (code,) = kernel_codes(module, alone, language, limit=limit, sharing=sharing)
        lines: Sequence[str] = code.text[:MOST_CODE].splitlines()
        made.append({
            "language": language.value,
            "title": BACKENDS[language].title,
            "lines": list(lines),
            "cut": len(code.text) > MOST_CODE,
            "reason": code.reason,
        })  # fmt: skip
    return made
