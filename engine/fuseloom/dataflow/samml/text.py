"""Reading a graph's text back.

The text holds all that a run needs: nodes, ports, parameters, kinds, depths and capacities.
What it leaves out are the names of streams and the cells that nodes came from; JSON keeps them.
"""

from __future__ import annotations

import re

from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.errors import GraphError, ParseError

_HEAD = re.compile(r"graph (.*)$")
_NODE = re.compile(
    r"\s+(?:(?P<outs>[^=(]+) = )?(?P<op>\w+)\((?P<ins>[^)]*)\)"
    r"(?: \{(?P<params>.*?)\})?(?:  # (?P<label>.*))?$"
)
_OUT = re.compile(r"%(\d+):([a-z]+)(\d+)(?:/(\d+))?$")
_IN = re.compile(r"%(\d+)$")


def parse_graph(text: str) -> Graph:
    """Read what ``str(graph)`` printed; ``parse_graph(str(g)) == g.bare()``.

    Raises
    ------
    ParseError
        With the line that cannot be read.
    """
    lines = text.rstrip("\n").split("\n")
    head = _HEAD.match(lines[0])
    if head is None:
        raise ParseError("a graph's text begins with 'graph NAME'", line=1)
    streams: dict[int, Stream] = {}
    nodes: list[Node] = []
    for number, line in enumerate(lines[1:], start=2):
        match = _NODE.match(line)
        if match is None:
            raise ParseError(f"not a node: {line.strip()[:60]!r}", line=number)
        outputs: list[int | None] = []
        for word in filter(None, (match["outs"] or "").split(", ")):
            if word == "_":
                outputs.append(None)
                continue
            stream = _stream(word, number)
            if stream.id in streams:
                raise ParseError(f"stream %{stream.id} has two producers", line=number)
            streams[stream.id] = stream
            outputs.append(stream.id)
        inputs = tuple(_input(word, number) for word in filter(None, match["ins"].split(", ")))
        params = dict(_param(p, number) for p in filter(None, (match["params"] or "").split(", ")))
        nodes.append(
            Node(len(nodes), match["op"], inputs, tuple(outputs), params, match["label"] or "")
        )
    if sorted(streams) != list(range(len(streams))):
        raise GraphError("the streams of a graph are numbered from %0 without gaps")
    return Graph(head[1], tuple(nodes), tuple(streams[k] for k in range(len(streams))))


def _stream(word: str, line: int) -> Stream:
    match = _OUT.match(word)
    kinds = {kind.value: kind for kind in StreamKind}
    if match is None or match[2] not in kinds:
        raise ParseError(f"not a stream: {word!r}", hint="write %3:crd1", line=line)
    capacity = int(match[4]) if match[4] else None
    return Stream(int(match[1]), kinds[match[2]], int(match[3]), "", capacity)


def _input(word: str, line: int) -> int:
    match = _IN.match(word)
    if match is None:
        raise ParseError(f"not an input: {word!r}", hint="write %3", line=line)
    return int(match[1])


def _param(text: str, line: int) -> tuple[str, Scalar]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ParseError(f"not a parameter: {text!r}", hint="write name=value", line=line)
    if value in ("True", "False"):
        return name, value == "True"
    for convert in (int, float):
        try:
            return name, convert(value)
        except ValueError:
            continue
    return name, value
