"""CUDA kernels on the processor: their threads as contexts of one, for tests without a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from fuseloom.codegen.shared_objects import CPP, find_compiler, load_library
from fuseloom.errors import LoweringError
from fuseloom.stitch.cuda.emitter import cuda_source
from fuseloom.stitch.kernel_cases import StitchedCase, relative_difference
from fuseloom.stitch.meaning.values import Array

FLAGS = ("-fno-strict-aliasing", "-w")
ORDERS = (0, 1, 5)
"""Orders in which the threads of a block run: as they are numbered, backwards, and mixed."""


class CudaOnCpu:
    """Kernels that are compiled for the processor.

    Parameters
    ----------
    functions : sequence of str
        Kernels with their launchers, as :mod:`fuseloom.stitch.cuda.emitter` writes them.
    optimization : sequence of str
        Flags of the compiler.

    Raises
    ------
    LoweringError
        If there is no compiler of C++, or it fails.
    """

    def __init__(self, functions: Sequence[str], optimization: Sequence[str] = ("-O2",)) -> None:
        compiler = find_compiler(CPP)
        if compiler is None:
            raise LoweringError("there is no compiler of C++", hint="install g++")
        header = resources.files(__package__).joinpath("cuda_on_cpu.hpp").read_text("utf-8")
        source = f"{header}\n{cuda_source(functions)}\n"
        self._library = load_library(source, CPP, compiler, (*optimization, *FLAGS)).functions

    def run(self, case: StitchedCase, order: int = 0) -> tuple[Array, ...]:
        """Run the kernel of a case, its threads in an order, and return what it wrote.

        Raises
        ------
        LoweringError
            If not all threads of a block reach a barrier.
        """
        made = tuple(np.empty_like(one) for one in case.expected)
        self._library.run_in_order(order)
        launch: Any = getattr(self._library, f"launch_{case.code.function}")
        failed = launch(pointers(case.inputs), pointers(made))
        if failed:
            raise LoweringError(f"{case.code.kernel} waits at a barrier that others do not reach")
        return made


def pointers(arrays: Sequence[Array]) -> Any:
    """Return an array of C with the addresses of arrays."""
    return (ctypes.c_void_p * max(len(arrays), 1))(*(one.ctypes.data for one in arrays))


def largest_difference(
    kernels: CudaOnCpu,
    cases: Sequence[StitchedCase],
    orders: Sequence[int] = ORDERS,
    least: float = 0.0,
) -> float:
    """Run kernels with their threads in several orders, and compare with what they have to make.

    Parameters
    ----------
    kernels : CudaOnCpu
    cases : sequence of StitchedCase
    orders : sequence of int
    least : float
        As of :func:`~fuseloom.stitch.kernel_cases.relative_difference`.

    Returns
    -------
    float
        The largest relative difference of all.
    """
    return max(
        (
            relative_difference(found, wanted, least)
            for case in cases
            for order in orders
            for found, wanted in zip(kernels.run(case, order), case.expected, strict=True)
        ),
        default=0.0,
    )
