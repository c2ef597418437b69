"""Compiled kernels: built on first use, kept in a cache on disk, or all built beforehand.

Numba knows when a kernel's own file changed, but not when a helper's did, nor when another
version of itself or another processor reads the cache.  So the directory's name is a hash of
all that: what is in it can only be right.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import platformdirs
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc

from engine.sim.runs import OPTIONS

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
KEPT = 3  # directories of other versions, newest first

Report = Callable[[str, int, int, float], None]
"""Called with a kernel's name, how many are done, of how many, and the seconds it took."""

_SIGNATURE = ((types.int64, types.int64), types.int64)


def root_directory() -> Path:
    """Where the caches of all versions live: the environment's choice or the user's cache."""
    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "kernels"


@cache
def fingerprint() -> str:
    """Hash of all that a compiled kernel depends on."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([here / "runs.py", here / "cache.py", *(here / "kernels").glob("*.py")]):
        digest.update(path.read_bytes())
    versions = (numba.__version__, np.__version__, llvm.llvm_version_info, sys.version)
    processor = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    digest.update(repr((versions, processor)).encode())
    return digest.hexdigest()[:20]


def directory() -> Path:
    """The cache of this version."""
    return root_directory() / fingerprint()


@contextmanager
def _numba_caches_in(path: Path) -> Iterator[None]:
    """Let numba choose ``path`` for the caches made inside, whatever the user configured."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(path)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


class _Cache(FunctionCache):
    """Numba's cache of one function, with a cheap question."""

    @property
    def filled(self) -> bool:
        folder = Path(self._cache_path)
        return any(folder.glob(f"{self._impl.filename_base}.*.nbc"))


class Kernel:
    """A kernel: the Python function and, from first use on, its machine code."""

    def __init__(self, name: str, function: Callable[..., Any], setup: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        self.setup = setup

    def _store(self) -> _Cache:
        with _numba_caches_in(directory()):
            return _Cache(self.function)

    @property
    def ready(self) -> bool:
        """Whether its machine code is at hand or on disk."""
        return "compiled" in self.__dict__ or self._store().filled

    @cached_property
    def compiled(self) -> Any:
        """Its machine code, loaded or made."""
        code = CFunc(self.function, _SIGNATURE, {}, dict(OPTIONS))
        code._cache = self._store()
        code.compile()
        return code

    @property
    def address(self) -> int:
        """Where its machine code is."""
        return int(self.compiled.address)


KERNELS: dict[str, Kernel] = {}
"""All kernels by name; importing ``engine.sim.kernels`` fills it."""


def _no_setup(_: Any) -> dict[str, float]:
    return {}


def kernel(name: str, setup: Callable[[Any], dict[str, float]] = _no_setup) -> Callable[..., Any]:
    """Decorator: this function runs the primitive of that name.

    Parameters
    ----------
    setup : callable
        Given a :class:`engine.sim.kernels.setup.Setup`, fills the node's parameter fields.
    """

    def register(function: Callable[..., Any]) -> Kernel:
        KERNELS[name] = Kernel(name, function, setup)
        return KERNELS[name]

    return register
