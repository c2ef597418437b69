"""At which coordinates a statement computes, listed, and what of its operands that takes.

A statement *fires* once for each coordinate of all its indices where its operands meet: a product
where all factors have an element, a function or a sum at each element of its operand, an addition
at each element of its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.dataflow.cost.exact.patterns import UnknownError
from fuseloom.program.functions import Op
from fuseloom.program.levels import coordinates
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Access, Program, Statement

Ints = npt.NDArray[np.int64]

MOST = 1_000_000
"""Rows of a table that are listed."""
_FACTORS = (Op.MUL, Op.DIV)


class TooManyError(Exception):
    """There are more rows than are listed, or it is not known which.

    Attributes
    ----------
    rows : int
        How many there are at least.
    """

    def __init__(self, rows: int = 0) -> None:
        self.rows = rows
        super().__init__(rows)


@dataclass(frozen=True)
class Table:
    """Rows of coordinates, each once.

    Attributes
    ----------
    columns : mapping
        Of each index the coordinate in every row.
    sizes : mapping
        Of each index how many coordinates there are.
    """

    columns: Mapping[str, Ints]
    sizes: Mapping[str, int]
    rows: int

    def keys(self, indices: Sequence[str]) -> Ints:
        """A number per row that tells the coordinates of some indices."""
        found = np.zeros(self.rows, dtype=np.int64)
        if prod(self.sizes[x] for x in indices) >= 2**62:
            raise TooManyError
        for x in indices:
            found = found * self.sizes[x] + self.columns[x]
        return found

    def take(self, rows: npt.NDArray[np.bool_] | Ints) -> Table:
        """Some of the rows."""
        columns = {x: column[rows] for x, column in self.columns.items()}
        count = int(rows.sum()) if rows.dtype == bool else len(rows)
        return Table(columns, self.sizes, count)

    def over(self, indices: Sequence[str]) -> Table:
        """The different coordinates of some of its indices."""
        if not indices:
            return Table({}, {}, min(self.rows, 1))
        _, first = np.unique(self.keys(indices), return_index=True)
        columns = {x: self.columns[x][first] for x in indices}
        return Table(columns, {x: self.sizes[x] for x in indices}, len(first))

    def within(self, other: Table) -> Table:
        """The rows of which the other has the coordinates, of the indices that it has."""
        shared = [x for x in other.columns if x in self.columns]
        return self.take(np.isin(self.keys(shared), other.keys(shared)))

    def joined(self, other: Table, most: int = MOST) -> Table:
        """The rows of both that agree in the indices that they have in common.

        Raises
        ------
        TooManyError
            If they are more than are listed, or the indices have other sizes.
        """
        shared = [x for x in other.columns if x in self.columns]
        if any(self.sizes[x] != other.sizes[x] for x in shared):
            raise TooManyError
        mine, theirs = self.keys(shared), other.keys(shared)
        by = np.argsort(theirs, kind="stable")
        low = np.searchsorted(theirs[by], mine, side="left")
        many = np.searchsorted(theirs[by], mine, side="right") - low
        count = int(many.sum())
        if count > most:
            raise TooManyError(count)
        left = np.repeat(np.arange(self.rows), many)
        inside = np.arange(count) - np.repeat(np.cumsum(many) - many, many)
        right = by[np.repeat(low, many) + inside]
        columns = {x: column[left] for x, column in self.columns.items()}
        columns |= {x: c[right] for x, c in other.columns.items() if x not in columns}
        return Table(columns, {**other.sizes, **self.sizes}, count)


class StatementInstances:
    """The instances of a program's statements, by coordinates; each is computed once.

    Of tensors in blocks the coordinates are those of the blocks.
    """

    def __init__(self, program: Program, context: EstimateContext) -> None:
        self.program = program
        self.context = context
        self._tensors: dict[str, Ints | None] = {}
        self._of: dict[str, Table | int] = {}

    def elements(self, name: str) -> float:
        """Elements, or blocks, that a tensor stores; 0 where that is not known."""
        if not self.context.patterns.knows(name):
            return 0.0
        return self.context.elements(name) / prod(self.program.tensor(name).format.tile)

    def whole(self, name: str) -> bool:
        """Return whether a tensor is known to have every element."""
        return self.context.patterns.knows(name) and self.context.patterns.complete(name)

    def sizes(self, access: Access) -> dict[str, int]:
        """Return the extent of each index of a use of a tensor."""
        return dict(
            zip(access.indices, grid_shape(self.program.tensor(access.tensor)), strict=True)
        )

    def table(self, access: Access) -> Table:
        """The elements of a tensor, by the indices of a use of it.

        Raises
        ------
        TooManyError
            If they are not known, too many, or two of its indices are one.
        """
        coords = self._listed(access.tensor)
        if coords is None or len(set(access.indices)) < len(access.indices):
            raise TooManyError
        columns = {x: coords[:, k] for k, x in enumerate(access.indices)}
        return Table(columns, self.sizes(access), len(coords))

    def of(self, statement: Statement) -> Table:
        """Return the instances of a statement, if it computes everything.

        Raises
        ------
        TooManyError
            If that is not known, or too much.
        """
        name = statement.out.tensor
        names = [name, *(a.tensor for a in statement.operands)]
        if not all(map(self.context.patterns.knows, names)):
            raise TooManyError
        if name not in self._of:
            try:
                self._of[name] = self._fires(statement)
            except TooManyError as many:
                self._of[name] = many.rows
        found = self._of[name]
        if isinstance(found, int):
            raise TooManyError(found)
        return found

    def count(self, statement: Statement) -> float:
        """Count the instances of a statement, if it computes everything; 0 if that is not known."""
        accesses = statement.operands
        if any(not self.context.patterns.knows(a.tensor) for a in accesses):
            return 0.0
        if len(accesses) == 1:
            return self.elements(accesses[0].tensor)
        if statement.op not in _FACTORS:
            return self.elements(statement.out.tensor)
        for number, other in enumerate(accesses):
            one = accesses[1 - number]
            if len(accesses) == 2 and self.whole(other.tensor) and _plain(one, other):
                mine, theirs = self.sizes(one), self.sizes(other)
                if all(mine.get(x, n) == n for x, n in theirs.items()):
                    free = [n for x, n in theirs.items() if x not in mine]
                    return self.elements(one.tensor) * prod(free)
        try:
            return float(self.of(statement).rows)
        except TooManyError as many:
            return float(many.rows)

    def needs_all(self, statement: Statement, name: str) -> bool:
        """Return whether the whole of a statement is known to read every element of an operand."""
        mine = [a for a in statement.operands if a.tensor == name]
        others = [a for a in statement.operands if a.tensor != name]
        if len(mine) != 1 or not statement.op.fuses or statement.op is Op.CONCAT:
            return False
        if statement.op.joins_by_union:
            return set(mine[0].indices) == set(statement.indices)
        if len(others) == 1:
            return self._meets(others[0], mine[0])
        return all(self.whole(other.tensor) for other in others)

    def _meets(self, other: Access, access: Access) -> bool:
        """Return whether an operand has elements under every coordinate of another's indices."""
        if self.whole(other.tensor):
            return True
        shared = [x for x in dict.fromkeys(access.indices) if x in other.indices]
        try:
            table = self.table(other).over(shared)
        except TooManyError:
            return False
        sizes = self.sizes(access)
        return table.rows > 0 and table.rows == prod(sizes[x] for x in shared)

    def taken(self, statement: Statement, fires: Table, name: str) -> Table:
        """Return the elements of an operand that a statement reads, given its instances.

        Raises
        ------
        TooManyError
            If that is not known.
        """
        mine = [a for a in statement.operands if a.tensor == name]
        if len(mine) != 1 or statement.op is Op.CONCAT:
            raise TooManyError
        found = fires.over(mine[0].indices)
        if statement.op.joins_by_union:
            found = found.within(self.table(mine[0]))
        return found

    def _fires(self, statement: Statement) -> Table:
        if not statement.op.fuses or statement.op is Op.CONCAT:
            raise TooManyError
        if statement.op.joins_by_union:
            return self.table(statement.out)
        first, *others = statement.operands
        found = self.table(first)
        for number, access in enumerate(others, 1):
            try:
                found = found.joined(self.table(access))
            except TooManyError as many:  # a further operand may have less
                raise TooManyError(many.rows if number == len(others) else 0) from None
        return found

    def _listed(self, name: str) -> Ints | None:
        """The coordinates of a tensor's elements; None if they are not known, or too many."""
        if not self.context.patterns.knows(name):
            return None
        if name not in self._tensors:
            self._tensors[name] = None
            if self.elements(name) <= MOST:
                try:
                    stored = self.context.patterns.elements_of(name)
                    self._tensors[name] = coordinates(stored.tensor, stored.levels)
                except UnknownError:
                    pass
        return self._tensors[name]


def _plain(*accesses: Access) -> bool:
    """Return whether each index stands for one dimension of an operand."""
    return all(len(set(a.indices)) == len(a.indices) for a in accesses)
