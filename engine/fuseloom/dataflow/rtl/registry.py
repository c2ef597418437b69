"""Which module is a primitive's hardware, by the name of its catalogue entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import value_interval, value_latency
from fuseloom.dataflow.rtl.unit import PrimitiveUnit
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.registry import Registry
from fuseloom.errors import GraphError


@dataclass(frozen=True)
class NodeSpec:
    """A node that is to become hardware, on a machine, with the arrays it reads."""

    node: Node
    machine: Machine
    arrays: Mapping[str, npt.NDArray[Any]]

    def param(self, name: str, default: Any = None) -> Any:
        """A parameter of the node."""
        return self.node.params.get(name, default)

    @property
    def latency(self) -> int:
        """Cycles from operands to a value."""
        return value_latency(self.node, self.machine)

    @property
    def interval(self) -> int:
        """Cycles that every token takes."""
        return value_interval(self.node, self.machine)


Builder = Callable[[NodeSpec], PrimitiveUnit]

BUILDERS: Registry[Builder] = Registry("hardware", "hardware module", lambda _: frozenset())
"""The builder of each primitive's unit, by name; those that no model needs have none."""


def hardware(*names: str) -> Callable[[Builder], Builder]:
    """Decorator: this function builds the units of the primitives of those names."""
    return BUILDERS.registers(*names)


def unit_of(spec: NodeSpec) -> PrimitiveUnit:
    """The hardware of a node.

    Raises
    ------
    GraphError
        If its primitive has none, or not with these parameters.
    """
    node = spec.node
    if node.op not in BUILDERS:
        raise GraphError(
            f"{node.label or node.op} (node {node.id}): the primitive {node.op!r} has no hardware",
            hint=f"those that have: {', '.join(sorted(BUILDERS))}",
        )
    if "tile" in node.params or "block" in node.params:
        raise GraphError(
            f"{node.label or node.op} (node {node.id}): blocks have no hardware",
            hint="compile the program without blocks",
        )
    return BUILDERS[node.op](spec)
