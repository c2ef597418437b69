"""A program as a dense graph: kernels by the rules of XLA, and by deep fusion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import ComparisonRow, FusionSystem, refused_rows
from fuseloom.errors import FuseloomError
from fuseloom.results.cpu import NANOSECOND
from fuseloom.stitch.end_to_end import time_module
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.kernel_traffic import frame_traffic
from fuseloom.stitch.opcodes import OperationClass, operation_class, work_of
from fuseloom.stitch.program_graph import program_module
from fuseloom.stitch.stitched import StitchedKernel
from fuseloom.stitch.xla_rules import XlaKernel

RULES, STITCHED = "XLA's rules", "stitched"


def stitch_rows(problem: ComparedProgram) -> Iterator[ComparisonRow]:
    """Return the rows of a dense graph: fused by XLA's rules of 2018, and by deep fusion.

    Kernels include calls of libraries for products; between them are the arrays that they write and
    that are no result.
    """
    problem.progress("stitch")
    try:
        made = fuse_module(program_module(problem.dense))
        frame = made.frames[0]
        inputs = {name: problem.dense_array(name) for name in problem.program.given}
        expected = [array.astype(np.float32) for array in problem.results]
        times = time_module(
            made, inputs, expected=expected, rounds=problem.rounds, seconds=problem.seconds
        )
    except FuseloomError as refusal:
        yield from refused_rows(FusionSystem.STITCH, (RULES, STITCHED), refusal)
        return
    traffic = frame_traffic(frame)
    outputs = sum(array.nbytes for array in expected)
    alone = _flops(frame.computation, [frame.computation.operations])
    for way, flops, moved, seconds, error in (
        (
            RULES, _kernel_flops(frame.computation, frame.baseline.kernels), traffic.baseline,
            times.baseline_whole, times.baseline_error,
        ),
        (
            STITCHED, _kernel_flops(frame.fusion.computation, frame.fusion.kernels), traffic.fused,
            times.fused_whole, times.fused_error,
        ),
    ):  # fmt: skip
        yield ComparisonRow(
            FusionSystem.STITCH, way, applies=True, kernels=moved.kernels + moved.calls,
            bytes_between=max(0, moved.written - outputs),
            recompute=flops / alone if alone else None, flops=flops,
            measured_seconds=seconds * NANOSECOND,
            max_rel_error=error,
        )  # fmt: skip


def _kernel_flops(
    computation: DenseComputation, kernels: Sequence[XlaKernel] | Sequence[StitchedKernel]
) -> int:
    """The arithmetic of kernels: what several compute counts in each."""
    by_name = computation.by_name
    return _flops(computation, [[by_name[x] for x in one.operations] for one in kernels])


def _flops(computation: DenseComputation, groups: Iterable[Iterable[DenseOperation]]) -> int:
    total = 0
    for operation in chain.from_iterable(groups):
        kind = operation_class(operation)
        if kind in _ARITHMETIC:
            each = 2 if kind is OperationClass.PRODUCT else 1
            total += each * work_of(computation, operation)
    return total


_ARITHMETIC = (
    OperationClass.CHEAP, OperationClass.EXPENSIVE, OperationClass.REDUCE, OperationClass.PRODUCT,
)  # fmt: skip
