"""Compiled kernels: built on first use, kept in a cache on disk, or all built beforehand.

Numba knows when a kernel's own file changed, but not when a helper's did, nor when another
version of itself or another processor reads the cache.  So the folder's name is a hash of the
versions and the processor, and a file's name has one of the kernel's sources: what was written
there can only be right, and each file says whether it is that.  A change of one kernel leaves the
machine code of the others in use.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import platformdirs
from numba.core import ccallback, compiler, serialize, types

from fuseloom.dataflow.samml.registry import Registry
from fuseloom.dataflow.sim.compiled.code_files import (
    SUFFIX,
    CodeFile,
    UnsafeFolderError,
    own_folder,
)
from fuseloom.dataflow.sim.compiled.inlining import OPTIONS
from fuseloom.dataflow.sim.compiled.kernel_sources import digest
from fuseloom.dataflow.sim.compiled.slots import NOTHING, Slots
from fuseloom.errors import SimulationError

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
KEPT = 3
"""Folders of other versions, and files of other sources of a kernel, that stay: the newest."""
_SIGNATURE = ((types.int64, types.int64), types.int64)
_NAME = re.compile("[0-9a-f]{20}")
# The parts of numba used here have no types.
_rebuilt: Any = compiler.CompileResult._rebuild
_dumped: Any = serialize.dumps
_callback: Any = ccallback.CFunc


def root_directory() -> Path:
    """Return the root of all versions' caches: the environment's choice or the user's cache."""
    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "kernels"


@cache
def environment() -> str:
    """Return a hash of what machine code depends on besides its sources, 20 hexadecimal digits."""
    return hashlib.sha256(repr(conditions()).encode()).hexdigest()[:20]


def conditions() -> dict[str, str]:
    """Return what machine code depends on besides its sources: versions, and the processor."""
    return {
        "numba": numba.__version__,
        "NumPy": np.__version__,
        "LLVM": ".".join(map(str, llvm.llvm_version_info)),
        "Python": sys.version,
        "processor": f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}",
    }


def directory() -> Path:
    """The folder of the kernels for these versions and this processor."""
    return root_directory() / environment()


def prune() -> None:
    """Remove folders of other versions, and files of other sources of a kernel, but a few."""
    own = directory()
    others = [path for path in root_directory().glob("*") if _NAME.fullmatch(path.name)]
    for path in _older(path for path in others if path != own):
        shutil.rmtree(path, ignore_errors=True)
    files: dict[str, list[Path]] = {}
    for path in own.glob(f"*-*{SUFFIX}"):
        files.setdefault(path.name.partition("-")[0], []).append(path)
    for name, versions in files.items():
        current = KERNELS[name].file_name if name in KERNELS else ""
        for path in _older(path for path in versions if path.stem != current):
            path.unlink(missing_ok=True)


def _older(paths: Iterable[Path]) -> list[Path]:
    """Return all but the newest few."""
    try:
        return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]
    except OSError:  # another process prunes, too
        return []


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

    @property
    def file_name(self) -> str:
        """The name of its file without the ending: its own, and the digest of its sources."""
        return f"{self.name}-{digest(self.function.__module__)}"

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
        return _KernelStore(CodeFile(folder, self.file_name))

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
