"""Kernels of a module run on random inputs, against the meaning of its operations."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.errors import FuseloomError
from fuseloom.stitch.frames import FusedModule
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched_program import StitchedProgram, relative_error

TOLERANCE = 1e-4
"""The largest error, relative to the largest value, of kernels that are right in float32."""


@dataclass(frozen=True)
class ModuleCheck:
    """The comparison of kernels with what a module means.

    Attributes
    ----------
    max_rel_error : float or None
        The largest difference, by the largest value; None if nothing was compared.
    compiled : int
        Kernels of the computation that is run which were compiled; the others, and bodies of loops,
        were evaluated operation by operation.
    reason : str
        The reason if nothing was compared.
    """

    max_rel_error: float | None
    compiled: int
    reason: str = ""

    @property
    def ok(self) -> bool:
        """True if nothing is known to be wrong."""
        return self.max_rel_error is None or self.max_rel_error <= TOLERANCE


def check_module(
    made: FusedModule,
    shared_memory: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    seed: int = 0,
) -> ModuleCheck:
    """Run the kernels of a module on random inputs, and compare.

    Where there is no compiler, or an operation has no meaning here, nothing is compared.

    Examples
    --------
    >>> from fuseloom.stitch.frames import fuse_module
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   ROOT y = f32[3] exponential(x)
    ... }''')
    >>> found = check_module(fuse_module(module))
    >>> found.ok, found.compiled
    (True, 1)
    """
    frame = made.frames[0]
    program = StitchedProgram(made.module, frame.fusion, limit=shared_memory, sharing=sharing)
    compiled = sum(bool(step.code) for step in program.steps)
    try:
        error = relative_error(program, random_inputs(frame.computation, seed))
    except FuseloomError as reason:
        return ModuleCheck(None, 0, reason.message)
    return ModuleCheck(error, compiled)
