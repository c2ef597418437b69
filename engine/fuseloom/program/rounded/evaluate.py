"""The meaning of some statements, in float64, with a bound on what a float32 machine may get.

Where :mod:`fuseloom.program.reference` holds every tensor densely, this evaluates what is stored,
for all elements of the outputs or for some rows of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fuseloom.program.distinct import distinct
from fuseloom.program.float32 import SMALLEST
from fuseloom.program.functions import Op
from fuseloom.program.levels import DenseLevel
from fuseloom.program.relayout import renumbered
from fuseloom.program.rounded.budget import WORD, EvaluationBudget, TooMuchError
from fuseloom.program.rounded.products import rounded, sum_of_products, sum_of_slices
from fuseloom.program.rounded.rounding import (
    Rounding,
    function,
    reciprocal,
    settled,
    steps,
    with_either_zero,
)
from fuseloom.program.rounded.stored import from_stored, is_grid
from fuseloom.program.rounded.tensors import (
    Box,
    Elements,
    Floats,
    Grid,
    Ints,
    Listed,
    keys,
    same_axis,
)
from fuseloom.program.rounded.terms import Factor, maximum, summed
from fuseloom.program.rounded.unions import union
from fuseloom.program.rounded.wanted import Wanted
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor
from fuseloom.program.zeros import zeros_are_absent

Function = Callable[[Floats, Floats | None], tuple[Floats, Floats | None]]


Read = dict[Hashable, Elements]
"""The parts of stored tensors that were read, by name and box."""
SLICE = 2**20
"""Elements of a slice, of an operand of which only a slice is held at a time: arrays of 8 MiB,
which a cache holds and the next slice uses again."""


def evaluate_rounded(
    program: Program,
    statements: Sequence[Statement],
    stored: Mapping[str, StoredTensor],
    outputs: Mapping[str, Box],
    budget: EvaluationBudget,
    rounding: Rounding | None = None,
    read: Read | None = None,
    ends: dict[str, tuple[Elements, Elements]] | None = None,
) -> dict[str, Elements]:
    """The outputs of some statements of a program.

    Parameters
    ----------
    stored : mapping
        Every tensor that the statements read and do not assign; taken as exact.
    outputs : mapping
        Per output the box of elements that is asked for.
    rounding : Rounding, optional
        What becomes of rounding errors; by default every element has a bound on its own.
    read : dict, optional
        Keeps what is read of stored tensors, for the next evaluation of the same boxes.
    ends : dict, optional
        Takes, of each output that a function with steps gives, the least and the largest values.

    Returns
    -------
    dict
        Per output its elements (those outside the box may be missing or incomplete).

    Raises
    ------
    TooMuchError
        If that takes more than the budget.
    OverflowError
        If coordinates have more combinations than 64 bits number.
    """
    rounding = rounding or Rounding()
    wanted = Wanted(program, outputs)
    produced = {s.out.tensor for s in statements}
    known: dict[str, Elements] = {}

    kept: Read = {} if read is None else read

    def hold() -> None:
        """Tell the budget what is kept, which may be the same in several places."""
        distinct = {id(e): _bytes(e) for e in (*kept.values(), *known.values())}
        budget.held = sum(distinct.values())

    hold()

    def elements(name: str, box: Box) -> Elements:
        key = (name, *(None if only is None else only.tobytes() for only in box))
        if key not in kept:
            kept[key] = from_stored(stored[name], box, budget)
        return kept[key]

    def leaf(name: str, box: Box) -> Elements | None:
        if name in produced or is_grid(stored[name]):
            return None
        try:
            return elements(name, box)
        except TooMuchError:
            return None

    if any(only is not None for box in outputs.values() for only in box):
        for s in reversed(statements):
            wanted.ask(s, leaf)
    reads = Counter(a.tensor for s in statements for a in s.operands)
    with np.errstate(all="ignore"):
        for s in statements:
            large: Access | None = None
            for access in s.operands:
                name = access.tensor
                if name in known:
                    continue
                try:
                    known[name] = elements(name, wanted.of(name))
                except TooMuchError:
                    if large is not None or not _in_slices(program, s, access):
                        raise
                    large = access
            hold()
            evaluator = _Evaluator(program, s, wanted, budget, rounding)
            if large is None:
                made = evaluator.result([known[a.tensor] for a in s.operands])
                if ends is not None and s.op.steps and s.out.tensor in outputs:
                    ends[s.out.tensor] = evaluator.ends(known[s.operands[0].tensor])
            else:
                (other,) = (a for a in s.operands if a is not large)
                made = evaluator.sliced(stored[large.tensor], large, other, known[other.tensor])
            known[s.out.tensor] = made
            reads.subtract(a.tensor for a in s.operands)
            for access in s.operands:
                if reads[access.tensor] == 0 and access.tensor not in outputs:
                    known.pop(access.tensor, None)
    return {name: known[name] for name in outputs}


def _in_slices(program: Program, s: Statement, access: Access) -> bool:
    """Return whether a product can be summed over slices of an operand's outermost dimension."""
    if s.op is not Op.MUL or len(s.operands) != 2:
        return False
    if s.operands[0].tensor == s.operands[1].tensor:
        return False
    outermost = program.tensor(access.tensor).format.mode_order[:1]
    return all(access.indices[d] not in s.out.indices for d in outermost)


