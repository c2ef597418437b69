"""Deep fusion as a function: kernels as machine code, and what has no form in C with NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.codegen.shared_objects import C, Compiler, find_compiler, load_library
from fuseloom.errors import DataError, LoweringError
from fuseloom.stitch.emit_stitched_c import stitched_source
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.kernel_code import kernel_codes
from fuseloom.stitch.meaning.evaluation import evaluate, value_of
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import DeepFusion

OPTIMIZATION = (
    "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
)  # fmt: skip
"""Flags for speed; none changes what is computed but by fused multiplications and additions."""
FLAGS = ("-fno-strict-aliasing", "-lm")
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
    """

    operations: tuple[str, ...]
    outputs: tuple[str, ...]
    phased: PhasedKernel | None = None
    code: str = ""
    function: str = ""
    reason: str = ""


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
        self.steps = tuple(self._steps())

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
        values: dict[str, Any] = {}
        for parameter in self.computation.parameters:
            values[parameter.name] = _input(parameter, inputs)
        for step in self.steps:
            if step.code:
                self._run(step, values)
                continue
            for name in step.operations:
                operation = self.computation.by_name[name]
                if operation.opcode != "parameter":
                    given = [values[one] for one in operation.operands]
                    values[name] = value_of(self.module, operation, given)
        return tuple(_flat([values[self.computation.root]]))

    def _run(self, step: ProgramStep, values: dict[str, Any]) -> None:
        assert step.phased is not None
        given = [np.asarray(values[one.name], order="C") for one in step.phased.inputs]
        made = [np.empty(one.array.dims, one.array.dtype) for one in step.phased.outputs]
        pointers = [
            (ctypes.c_void_p * max(len(arrays), 1))(*(one.ctypes.data for one in arrays))
            for arrays in (given, made)
        ]  # fmt: skip
        getattr(self._library, step.function)(*pointers)
        values |= {one.name: array for one, array in zip(step.phased.outputs, made, strict=True)}

    def _steps(self) -> list[ProgramStep]:
        """Kernels, and operations that are in none, in an order in which they can run."""
        homes = {
            name: number
            for number, kernel in enumerate(self.fusion.kernels)
            for name in kernel.operations
        }
        made: list[ProgramStep] = []
        seen: set[str | int] = set()
        for end in (*self.computation.outputs, self.computation.root):
            stack: list[tuple[str, bool]] = [(end, False)]
            while stack:
                name, behind = stack.pop()
                key = homes.get(name, name)
                if behind:
                    made.append(self._step(key))
                elif key not in seen:
                    seen.add(key)
                    stack.append((name, True))
                    members: tuple[str, ...] = (name,)
                    if isinstance(key, int):
                        members = self.fusion.kernels[key].operations
                    for member in members:
                        operands = self.computation.by_name[member].operands
                        stack += [(one, False) for one in operands]
        return made

    def _step(self, key: str | int) -> ProgramStep:
        if isinstance(key, str):
            return ProgramStep((key,), (key,))
        kernel, code = self.fusion.kernels[key], self._codes[key]
        return ProgramStep(
            kernel.operations, kernel.roots, code.phased, code.text, code.function, code.reason
        )


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
        flags = (*optimization, *_parallel(compiler), *FLAGS)
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
    return max((_difference(a, b, least) for a, b in zip(found, wanted, strict=True)), default=0.0)


def _difference(found: Array, wanted: Array, least: float) -> float:
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    if found.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    if not finite.any():
        return 0.0
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    a, b = found[finite].astype(wide), wanted[finite].astype(wide)
    return float(np.abs(a - b).max()) / (max(float(np.abs(b).max()), least) or 1.0)


@lru_cache(maxsize=4)
def _parallel(compiler: Compiler) -> tuple[str, ...]:
    """The flag for parallel loops, if the compiler has it; else the one for vectors."""
    try:
        load_library("int threads_are_there = 1;\n", C, compiler, ("-fopenmp",))
    except LoweringError:
        return ("-fopenmp-simd",)
    return ("-fopenmp",)


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


def _flat(values: Sequence[Any]) -> list[Array]:
    made: list[Array] = []
    for one in values:
        made += _flat(one) if isinstance(one, tuple) else [np.asarray(one)]
    return made
