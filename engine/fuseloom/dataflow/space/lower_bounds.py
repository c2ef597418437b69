"""Cycles that no region of some statements is below, known before any is compiled.

A primitive takes a token in a cycle or more.  So a region takes at least as many cycles as the
node with the most tokens has, and of some nodes it is known how many that are, in whatever order
the region runs:

* **Writers.**  Each element that a region writes passes its value writer, of which there is one:
  lanes are collected before it.
* **Arithmetic.**  The instance of a tensor that is written has to compute all of its elements, and
  each one of all the products that it is a sum of: a term that is left out is missing in the
  result.  So the nodes of this instance take as many tokens as its statement has products.  What
  these products take of an intermediate inside the region must be made by the one instance that
  this instance reads, from all of its own products; and so on inwards.  An instance that is
  computed again under other indices, or scanned where it could be looked up, has more tokens,
  never fewer.
* **Recomputation** (:class:`RecomputationBound`).  An index that lies outside one of an instance's
  own and is not its own has the instance computed anew for each of its coordinates under which it
  is needed (``docs/spec/fusion.md`` §2.4, S2): in whichever order, where the constraints of the
  region put it there.

With ``n`` lanes the nodes of an instance are there up to ``n`` times side by side, and one of them
takes at least an ``n``-th.  Counts are those of coordinates, which what a program means decides
alone.  Where they are not known, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Cut, Instance
from fuseloom.dataflow.space.instances import StatementInstances, Table, TooManyError
from fuseloom.program.types import Access, Program, Statement
from fuseloom.results.order_ideals import OrderIdeals

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LISTED, VISITS = 200_000, 300
"""Rows of a table, and instances of a region, that are looked at to see what is recomputed."""
DEMANDS = 2
"""Different parts of a tensor that regions may need of which it is known what they take."""


class _Demand:
    """The demand of a region for a tensor, by its dimensions (all of it: None), and the regions."""

    def __init__(self, ends: Bools, part: Table | None) -> None:
        self.ends = ends
        self.part = part


def lower_bounds(
    program: Program,
    instances: StatementInstances,
    statements: Sequence[Statement],
    ideals: OrderIdeals,
    lanes: int = 1,
) -> Floats:
    """Of each part between two ideals, cycles that no region of its statements is below.

    Parameters
    ----------
    instances : StatementInstances
        What statements do, by coordinates.
    lanes : int
        Lanes that a region may have.

    Returns
    -------
    ndarray of shape (p, p)
        ``[ideal, end]`` is that of what is in the second ideal and not in the first; where none
        leads to the other it does not matter.

    Notes
    -----
    What a statement has to compute depends on where the region ends, not on where it begins: what
    reads it is not in an ideal without it.  So there is one pass for all regions, of O(n p) in all;
    and one for what the most is of all statements of a region, which is that of the statement that
    comes next at its first ideal, or that of the region which begins after it.
    """
    size = len(statements)
    position = {s.out.tensor: k for k, s in enumerate(statements)}
    readers: list[list[int]] = [[] for _ in statements]
    for k, statement in enumerate(statements):
        for name in dict.fromkeys(a.tensor for a in statement.operands):
            if name in position:
                readers[position[name]].append(k)
    found = np.zeros((size, len(ideals)))
    inside = ideals.inside
    demands: list[list[_Demand]] = [[] for _ in statements]
    for k in range(size - 1, -1, -1):
        statement = statements[k]
        name = statement.out.tensor
        written = inside[k].copy()
        if name not in program.outputs:
            written &= ~inside[readers[k]].all(axis=0)
        whole = written.copy()
        for reader in readers[k]:
            for demand in demands[reader]:
                here = demand.ends & inside[reader]
                part = _part(instances, statements[reader], demand.part, statement.out)
                if part is None:
                    whole |= here
                elif part.rows:
                    demands[k].append(_Demand(here, part))
        demands[k] = sorted(demands[k], key=lambda d: -d.part.rows if d.part else 0)[:DEMANDS]
        demands[k].insert(0, _Demand(whole, None))
        if statement.op.fuses:
            elements = instances.elements(name)
            np.maximum(found[k], elements, out=found[k], where=written)
            for demand in demands[k]:
                work = _work(instances, statement, demand.part) / lanes
                np.maximum(found[k], work, out=found[k], where=demand.ends)
    return _joined(ideals, found)


def _joined(ideals: OrderIdeals, found: Floats) -> Floats:
    """The most of what is found of single statements, by the ideal where a region ends."""
    joined = np.zeros((len(ideals), len(ideals)))
    for ideal in range(len(ideals) - 2, -1, -1):
        for unit, after in ideals.steps(ideal):
            here = ideals.inside[unit]
            np.maximum(found[unit], joined[after], out=joined[ideal], where=here)
    return joined


_NOTHING = Table({}, {}, 0)


def _part(
    instances: StatementInstances, reader: Statement, needed: Table | None, out: Access
) -> Table | None:
    """Return the part of a tensor that a statement reads for a part of its result; None for all."""
    if needed is None and instances.needs_all(reader, out.tensor):
        return None
    try:
        fires = instances.of(reader)
        if needed is not None:
            fires = fires.within(_named(needed, reader.out))
        taken = instances.taken(reader, fires, out.tensor)
    except TooManyError:
        return _NOTHING
    access = next(a for a in reader.operands if a.tensor == out.tensor)
    if taken.rows == instances.elements(out.tensor):
        return None
    return _numbered(taken, access)


def _work(instances: StatementInstances, statement: Statement, needed: Table | None) -> float:
    """Tokens of a statement's nodes, if so much of its result is needed."""
    elements = instances.elements(statement.out.tensor) if needed is None else needed.rows
    if needed is None:
        return max(elements, instances.count(statement))
    try:
        return max(elements, instances.of(statement).within(_named(needed, statement.out)).rows)
    except TooManyError:
        return elements