def _bytes(elements: Elements) -> float:
    arrays = 1 if elements.bounds is None else 2
    if isinstance(elements, Listed):
        arrays += len(elements.coords)
    return float(elements.size * arrays * WORD)


class _Evaluator:
    """One statement."""

    def __init__(
        self,
        program: Program,
        statement: Statement,
        wanted: Wanted,
        budget: EvaluationBudget,
        rounding: Rounding,
    ) -> None:
        self.program = program
        self.s = statement
        self.wanted = wanted
        self.budget = budget
        self.rounding = rounding
        self.space = (*statement.out.indices, *statement.reduced)

    def result(self, operands: Sequence[Elements]) -> Elements:
        made = self._result(operands)
        if self.s.nonzero:
            return self._nonzero(made)
        if not self.s.out.indices and not made.size:
            return Grid((), np.zeros(()))  # of nothing, the sum and the maximum are 0
        return made

    def ends(self, operand: Elements) -> tuple[Elements, Elements]:
        """The least and the largest values of a function with steps."""
        (aligned,) = self._aligned([operand])
        low, high = steps(self.s.op, aligned.values, aligned.bounds)
        ends = replace(aligned, values=low), replace(aligned, values=high)
        return (self._left(ends[0]), self._left(ends[1])) if self.s.nonzero else ends

    def sliced(
        self, stored: StoredTensor, access: Access, other: Access, elements: Elements
    ) -> Elements:
        """A product with a stored operand of which only a slice is held at a time.

        Raises
        ------
        TooMuchError
            If one coordinate of its outermost stored dimension takes too much.
        """
        box = list(self.wanted.of(access.tensor))
        dimension = stored.tensor.format.mode_order[0]
        index = access.indices[dimension]
        wanted = box[dimension]
        along = wanted
        if along is None:
            level = stored.levels[0]
            if isinstance(level, DenseLevel):
                self.budget.take(level.size, 1)
                along = np.arange(level.size)
            else:
                along = distinct(level.crd)

        def slices(count: int) -> Iterator[list[tuple[tuple[str, ...], Elements]]]:
            for part in np.array_split(along, count):
                box[dimension] = part
                only = tuple(part if x == index else None for x in other.indices)
                first = from_stored(stored, tuple(box), self.budget)
                yield [(access.indices, first), (other.indices, elements.restricted(only))]

        count = max(2, round(stored.nnz / SLICE))
        while True:
            spent = self.budget.spent
            try:
                given = slices(min(count, max(len(along), 1)))
                return sum_of_slices(self.s.out.indices, given, self.rounding, self.budget)
            except TooMuchError as much:
                if much.work or count >= len(along):
                    raise
                self.budget.spent = spent
                count *= 8

    def _result(self, operands: Sequence[Elements]) -> Elements:
        s = self.s
        accesses = s.operands
        constant = s.constant or 0.0
        match s.op:
            case Op.MUL:
                return self._product(list(zip(accesses, operands, strict=True)))
            case Op.DIV:
                inverse = each(operands[1], lambda x, e: reciprocal(x, e, self.rounding))
                return self._product([(accesses[0], operands[0]), (accesses[1], inverse)])
            case Op.ADD | Op.SUB | Op.MAXIMUM:
                return self._union(operands)
            case Op.CONCAT:
                return concatenated(self._aligned(operands), s, self.program)
            case Op.RESHAPE:
                return reshaped(operands[0], self.program, s)
            case Op.SUM:
                return self._reduced(self.s.operands[0].indices, operands[0])
            case Op.MAX:
                return self._largest(operands[0])
            case Op.SCALE:
                return self._each(operands[0], lambda x, e: self._scaled(x, e, constant))
            case Op.SHIFT:
                return self._each(operands[0], lambda x, e: self._shifted(x, e, constant))
            case Op.AT_LEAST:
                return self._each(operands[0], lambda x, e: self._at_least(x, e, constant))
            case _:
                return self._each(operands[0], lambda x, e: function(s.op, x, e, self.rounding))

    def _nonzero(self, every: Elements) -> Elements:
        """The elements that are not zero, and those that rounding may make nonzero.

        Where one of these counts is open, if an operation further on takes a zero for an element.
        """
        name = self.s.out.tensor
        made = self._left(every)
        if made.bounds is None or zeros_are_absent(self.program, name):
            return made
        certain = np.abs(made.values) > made.bounds
        if blocked := self.program.tensor(name).format.blocked:  # or any other of its block
            coords = made.coords.copy()
            coords[list(blocked)] //= self.program.tensor(name).format.block
            (block,) = keys(coords)
            certain = np.isin(block, block[certain])
        self.rounding.undecided |= not certain.all()
        return replace(made, bounds=np.where(certain, made.bounds, np.inf))

    def _left(self, elements: Elements) -> Listed:
        every, name, left = elements.listed(), self.s.out.tensor, self.rounding.left
        if name not in left:
            left[name] = every.values != 0
            if self.rounding.doubts and every.bounds is not None:
                left[name] |= every.bounds > 0
        made = every.taken(left[name])
        tensor = self.program.tensor(name)
        return _filled(made, tensor) if tensor.format.blocked else made

    def _product(self, factors: Sequence[tuple[Access, Elements]]) -> Elements:
        given = [(access.indices, elements) for access, elements in factors]
        return sum_of_products(self.s.out.indices, given, self.rounding, self.budget)

    def _union(self, operands: Sequence[Elements]) -> Elements:
        s = self.s
        sizes = self.program.sizes[s.out.tensor]
        only = self.wanted.indices(s)
        extents: dict[str, Ints | int] = {}
        for x in self.space:
            coordinates = only[x]
            extents[x] = sizes[x] if coordinates is None else coordinates
        pairs = [(a.indices, o) for a, o in zip(s.operands, operands, strict=True)]
        mode = self.program.broadcast_add
        total = union(self.space, pairs, s.op, mode, extents, self.rounding, self.budget)
        if self.rounding.left and mode is BroadcastAdd.SPARSE:
            total = self._doubtful_rows(total)
        return self._reduced(self.space, total) if s.reduced else total

    def _doubtful_rows(self, total: Elements) -> Elements:
        """A sum that is open where it is open whether an operand has any of a row."""
        accesses = self.s.operands
        over = [k for k, x in enumerate(self.space) if any(x not in a.indices for a in accesses)]
        if not over or total.bounds is None or not np.isinf(total.bounds).any():
            return total
        every = total.listed()
        assert every.bounds is not None
        (row,) = keys(every.coords[over])
        open_ = np.isin(row, row[np.isinf(every.bounds)])
        return replace(every, bounds=np.where(open_, np.inf, every.bounds))

    def _largest(self, elements: Elements) -> Elements:
        indices, out = self.s.operands[0].indices, self.s.out.indices
        made = maximum(indices, elements, out)
        if not self.rounding.bounded or not np.any(made.values == 0):
            return made
        negative = np.asarray((elements.values == 0) & np.signbit(elements.values), dtype=float)
        doubtful = maximum(indices, replace(elements, values=negative, bounds=None), out)
        return replace(made, bounds=with_either_zero(made.bounds, made.values, doubtful.values > 0))

    def _reduced(self, indices: tuple[str, ...], elements: Elements) -> Elements:
        out = self.s.out.indices
        total = summed(Factor(indices, elements), set(out), self.budget)
        return rounded(total.ordered(out), 1, self.rounding)

    def _each(self, operand: Elements, f: Function) -> Elements:
        (aligned,) = self._aligned([operand])
        return each(aligned, f)

    def _aligned(self, operands: Sequence[Elements]) -> list[Elements]:
        """Operands with their dimensions in the order of the output's."""
        return [
            o.transposed([a.indices.index(x) for x in self.s.out.indices])
            for a, o in zip(self.s.operands, operands, strict=True)
        ]

    def _scaled(
        self, x: Floats, bounds: Floats | None, constant: float
    ) -> tuple[Floats, Floats | None]:
        values = x * constant
        inherited = None if bounds is None else bounds * abs(constant)
        fresh = 2 * self.rounding.unit * np.abs(values) + SMALLEST
        return settled(values, inherited, fresh, self.rounding)

    def _at_least(
        self, x: Floats, bounds: Floats | None, constant: float
    ) -> tuple[Floats, Floats | None]:
        values = np.maximum(x, constant)
        off = abs(float(np.float32(constant)) - constant)
        if not off:
            doubtful = (x == 0) & (np.signbit(x) != np.signbit(constant))
            return values, with_either_zero(bounds, values, doubtful)
        fresh = np.where(values > constant + off, 0.0, off)
        return settled(values, bounds, fresh, self.rounding)

    def _shifted(
        self, x: Floats, bounds: Floats | None, constant: float
    ) -> tuple[Floats, Floats | None]:
        values = x + constant
        fresh = self.rounding.unit * (np.abs(values) + abs(constant))
        return settled(values, bounds, fresh, self.rounding)


