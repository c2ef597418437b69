"""Which kernel runs a node."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.tile_values import tile_of
from fuseloom.dataflow.sim.compiled.kernels import KERNELS, CompiledKernel
from fuseloom.dataflow.sim.ports import stalled
from fuseloom.errors import GraphError, SimulationError

WIDEST = 2**20
"""Entries of the largest table that a kernel keeps, of which it may need a handful: 4 MiB."""


def kernel_name(node: Node, machine: Machine) -> str:
    """Name of the kernel that runs a node: its entry's, for its values, inputs and memory.

    Where nothing runs it, its op, of which name there is no kernel.
    """
    try:
        entry = primitive(node.op)
    except GraphError:
        return node.op
    kernels, spec = entry.kernels, tile_of(node)
    if spec is not None and any((*spec.operands, spec.result)):
        return kernels.tiles
    if kernels.table is not None and entries(node, kernels.table) > WIDEST:
        return kernels.tiles  # which keeps what there is
    if kernels.guided is not None and len(node.inputs) > len(entry.inputs):
        return kernels.guided
    return stalled(node, machine) or kernels.plain or node.op


def entries(node: Node, parameter: str) -> int:
    """Return the number of entries of a node's table; 0 if it has none."""
    return int(node.params.get(parameter) or 0)


def kernels_of(graph: Graph, machine: Machine, *, observed: bool = False) -> set[str]:
    """Names of the kernels that a graph needs, the scheduler and the memory among them."""
    names = {kernel_name(node, machine) for node in graph.nodes} | {scheduler_name(observed)}
    return names if machine.memory is None else names | {"memory"}


def scheduler_name(observed: bool) -> str:
    return "observed_scheduler" if observed else "scheduler"


def kernel_of(node: Node, machine: Machine) -> CompiledKernel:
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
