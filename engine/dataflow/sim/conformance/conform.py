"""Conformance: reference vectors replayed token by token and clock by clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from engine.dataflow.sim.bound import BoundGraph
from engine.dataflow.sim.conformance.vectors import (
    Vector,
    bind_vector,
    load_vectors,
    stream_kind,
    unsupported,
)
from engine.dataflow.sim.engines import run_graph
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.result import EngineResult
from engine.dataflow.sim.tokens import Token, format_token, is_number, parse_token
from engine.errors import FuseloomError

TOLERANCE = 1e-5
"""Relative, for values: exp and square roots differ between libraries in the last bits
(``samml.md`` §3)."""

UNTIMED = frozenset({"consume", "broadcast", "fork"})
"""Ops that wait for a channel's closure in the reference and may end late (§3, §10)."""


def check(vector: Vector, engine: str = "auto") -> list[str]:
    """Replay one vector on the reference machine; return what differs, nothing if it passes.

    Parameters
    ----------
    engine : str
        See :func:`engine.dataflow.sim.engines.run_graph`.
    """
    if missing := unsupported(vector):
        return [f"not implemented: {', '.join(sorted(missing))}"]
    bound, streams = bind_vector(vector)
    logged = vector["dequeued"] is not None
    try:
        machine = Machine.comal(memory=bool(vector.get("hbm")))
        result = run_graph(bound, machine, engine, log=logged)
    except FuseloomError as problem:
        return [str(problem)]
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
    for name, expected in (vector["dequeued"] or {}).items():
        got = result.log[streams[name]] if result.log is not None else []
        kind = stream_kind(name)
        wanted = [(parse_token(token, kind), time) for token, time in expected]
        if len(got) != len(wanted):
            yield f"stream {name}: {len(got)} tokens taken, reference {len(wanted)}"
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
        yield f"{bound.graph.name} takes {result.cycles} cycles, reference {expected}"


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


def conform(path: str | Path, engine: str = "auto") -> int:
    """Replay every vector of a file, print what differs; return the exit code (1: failures)."""
    vectors = load_vectors(path)
    failed = 0
    lacking: Counter[str] = Counter()
    for number, vector in enumerate(vectors):
        differences = check(vector, engine)
        failed += bool(differences)
        lacking.update(unsupported(vector))
        if differences:
            capacity = "unbounded" if vector["cap"] is None else f"capacity {vector['cap']}"
            print(f"FAILED {number} {vector['kind']} ({capacity}): {'; '.join(differences)}")
    for name, count in sorted(lacking.items()):
        print(f"not implemented: {name} (in {count} vectors)")
    print(f"{len(vectors) - failed} passed, {failed} failed")
    return int(failed > 0)
