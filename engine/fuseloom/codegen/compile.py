"""Routines as machine code: by the machine's C compiler, or by numba."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.atomic_files import replacing
from fuseloom.codegen.code_folder import ENVIRONMENT, cache_folder, keep_used
from fuseloom.codegen.emit_c import emit_c
from fuseloom.codegen.emit_numba import emit_numba
from fuseloom.codegen.imperative import Routine
from fuseloom.codegen.shared_objects import (
    LOADED,
    C,
    Compiler,
    find_compiler,
    key_of,
    load_library,
    processor,
)
from fuseloom.errors import LoweringError, ProgramError

FLAGS = ("-O3", "-march=native")
FASTER = (*FLAGS, "-ffast-math")
"""Sums in any order: faster, and no longer the same to the last digits."""

Ints = npt.NDArray[np.int64]
Call = Callable[[Ints, Sequence[npt.NDArray[Any]]], None]
Bind = Callable[[Ints, int, Sequence[npt.NDArray[Any]]], Callable[..., None]]


class Backend(Enum):
    """A compiler that produces machine code."""

    C = "c"
    NUMBA = "numba"


@dataclass(frozen=True)
class CompiledRoutines:
    """Routines as machine code.

    Attributes
    ----------
    calls : tuple of callable
        Per routine; it takes sizes and arrays.
    source : str
        The text that was compiled.
    backend : Backend
    by : str
        The compiler and its version.
    seconds : float
        That compiling and loading took.
    reused : bool
        Whether it was compiled before.
    said : str
        What a user should know, such as that no C compiler was found; else empty.
    bind : callable or None
        For routines on shared arrays: takes sizes, how many of the arrays each call is given, and
        the others, which stay. What it returns takes the given arrays, all contiguous, and runs all
        routines.
    """

    calls: tuple[Call, ...]
    source: str
    backend: Backend
    by: str
    seconds: float
    reused: bool
    said: str = ""
    bind: Bind | None = None


def build(
    routines: Sequence[Routine],
    backend: Backend | None = None,
    flags: Sequence[str] = FLAGS,
    together: Sequence[str] = (),
) -> CompiledRoutines:
    """Machine code of routines, in one file.

    Parameters
    ----------
    backend : Backend, optional
        By default C, and numba where no compiler is found or it fails; then ``said`` says so.
    flags : sequence of str
        Of the C compiler.
    together : sequence of str
        Names of the arrays that the routines share: then ``bind`` runs all of them at once.

    Raises
    ------
    ProgramError
        If C is asked for, and there is no compiler.
    LoweringError
        If C is asked for, and the compiler fails.

    Examples
    --------
    >>> from fuseloom.codegen.imperative import Add, For, Int, ArrayParameter, Real, Var
    >>> body = (For("v0", Int(0), Var("n0"), (Add("r0", Var("v0"), Real(1.0)),)),)
    >>> built = build([Routine(("n0",), (ArrayParameter("r0", True, True),), (), body)])
    >>> result = np.zeros(3)
    >>> built.calls[0](np.array([2]), [result])
    >>> result
    array([1., 1., 0.])
    """
    names = tuple(together)
    if backend is Backend.NUMBA:
        return _by_numba(routines, names, "")
    compiler = find_compiler()
    if compiler is None:
        missing = f"no C compiler is found ({', '.join(C.compilers)})"
        if backend is Backend.C:
            raise ProgramError(missing, hint="install one, or use numba")
        return _by_numba(routines, names, f"{missing}: numba makes the code")
    try:
        return _by_c(routines, names, compiler, tuple(flags))
    except LoweringError as error:
        if backend is Backend.C:
            raise
        return _by_numba(routines, names, f"{error.message}: numba makes the code")


def _by_c(
    routines: Sequence[Routine], names: tuple[str, ...], compiler: Compiler, flags: tuple[str, ...]
) -> CompiledRoutines:
    began = time.perf_counter()
    source = emit_c(routines, names)
    loaded = load_library(source, C, compiler, flags)
    library = loaded.functions
    calls = tuple(_c_call(getattr(library, f"k{n}")) for n in range(len(routines)))
    bind = _c_bind(library.together) if names else None
    seconds = time.perf_counter() - began
    return CompiledRoutines(
        calls, source, Backend.C, compiler.version, seconds, loaded.reused, loaded.said, bind
    )


def _address(array: npt.NDArray[Any]) -> int:
    """Where the elements of an array begin; a view of its memory tells that much faster."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError, BufferError):  # what is read-only, or empty
        return array.ctypes.data


