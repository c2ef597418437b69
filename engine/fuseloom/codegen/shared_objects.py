"""Machine code of C and C++: made by a compiler of this machine, kept on disk, and loaded.

What is kept is named by the hash of all it is made of: source, flags, compiler and processor.
A file is loaded only from a folder that nobody else may write to, and only if it is whole.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuseloom.codegen.code_folder import (
    ENVIRONMENT,
    cache_folder,
    is_whole,
    keep_used,
    mark,
)
from fuseloom.errors import LoweringError, ProgramError

SECONDS = 120
"""The most seconds that a compiler may take."""


@dataclass(frozen=True)
class SourceLanguage:
    """A language that machine code is made of.

    Attributes
    ----------
    name, suffix : str
    variable : str
        Of the environment: it names the compiler.
    compilers : tuple of str
        Looked for in this order.
    flags : tuple of str
        Given always.
    instead : str
        What to do where there is no compiler, or it fails.
    """

    name: str
    suffix: str
    variable: str
    compilers: tuple[str, ...]
    flags: tuple[str, ...]
    instead: str


C = SourceLanguage(
    "C", ".c", "FUSELOOM_CC", ("gcc", "clang", "cc"), ("-std=c99", "-shared", "-fPIC", "-w"),
    "use numba",
)  # fmt: skip
CPP = SourceLanguage(
    "C++", ".cpp", "FUSELOOM_CXX", ("g++", "clang++", "c++"),
    ("-std=c++17", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror"),
    "use the generated Python",
)  # fmt: skip


@dataclass(frozen=True)
class Compiler:
    """A compiler.

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


def find_compiler(language: SourceLanguage = C) -> Compiler | None:
    """The compiler that the environment names, or one that is found; None if there is none.

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
    chosen = os.environ.get(language.variable)
    for name in (chosen,) if chosen else language.compilers:
        path = shutil.which(name)
        version = None if path is None else _version(path, os.stat(path).st_mtime_ns)
        if path is not None and version:
            return Compiler(path, version)
    if chosen:
        raise ProgramError(
            f"{language.variable} names {chosen!r}, which is no compiler",
            hint=f"unset {language.variable}, or mend it",
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


LOADED: dict[tuple[str, str], Any] = {}
"""Shared objects and modules of this process, by folder and key; loaded ones stay."""


def key_of(*parts: object) -> str:
    """Return the name under which what is made of these parts is kept."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


@dataclass(frozen=True)
class LoadedLibrary:
    """A shared object of this process.

    Attributes
    ----------
    functions : ctypes.CDLL
    reused : bool
        Whether it was compiled before.
    said : str
        The reason if it is kept for this process only.
    """

    functions: Any
    reused: bool
    said: str


def load_library(
    source: str, language: SourceLanguage, compiler: Compiler, flags: Sequence[str]
) -> LoadedLibrary:
    """Compile a source, unless that was done before, and load what it becomes.

    Raises
    ------
    LoweringError
        If the compiler fails, or what it made cannot be loaded.
    """
    every = (*language.flags, *flags)
    key = key_of(source, every, compiler.path, compiler.version, processor())
    folder, said = cache_folder()
    path = folder / f"{key}.so"
    library = LOADED.get((str(folder), key))
    reused = library is not None
    if library is None:
        reused = is_whole(path)
        if not reused:
            _compile(source, path, language, compiler, every)
        keep_used(path)
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise LoweringError(
                f"what {compiler.name} made cannot be loaded: {error}",
                hint=f"{language.instead}, or another compiler",
            ) from None
        LOADED[str(folder), key] = library
    return LoadedLibrary(library, reused, said)


def _compile(
    source: str,
    path: Path,
    language: SourceLanguage,
    compiler: Compiler,
    flags: tuple[str, ...],
) -> None:
    """Put a shared object in its place, whole."""
    try:
        with tempfile.TemporaryDirectory(prefix="building-", dir=path.parent) as name:
            text, made = Path(name) / f"kernels{language.suffix}", Path(name) / "kernels.so"
            text.write_text(source, encoding="utf-8")
            command = [compiler.path, *flags, "-o", str(made), str(text)]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS,
                check=False,
            )  # fmt: skip
            if done.returncode != 0 or not made.is_file():
                first = next((x for x in done.stderr.splitlines() if "error" in x), "no reason")
                raise LoweringError(
                    f"{compiler.name} does not compile this: {first}",
                    hint=f"{language.instead}, or another compiler",
                )
            # What follows a shared object's sections is not loaded.
            body = made.read_bytes()
            made.write_bytes(body + mark(body))
            os.replace(made, path)
    except subprocess.TimeoutExpired:
        raise LoweringError(
            f"{compiler.name} takes more than {SECONDS} s", hint="compile less at once"
        ) from None
    except OSError as error:
        raise LoweringError(
            f"{compiler.name} cannot be run in {path.parent}: {error.strerror or error}",
            hint=f"{ENVIRONMENT} names another folder",
        ) from None
