"""Kernels of deep fusion beside those of XLA's rules of 2018, of today's XLA, and of Inductor.

``python -m benchmarks.stitch_counts [--only TEXT] [--json]``

The examples are training steps; JAX (the extra ``stitch``) compiles each for the processor, and
fusions, operations in none and calls of libraries are counted in XLA's text of what it made, each
loop's body once; ``of a library`` are fusions that YNNPACK runs at once.  The PyTorch modules are
evaluated, not trained: Inductor's are the C++ functions that it generates for the processor,
without calls such as of products, and beside them what
``torch._inductor.metrics.generated_kernel_count`` counts: the loops in these, scalar ones and
those of vectors.  Ours have calls of products without batches beside them (``--products
batched``).  Fewer kernels are no shorter time.  A column is empty where a library is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.stitch.compiled_counts import compiled_counts
from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import FusedModule, fuse_module
from fuseloom.stitch.hlo import read_hlo

STEPS = 8
"""Steps of the recurrent module."""
COLUMNS = {
    "kernels": "deep fusion", "calls": "its calls", "rules": "rules of 2018",
    "rules_calls": "their calls", "xla": "XLA today", "xla_library": "of a library",
    "xla_calls": "its calls", "inductor": "torch.compile", "inductor_loops": "its loops",
}  # fmt: skip


def torch_modules() -> Mapping[str, tuple[Any, tuple[Any, ...]]]:
    """PyTorch modules and their arguments, by name."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Attention(nn.Module):
        def forward(self, scores: Any, values: Any) -> Any:
            return torch.softmax(scores, -1) @ values

    class Encoder(nn.Module):
        def __init__(self, width: int = 64, heads: int = 4) -> None:
            super().__init__()
            self.heads = heads
            self.ways = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            parts = [
                way(x).reshape(batch, length, self.heads, -1).transpose(1, 2)
                for way in self.ways[:3]
            ]  # fmt: skip
            scores = parts[0] @ parts[1].transpose(2, 3) / (width / self.heads) ** 0.5
            mixed = (torch.softmax(scores, -1) @ parts[2]).transpose(1, 2)
            x = self.norms[0](x + self.ways[3](mixed.reshape(batch, length, width)))
            return self.norms[1](x + self.narrow(functional.gelu(self.wide(x))))

    class Regression(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Linear(64, 10)

        def forward(self, images: Any, labels: Any) -> Any:
            found = functional.log_softmax(self.dense(images), -1)
            return -(torch.softmax(labels, -1) * found).sum(-1).mean()

    class Perceptron(nn.Sequential):
        def __init__(self) -> None:
            layers = [nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 64),
                      nn.ReLU(), nn.Linear(64, 10), nn.Softmax(-1)]  # fmt: skip
            super().__init__(*layers)

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gates = nn.Linear(8 + 32, 4 * 32)

        def forward(self, x: Any) -> Any:
            hidden = memory = torch.zeros(x.shape[0], 32)
            for step in range(STEPS):
                made = self.gates(torch.cat([x[:, step], hidden], -1))
                entry, forget, update, out = made.chunk(4, -1)
                memory = torch.sigmoid(forget + 1) * memory
                memory = memory + torch.sigmoid(entry) * torch.tanh(update)
                hidden = torch.sigmoid(out) * torch.tanh(memory)
            return hidden

    def normal(*dims: int) -> Any:
        return torch.randn(*dims)

    return {
        "attention (PyTorch)": (Attention(), (normal(8, 64, 64, 64), normal(8, 64, 64, 64))),
        "encoder layer (PyTorch)": (Encoder(), (normal(2, 16, 64),)),
        "logistic regression (PyTorch)": (Regression(), (normal(32, 64), normal(32, 10))),
        "perceptron (PyTorch)": (Perceptron(), (normal(32, 64),)),
        "LSTM, 8 steps (PyTorch)": (Recurrent(), (normal(16, STEPS, 8),)),
    }


def ours(made: FusedModule) -> dict[str, int | None]:
    """Kernels of deep fusion and of XLA's rules, and calls of both."""
    frames = made.frames
    return {
        "kernels": made.count,
        "calls": sum(len(one.fusion.kernels) - one.fusion.count for one in frames),
        "rules": made.baseline_count,
        "rules_calls": sum(len(one.baseline.kernels) - one.baseline.count for one in frames),
    }


def of_xla(name: str) -> dict[str, int | None]:
    """Kernels and calls that today's XLA makes of an example."""
    import jax

    from benchmarks.stitch_examples import programs

    function, shapes = programs()[name]
    text = jax.jit(function, keep_unused=True).lower(*shapes).compile().as_text()
    found = compiled_counts(read_hlo(text))
    return {
        "xla": found.kernels, "xla_library": found.library_fusions, "xla_calls": found.calls
    }  # fmt: skip


def of_inductor(module: Any, arguments: Sequence[Any]) -> dict[str, int | None]:
    """The kernels that Inductor generates."""
    import torch
    from torch._inductor import metrics, utils

    torch._dynamo.reset()
    metrics.reset()
    with torch.no_grad(), utils.fresh_cache():
        _, codes = utils.run_and_get_code(torch.compile(module.eval()), *arguments)
    return {
        "inductor": sum(code.count("async_compile.cpp") for code in codes),
        "inductor_loops": metrics.generated_kernel_count,
    }


def counted(only: str) -> list[dict[str, Any]]:
    """A row for each example and each module."""
    rows: list[dict[str, Any]] = []
    has_jax = importlib.util.find_spec("jax") is not None
    for name in EXAMPLES:
        if only in name:
            more: Callable[[str], dict[str, int | None]] = of_xla if has_jax else lambda _: {}
            rows.append({"name": name, **ours(fuse_module(read_example(name))), **more(name)})
    if importlib.util.find_spec("torch") is None:
        return rows
    from fuseloom.stitch.torch_graph import torch_module_graph

    for name, (module, arguments) in torch_modules().items():
        if only in name:
            graph = torch_module_graph(module, arguments)
            found = ours(fuse_module(graph.module))
            rows.append({"name": name, **found, **of_inductor(module, arguments)})
    return rows


def shown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table."""
    columns = [TextColumn("model", align=Align.LEFT), *map(TextColumn, COLUMNS.values())]
    cells = [
        (one["name"], *(str(one[key]) if key in one else "" for key in COLUMNS)) for one in rows
    ]
    return "\n".join(text_table(columns, cells))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="part of a name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = counted(options.only)
    print(json.dumps(rows) if options.json else shown(rows))


if __name__ == "__main__":
    main()
