"""Notebook 14: deep fusion of graphs of dense operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError, ScheduleError
from fuseloom.stitch.frames import FusedModule, fuse_module
from fuseloom.stitch.gpu.cuda_on_cpu import CudaOnCpu
from fuseloom.stitch.graph import DenseComputation, DenseModule, random_inputs
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.kernel_cases import StitchedCase, kernel_cases, relative_difference
from fuseloom.stitch.kernel_code import KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.kernel_traffic import frame_traffic
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import StitchedKernel
from fuseloom.wording import agreeing, counted
from fuseloom_workbench.notebook.exercises import Exercise, Judge, names, number

ATTENTION = """
x = f32[2,4,16,16] parameter(0)
v = f32[2,4,16,16] parameter(1)
low = f32[] constant(-inf)
zero = f32[] constant(0)
m = f32[2,4,16] reduce(x, low), dimensions={3}, to_apply=largest
mw = f32[2,4,16,16] broadcast(m), dimensions={0,1,2}
d = f32[2,4,16,16] subtract(x, mw)
e = f32[2,4,16,16] exponential(d)
s = f32[2,4,16] reduce(e, zero), dimensions={3}, to_apply=total
sw = f32[2,4,16,16] broadcast(s), dimensions={0,1,2}
p = f32[2,4,16,16] divide(e, sw)
ROOT y = f32[2,4,16,16] dot(p, v), lhs_batch_dims={0,1}, rhs_batch_dims={0,1},
  lhs_contracting_dims={3}, rhs_contracting_dims={2}
