"""Graphs written by hand: a line per primitive, streams by names of one's own.

::

    start = root()
    i, place = scan(start) tensor=a level=0
    number = array(place) tensor=a
    crdwrite(i) tensor=y level=0
    valwrite(number) tensor=y

Copies of a stream that several primitives read are made, and kinds and depths follow from the
catalogue.  The order of lines is free, but a stream is named before it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.graph import Graph, Scalar, StreamKind
from fuseloom.dataflow.samml.graph_draft import GraphDraft
from fuseloom.dataflow.samml.primitive import Family, Port, Primitive
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import GraphError, ParseError
from fuseloom.wording import counted

MOST_LINES = 200
"""Lines of a graph that is written by hand."""
DEFAULTS: Mapping[str, Scalar] = {"gate": 0, "scalar": 0.0}
"""Parameters that may be left out."""
_LINE = re.compile(
    r"(?:(?P<outs>[\w', ]+?) *= *)?(?P<op>[a-z]\w*) *\((?P<ins>[\w', ]*)\)"
    r"(?P<params>(?: +\w+=\S+)*)$"
)


def wired(text: str, name: str = "by hand") -> Graph:
    """Read a graph.

    Parameters
    ----------
    text : str
        A line per primitive: names of its outputs, ``=``, its name, its inputs in parentheses,
        and its parameters, each as ``key=value``; ``_`` is an output that nobody reads.

    Raises
    ------
    ParseError, GraphError
        With the line, or the node, that makes no sense.

    Examples
    --------
    >>> graph = wired('''
    ...     start = root()
    ...     i, place = scan(start) tensor=a level=0
    ...     number = array(place) tensor=a
    ...     crdwrite(i) tensor=y level=0
    ...     valwrite(number) tensor=y
    ... ''')
    >>> [node.op for node in graph.nodes]
    ['root', 'scan', 'array', 'crdwrite', 'valwrite']
    """
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    if len(lines) > MOST_LINES:
        raise ParseError(
            f"a graph of {counted(len(lines), 'line')}", hint=f"at most {MOST_LINES} lines"
        )
    making = _Wiring()
    for number, line in enumerate(lines, start=1):
        if line:
            making.read(line, number)
    graph = making.draft.finish(name)
    if not graph.nodes:
        raise ParseError(
            "nothing is written, so that nothing has to be computed",
            hint="a graph ends in crdwrite, for each level, and valwrite",
        )
    graph = replace(graph, streams=tuple(replace(s, indices=()) for s in graph.streams))
    try:
        verify(graph)
    except GraphError as reason:
        said = re.sub(r"%(\d+)", lambda found: _called(graph, int(found[1])), reason.message)
        raise GraphError(said, hint=reason.hint) from None
    return graph


def _called(graph: Graph, stream: int) -> str:
    """Return the name that the text gave a stream."""
    return graph.streams[stream].label if stream < len(graph.streams) else f"%{stream}"


class _Wiring:
    """A graph of which some lines have been read."""

    def __init__(self) -> None:
        self.draft = GraphDraft()
        self.streams: dict[str, int] = {}

    def read(self, line: str, number: int) -> None:
        match = _LINE.match(line)
        if match is None:
            raise ParseError(
                f"not a primitive: {line[:60]!r}",
                hint="write outputs = primitive(inputs) key=value",
                line=number,
            )
        op = match["op"]
        if op not in CATALOGUE:
            raise ParseError(
                f"no primitive is called {op!r}", hint="such as scan, union, array", line=number
            )
        entry = CATALOGUE[op]
        inputs = tuple(self._stream(name, number) for name in _names(match["ins"]))
        params = dict(_param(text, number) for text in match["params"].split())
        if missing := [key for key in entry.params if key not in {**DEFAULTS, **params}]:
            raise ParseError(f"{op} needs {missing[0]}=...", hint=entry.doc, line=number)
        params = {key: DEFAULTS[key] for key in entry.params if key in DEFAULTS} | params
        self._add(entry, inputs, _names(match["outs"] or ""), params, number)

    def _add(
        self,
        entry: Primitive,
        inputs: tuple[int, ...],
        outputs: list[str],
        params: dict[str, Scalar],
        line: int,
    ) -> None:
        try:
            before = entry.input_ports(len(inputs))
        except GraphError:
            raise ParseError(
                f"{entry.name} cannot have {counted(len(inputs), 'input')}",
                hint=entry.doc,
                line=line,
            ) from None
        joins = entry.family is Family.JOIN
        wanted = len(entry.outputs) + (len(inputs) // 2 if joins else 0)
        if len(outputs) != wanted and (joins or not entry.repeated_outputs):
            raise ParseError(
                f"{entry.name} has {counted(wanted, 'output')} here, and not {len(outputs)}",
                hint="name each of them, or write _ for one that nobody reads",
                line=line,
            )
        after = entry.output_ports(len(outputs))
        if again := [o for o in outputs if o != "_" and o in self.streams]:
            raise ParseError(f"the stream {again[0]!r} has two producers", line=line)
        base = 0
        if inputs:
            base = self.draft.streams[inputs[0]].depth - before[0].depth_of(params)
        made = tuple(
            (
                self._kind(entry, before, inputs, port, place),
                ("",) * max(base + port.depth_of(params), 0),
                out,
            )
            for place, (port, out) in enumerate(zip(after, outputs, strict=True))
        )
        label = f"{entry.name} {outputs[0]}" if outputs else f"{entry.name} {params.get('tensor')}"
        ids = self.draft.add(entry.name, inputs, made, params, label)
        self.streams |= {out: k for out, k in zip(outputs, ids, strict=True) if out != "_"}

    def _kind(
        self,
        entry: Primitive,
        before: tuple[Port, ...],
        inputs: tuple[int, ...],
        port: Port,
        place: int,
    ) -> StreamKind:
        """Return the kind of an output: its port's, or that of the input which it carries on."""
        if len(port.kinds) == 1:
            return port.kinds[0]
        if entry.family is Family.JOIN:  # pairs of coordinates and payload; coordinates come first
            given = inputs[2 * place - 1 : 2 * place]
        else:
            given = tuple(k for k, p in zip(inputs, before, strict=True) if len(p.kinds) > 1)
        return self.draft.kind(given[0]) if given else port.kinds[0]

    def _stream(self, name: str, line: int) -> int:
        if name not in self.streams:
            raise ParseError(
                f"no line above makes the stream {name!r}",
                hint="made so far: " + (", ".join(self.streams) or "none"),
                line=line,
            )
        return self.streams[name]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _param(text: str, line: int) -> tuple[str, Scalar]:
    key, _, value = text.partition("=")
    if value.lstrip("-").isdecimal():
        if len(value) > 12:
            raise ParseError(f"{key} is too large", line=line)
        return key, int(value)
    try:
        return key, float(value)
    except ValueError:
        return key, value


def uses(graph: Graph) -> Mapping[str, int]:
    """Count the nodes of each primitive; copies do not count."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        if node.op != "broadcast":
            found[node.op] = found.get(node.op, 0) + 1
    return found
