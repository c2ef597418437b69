"""Build, check and time the kernels of this folder on a GPU, and write result.json.

It takes Python 3.9, NumPy and nvcc; with PyTorch it compares whole models, too.  ``--on-cpu`` runs
the same on the processor, with a compiler of C++, to try the job where there is no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

VERSION = 1
FOLDER = Path(__file__).resolve().parent
ROUNDS = 7
"""Measurements of a kernel, of which the median counts."""
LEAST = 2000.0
"""Microseconds of a measurement."""


class JobError(Exception):
    """Something that keeps the job from running."""


class Card:
    """The library of kernels, and arrays on the card."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.library.error_text.restype = ctypes.c_char_p

    def ask(self, function: Any, *arguments: Any) -> None:
        """Call a function of the library, whose result is the number of an error."""
        found = function(*arguments)
        if found:
            told = self.library.error_text(found).decode()
            raise JobError(f"error {found} of CUDA: {told}")

    def describe(self) -> tuple[str, int]:
        """The name of the card, and ten times its compute capability."""
        name, capability = ctypes.create_string_buffer(256), ctypes.c_int()
        self.ask(self.library.describe, name, 256, ctypes.byref(capability))
        return name.value.decode(), capability.value

    def put(self, array: Any) -> Any:
        """An array on the card."""
        made = ctypes.c_void_p()
        self.ask(self.library.reserve, ctypes.byref(made), ctypes.c_size_t(max(array.nbytes, 1)))
        size = ctypes.c_size_t(array.nbytes)
        self.ask(self.library.to_card, made, array.ctypes.data_as(ctypes.c_void_p), size)
        return made

    def get(self, pointer: Any, like: Any) -> Any:
        """The values of an array on the card."""
        made = np.empty_like(like)
        size = ctypes.c_size_t(made.nbytes)
        self.ask(self.library.from_card, made.ctypes.data_as(ctypes.c_void_p), pointer, size)
        return made

    def launch(self, function: str, inputs: list[Any], outputs: list[Any]) -> None:
        """Run a kernel on arrays on the card."""
        self.ask(getattr(self.library, f"launch_{function}"), pointers(inputs), pointers(outputs))

    def microseconds(
        self, function: str, inputs: list[Any], outputs: list[Any], times: int
    ) -> float:
        """The time of a launch, of some that follow one another."""
        launch = ctypes.cast(getattr(self.library, f"launch_{function}"), ctypes.c_void_p)
        found = ctypes.c_double()
        self.ask(
            self.library.time_launches, launch, pointers(inputs), pointers(outputs),
            ctypes.c_int(times), ctypes.byref(found),
        )  # fmt: skip
        return float(found.value) / times


def pointers(given: list[Any]) -> Any:
    """An array of C of pointers."""
    return (ctypes.c_void_p * max(len(given), 1))(*given)


