"""The streams of a recorded run by name, to be drawn as rows of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.traits import Role
from fuseloom.dataflow.sim.steps.recording import Recording
from fuseloom.dataflow.sim.steps.regions import record_region
from fuseloom.dataflow.sim.tokens import Token
from fuseloom.program.primes import unused


def tokens_of(
    compilation: Compilation,
    data: Mapping[str, Any],
    region: int = 0,
    machine: Machine | None = None,
) -> dict[str, tuple[Token, ...]]:
    """Every token of every stream of a region's run, by the kind of stream and who puts it.

    Streams that a copy node hands on are left out: they carry what went in.

    Parameters
    ----------
    data : mapping
        Every input by name.
    region : int
        Its position in ``compilation.regions``.

    Raises
    ------
    DataError, SimulationError
        If the data do not fit, there is no such region, or the run fails.

    Examples
    --------
    >>> import fuseloom as fl
    >>> compiled = fl.compile(fl.parse("a: 3 compressed\\ny[i] = relu(a[i])"))
    >>> rows = tokens_of(compiled, {"a": [0.0, 2.0, -1.0]})
    >>> list(rows)
    ['ref root', 'crd LS a.i', 'ref LS a.i', 'val Val a', 'val relu y']
    >>> print(*rows["crd LS a.i"])
    1 2 S0 D
    """
    return rows_of(record_region(compilation, region, data, machine))


def rows_of(recording: Recording) -> dict[str, tuple[Token, ...]]:
    """The same of a recording."""
    graph = recording.graph
    found: dict[str, tuple[Token, ...]] = {}
    for node in graph.nodes:
        entry = primitive(node.op)
        if entry.role is Role.COPY:
            continue
        for stream in node.outputs:
            if stream is None:
                continue
            name = f"{graph.streams[stream].kind.value} {node.label or entry.short}"
            found[unused(name, found)] = recording.streams[stream].tokens
    return found