def each(elements: Elements, f: Function) -> Elements:
    """A function of every element."""
    values, bounds = f(elements.values, elements.bounds)
    if isinstance(elements, Grid):
        return Grid(elements.axes, values, bounds)
    return Listed(elements.coords, values, bounds)


def concatenated(operands: Sequence[Elements], s: Statement, program: Program) -> Elements:
    """The operands one after another along the axis; dimensions as the output has them."""
    assert s.axis is not None
    along = s.out.indices.index(s.axis)
    sizes = [program.tensor(a.tensor).shape[a.indices.index(s.axis)] for a in s.operands]
    offsets = np.cumsum([0, *sizes[:-1]])
    exact = all(o.bounds is None for o in operands)
    grids = [o for o in operands if isinstance(o, Grid)]
    if len(grids) == len(operands) and all(
        same_axis(a, b)
        for g in grids[1:]
        for k, (a, b) in enumerate(zip(grids[0].axes, g.axes, strict=True))
        if k != along
    ):
        shifted = [g.axes[along] + o for g, o in zip(grids, offsets, strict=True)]
        axes = list(grids[0].axes)
        axes[along] = np.concatenate(shifted)
        values = np.concatenate([g.values for g in grids], axis=along)
        if exact:
            return Grid(tuple(axes), values)
        return Grid(tuple(axes), values, np.concatenate([_bounds(g) for g in grids], axis=along))
    parts = [o.listed() for o in operands]
    moved = []
    for part, offset in zip(parts, offsets, strict=True):
        coords = part.coords.copy()
        coords[along] += offset
        moved.append(coords)
    bounds = None if exact else np.concatenate([_bounds(p) for p in parts])
    return Listed(np.concatenate(moved, axis=1), np.concatenate([p.values for p in parts]), bounds)


