"""Compiled kernels: built on first use, kept in a cache on disk, or all built beforehand.

Numba knows when a kernel's own file changed, but not when a helper's did, nor when another
version of itself or another processor reads the cache.  So the directory's name is a hash of
all that: what is in it can only be right.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
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
from numba.core import caching, ccallback, types

from engine.errors import SimulationError
from engine.sim.inlining import OPTIONS

ENVIRONMENT = "FUSELOOM_CACHE_DIR"
KEPT = 3  # caches of other versions, newest first
WORKERS = 4  # each compiles the helpers anew, so more would not be faster

Report = Callable[[str, int, int, float], None]
"""Called with a kernel's name, how many are done, of how many, and the seconds it took."""

_SIGNATURE = ((types.int64, types.int64), types.int64)
_SOURCES = ("inlining.py", "layout.py", "runs.py", "cache.py", "kernels/*.py", "dram/*.py")
_NAME = re.compile("[0-9a-f]{20}")
# The parts of numba used here have no types.
_config: Any = numba.config
_function_cache: Any = caching.FunctionCache
_callback: Any = ccallback.CFunc


def root_directory() -> Path:
    """Where the caches of all versions live: the environment's choice or the user's cache."""
    chosen = os.environ.get(ENVIRONMENT)
    return Path(chosen or platformdirs.user_cache_dir("fuseloom", appauthor=False)) / "kernels"


@cache
def fingerprint() -> str:
    """Hash of all that a compiled kernel depends on."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted({path for pattern in _SOURCES for path in here.glob(pattern)}):
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
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
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


class Kernel:
    """A kernel: the Python function and, from first use on, its machine code."""

    def __init__(self, name: str, function: Callable[..., Any], setup: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        self.setup = setup

    @cached_property
    def _store(self) -> Any:
        """Numba's cache of the function, or None where nothing can be written."""
        try:
            with _numba_caches_in(directory()):
                store = _function_cache(self.function)
        except (OSError, RuntimeError):
            return None
        # Where it cannot write, numba turns to folders whose names say nothing about versions.
        return store if Path(store.cache_path).is_relative_to(directory()) else None

    @property
    def storable(self) -> bool:
        """Whether its machine code can be kept on disk."""
        return self._store is not None

    @property
    def ready(self) -> bool:
        """Whether its machine code is at hand or on disk."""
        if "compiled" in self.__dict__:
            return True
        if self._store is None:
            return False
        folder, name = Path(self._store.cache_path), self._store._impl.filename_base
        return any(folder.glob(f"{name}.*.nbc"))

    @cached_property
    def compiled(self) -> Any:
        """Its machine code, loaded or made."""
        if not self.ready:
            prune()
        code = _callback(self.function, _SIGNATURE, {}, dict(OPTIONS))
        if self._store is not None:
            code._cache = self._store
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


def ready(names: Iterable[str] | None = None) -> bool:
    """Whether these kernels (all, if not given) can run without being compiled first."""
    import_kernels()
    return all(KERNELS[name].ready for name in (KERNELS if names is None else names))


def import_kernels() -> None:
    """Fill :data:`KERNELS`."""
    import engine.sim.kernels  # noqa: F401 -- the kernels import this module


@cache
def _size(function: Callable[..., Any]) -> int:
    """How much there is to compile, roughly: helpers become part of who calls them."""
    seen = inspect.getclosurevars(function)
    named: list[Any] = [*seen.globals.values(), *seen.nonlocals.values()]
    helpers = [helper.py_func for helper in named if hasattr(helper, "py_func")]
    return len(function.__code__.co_code) + sum(map(_size, helpers))


def _work_in(name: str) -> int:
    return _size(KERNELS[name].function)


def warmup(
    progress: Report | None = None,
    workers: int | None = None,
    names: Iterable[str] | None = None,
) -> None:
    """Compile kernels (all, if not given) that are not in the cache, in several processes.

    Raises
    ------
    SimulationError
        If a process fails.
    """
    import_kernels()
    prune()
    wanted = KERNELS if names is None else names
    missing = sorted((n for n in wanted if not KERNELS[n].ready), key=_work_in, reverse=True)
    count = min(workers or min(os.cpu_count() or 1, WORKERS), len(missing))
    for done, (name, seconds) in enumerate(_compile_all(missing, count), 1):
        if progress is not None:
            progress(name, done, len(missing), seconds)


def _compile_all(names: list[str], workers: int) -> Iterator[tuple[str, float]]:
    """Compile kernels; yield each name and how long it took."""
    if workers <= 1 or not sys.executable:
        yield from map(_compile_one, names)
        return
    shares: list[list[str]] = [[] for _ in range(workers)]
    for name in names:  # the largest first, each to whoever has least to do
        min(shares, key=lambda share: sum(map(_work_in, share))).append(name)
    lines: queue.Queue[str | None] = queue.Queue()

    def follow(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    package = str(Path(__file__).parents[2])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "engine.sim.cache", *share],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        for share in shares
    ]
    try:
        for process in processes:
            threading.Thread(target=follow, args=(process,), daemon=True).start()
        running = len(processes)
        while running:
            line = lines.get()
            if line is None:
                running -= 1
                continue
            name, seconds = line.split()
            yield name, float(seconds)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    if any(not KERNELS[name].ready for name in names):
        raise SimulationError(
            "the kernels could not be compiled", hint=f"is {root_directory()} writable?"
        )


def _compile_one(name: str) -> tuple[str, float]:
    start = time.perf_counter()
    _ = KERNELS[name].compiled
    return name, time.perf_counter() - start


def _work(names: list[str]) -> None:
    """What a process of :func:`warmup` does.

    It does not live long enough for cycles of garbage to matter: looking for them takes a tenth
    of the time.
    """
    gc.disable()
    import_kernels()
    for name in names:
        print(*_compile_one(name), flush=True)


if __name__ == "__main__":
    # This module runs under another name here; the kernels know the one imported.
    from engine.sim import cache as imported

    imported._work(sys.argv[1:])
