"""Formats of inputs by what is in them: compressed where the estimate says that it saves cycles.

A matrix of few elements that is stored dense is read and multiplied whole, zeros and all.  Which
compressed format is best depends on the statements that read it: one by rows may force an order
under which rows of another operand are walked through again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from math import inf
from typing import Any

import numpy as np

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.dataflow.fusion.regions import partition
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.errors import FuseloomError
from fuseloom.program.formats import Format, LevelFormat, format_text
from fuseloom.program.inputs import check_data
from fuseloom.program.reference import evaluate
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program, Statement, Tensor
from fuseloom.program.verify import verify
from fuseloom.wording import counted

DENSITY = 0.5
"""Share of nonzeros up to which a tensor is considered: above, coordinates take the bytes saved."""
LEAST_ELEMENTS = 64
"""Elements of a dense tensor below which nothing is worth a format."""
MOST_PERMUTED = 3
"""Dimensions of a tensor of which every mode order is considered."""
EMPTY = 0.1
"""Share of empty rows from which on a format that leaves them out is considered."""
EFFORT = 1e6
"""Elements that ranking the orders of a region may execute: about a tenth of a second."""
MOST_ALIKE = 2
"""Mode orders in which all inputs are stored alike to begin with."""
ROUNDS = 3
"""Times that the format of each input is chosen anew, at most."""
GAIN = 0.02
"""Share of the cycles that a format must save."""


@dataclass(frozen=True)
class FormatChoice:
    """The format that was found best for an input, which was dense.

    Attributes
    ----------
    tensor : Tensor
        As it was declared.
    format : Format
    density : float
        Share of its elements that are not 0.
    readers : tuple of str
        What the statements that read it assign.
    dense_cycles, cycles : float
        Estimated clock cycles of the regions of these statements, while it is dense, and so.
    """

    tensor: Tensor
    format: Format
    density: float
    readers: tuple[str, ...]
    dense_cycles: float
    cycles: float

    def __str__(self) -> str:
        shape = " x ".join(f"{n:,}" for n in self.tensor.shape)
        return (
            f"{self.tensor.name} is stored {format_text(self.format)}: {self.density:.2%} of "
            f"{shape} are not 0; by the estimate what reads it ({', '.join(self.readers)}) takes "
            f"{counted(self.cycles, 'cycle')} so, {self.dense_cycles:,.0f} dense"
        )


@check_arguments
def choose_formats(
    program: Program,
    data: Mapping[str, Any],
    names: Sequence[str] | None = None,
    *,
    schedule: Schedule | str = "",
    density: float = DENSITY,
    machine: Machine | None = None,
) -> tuple[FormatChoice, ...]:
    """Find formats of dense inputs that hold few elements, the largest input first.

    The regions of a schedule that read an input are estimated, fused or statement by statement,
    whichever takes fewer cycles, under their best orders and look-ups and with every other input in
    the format that is found best so far.  To begin with, all are dense, or all compressed in the
    same mode order, whichever is best: often one of several weights that a region reads gains
    nothing by itself.

    Parameters
    ----------
    data : mapping
        Every input by name.
    names : sequence of str, optional
        Inputs that may be stored otherwise; by default all.
    schedule : Schedule or str
        Which statements may be fused; by default none.
    density : float
        Largest share of nonzeros of those that are considered.

    Returns
    -------
    tuple of FormatChoice
        Only inputs of which a compressed format saves cycles.

    Raises
    ------
    DataError
        If the data do not fit the program.

    Examples
    --------
    >>> import numpy as np
    >>> import fuseloom as fl
    >>> program = fl.parse("X: 40x30 dense\\nW: 8x30 dense\\nY[i,j] = X[i,k] * W[j,k]")
    >>> x = np.zeros((40, 30))
    >>> x[::3, ::7] = 1
    >>> (found,) = choose_formats(program, {"X": x, "W": np.ones((8, 30))})
    >>> print(found)  # doctest: +NORMALIZE_WHITESPACE
    X is stored dcsr: 5.83% of 40 x 30 are not 0; by the estimate what reads it (Y) takes 666 cycles
    so, 9,939 dense
    """
    stored = check_data(program, data)
    schedule = Schedule.parse(schedule) if isinstance(schedule, str) else schedule
    allowed = program.given if names is None else [n for n in program.given if n in set(names)]
    readers = _Readers(program, stored, schedule, machine)
    shares = {name: _density(stored[name]) for name in allowed}
    left = [n for n in allowed if _considered(program.tensor(n)) and shares[n] <= density]
    left.sort(key=lambda n: -stored[n].values.size)
    readers.store_alike(left)
    found: dict[str, FormatChoice] = {}
    for _ in range(ROUNDS):  # what is best for one may be so only with another's
        before = dict(found)
        for name in left:
            choice = readers.best(program.tensor(name), shares[name])
            found.pop(name, None)
            if choice is not None:
                found[name] = choice
        left = [*found]
        if len(found) < 2 or _chosen(found) == _chosen(before):
            break
    return tuple(found.values())


def _chosen(found: Mapping[str, FormatChoice]) -> dict[str, Format]:
    return {name: choice.format for name, choice in found.items()}


def _considered(tensor: Tensor) -> bool:
    plain = tensor.format.all_dense and not tensor.format.blocked and tensor.made is None
    return plain and tensor.rank > 1 and int(np.prod(tensor.shape)) >= LEAST_ELEMENTS


def _density(stored: StoredTensor) -> float:
    return float(np.count_nonzero(stored.values) / max(stored.values.size, 1))


def _formats(tensor: Tensor, held: StoredTensor) -> Iterator[Format]:
    """Compressed formats in every mode order; with dense rows if hardly any is empty."""
    filled = held.to_dense() != 0
    orders = list(permutations(range(tensor.rank)))
    if tensor.rank > MOST_PERMUTED:
        orders = [orders[0], orders[-1]]
    for order in orders:
        outermost = filled.any(axis=tuple(order[1:]))
        if tensor.rank == 2 and outermost.mean() > 1 - EMPTY:
            yield Format((LevelFormat.DENSE, LevelFormat.COMPRESSED), order)
        else:
            yield Format((LevelFormat.COMPRESSED,) * tensor.rank, order)


class _Readers:
    """The statements that read an input, by themselves: what they take with its formats."""

    def __init__(
        self,
        program: Program,
        data: Mapping[str, StoredTensor],
        schedule: Schedule,
        machine: Machine | None,
    ) -> None:
        self.program = program
        self.machine = machine
        self.inputs = dict(data)
        self._given = data
        self._spans = [span.statements for span in partition(program, schedule)]
        self._operands: dict[str, StoredTensor] = {}
        self._known: dict[tuple[Statement, ...], float] = {}

    @cached_property
    def _computed(self) -> Mapping[str, Any]:
        return evaluate(self.program, self._given)

    def _store(self, name: str, fmt: Format) -> None:
        tensor = replace(self.program.tensor(name), format=fmt)
        self.inputs[name] = StoredTensor.from_dense(tensor, self.inputs[name].to_dense())
        reading = {s for s in self.program.live if any(a.tensor == name for a in s.operands)}
        self._known = {k: v for k, v in self._known.items() if reading.isdisjoint(k)}

    def store_alike(self, names: Sequence[str]) -> None:
        """Store all of these inputs dense, or all in one mode order, by the lowest estimate."""
        if len(names) < 2:
            return
        plain = {name: self.program.tensor(name).format for name in names}
        orders = {name: [*_formats(self.program.tensor(name), self.inputs[name])] for name in names}
        reading = {s for s in self.program.live if any(a.tensor in plain for a in s.operands)}
        spans = [s for s in self._spans if not reading.isdisjoint(s)]
        least = inf
        chosen: Mapping[str, Format] = plain
        most = max(map(len, orders.values()))
        alike = [{n: fs[min(k, len(fs) - 1)] for n, fs in orders.items()} for k in range(most)]
        for number, formats in enumerate([plain, *alike[:MOST_ALIKE]]):
            for name, fmt in formats.items():
                self._store(name, fmt)
            try:
                cycles = sum(map(self._fewest, spans))
            except FuseloomError:
                continue
            if cycles < least:
                least, chosen = cycles * (1.0 if number else 1.0 - GAIN), formats
        for name, fmt in chosen.items():
            self._store(name, fmt)

    def best(self, tensor: Tensor, density: float) -> FormatChoice | None:
        """The format under which the regions that read a tensor take the fewest cycles.

        It is in that format from now on, for others.
        """
        name = tensor.name
        self._store(name, tensor.format)
        reading = [s for s in self.program.live if any(a.tensor == name for a in s.operands)]
        spans = [s for s in self._spans if not set(reading).isdisjoint(s)]
        if not spans:
            return None
        try:
            dense = sum(map(self._fewest, spans))
        except FuseloomError:
            return None
        found = (dense * (1.0 - GAIN), -1, tensor.format)
        for number, fmt in enumerate(_formats(tensor, self.inputs[name])):
            self._store(name, fmt)
            try:
                cycles = sum(map(self._fewest, spans))
            except FuseloomError:
                continue
            found = min(found, (cycles, number, fmt), key=lambda entry: entry[:2])
        cycles, _, fmt = found
        self._store(name, fmt)
        if fmt == tensor.format:
            return None
        readers = tuple(s.out.tensor for s in reading if s.op.fuses)
        return FormatChoice(tensor, fmt, density, readers, dense, cycles)

    def _fewest(self, statements: tuple[Statement, ...]) -> float:
        """Estimated cycles of the statements of a region: fused, or each alone."""
        alone = sum(self._cycles((s,)) for s in statements)
        if len(statements) == 1:
            return alone
        try:
            return min(alone, self._cycles(statements))
        except FuseloomError:
            return alone

    def _cycles(self, statements: tuple[Statement, ...]) -> float:
        """Estimated cycles of statements in one region, under its best order."""
        if statements not in self._known:
            self._known[statements] = self._estimated(statements)
        return self._known[statements]

    def _estimated(self, statements: tuple[Statement, ...]) -> float:
        written = dict.fromkeys(s.out.tensor for s in statements)
        read = dict.fromkeys(a.tensor for s in statements for a in s.operands)
        given = {name: self._operand(name) for name in read if name not in written}
        readers = self.program.readers
        wanted = {
            name
            for name in written
            if name in self.program.outputs or not written.keys() >= {*readers[name]}
        }
        region = Program(
            self.program.name,
            (
                *(stored.tensor for stored in given.values()),
                *(self.program.tensor(name) for name in written),
            ),
            statements,
            tuple(name for name in written if name in wanted),
            self.program.broadcast_add,
        )
        verify(region)
        first, last = statements[0].out.tensor, statements[-1].out.tensor
        schedule = f"fuse {first}..{last}" if len(statements) > 1 else ""
        compiled = compile_program(region, schedule)
        best = best_orders(compiled, given, effort=EFFORT, machine=self.machine).compilation
        return estimate(best, given, machine=self.machine).cycles

    def _operand(self, name: str) -> StoredTensor:
        """An operand; one that is computed is dense if it has all elements."""
        if name in self.inputs:
            return self.inputs[name]
        if name not in self._operands:
            held = self._computed[name]
            rank = held.present.ndim
            fmt = Format.dense(rank) if held.present.all() else Format.compressed(rank)
            tensor = replace(self.program.tensor(name), format=fmt)
            points = np.argwhere(held.present)
            values = held.values[held.present]
            self._operands[name] = StoredTensor.from_coo(tensor, points, values, computed=True)
        return self._operands[name]
