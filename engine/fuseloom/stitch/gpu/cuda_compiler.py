"""CUDA kernels compiled by nvcc, without a GPU: registers, spills and shared memory of each."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuseloom.errors import LoweringError

VARIABLE = "FUSELOOM_NVCC"
"""Environment variable that names the compiler."""
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
"""Of GPUs that kernels are compiled for: Turing, Ampere and Hopper."""
SECONDS = 600
"""The most seconds that the compiler may take."""
_COMPILED = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class KernelResources:
    """The resources of a kernel on an architecture.

    Attributes
    ----------
    function : str
        Its name.
    architecture : str
    registers : int
        Of a thread.
    spill_stores, spill_loads : int
        Bytes of a thread that registers do not suffice for.
    shared_bytes : int
        Of shared memory of a block.
    """

    function: str
    architecture: str
    registers: int
    spill_stores: int
    spill_loads: int
    shared_bytes: int


def find_nvcc() -> str | None:
    """Return the path of nvcc: what the environment names, one of the path, or an installed wheel.

    Raises
    ------
    LoweringError
        If the environment names what is none.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise LoweringError(
                f"{VARIABLE} names {chosen!r}, which is no program", hint=f"unset {VARIABLE}"
            )
        return found
    found = shutil.which("nvcc")
    return found or next(_of_wheels(), None)


def _of_wheels() -> Iterator[str]:
    spec = importlib.util.find_spec("nvidia")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        for path in sorted(Path(folder).glob("cu*/bin/nvcc")):
            if os.access(path, os.X_OK):
                yield str(path)


def gpu_reason() -> str:
    """Return the reason why no kernel of CUDA can run here; empty if there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
            return "the driver of CUDA finds no GPU"
    except OSError:
        return "there is no driver of CUDA"
    return "" if find_nvcc() else "there is no nvcc"


def compile_cuda(
    source: str, architectures: Sequence[str] = ARCHITECTURES, output: Path | None = None
) -> tuple[KernelResources, ...]:
    """Compile kernels, and return what each needs on each architecture.

    Parameters
    ----------
    source : str
        A file of CUDA C.
    architectures : sequence of str
    output : Path, optional
        A file for the machine code of all architectures.

    Raises
    ------
    LoweringError
        If there is no nvcc, or it fails.
    """
    nvcc = find_nvcc()
    if nvcc is None:
        raise LoweringError(
            "there is no nvcc", hint="pip install 'fuseloom[cuda]', which takes no GPU"
        )
    targets = [
        word
        for one in architectures
        for word in ("-gencode", f"arch={one.replace('sm_', 'compute_')},code={one}")
    ]
    with tempfile.TemporaryDirectory(prefix="fuseloom-") as folder:
        path, made = Path(folder, "kernels.cu"), Path(folder, "kernels.fatbin")
        path.write_text(source, "utf-8")
        command = [nvcc, "-fatbin", *targets, "-Xptxas", "-v", "-o", str(made), str(path)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise LoweringError(f"nvcc cannot be run: {error}", hint=f"set {VARIABLE}") from None
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if "error" in line]
            raise LoweringError(
                f"nvcc fails: {(told or done.stderr.splitlines() or ['it says nothing'])[0]}",
                hint="nvcc needs a compiler of C++ that it supports",
            )
        if output is not None:
            shutil.copyfile(made, output)
    return tuple(read_resources(done.stderr))


def read_resources(text: str) -> Iterator[KernelResources]:
    """Read what ptxas says of kernels.

    Examples
    --------
    >>> list(read_resources('''
    ... ptxas info    : Compiling entry function '_Z8kernel_0PKfPf' for 'sm_90'
    ... ptxas info    : Function properties for _Z8kernel_0PKfPf
    ...     0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
    ... ptxas info    : Used 34 registers, used 1 barriers, 16640 bytes smem
    ... '''))  # doctest: +NORMALIZE_WHITESPACE
    [KernelResources(function='kernel_0', architecture='sm_90', registers=34, spill_stores=8,
                     spill_loads=4, shared_bytes=16640)]
    """
    name = architecture = ""
    spilled = (0, 0)
    for line in text.splitlines():
        if found := _COMPILED.search(line):
            name, architecture, spilled = _plain(found[1]), found[2], (0, 0)
        elif found := _SPILLS.search(line):
            spilled = (int(found[1]), int(found[2]))
        elif found := _USED.search(line):
            shared = _SHARED.search(line)
            yield KernelResources(
                name, architecture, int(found[1]), *spilled, int(shared[1]) if shared else 0
            )


def _plain(mangled: str) -> str:
    """The name of a function that C++ writes with its types."""
    found = re.match(r"_Z(\d+)", mangled)
    if found is None:
        return mangled
    first = found.end()
    return mangled[first : first + int(found[1])]
