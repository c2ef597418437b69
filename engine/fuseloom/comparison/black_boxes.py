"""Calls that are kernels of another system: stitched, loop nests, or calls of an array.

Fused calls know nothing of a function but its annotation.  So it may as well be a kernel that
another system makes of a program, for the shapes of the parts that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.mapped_layers import map_layers
from fuseloom.access.meaning import evaluate
from fuseloom.access.program_layers import layers_of_program
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import kernels
from fuseloom.contraction.ranking import FusionScheme, ranked
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Program, parse
from fuseloom.stitch.cpu_schedules import cpu_fusion
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.program_graph import program_module
from fuseloom.stitch.stitched_program import StitchedProgram

Array: TypeAlias = npt.NDArray[Any]
Shape: TypeAlias = tuple[int, ...]
Operands: TypeAlias = Mapping[str, Any]
KernelMaker: TypeAlias = Callable[[Program, Operands], Callable[[Operands], Array]]
"""Makes of a program, and of the first operands, a function that gives the result."""


class KernelBox:
    """A function of arrays that is a kernel of another system, made once for each shape.

    Parameters
    ----------
    text : callable
        Gives the text of the program for the shapes of its operands, in the order of its inputs.
    make : callable
        :func:`stitched`, :func:`loop_nest` or :func:`array_call`.

    Examples
    --------
    >>> import numpy as np
    >>> box = KernelBox(lambda a: f"A: {a[0]}x{a[1]} dense\\nB[i,j] = exp(A[i,j])", stitched)
    >>> out = np.empty((2, 3), np.float32)
    >>> box(np.zeros((2, 3), np.float32), out)
    >>> out[0]
    array([1., 1., 1.], dtype=float32)
    """

    def __init__(self, text: Callable[..., str], make: KernelMaker) -> None:
        self.text = text
        self.make = make
        self._made: dict[tuple[Shape, ...], tuple[tuple[str, ...], Callable[[Operands], Array]]]
        self._made = {}

    def __call__(self, *arrays: Any) -> None:
        *operands, out = arrays
        shapes = tuple(tuple(array.shape) for array in operands)
        if shapes not in self._made:
            program = parse(self.text(*shapes))
            names = tuple(program.given)
            kernel = self.make(program, dict(zip(names, operands, strict=True)))
            self._made[shapes] = names, kernel
        names, kernel = self._made[shapes]
        out[...] = kernel(dict(zip(names, operands, strict=True)))


def stitched(program: Program, operands: Operands) -> Callable[[Operands], Array]:
    """Make kernels of deep fusion, as C."""
    made = fuse_module(program_module(program))
    run = StitchedProgram(made.module, cpu_fusion(made.frames[0].fusion))

    def kernel(given: Operands) -> Array:
        (result,) = run(given)
        return result

    return kernel


def loop_nest(program: Program, operands: Operands) -> Callable[[Operands], Array]:
    """Make the fused loop nest that is expected fastest on the first operands, as C."""
    tree = ContractionTree.of(program)
    first = Data(tree, operands)
    found = ranked(Question(tree), first.held).candidates
    nest = next(one.nest for one in found if one.scheme is FusionScheme.FUSED)
    (kernel,) = kernels([nest], tree, levels=first.levels)
    return kernel.run


def array_call(program: Program, operands: Operands) -> Callable[[Operands], Array]:
    """Map the one layer of a program onto a systolic array of 64 × 64, as it computes.

    Raises
    ------
    ProgramError
        If the program is more than one layer.
    """
    layers, others = layers_of_program(program)
    if len(layers) != 1 or others:
        raise ProgramError(
            "a call of the array is one product, convolution or pooling",
            hint="give the rest to other calls",
        )
    (layer,) = map_layers(layers, others, SystolicArray()).layers

    def kernel(given: Operands) -> Array:
        return np.asarray(evaluate(layer.mapped.after, given))

    return kernel
