"""The drawings of the page of library calls, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.caches import cache_sizes, holding_level, level_traffic
from fuseloom.calls.composition import Composition
from fuseloom.calls.emit_cpp import NAMESPACE, emit_cpp
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.measuring import PipelineMeasurement
from fuseloom.calls.parts import PartFields
from fuseloom.calls.pipeline_nodes import (
    AdvanceWindowNode,
    BeginWindowNode,
    ComputeNode,
    LoopNode,
    MoveWindowNode,
    PipelineNode,
)
from fuseloom.calls.pipeline_writer import CodeLine
from fuseloom.calls.polynomials import DataField, Symbol
from fuseloom.calls.recomputation import ScheduleCounts
from fuseloom.calls.resolution import whole_parts

MOST_TILES = 120
"""Tiles that are drawn."""
Values = dict[Symbol | DataField, int]


def graph_view(composition: Composition) -> dict[str, Any]:
    """Calls in order, and what passes between them."""
    return {
        "given": [_data(handle) for handle in composition.given],
        "calls": [
            {
                "name": call.function.name,
                "inputs": [handle.name for handle in call.inputs],
                "output": call.output.name,
                "kind": call.output.kind.name,
            }
            for call in composition.calls
        ],
        "connections": [
            {
                "data": x.data.name, "producer": x.producer, "consumers": list(x.consumers),
                "kind": x.kind.value,
            }
            for x in composition.connections
        ],
        "unused": list(composition.unused),
    }  # fmt: skip


def _data(handle: DataHandle) -> dict[str, Any]:
    return {"name": handle.name, "kind": handle.kind.name}


def annotations_view(fused: FusedFunction, edited: Mapping[int, str]) -> list[dict[str, Any]]:
    """The annotation of each call, and the parts that it stands for in a tile.

    Parameters
    ----------
    edited : mapping
        Texts that a visitor wrote, by numbers of calls.
    """
    stages = fused.scheduled.stages
    parts = {part.call.output: part for stage in stages for part in stage.resolution.parts}
    shown = []
    for number, call in enumerate(fused.composition.calls):
        part = parts[call.output]
        read = [
            {"data": call.arguments[name].name, "text": _fields(call.arguments[name], fields)}
            for name, fields in part.consumed
        ]
        shown.append({
            "number": number,
            "name": call.function.name,
            "text": edited.get(number, str(call.function.annotation)),
            "edited": number in edited,
            "produced": {"data": call.output.name, "text": _fields(call.output, part.produced)},
            "consumed": read,
        })  # fmt: skip
    return shown


def _fields(handle: DataHandle, fields: PartFields) -> str:
    return ", ".join(f"{name} {fields[name]}" for name in handle.kind.fields)


def code_view(fused: FusedFunction) -> dict[str, Any]:
    """The pipeline and what is generated of it, line by line with the numbers of nodes.

    Of C++ without what every such file begins with.
    """
    cpp = emit_cpp(fused.scheduled).lines
    first = next(n for n, line in enumerate(cpp) if line.text == NAMESPACE)
    return {
        "pipeline": [
            {"text": text, "node": number} for number, text in enumerate_lines(fused)
        ],
        "python": [_line(line) for line in fused.code.lines],
        "cpp": [_line(line) for line in cpp[first:]],
    }  # fmt: skip


def _line(line: CodeLine) -> dict[str, Any]:
    return {"text": line.text, "node": line.node}


def enumerate_lines(fused: FusedFunction) -> Iterator[tuple[int | None, str]]:
    """The lines of a schedule, each with the number of its node, if it has one.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> fused = FusedFunction(PIPELINES["blur"].make({"h": 4, "w": 4}).composition)
    >>> [number for number, _ in enumerate_lines(fused)][:3]
    [0, 1, 1]
    """
    numbers = {id(node): number for number, node in enumerate(fused.scheduled.nodes())}
    for room in fused.scheduled.rooms:
        yield numbers[id(room)], str(room)
    for stage in fused.scheduled.stages:
        yield from _node_lines(stage.body, 0, numbers)


def _node_lines(
    nodes: Sequence[PipelineNode], depth: int, numbers: Mapping[int, int]
) -> Iterator[tuple[int | None, str]]:
    pad = "  " * depth
    for node in nodes:
        number = numbers[id(node)]
        if not isinstance(node, LoopNode):
            yield number, f"{pad}{node}"
            continue
        loop, word = node.loop, "parallel for" if node.parallel else "for"
        yield number, f"{pad}{word} {loop.variable} in [{loop.start}, {loop.end}, {loop.step}] {{"
        if loop.length:
            yield number, f"{pad}  {loop.length} = {loop.clipped}"
        yield from _node_lines(node.body, depth + 1, numbers)
        yield None, f"{pad}}}"


def tiles_view(fused: FusedFunction, values: Values) -> dict[str, Any]:
    """The parts that calls compute and read, tile by tile, as boxes of rows and columns.

    Parameters
    ----------
    values : dict
        Of parameters, and of the fields of what is given.
    """
    composition = fused.composition
    whole = {
        handle: {name: value.evaluate(values) for name, value in part.items()}
        for handle, part in whole_parts(composition).items()
    }
    for handle in composition.given:
        whole[handle] = {
            name: values[DataField(handle.name, name)] for name in handle.kind.fields
            if DataField(handle.name, name) in values
        }  # fmt: skip
    drawn = list(whole)
    steps: list[dict[str, Any]] = []
    last = fused.scheduled.stages[-1]
    for stage in fused.scheduled.stages:
        made = _tiles(stage.body, dict(values))
        steps += islice(made, MOST_TILES - len(steps) if stage is last else MOST_TILES // 4)
    return {
        "data": [
            {
                "name": handle.name,
                "given": handle in composition.given,
                "result": handle == composition.result,
                "box": _box(handle, whole[handle]),
            }
            for handle in drawn
        ],
        "steps": steps,
    }


def _tiles(nodes: Sequence[PipelineNode], values: Values) -> Iterator[dict[str, Any]]:
    """What each call computes and reads, in order."""
    for node in nodes:
        match node:
            case LoopNode(loop, _, body):
                bounds = (x.evaluate(values) for x in (loop.start, loop.end, loop.step))
                for start in range(*bounds):
                    values[Symbol(loop.variable)] = start
                    if loop.length:
                        values[Symbol(loop.length)] = loop.clipped.evaluate(values)
                    yield from _tiles(body, values)
            case BeginWindowNode(window, start):
                values[Symbol(window.ready)] = start.evaluate(values)
            case MoveWindowNode(_, _, window):
                ready = Symbol(window.ready)
                values[ready] = max(values[ready], window.start.evaluate(values))
            case AdvanceWindowNode(window):
                values[Symbol(window.ready)] = window.end.evaluate(values)
            case ComputeNode(call, _, produced):
                yield {
                    "call": call.function.name,
                    "output": call.output.name,
                    "box": _box(call.output, {k: v.evaluate(values) for k, v in produced.items()}),
                    "reads": [handle.name for handle in call.inputs],
                }


def _box(handle: DataHandle, fields: Mapping[str, int]) -> list[int]:
    """Row, column, rows and columns of a part: its two largest dimensions."""
    pairs = [
        (fields[x.start], fields[x.length]) for x in handle.kind.dimensions if x.length in fields
    ]
    if len(pairs) == 4:
        pairs = pairs[1:3]
    if len(pairs) < 2:
        pairs = [*pairs, (0, 1)]
    (row, rows), (column, columns) = pairs[:2]
    return [row, column, rows, columns]


def counts_view(counts: ScheduleCounts) -> dict[str, Any]:
    """Elements that are computed more than once, and room against the machine's caches."""
    return {
        "recomputation": [
            {"name": name, "factor": factor, "computed": counts.computed[name]}
            for name, factor in counts.recomputation.items()
        ],
        "calls": counts.calls,
        "room": counts.room,
        "whole": sum(counts.whole.values()) - list(counts.whole.values())[-1],
        "caches": list(cache_sizes()),
        "working_set": counts.working_set,
        "traffic": [asdict(one) for one in level_traffic(counts)],
    }


def times_view(made: Sequence[PipelineMeasurement]) -> dict[str, Any]:
    """Measured schedules, the fastest first, and the verdict."""
    best = made[0]
    return {
        "rows": [
            {
                "tile": one.schedule.tile,
                "breaks": list(one.schedule.breaks),
                "fused": one.timings.fused,
                "calls": one.counts.calls,
                "room": one.counts.room,
                "error": one.max_abs_error,
            }
            for one in made
        ],
        "fresh": best.timings.unfused_fresh,
        "kept": best.timings.unfused_preallocated,
        "verdict": best.verdict,
        "reason": best.reason,
        "gain": best.timings.gain,
    }


def sweep_view(made: Sequence[PipelineMeasurement]) -> dict[str, Any]:
    """Times by sizes of tiles, the smallest first, and what holds all that a tile works on."""
    return {
        "rows": [
            {
                "tile": one.schedule.tile,
                "fused": one.timings.fused,
                "working_set": one.counts.working_set,
                "level": holding_level(one.counts),
            }
            for one in sorted(made, key=lambda one: one.schedule.tile)
        ],
        "fresh": made[0].timings.unfused_fresh,
        "kept": made[0].timings.unfused_preallocated,
    }
