"""Kernels in Triton run by its interpreter, against the meaning of operations, and compiled.

Neither needs a GPU.  Triton runs in a process of its own.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom import interpreter
from fuseloom.errors import FuseloomError, LoweringError
from fuseloom.stitch.gpu.triton_child import ANSWER, ASKED, SOURCE
from fuseloom.stitch.kernel_cases import StitchedCase, relative_difference
from fuseloom.stitch.kernel_code import KernelCode
from fuseloom.stitch.meaning.values import Array
from fuseloom.stitch.triton.emitter import triton_source

MOST_SECONDS = 1800
"""The longest time that a process of Triton may take."""


@dataclass(frozen=True)
class CompiledTriton:
    """A kernel as machine code of a GPU.

    Attributes
    ----------
    function : str
    capability : int
        Of the GPU: 90 for ``sm_90``.
    ptx : str
    registers : int
        Of a thread.
    spilled : int
        Bytes that a thread stores for want of registers.
    shared : int
        Bytes of shared memory of a block, which Triton uses for itself.
    """

    function: str
    capability: int
    ptx: str
    registers: int
    spilled: int
    shared: int


def run_triton(cases: Sequence[StitchedCase]) -> list[tuple[Array, ...]]:
    """Run kernels by Triton's interpreter, all in one process.

    Parameters
    ----------
    cases : sequence of StitchedCase
        Of kernels in Triton whose functions have different names.

    Returns
    -------
    list of tuple of array
        The outputs of each.

    Raises
    ------
    FuseloomError
        If Triton or PyTorch is not installed.
    LoweringError
        If a kernel cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="fuseloom-triton-") as name:
        folder = Path(name)
        for case in cases:
            np.savez(folder / f"{case.code.function}.in.npz", *case.inputs)
        codes = [case.code for case in cases]
        answer = _asked(folder, codes, {}, {"TRITON_INTERPRET": "1"})
        _refuse(answer["failed"], "be run")
        return [_outputs(folder / f"{code.function}.out.npz") for code in codes]


def _outputs(path: Path) -> tuple[Array, ...]:
    with np.load(path) as file:
        return tuple(file[f"arr_{number}"] for number in range(len(file.files)))


def triton_errors(cases: Sequence[StitchedCase], least: float = 0.0) -> list[float]:
    """Run kernels by Triton's interpreter, and compare.

    Parameters
    ----------
    cases : sequence of StitchedCase
    least : float
        The least that differences are divided by: the size of what is added, where sums cancel out.

    Returns
    -------
    list of float
        Per kernel the largest :func:`~fuseloom.stitch.kernel_cases.relative_difference` of an
        output.

    Raises
    ------
    FuseloomError
        If Triton or PyTorch is not installed.
    LoweringError
        If a kernel cannot be run.
    """
    return [
        max(
            (relative_difference(a, b, least) for a, b in zip(found, case.expected, strict=True)),
            default=0,
        )
        for found, case in zip(run_triton(cases), cases, strict=True)
    ]


def compile_triton(
    codes: Sequence[KernelCode], capabilities: Sequence[int] = (90,)
) -> list[CompiledTriton]:
    """Compile kernels in Triton to PTX and machine code, without a GPU.

    Parameters
    ----------
    codes : sequence of KernelCode
        In Triton, of functions with different names.
    capabilities : sequence of int
        Those of GPUs, such as 80 for ``sm_80``.

    Raises
    ------
    FuseloomError
        If Triton or PyTorch is not installed.
    LoweringError
        If a kernel does not compile.
    """
    with tempfile.TemporaryDirectory(prefix="fuseloom-triton-") as name:
        folder = Path(name)
        own = {"TRITON_CACHE_DIR": str(folder / "cache"), "TRITON_INTERPRET": "0"}
        answer = _asked(folder, codes, {"capabilities": list(capabilities)}, own)
        _refuse(answer["failed"], "be compiled")
        made = []
        for code in codes:
            for capability in capabilities:
                key = f"{code.function}.sm_{capability}"
                ptx = (folder / f"{key}.ptx").read_text("utf-8")
                used = answer["compiled"][key]
                made.append(CompiledTriton(code.function, capability, ptx, **used))
        return made


def _asked(
    folder: Path, codes: Sequence[KernelCode], asked: Mapping[str, Any], own: Mapping[str, str]
) -> dict[str, Any]:
    """Start a process, and read its answer."""
    for package in ("torch", "triton"):
        if importlib.util.find_spec(package) is None:
            raise FuseloomError(
                f"{package} is not installed", hint="pip install 'fuseloom[triton]'"
            )
    (folder / SOURCE).write_text(triton_source([code.text for code in codes]), "utf-8")
    names = [code.function for code in codes]
    (folder / ASKED).write_text(json.dumps({"kernels": names, **asked}), "utf-8")
    try:
        child = ("-W", "ignore", "-m", "fuseloom.stitch.gpu.triton_child", str(folder))
        done = subprocess.run(
            interpreter.command(*child), env={**interpreter.environment(), **own},
            capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise LoweringError(
            f"Triton takes more than {MOST_SECONDS:,} seconds", hint="give fewer kernels"
        ) from None
    if done.returncode or not (folder / ANSWER).exists():
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise LoweringError(f"Triton ended with {done.returncode}: {said}")
    answer: dict[str, Any] = json.loads((folder / ANSWER).read_text("utf-8"))
    return answer


def _refuse(failed: Mapping[str, str], words: str) -> None:
    for name, why in failed.items():
        raise LoweringError(f"{name} cannot {words} by Triton: {why}")
