"""What the tests of passes share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.samml.compiler import Compilation
from engine.samml.graph import Graph
from engine.samml.passes.parallelise import parallelise
from engine.samml.verify import verify
from engine.sim import compiled


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
    needed = {n.op for region in compilation.regions for n in region.graph.nodes}
    known = needed <= set(compiled.KERNELS)
    return ["interpreter", "compiled"] if known else ["interpreter"]
