"""GPU jobs: folders with the CUDA kernels of a fusion, and what builds, checks and times them.

Any machine with a GPU runs one (``python run.py``), and one without tries it on its processor
(``python run.py --on-cpu``).  Each kernel is there under several schedules, so that the times tell
which is best; :mod:`fuseloom.stitch.gpu.times` reads them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.errors import LimitError, LoweringError, ScheduleError
from fuseloom.program.regular_files import write_bytes
from fuseloom.stitch.consistency import ScheduleConsistency
from fuseloom.stitch.cuda.emitter import block_threads, cuda_source
from fuseloom.stitch.emit_torch import constants_of, emit_torch
from fuseloom.stitch.frames import FusedModule
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseComputation, DenseModule, random_inputs
from fuseloom.stitch.kernel_cases import StitchedCase, kernel_cases
from fuseloom.stitch.kernel_code import KernelCode, KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.meaning.values import Array
from fuseloom.stitch.operation_timing import PerformanceKey
from fuseloom.stitch.performance_keys import PerformanceKeys
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel

KIND = "fuseloom gpu job"
VERSION = 1
"""Of the files of a job, and of its results."""
BACKEND = "cuda"
"""The back end that times are of, in the performance library."""
TOLERANCE = 1e-4
"""The largest error of a kernel that is right, by its largest value."""
MOST_SCHEDULES = 8
"""Schedules of a kernel that are timed."""
FILES = ("job_files/run.py", "job_files/host.hpp", "cuda_on_cpu.hpp")
"""Files that every job has."""


@dataclass(frozen=True)
class GpuJob:
    """A job as files.

    Attributes
    ----------
    files : mapping
        Contents by name.
    kernels : int
        Kernels of the model.
    timed : int
        Functions that are timed: each kernel under several schedules.
    left_out : mapping
        Per kernel that has no CUDA the reason.
    model_reason : str
        The reason why the whole model is not compared with PyTorch; empty if it is.
    """

    files: Mapping[str, bytes]
    kernels: int
    timed: int
    left_out: Mapping[str, str]
    model_reason: str

    def write(self, folder: Path) -> None:
        """Write the files, each whole or not at all.

        Raises
        ------
        DataError
            If one cannot be written.
        """
        for name, content in self.files.items():
            write_bytes(folder / name, content)


def pack_job(
    made: FusedModule,
    *,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    seed: int = 0,
    most_schedules: int = MOST_SCHEDULES,
) -> GpuJob:
    """Put together a job of the computation that a module runs first.

    Parameters
    ----------
    made : FusedModule
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing
    seed : int
        Of random inputs.
    most_schedules : int
        Schedules of a kernel that are timed, its own among them.

    Raises
    ------
    LoweringError
        If no kernel has CUDA.

    Examples
    --------
    >>> from fuseloom.stitch.frames import fuse_module
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[8,4] parameter(0)
    ...   ROOT y = f32[8,4] exponential(x)
    ... }''')
    >>> job = pack_job(fuse_module(module))
    >>> sorted(job.files)
    ['arrays.npz', 'cuda_on_cpu.hpp', 'host.hpp', 'job.cu', 'job.json', 'model.py', 'run.py']
    >>> job.kernels, job.timed
    (1, 8)
    """
    fusion = made.frames[0].fusion
    computation = fusion.computation
    own = kernel_codes(
        made.module, fusion, KernelLanguage.CUDA, limit=limit, sharing=sharing, prefix="kernel"
    )
    known = [one for one in own if one.phased is not None]
    if not known:
        reasons = "; ".join(dict.fromkeys(one.reason for one in own)) or "there are none"
        raise LoweringError(f"no kernel of {made.module.name} has CUDA: {reasons}")
    more = kernel_codes(
        made.module, replace(fusion, kernels=_variants(fusion, most_schedules - 1)),
        KernelLanguage.CUDA, limit=limit, sharing=sharing, prefix="variant",
    )  # fmt: skip
    others = [one for one in more if one.phased is not None]
    inputs = random_inputs(computation, seed)
    cases = kernel_cases(made.module, computation, [*known, *others], inputs)
    arrays, keys = _Arrays(), PerformanceKeys("")
    described = [
        _described(keys, made.module, computation, case, arrays, case.code in known)
        for case in cases
    ]
    model, text, reason = _model(made, fusion, own, cases, inputs, arrays)
    job = {
        "kind": KIND, "version": VERSION, "name": made.module.name, "tolerance": TOLERANCE,
        "kernels": described, "model": model, "model_reason": reason,
    }  # fmt: skip
    source = cuda_source([one.text for one in (*known, *others)])
    files = {
        "job.json": (json.dumps(job, indent=1) + "\n").encode(),
        "job.cu": f'{source}\n#include "host.hpp"\n'.encode(),
        "arrays.npz": arrays.packed(),
    }
    if text:
        files["model.py"] = text.encode()
    here = resources.files(__package__)
    for name in FILES:
        files[Path(name).name] = here.joinpath(name).read_bytes()
    left_out = {one.kernel: one.reason for one in own if one.phased is None}
    return GpuJob(files, len(known), len(cases), left_out, reason)


class _Arrays:
    """Arrays by name, each once."""

    def __init__(self) -> None:
        self.named: dict[str, Array] = {}
        self._known: dict[str, str] = {}

    def name(self, operation: str, array: Array) -> str:
        """The name of the value of an operation."""
        if operation not in self._known:
            self._known[operation] = f"a{len(self._known)}"
            self.named[self._known[operation]] = array
        return self._known[operation]

    def packed(self) -> bytes:
        """The file of all."""
        held = io.BytesIO()
        np.savez_compressed(held, **self.named)  # type: ignore[arg-type]
        return held.getvalue()


def _variants(fusion: DeepFusion, most: int) -> tuple[StitchedKernel, ...]:
    """Kernels under other schedules than their own, some for each."""
    made = []
    checker = ScheduleConsistency(fusion.computation)
    for kernel in fusion.kernels:
        if kernel.schedule is None or kernel.is_call or most < 1:
            continue
        dims = fusion.computation.by_name[kernel.name].array.dims
        others = [one for one in kernel.satisfiable if one != kernel.schedule]
        others.sort(key=lambda one: one.blocks(dims))
        step = max(len(others) / most, 1.0)
        for place in range(min(len(others), most)):
            try:
                one = others[int(place * step)]
                made.append(with_schedule(fusion.computation, kernel, one, checker))
            except ScheduleError:
                continue
    return tuple(made)


def _described(
    keys: PerformanceKeys,
    module: DenseModule,
    computation: DenseComputation,
    case: StitchedCase,
    arrays: _Arrays,
    chosen: bool,
) -> dict[str, Any]:
    phased = case.code.phased
    assert phased is not None
    kernel = phased.kernel
    return {
        "function": case.code.function,
        "kernel": kernel.name,
        "operations": len(kernel.operations),
        "schedule": str(kernel.schedule),
        "chosen": chosen,
        "blocks": phased.blocks,
        "threads": block_threads(phased),
        "shared_bytes": phased.plan.byte_size,
        "inputs": [arrays.name(a.name, b) for a, b in zip(phased.inputs, case.inputs, strict=True)],
        "outputs": [
            arrays.name(a.name, b) for a, b in zip(phased.outputs, case.expected, strict=True)
        ],
        "key": asdict(cuda_key(keys, module, computation, case.code)),
    }


def cuda_key(
    keys: PerformanceKeys, module: DenseModule, computation: DenseComputation, code: KernelCode
) -> PerformanceKey:
    """Return the key of a kernel of CUDA in the performance library.

    Parameters
    ----------
    keys : PerformanceKeys
        Of the fingerprint of the card.
    module : DenseModule
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    code : KernelCode
        With phases.
    """
    phased = code.phased
    assert phased is not None
    key = keys.kernel_lookup(module, computation, phased.kernel, phased.plan).key
    return replace(key, backend=BACKEND, threads=block_threads(phased))


def _model(
    made: FusedModule,
    fusion: DeepFusion,
    codes: Sequence[KernelCode],
    cases: Sequence[StitchedCase],
    inputs: Mapping[str, Array],
    arrays: _Arrays,
) -> tuple[dict[str, Any] | None, str, str]:
    """The model for PyTorch: its arrays, its text, and the reason if there is none."""
    computation = fusion.computation
    try:
        text = emit_torch(made.module, fusion, codes)
        results = _results(computation, cases)
    except (LimitError, LoweringError) as error:
        return None, "", error.message
    model = {
        "given": [arrays.name(one.name, inputs[one.name]) for one in computation.parameters],
        "constants": {
            key: arrays.name(one.name, np.asarray(one.literal)) for key, one in constants_of(fusion)
        },
        "results": [arrays.name(name, value) for name, value in results.items()],
    }
    return model, text, ""


def _results(computation: DenseComputation, cases: Sequence[StitchedCase]) -> dict[str, Array]:
    """The values of the results, which kernels write."""
    written: dict[str, Array] = {}
    for case in cases:
        assert case.code.phased is not None
        names = [one.name for one in case.code.phased.outputs]
        written |= dict(zip(names, case.expected, strict=True))
    for name in computation.outputs:
        if name not in written:
            raise LoweringError(f"{name}, a result, is made by no kernel")
    return {name: written[name] for name in computation.outputs}
