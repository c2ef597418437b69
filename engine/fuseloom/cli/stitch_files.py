"""Files of ``fuseloom stitch``: code of kernels, and jobs for a GPU."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import print_json
from fuseloom.errors import DataError, LoweringError, UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.cli.stitch_documents import CardRun, EmittedFile, GpuRun, StitchTimesDocument
    from fuseloom.stitch.frames import FusedModule
    from fuseloom.stitch.gpu.times import GpuTimes, ModelRun
    from fuseloom.stitch.kernel_code import KernelCode

LANGUAGES = ("c", "cuda", "triton")
SECONDS = 480
"""The most seconds that a job may take here."""
MOST_SHOWN = 4
"""Reasons that are printed."""


def declare_files(parser: argparse.ArgumentParser) -> None:
    """Add the options about files."""
    given = parser.add_argument
    given(
        "--emit", choices=LANGUAGES,
        help="write the code of kernels to --output; of CUDA also registers, spills and shared "
        "memory of each, if nvcc is there (pip install 'fuseloom[cuda]')",
    )  # fmt: skip
    given(
        "--output", type=Path, metavar="DIR",
        help="a folder for --emit, or for the job of --gpu (default: the name of the module, "
        "with -kernels or -job)",
    )  # fmt: skip
    given(
        "--gpu", action="store_true",
        help="build, check and time CUDA kernels under several schedules, and the whole model "
        "beside PyTorch; without a GPU a folder is written that does so elsewhere",
    )  # fmt: skip
    given(
        "--import-times", type=Path, metavar="RESULT.json",
        help="keep the times that a job of --gpu measured elsewhere; takes no module",
    )  # fmt: skip
    given(
        "--card", metavar="NAME",
        help="choose schedules by the times that were measured on that GPU",
    )  # fmt: skip


def check_files(options: Any) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    UsageError
    """
    if options.emit and options.gpu:
        raise UsageError("--emit and --gpu both write files", hint="run the command twice")
    if options.output is not None and not (options.emit or options.gpu):
        raise UsageError("--output says where to, and nothing is written", hint="add --emit cuda")
    if options.card and options.tune:
        raise UsageError("--tune chooses schedules by times of this machine, --card by others")


def emit_files(made: FusedModule, options: Any) -> list[EmittedFile]:
    """Write a file for each frame that has kernels with such code.

    Raises
    ------
    DataError
        If a file cannot be written.
    """
    from fuseloom.program.regular_files import write_bytes
    from fuseloom.stitch.kernel_code import BACKENDS, KernelLanguage, kernel_codes
    from fuseloom.stitch.shared_memory import SpaceSharing

    language = KernelLanguage(options.emit)
    backend = BACKENDS[language]
    folder = options.output or Path(f"{_plain(made.module.name)}-kernels")
    written: list[EmittedFile] = []
    for frame in made.frames:
        codes = kernel_codes(
            made.module, frame.fusion, language, limit=options.shared_memory,
            sharing=SpaceSharing(options.sharing),
        )  # fmt: skip
        texts = [code.text for code in codes if code.text]
        if not texts:
            continue
        source = backend.source(texts)
        path = folder / f"{_plain(frame.computation.name)}{backend.suffix}"
        write_bytes(path, f"{source.rstrip()}\n".encode())
        written.append(_emitted(frame.computation.name, path, source, codes, language.value))
    if not written:
        raise LoweringError(f"no kernel of {made.module.name} has code in {backend.title}")
    return written


def _emitted(
    frame: str, path: Path, source: str, codes: Sequence[KernelCode], language: str
) -> EmittedFile:
    from dataclasses import asdict

    from fuseloom.stitch.gpu.cuda_compiler import compile_cuda

    resources: list[Any] = []
    note = "" if language == "cuda" else "they are of CUDA only"
    if language == "cuda":
        try:
            found = compile_cuda(source, output=path.with_suffix(".fatbin"))
            resources = [asdict(one) for one in found]
        except LoweringError as error:
            note = error.message if error.hint is None else f"{error.message} ({error.hint})"
    return {
        "frame": frame,
        "path": str(path),
        "functions": {one.kernel: one.function for one in codes if one.text},
        "left_out": {one.kernel: one.reason for one in codes if not one.text},
        "resources": resources,
        "note": note,
    }


def run_or_pack(made: FusedModule, options: Any) -> GpuRun:
    """Run a job if there is a GPU, and write it to a folder otherwise.

    Raises
    ------
    DataError
        If a file cannot be written, or the job fails.
    LoweringError
        If no kernel has CUDA.
    """
    from fuseloom.stitch.gpu.cuda_compiler import gpu_reason
    from fuseloom.stitch.gpu.job import pack_job
    from fuseloom.stitch.shared_memory import SpaceSharing

    job = pack_job(
        made, limit=options.shared_memory, sharing=SpaceSharing(options.sharing), seed=options.seed
    )
    told: GpuRun = {
        "folder": "",
        "kernels": job.kernels,
        "timed": job.timed,
        "left_out": job.left_out,
        "reason": gpu_reason(),
        "card": "",
        "wrong": (),
        "imported": 0,
        "models": (),
    }
    if told["reason"] or options.output is not None:
        folder = options.output or Path(f"{_plain(made.module.name)}-job")
        job.write(folder)
        told["folder"] = str(folder)
    if told["reason"]:
        return told
    with tempfile.TemporaryDirectory(prefix="fuseloom-") as own:
        folder = Path(told["folder"] or own)
        if not told["folder"]:
            job.write(folder)
        result = _run_job(folder)
    told["card"], told["wrong"], told["models"] = result.card, result.wrong, _models(result.models)
    told["imported"] = _import(result)
    return told


