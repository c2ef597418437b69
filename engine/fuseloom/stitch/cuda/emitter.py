"""CUDA C of stitched kernels: blocks of threads that share the elements of each phase.

The threads of a block run its phases one after another, with a barrier between them, and buffers
lie in shared memory.  An element is computed by one thread; reductions with few elements by a warp
each, or by the whole block, and products by threads that each make several rows of a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from math import prod

from fuseloom.errors import LoweringError
from fuseloom.stitch.c.prelude import with_prelude
from fuseloom.stitch.c.reductions import KernelAccumulator, product_tile, reduces_rows
from fuseloom.stitch.c.values import (
    PhaseCode,
    buffer_type,
    comment_text,
    kernel_names,
    memory_type,
)
from fuseloom.stitch.cuda.prelude import BEFORE, CUDA_FUNCTIONS
from fuseloom.stitch.phase_values import ElementLoad, KernelPhase, PhaseLoop
from fuseloom.stitch.phases import PhasedKernel

WARP = 32
MOST_THREADS = 256
"""Threads of a block, if it has work for so many."""
MOST_STATIC = 48 * 1024
"""Bytes of shared memory that a kernel may declare."""
MOST_BLOCKS = 2**31 - 1
MOST_ROWS = 4
"""Rows of a product that a thread makes."""
LEAST_SHARED_SUM = 32
"""Values of a reduction that are worth several threads."""


class ThreadWork(StrEnum):
    """The ways in which the threads of a block divide a phase."""

    ELEMENTS = "elements"
    """An element, or one after another, for each thread."""
    ROWS = "rows"
    """Some rows of a column of a product for each thread."""
    WARPS = "warps"
    """An element of a reduction for each warp."""
    BLOCK = "block"
    """All threads reduce to one element after another."""


@dataclass(frozen=True)
class PhaseDivision:
    """The division of a phase among threads.

    Attributes
    ----------
    work : ThreadWork
    threads : int
        Threads that have something to do.
    rows : int
        Rows that a thread makes of a product.
    """

    work: ThreadWork
    threads: int
    rows: int = 1


def phase_division(phase: KernelPhase) -> PhaseDivision:
    """Divide a phase among threads."""
    elements = _extent(phase.loops)
    reduction = phase.reduction
    if reduction is None:
        return PhaseDivision(ThreadWork.ELEMENTS, elements)
    values = _extent(reduction.loops)
    tile = product_tile(phase)
    if tile is not None:
        rows = next(n for n in (MOST_ROWS, 2, 1) if tile.rows % n == 0)
        if elements // rows >= WARP:
            return PhaseDivision(ThreadWork.ROWS, elements // rows, rows)
    if values < LEAST_SHARED_SUM or elements >= MOST_THREADS or reduces_rows(phase):
        return PhaseDivision(ThreadWork.ELEMENTS, elements)
    if elements * WARP < MOST_THREADS and values > 2 * WARP:
        return PhaseDivision(ThreadWork.BLOCK, values)
    return PhaseDivision(ThreadWork.WARPS, elements * WARP)


def block_threads(phased: PhasedKernel) -> int:
    """Return the threads of a block of a kernel: a multiple of 32."""
    wanted = max((phase_division(one).threads for one in phased.phases), default=1)
    return min(-(-wanted // WARP) * WARP, MOST_THREADS)


def cuda_source(functions: Sequence[str]) -> str:
    """The CUDA C of functions, with what they call."""
    return with_prelude(functions, CUDA_FUNCTIONS, BEFORE)


def emit_stitched_cuda(phased: PhasedKernel, name: str) -> str:
    """Write a kernel as a CUDA function, and a function of C that launches it.

    The latter, ``int launch_NAME(void* const* inputs, void* const* outputs)``, takes arrays of
    pointers to the elements of the kernel's ``inputs`` and ``outputs`` on the GPU, row by row, and
    returns 0 or the number of an error of CUDA; elements of ``bf16`` are floats there.

    Raises
    ------
    LoweringError
        If an operation has no form in C, or the kernel too many blocks or too much shared memory.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
    >>> from fuseloom.stitch.kernel_memory import memory_of
    >>> from fuseloom.stitch.phases import phases_of
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (32,))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> y = DenseOperation("y", "negate", shape, ("x",))
    >>> graph = DenseComputation("f", (x, y), "y")
    >>> kernel = fuse(graph).kernels[0]
    >>> phased = phases_of(DenseModule("m", {"f": graph}, "f"), graph, kernel,
    ...                    memory_of(graph, kernel))
    >>> print(emit_stitched_cuda(phased, "kernel_0"))
    __global__ void __launch_bounds__(32)
    kernel_0(const float* __restrict__ in0, float* __restrict__ out0)
    {
        /* y */
        for (int at = threadIdx.x; at < 32; at += 32) {
            const int i0 = at;
            const float v0 = in0[i0];
            const float v1 = -v0;
            out0[i0] = v1;
        }
    }
    <BLANKLINE>
    extern "C" int launch_kernel_0(void* const* inputs, void* const* outputs)
    {
        LAUNCH(kernel_0, 1, 32, (const float*)inputs[0], (float*)outputs[0]);
    }
    """
    if phased.blocks > MOST_BLOCKS:
        raise LoweringError(
            f"{phased.kernel.name} has {phased.blocks:,} blocks", hint="CUDA has at most 2³¹ − 1"
        )
    writer = _CudaWriter(phased)
    made = writer.function(name)
    needed = sum(max(size, 1) for size in phased.plan.slots) + writer.partial_bytes
    if needed > MOST_STATIC:
        raise LoweringError(
            f"{phased.kernel.name} declares {needed:,} bytes of shared memory",
            hint=f"CUDA has at most {MOST_STATIC:,}: give a lower limit of shared memory",
        )
    return f"{made}\n\n{writer.launcher(name)}"


class _CudaWriter:
    """Writes a kernel."""

    def __init__(self, phased: PhasedKernel) -> None:
        self.phased = phased
        self.names = kernel_names(phased)
        self.threads = block_threads(phased)
        self.index = "int" if _fits_int(phased) else "int64_t"
        works = [phase_division(phase).work for phase in phased.phases]
        self.partial_bytes = 8 * self.threads // WARP if ThreadWork.BLOCK in works else 0
        self.lines: list[str] = []
        self.depth = 0
        self.arguments = [
            *((f"const {memory_type(one.array.element)}*", name)
              for one, name in zip(phased.inputs, self.names.inputs.values(), strict=True)),
            *((f"{memory_type(one.array.element)}*", name)
              for one, name in zip(phased.outputs, self.names.outputs.values(), strict=True)),
        ]  # fmt: skip

    def function(self, name: str) -> str:
        """The kernel."""
        phased = self.phased
        arguments = ", ".join(f"{kind} __restrict__ {own}" for kind, own in self.arguments)
        self.put(f"__global__ void __launch_bounds__({self.threads})")
        self.open(f"{name}({arguments})", "{")
        if phased.digits and phased.blocks > 1:
            self.put(f"const {self.index} block = blockIdx.x;")
        for digit, size, stride in phased.digits:
            lower = f"block / {stride}" if stride > 1 else "block"
            whole = size * stride == phased.blocks
            text = "0" if phased.blocks == 1 else lower if whole else f"{lower} % {size}"
            self.put(f"const {self.index} {digit} = {text};")
        for place, size in enumerate(phased.plan.slots):
            self.put(f"__shared__ __align__(16) unsigned char slot{place}[{max(size, 1)}];")
        if self.partial_bytes:
            declared = f"unsigned char partials[{self.partial_bytes}]"
            self.put(f"__shared__ __align__(16) {declared};")
        elements = {one.operation.name: one.operation.array.element for one in phased.phases}
        for held, buffer in self.names.buffers.items():
            kind = buffer_type(elements[held])
            self.put(f"{kind}* const {buffer} = ({kind}*)slot{phased.plan.buffers[held].slot};")
        for number, phase in enumerate(phased.phases):
            if number:
                self.put("__syncthreads();")
            self.put(f"/* {comment_text(phase.operation.name)} */")
            _PhaseThreads(self, phase).write()
        self.close()
        return "\n".join(self.lines)

    def launcher(self, name: str) -> str:
        """The function that launches it."""
        inputs = len(self.phased.inputs)
        given = [
            f"({kind})inputs[{place}]" if place < inputs else f"({kind})outputs[{place - inputs}]"
            for place, (kind, _) in enumerate(self.arguments)
        ]  # fmt: skip
        call = ", ".join([name, str(self.phased.blocks), str(self.threads), *given])
        return (
            f'extern "C" int launch_{name}(void* const* inputs, void* const* outputs)\n'
            f"{{\n    LAUNCH({call});\n}}"
        )

    def put(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + line)

    def open(self, *lines: str) -> None:
        """Add lines, the last of which opens a block."""
        for line in lines:
            self.put(line)
        self.depth += 1

    def close(self, count: int = 1) -> None:
        """Close blocks."""
        for _ in range(count):
            self.depth -= 1
            self.put("}")


class _PhaseThreads:
    """Writes a phase."""

    def __init__(self, kernel: _CudaWriter, phase: KernelPhase) -> None:
        self.kernel = kernel
        self.phase = phase
        self.elements = _extent(phase.loops)
        self.code: PhaseCode

    def write(self) -> None:
        """All of it."""
        division = phase_division(self.phase)
        reduction = self.phase.reduction
        if division.work is ThreadWork.ROWS:
            self._rows(division.rows)
            return
        levels = {loop.name: 1 for loop in self.phase.loops}
        levels |= {loop.name: 2 for loop in (reduction.loops if reduction else ())}
        self.code = PhaseCode(self.phase, self.kernel.names, levels)
        self._begin()
        if reduction is None:
            self._each_element()
            self._store(self.code.value)
            self.kernel.close()
        elif division.work is ThreadWork.ELEMENTS:
            self._by_threads(reduction.loops)
        elif division.work is ThreadWork.WARPS:
            self._by_warps(reduction.loops)
        else:
            self._by_block(reduction.loops)
        if self.code.lines(0):
            self.kernel.close()

    def _begin(self) -> None:
        """Write what is known before the first loop."""
        if self.code.lines(0):
            self.kernel.open("{")
            self._put(self.code.lines(0))

    def _each_element(self, first: str = "threadIdx.x", step: str = "") -> None:
        kernel = self.kernel
        self._loop("at", first, self.elements, step or str(kernel.threads))
        self._digits("at", self.phase.loops)
        self._put(self.code.lines(1))

    def _by_threads(self, summed: Sequence[PhaseLoop]) -> None:
        kernel, total = self.kernel, KernelAccumulator(self.phase, "sum")
        self._each_element()
        kernel.put(f"{total.kind} sum = {self.code.start or '0'};")
        for loop in summed:
            self._loop(loop.name, "0", loop.extent, "1")
        self._put(self.code.lines(2))
        kernel.put(total.in_place(self.code.value))
        kernel.close(len(summed))
        self._store(total.result)
        kernel.close()

    def _by_warps(self, summed: Sequence[PhaseLoop]) -> None:
        kernel, total = self.kernel, KernelAccumulator(self.phase, "sum")
        self._each_element(f"threadIdx.x / {WARP}", str(kernel.threads // WARP))
        self._partial(total, summed, f"threadIdx.x % {WARP}", WARP)
        kernel.open(f"if (threadIdx.x % {WARP} == 0) {{")
        self._finish(total)
        kernel.close(2)

    def _by_block(self, summed: Sequence[PhaseLoop]) -> None:
        kernel, total = self.kernel, KernelAccumulator(self.phase, "sum")
        warps = kernel.threads // WARP
        self._loop("at", "0", self.elements, "1")
        kernel.put(f"{total.kind}* const of_warps = ({total.kind}*)partials;")
        self._digits("at", self.phase.loops)
        self._put(self.code.lines(1))
        self._partial(total, summed, "threadIdx.x", kernel.threads)
        kernel.put(f"if (threadIdx.x % {WARP} == 0) of_warps[threadIdx.x / {WARP}] = sum;")
        kernel.put("__syncthreads();")
        kernel.open("if (threadIdx.x == 0) {")
        kernel.open(f"for (int warp = 1; warp < {warps}; ++warp) {{")
        kernel.put(total.in_place("of_warps[warp]"))
        kernel.close()
        self._finish(total)
        kernel.close()
        if self.elements > 1:
            kernel.put("__syncthreads();")
        kernel.close()

    def _partial(
        self, total: KernelAccumulator, summed: Sequence[PhaseLoop], first: str, threads: int
    ) -> None:
        """Combine the values of a thread, and then those of the threads of a warp."""
        kernel = self.kernel
        kernel.put(f"{total.kind} sum = {total.neutral or self.code.start or '0'};")
        self._loop("from", first, _extent(summed), str(threads))
        self._digits("from", summed)
        self._put(self.code.lines(2))
        kernel.put(total.in_place(self.code.value))
        kernel.close()
        other = f"({total.kind})__shfl_xor_sync(0xffffffffu, sum, lane)"
        kernel.open(f"for (int lane = {WARP // 2}; lane > 0; lane /= 2) {{")
        kernel.put(f"const {total.kind} other = {other};")
        kernel.put(total.in_place("other"))
        kernel.close()

    def _finish(self, total: KernelAccumulator) -> None:
        """Take in what the reduction starts from, and store its value."""
        if total.neutral and self.code.start:
            self.kernel.put(total.in_place(self.code.start))
        self._store(total.result)

    def _rows(self, rows: int) -> None:
        """A product, of which each thread makes some rows of a column."""
        phase, kernel = self.phase, self.kernel
        tile = product_tile(phase)
        assert tile is not None and phase.reduction is not None
        *outer, row, last = phase.loops
        levels = {loop.name: 1 for loop in (*outer, last)}
        levels |= {loop.name: 2 for loop in phase.reduction.loops}
        levels[row.name] = 3
        self.code = PhaseCode(phase, kernel.names, levels, {id(tile.line), id(phase.value)})
        total = KernelAccumulator(phase, "sums[row]")
        self._begin()
        self._loop("at", "threadIdx.x", self.elements // rows, str(kernel.threads))
        few = PhaseLoop("first", row.extent // rows)
        self._digits("at", (*outer, few, last))
        self._put(self.code.lines(1))
        kernel.put(f"{total.kind} sums[{rows}] = {{}};")
        for loop in phase.reduction.loops:
            self._loop(loop.name, "0", loop.extent, "1")
        self._put(self.code.lines(2))
        kernel.put(f"const {total.value_kind} line = {self.code.text(tile.line)};")
        self._each_row(row, rows)
        self._put(self.code.lines(3))
        kernel.put(f"sums[row] += {self.code.texts[id(tile.factor)]} * line;")
        kernel.close(1 + len(phase.reduction.loops))
        self._each_row(row, rows)
        self._store("sums[row]")
        kernel.close(2)
        if self.code.lines(0):
            kernel.close()

    def _each_row(self, row: PhaseLoop, rows: int) -> None:
        kernel = self.kernel
        kernel.put("#pragma unroll")
        kernel.open(f"for (int row = 0; row < {rows}; ++row) {{")
        kernel.put(f"const {kernel.index} {row.name} = first * {rows} + row;")

    def _loop(self, name: str, first: str, extent: int, step: str) -> None:
        moved = f"++{name}" if step == "1" else f"{name} += {step}"
        self.kernel.open(
            f"for ({self.kernel.index} {name} = {first}; {name} < {extent}; {moved}) {{"
        )

    def _digits(self, name: str, loops: Sequence[PhaseLoop]) -> None:
        """Write the variables of loops that are one loop in the code."""
        stride = _extent(loops)
        for place, loop in enumerate(loops):
            stride //= loop.extent
            lower = f"{name} / {stride}" if stride > 1 else name
            text = lower if place == 0 else f"{lower} % {loop.extent}"
            self.kernel.put(f"const {self.kernel.index} {loop.name} = {text};")

    def _put(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.kernel.put(line)

    def _store(self, text: str) -> None:
        self._put(self.code.stores(text))


def _extent(loops: Sequence[PhaseLoop]) -> int:
    return prod(loop.extent for loop in loops)


def _fits_int(phased: PhasedKernel) -> bool:
    """Tell if all positions, and steps beyond them, are numbers of 32 bits."""
    most = phased.blocks
    for phase in phased.phases:
        summed = phase.reduction.loops if phase.reduction else ()
        loads = (one.at for one in phase.values if isinstance(one, ElementLoad))
        ends = [_extent(phase.loops), _extent(summed)]
        for at in chain(loads, (store.at for store in phase.stores)):
            ends += [at.most, -at.least]
        most = max(most, *ends)
    return most < 2**30
