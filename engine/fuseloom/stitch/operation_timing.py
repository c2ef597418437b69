"""Times of single operations under schedules: on what they depend, and their measurement.

The time of an operation under a schedule is that of a kernel which does nothing else.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, TypeAlias

import numpy as np

from fuseloom.codegen.shared_objects import C, find_compiler, key_of, load_library, processor
from fuseloom.errors import LimitError, LoweringError, StoreError
from fuseloom.stitch.c.emitter import emit_stitched_c, stitched_source
from fuseloom.stitch.consistency import OperationPart
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.phases import PhasedKernel, phases_of
from fuseloom.stitch.schedules import BlockSchedule, SplitType
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.shared_memory import SharedMemoryPlan
from fuseloom.stitch.stitched import StitchedKernel
from fuseloom.stitch.stitched_program import FLAGS, OPTIMIZATION

WARP = 32
MOST_THREADS = 1024
RUNS = 5
"""Measurements of a kernel, of which the median counts."""
LEAST_TIME = 20_000
"""Nanoseconds of a measurement: short kernels are repeated."""
MOST_REPEATED = 1_000
MOST_COMPILED = 64
"""Kernels that are compiled at once."""
CODE = 2
"""Changed with the code that is generated, since times of other code do not count."""
_NO_ATTRIBUTES = ("number", "metadata", "sharding", "frontend_attributes", "backend_config")


@dataclass(frozen=True)
class PerformanceKey:
    """The features of an operation and its schedule on which its time depends.

    Attributes
    ----------
    opcode : str
    shapes : str
        Of its value and its operands, and its attributes.
    split_dim, sword, sched_type
        Of its schedule.
    threads : int
        Of a block: a multiple of 32, at most 1024.
    warps : int
        Warps of a block that a reduction's or a transposition's loop is divided among; 0 for other
        operations.
    backend : str
        ``c`` runs a block in one thread, with vectors, and the blocks one after another.
    machine : str
        A fingerprint of the processor and the compiler.

    Raises
    ------
    StoreError
        If there is no block of so many threads.

    Examples
    --------
    >>> key = PerformanceKey("add", "f32[4] of f32[4], f32[4]", 0, 2, "row", machine="m")
    >>> key.schedule
    BlockSchedule(split_dim=0, sword=2, sched_type=<SplitType.ROW: 'row'>)
    """

    opcode: str
    shapes: str
    split_dim: int
    sword: int
    sched_type: str
    threads: int = WARP
    warps: int = 0
    backend: str = "c"
    machine: str = ""

    def __post_init__(self) -> None:
        if self.threads % WARP or not WARP <= self.threads <= MOST_THREADS:
            raise StoreError(
                f"a block of {self.threads} threads is not possible",
                hint=f"threads of a block are a multiple of {WARP}, at most {MOST_THREADS}",
            )

    @property
    def schedule(self) -> BlockSchedule:
        """The schedule that it is of."""
        return BlockSchedule(self.split_dim, self.sword, SplitType(self.sched_type))


@dataclass(frozen=True)
class PerformanceTime:
    """The time of an operation under a schedule.

    Attributes
    ----------
    nanoseconds : float
    runs : int
        Measurements; 0 if the operation has no kernel of its own, which takes no time here.
    """

    nanoseconds: float
    runs: int


@dataclass(frozen=True, eq=False)
class PerformanceLookup:
    """A key, and the operation that is timed if it is not known.

    Attributes
    ----------
    key : PerformanceKey
    module : DenseModule
        Has the computation that a reduction applies.
    computation : DenseComputation
    operation : DenseOperation
        Of the computation.
    whole : (StitchedKernel, SharedMemoryPlan), optional
        A kernel of several operations and its buffers, to be timed instead.
    """

    key: PerformanceKey
    module: DenseModule
    computation: DenseComputation
    operation: DenseOperation
    whole: tuple[StitchedKernel, SharedMemoryPlan] | None = None


KernelTimer: TypeAlias = Callable[[Sequence[PerformanceLookup]], Sequence[PerformanceTime]]
"""Times the operations of lookups."""


@cache
def machine_fingerprint() -> str:
    """Return a short text that differs between processors, compilers, and code generated."""
    compiler = find_compiler(C)
    made = key_of(processor(), "" if compiler is None else compiler.version, OPTIMIZATION, CODE)
    return made[:16]


def features_of(
    module: DenseModule, computation: DenseComputation, operation: DenseOperation
) -> str:
    """Return what its time depends on besides the schedule: shapes, attributes, what it applies.

    Names are no part of it, so that operations of different models may have one key.

    Examples
    --------
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (2, 3)))
    >>> zero = DenseOperation("zero", "constant", TensorShape("f32", ()))
    >>> s = DenseOperation("s", "reduce", TensorShape("f32", (2,)), ("x", "zero"),
    ...                    {"dimensions": (1,), "to_apply": "sum"})
    >>> a, b = (DenseOperation(n, "parameter", TensorShape("f32", ())) for n in "ab")
    >>> add = DenseOperation("c", "add", TensorShape("f32", ()), ("a", "b"))
    >>> sums = DenseComputation("f", (x, zero, s), "s")
    >>> module = DenseModule("m", {"sum": DenseComputation("sum", (a, b, add), "c")}, "sum")
    >>> features_of(module, sums, s)
    'f32[2] of f32[2,3], constant f32[]; dimensions=(1,), to_apply=add'
    """
    given = [
        f"{'constant ' if _is_number(one) else ''}{one.shape}"
        for one in (computation.by_name[name] for name in operation.operands)
    ]
    text = f"{operation.shape} of {', '.join(given)}" if given else str(operation.shape)
    told = [
        f"{name}={_applied(module, value) if name == 'to_apply' else value}"
        for name, value in sorted(operation.attributes.items())
        if name not in _NO_ATTRIBUTES
    ]
    return f"{text}; {', '.join(told)}" if told else text


def _applied(module: DenseModule, name: Any) -> str:
    found = module.computations.get(name)
    if found is None:
        return str(name)
    return " ".join(one.opcode for one in found.operations if one.opcode != "parameter")


def _is_number(operation: DenseOperation) -> bool:
    return operation.opcode == "constant" and operation.array.elements == 1


def time_operations(lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
    """Time operations, each in a kernel of its own, in one thread.

    Raises
    ------
    LoweringError
        If there is no compiler, or it fails.
    """
    made: list[PerformanceTime] = []
    for start in range(0, len(lookups), MOST_COMPILED):
        made += _timed(lookups[start : start + MOST_COMPILED])
    return made


def timed_kernel(lookup: PerformanceLookup) -> PhasedKernel:
    """Return the kernel that is timed, by default one of nothing but the operation.

    The operands of that are parameters, or numbers.

    Raises
    ------
    LoweringError
        If it has no form as a kernel.
    LimitError
        If it needs too much shared memory.
    """
    if lookup.whole is not None:
        return phases_of(lookup.module, lookup.computation, *lookup.whole)
    own = lookup.operation
    operands: list[DenseOperation] = []
    for number, name in enumerate(own.operands):
        given = lookup.computation.by_name[name]
        opcode, literal = "parameter", None
        if _is_number(given):
            opcode, literal = "constant", np.ones(given.array.dims, given.array.dtype)
        operands.append(
            DenseOperation(
                f"p{number}", opcode, given.shape, (), {"number": number}, literal
            )
        )  # fmt: skip
    single = DenseOperation(
        "single", own.opcode, own.shape, tuple(one.name for one in operands), own.attributes,
        own.literal,
    )  # fmt: skip
    computation = DenseComputation("timed", (*operands, single), "single")
    schedule = lookup.key.schedule
    parts, names = {"single": OperationPart(schedule)}, ("single",)
    kernel = StitchedKernel(names, names, schedule, parts, (schedule,), "timed")
    return phases_of(lookup.module, computation, kernel, memory_of(computation, kernel))


def _timed(lookups: Sequence[PerformanceLookup]) -> list[PerformanceTime]:
    kernels: list[PhasedKernel | None] = []
    codes: list[str] = []
    for number, lookup in enumerate(lookups):
        try:
            phased = timed_kernel(lookup)
            codes.append(emit_stitched_c(phased, f"timed_{number}") + _repeated(number))
            kernels.append(phased)
        except (LimitError, LoweringError):
            kernels.append(None)
    if not codes:
        return [PerformanceTime(0.0, 0) for _ in lookups]
    compiler = find_compiler(C)
    if compiler is None:
        raise LoweringError("there is no compiler of C", hint="install gcc")
    flags = (*OPTIMIZATION, "-DONE_THREAD", *FLAGS)
    functions = load_library(stitched_source(codes), C, compiler, flags).functions
    arrays: dict[tuple[TensorShape, int], Any] = {}
    return [
        PerformanceTime(0.0, 0) if phased is None
        else _measured(getattr(functions, f"repeated_{number}"), phased, arrays)
        for number, phased in enumerate(kernels)
    ]  # fmt: skip


def _repeated(number: int) -> str:
    return f"""
