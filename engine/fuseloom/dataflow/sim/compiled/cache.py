"""Compiled kernels: built on first use, kept in a cache on disk, or all built beforehand.

Numba knows when a kernel's own file changed, but not when a helper's did, nor when another
version of itself or another processor reads the cache.  So the directory's name is a hash of
all that: what was written to it can only be right, and each file says whether it is that.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import platformdirs
from numba.core import ccallback, compiler, serialize, types

from fuseloom.dataflow.samml.registry import Registry
from fuseloom.dataflow.sim.compiled.code_files import CodeFile, UnsafeFolderError, own_folder
from fuseloom.dataflow.sim.compiled.inlining import OPTIONS
from fuseloom.dataflow.sim.compiled.slots import NOTHING, Slots
from fuseloom.errors import SimulationError

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
KEPT = 3  # caches of other versions, newest first
_SIGNATURE = ((types.int64, types.int64), types.int64)
_SOURCES = (
    "dataflow/sim/compiled/*.py",
    "dataflow/sim/compiled/kernels/*.py",
    "dataflow/primitives/*/*kernels.py",
    "dataflow/dram/*.py",
    "program/float32.py",
    "program/functions.py",
)
"""The sources of the machine code, from the folder of the package."""
_NAME = re.compile("[0-9a-f]{20}")
# The parts of numba used here have no types.
_rebuilt: Any = compiler.CompileResult._rebuild
_dumped: Any = serialize.dumps
_callback: Any = ccallback.CFunc


def root_directory() -> Path:
    """Return the root of all versions' caches: the environment's choice or the user's cache."""
    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "kernels"


def sources() -> list[Path]:
    """The files whose change makes compiled kernels stale.

    Raises
    ------
    SimulationError
        If a part of them is not there: what is cached could then be of other sources.
    """
    package = Path(__file__).parents[3]
    found: list[Path] = []
    for pattern in _SOURCES:
        files = sorted(package.glob(pattern))
        if not files:
            raise SimulationError(
                f"no source of the compiled kernels matches {pattern} in {package}",
                hint="install the package anew",
            )
        found += files
    return found


@cache
def fingerprint() -> str:
    """Hash of all that a compiled kernel depends on."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    versions = (numba.__version__, np.__version__, llvm.llvm_version_info, sys.version)
    processor = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    digest.update(repr((versions, processor)).encode())
    return digest.hexdigest()[:20]


def directory() -> Path:
    """The cache of this version."""
    return root_directory() / fingerprint()


def prune() -> None:
    """Remove caches of other versions but the latest few."""
    root = root_directory()
    others = [path for path in root.glob("*") if _NAME.fullmatch(path.name) and path != directory()]
    try:
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:  # another process prunes, too
        return
    for path in others[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


class UnkeptError(SimulationError):
    """Kernels that could not be written to the cache."""


SAID: list[str] = []
"""Why nothing is kept, once it was said."""
DAMAGED: list[Path] = []
"""The damaged files of the cache that have been reported."""


def say_unkept(reason: str) -> None:
    """Say, once, that kernels are compiled for this process only."""
    if SAID:
        return
    SAID.append(reason)
    where = root_directory()
    print(
        f"fuseloom: warning: cannot keep compiled kernels in {where} ({reason}); this run goes on "
        f"without, {ENVIRONMENT} names another folder",
        file=sys.stderr,
    )


def _say_damaged(path: Path) -> None:
    """Say, once, that something is compiled anew that was there."""
    if DAMAGED:
        return
    DAMAGED.append(path)
    print(
        f"fuseloom: warning: the compiled kernel {path} is damaged; it is made anew, and so are "
        "others like it",
        file=sys.stderr,
    )


_UNREADABLE = (
    *(pickle.UnpicklingError, EOFError, ImportError),
    *(AttributeError, LookupError, TypeError, ValueError),
)
"""The exceptions that machine code raises if another version wrote it."""


class _KernelStore:
    """The store that numba reads and writes machine code in; disk errors only make runs slower."""

    def __init__(self, file: CodeFile) -> None:
        self.file = file

    @property
    def kept(self) -> bool:
        """True if the machine code is on disk."""
        if self.file.there and not self.file.sound:
            _say_damaged(self.file.path)
        return self.file.sound

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The machine code, or None."""
        context.refresh()
        body = self.file.load()
        if body is None:
            if self.file.there:
                _say_damaged(self.file.path)
            return None
        try:
            return _rebuilt(context, *pickle.loads(body))
        except _UNREADABLE:
            _say_damaged(self.file.path)
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep machine code, or say why not."""
        prune()
        try:
            self.file.save(_dumped(code._reduce()))
        except OSError as problem:
            say_unkept(str(problem.strerror or problem))


class CompiledKernel:
    """A kernel: the Python function and, from first use on, its machine code."""

    def __init__(
        self, name: str, function: Callable[..., Any], slots: Slots, setup: Callable[..., Any]
    ) -> None:
        self.name = name
        self.function = function
        self.slots = slots
        self.setup = setup

    @cached_property
    def _store(self) -> _KernelStore | None:
        """The store of its machine code; None if there can be none."""
        try:
            folder = own_folder(directory())
        except UnsafeFolderError as problem:
            say_unkept(str(problem))
            return None
        except OSError:
            return None
        return _KernelStore(CodeFile(folder, self.name))

    @property
    def storable(self) -> bool:
        """True if its machine code can be kept on disk."""
        return self._store is not None

    @property
    def ready(self) -> bool:
        """True if its machine code is in memory or on disk."""
        return "compiled" in self.__dict__ or self.kept

    @property
    def kept(self) -> bool:
        """True if its machine code is on disk."""
        return self._store is not None and self._store.kept

    @cached_property
    def compiled(self) -> Any:
        """Its machine code, loaded or made."""
        code = _callback(self.function, _SIGNATURE, {}, dict(OPTIONS))
        if self._store is None:
            say_unkept("it cannot be written to")
        else:
            code._cache = self._store
        code.compile()
        return code

    @property
    def address(self) -> int:
        """The address of its machine code."""
        return int(self.compiled.address)


KERNELS: Registry[CompiledKernel] = Registry(
    "kernels",
    "kernel",
    lambda entry: entry.kernels.names.union(filter(None, [entry.memory.stalled])),
)
"""All kernels, by name."""


def _no_setup(_: Any) -> dict[str, float]:
    return {}


def kernel(
    name: str,
    slots: Slots = NOTHING,
    setup: Callable[[Any], dict[str, float]] = _no_setup,
) -> Callable[..., Any]:
    """Decorator: this function runs the primitive of that name.

    Parameters
    ----------
    slots : Slots
        What it calls the slots of its nodes.
    setup : callable
        Given a :class:`fuseloom.dataflow.sim.compiled.setup.Setup`, what lies in them at first, by
        these names; 0 in those it does not mention.
    """

    def register(function: Callable[..., Any]) -> CompiledKernel:
        made = CompiledKernel(name, function, slots, setup)
        KERNELS.add(name, made)
        return made

    return register