def _bounds(elements: Elements) -> Floats:
    return np.zeros_like(elements.values) if elements.bounds is None else elements.bounds


def reshaped(elements: Elements, program: Program, s: Statement) -> Elements:
    """The same elements counted in row-major order, and what the result's format adds."""
    before = program.tensor(s.operands[0].tensor)
    after = program.tensor(s.out.tensor)
    if isinstance(elements, Grid) and elements.values.shape == before.shape:
        bounds = None if elements.bounds is None else elements.bounds.reshape(after.shape)
        return Grid(
            tuple(map(np.arange, after.shape)), elements.values.reshape(after.shape), bounds
        )
    every = elements.listed()
    coords = renumbered(every.coords.T, before.shape, after.shape).T
    return _filled(Listed(coords, every.values, every.bounds), after)


def _filled(elements: Listed, tensor: Tensor) -> Listed:
    """With the explicit zeros that the format stores."""
    made = StoredTensor.from_coo(tensor, elements.coords.T, np.zeros(elements.size))
    coords = made.to_coo()[0].T
    if coords.shape[1] == elements.size:
        return elements
    every, own = keys(coords, elements.coords)
    order = np.argsort(every)
    place = order[np.searchsorted(every, own, sorter=order)]
    values = np.zeros(len(every))
    values[place] = elements.values
    bounds = None
    if elements.bounds is not None:
        bounds = np.zeros(len(every))
        bounds[place] = elements.bounds
    return Listed(coords, values, bounds)