void repeated_{number}(const void* const* inputs, void* const* outputs, int64_t times)
{{
    for (int64_t run = 0; run < times; ++run) {{
        timed_{number}(inputs, outputs);
        __asm__ volatile("" ::: "memory");
    }}
}}"""


def _measured(
    function: Any, phased: PhasedKernel, arrays: dict[tuple[TensorShape, int], Any]
) -> PerformanceTime:
    pointers = []
    for side, operations in enumerate((phased.inputs, phased.outputs)):
        given = []
        for number, one in enumerate(operations):
            place = (one.array, ~number if side else number)
            if place not in arrays:
                arrays[place] = _filled(one.array)
            given.append(arrays[place].ctypes.data)
        pointers.append((ctypes.c_void_p * max(len(given), 1))(*given))

    def nanoseconds(repeats: int) -> float:
        start = time.perf_counter_ns()
        function(*pointers, ctypes.c_int64(repeats))
        return (time.perf_counter_ns() - start) / repeats

    nanoseconds(1)
    repeats = int(min(max(LEAST_TIME / max(nanoseconds(1), 1.0), 1), MOST_REPEATED))
    return PerformanceTime(statistics.median(nanoseconds(repeats) for _ in range(RUNS)), RUNS)


def _filled(shape: TensorShape) -> Any:
    """An array of numbers between 0.5 and 1.5, or of zeros and ones."""
    rng = np.random.default_rng(0)
    if shape.dtype.kind in "fc":
        return (rng.random(prod(shape.dims)) + 0.5).astype(shape.dtype)
    return rng.integers(0, 2, prod(shape.dims)).astype(shape.dtype)
