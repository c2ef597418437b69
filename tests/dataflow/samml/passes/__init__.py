"""The helpers of tests of passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.passes.parallelise import parallelise
from fuseloom.dataflow.samml.verify import verify
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.models import (
    Model,
    attention,
    autoencoder,
    bigbird_data,
    gcn,
    gpt3,
    graphsage,
    random_data,
    spmm,
    spmv,
)
from fuseloom.program import StoredTensor

SMALL = {
    "gcn": gcn(8, 6, 5, 3),
    "graphsage": graphsage(7, 5, 4, 3),
    "autoencoder": autoencoder(4, 8, 5),
    "gpt3": gpt3(8, 4, 2, 4, 1),
    "attention": attention(),
    "spmm": spmm(),
    "spmv": spmv(),
}
PRESETS = [(name, preset) for name, m in SMALL.items() for preset in m.presets or [""]]
TOLERANCE = 1e-4
"""Of float32 results of the deepest model."""


def data_of(name: str, seed: int = 1) -> dict[str, StoredTensor]:
    """Data for a small model."""
    model: Model = SMALL[name]
    return bigbird_data(model, seed, 2) if name == "gpt3" else random_data(model, seed)


def indices(graph: Graph) -> list[str]:
    """Index variables of a graph, in the order its streams name them."""
    return list(dict.fromkeys(x for s in graph.streams for x in s.indices))


def passed(compilation: Compilation, change: Callable[[Graph], Graph]) -> Compilation:
    """The compilation with every region's graph rewritten, and verified."""
    regions = []
    for region in compilation.regions:
        graph = change(region.graph)
        verify(graph)
        regions.append(replace(region, graph=graph))
    return replace(compilation, regions=tuple(regions))


def in_lanes(compilation: Compilation, index: str, factor: int) -> Compilation:
    """Every region that has the index, parallelised."""
    return passed(
        compilation, lambda g: parallelise(g, index, factor) if index in indices(g) else g
    )


def engines(compilation: Compilation) -> list[str]:
    """The interpreter, and the compiled engine where it has every primitive."""
    nodes = [n for region in compilation.regions for n in region.graph.nodes]
    known = all(n.op in KERNELS for n in nodes)
    return ["interpreter", "compiled"] if known else ["interpreter"]