def build(options: Any) -> tuple[Card, str]:
    """Compile the kernels to a library, load it, and say what compiled it."""
    made = Path(tempfile.mkdtemp(prefix="fuseloom-job-"), "kernels.so")
    if options.on_cpu:
        compiler = options.compiler or "g++"
        command = [
            compiler, "-std=c++17", "-O2", "-w", "-shared", "-fPIC", "-fno-strict-aliasing",
            "-include", str(FOLDER / "cuda_on_cpu.hpp"), "-x", "c++",
        ]  # fmt: skip
    else:
        compiler = options.compiler or "nvcc"
        command = [compiler, "-arch=native", "-O3", "-shared", "-Xcompiler", "-fPIC"]
    command += [str(FOLDER / "job.cu"), "-o", str(made)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
        told = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        raise JobError(f"there is no {compiler}: install it, or name it by --compiler") from None
    except subprocess.CalledProcessError as error:
        raise JobError(f"{compiler} fails:\n{error.stderr}") from None
    version = [line.strip() for line in told.stdout.splitlines() if line.strip()]
    builds = [line for line in version if line.startswith("Build ")]
    return Card(ctypes.CDLL(str(made))), (builds or version or [compiler])[0]


def difference(found: Any, wanted: Any) -> float:
    """The largest difference by the largest value; infinity where NaN are at other places."""
    if found.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    if not np.isfinite(found[finite]).all():
        return float("inf")
    a, b = found[finite].astype(np.float64), wanted[finite].astype(np.float64)
    return float(np.abs(a - b).max() / (np.abs(b).max() or 1.0)) if finite.any() else 0.0


def run_kernel(card: Card, kernel: Any, arrays: Any, rounds: int) -> tuple[float, float]:
    """Check a kernel, and time it."""
    given = [arrays[one] for one in kernel["inputs"]]
    wanted = [arrays[one] for one in kernel["outputs"]]
    inputs = [card.put(one) for one in given]
    outputs = [card.put(np.zeros_like(one)) for one in wanted]
    card.launch(kernel["function"], inputs, outputs)
    error = max(
        (difference(card.get(one, like), like) for one, like in zip(outputs, wanted)),  # noqa: B905
        default=0.0,
    )  # Python 3.9 has no strict
    once = card.microseconds(kernel["function"], inputs, outputs, 1)
    times = int(min(max(LEAST / max(once, 0.1), 1), 1000))
    found = [
        card.microseconds(kernel["function"], inputs, outputs, times) for _ in range(rounds)
    ]  # fmt: skip
    for pointer in (*inputs, *outputs):
        card.ask(card.library.release, pointer)
    return error, 1000.0 * statistics.median(found)


def compare_models(card: Card, job: Any, arrays: Any, options: Any) -> dict[str, Any]:
    """Run the whole model: its kernels, PyTorch as it is, and PyTorch compiled."""
    if job["model"] is None:
        return {"reason": job["model_reason"]}
    try:
        import torch
    except ImportError:
        return {"reason": "PyTorch is not installed"}
    if not options.on_cpu and not torch.cuda.is_available():
        return {"reason": "PyTorch finds no GPU"}
    device = "cpu" if options.on_cpu else "cuda"
    model = importlib.import_module("model")
    kernels = {one["function"]: one for one in job["kernels"]}
    ways: dict[str, Any]

    def tensor(name: str) -> Any:
        return torch.from_numpy(np.array(arrays[name])).to(device)

    def launch(function: str, tensors: list[Any]) -> list[Any]:
        given = [one.contiguous() for one in tensors]
        made = []
        for name in kernels[function]["outputs"]:
            like = arrays[name]
            kind = getattr(torch, str(like.dtype))
            made.append(torch.empty(like.shape, dtype=kind, device=device))
        card.launch(
            function,
            [ctypes.c_void_p(one.data_ptr()) for one in given],
            [ctypes.c_void_p(one.data_ptr()) for one in made],
        )
        return made

    torch.set_default_device(device)
    given = [tensor(one) for one in job["model"]["given"]]
    constants = {key: tensor(one) for key, one in job["model"]["constants"].items()}
    ways = {
        "stitched": lambda: model.stitched(launch, given, constants),
        "eager": lambda: model.whole(given, constants),
    }
    if not options.no_compile:
        ways["compiled"] = torch.compile(lambda: model.whole(given, constants))
    wanted = [arrays[one] for one in job["model"]["results"]]
    found: dict[str, Any] = {}
    for name, way in ways.items():
        print(f"model, {name}", file=sys.stderr)
        try:
            with torch.no_grad():
                found[name] = run_model(torch, way, wanted, device, options.rounds)
        except Exception as error:  # a compiler of PyTorch may fail in any way
            found[name] = {"reason": f"{type(error).__name__}: {error}"[:1000]}
    return found


def run_model(torch: Any, way: Any, wanted: Any, device: str, rounds: int) -> dict[str, Any]:
    """Check a way to run the model, count what it launches, and time it."""
    results = [one.cpu().numpy() for one in way()]
    pairs = zip(results, wanted)  # noqa: B905
    return {
        "error": max(difference(one, like) for one, like in pairs),
        "launches": None if device == "cpu" else launches(torch, way),
        "nanoseconds": model_time(torch, way, device, rounds),
    }


def launches(torch: Any, way: Any) -> int:
    """Kernels that run on the card."""
    way()
    torch.cuda.synchronize()
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        way()
        torch.cuda.synchronize()
    cuda = torch.autograd.DeviceType.CUDA
    names = [one.name for one in profile.events() if one.device_type == cuda]
    return sum(not name.startswith(("Memcpy", "Memset")) for name in names)


def model_time(torch: Any, way: Any, device: str, rounds: int) -> float:
    """Nanoseconds of a run, the median of several."""
    found = []
    for _ in range(rounds + 2):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter_ns()
        way()
        if device == "cuda":
            torch.cuda.synchronize()
        found.append(time.perf_counter_ns() - start)
    return statistics.median(found[2:])


def main() -> int:
    """Run the job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on-cpu", action="store_true", help="run on the processor")
    parser.add_argument("--compiler", help="nvcc, or a compiler of C++ with --on-cpu")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="measurements of each kernel")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile")
    parser.add_argument("--output", type=Path, default=FOLDER / "result.json")
    options = parser.parse_args()
    try:
        result = run(options)
    except JobError as error:
        print(error, file=sys.stderr)
        return 1
    part = options.output.with_name(options.output.name + ".part")
    part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    os.replace(part, options.output)
    wrong = [one["function"] for one in result["kernels"] if not one["ok"]]
    print(f"{len(result['kernels'])} kernels on {result['card']}, {len(wrong)} of them wrong")
    for name, found in result["model"].items():
        if isinstance(found, dict) and "error" in found:
            count = "" if found["launches"] is None else f", {found['launches']} launches"
            print(f"{name}: {found['nanoseconds'] / 1000:.1f} µs{count}")
    print(f"written: {options.output}")
    return 1 if wrong else 0


def run(options: Any) -> dict[str, Any]:
    """Build and run everything, and return what was found."""
    job = json.loads((FOLDER / "job.json").read_text(encoding="utf-8"))
    if job.get("kind") != "fuseloom gpu job" or job.get("version") != VERSION:
        raise JobError(f"job.json is of version {job.get('version')}, and this is {VERSION}")
    with np.load(FOLDER / "arrays.npz", allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    card, compiler = build(options)
    name, capability = card.describe()
    kernels = []
    for number, kernel in enumerate(job["kernels"], 1):
        print(f"{number} of {len(job['kernels'])}: {kernel['function']}", file=sys.stderr)
        error, nanoseconds = run_kernel(card, kernel, arrays, options.rounds)
        kernels.append({
            "function": kernel["function"], "ok": error <= job["tolerance"], "error": error,
            "nanoseconds": nanoseconds, "runs": options.rounds, "key": kernel["key"],
        })  # fmt: skip
    return {
        "kind": "fuseloom gpu times", "version": VERSION, "job": job["name"], "card": name,
        "capability": capability, "compiler": compiler, "on_cpu": options.on_cpu,
        "kernels": kernels, "model": compare_models(card, job, arrays, options),
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
