"""Compositions as functions: scheduled, compiled, checked, and run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from fuseloom.calls.annotated import FunctionCall
from fuseloom.calls.commands import ScheduleCommand
from fuseloom.calls.composition import Composition, compose
from fuseloom.calls.data_kinds import ArrayKind
from fuseloom.calls.emit_cpp import emit_cpp
from fuseloom.calls.emit_python import emit_python
from fuseloom.calls.parts import KeptParts
from fuseloom.calls.pipeline_writer import GeneratedCode
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.calls.recomputation import ScheduleCounts, count
from fuseloom.calls.resolution import whole_reads
from fuseloom.calls.schedule import ScheduledCalls, schedule
from fuseloom.errors import DataError, ProgramError


class CodeLanguage(Enum):
    """A language of generated code."""

    PYTHON = "python"
    CPP = "c++"


class FusedFunction:
    """Calls as one function that computes their result tile by tile.

    Parameters
    ----------
    composition : Composition or sequence of FunctionCall
    commands : sequence of ScheduleCommand
    workers : int, optional
        Threads of parallel loops; as many as the machine has processors by default.
    language : CodeLanguage
        C++ is compiled at the first call, and calls what Python does for each tile.

    Raises
    ------
    ProgramError, ScheduleError
        If the calls cannot be composed, resolved or scheduled so.

    Examples
    --------
    >>> from fuseloom.calls.annotated import DataHandle, annotate
    >>> from fuseloom.calls.data_kinds import Vector
    >>> exp = annotate(np.exp, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t} } }''',
    ...     ["a", "out"])
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> fused = FusedFunction([exp(a, b), exp(b, c)])
    >>> out = np.empty(10)
    >>> fused(a=np.zeros(10), c=out, t=4)
    >>> bool((out == np.exp(1.0)).all()), fused.counts(a=np.zeros(10), c=out, t=4).room
    (True, 32)
    """

    def __init__(
        self,
        composition: Composition | Sequence[FunctionCall],
        commands: Sequence[ScheduleCommand] = (),
        workers: int | None = None,
        language: CodeLanguage = CodeLanguage.PYTHON,
    ) -> None:
        made = composition if isinstance(composition, Composition) else compose(composition)
        self.composition = made
        self.scheduled: ScheduledCalls = schedule(made, commands)
        self.workers = workers or os.cpu_count() or 1
        self.language = language

    @cached_property
    def code(self) -> GeneratedCode:
        """The generated code."""
        emit = emit_cpp if self.language is CodeLanguage.CPP else emit_python
        return emit(self.scheduled, self.workers)

    @property
    def source(self) -> str:
        """The generated code as text."""
        return self.code.source

    @cached_property
    def _run(self) -> Any:
        return self.code.compile()

    def __call__(self, **given: Any) -> None:
        """Compute the result.

        Parameters
        ----------
        **given
            Every data structure by name, the result's room among them; integer arguments; sizes
            of tiles, of which those that are left out are whole extents.

        Raises
        ------
        DataError
            If one is missing, of another kind, shape or type, or the result lies in an input.
        """
        handles = self._handles(given)
        values = self._values(given)
        sizes = [values[Symbol(name)] for name in self.scheduled.parameters]
        self._run(*(given[name] for name in handles), *sizes)

    def counts(self, **given: Any) -> ScheduleCounts:
        """Counts of what a call with the same arguments computes, without running it."""
        return count(self.scheduled, self.values(**given))

    def values(self, **given: Any) -> dict[Symbol | DataField, int]:
        """Fields of the data structures, and sizes of tiles, of a call with the same arguments."""
        self._handles(given)
        return self._values(given)

    def _handles(self, given: Mapping[str, Any]) -> list[str]:
        """Names of the data structures, each of which is there and fits."""
        composition = self.composition
        handles = (*composition.given, composition.result)
        known = {*(x.name for x in handles), *self.scheduled.parameters}
        for name in given:
            if name not in known:
                raise DataError(f"nothing is called {name}", hint=f"there are {', '.join(known)}")
        for handle in handles:
            if handle.name not in given:
                raise DataError(f"{handle.name} is not given", hint=f"it is a {handle.kind.name}")
            value = given[handle.name]
            handle.kind.whole(value)
            if isinstance(handle.kind, ArrayKind) and value.dtype != handle.kind.dtype:
                raise DataError(
                    f"{handle.name} holds {value.dtype.name}, and {handle.kind.dtype.name} is "
                    "declared"
                )
        result = given[composition.result.name]
        for handle in composition.given:
            value = given[handle.name]
            arrays = isinstance(value, np.ndarray) and isinstance(result, np.ndarray)
            if value is result or (arrays and np.may_share_memory(value, result)):
                raise DataError(
                    f"the result lies in the memory of {handle.name}",
                    hint="give it room of its own",
                )
        return [handle.name for handle in handles]

    def _values(self, given: Mapping[str, Any]) -> dict[Symbol | DataField, int]:
        """Fields of what is given, and the variables of the schedule."""
        values: dict[Symbol | DataField, int] = {}
        for handle in (*self.composition.given, self.composition.result):
            for name, extent in handle.kind.whole(given[handle.name]).items():
                values[DataField(handle.name, name)] = extent
        for name in self.composition.integers:
            if name in self.scheduled.parameters:
                values[Symbol(name)] = _integer(name, given.get(name), 0)
        for name in self.scheduled.parameters:
            if name not in self.composition.integers:
                extent = max(1, self._extent(name, values))
                size = _integer(name, given.get(name, extent), 1)
                values[Symbol(name)] = min(size, extent)
        self._check_inputs(values)
        return values

    @cached_property
    def _needed(self) -> KeptParts:
        """The parts of what is given that the whole result needs, where they are known."""
        try:
            return whole_reads(self.composition)
        except ProgramError:  # a result without a whole tile
            return {}

    def _check_inputs(self, values: Mapping[Symbol | DataField, int]) -> None:
        """Refuse data structures that end before what is needed of them does."""
        for handle, part in self._needed.items():
            for pair in handle.kind.dimensions:
                whole = values[DataField(handle.name, pair.length)]
                try:
                    end = (part[pair.start] + part[pair.length]).evaluate(values)
                except KeyError:  # an argument that a schedule has a number for
                    continue
                if end > whole:
                    raise DataError(
                        f"{handle.name} has {pair.length} {whole:,}, and {end:,} are needed for "
                        f"the whole {self.composition.result.name}"
                    )

    def _extent(self, name: str, values: Mapping[Symbol | DataField, int]) -> int:
        """The whole extent of the loop that a size of tiles belongs to."""
        for stage in self.scheduled.stages:
            around = stage.resolution.loops
            for loops in (around, *((*around, *x.loops) for x in stage.finer)):
                for loop in loops:
                    if loop.step == Polynomial.of(name):
                        bounds = {**values, **_enclosing(loops, values)}
                        return loop.end.evaluate(bounds) - loop.start.evaluate(bounds)
        return 1


def _enclosing(
    loops: Sequence[Any], values: Mapping[Symbol | DataField, int]
) -> dict[Symbol | DataField, int]:
    """The starts of loops, and the lengths of their first tiles, for loops within them."""
    found: dict[Symbol | DataField, int] = {}
    for loop in loops:
        known = {**values, **found}
        try:
            found[Symbol(loop.variable)] = loop.start.evaluate(known)
            if loop.length:
                found[Symbol(loop.length)] = loop.clipped.evaluate({**known, **found})
        except KeyError:  # a size that is not known yet
            found[Symbol(loop.length)] = loop.end.evaluate(known) - loop.start.evaluate(known)
    return found


def _integer(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise DataError(f"{name} is an integer of {least} or more, not {value!r}")
    return int(value)
