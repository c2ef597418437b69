"""Conformance: reference vectors replayed token by token and clock by clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.vectors import (
    Vector,
    bind_vector,
    load_vectors,
    malformed,
    stream_kind,
    unsupported,
)
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.tokens import Token, format_token, is_number, parse_token
from fuseloom.errors import FuseloomError, SimulationError
from fuseloom.results.declarations import Count
from fuseloom.wording import counted

TOLERANCE = 1e-5
"""Relative, for values: exp and square roots differ between libraries in the last bits
(``docs/spec/comal.md`` §1)."""

UNTIMED = frozenset({"consume", "broadcast", "fork"})
"""Ops that wait for a channel's closure in the reference and may end late.

Rules: docs/spec/comal.md §1.
"""


def check(vector: Vector, engine: str = "auto") -> list[str]:
    """Replay one vector on the reference machine; return what differs, nothing if it passes.

    Parameters
    ----------
    engine : str
        See :func:`fuseloom.dataflow.sim.engines.run_graph`.

    Raises
    ------
    FuseloomError
        If it is malformed.
    """
    if missing := unsupported(vector):
        return [f"not implemented: {', '.join(sorted(missing))}"]
    bound, streams = bind_vector(vector)
    logged = vector.get("dequeued") is not None
    try:
        machine = Machine.comal(memory=bool(vector.get("hbm")))
        result = run_graph(bound, machine, engine, log=logged)
    except FuseloomError as problem:
        return [str(problem)]
    with malformed():
        return [
            *_clocks(vector, bound, result),
            *_tokens(vector, streams, result),
            *_outputs(vector, bound, result),
            *_elapsed(vector, bound, result),
        ]


def _clocks(vector: Vector, bound: BoundGraph, result: EngineResult) -> Iterable[str]:
    for fields, node in zip(vector["nodes"], bound.graph.nodes, strict=True):
        expected = vector["clocks"].get(node.label)
        clock = int(result.clocks[node.id])
        if expected is not None and clock != expected and fields["op"] not in UNTIMED:
            yield f"{node.label} ends at cycle {clock}, reference {expected}"


def _tokens(vector: Vector, streams: dict[str, int], result: EngineResult) -> Iterable[str]:
    for name, expected in (vector.get("dequeued") or {}).items():
        got = result.log[streams[name]] if result.log is not None else []
        kind = stream_kind(name)
        wanted = [(parse_token(token, kind), time) for token, time in expected]
        if len(got) != len(wanted):
            yield f"stream {name}: {counted(len(got), 'token')} taken, reference {len(wanted)}"
        for k, (mine, theirs) in enumerate(zip(got, wanted, strict=False)):
            if mine[1] != theirs[1] or not _same(mine[0], theirs[0]):
                yield f"stream {name}, token {k}: {_stamped(mine)}, reference {_stamped(theirs)}"
                break


def _outputs(vector: Vector, bound: BoundGraph, result: EngineResult) -> Iterable[str]:
    ids = {node.label: node.id for node in bound.graph.nodes}
    for key, expected in vector["outputs"].items():
        writer, _, name = key.rpartition(".")
        got = result.outputs[ids[writer]][name].tolist()
        if len(got) != len(expected) or not all(map(_close, got, expected)):
            yield f"{key} is {_short(got)}, reference {_short(expected)}"


def _elapsed(vector: Vector, bound: BoundGraph, result: EngineResult) -> Iterable[str]:
    expected = vector.get("elapsed", vector.get("elapsed_excl_sinks"))
    if expected is not None and result.cycles != expected:
        yield f"{bound.graph.name} takes {counted(result.cycles, 'cycle')}, reference {expected}"


def _same(mine: Token, theirs: Token) -> bool:
    if is_number(mine) and is_number(theirs):
        return _close(mine, theirs)
    return mine == theirs


def _close(mine: Any, theirs: Any) -> bool:
    a, b = float(mine), float(theirs)
    return a == b or math.isclose(a, b, rel_tol=TOLERANCE) or (math.isnan(a) and math.isnan(b))


def _stamped(entry: tuple[Token, int]) -> str:
    return f"{format_token(entry[0])}@{entry[1]}"


def _short(items: Sequence[Any]) -> str:
    shown = " ".join(f"{x:g}" for x in items[:12])
    return f"[{shown}{' ...' if len(items) > 12 else ''}] ({len(items)})"


class ReplayedData(TypedDict):
    """A :class:`Replayed` as plain data."""

    number: Count
    kind: str
    capacity: Count | None
    differences: Annotated[Sequence[str], Meta(min_length=1)]


@dataclass(frozen=True)
class Replayed:
    """The result of replaying one vector.

    Attributes
    ----------
    number : int
        Its place in the file, from 0.
    kind : str
        What it is a vector of.
    capacity : int or None
        Tokens its channels hold; None is unbounded.
    differences : tuple of str
        What differs from the reference; nothing if it passes.
    lacking : frozenset of str
        What it needs that is not implemented.
    """

    number: int
    kind: str
    capacity: int | None
    differences: tuple[str, ...]
    lacking: frozenset[str]

    @property
    def ok(self) -> bool:
        return not self.differences

    def to_dict(self) -> ReplayedData:
        """Plain data."""
        return {
            "number": self.number,
            "kind": self.kind,
            "capacity": self.capacity,
            "differences": list(self.differences),
        }

    def __str__(self) -> str:
        capacity = "unbounded" if self.capacity is None else f"capacity {self.capacity}"
        return f"{self.number} {self.kind} ({capacity}): {'; '.join(self.differences)}"


def replay(path: str | Path, engine: str = "auto") -> Iterator[Replayed]:
    """Replay the vectors of a file, one after another.

    Raises
    ------
    FuseloomError
        If the file holds no vectors, or one that is malformed.
    """
    for number, vector in enumerate(load_vectors(path)):
        try:
            differences = tuple(check(vector, engine))
            lacking = frozenset(unsupported(vector))
        except FuseloomError as problem:
            raise SimulationError(
                f"{path}, vector {number}: {problem.message}", hint=problem.hint
            ) from None
        yield Replayed(number, str(vector["kind"]), vector["cap"], differences, lacking)