def _numbered(table: Table, access: Access) -> Table:
    """A table by the dimensions of a tensor instead of the indices of a use of it."""
    names = {x: str(k) for k, x in enumerate(access.indices)}
    columns = {names[x]: column for x, column in table.columns.items()}
    return Table(columns, {names[x]: n for x, n in table.sizes.items()}, table.rows)


def _named(table: Table, access: Access) -> Table:
    """The other way round."""
    names = {str(k): x for k, x in enumerate(access.indices)}
    columns = {names[x]: column for x, column in table.columns.items()}
    return Table(columns, {names[x]: n for x, n in table.sizes.items()}, table.rows)


_Key = tuple[int, int, tuple[str, ...]]
"""The number of what reads an instance, the instance, and indices that it is made anew under."""


class RecomputationBound:
    """The lower bound on the cycles of a region, with recomputation, over its orders.

    From each output inwards: where an instance fires, under which coordinates of the indices that
    lie outside it; what that takes of each operand, under which coordinates; and where that one
    fires, then.  Each instance on the path takes a token for each of these.  What two orders
    have in common is found out once.
    """

    def __init__(self, region: FusedRegion, instances: StatementInstances, lanes: int = 1) -> None:
        self.region = region
        self.instances = instances
        self.lanes = lanes
        self._known: dict[_Key, tuple[int, Table | None, int]] = {}
        self._tables: dict[int, Table | None] = {}

    def lower_bound(self, order: Sequence[str] | None = None, enough: float = inf) -> float:
        """Cycles that the region is not below, under an order, or under whichever.

        Parameters
        ----------
        enough : float
            Nothing is looked at further once there are so many.
        """
        outside: Mapping[str, Collection[str]]
        if order is None:
            outside = self.region.pog.ancestors()
        else:
            outside = {x: order[:k] for k, x in enumerate(order)}
        most, visits = 0.0, 0
        todo: list[tuple[Instance, _Key]] = [(r, (0, id(r), ())) for r in self.region.roots]
        done: dict[int, set[int]] = {}
        while todo and visits < VISITS:
            view, key = todo.pop()
            number, fires, rows = self._fires(view, key)
            most = max(most, rows / self.lanes)
            if most >= enough:
                break
            if fires is None or number in done.setdefault(id(view), set()):
                continue
            done[id(view)].add(number)
            visits += 1
            for operand in view.operands:
                if not isinstance(operand, Instance) or isinstance(operand, Cut):
                    continue
                same = [o for o in view.operands if o.tensor == operand.tensor]
                if len(same) > 1 or operand.shifts != view.shifts:
                    continue
                if not set(operand.indices) <= fires.columns.keys():
                    continue
                local = set(operand.local)
                before = {x for y in local for x in outside[y]}
                foreign = tuple(x for x in fires.columns if x not in local and x in before)
                todo.append((operand, (number, id(operand), foreign)))
        return most

    def _fires(self, view: Instance, key: _Key) -> tuple[int, Table | None, int]:
        """A number for where an instance fires, that by the indices of the region, and how often.

        ``key`` says which instance reads it, by its number, and under which indices of that one.
        """
        if key not in self._known:
            number, fires = len(self._known) + 1, None
            try:
                fires = self._found(view, key)
                rows = fires.rows
            except TooManyError as many:
                rows = many.rows
            self._known[key] = number, fires, rows
            self._tables[number] = fires
        return self._known[key]

    def _found(self, view: Instance, key: _Key) -> Table:
        if isinstance(view, Cut) or view.shifts or not view.statement.op.fuses:
            raise TooManyError
        own = self.instances.of(view.statement)
        rename = dict(view.renaming)
        if len(set(rename.values())) < len(rename):
            raise TooManyError
        columns = {rename[x]: column for x, column in own.columns.items()}
        table = Table(columns, {rename[x]: n for x, n in own.sizes.items()}, own.rows)
        reader, _, foreign = key
        above = self._tables.get(reader)
        if above is None:
            return table
        return above.over([*foreign, *view.indices]).joined(table, LISTED)
