"""Calls one after another, and what passes between them."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from fuseloom.calls.annotated import DataHandle, FunctionCall, IntegerArgument
from fuseloom.calls.polynomial_code import variable_name
from fuseloom.calls.polynomials import DataField
from fuseloom.errors import ProgramError

RESERVED = frozenset(
    {*keyword.kwlist, "np", "min", "max", "range", "run_parallel", "require", "workers", "fused"}
)
"""Names that generated code uses for something else."""


class ConnectionKind(Enum):
    """The kinds of reading an output."""

    STRAIGHT = "straight"
    MERGE = "merge"
    FORK = "fork"


@dataclass(frozen=True)
class DataConnection:
    """An intermediate, the call that computes it, and those that read it.

    Attributes
    ----------
    data : DataHandle
    producer : int
    consumers : tuple of int
    kind : ConnectionKind
        A fork if several calls read it; a merge if its reader reads other intermediates, too.
    """

    data: DataHandle
    producer: int
    consumers: tuple[int, ...]
    kind: ConnectionKind


@dataclass(frozen=True)
class Composition:
    """Calls whose last computes the result.

    Attributes
    ----------
    calls : tuple of FunctionCall
        Those that the result needs, in order.
    unused : tuple of str
        Outputs that nothing reads; their calls are left out.
    """

    calls: tuple[FunctionCall, ...]
    unused: tuple[str, ...] = ()

    @property
    def result(self) -> DataHandle:
        """The output of the last call."""
        return self.calls[-1].output

    @cached_property
    def producers(self) -> Mapping[DataHandle, int]:
        """The number of the call that writes each intermediate, and the result."""
        return {call.output: number for number, call in enumerate(self.calls)}

    @cached_property
    def given(self) -> tuple[DataHandle, ...]:
        """Data structures that no call writes, in order of first use."""
        every = [handle for call in self.calls for handle in call.inputs]
        return tuple(x for x in dict.fromkeys(every) if x not in self.producers)

    @cached_property
    def integers(self) -> tuple[str, ...]:
        """Names of the integer arguments."""
        found = [
            value.name
            for call in self.calls
            for value in call.arguments.values()
            if isinstance(value, IntegerArgument)
        ]
        return tuple(dict.fromkeys(found))

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that have a meaning in generated code."""
        handles = (*self.given, *self.producers)
        fields = {variable_name(DataField(x.name, y)) for x in handles for y in x.kind.fields}
        return frozenset({*(x.name for x in handles), *self.integers, *fields, *RESERVED})

    @cached_property
    def connections(self) -> tuple[DataConnection, ...]:
        """The intermediates, in order of their calls."""
        found = []
        for handle, producer in self.producers.items():
            consumers = tuple(n for n, call in enumerate(self.calls) if handle in call.inputs)
            if not consumers:
                continue
            read = [x for x in self.calls[consumers[0]].inputs if x in self.producers]
            kind = ConnectionKind.MERGE if len(read) > 1 else ConnectionKind.STRAIGHT
            if len(consumers) > 1:
                kind = ConnectionKind.FORK
            found.append(DataConnection(handle, producer, consumers, kind))
        return tuple(found)


def compose(calls: Sequence[FunctionCall]) -> Composition:
    """Compose calls; the output of the last is the result.

    Calls whose output is not needed for the result are left out, and named in ``unused``.

    Raises
    ------
    ProgramError
        If there is no call, a name is none that code can have, a data structure is written twice
        or read before it is written, a call writes what it reads, or two have one name.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.data_kinds import Vector
    >>> exp = annotate(np.exp, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t} } }''',
    ...     ["a", "out"])
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> [connection.data.name for connection in compose([exp(a, b), exp(b, c)]).connections]
    ['b']
    """
    _check_names(calls)
    if not calls:
        raise ProgramError("there is no call to compose", hint="give at least one")
    written: dict[DataHandle, int] = {}
    names: dict[str, DataHandle] = {}
    outputs = [call.output for call in calls]
    for number, call in enumerate(calls):
        name = call.function.name
        for handle in (*call.inputs, call.output):
            if names.setdefault(handle.name, handle) != handle:
                raise ProgramError(f"two data structures have the name {handle.name}")
        for handle in call.inputs:
            if handle == call.output:
                raise ProgramError(
                    f"{name} writes {handle.name}, which it reads",
                    hint="give each call an output of its own; room is reused where it can be",
                )
            if handle not in written and handle in outputs:
                raise ProgramError(f"{name} reads {handle.name} before it is computed")
        if call.output in written:
            raise ProgramError(
                f"{call.output.name} is written by two calls",
                hint="give each call an output of its own",
            )
        written[call.output] = number
    needed = {len(calls) - 1}
    for number in reversed(range(len(calls))):
        if number in needed:
            needed |= {written[x] for x in calls[number].inputs if x in written}
    kept = tuple(call for number, call in enumerate(calls) if number in needed)
    unused = tuple(c.output.name for number, c in enumerate(calls) if number not in needed)
    return Composition(kept, unused)


def _check_names(calls: Sequence[FunctionCall]) -> None:
    """Refuse names that code cannot have, or that mean two things."""
    data: set[str] = set()
    integers: set[str] = set()
    for call in calls:
        data |= {handle.name for handle in (*call.inputs, call.output)}
        integers |= {x.name for x in call.arguments.values() if isinstance(x, IntegerArgument)}
    for name in (*sorted(data), *sorted(integers)):
        if not name.isidentifier() or name in RESERVED:
            raise ProgramError(
                f"{name[:40]!r} is no name that generated code can have",
                hint="use letters, digits and _, and no word of Python",
            )
        if name in data and name in integers:
            raise ProgramError(f"{name} is a data structure and an integer argument")
