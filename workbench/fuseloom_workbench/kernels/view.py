"""The drawings of a fused module as plain data: layers, kernels, refusals, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fuseloom.errors import LimitError
from fuseloom.stitch.end_to_end import EndToEnd
from fuseloom.stitch.frames import FusedFrame, FusedModule
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_traffic import FrameTraffic, TrafficTotal, frame_traffic
from fuseloom.stitch.opcodes import OperationClass, class_of, is_light, operation_class
from fuseloom.stitch.shared_memory import SharedMemoryPlan, SpaceSharing
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel

COLOURS = 8
"""Kernels in a row that have colours of their own."""


def frame_view(
    frame: FusedFrame, limit: int, sharing: SpaceSharing, chosen: frozenset[str]
) -> dict[str, Any]:
    """The layers of a frame, its kernels, and what was not fused.

    Parameters
    ----------
    limit : int
        Bytes of shared memory of a block.
    sharing : SpaceSharing
    chosen : frozenset of str
        Kernels whose schedules were chosen by hand.
    """
    fusion = frame.fusion
    return {
        "name": frame.computation.name,
        "layers": len(fusion.analysis.layers),
        "walls": list(fusion.analysis.barrier_layers),
        "operations": _operations(fusion),
        "kernels": _kernels(fusion, limit, sharing, chosen),
        "refused": [asdict(one) for one in fusion.refused],
        "rules": fusion.rules.most_common(),
    }


def _operations(fusion: DeepFusion) -> list[dict[str, Any]]:
    computation = fusion.computation
    numbers = {one.name: n for n, one in enumerate(computation.operations)}
    homes = {name: n for n, kernel in enumerate(fusion.kernels) for name in kernel.operations}
    stored = {name for kernel in fusion.kernels for name in kernel.roots}
    outputs = {*computation.outputs, computation.root}
    return [
        {
            "name": one.name,
            "opcode": one.opcode,
            "shape": str(one.shape),
            "class": operation_class(one).value,
            "span": fusion.analysis.spans[one.name],
            "kernel": homes.get(one.name, -1),
            "operands": [numbers[name] for name in dict.fromkeys(one.operands)],
            "light": is_light(computation, one),
            "value": class_of(one.opcode) is OperationClass.VALUE,
            "wall": one.name in fusion.analysis.barriers,
            "root": one.name in stored,
            "output": one.name in outputs,
            "copy": fusion.originals.get(one.name, ""),
            "line": one.line,
            "more": {key: str(value)[:200] for key, value in one.attributes.items()},
        }
        for one in computation.operations
    ]


def _kernels(
    fusion: DeepFusion, limit: int, sharing: SpaceSharing, chosen: frozenset[str]
) -> list[dict[str, Any]]:
    reads = _reads(fusion)
    made, colour = [], 0
    for number, kernel in enumerate(fusion.kernels):
        plan = plan_of(fusion, kernel, limit, sharing)
        spans = [fusion.analysis.spans[name] for name in kernel.operations]
        dims = None
        if kernel.schedule is not None:
            dims = fusion.computation.by_name[kernel.name].array.dims
        made.append({
            "name": kernel.name,
            "opcode": fusion.computation.by_name[kernel.name].opcode,
            "roots": list(kernel.roots),
            "count": len(kernel.operations),
            "call": kernel.is_call,
            "schedule": "" if kernel.schedule is None else str(kernel.schedule),
            "blocks": kernel.schedule.blocks(dims) if kernel.schedule and dims is not None else 0,
            "bytes": None if plan is None else plan.byte_size,
            "recomputed": 0 if plan is None else len(plan.recomputed),
            "reason": kernel.reason,
            "span": [min(spans), max(spans)],
            "reads": sorted(reads[number]),
            "chosen": kernel.name in chosen,
            "colour": 0 if kernel.is_call else colour % COLOURS + 1,
        })  # fmt: skip
        colour += not kernel.is_call
    return made


def plan_of(
    fusion: DeepFusion, kernel: StitchedKernel, limit: int, sharing: SpaceSharing
) -> SharedMemoryPlan | None:
    """The buffers of a kernel; None if it has none to plan, or they do not fit."""
    if kernel.schedule is None:
        return None
    try:
        return memory_of(fusion.computation, kernel, limit, sharing)
    except LimitError:
        return None


def _reads(fusion: DeepFusion) -> dict[int, set[int]]:
    """Per kernel those whose values it reads, itself or by what is in none."""
    behind: dict[str, set[int]] = {}
    homes = {name: n for n, kernel in enumerate(fusion.kernels) for name in kernel.operations}
    found: dict[int, set[int]] = {n: set() for n in range(len(fusion.kernels))}
    for one in fusion.computation.operations:
        given = set[int]().union(*(behind[name] for name in one.operands))
        home = homes.get(one.name)
        if home is None:
            behind[one.name] = given
        else:
            found[home] |= given - {home}
            behind[one.name] = {home}
    return found


def counts_view(made: FusedModule) -> dict[str, Any]:
    """Kernels and bytes of each frame, and of all, by three ways to fuse."""
    found = {frame.computation.name: frame_traffic(frame) for frame in made.frames}
    none = TrafficTotal(0, 0, 0, 0)
    whole = FrameTraffic(
        sum((one.unfused for one in found.values()), none),
        sum((one.baseline for one in found.values()), none),
        sum((one.fused for one in found.values()), none),
    )
    return {
        "frames": [{"name": name, **_traffic(one)} for name, one in found.items()],
        "whole": _traffic(whole),
        "ratio": made.ratio,
    }


def _traffic(found: FrameTraffic) -> Mapping[str, Any]:
    return {
        name: {**asdict(one), "moved": one.moved}
        for name, one in (
            ("unfused", found.unfused), ("baseline", found.baseline), ("fused", found.fused)
        )
    }  # fmt: skip


def default_kernel(kernels: Sequence[StitchedKernel]) -> StitchedKernel | None:
    """The kernel that is looked at first: the one with the most operations."""
    return max(kernels, key=lambda one: (not one.is_call, len(one.operations)), default=None)


def measured_view(found: EndToEnd) -> dict[str, Any]:
    """Shares and speed-ups of a module that was timed; times are in seconds."""
    return {
        "fusable_ratio": found.fusable_ratio,
        "fusion_speedup": found.fusion_speedup,
        "predicted": found.predicted,
        "amdahl": found.amdahl,
        "speedup": found.measured,
        "fused": found.fused_whole * 1e-9,
        "baseline": found.baseline_whole * 1e-9,
        "kernels": [found.fused_kernels, found.baseline_kernels],
        "evaluated": list(found.evaluated),
        "left_out": list(found.left_out),
    }
