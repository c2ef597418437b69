"""The selections of a complete program: which index tensors they follow from, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from fuseloom.errors import DataError
from fuseloom.frontends.mlir.collected import Input, Made
from fuseloom.frontends.mlir.lookups import Lookup
from fuseloom.frontends.mlir.syntax import refuse_meaning
from fuseloom.frontends.mlir.values import DimensionSize
from fuseloom.program.formats import Format
from fuseloom.program.inputs import made_tensor
from fuseloom.program.storage import StoredTensor
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import BroadcastAdd, Program, Tensor
from fuseloom.program.verify import Checker


class BuilderState(Protocol):
    """The collected state of a builder."""

    inputs: dict[str, Input]

    def live(self, outputs: tuple[str, ...]) -> list[Made]: ...

    def shape(
        self, name: str, sizes: tuple[DimensionSize, ...], place: SourcePlace
    ) -> tuple[int, ...]: ...


class Selected:
    """Selections that a program reads, with what they are made of.

    Parameters
    ----------
    builder : BuilderState
    inputs : mapping
        Inputs that the program reads.

    Attributes
    ----------
    inputs : dict
        These, and those that only selections are made of.
    made : list of Made
        Statements that compute places.
    """

    def __init__(self, builder: BuilderState, inputs: Mapping[str, Input]) -> None:
        self.builder = builder
        self.hosts: dict[str, list[Made]] = {}
        self.inputs = dict(inputs)
        todo = list(inputs)
        while todo:
            name = todo.pop()
            source = self.inputs[name].source
            if source is None:
                continue
            self.hosts[name] = builder.live((source,))
            for tensor in (source, *(a.tensor for m in self.hosts[name]
                                     for a in m.statement.operands)):  # fmt: skip
                if tensor in builder.inputs and tensor not in self.inputs:
                    self.inputs[tensor] = builder.inputs[tensor]
                    todo.append(tensor)
        statements = {id(m): m for host in self.hosts.values() for m in host}
        self.made = list(statements.values())
        self._lookups: tuple[Lookup, ...] | None = None
        self._known: dict[str, StoredTensor] = {}

    @property
    def lookups(self) -> tuple[Lookup, ...]:
        """Those that are made when data are bound, and before that those they are made of.

        Raises
        ------
        ProgramError
            If places are computed of numbers, or of constants that lie outside.
        """
        if self._lookups is None:
            found: list[Lookup] = []
            for name in self.builder.inputs:  # what is made of others comes after them
                if name in self.hosts:
                    lookup = self._lookup(name, found)
                    if lookup.indices:
                        found.append(lookup)
            self._lookups = tuple(found)
        return self._lookups

    @property
    def indices(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the index tensors that are to be given."""
        names = dict.fromkeys(n for x in self.lookups for n in x.indices)
        return {n: self._tensor(n).shape for n in names}

    def data(self, program: Program) -> dict[str, StoredTensor]:
        """Selections that follow from constants."""
        assert self.lookups is not None
        return {n: x for n, x in self._known.items() if n in program.inputs}

    def notes(self) -> list[str]:
        """Return notes on selections for the user."""
        if not self.lookups:
            return []
        names = list(self.indices)
        made = [f"{x.tensor.name} (one of {x.tensor.shape[-1]})" for x in self.lookups]
        return [
            f"{', '.join(made)}: 1 at the places that {', '.join(names)} "
            f"{'holds' if len(names) == 1 else 'hold'}; give index tensors by "
            f"bind({{{names[0]!r}: ...}}), on the command line --tensors {names[0]}=FILE.npy"
        ]

    def _tensor(self, name: str) -> Tensor:
        """An input, filled up where it is no selection: places are those of dense tensors."""
        given = self.inputs[name]
        shape = self.builder.shape(name, given.sizes, given.place)
        relation = given.relation()
        kept = relation is not None or given.source is not None
        fmt = given.format if kept else Format.dense(len(shape))
        return Tensor(name, shape, fmt, relation)

    def _lookup(self, name: str, before: list[Lookup]) -> Lookup:
        given, host = self.inputs[name], self.hosts[name]
        source = given.source
        assert source is not None  # it has a host
        read = dict.fromkeys(a.tensor for m in host for a in m.statement.operands)
        leaves = [n for n in read if n in self.inputs] if host else [source]
        indices: dict[str, None] = {}
        constants: dict[str, StoredTensor] = {}
        for leaf in leaves:
            found = self.inputs[leaf]
            values = None if found.data is None else found.data.array()
            if leaf in self._known:
                constants[leaf] = self._known[leaf]
            elif found.source is not None:
                indices.update(dict.fromkeys(n for x in before if x.tensor.name == leaf
                                             for n in x.indices))  # fmt: skip
            elif values is not None:
                constants[leaf] = StoredTensor.from_dense(self._tensor(leaf), values)
            elif found.relation() is not None:
                constants[leaf] = made_tensor(self._tensor(leaf))
            elif found.whole:
                indices[leaf] = None
            else:
                raise refuse_meaning(
                    f"an element is read at a place that is computed of the numbers of {leaf}",
                    "make an index tensor of integers an argument; where places follow from "
                    "numbers, multiply by a matrix that selects",
                    given.place,
                )
        program = self._program(source, host, leaves) if host else None
        lookup = Lookup(
            replace(self._tensor(name), format=given.format), source, tuple(indices), program,
            constants,
        )  # fmt: skip
        if not indices:
            try:
                self._known[name] = lookup.made({})
            except DataError as problem:
                raise refuse_meaning(problem.message, problem.hint or "", given.place) from None
        return lookup

    def _program(self, source: str, host: list[Made], leaves: list[str]) -> Program:
        tensors = [self._tensor(n) for n in leaves]
        statements = tuple(m.statement for m in host)
        add = BroadcastAdd.DENSE
        reshaped = [
            Tensor(m.statement.out.tensor, shape, Format.dense(len(shape)))
            for m in host
            if not m.statement.op.fuses
            for shape in [self.builder.shape(m.statement.out.tensor, m.sizes, m.place)]
        ]
        found = Checker("places", [*tensors, *reshaped], statements, add, {}).run((source,))
        return Program("places", tuple(found), statements, (source,), add)
