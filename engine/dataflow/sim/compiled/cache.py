"""Compiled kernels: built on first use, kept in a cache on disk, or all built beforehand.

Numba knows when a kernel's own file changed, but not when a helper's did, nor when another
version of itself or another processor reads the cache.  So the directory's name is a hash of
all that: what is in it can only be right.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import platformdirs
from numba.core import caching, ccallback, types

from engine.dataflow.sim.compiled.inlining import OPTIONS
from engine.dataflow.sim.compiled.slots import NOTHING, Slots
from engine.errors import SimulationError

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
KEPT = 3  # caches of other versions, newest first
_SIGNATURE = ((types.int64, types.int64), types.int64)
_SOURCES = ("*.py", "kernels/*.py", "../dram/*.py")
"""What the machine code is made of, from this folder."""
_NAME = re.compile("[0-9a-f]{20}")
# The parts of numba used here have no types.
_config: Any = numba.config
_function_cache: Any = caching.FunctionCache
_callback: Any = ccallback.CFunc


def root_directory() -> Path:
    """Where the caches of all versions live: the environment's choice or the user's cache."""
    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "kernels"


def sources() -> list[Path]:
    """The files whose change makes compiled kernels stale.

    Raises
    ------
    SimulationError
        If a part of them is not there: what is cached could then be of other sources.
    """
    here = Path(__file__).parent
    found: list[Path] = []
    for pattern in _SOURCES:
        folder, _, name = pattern.rpartition("/")
        files = sorted((here / folder).resolve().glob(name))
        if not files:
            raise SimulationError(
                f"no source of the compiled kernels matches {pattern} in {here}",
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


@contextmanager
def _numba_caches_in(path: Path) -> Iterator[None]:
    """Let numba choose ``path`` for the caches made inside, whatever the user configured."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(path)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


class UnkeptError(SimulationError):
    """Kernels that could not be written to the cache."""


SAID: list[str] = []
"""Why nothing is kept, once it was said."""


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


class _Store:
    """Numba's cache of a function, of which a full or damaged disk makes a slower one, no more."""

    def __init__(self, store: Any) -> None:
        self.numbas = store

    @property
    def kept(self) -> bool:
        """Whether the machine code is on disk."""
        folder, name = Path(self.numbas.cache_path), self.numbas._impl.filename_base
        return any(folder.glob(f"{name}.*.nbc"))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The machine code, or None."""
        try:
            return self.numbas.load_overload(signature, context)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep machine code, or say why not."""
        try:
            self.numbas.save_overload(signature, code)
        except (OSError, EOFError, pickle.UnpicklingError) as problem:
            say_unkept(str(getattr(problem, "strerror", None) or problem))


class Kernel:
    """A kernel: the Python function and, from first use on, its machine code."""

    def __init__(
        self, name: str, function: Callable[..., Any], slots: Slots, setup: Callable[..., Any]
    ) -> None:
        self.name = name
        self.function = function
        self.slots = slots
        self.setup = setup

    @cached_property
    def _store(self) -> _Store | None:
        """The cache of the function, or None where nothing can be written."""
        try:
            with _numba_caches_in(directory()):
                store = _function_cache(self.function)
        except (OSError, RuntimeError):
            return None
        # Where it cannot write, numba turns to folders whose names say nothing about versions.
        return _Store(store) if Path(store.cache_path).is_relative_to(directory()) else None

    @property
    def storable(self) -> bool:
        """Whether its machine code can be kept on disk."""
        return self._store is not None

    @property
    def ready(self) -> bool:
        """Whether its machine code is at hand or on disk."""
        return "compiled" in self.__dict__ or self.kept

    @property
    def kept(self) -> bool:
        """Whether its machine code is on disk."""
        return self._store is not None and self._store.kept

    @cached_property
    def compiled(self) -> Any:
        """Its machine code, loaded or made."""
        if not self.ready:
            prune()
        code = _callback(self.function, _SIGNATURE, {}, dict(OPTIONS))
        if self._store is None:
            say_unkept("it cannot be written to")
        else:
            code._cache = self._store
        code.compile()
        return code

    @property
    def address(self) -> int:
        """Where its machine code is."""
        return int(self.compiled.address)


KERNELS: dict[str, Kernel] = {}
"""All kernels by name; importing ``engine.dataflow.sim.compiled.kernels`` fills it."""


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
        Given a :class:`engine.dataflow.sim.compiled.setup.Setup`, what lies in them at first, by
        these names; 0 in those it does not mention.
    """

    def register(function: Callable[..., Any]) -> Kernel:
        KERNELS[name] = Kernel(name, function, slots, setup)
        return KERNELS[name]

    return register
