"""The document of ``fuseloom calls --json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from fuseloom.results.declarations import Amount, Count, Positive


class CallTimes(TypedDict):
    """Medians of several rounds in turns."""

    fused: Annotated[Amount, "Seconds of fused calls."]
    unfused_fresh: Annotated[Amount, "Seconds of whole calls that allocate their intermediates."]
    unfused_preallocated: Annotated[Amount, "Seconds of whole calls into room that is there."]


class TriedTile(TypedDict):
    """A schedule that was measured."""

    tile: Annotated[Positive, "Rows, or elements, of a tile."]
    breaks: Annotated[Sequence[Positive], "Calls before which is not fused."]
    fused: Annotated[Amount, "Seconds of fused calls."]
    room: Annotated[Count, "Bytes of the intermediates of a tile."]
    calls: Annotated[Positive, "Calls of functions."]
    overhead: Annotated[Amount, "Seconds of the same calls of functions that do nothing."]


class TrafficOfLevel(TypedDict):
    """Bytes through a level of memory."""

    level: Annotated[str, "L1, L2 and so on, or memory."]
    size: Annotated[Positive | None, "Its bytes; null of the memory."]
    bytes: Annotated[Count, "Bytes that calls read and write there."]


class CallsDocument(TypedDict):
    """The document of ``fuseloom calls --json``."""

    name: Annotated[str, "The composition."]
    extents: Annotated[Mapping[str, Positive], "Its extents."]
    tile: Annotated[Positive, "Rows, or elements, of a tile of the fastest fused calls."]
    breaks: Annotated[Sequence[Positive], "Calls before which these are not fused."]
    threads: Annotated[Positive, "Threads among which tiles are dealt."]
    language: Annotated[Literal["python", "c++"], "Of the generated code."]
    pipeline: Annotated[str, "Loops, queries, allocations and calls, as text."]
    source: Annotated[str, "The generated code."]
    recompute: Annotated[
        Mapping[str, Amount], "Per intermediate, elements computed per element that is needed."
    ]
    room: Annotated[Count, "Bytes of the intermediates of a tile."]
    working_set: Annotated[Count, "Bytes of these and of a tile's parts of other arrays."]
    traffic: Annotated[
        Sequence[TrafficOfLevel],
        "Bytes through each level: of intermediates of tiles through the smallest cache that holds "
        "the working set, of the others through memory.",
    ]
    max_abs_error: Annotated[Amount, "Of the fused result, against one computed by other means."]
    measured: Annotated[CallTimes, "Times."]
    tried: Annotated[
        Sequence[TriedTile], "The schedules that were measured in turns, the fastest first."
    ]
    verdict: Annotated[Literal["fuse", "do not fuse"], "Which is faster here."]
    reason: Annotated[str, "The verdict in words."]