def _c_call(function: Any) -> Call:
    function.restype = None
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def call(sizes: Ints, arrays: Sequence[npt.NDArray[Any]]) -> None:
        pointers = (ctypes.c_void_p * max(len(arrays), 1))(*map(_address, arrays))
        function(sizes.ctypes.data, pointers)

    return call


def _c_bind(function: Any) -> Bind:
    function.restype = None
    addressof = ctypes.addressof
    from_buffer: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer

    def bind(sizes: Ints, given: int, kept: Sequence[npt.NDArray[Any]]) -> Callable[..., None]:
        pointers = (ctypes.c_void_p * (given + len(kept)))(*[None] * given, *map(_address, kept))
        first = ctypes.c_void_p(sizes.ctypes.data)
        alive = (sizes, *kept)

        def run(*arrays: npt.NDArray[Any], _: object = alive) -> None:
            for number, array in enumerate(arrays):
                try:  # as _address, without the time of a call
                    pointers[number] = addressof(from_buffer(array))
                except (TypeError, ValueError, BufferError):
                    pointers[number] = array.ctypes.data
            function(first, pointers)

        return run

    return bind


def _by_numba(routines: Sequence[Routine], names: tuple[str, ...], said: str) -> CompiledRoutines:
    import numba

    began = time.perf_counter()
    source = emit_numba(routines)
    key = key_of(source, numba.__version__, platform.python_version(), processor())
    folder, unkept = cache_folder()
    module = LOADED.get((str(folder), key))
    reused = module is not None
    if module is None:
        name = f"networks_{key}"
        path = folder / f"{name}.py"
        body = source.encode()
        try:
            # Machine code lies beside the text, and counts only if that did not change since.
            reused = path.is_file() and not path.is_symlink() and path.read_bytes() == body
            if not reused:
                with replacing(path, private=True) as file:
                    file.write(body)
            keep_used(path)
        except OSError as error:
            raise LoweringError(
                f"{path.parent} cannot be written to: {error.strerror or error}",
                hint=f"{ENVIRONMENT} names another folder",
            ) from None
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        LOADED[str(folder), key] = module
    calls = tuple(_numba_call(getattr(module, f"k{n}")) for n in range(len(routines)))
    by = f"numba {numba.__version__}"
    notes = "; ".join(filter(None, (said, unkept)))
    bind = _numba_bind(routines, calls, names) if names else None
    return CompiledRoutines(
        calls, source, Backend.NUMBA, by, time.perf_counter() - began, reused, notes, bind
    )


def _numba_call(function: Any) -> Call:
    def call(sizes: Ints, arrays: Sequence[npt.NDArray[Any]]) -> None:
        function(sizes, *arrays)

    return call


def _numba_bind(routines: Sequence[Routine], calls: Sequence[Call], names: tuple[str, ...]) -> Bind:
    def bind(sizes: Ints, given: int, kept: Sequence[npt.NDArray[Any]]) -> Callable[..., None]:
        def run(*arrays: npt.NDArray[Any]) -> None:
            flat = [array.reshape(-1) for array in (*arrays, *kept)]
            named = dict(zip(names, flat, strict=True))
            for routine, call in zip(routines, calls, strict=True):
                call(sizes, [named[array.name] for array in routine.arrays])

        return run

    return bind
