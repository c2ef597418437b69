"""Deep fusion as a function: kernels as machine code, and what has no form in C with NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.codegen.shared_objects import C, find_compiler, load_library
from fuseloom.errors import DataError, LoweringError
from fuseloom.stitch.c.emitter import stitched_source
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.kernel_cases import relative_difference
from fuseloom.stitch.kernel_code import kernel_codes
from fuseloom.stitch.meaning.evaluation import evaluate, value_of
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.run_order import run_order
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import DeepFusion

OPTIMIZATION = (
    "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
)  # fmt: skip
"""Flags for speed; none changes what is computed but by fused multiplications and additions."""
FLAGS = ("-fno-strict-aliasing", "-fopenmp-simd", "-D_GNU_SOURCE", "-pthread", "-lm")
LINE = 64
"""Bytes of a line of caches."""
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ProgramStep:
    """A kernel, or an operation that is in none.

    Attributes
    ----------
    operations : tuple of str
        Each behind those that it reads.
    outputs : tuple of str
        Those whose values others read.
    phased : PhasedKernel, optional
        None if NumPy evaluates the operations one by one.
    code : str
        The C function; empty if there is none.
    function : str
        Its name.
    reason : str
        The reason why there is none.
    is_call : bool
        True for a call of a library.
    """

    operations: tuple[str, ...]
    outputs: tuple[str, ...]
    phased: PhasedKernel | None = None
    code: str = ""
    function: str = ""
    reason: str = ""
    is_call: bool = False


class StitchedProgram:
    """A module whose main computation runs kernel by kernel.

    Parameters
    ----------
    module : DenseModule
    fusion : DeepFusion
        Of its main computation.
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing
    prefix : str
        What names of functions begin with; different where several programs are compiled at once.

    Attributes
    ----------
    steps : tuple of ProgramStep

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   y = f32[3] multiply(x, x)
    ...   ROOT z = f32[3] add(x, y)
    ... }''')
    >>> program = StitchedProgram(module, fuse(module.main))
    >>> program({"x": np.float32([1, 2, 3])})
    (array([ 2.,  6., 12.], dtype=float32),)
    >>> program.interpreted
    {}
    """

    def __init__(
        self,
        module: DenseModule,
        fusion: DeepFusion,
        *,
        limit: int = SHARED_MEMORY,
        sharing: SpaceSharing = SpaceSharing.LIVENESS,
        prefix: str = "kernel",
    ) -> None:
        self.module = module
        self.fusion = fusion
        self.computation: DenseComputation = fusion.computation
        self._codes = kernel_codes(module, fusion, limit=limit, sharing=sharing, prefix=prefix)
        self._library: Any = None
        self.steps = tuple(self._step(key) for key in run_order(fusion))

    @property
    def interpreted(self) -> dict[str, str]:
        """Per kernel that NumPy evaluates, the reason."""
        kernels = {kernel.roots for kernel in self.fusion.kernels}
        return {
            step.outputs[0]: step.reason
            for step in self.steps
            if not step.code and step.outputs in kernels
        }

    @property
    def code(self) -> str:
        """The C of all kernels that have one."""
        return "\n\n".join(step.code for step in self.steps if step.code)

    def __call__(self, inputs: Mapping[str, Any]) -> tuple[Array, ...]:
        """Run it.

        Parameters
        ----------
        inputs : mapping
            Arrays for the parameters, by name.

        Returns
        -------
        tuple of array
            The result, or the parts of a tuple that is the result.

        Raises
        ------
        DataError
            If an input is missing, or is not of the type of its parameter.
        LoweringError
            If there is no compiler, or it fails.
        """
        if self._library is None:
            compile_programs([self])
        values = self.inputs_of(inputs)
        for step in self.steps:
            if step.code:
                self._run(step, values)
                continue
            for name in step.operations:
                operation = self.computation.by_name[name]
                if operation.opcode != "parameter":
                    given = [values[one] for one in operation.operands]
                    values[name] = value_of(self.module, operation, given)
        return tuple(flat_values([values[self.computation.root]]))

    def inputs_of(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays for the parameters, each row by row.

        Raises
        ------
        DataError
            If an input is missing, or is not of the type of its parameter.
        """
        return {one.name: _input(one, inputs) for one in self.computation.parameters}

    def function(self, step: ProgramStep) -> Any:
        """The machine code of a step that has C.

        Raises
        ------
        LoweringError
            If there is no compiler, or it fails.
        """
        if self._library is None:
            compile_programs([self])
        return getattr(self._library, step.function)

    def _run(self, step: ProgramStep, values: dict[str, Any]) -> None:
        assert step.phased is not None
        given = [np.asarray(values[one.name], order="C") for one in step.phased.inputs]
        made = [aligned_array(one.array.dims, one.array.dtype) for one in step.phased.outputs]
        self.function(step)(pointers_of(given), pointers_of(made))
        values |= {one.name: array for one, array in zip(step.phased.outputs, made, strict=True)}

    def _step(self, key: str | int) -> ProgramStep:
        if isinstance(key, str):
            return ProgramStep((key,), (key,))
        kernel, code = self.fusion.kernels[key], self._codes[key]
        return ProgramStep(
            kernel.operations, kernel.roots, code.phased, code.text, code.function, code.reason,
            kernel.is_call,
        )  # fmt: skip


def compile_programs(
    programs: Sequence[StitchedProgram], optimization: Sequence[str] = OPTIMIZATION
) -> None:
    """Compile programs whose prefixes are different as one source.

    Parameters
    ----------
    programs : sequence of StitchedProgram
    optimization : sequence of str
        Flags of the compiler.

    Raises
    ------
    LoweringError
        If there is no compiler, or it fails.
    """
    codes = [program.code for program in programs if program.code]
    library: Any = ()
    if codes:
        compiler = find_compiler(C)
        if compiler is None:
            raise LoweringError(
                "there is no compiler of C", hint="install gcc, or evaluate the module"
            )
        flags = (*optimization, *FLAGS)
        library = load_library(stitched_source(codes), C, compiler, flags).functions
    for program in programs:
        program._library = library


def relative_error(
    program: StitchedProgram,
    inputs: Mapping[str, Any],
    expected: Sequence[Array] | None = None,
    least: float = 0.0,
) -> float:
    """Compare what a program computes with what its module means.

    Parameters
    ----------
    program : StitchedProgram
    inputs : mapping
    expected : sequence of array, optional
        The values of the module, if they are known.
    least : float
        The least that differences are divided by. Sums of what cancels out are close to 0, and
        not as precise as that: give the size of what is added.

    Returns
    -------
    float
        The largest difference of an array's elements by its largest finite element (if that is 0,
        the difference itself), of all arrays that are the result; infinity if they are not NaN or
        infinite at the same places.
    """
    wanted = evaluate(program.module, inputs) if expected is None else expected
    found = program(inputs)
    return max(
        (relative_difference(a, b, least) for a, b in zip(found, wanted, strict=True)), default=0.0
    )


def _input(parameter: DenseOperation, inputs: Mapping[str, Any]) -> Any:
    shape = parameter.array
    if parameter.name not in inputs:
        raise DataError(f"there is no value for the parameter {parameter.name}")
    value = np.asarray(inputs[parameter.name])
    if value.shape != shape.dims or value.dtype != shape.dtype:
        raise DataError(
            f"{parameter.name} is {shape}, and its value {value.dtype}{list(value.shape)}"
        )
    return np.asarray(value, order="C")


def flat_values(values: Sequence[Any]) -> list[Array]:
    """The arrays of values, those of tuples in order."""
    made: list[Array] = []
    for one in values:
        made += flat_values(one) if isinstance(one, tuple) else [np.asarray(one)]
    return made


def aligned_array(dims: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array whose elements are not set, and that begins where a line of caches does.

    Stores of vectors that cross lines take longer.
    """
    size = prod(dims) * dtype.itemsize
    room = np.empty(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(dims)


def pointers_of(arrays: Sequence[Array]) -> Any:
    """The addresses of arrays, as generated functions take them."""
    return (ctypes.c_void_p * max(len(arrays), 1))(*(one.ctypes.data for one in arrays))
