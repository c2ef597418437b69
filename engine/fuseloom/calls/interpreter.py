"""Pipelines run node by node, without code: the meaning of what is generated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from fuseloom.calls.annotated import IntegerArgument
from fuseloom.calls.data_kinds import ArrayKind
from fuseloom.calls.parts import PartFields
from fuseloom.calls.pipeline_nodes import (
    AdvanceWindowNode,
    AllocateNode,
    BeginWindowNode,
    ComputeNode,
    FreeNode,
    InsertNode,
    LoopNode,
    MoveWindowNode,
    PipelineNode,
    QueryNode,
    RequireNode,
)
from fuseloom.calls.polynomials import DataField, Symbol
from fuseloom.calls.schedule import ScheduledCalls
from fuseloom.errors import DataError


def interpret(
    scheduled: ScheduledCalls,
    given: Mapping[str, Any],
    values: Mapping[Symbol | DataField, int],
    seen: Callable[[PipelineNode], None] = lambda _: None,
) -> None:
    """Run pipelines node by node; loops run one iteration after another.

    Parameters
    ----------
    given : mapping
        Data structures by name, the result's room among them.
    values : mapping
        Of sizes of tiles, integer arguments, and fields of the data structures.
    seen : callable
        Given each node before it runs, such as to stop at it.

    Raises
    ------
    DataError
        If a part lies outside of its data structure, or a tile needs more than a call computes.

    Examples
    --------
    >>> from fuseloom.calls.fused import FusedFunction
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> case = PIPELINES["blur"].make({"h": 6, "w": 5})
    >>> fused = FusedFunction(case.composition)
    >>> nodes = []
    >>> interpret(fused.scheduled, case.arguments, fused.values(**case.arguments, n=4),
    ...           lambda node: nodes.append(type(node).__name__))
    >>> bool(np.allclose(case.result, case.expected)), nodes.count("ComputeNode")
    (True, 4)
    """
    interpreter = _PipelineInterpreter(dict(given), dict(values), seen)
    interpreter.run(scheduled.rooms)
    for stage in scheduled.stages:
        interpreter.run(stage.body)


class _PipelineInterpreter:
    def __init__(
        self,
        data: dict[str, Any],
        values: dict[Symbol | DataField, int],
        seen: Callable[[PipelineNode], None],
    ) -> None:
        self.data = data
        self.values = values
        self.seen = seen

    def run(self, nodes: Iterable[PipelineNode]) -> None:
        """Run nodes, one after another."""
        for node in nodes:
            self.seen(node)
            match node:
                case LoopNode():
                    self._loop(node)
                case AllocateNode(name, kind, fields):
                    self.data[name] = kind.allocate(self._fields(fields))
                case QueryNode(name, source, kind, fields):
                    self.data[name] = kind.query(self.data[source], self._fields(fields))
                case RequireNode(_, bound):
                    if bound.smaller.evaluate(self.values) > bound.larger.evaluate(self.values):
                        raise DataError(node.message, hint="choose smaller tiles")
                case ComputeNode():
                    self._compute(node)
                case InsertNode(part, target, kind, fields):
                    kind.insert(self.data[target], self._fields(fields), self.data[part])
                case BeginWindowNode(window, start):
                    value = start.evaluate(self.values)
                    self.values[Symbol(window.ready)] = self.values[Symbol(window.origin)] = value
                case MoveWindowNode():
                    self._move(node)
                case AdvanceWindowNode(window):
                    self.values[Symbol(window.ready)] = window.end.evaluate(self.values)
                case FreeNode(name, kind):
                    kind.free(self.data.pop(name))

    def _fields(self, fields: PartFields) -> dict[str, int]:
        return {name: value.evaluate(self.values) for name, value in fields.items()}

    def _loop(self, node: LoopNode) -> None:
        loop = node.loop
        bounds = (x.evaluate(self.values) for x in (loop.start, loop.end, loop.step))
        for start in range(*bounds):
            self.values[Symbol(loop.variable)] = start
            if loop.length:
                self.values[Symbol(loop.length)] = loop.clipped.evaluate(self.values)
            self.run(node.body)

    def _compute(self, node: ComputeNode) -> None:
        given = []
        for parameter in node.call.function.parameters:
            value = node.call.arguments[parameter]
            if parameter in node.parts:
                given.append(self.data[node.parts[parameter]])
            elif isinstance(value, IntegerArgument):
                given.append(self.values[Symbol(value.name)])
            else:
                given.append(value)
        node.call.function.function(*given)

    def _move(self, node: MoveWindowNode) -> None:
        """Move what is computed already to the front of its room."""
        assert isinstance(node.kind, ArrayKind)
        window, room = node.window, self.data[node.room]
        ready, origin = Symbol(window.ready), Symbol(window.origin)
        start = window.start.evaluate(self.values)
        end = max(self.values[ready], start)
        axis = node.kind.dimensions.index(window.pair)
        moved = np.moveaxis(room, axis, 0)
        before = self.values[origin]
        moved[: end - start] = moved[start - before : end - before].copy()
        self.values[ready], self.values[origin] = end, start
