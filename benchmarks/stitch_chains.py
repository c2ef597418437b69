"""Chains of operations bound by memory, each fused to a kernel, beside PyTorch on two threads.

``python -m benchmarks.stitch_chains [--rounds 15] [--threads 2] [--only TEXT] [--json]``

A chain is a PyTorch module of float32, for instance the sum of a bias, GELU, the sum of a residual
and layer normalization.  ``torch_module_graph`` makes it a graph, which is fused (one kernel each)
and compiled; schedules are those that :func:`fuseloom.stitch.cpu_schedules.cpu_fusion` chooses.
In each round all ways are run in turn in one process, with a pause before each: PyTorch operator by
operator (eager), ``torch.compile`` (Inductor's C++), NumPy's formula for Fig. 3 of the paper, and
ours twice: with fresh arrays for results, as all others have them, and with arrays that are kept.
Times are medians of the rounds, ratios are of another way's time to that with fresh arrays, and
stand beside their targets: 1.5 of eager PyTorch and 0.8 of ``torch.compile``, and 1.5 of NumPy for
Fig. 3.  Errors are the largest differences from PyTorch's results, by their largest value.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from fuseloom.cli.command import positive
from fuseloom.results.text_table import Align, TextColumn, text_table

TARGETS = {"eager": 1.5, "compiled": 0.8, "numpy": 1.5}
"""Least ratios of the time of each way to that of ours."""
TOLERANCE = 1e-5
PAUSE = 0.005
"""Seconds before each run, in which threads of the one before stop waiting for work."""
SCALE = 1.25
"""The factor of elements that dropout keeps."""
WAYS = ("eager", "compiled", "numpy", "fresh", "kept")


@dataclass(frozen=True)
class ChainCase:
    """A chain, and the arguments of its module.

    Attributes
    ----------
    name : str
    extents : str
    run : callable
        Computes the chain of tensors.
    arguments : tuple of array
    numpy : callable, optional
        Computes it of arrays.
    """

    name: str
    extents: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    numpy: Callable[..., Any] | None = None


def softmax_product(scores: Any, values: Any) -> Any:
    """Fig. 3 of the paper with NumPy."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return (powers / powers.sum(-1, keepdims=True)) @ values


