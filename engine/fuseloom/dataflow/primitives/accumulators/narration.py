"""Words for sparse accumulators."""

from __future__ import annotations

from typing import Any

from fuseloom.dataflow.primitives.reducers.narration import folded
from fuseloom.dataflow.samml.graph import Stream
from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator, number
from fuseloom.dataflow.sim.tokens import EMPTY, Stop, is_number
from fuseloom.dataflow.table.cells import MAX_ACCUMULATOR_ORDER


def _place(streams: tuple[Stream, ...], key: tuple[Any, ...]) -> str:
    """Return the coordinates of a sum: ``for k = 5``, ``for (k, j) = (5, 1)``."""
    names = [stream.indices[-1] if stream.indices else "" for stream in streams]
    shown = ", ".join(map(str, key))
    if len(key) == 1:
        return f" for {names[0]} = {shown}" if names[0] else f" for coordinate {shown}"
    if all(names):
        return f" for ({', '.join(names)}) = ({shown})"
    return f" for coordinates ({shown})"


def _flushed(scene: Scene) -> str:
    """The row that was put."""
    held = scene.state.setdefault("held", {})
    values = [token for token in scene.put[-1] if is_number(token)]
    streams = scene.ins[1:-1]
    entries = [_place(streams, key)[5:] for key in sorted(held)]
    stops = [token for token in scene.put[-1] if isinstance(token, Stop)]
    held.clear()
    if not values:
        return f"put {listed([str(s) for s in stops])}: nothing was added up"
    shown = listed(
        [f"{number(v)} for {e}" for v, e in zip(values, entries, strict=False)]
        if len(values) == len(entries)
        else [number(v) for v in values]
    )
    return f"all has been added up: put {shown}, and {stops[-1] if stops else 'goes on'}"


@narrator("spacc1", "spacc2", *(f"spacc{k}" for k in range(3, MAX_ACCUMULATOR_ORDER + 1)))
def accumulate(scene: Scene) -> str:
    """Sums held by coordinates, and put in their order."""
    said: list[str] = []
    streams = scene.ins[1:-1]
    put_first = scene.node.op == "spacc1"  # it puts before it takes what follows
    if put_first and any(scene.put) and not _ended(scene):
        said.append(_flushed(scene))
    current = scene.state.setdefault("current", [None] * len(scene.ins))
    for port in range(len(scene.ins) - 1):
        for token in scene.taken[port]:
            if is_number(token):
                current[port] = token
    for value in scene.taken[-1]:
        key = tuple(current[1:-1])
        if is_number(value) and None not in key:
            said.append(folded(scene, key, value, _place(streams, key)))
        elif value is EMPTY:
            said.append("skipped N, which adds nothing")
        elif isinstance(value, Stop):
            outer = [scene.read(0, token) for token in scene.taken[0] if is_number(token)]
            done = f": {outer[0]} is done" if outer else ""
            said.append(f"took {value}{done}")
    if not put_first and any(scene.put) and not _ended(scene):
        said.append(_flushed(scene))
    return " and ".join(said)


def _ended(scene: Scene) -> bool:
    return not any(is_number(t) or isinstance(t, Stop) for tokens in scene.put for t in tokens)
