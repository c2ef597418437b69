"""The timing of values and searches: latency and interval (``docs/spec/machine.md`` §5.5)."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.dataflow.machine.machine import Machine
from fuseloom.dataflow.samml import tile_values as tiles
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.traits import Arithmetic


@dataclass(frozen=True)
class Timing:
    """``latency``: cycles from operands to a value; ``interval``: cycles every token takes."""

    latency: int
    interval: int


def load_timing(node: Node, machine: Machine) -> Timing:
    """A block of edge B streams in over B² cycles, or as the machine says."""
    block = int(node.params.get("block", 1))
    cycles = machine.blocks.cycles("load", block, block * block)
    if "tile" in node.params or block == 1:
        cycles = tiles.latency(node, machine.blocks)
    latency = int(node.params.get("latency", machine.load_latency * cycles))
    return Timing(latency, int(node.params.get("ii", 1)))


def binary_timing(node: Node, machine: Machine) -> Timing:
    """The table of ``docs/spec/machine.md`` §5.5.

    For single numbers timed as blocks (``block`` alone) and for tiles.
    Parameters ``latency`` and ``ii`` override it.
    """
    block = int(node.params.get("block", 1))
    rules = {"mul": "number_product", "div": "number_division"}
    rule = rules.get(str(node.params["fn"]), "elementwise")
    cycles, steps = machine.blocks.cycles(rule, block, block * block), 1
    if rule == "number_product":
        steps = machine.blocks.cycles("number_product_interval", block, block * block)
    if "tile" in node.params or block == 1:
        cycles = tiles.latency(node, machine.blocks)
        steps = tiles.interval(node, machine.blocks)
    latency = int(node.params.get("latency", _function_latency(node, machine) * cycles))
    interval = machine.alu_interval * steps
    return Timing(latency, int(node.params.get("ii", interval)))


def unary_timing(node: Node, machine: Machine) -> Timing:
    """A block of edge B takes B cycles, not B², or as the machine says."""
    block = int(node.params.get("block", 1))
    cycles = machine.blocks.cycles("unary", block, block * block)
    if "tile" in node.params or block == 1:
        cycles = tiles.latency(node, machine.blocks)
    latency = int(node.params.get("latency", _function_latency(node, machine) * cycles))
    return Timing(latency, int(node.params.get("ii", machine.alu_interval)))


def _function_latency(node: Node, machine: Machine) -> int:
    return machine.function_latency(str(node.params["fn"]))


def search_timing(machine: Machine) -> Timing:
    """A coordinate enters the search every few cycles, and is found some more later."""
    return Timing(machine.search_latency, machine.search_interval)


def value_latency(node: Node, machine: Machine) -> int:
    """Cycles from a node's put of a value to its timestamp."""
    match primitive(node.op).arithmetic:
        case Arithmetic.LOAD:
            return load_timing(node, machine).latency
        case Arithmetic.BINARY:
            return binary_timing(node, machine).latency
        case Arithmetic.UNARY:
            return unary_timing(node, machine).latency
        case Arithmetic.FOLD:
            return tiles.latency(node, machine.blocks)
        case Arithmetic.TILE_FOLD:
            return tiles.latency(node, machine.blocks) * machine.alu_latency
        case Arithmetic.SEARCH:
            return search_timing(machine).latency
        case Arithmetic.NONE:
            return 1


def value_interval(node: Node, machine: Machine) -> int:
    """Cycles that every token of a node takes; 0: its clock stands still."""
    match primitive(node.op).arithmetic:
        case Arithmetic.LOAD:
            return load_timing(node, machine).interval
        case Arithmetic.BINARY:
            return binary_timing(node, machine).interval
        case Arithmetic.UNARY:
            return unary_timing(node, machine).interval
        case Arithmetic.SEARCH:
            return search_timing(machine).interval
        case _:
            return 1


def latencies(graph: Graph, machine: Machine) -> list[int]:
    """:func:`value_latency` of each stream's producer."""
    return [
        value_latency(graph.nodes[graph.producer[stream.id]], machine) for stream in graph.streams
    ]