"""
"""A softmax of rows, times a matrix."""
COLUMNS = """
x = f32[64,128] parameter(0)
zero = f32[] constant(0)
s = f32[128] reduce(x, zero), dimensions={0}, to_apply=total
w = f32[64,128] broadcast(s), dimensions={1}
ROOT y = f32[64,128] divide(x, w)
"""
"""Each column divided by its sum."""
ROWS = (64, 32)
"""Dimensions of the matrix whose rows are divided by their lengths."""
BLOCKS = 4
"""Blocks of the kernel of attention."""
COLUMN_BLOCKS = 32
"""Blocks of the kernel that divides columns by their sums."""
LIMIT = 1_000
"""Bytes of shared memory with which exponentials are recomputed."""
GIVEN_UP = "one of its readers was given up"
"""The rule that a graph has to meet."""
FUSABLE, WANTED = 0.4, 1.3
"""The share of time that fusable kernels take, and the speedup that the program is to have."""
TOLERANCE = 1e-5
MOST_BYTES = 2**20
"""Bytes of a parameter of a graph that is checked."""
BARRIER = "__syncthreads();"
ORDERS = {"as numbered": 0, "backwards": 1, "mixed": 5}
"""Orders in which the threads of a block run."""
_COMPUTATIONS = """HloModule exercise
largest { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
total { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {"""


def dense_module(lines: str) -> DenseModule:
    """The module with some operations, which may reduce with ``largest`` and ``total``.

    Examples
    --------
    >>> module = dense_module("x = f32[3] parameter(0)\\nROOT y = f32[3] sqrt(x)")
    >>> [operation.name for operation in module.main.operations]
    ['x', 'y']
    """
    # On one line, so that faults are told with the numbers of the lines that were given.
    return read_hlo(f"{' '.join(_COMPUTATIONS.split())}{lines}\n}}")


@cache
def attention() -> FusedModule:
    """A softmax of rows, times a matrix, fused."""
    return fuse_module(dense_module(ATTENTION))


@cache
def columns() -> FusedModule:
    """Each column of a matrix divided by its sum, fused."""
    return fuse_module(dense_module(COLUMNS))


def only_kernel(made: FusedModule) -> tuple[DenseComputation, StitchedKernel]:
    """The computation of a module that is one kernel, and that kernel."""
    fusion = made.frames[0].fusion
    (kernel,) = fusion.kernels
    return fusion.computation, kernel


@cache
def _attention_case() -> StitchedCase:
    made, fusion = attention(), attention().frames[0].fusion
    codes = kernel_codes(made.module, fusion, KernelLanguage.CUDA)
    (case,) = kernel_cases(
        made.module, fusion.computation, codes, random_inputs(made.frames[0].computation)
    )
    return case


def attention_text() -> str:
    """The kernel of attention in CUDA."""
    return _attention_case().code.text


def without_barrier(text: str, place: int) -> str:
    """The text of a kernel without one of its barriers, which are counted from 1."""
    parts = text.split(BARRIER)
    return BARRIER.join(parts[:place]) + BARRIER.join(parts[place:])


def errors_by_order(text: str) -> dict[str, float]:
    """Run a text of the kernel of attention on the processor, its threads in several orders.

    Returns
    -------
    dict
        Per order of the threads the largest difference from the right result, by its largest
        element; infinity if the kernel makes NaN.
    """
    case = _attention_case()
    kernels = CudaOnCpu([text], ("-O1",))
    found = {}
    for name, order in ORDERS.items():
        (result,) = kernels.run(case, order)
        error = relative_difference(result, case.expected[0])
        found[name] = float("inf") if np.isnan(error) else error
    return found


def _span() -> int:
    return attention().frames[0].fusion.analysis.spans["e"]


def _inputs(module: DenseModule) -> dict[str, npt.NDArray[Any]]:
    for parameter in module.main.parameters:
        if parameter.array.byte_size > MOST_BYTES:
            raise DataError(f"{parameter.name} has more than {MOST_BYTES:,} bytes")
    return random_inputs(module.main)


def _normalised_rows(answer: Any) -> str:
    """Operations that divide each row of a matrix by its length, in one kernel."""
    if not isinstance(answer, str):
        return "this is no text of operations"
    module = dense_module(answer)
    parameters = [str(one.shape) for one in module.main.parameters]
    wanted = f"f32[{','.join(map(str, ROWS))}]"
    if parameters != [wanted]:
        return f"the graph has one parameter, {wanted}, and not {', '.join(parameters) or 'none'}"
    inputs = _inputs(module)
    found = evaluate(module, inputs)
    (x,) = inputs.values()
    right = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(x.dtype)
    if [(one.shape, one.dtype) for one in found] != [(right.shape, right.dtype)]:
        return f"the result is not one array {wanted}"
    if not relative_difference(found[0], right) <= TOLERANCE:
        return "the rows of the result are not those of x, divided by their lengths"
    kernels = fuse_module(module).frames[0].fusion.kernels
    if len(kernels) > 1:
        return f"it is {counted(len(kernels), 'kernel')}, with roots " + ", ".join(
            kernel.name for kernel in kernels
        )
    return ""


def _schedule(of: Callable[[], FusedModule], blocks: int) -> Judge:
    """A schedule that fits the kernel of a module and has so many blocks."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, BlockSchedule):
            return "this is no BlockSchedule"
        given: list[Any] = [answer.split_dim, answer.sword]
        for part in given:
            if isinstance(part, bool) or not isinstance(part, int):
                return f"{str(part)[:40]} is no integer"
        computation, kernel = only_kernel(of())
        try:
            made = with_schedule(computation, kernel, answer)
        except ScheduleError as reason:  # its hint lists schedules that fit
            return reason.message
        found = answer.blocks(computation.by_name[made.name].array.dims)
        if found != blocks:
            return f"it fits, and has {counted(found, 'block')}, not {blocks}"
        return ""

    return wrong


def _bytes_of_block() -> int:
    return memory_of(*only_kernel(attention())).byte_size


def _by_liveness() -> set[str]:
    """Operations whose buffers share space by liveness, and not by dominance."""
    found = []
    for sharing in (SpaceSharing.LIVENESS, SpaceSharing.DOMINANCE):
        plan = memory_of(*only_kernel(attention()), sharing=sharing)
        found.append({name for name, buffer in plan.buffers.items() if buffer.shares})
    return found[0] - found[1]


def _limit(answer: Any) -> str:
    """A limit at which, without sharing, only e gives its buffer up."""
    if isinstance(answer, bool) or not isinstance(answer, int):
        return "this is no integer of bytes"
    plan = memory_of(*only_kernel(attention()), answer, SpaceSharing.NONE)
    if not plan.recomputed:
        return f"all buffers fit: they take {plan.byte_size:,} bytes"
    if plan.recomputed != ("e",):
        given_up = " and ".join(plan.recomputed)
        verb = agreeing(len(plan.recomputed), "is", "are")
        return f"{given_up} {verb} given up; the others take {plan.byte_size:,} bytes"
    return ""


def _exponentials() -> int:
    """Times that an element of e is computed with little shared memory."""
    computation, kernel = only_kernel(attention())
    recomputed = memory_of(computation, kernel, LIMIT).recomputed
    columns_of_result = computation.by_name["y"].array.dims[-1]
    for_quotients = columns_of_result if "p" in recomputed else 1
    return 1 + for_quotients if "e" in recomputed else 1


def _kernel_text(answer: Any) -> str:
    """The kernel of attention without a barrier, whose fault one order of threads hides."""
    if not isinstance(answer, str):
        return "this is no text of a kernel"
    whole = attention_text()
    if _without_barriers(answer) != _without_barriers(whole):
        return "more than barriers was changed"
    left, wanted = answer.count(BARRIER), whole.count(BARRIER) - 1
    if left != wanted:
        return f"it has {counted(left, 'barrier')}, not {wanted}"
    errors = errors_by_order(answer)
    if not errors["as numbered"] <= TOLERANCE:
        return "the result is wrong with threads in the order of their numbers, too"
    if all(error <= TOLERANCE for error in errors.values()):
        return "the result is right in each order"
    return ""


def _without_barriers(text: str) -> str:
    return "".join(text.replace(BARRIER, "").split())


def _refused(answer: Any) -> str:
    """Operations of which one is not fused since one of its readers was given up."""
    if not isinstance(answer, str):
        return "this is no text of operations"
    module = dense_module(answer)
    evaluate(module, _inputs(module))
    fusion = fuse_module(module).frames[0].fusion
    if GIVEN_UP in fusion.rules:
        return ""
    if not fusion.refused:
        return f"nothing was refused; it is {counted(len(fusion.kernels), 'kernel')}"
    one = fusion.refused[0]
    return f"{one.operation} was not fused into {one.root}, but because: {one.rule}"


def _moved() -> float:
    """KiB that kernels by XLA's rules read and write."""
    return frame_traffic(attention().frames[0]).baseline.moved / 2**10


def _needed() -> float:
    """The speedup of kernels with which the formula predicts that of the program."""
    return 1 / (1 - (WANTED - 1) / FUSABLE)


EXERCISES = {
    "14.1": Exercise(
        "What is the span of e?",
        number(_span),
        "of the two paths from e to y, one through s, the longest counts",
    ),
    "14.2": Exercise(
        "Write operations that divide each row of x by its length, and are one kernel.",
        _normalised_rows,
        "multiply, reduce, sqrt, broadcast, divide; a dot without batch dimensions is a call",
    ),
    "14.3": Exercise(
        "Write a schedule of y that has 4 blocks and fits.",
        _schedule(attention, BLOCKS),
        "cut dimension 1; each index of dimension 0 is a block of its own",
    ),
    "14.4": Exercise(
        "Write a schedule with 32 blocks that fits the sums of columns.",
        _schedule(columns, COLUMN_BLOCKS),
        "each block needs whole columns: cut dimension 1, and leave dimension 0 as it is",
    ),
    "14.5": Exercise(
        "How many bytes of shared memory does a block take with sharing by liveness?",
        number(_bytes_of_block, "bytes"),
        "nothing reads m any more when s is computed; p is computed in the place of e",
    ),
    "14.6": Exercise(
        "Which buffers share space by liveness, but not by dominance?",
        names(_by_liveness),
        "does each path from m to y go through s?",
    ),
    "14.7": Exercise(
        "Choose a limit at which, without sharing, only e gives its buffer up.",
        _limit,
        "less than all buffers take, and at least as much as m, s and p",
    ),
    "14.8": Exercise(
        "How often is each element of e computed with 1,000 bytes of shared memory?",
        number(_exponentials, "times"),
        "once for the sum, and for each element of a row of y, which has 16",
    ),
    "14.9": Exercise(
        "Take out one barrier: right with threads as numbered, wrong in another order.",
        _kernel_text,
        "thread 0 runs first: does it need what later threads compute?",
    ),
    "14.10": Exercise(
        "Write operations of which one is not fused since one of its readers was given up.",
        _refused,
        "two operations read it: one in the kernel, and a dot that is a call of a library",
    ),
    "14.11": Exercise(
        "How many KiB do the four kernels and the call of XLA's rules read and write?",
        number(_moved, "KiB"),
        "whole arrays have 8 KiB; m and s have 512 bytes each",
    ),
    "14.12": Exercise(
        "How much faster must the kernels become for a predicted speedup of 1.3?",
        number(_needed, "times", 0.005),
        "1.3 = 1 + 0.4 · (1 − 1/S); solve for S",
    ),
}
