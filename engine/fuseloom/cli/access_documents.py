"""The document of ``fuseloom access --json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from fuseloom.results.declarations import Amount, Count, Positive


class ArrayCall(TypedDict):
    """A call of a systolic array."""

    rows: Annotated[Positive, "Rows that it uses."]
    columns: Annotated[Positive, "Columns that it uses."]
    batch: Annotated[Positive, "Vectors that are streamed."]
    cycles: Annotated[Positive, "Clock cycles: rows + batch + rows + columns - 2."]


class TrafficData(TypedDict):
    """What calls move between a memory and an array."""

    read: Annotated[Count, "Bytes from the memory."]
    written: Annotated[Count, "Bytes to the memory."]
    cycles: Annotated[Count, "Clock cycles of the calls with all transfers."]


class ArraySize(TypedDict):
    """The size of a systolic array."""

    rows: Annotated[Positive, "The longest vectors that it multiplies."]
    columns: Annotated[Positive, "The most vectors of weights that it holds."]


class ArrayDesignData(TypedDict):
    """All layers on one of the arrays that were asked for, with one of the memories."""

    array: Annotated[ArraySize, "The array."]
    buffer: Annotated[Positive, "Bytes of its buffer."]
    bandwidth: Annotated[Amount, "Bytes per cycle between memory and buffer."]
    area: Annotated[Amount, "Of array and buffer, in areas of a multiplier."]
    cycles: Annotated[Count, "Clock cycles of all calls, one after another."]
    utilisation: Annotated[Amount, "Share of the multipliers that multiply, over all cycles."]
    traffic: Annotated[TrafficData, "What the calls move."]


class UnmappedProducts(TypedDict):
    """Dot products that no array computes."""

    shape: Annotated[str, "Access and compute dimensions of their result."]
    reasons: Annotated[Sequence[str], "What stands in the way."]


class MappedLayerData(TypedDict):
    """A layer for an array."""

    name: Annotated[str, "The kernel, the file of the term, or the number and function of a call."]
    stopped: Annotated[
        Literal["saturated", "iterations", "nodes", "seconds"],
        "Why the saturation ended; unless saturated, other terms may be equal, too.",
    ]
    nodes: Annotated[Count, "Nodes of the e-graph."]
    calls: Annotated[Count, "Calls of the array."]
    cycles: Annotated[Count, "Clock cycles of its calls."]
    utilisation: Annotated[Amount, "Share of the multipliers that multiply, over its cycles."]
    duplication: Annotated[
        Amount, "Elements that calls stream and hold, per element of the given tensors."
    ]
    optimal: Annotated[bool, "Whether the term is proved to cost least."]
    max_rel_error: Annotated[
        Amount | None, "Largest error against the result, over its largest value."
    ]
    unmapped: Annotated[Sequence[UnmappedProducts], "What is left for other hardware."]


class OtherCallData(TypedDict):
    """A call of a module that is no layer."""

    name: Annotated[str, "The function."]
    reason: Annotated[str, "Why it is not mapped."]


class AccessDocument(TypedDict):
    """The document of ``fuseloom access --json``."""

    array: Annotated[ArraySize, "The array of the best design."]
    buffer: Annotated[Positive, "Bytes of the buffer of the best design."]
    bandwidth: Annotated[Amount, "Bytes per cycle between memory and buffer in the best design."]
    before: Annotated[str | None, "The term that was given; null of several layers."]
    after: Annotated[str | None, "The term that was extracted; null of several layers."]
    rules: Annotated[
        Sequence[str], "Rules that lead from one to the other, in order of their first application."
    ]
    nodes: Annotated[Count, "Nodes of the e-graphs; layers with equal terms have one."]
    iterations: Annotated[Count, "The most iterations of a saturation."]
    seconds: Annotated[Amount, "Wall time of saturation and extraction, s."]
    calls: Annotated[Sequence[ArrayCall], "Calls of the array, in order of execution."]
    cycles: Annotated[Count, "Clock cycles of all calls, one after another."]
    utilisation: Annotated[Amount, "Share of the multipliers that multiply, over all cycles."]
    traffic: Annotated[TrafficData, "What the calls move between memory and array."]
    max_rel_error: Annotated[Amount | None, "The largest of the layers' errors."]
    designs: Annotated[
        Sequence[ArrayDesignData], "Every array with every memory that was asked for."
    ]
    layers: Annotated[Sequence[MappedLayerData], "The layers, in order of execution."]
    others: Annotated[Sequence[OtherCallData], "What is computed beside the array."]
