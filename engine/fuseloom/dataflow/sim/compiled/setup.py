"""The input of a kernel's setup: its node, the machine, the node's arrays, the pools to fill."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.bound import Arrays
from fuseloom.dataflow.sim.compiled.pools import Pool
from fuseloom.dataflow.sim.process import RequestPort
from fuseloom.errors import SimulationError

if TYPE_CHECKING:
    from fuseloom.dataflow.sim.compiled.stores import Stores


@dataclass
class Setup:
    """One node while its parameters are filled in."""

    node: Node
    machine: Machine
    arrays: Arrays
    ints: Pool
    floats: Pool
    stores: Stores
    ports: tuple[RequestPort, ...] = ()
    quirks: Any = field(init=False)

    def __post_init__(self) -> None:
        self.quirks = self.machine.quirks

    @property
    def name(self) -> str:
        return self.node.label or f"{self.node.op} {self.node.id}"

    @property
    def elements(self) -> int:
        """Numbers in a value the node takes first: those of a tile, or 1."""
        return next(map(self.stores.elements, self.stores.values(self.node)), 1)

    @property
    def tiled(self) -> bool:
        """True if that value is a tile."""
        return any(self.stores.axes[stream] for stream in self.stores.values(self.node))

    def param(self, name: str, default: Any = None) -> Any:
        """A parameter of the node."""
        return self.node.params.get(name, default)

    def array(self, name: str) -> npt.NDArray[Any]:
        """An array the node was bound to.

        Raises
        ------
        SimulationError
            If it was not.
        """
        try:
            return self.arrays[name]
        except KeyError:
            raise SimulationError(
                f"{self.name}: no {name!r} array is bound to it",
                hint="bind the graph to data first",
            ) from None

    def require(self, holds: bool, rule: str) -> None:
        """Refuse data that would lead a kernel out of its arrays."""
        if not holds:
            raise SimulationError(f"{self.name}: {rule}")
