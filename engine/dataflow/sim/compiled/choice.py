"""Which kernel runs a node."""

from __future__ import annotations

from engine.dataflow.samml.graph import Graph, Node
from engine.dataflow.samml.tile_values import tile_of
from engine.dataflow.sim.compiled.kernels import KERNELS, Kernel
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.ports import variant
from engine.errors import SimulationError

_ON_TILES = {
    "array": "tile_array",
    "binary": "tile_binary",
    "unary": "tile_unary",
    "tilefold": "tile_unary",
    "reduce": "tile_reduce",
    "spacc1": "spacc",
    "valwrite": "tile_valwrite",
}


def kernel_name(node: Node, machine: Machine) -> str:
    """Name of the kernel that runs a node: its op, or the variant for its values or inputs."""
    spec = tile_of(node)
    if node.op in _ON_TILES and spec is not None and any((*spec.operands, spec.result)):
        return _ON_TILES[node.op]
    if node.op.startswith("spacc") and node.op != "spacc1":
        return "spacc"
    if node.op == "reduce" and len(node.inputs) == 2:
        return "guided_reduce"
    return variant(node, machine)


def kernels_of(graph: Graph, machine: Machine, *, observed: bool = False) -> set[str]:
    """Names of the kernels that a graph needs, the scheduler and the memory among them."""
    names = {kernel_name(node, machine) for node in graph.nodes} | {scheduler_name(observed)}
    return names if machine.memory is None else names | {"memory"}


def scheduler_name(observed: bool) -> str:
    return "observed_scheduler" if observed else "scheduler"


def kernel_of(node: Node, machine: Machine) -> Kernel:
    """The kernel that runs a node.

    Raises
    ------
    SimulationError
        If there is none.
    """
    try:
        return KERNELS[kernel_name(node, machine)]
    except KeyError:
        raise SimulationError(
            f"the compiled engine cannot run the primitive {node.op!r}",
            hint="use the interpreter",
        ) from None
