"""What is known of a program's tensors: their coordinates, or what to expect of them.

Coordinates of the inputs are there; those of what regions write are computed where that is not too
much, and otherwise expected from statistics.  One object serves any number of schedules, orders
and regions of a program: whatever two of them have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from math import prod

from engine.dataflow.cost.exact.execution import Memo
from engine.dataflow.cost.exact.patterns import Patterns
from engine.dataflow.cost.statistics import Expected, Measured, Statistics
from engine.dataflow.samml.graph import Graph
from engine.dataflow.sim.machine import Machine
from engine.errors import DataError
from engine.program.relayout import reshaped
from engine.program.storage import StoredTensor
from engine.program.stored_views import resolve_view
from engine.program.types import Program


class Mode(Enum):
    """What an estimate rests on.

    ``EXACT``: the graph executed on coordinates.  ``METADATA``: statistics of the tensors.
    ``AUTO``: exact while it does not take too much.
    """

    AUTO = "auto"
    EXACT = "exact"
    METADATA = "metadata"


ELEMENTS = 3e6
"""Elements that an execution may make where the mode is automatic: some tenths of a second."""
MOST_ELEMENTS = 3e8
"""Elements that an execution may make at all: some gigabytes."""


class Known:
    """Coordinates and statistics by view key.

    Parameters
    ----------
    data : mapping
        Every input by name.
    mode : Mode or str
        What estimates rest on.
    machine : Machine, optional
        Whose latencies and intervals count; the default one without.

    Raises
    ------
    DataError
        If the mode has no such name.
    """

    def __init__(
        self,
        program: Program,
        data: Mapping[str, StoredTensor],
        mode: Mode | str = Mode.AUTO,
        machine: Machine | None = None,
    ) -> None:
        self.program = program
        self.data = dict(data)
        self.mode = mode_named(mode)
        self.machine = machine or Machine.default()
        self.patterns = Patterns(program, data)
        self.memo = Memo()
        self.expected: dict[str, Expected] = {}
        self._measured: dict[str, Statistics] = {}

    @property
    def budget(self) -> float:
        """Elements that the execution of a region may make."""
        return MOST_ELEMENTS if self.mode is Mode.EXACT else ELEMENTS

    def reads_known(self, graph: Graph) -> bool:
        """Whether the coordinates of everything that a graph reads are known."""
        keys = {str(n.params["tensor"]) for n in graph.nodes if "tensor" in n.params}
        written = {str(n.params["tensor"]) for n in graph.nodes if not n.outputs}
        names = {key.partition("@")[0] for key in keys - written}
        return all(self.patterns.knows(name) for name in names)

    def __call__(self, key: str) -> Statistics:
        """Statistics of a view: measured where the coordinates are known."""
        name, _, order = key.partition("@")
        self._reshape(name)
        if name in self.expected:
            if not order:
                return self.expected[name]
            stored = self.program.tensor(name).format.mode_order
            return self.expected[name].permuted([stored.index(int(m)) for m in order.split(",")])
        if key not in self._measured:
            self._measured[key] = Measured(resolve_view(self._stored(name), key))
        return self._measured[key]

    def elements(self, name: str) -> float:
        """How many elements a tensor stores, all those of a block included."""
        self._reshape(name)
        if name in self.expected:
            return self.expected[name].total * prod(self.program.tensor(name).format.tile)
        return self._stored(name)[name].nnz

    def _stored(self, name: str) -> Mapping[str, StoredTensor]:
        if name not in self.data:
            self.data[name] = self.patterns.stored(name)
        return self.data

    def _reshape(self, name: str) -> None:
        """Note what a reshape that memory has done by now is expected to hold."""
        statement = self.program.producers.get(name)
        if statement is None or statement.op.fuses or name in self.data or name in self.expected:
            return
        source = statement.operands[0].tensor
        self._reshape(source)
        tensor = self.program.tensor(name)
        if source in self.expected:
            self.expected[name] = Expected.uniform(tensor, self.elements(source))
        else:
            self.data[name] = reshaped(self._stored(source)[source], tensor)


def mode_named(mode: Mode | str) -> Mode:
    """The mode of that name.

    Raises
    ------
    DataError
        If there is none.
    """
    try:
        return Mode(mode)
    except ValueError:
        known = ", ".join(m.value for m in Mode)
        raise DataError(f"no estimate is called {mode!r}", hint=f"known: {known}") from None
