"""Routines as machine code: by the machine's C compiler, or by numba, kept in a cache on disk.

What is kept is named by the hash of all it is made of: source, flags, compiler and processor.
A file is loaded only from a folder that nobody else may write to, and only if it is whole.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.atomic_files import replacing
from fuseloom.codegen.code_folder import (
    ENVIRONMENT,
    cache_folder,
    is_whole,
    keep_used,
    mark,
)
from fuseloom.codegen.emit_c import emit_c
from fuseloom.codegen.emit_numba import emit_numba
from fuseloom.codegen.imperative import Routine
from fuseloom.errors import LoweringError, ProgramError

CHOSEN = "FUSELOOM_CC"
COMPILERS = ("gcc", "clang", "cc")
FLAGS = ("-O3", "-march=native")
FASTER = (*FLAGS, "-ffast-math")
"""Sums in any order: faster, and no longer the same to the last digits."""
ALWAYS = ("-std=c99", "-shared", "-fPIC", "-w")
SECONDS = 120
"""The most seconds that a compiler may take."""

Ints = npt.NDArray[np.int64]
Call = Callable[[Ints, Sequence[npt.NDArray[Any]]], None]
Bind = Callable[[Ints, int, Sequence[npt.NDArray[Any]]], Callable[..., None]]


class Backend(Enum):
    """A compiler that produces machine code."""

    C = "c"
    NUMBA = "numba"


@dataclass(frozen=True)
class Compiler:
    """A C compiler.

    Attributes
    ----------
    path : str
    version : str
        What it says of itself.
    """

    path: str
    version: str

    @property
    def name(self) -> str:
        return Path(self.path).name


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


def find_compiler() -> Compiler | None:
    """The compiler that the environment names, or gcc, clang or cc; None if there is none.

    Raises
    ------
    ProgramError
        If the environment names what is none.

    Examples
    --------
    >>> found = find_compiler()
    >>> found is None or bool(found.version)
    True
    """
    chosen = os.environ.get(CHOSEN)
    for name in (chosen,) if chosen else COMPILERS:
        path = shutil.which(name)
        version = None if path is None else _version(path, os.stat(path).st_mtime_ns)
        if path is not None and version:
            return Compiler(path, version)
    if chosen:
        raise ProgramError(
            f"{CHOSEN} names {chosen!r}, which is no compiler", hint=f"unset {CHOSEN}, or mend it"
        )
    return None


@lru_cache(maxsize=16)
def _version(path: str, changed: int) -> str | None:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    lines = done.stdout.splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else None


@lru_cache(maxsize=1)
def processor() -> str:
    """Return a description of this processor, on which the machine code depends."""
    try:
        import llvmlite.binding as llvm

        features = llvm.get_host_cpu_features().flatten()
        return f"{platform.machine()} {llvm.get_host_cpu_name()} {features}"
    except (ImportError, RuntimeError):
        return f"{platform.machine()} {platform.processor()} {platform.node()}"


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
        missing = f"no C compiler is found ({', '.join(COMPILERS)})"
        if backend is Backend.C:
            raise ProgramError(missing, hint="install one, or use numba")
        return _by_numba(routines, names, f"{missing}: numba makes the code")
    try:
        return _by_c(routines, names, compiler, tuple(flags))
    except LoweringError as error:
        if backend is Backend.C:
            raise
        return _by_numba(routines, names, f"{error.message}: numba makes the code")


LOADED: dict[tuple[str, str], Any] = {}
"""Shared objects and modules of this process, by folder and key; loaded ones stay."""


def _key(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


def _by_c(
    routines: Sequence[Routine], names: tuple[str, ...], compiler: Compiler, flags: tuple[str, ...]
) -> CompiledRoutines:
    began = time.perf_counter()
    source = emit_c(routines, names)
    key = _key(source, flags, ALWAYS, compiler.path, compiler.version, processor())
    folder, said = cache_folder()
    path = folder / f"{key}.so"
    library = LOADED.get((str(folder), key))
    reused = library is not None
    if library is None:
        reused = is_whole(path)
        if not reused:
            _compile(source, path, compiler, flags)
        keep_used(path)
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise LoweringError(
                f"what {compiler.name} made cannot be loaded: {error}",
                hint="use numba, or another compiler",
            ) from None
        LOADED[str(folder), key] = library
    calls = tuple(_c_call(getattr(library, f"k{n}")) for n in range(len(routines)))
    bind = _c_bind(library.together) if names else None
    seconds = time.perf_counter() - began
    return CompiledRoutines(calls, source, Backend.C, compiler.version, seconds, reused, said, bind)


def _compile(source: str, path: Path, compiler: Compiler, flags: tuple[str, ...]) -> None:
    """Put a shared object in its place, whole."""
    try:
        with tempfile.TemporaryDirectory(prefix="building-", dir=path.parent) as name:
            text, made = Path(name) / "kernels.c", Path(name) / "kernels.so"
            text.write_text(source, encoding="ascii")
            command = [compiler.path, *ALWAYS, *flags, "-o", str(made), str(text)]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS,
                check=False,
            )  # fmt: skip
            if done.returncode != 0 or not made.is_file():
                first = next((x for x in done.stderr.splitlines() if "error" in x), "no reason")
                raise LoweringError(
                    f"{compiler.name} does not compile this: {first}",
                    hint="use numba, or another compiler",
                )
            # What follows a shared object's sections is not loaded.
            body = made.read_bytes()
            made.write_bytes(body + mark(body))
            os.replace(made, path)
    except subprocess.TimeoutExpired:
        raise LoweringError(
            f"{compiler.name} takes more than {SECONDS} s", hint="compile fewer nests at once"
        ) from None
    except OSError as error:
        raise LoweringError(
            f"{compiler.name} cannot be run in {path.parent}: {error.strerror or error}",
            hint=f"{ENVIRONMENT} names another folder",
        ) from None


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
    key = _key(source, numba.__version__, platform.python_version(), processor())
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
