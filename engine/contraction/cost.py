"""What a loop nest is expected to do on a CPU, and which of many is the cheapest.

Coordinates of different tensors are taken to be independent: a loop visits what all operands
within have there.  Per tensor, the counts of its levels are exact (:mod:`.occupancy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from engine.contraction.loopnest.ir import Assign, Forall, Nest, Where, walk, workspaces
from engine.contraction.occupancy import Occupancy
from engine.contraction.tree import ContractionTree
from engine.program import Access


@dataclass(frozen=True)
class Weights:
    """Nanoseconds per kind of work, on one core.

    Attributes
    ----------
    step : float
        A loop's step over the coordinates of a compressed level.
    dense_step : float
        A loop's step over all of an index, where nothing within is compressed there.
    product : float
        A multiplication and addition.
    other : float
        Each further compressed operand that a step is compared with.
    enter : float
        Entering a loop.
    clear : float
        An element of a workspace that is emptied.
    """

    step: float = 1.2
    dense_step: float = 0.35
    product: float = 0.6
    other: float = 2.0
    enter: float = 2.5
    clear: float = 0.08


@dataclass(frozen=True)
class Work:
    """What a nest is expected to do.

    Attributes
    ----------
    products : float
        Multiplications.
    steps : float
        Of all loops.
    cleared : float
        Elements of workspaces that are emptied.
    workspace : int
        Elements of all workspaces together.
    nanoseconds : float
    """

    products: float
    steps: float
    cleared: float
    workspace: int
    nanoseconds: float


def work(
    nest: Nest,
    tree: ContractionTree,
    held: Mapping[str, Occupancy],
    weights: Weights | None = None,
) -> Work:
    """Estimate a nest.

    Parameters
    ----------
    held : mapping
        Occupancy of each given tensor.
    """
    return _Estimate(nest, tree, held, weights or Weights()).total()


class _Estimate:
    def __init__(
        self,
        nest: Nest,
        tree: ContractionTree,
        held: Mapping[str, Occupancy],
        weights: Weights,
    ) -> None:
        self.nest = nest
        self.tree = tree
        self.held = held
        self.weights = weights
        self.modes = {a.tensor: a.indices for a in tree.inputs}
        self.products = self.steps = self.cleared = self.time = 0.0
        self.shapes: dict[str, int] = {}
        for part in walk(nest):
            if isinstance(part, Assign):
                size = prod(tree.extents[x] for x in part.out.indices)
                self.shapes[part.out.tensor] = size

    def total(self) -> Work:
        self._visit(self.nest, frozenset(), 1.0)
        made = sum(n for name, n in self.shapes.items() if name != self.tree.result.tensor)
        return Work(self.products, self.steps, self.cleared, made, self.time)

    def _visit(self, nest: Nest, bound: frozenset[str], visits: float) -> None:
        """Add up what a part does that is executed so many times."""
        w = self.weights
        match nest:
            case Assign(operands=operands):
                self.products += visits
                self.time += visits * w.product * max(1, len(operands) - 1)
            case Where(consumer=consumer, producer=producer):
                emptied = visits * sum(self.shapes[name] for name in workspaces(nest))
                self.cleared += emptied
                self.time += emptied * w.clear
                self._visit(producer, bound, visits)
                self._visit(consumer, bound, visits)
            case Forall(index=index, body=body):
                self._loop(index, body, bound, visits)

    def _loop(self, index: str, body: Nest, bound: frozenset[str], visits: float) -> None:
        w = self.weights
        sparse = [a for a in self._operands(body) if index in a.indices and self._thin(a)]
        extent = self.tree.extents[index]
        lengths = sorted(self._length(a, index, bound) for a in sparse)
        self.time += visits * w.enter
        if lengths:
            scanned = visits * lengths[0]
            self.time += scanned * (w.step + w.other * (len(lengths) - 1))
        else:
            scanned = visits * extent
            self.time += scanned * w.dense_step
        self.steps += scanned
        inside = visits * extent
        for length in lengths:
            inside *= min(1.0, length / extent)
        self._visit(body, bound | {index}, inside)

    def _operands(self, nest: Nest) -> Iterable[Access]:
        """The given tensors that are read within."""
        for part in walk(nest):
            if isinstance(part, Assign):
                yield from (a for a in part.operands if a.tensor in self.modes)

    def _thin(self, access: Access) -> bool:
        return not self.held[access.tensor].full

    def _length(self, access: Access, index: str, bound: frozenset[str]) -> float:
        """How many coordinates a fiber has on average, below those of the loops around."""
        modes = self.modes[access.tensor]
        above = {modes.index(x) for x in access.indices if x in bound}
        occupancy = self.held[access.tensor]
        parents = occupancy.count(above)
        return occupancy.count(above | {modes.index(index)}) / parents if parents else 0.0
