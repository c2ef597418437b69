"""The coordinates of every tensor of a program: of inputs as stored, of others as computed.

A tensor that a region writes has the coordinates that its definition says, whatever order or
schedule made them; so they are kept by the tensor's name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from fuseloom.dataflow.cost.exact.execution import Execution
from fuseloom.dataflow.cost.exact.fiber_levels import Bools, FiberLevel, Ints
from fuseloom.dataflow.cost.exact.nonzeros import Nonzeros
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.program.formats import Format
from fuseloom.program.levels import CompressedLevel
from fuseloom.program.relayout import reshaped
from fuseloom.program.storage import StoredTensor
from fuseloom.program.stored_views import resolve_view
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Program
from fuseloom.wording import counted


class UnknownError(Exception):
    """The coordinates of a tensor are not known."""


@dataclass(frozen=True)
class FullLevel:
    """A level of which every fiber has all coordinates below a size; they are only counted.

    Attributes
    ----------
    fibers : int
    size : int
        At least 1.
    """

    fibers: int
    size: int

    @property
    def n(self) -> int:
        """Elements."""
        return self.fibers * self.size

    def arrays(self) -> tuple[Ints, Ints]:
        """Segments and coordinates.

        Raises
        ------
        UnknownError
            If there are too many.
        """
        if self.n > MOST:
            raise UnknownError(f"{counted(self.n, 'coordinate')}")
        return np.arange(self.fibers + 1) * self.size, np.tile(np.arange(self.size), self.fibers)


Level = tuple[Ints, Ints] | FullLevel
"""Segments and coordinates, if it is not full."""
Levels = tuple[Level, ...]
MOST = 1e8
"""Coordinates of a full level that are made."""


def elements_in(levels: Levels) -> int:
    """Elements of the innermost level; a scalar is one."""
    if not levels:
        return 1
    last = levels[-1]
    return last.n if isinstance(last, FullLevel) else len(last[1])


def all_of(sizes: Sequence[int]) -> Levels:
    """Levels with every coordinate; sizes of at least 1."""
    return tuple(FullLevel(prod(sizes[:k]), size) for k, size in enumerate(sizes))


class Patterns:
    """Coordinates by view key.

    Parameters
    ----------
    data : mapping
        The inputs.
    """

    def __init__(self, program: Program, data: Mapping[str, StoredTensor]) -> None:
        self.program = program
        self.inputs = dict(data)
        self.data = dict(data)
        self.nonzeros = Nonzeros(program, data)
        self.written: dict[str, Levels] = {}
        self.defined: set[str] = set()
        self.made_up: dict[str, Levels] = {}
        self._ones: dict[str, StoredTensor] = {}
        self._levels: dict[str, Levels] = {}
        self._full: dict[tuple[str, int], int] = {}

    def knows(self, name: str) -> bool:
        """Return whether the coordinates of a tensor (or of what it reshapes) are known.

        Those that were made up are not.
        """
        if name in self.inputs or name in self.written:
            return True
        statement = self.program.producers.get(name)
        if statement is None or statement.op.fuses:
            return False
        return self.knows(statement.operands[0].tensor)

    def nonzero(self, name: str, coords: Sequence[Ints]) -> Bools:
        """Which elements of a result are not zero, given their coordinates in each dimension."""
        return self.nonzeros.among(name, coords)

    def identity(self, key: str) -> Hashable:
        """Views of a tensor are the same under the same key, but for what was made up before."""
        return key, self.knows(key.partition("@")[0])

    def level(self, key: str, level: int) -> tuple[Ints, Ints]:
        """Segments and coordinates of a level.

        Raises
        ------
        UnknownError
            If nobody has said what the tensor holds, or it is full of too much.
        """
        found = self._level(key, level)
        return found.arrays() if isinstance(found, FullLevel) else found

    def _level(self, key: str, level: int) -> Level:
        if key not in self._levels:
            self._levels[key] = self._view(key)
        return self._levels[key][level]

    def words(self, key: str, level: int) -> tuple[int, int]:
        """The lengths of a level's segments and coordinates; of a scalar, which has none, 0 and 1.

        Raises
        ------
        UnknownError
            If nobody has said what the tensor holds.
        """
        if not self.program.tensor(key.partition("@")[0]).rank:
            return 0, 1
        found = self._level(key, level)
        if isinstance(found, FullLevel):
            return found.fibers + 1, found.n
        return len(found[0]), len(found[1])

    def full(self, key: str, level: int) -> int:
        """Return the size of each fiber of a level if all levels down to it are full; else 0."""
        if (key, level) not in self._full:
            self._full[key, level] = _fullness(self._level(key, level))
        return self._full[key, level]

    def _view(self, key: str) -> Levels:
        name, _, order = key.partition("@")
        self._reshape(name)
        if name in self.data:
            return _scanned(resolve_view(self.data, key))
        levels = self.made(name)
        if levels is None:
            raise UnknownError(name)
        if not order:
            return levels
        stored = self.program.tensor(name).format.mode_order
        return _sorted_by(levels, [stored.index(int(m)) for m in order.split(",")])

    def _reshape(self, name: str) -> None:
        statement = self.program.producers.get(name)
        if statement is None or statement.op.fuses or name in self.data:
            return
        source = statement.operands[0].tensor
        self._reshape(source)
        given = self.data[source] if source in self.data else self.stored(source)
        self.data[name] = reshaped(given, self.program.tensor(name))

    def complete(self, name: str) -> bool:
        """Return whether a tensor is known to have every element."""
        tensor = self.program.tensor(name)
        places = prod(grid_shape(tensor))
        if name in self.data:
            return self.data[name].nnz == places * prod(tensor.format.tile)
        levels = self.made(name)
        return levels is not None and elements_in(levels) == places

    def made(self, name: str) -> Levels | None:
        """The levels of a tensor that a region writes, if they are known or made up.

        A scalar has no levels, and its element is always there.
        """
        if self.program.tensor(name).rank == 0:
            return ()
        return self.written.get(name, self.made_up.get(name))

    def elements_of(self, name: str) -> StoredTensor:
        """A tensor's data, or ones in their place.

        Raises
        ------
        UnknownError
            If nobody has said what it holds.
        """
        self._reshape(name)
        if name in self.data:
            return self.data[name]
        if name not in self._ones:
            self._ones[name] = self.stored(name)
        return self._ones[name]

    def stored(self, name: str) -> StoredTensor:
        """A tensor that a region writes, all levels compressed, with ones for values.

        Raises
        ------
        UnknownError
            If nobody has said what it holds, or it is full of too much.
        """
        found = self.made(name)
        if found is None:
            raise UnknownError(name)
        levels = [k.arrays() if isinstance(k, FullLevel) else k for k in found]
        tensor = self.program.tensor(name)
        fmt = replace(tensor.format, levels=Format.compressed(tensor.rank).levels)
        tensor = replace(tensor, format=fmt)
        count = len(levels[-1][1]) if levels else 1
        return StoredTensor.from_levels(tensor, levels, np.ones((count, *fmt.tile)))

    def note(self, execution: Execution) -> None:
        """Keep the coordinates of what an executed graph writes."""
        found: dict[str, dict[int, Level]] = {}
        for node in execution.graph.nodes:
            traits = primitive(node.op).memory
            if traits.port is not None or not traits.writes:
                continue
            levels = found.setdefault(str(node.params["tensor"]), {})
            if traits.writes_level:
                fiber_tree = execution.streams[node.inputs[0]].fiber_tree
                levels[int(node.params["level"])] = _written(fiber_tree)
        for name, levels in found.items():
            if name not in self.written:
                self.written[name] = self._with_dense(name, levels)
                if self.made_up.pop(name, None) is not None:
                    self._forget()

    def define(self, name: str, levels: Levels) -> None:
        """Keep the coordinates that follow from a tensor's definition and from what is known."""
        self.written[name] = levels
        self.defined.add(name)

    def share(self, name: str, other: str) -> None:
        """Keep that a tensor has the coordinates of another one, in whose format it is."""
        self.written[name] = self.written[other]
        if self.made_up.pop(name, None) is not None:
            self._forget()

    def _with_dense(self, name: str, written: Mapping[int, Level]) -> Levels:
        """The levels of a tensor, those without a writer with every coordinate.

        Whatever levels are dense, positions are the same, as such a level is complete.
        """
        tensor = self.program.tensor(name)
        made: Levels = ()
        for level, dimension in enumerate(tensor.format.mode_order):
            full = FullLevel(elements_in(made), grid_shape(tensor)[dimension])
            made = (*made, written.get(level, full))
        return made

    def _forget(self) -> None:
        """Forget all that may follow from what was made up."""
        self.data = dict(self.inputs)
        for kept in (self._ones, self._levels, self._full):
            kept.clear()


