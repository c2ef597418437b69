"""C of stitched kernels: blocks as iterations of a parallel loop, phases as loops within.

A thread runs a block from its first phase to its last, so that no barriers are needed, and shared
memory is an array of the thread.  Every value is computed in the outermost loop that it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import prod

from fuseloom.stitch.c.phase_groups import phase_groups
from fuseloom.stitch.c.prelude import with_prelude
from fuseloom.stitch.c.ranges import PhasePart, phase_parts
from fuseloom.stitch.c.reductions import KernelAccumulator, ProductTile, product_tile, reduces_rows
from fuseloom.stitch.c.threads import DEALER, with_threads
from fuseloom.stitch.c.values import (
    PhaseCode,
    buffer_type,
    comment_text,
    kernel_names,
    memory_type,
)
from fuseloom.stitch.phase_values import ElementLoad, KernelPhase, PhaseLoop
from fuseloom.stitch.phases import PhasedKernel

LEAST_PARALLEL = 1 << 15
"""Iterations of a kernel that are worth the start of threads."""
TILE = 256
"""Elements whose sums are made at once where these are not made one by one."""


def stitched_source(functions: Sequence[str]) -> str:
    """The C of functions, with what they call."""
    return with_prelude(with_threads(functions))


def emit_stitched_c(phased: PhasedKernel, name: str) -> str:
    """Write a kernel as a C function ``void name(const void* const*, void* const*)``.

    Its arguments are arrays of pointers to the elements of the kernel's ``inputs`` and
    ``outputs``, row by row; elements of ``bf16`` are floats there.

    Raises
    ------
    LoweringError
        If an operation has no form in C.

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
    >>> print(emit_stitched_c(phased, "kernel_0"))
    void kernel_0(const void* const* inputs, void* const* outputs)
    {
        const float* restrict in0 = inputs[0];
        float* restrict out0 = outputs[0];
        for (int64_t block = 0; block < 1; ++block) {
            /* y */
            {
                #pragma GCC ivdep
                for (int64_t i0 = 0; i0 < 32; ++i0) {
                    const float v0 = in0[i0];
                    const float v1 = -v0;
                    out0[i0] = v1;
                }
            }
        }
    }
    """
    return _KernelWriter(phased).function(name)


class _KernelWriter:
    def __init__(self, phased: PhasedKernel) -> None:
        self.phased = phased
        self.lines: list[str] = []
        self.depth = 0
        self.names = kernel_names(phased)
        self.elements = {one.operation.name: one.operation.array.element for one in phased.phases}

    def function(self, name: str) -> str:
        """The whole function."""
        phased = self.phased
        dealt = phased.blocks > 1 and self._work() >= LEAST_PARALLEL
        own, pointers = name, "const void* const* inputs, void* const* outputs"
        first, end = "0", str(phased.blocks)
        if dealt:
            own, first, end = f"{name}_blocks", "first_block", "last_block"
            self.open(f"static void {own}({pointers}, int64_t {first}, int64_t {end})", "{")
        else:
            self.open(f"void {own}({pointers})", "{")
        for place, one in enumerate(phased.inputs):
            kind = memory_type(one.array.element)
            self.put(f"const {kind}* restrict in{place} = inputs[{place}];")
        for place, one in enumerate(phased.outputs):
            kind = memory_type(one.array.element)
            self.put(f"{kind}* restrict out{place} = outputs[{place}];")
        self.open(f"for (int64_t block = {first}; block < {end}; ++block) {{")
        for digit, size, stride in phased.digits:
            lower = f"block / {stride}" if stride > 1 else "block"
            whole = size * stride == phased.blocks
            self.put(f"const int64_t {digit} = {lower if whole else f'{lower} % {size}'};")
        for place, size in enumerate(phased.plan.slots):
            aligned = "__attribute__((aligned(64)))"
            self.put(f"unsigned char slot{place}[{max(size, 1)}] {aligned};")
        for held, buffer in self.names.buffers.items():
            kind = buffer_type(self.elements[held])
            slot = phased.plan.buffers[held].slot
            self.put(f"{kind}* const {buffer} = ({kind}*)slot{slot};")
        apart: list[str] = []
        for number, group in enumerate(phase_groups(phased)):
            names = ", ".join(comment_text(phase.operation.name) for phase in group)
            self.put(f"/* {names} */")
            phase = group[0]
            if product_tile(phase) is not None and len(phased.phases) > 1:
                apart += [*self._apart(phase, f"{name}_{number}"), ""]
                continue
            self.open("{")
            if len(group) > 1:
                _PhaseWriter(self, phase).write_with(group[1:])
            else:
                _PhaseWriter(self, phase).write()
            self.close()
        self.close()
        self.close()
        if dealt:
            self.open(f"void {name}({pointers})", "{")
            self.put(f"{DEALER}({own}, inputs, outputs, {phased.blocks});")
            self.close()
        return "\n".join([*apart, *self.lines])

    def _apart(self, phase: KernelPhase, name: str) -> list[str]:
        """A phase as a function of its own, which has all registers for itself."""
        typed: dict[str, str] = {}
        for load in phase.values:
            if isinstance(load, ElementLoad) and load.buffered:
                kind = buffer_type(load.element)
                typed[self.names.buffers[load.source]] = f"const {kind}*"
            elif isinstance(load, ElementLoad):
                kind = memory_type(load.element)
                typed[self.names.inputs[load.source]] = f"const {kind}* restrict"
        element = self.elements[phase.operation.name]
        for store in phase.stores:
            if store.buffered:
                typed[self.names.buffers[phase.operation.name]] = f"{buffer_type(element)}*"
            else:
                typed[self.names.outputs[phase.operation.name]] = (
                    f"{memory_type(element)}* restrict"
                )
        typed |= {digit: "int64_t" for digit, _, _ in self.phased.digits}
        self.put(f"{name}({', '.join(typed)});")
        kept, depth = self.lines, self.depth
        self.lines, self.depth = [], 0
        self.put("static __attribute__((noinline))")
        self.open(f"void {name}({', '.join(f'{kind} {one}' for one, kind in typed.items())})", "{")
        _PhaseWriter(self, phase).write()
        self.close()
        made, self.lines, self.depth = self.lines, kept, depth
        return made

    def _work(self) -> int:
        return self.phased.blocks * sum(
            prod(one.extent for one in phase.loops)
            * prod(one.extent for one in (phase.reduction.loops if phase.reduction else ()))
            for phase in self.phased.phases
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


class _PhaseWriter:
    """Writes a phase."""

    def __init__(self, kernel: _KernelWriter, phase: KernelPhase) -> None:
        self.kernel = kernel
        self.phase = phase
        self.code: PhaseCode

    def write(self) -> None:
        """All of it."""
        phase = self.phase
        loops, reduction = list(phase.loops), phase.reduction
        if reduction is None:
            parts = phase_parts(phase)
            if not parts:
                self._elements(loops, None)
            for part in parts:
                self.phase = part.phase
                self.kernel.open("{")
                self._elements(loops, part)
                self.kernel.close()
        elif (tile := product_tile(phase)) is not None:
            self._tiles(tile, loops, list(reduction.loops))
        elif reduces_rows(phase):
            self._rows(loops, list(reduction.loops))
        else:
            self._one_by_one(loops, list(reduction.loops))

    def _elements(self, loops: list[PhaseLoop], part: PhasePart | None) -> None:
        self._arrange(loops)
        self._loops(loops, innermost="#pragma GCC ivdep", part=part)
        self._store(self.code.value)
        self.kernel.close(len(loops))

    def write_with(self, others: Sequence[KernelPhase]) -> None:
        """It and others that have the same loops, element by element."""
        kernel, loops = self.kernel, list(self.phase.loops)
        levels = {loop.name: place for place, loop in enumerate(loops, 1)}
        codes: list[PhaseCode] = []
        for phase in (self.phase, *others):
            first = sum(len(code.phase.values) for code in codes)
            codes.append(PhaseCode(phase, kernel.names, levels, first=first))
        for level in range(len(loops) + 1):
            for code in codes:
                for line in code.lines(level):
                    kernel.put(line)
                if level == len(loops):
                    for line in code.stores(code.value):
                        kernel.put(line)
            if level < len(loops):
                loop = loops[level]
                if level == len(loops) - 1:
                    kernel.put("#pragma GCC ivdep")
                name = loop.name
                kernel.open(f"for (int64_t {name} = 0; {name} < {loop.extent}; ++{name}) {{")
        kernel.close(len(loops))

    def _one_by_one(self, loops: list[PhaseLoop], summed: list[PhaseLoop]) -> None:
        self._arrange([*loops, *summed])
        total = KernelAccumulator(self.phase, "sum")
        self._loops(loops)
        for line in total.begin(self.code.start):
            self.kernel.put(line)
        self._loops(summed, first=len(loops), innermost=total.pragma)
        for line in total.combine(self.code.value):
            self.kernel.put(line)
        self.kernel.close(len(summed))
        for line in total.end():
            self.kernel.put(line)
        self._store(total.result)
        self.kernel.close(len(loops))

    def _rows(self, loops: list[PhaseLoop], summed: list[PhaseLoop]) -> None:
        kernel, last = self.kernel, loops[-1]
        outer = loops[:-1]
        self._arrange([*outer, *summed, last])
        total = KernelAccumulator(self.phase, f"sums[{last.name} - first]")
        size = min(TILE, last.extent)
        self._loops(outer)
        kernel.put(f"{total.kind} sums[{size}];")
        tiled = last.extent > TILE
        end = str(last.extent)
        if tiled:
            kernel.open(f"for (int64_t first = 0; first < {last.extent}; first += {TILE}) {{")
            end = "end"
            kernel.put(
                f"const int64_t end = first + {TILE} < {last.extent} ? first + {TILE} : "
                f"{last.extent};"
            )
        else:
            kernel.put("const int64_t first = 0;")
        along = f"for (int64_t {last.name} = first; {last.name} < {end}; ++{last.name}) {{"
        kernel.open("#pragma GCC ivdep", along)
        kernel.put(f"{total.name} = {self.code.start or '0'};")
        kernel.close()
        self._loops(summed, first=len(outer))
        kernel.open("#pragma GCC ivdep", along)
        self._statements(len(outer) + len(summed) + 1)
        kernel.put(total.in_place(self.code.value))
        kernel.close(1 + len(summed))
        kernel.open("#pragma GCC ivdep", along)
        self._store(total.result)
        kernel.close()
        if tiled:
            kernel.close()
        kernel.close(len(outer))

    def _tiles(self, tile: ProductTile, loops: list[PhaseLoop], summed: list[PhaseLoop]) -> None:
        """A product, part by part, each of which is summed in registers."""
        kernel, (*outer, row, last) = self.kernel, loops
        kind = f"lines_{self.phase.operation.array.element}"
        lanes = kind.upper()
        self._arrange([*outer, *summed, row, last], {id(tile.line), id(self.phase.value)})
        kernel.put(f"enum {{ rows = AT_MOST({tile.rows}, MOST_ROWS), lanes = {lanes},")
        kernel.put(f"       width = AT_MOST({tile.width}, 2 * lanes), parts = width / lanes }};")
        self._loops(outer)
        every = "for (int64_t part = 0; part < parts; ++part)"
        rows = f"for (int64_t {row.name} = first; {row.name} < first + rows; ++{row.name})"
        moved = f"const int64_t {last.name} = from + part * lanes;"
        sums = f"sums[{row.name} - first][part]"
        kernel.open(
            f"for (int64_t first = 0; first < {row.extent}; first += rows)",
            f"for (int64_t from = 0; from < {last.extent}; from += width) {{",
        )
        kernel.put(f"{kind} sums[rows][parts];")
        kernel.put(f"{rows} {every} {sums} = ({kind}){{0}};")
        self._loops(summed, first=len(outer))
        kernel.put(f"{kind} line[parts];")
        kernel.open(f"{every} {{")
        kernel.put(moved)
        kernel.put(f"line[part] = *(const {kind}*)&{self.code.text(tile.line)};")
        kernel.close()
        kernel.open(f"{rows} {{")
        self._statements(len(outer) + len(summed) + 1)
        kernel.put(f"{every} {sums} += {self.code.texts[id(tile.factor)]} * line[part];")
        kernel.close(1 + len(summed))
        kernel.open(f"{rows} {every} {{")
        kernel.put(moved)
        self._store(sums, kind)
        kernel.close(2 + len(outer))

    def _loops(
        self, loops: list[PhaseLoop], first: int = 0, innermost: str = "",
        part: PhasePart | None = None,
    ) -> None:  # fmt: skip
        """Open loops, one of which may be a part of one, with what is computed in each."""
        for place, loop in enumerate(loops):
            start, end = 0, loop.extent
            if part is not None and part.loop == loop.name:
                start, end = part.first, part.last
            if place == len(loops) - 1 and innermost:
                self.kernel.put(innermost)
            name = loop.name
            self.kernel.open(f"for (int64_t {name} = {start}; {name} < {end}; ++{name}) {{")
            self._statements(first + place + 1)

    def _statements(self, level: int) -> None:
        for line in self.code.lines(level):
            self.kernel.put(line)

    def _store(self, text: str, kind: str = "") -> None:
        for line in self.code.stores(text, kind):
            self.kernel.put(line)

    def _arrange(self, order: list[PhaseLoop], left_out: Set[int] = frozenset()) -> None:
        """Write all values but some, each for the loop that it is computed in."""
        levels = {loop.name: place for place, loop in enumerate(order, 1)}
        self.code = PhaseCode(self.phase, self.kernel.names, levels, left_out)
        self._statements(0)
