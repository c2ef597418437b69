"""The known or expected contents of a program's tensors.

Coordinates of the inputs are there; those of what regions write are computed where that is not too
much, and otherwise expected from statistics.  One object serves any number of schedules, orders
and regions of a program: whatever two of them have in common is computed once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import dataclass, field
from math import prod
from typing import Any

from fuseloom.dataflow.cost.defined import defined
from fuseloom.dataflow.cost.exact.execution import Execution, Memo
from fuseloom.dataflow.cost.exact.fiber_levels import Floats
from fuseloom.dataflow.cost.exact.patterns import FullLevel, Patterns, UnknownError, elements_in
from fuseloom.dataflow.cost.exact.samples import Sample
from fuseloom.dataflow.cost.made_up import made_up
from fuseloom.dataflow.cost.mode import EstimateMode, mode_named
from fuseloom.dataflow.cost.numbers import RegionEstimate
from fuseloom.dataflow.cost.statistics import ExpectedStatistics, MeasuredStatistics, Statistics
from fuseloom.dataflow.cost.why import Provenance
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.errors import DataError
from fuseloom.program.dense_levels import all_compressed
from fuseloom.program.inputs import check_data
from fuseloom.program.levels import stored_shape
from fuseloom.program.relayout import reshaped
from fuseloom.program.storage import StoredTensor
from fuseloom.program.stored_views import resolve_view
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Program

ELEMENTS = 3e6
"""Elements that an execution may make where the mode is automatic: some tenths of a second."""
SAMPLED_ELEMENTS = 4e6
"""Elements that an execution on samples may make."""
MOST_ELEMENTS = 3e8
"""Elements that an execution may make at all: some gigabytes."""
LOOKED_AT = 16_000_000
"""Elements of a tensor that are looked at one by one."""
SHARED = 4
"""Programs with data of which what is known is kept."""
MACHINES = 64
"""Machines on which what is known of a program is kept."""
_SHARED: OrderedDict[Hashable, EstimateContext] = OrderedDict()
_CHECKED: OrderedDict[Hashable, tuple[Mapping[str, Any], Mapping[str, StoredTensor]]] = (
    OrderedDict()
)
"""Data as given, which keeps their identities, and as the program declares them."""
_LOCK = threading.Lock()


@dataclass(frozen=True, eq=False)
class ExecutedGraph:
    """A graph executed on coordinates.

    Attributes
    ----------
    mode : EstimateMode
        ``EXACT``, or ``SAMPLED``.
    made : float
        Elements that were made, or would have been, to execute it whole.
    samples : mapping
        Of an outermost index the coordinates that were executed, if not all were.
    bounds : dict
        Lower bounds of the cycles, by what they depend on of a machine.
    """

    executed: Execution
    mode: EstimateMode
    made: float
    samples: Mapping[str, Sample] = field(default_factory=dict)
    bounds: dict[Hashable, float] = field(default_factory=dict)


class ExecutionCache(OrderedDict[Hashable, ExecutedGraph]):
    """Executions of regions, the oldest first, and how many elements they made together."""

    made = 0.0


class EstimateContext:
    """Coordinates and statistics by view key.

    Parameters
    ----------
    data : mapping
        Every input by name.
    mode : EstimateMode or str
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
        mode: EstimateMode | str = EstimateMode.AUTO,
        machine: Machine | None = None,
    ) -> None:
        self.program = program
        self.data = dict(data)
        self.mode = mode_named(mode)
        self.machine = machine or Machine.default()
        self._on: dict[Machine, EstimateContext] = {self.machine: self}
        self.patterns = Patterns(program, data)
        self.memo = Memo()
        self.measures: dict[Hashable, Floats] = {}
        self.samples: dict[tuple[Hashable, int], Sample] = {}
        self.kept = ExecutionCache()
        self.done: dict[tuple[Graph, tuple[str, ...]], RegionEstimate] = {}
        self.costed: dict[tuple[Graph, tuple[str, ...]], RegionEstimate] = {}
        self.best: dict[Hashable, tuple[tuple[str, ...] | None, bool]] = {}
        self.look_ups: dict[Hashable, frozenset[tuple[str, str]]] = {}
        self.expected: dict[str, ExpectedStatistics] = {}
        self._measured: dict[str, Statistics] = {}
        self.lock = threading.RLock()

    @classmethod
    def of(
        cls,
        program: Program,
        data: Mapping[str, Any],
        mode: EstimateMode | str = EstimateMode.AUTO,
        machine: Machine | None = None,
    ) -> EstimateContext:
        """Return the estimate context of a program and its data, checked unless done before.

        Of an input that is too large to be drawn, statistics may be given instead of data
        (:class:`ExpectedStatistics`); and of a result without zeros, whose elements follow from
        values, how many of its places they are.

        Raises
        ------
        DataError
            If the data do not fit the program.
        """
        expected = {str(name): x for name, x in data.items() if isinstance(x, ExpectedStatistics)}
        if expected:
            return cls._expecting(program, data, expected, mode, machine)
        key = (program, tuple(sorted((str(name), id(given)) for name, given in data.items())))
        with _LOCK:
            given, stored = _CHECKED.get(key, ({}, None))
        if stored is None:
            given, stored = dict(data), check_data(program, data)
            if all(isinstance(tensor, StoredTensor) for tensor in given.values()):
                with _LOCK:  # other arrays may change until the next call
                    _CHECKED[key] = given, stored
                    while len(_CHECKED) > SHARED:
                        _CHECKED.popitem(last=False)
        return cls.shared(program, stored, mode, machine)

    @classmethod
    def _expecting(
        cls,
        program: Program,
        data: Mapping[str, Any],
        expected: Mapping[str, ExpectedStatistics],
        mode: EstimateMode | str,
        machine: Machine | None,
    ) -> EstimateContext:
        """Return the estimate context if only statistics are available for some inputs."""
        there = {name: given for name, given in data.items() if name not in expected}
        sparse = {s.out.tensor for s in program.statements if s.nonzero}
        inputs = [name for name in expected if name not in sparse]
        context = cls(program, check_data(program, there, inputs), mode, machine)
        for name, statistics in expected.items():
            sizes = stored_shape(program.tensor(name))
            told = tuple(len(counts) for counts in statistics.counts)
            if told != tuple(sizes):
                raise DataError(
                    f"statistics of levels of {told} coordinates are given for {name}",
                    hint=f"its levels have {tuple(sizes)}",
                )
            if name in sparse:
                context.patterns.nonzeros.given[name] = statistics.total / max(prod(sizes), 1)
            else:
                context.expected[name] = statistics
        return context

    @classmethod
    def shared(
        cls,
        program: Program,
        data: Mapping[str, StoredTensor],
        mode: EstimateMode | str = EstimateMode.AUTO,
        machine: Machine | None = None,
    ) -> EstimateContext:
        """Return the estimate context of a program on these very tensors, reused if it is cached.

        The last few are kept.  Which levels of intermediates are dense makes no difference.
        """
        program = all_compressed(program)
        tensors = tuple(sorted((name, id(stored)) for name, stored in data.items()))
        key = (program, tensors, mode_named(mode))
        with _LOCK:
            found = _SHARED.get(key)
            if found is None:
                found = _SHARED[key] = cls(program, data, mode)
            _SHARED.move_to_end(key)
            while len(_SHARED) > SHARED:
                _SHARED.popitem(last=False)
        return found.on(machine or Machine.default())

    def on(self, machine: Machine) -> EstimateContext:
        """The same on another machine: what is executed on one serves all, and is timed again."""
        with self.lock:
            if machine not in self._on:
                found = copy(self)
                found.machine, found.done, found.costed = machine, {}, {}
                found.best, found.look_ups = {}, {}
                self._on[machine] = found
                while len(self._on) > MACHINES:
                    self._on.pop(next(name for name in self._on if name != machine))
            return self._on[machine]

    @property
    def budget(self) -> float:
        """Elements that the execution of a region may make."""
        return MOST_ELEMENTS if self.mode is EstimateMode.EXACT else ELEMENTS

    def touches(self, graph: Graph) -> set[str]:
        """The tensors that a graph reads or writes."""
        keys = {str(n.params["tensor"]) for n in graph.nodes if "tensor" in n.params}
        return {key.partition("@")[0] for key in keys}

    def why(self, name: str) -> Provenance:
        """Return the assumed number of elements of a tensor, and its provenance."""
        if name in self.program.inputs:
            formula = "expected from statistics" if name in self.expected else "stored in the data"
        elif name in self.patterns.defined:
            formula = "coordinates by its definition"
        elif name in self.patterns.written:
            formula = "coordinates that the region executed writes"
        elif name in self.patterns.made_up:
            formula = "coordinates by a definition, or as statistics expect them"
        elif name in self.expected:
            formula = "expected from statistics"
        else:
            formula = "a reshape of what is known"
        return Provenance(f"tensor {name}", self.elements(name), "elements", formula)

    def writes(self, graph: Graph) -> set[str]:
        """The tensors that a graph writes."""
        writers = (n for n in graph.nodes if "tensor" in n.params and not n.outputs)
        return {str(n.params["tensor"]) for n in writers}

    def reads(self, graph: Graph) -> set[str]:
        """The tensors that a graph reads."""
        keys = {str(n.params["tensor"]) for n in graph.nodes if "tensor" in n.params}
        return {key.partition("@")[0] for key in keys - self.writes(graph)}

    def expects(self, graph: Graph) -> bool:
        """Return whether all that a graph writes is known or has expected statistics."""
        return all(n in self.expected or self.patterns.knows(n) for n in self.writes(graph))

    def guessed(self, graph: Graph) -> tuple[str, ...]:
        """Those of the tensors that a graph reads whose coordinates are not known."""
        return tuple(sorted(n for n in self.reads(graph) if not self.patterns.knows(n)))

    def reads_known(self, graph: Graph) -> bool:
        """Return whether the coordinates of everything that a graph reads are known."""
        return all(self.patterns.knows(name) for name in self.reads(graph))

    def elementwise(self, name: str) -> StoredTensor | None:
        """A tensor's data, if its coordinates are known and tell anything, and are not too many."""
        made = self.patterns.made(name)
        if self.patterns.complete(name) or (made is not None and elements_in(made) > LOOKED_AT):
            return None
        try:
            stored = self.patterns.elements_of(name)
            return stored if stored.nnz <= LOOKED_AT else None
        except UnknownError:
            return None

    def note(self, executed: Execution) -> None:
        """Keep what an executed region writes, in place of what was expected of it."""
        self.patterns.note(executed)
        self._drop_expected()

    def _drop_expected(self) -> None:
        """Drop the expected statistics of tensors that have become known."""
        for name in [name for name in self.expected if self.patterns.knows(name)]:
            del self.expected[name]
            for own in [own for own in self.data if own not in self.patterns.inputs]:
                del self.data[own]
            self._measured.clear()

    def make_up(self, name: str) -> None:
        """Coordinates for a tensor that nobody has executed; the same ones every time.

        By its definition, or where that takes too much, by what is expected of it.

        Raises
        ------
        UnknownError
            If nothing is known of it, or it would be too large.
        """
        if self.patterns.knows(name) or name in self.patterns.made_up:
            return
        try:
            found = defined(self.patterns, name, self.make_up)
        except UnknownError:
            pass
        else:
            operands = self.program.producers[name].operands
            if all(self.patterns.knows(access.tensor) for access in operands):
                self.patterns.define(name, found)
                self._drop_expected()
            else:
                self.patterns.made_up[name] = found
            return
        self._reshape(name)
        if name not in self.expected:
            raise UnknownError(name)
        self.patterns.made_up[name] = made_up(self.expected[name], name)

    def __call__(self, key: str) -> Statistics:
        """Statistics of a view: measured where the coordinates are known."""
        name, _, order = key.partition("@")
        self._reshape(name)
        if name in self.expected:
            return self._in_order(self.expected[name], name, order)
        if key not in self._measured:
            counted = self._counted(name)
            if counted is not None:
                self._measured[key] = self._in_order(counted, name, order)
            else:
                self._measured[key] = MeasuredStatistics(resolve_view(self._stored(name), key))
        return self._measured[key]

    def _in_order(self, expected: ExpectedStatistics, name: str, order: str) -> ExpectedStatistics:
        """Statistics with the levels in another mode order, if one is named."""
        if not order:
            return expected
        stored = self.program.tensor(name).format.mode_order
        return expected.permuted([stored.index(int(m)) for m in order.split(",")])

    def elements(self, name: str) -> float:
        """Return the number of elements that a tensor stores, all those of a block included."""
        self._reshape(name)
        if name in self.expected:
            return self.expected[name].total * prod(self.program.tensor(name).format.tile)
        made = self.patterns.made(name)
        if made is not None and name not in self.data:  # maybe full of more than could be listed
            return elements_in(made) * prod(self.program.tensor(name).format.tile)
        return self._stored(name)[name].nnz

    def _counted(self, name: str) -> ExpectedStatistics | None:
        """Count the occurrences of each coordinate, for a tensor with a long full level."""
        made = self.patterns.made(name)
        if made is None or name in self.data:
            return None
        if not any(isinstance(level, FullLevel) and level.n > LOOKED_AT for level in made):
            return None
        tensor = self.program.tensor(name)
        sizes = grid_shape(tensor)
        return ExpectedStatistics.counted(made, [sizes[axis] for axis in tensor.format.mode_order])

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
        if source in self.expected or self._counted(source) is not None:
            self.expected[name] = ExpectedStatistics.uniform(tensor, self.elements(source))
        else:
            self.data[name] = reshaped(self._stored(source)[source], tensor)