def _run_job(folder: Path) -> GpuTimes:
    from fuseloom.stitch.gpu.times import read_times

    command = [sys.executable, "run.py", "--output", "result.json"]
    try:
        done = subprocess.run(
            command, cwd=folder, timeout=SECONDS, check=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise DataError(
            f"the job took more than {SECONDS} s", hint="write it with --output, and run it there"
        ) from None
    path = folder / "result.json"
    if not path.exists():
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise DataError(f"the job fails: {lines[-1]}", hint="run it by hand, in --output")
    return read_times(path)


def import_result(options: Any) -> int:
    """Keep the times of a job; 1 if one of its kernels was wrong."""
    from fuseloom.stitch.gpu.times import read_times

    if options.file is not None:
        raise UsageError("--import-times takes no module", hint=f"leave out {options.file}")
    result = read_times(options.import_times)
    content: StitchTimesDocument = {
        "job": result.job,
        "card": result.card,
        "imported": _import(result),
        "wrong": result.wrong,
        "models": _models(result.models),
    }
    if options.json:
        print_json(DocumentKind.STITCH_TIMES, content)
    else:
        print(f"{counted(content['imported'], 'time')} of {result.job} on {result.card} kept")
        print(f"choose schedules by them: fuseloom stitch ... --card {result.card!r}")
        _print_card(content["wrong"], content["models"])
    return 1 if result.wrong else 0


def _import(result: GpuTimes) -> int:
    from fuseloom.stitch.gpu.times import import_times
    from fuseloom.stitch.performance_library import PerformanceLibrary

    return import_times(result, PerformanceLibrary(machine=result.machine))


def _models(models: Sequence[ModelRun]) -> list[CardRun]:
    return [
        {
            "way": one.way,
            "nanoseconds": one.nanoseconds,
            "launches": one.launches,
            "error": one.error,
        }
        for one in models
    ]


def on_card(made: FusedModule, options: Any) -> tuple[FusedModule, dict[str, float | None]]:
    """The module with schedules by times of a card, and the time of each kernel by its root.

    Raises
    ------
    DataError
        If no times of that card are known.
    """
    from fuseloom.stitch.gpu.times import card_fingerprint, fastest_on_card
    from fuseloom.stitch.performance_library import PerformanceLibrary
    from fuseloom.stitch.shared_memory import SpaceSharing

    library = PerformanceLibrary(machine=card_fingerprint(options.card))
    if not len(library):
        raise DataError(
            f"no times of {options.card} are known",
            hint="run a job of --gpu there, and give its result to --import-times",
        )
    chosen = fastest_on_card(
        made, library, limit=options.shared_memory, sharing=SpaceSharing(options.sharing)
    )
    return chosen.made, dict(chosen.nanoseconds)


def print_files(emitted: Sequence[EmittedFile] | None, job: GpuRun | None) -> None:
    """Print what was written, and what was found."""
    for one in emitted or ():
        print(f"written: {one['path']}, {counted(len(one['functions']), 'function')}")
        _print_left_out(one["left_out"])
        if one["note"] and one["path"].endswith(".cu"):
            print(f"not compiled: {one['note']}")
        for architecture in dict.fromkeys(use["architecture"] for use in one["resources"]):
            own = [use for use in one["resources"] if use["architecture"] == architecture]
            spilled = sum(use["spill_stores"] + use["spill_loads"] for use in own)
            print(
                f"{architecture}: at most {max(use['registers'] for use in own)} registers and "
                f"{grouped(max(use['shared_bytes'] for use in own))} bytes of shared memory, "
                f"{grouped(spilled)} bytes spilled"
            )
    if job is not None:
        _print_left_out(job["left_out"])
        if job["reason"]:
            print(f"not run: {job['reason']}")
            print(
                f"written: {job['folder']}, {counted(job['kernels'], 'kernel')} in "
                f"{counted(job['timed'], 'function')}; where there is a GPU: python run.py"
            )
        else:
            print(f"{counted(job['timed'], 'function')} run on {job['card']}, times kept")
        _print_card(job["wrong"], job["models"])


def _print_left_out(left_out: Any) -> None:
    shown = list(left_out.items())
    for name, reason in shown[:MOST_SHOWN]:
        print(f"left out: {name}, {reason}")
    if len(shown) > MOST_SHOWN:
        print(f"left out: {len(shown) - MOST_SHOWN} others")


def _print_card(wrong: Sequence[str], models: Sequence[CardRun]) -> None:
    for name in wrong:
        print(f"wrong: {name}")
    for one in models:
        count = "" if one["launches"] is None else f", {grouped(one['launches'])} launches"
        print(f"{one['way']}: {one['nanoseconds'] / 1e3:.1f} µs{count}, error {one['error']:.1e}")


def _plain(name: str) -> str:
    """A name of a file."""
    return re.sub(r"[^\w.-]+", "-", name)[:80].strip(".-") or "module"