def chains() -> list[ChainCase]:
    """All chains."""
    import torch
    from torch.nn import functional

    rng = np.random.default_rng(0)

    def normal(*dims: int) -> Any:
        return rng.standard_normal(dims, dtype=np.float32)

    def kept(*dims: int) -> Any:
        return rng.random(dims, dtype=np.float32) < 1 / SCALE

    def block(kind: str) -> Callable[..., Any]:
        def run(x: Any, bias: Any, residual: Any, scale: Any, offset: Any) -> Any:
            y = functional.gelu(x + bias, approximate=kind) + residual
            return functional.layer_norm(y, y.shape[-1:], scale, offset)

        return run

    def dropped(scores: Any, mask: Any) -> Any:
        return torch.softmax(scores, -1) * mask * SCALE

    def activated(x: Any, bias: Any, mask: Any) -> Any:
        return torch.relu(x + bias) * mask * SCALE

    def rms_norm(x: Any, residual: Any, scale: Any) -> Any:
        y = x + residual
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6) * scale

    def norm_slope(slope: Any, x: Any, scale: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        deviation = torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
        unit, g = centred * deviation, slope * scale
        along = (g * unit).mean(-1, keepdim=True)
        return deviation * (g - g.mean(-1, keepdim=True) - unit * along)

    def masked(scores: Any, allowed: Any) -> Any:
        return torch.softmax(torch.where(allowed, scores * 0.125, -torch.inf), -1)

    def gated(x: Any, gate: Any, bias: Any) -> Any:
        return functional.silu(gate + bias) * x

    def attended(scores: Any, values: Any) -> Any:
        return torch.softmax(scores, -1) @ values

    rows, width = 8 * 512, 1024
    wide, row = normal(rows, width), normal(width)
    causal = np.tril(np.ones((512, 512), bool))
    return [
        ChainCase(
            f"bias, GELU ({kind}), residual, layer norm", f"{rows} × {width}", block(approximate),
            (wide, row, normal(rows, width), normal(width), normal(width)),
        )
        for kind, approximate in (("tanh", "tanh"), ("erf", "none"))
    ] + [
        ChainCase(
            "softmax, dropout mask, scale", " × ".join(map(str, dims)), dropped,
            (normal(*dims), kept(*dims)),
        )
        for dims in ((8, 32, 512, 512), (8, 8, 128, 128))
    ] + [
        ChainCase(
            "bias, ReLU, dropout mask, scale", f"{rows} × {2 * width}", activated,
            (normal(rows, 2 * width), normal(2 * width), kept(rows, 2 * width)),
        ),
        ChainCase(
            "residual, RMS norm", f"{rows} × {width}", rms_norm, (wide, normal(rows, width), row)
        ),
        ChainCase(
            "slope of layer norm", f"{rows} × {width}", norm_slope,
            (wide, normal(rows, width), row),
        ),
        ChainCase("scale, mask, softmax", "8 × 8 × 512 × 512", masked,
                  (normal(8, 8, 512, 512), causal)),
        ChainCase("bias, SiLU, gate", f"{rows} × {2 * width}", gated,
                  (normal(rows, 2 * width), normal(rows, 2 * width), normal(2 * width))),
        ChainCase("softmax, product (Fig. 3)", "8 × 64 × 64 × 64", attended,
                  (normal(8, 64, 64, 64), normal(8, 64, 64, 64)), softmax_product),
    ]  # fmt: skip


@dataclass(frozen=True)
class ChainMeasurement:
    """Times of a chain.

    Attributes
    ----------
    chain : ChainCase
    times : dict
        Seconds of each way.
    kernels : int
    schedule : str
    error : float
    """

    chain: ChainCase
    times: Mapping[str, float]
    kernels: int
    schedule: str
    error: float

    def ratio(self, way: str) -> float | None:
        """The time of another way, by that of ours with fresh arrays."""
        return self.times[way] / self.times["fresh"] if way in self.times else None

    @property
    def missed(self) -> list[str]:
        """Ways whose targets are missed."""
        aims = ["numpy"] if self.chain.numpy is not None else ["eager", "compiled"]
        ratios = {way: self.ratio(way) for way in aims}
        made = [way for way, one in ratios.items() if one is not None and one < TARGETS[way]]
        return [*made, "error"] if self.error > TOLERANCE else made


def measured(chain: ChainCase, rounds: int) -> ChainMeasurement:
    """Run a chain in all ways, in turns."""
    import torch

    from fuseloom.stitch.cpu_schedules import cpu_fusion
    from fuseloom.stitch.frames import fuse_module
    from fuseloom.stitch.prepared_program import PreparedProgram
    from fuseloom.stitch.stitched_program import StitchedProgram
    from fuseloom.stitch.torch_graph import torch_module_graph

    class Module(torch.nn.Module):
        def forward(self, *arguments: Any) -> Any:
            return chain.run(*arguments)

    tensors = [torch.from_numpy(one) for one in chain.arguments]
    module, weights = torch_module_graph(Module(), tensors)
    made = fuse_module(module)
    fusion = cpu_fusion(made.frames[0].fusion)
    program = StitchedProgram(made.module, fusion)
    names = [one.name for one in fusion.computation.parameters if one.name not in weights]
    inputs = {**dict(zip(names, chain.arguments, strict=True)), **weights}
    prepared = PreparedProgram(program, inputs)
    compiled = torch.compile(chain.run)
    ways: dict[str, Callable[[], Any]] = {
        "eager": lambda: chain.run(*tensors),
        "compiled": lambda: compiled(*tensors),
        "fresh": lambda: program(inputs),
        "kept": prepared,
    }
    if chain.numpy is not None:
        plain = chain.numpy
        ways["numpy"] = lambda: plain(*chain.arguments)
    with torch.no_grad():
        wanted = ways["eager"]().numpy()
        (found,) = ways["fresh"]()
        error = float(np.abs(found - wanted).max()) / float(np.abs(wanted).max())
        del found, wanted
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(2):
            for run in ways.values():
                run()
        for _ in range(rounds):
            for way, run in ways.items():
                time.sleep(PAUSE)
                start = time.perf_counter()
                run()
                times[way].append(time.perf_counter() - start)
    schedule = ", ".join(str(one.schedule) for one in fusion.kernels)
    return ChainMeasurement(
        chain, {way: median(some) for way, some in times.items()}, fusion.count, schedule, error
    )


def row(made: ChainMeasurement) -> dict[str, Any]:
    """A measurement as plain data."""
    return {
        "name": made.chain.name,
        "extents": made.chain.extents,
        "kernels": made.kernels,
        "schedule": made.schedule,
        "seconds": dict(made.times),
        "ratios": {way: made.ratio(way) for way in TARGETS},
        "targets": TARGETS,
        "error": made.error,
        "missed": made.missed,
    }


def shown(rows: Sequence[ChainMeasurement]) -> str:
    """Measurements as a table."""
    titles = ("extents", "kernels", *(f"{way}, ms" for way in WAYS),
              *(f"{way} / ours (≥ {least})" for way, least in TARGETS.items()),
              "error", "missed")  # fmt: skip
    columns = [TextColumn("chain", align=Align.LEFT), *map(TextColumn, titles)]
    cells = []
    for one in rows:
        times = [f"{one.times[way] * 1e3:.2f}" if way in one.times else "" for way in WAYS]
        found = [one.ratio(way) for way in TARGETS]
        ratios = ["" if ratio is None else f"{ratio:.2f}" for ratio in found]
        cells.append(
            (
                one.chain.name, one.chain.extents, str(one.kernels), *times, *ratios,
                f"{one.error:.1e}", ", ".join(one.missed) or "none",
            )
        )  # fmt: skip
    return "\n".join(text_table(columns, cells))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=positive, default=15)
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--only", default="", metavar="TEXT", help="part of a name or of extents")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import torch

    torch.set_num_threads(options.threads)
    chosen = [one for one in chains() if options.only in f"{one.name} {one.extents}"]
    rows = [measured(chain, options.rounds) for chain in chosen]
    print(json.dumps([row(one) for one in rows]) if options.json else shown(rows))


if __name__ == "__main__":
    main()
