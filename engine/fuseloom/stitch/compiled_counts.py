"""Kernels that today's XLA makes of a module, counted in the text of what it compiled.

JAX prints that as ``jax.jit(step).lower(*arguments).compile().as_text()``, where each fusion is an
operation of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.stitch.frames import frames_of
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.opcodes import is_launched, is_library_call


@dataclass(frozen=True)
class CompiledCounts:
    """The numbers of what a compiled module runs, each loop's body and each branch once.

    Attributes
    ----------
    fusions : int
        Of operations whose loops XLA wrote.
    library_fusions : int
        Of operations that a library runs at once, such as YNNPACK's on processors.
    single : int
        Operations that are in no fusion, and take a kernel.
    calls : int
        Calls of libraries for single operations, such as products and convolutions.
    """

    fusions: int = 0
    library_fusions: int = 0
    single: int = 0
    calls: int = 0

    @property
    def kernels(self) -> int:
        """All but calls of libraries for single operations."""
        return self.fusions + self.library_fusions + self.single


def compiled_counts(module: DenseModule) -> CompiledCounts:
    """Count the kernels of a module that XLA has compiled.

    Parameters
    ----------
    module : DenseModule
        Read from XLA's text of it.

    Examples
    --------
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> compiled_counts(read_hlo('''HloModule m
    ... %fused (a: f32[4]) -> f32[4] {
    ...   %a = f32[4]{0} parameter(0)
    ...   %b = f32[4]{0} negate(%a)
    ...   ROOT %c = f32[4]{0} exponential(%b)
    ... }
    ... ENTRY %main (x: f32[4]) -> f32[4] {
    ...   %x = f32[4]{0} parameter(0)
    ...   %y = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused
    ...   ROOT %z = f32[4]{0} copy(%y)
    ... }'''))
    CompiledCounts(fusions=1, library_fusions=0, single=1, calls=0)
    """
    found = {"fusions": 0, "library_fusions": 0, "single": 0, "calls": 0}
    for frame in frames_of(inline_calls(module)):
        for operation in frame.operations:
            kind = _kind(frame, operation)
            if kind:
                found[kind] += 1
    return CompiledCounts(**found)


def _kind(frame: DenseComputation, operation: DenseOperation) -> str:
    if operation.opcode == "fusion":
        library = str(operation.attributes.get("kind", "")).endswith("Custom")
        return "library_fusions" if library else "fusions"
    if is_library_call(operation):
        return "calls"
    return "single" if is_launched(frame, operation) else ""