def _written(fiber_tree: FiberLevel) -> Level:
    """A level without the fibers that have nothing in them, but for the outermost."""
    if fiber_tree.full and fiber_tree.n:
        return FullLevel(len(fiber_tree.seg) - 1, fiber_tree.full)
    filled = np.flatnonzero(~fiber_tree.bare) if fiber_tree.depth > 1 else None
    seg = (
        fiber_tree.seg if filled is None else np.append(fiber_tree.seg[filled], fiber_tree.seg[-1:])
    )
    return seg, fiber_tree.crd


def _fullness(level: Level) -> int:
    if isinstance(level, FullLevel):
        return level.size
    seg, crd = level
    if not len(crd) or len(seg) < 2:
        return 0
    size = int(seg[1])
    if size * (len(seg) - 1) != len(crd) or (np.diff(seg) != size).any():
        return 0
    return size if (crd.reshape(-1, size) == np.arange(size)).all() else 0


def _scanned(stored: StoredTensor) -> Levels:
    none = np.zeros(0, dtype=np.int64)
    return tuple(
        (level.seg, level.crd) if isinstance(level, CompressedLevel) else (none, none)
        for level in stored.scanned
    )


def _sorted_by(levels: Levels, order: list[int]) -> Levels:
    """The same coordinates with the levels in another order."""
    if all(isinstance(level, FullLevel) for level in levels):
        return all_of([_fullness(levels[k]) for k in order])
    columns = columns_of(levels)
    moved = [columns[k] for k in order]
    by = np.lexsort(moved[::-1])
    return levels_of([column[by] for column in moved])


def columns_of(levels: Levels) -> list[Ints]:
    """Coordinates of every element, a column per level.

    Raises
    ------
    UnknownError
        If there are too many.
    """
    columns: list[Ints] = []
    at = np.arange(elements_in(levels))
    for level in reversed(levels):
        seg, crd = level.arrays() if isinstance(level, FullLevel) else level
        columns.append(crd[at])
        at = np.repeat(np.arange(len(seg) - 1), np.diff(seg))[at]
    return columns[::-1]


def levels_of(columns: list[Ints]) -> Levels:
    """Levels of sorted coordinates, given a column per level."""
    made: list[tuple[Ints, Ints]] = []
    count = len(columns[0]) if columns else 1
    parent, parents = np.zeros(count, dtype=np.int64), 1
    new = np.zeros(count, dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
        heads = np.flatnonzero(new)
        seg = np.zeros(parents + 1, dtype=np.int64)
        np.cumsum(np.bincount(parent[heads], minlength=parents), out=seg[1:])
        made.append((seg, column[heads]))
        parent = np.cumsum(new) - 1
        parents = len(heads)
    return tuple(made)
