"""A SAM/Custard graph file before it becomes a graph: typed nodes, ports, tensor formats.

Rules: ``docs/spec/sam.md`` §1, §2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fuseloom.dataflow.samml.exchange.dotfile import DotGraph, parse_dot
from fuseloom.dataflow.samml.exchange.wiring import MAX_NODES
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.errors import GraphError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.limits import MAX_RANK
from fuseloom.program.types import Tensor

EDGE_KINDS = {
    "crd": StreamKind.CRD,
    "ref": StreamKind.REF,
    "val": StreamKind.VAL,
    "repsig": StreamKind.SIG,
}
LETTERS = {
    "d": LevelFormat.DENSE,
    "s": LevelFormat.COMPRESSED,
    "z": LevelFormat.COMPRESSED,  # compressed without stored zeros
}
_REFUSED_LETTERS = {
    "u": "compressed with repeated coordinates",
    "c": "singleton with repeated coordinates",
    "q": "singleton",
}
FORMAT_WORDS = {level.value: level for level in (LevelFormat.DENSE, LevelFormat.COMPRESSED)}
_PREFIX = re.compile(r"(?:in|inner|outer|out)[-_](?=.)")
_READERS = ("fiberlookup", "arrayvals")
_COSMETIC = frozenset({"comment", "label", "color", "shape", "style"})


@dataclass(frozen=True)
class SamTensor:
    """Name, level formats and mode order, as the graph's comment gives them."""

    name: str
    format: Format
    zeroless: bool = False

    @property
    def rank(self) -> int:
        return len(self.format.levels)

    def shaped(self, shape: tuple[int, ...]) -> Tensor:
        return Tensor(self.name, shape, self.format)


@dataclass(frozen=True)
class SamEdge:
    """One edge; ``number`` is its place in the file.

    ``misnamed`` is its type in the file where that is no stream, and its label begins with one.
    """

    number: int
    tail: str
    head: str
    kind: StreamKind
    comment: str
    misnamed: str = ""

    @property
    def index(self) -> str:
        """The index variable or tensor that the port name ends in."""
        return _PREFIX.sub("", self.comment, count=1)


@dataclass
class SamNode:
    """One node with its edges in the order of the file."""

    name: str
    type: str
    attributes: Mapping[str, str]
    inputs: list[SamEdge] = field(default_factory=list)
    outputs: list[SamEdge] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.type} {self.name}"

    def get(self, key: str) -> str:
        """An attribute that must be there.

        Raises
        ------
        GraphError
            Naming the node, if it is not.
        """
        if key not in self.attributes:
            raise GraphError(
                f"{self.title} has no attribute {key!r}",
                hint=f'write {key}="..." in the list of that node',
            )
        return self.attributes[key]

    def flag(self, key: str) -> bool:
        return self.attributes.get(key, "false").lower() in ("true", "1")

    def number(self, key: str) -> int:
        text = self.get(key)
        if not re.fullmatch(r"\d{1,6}", text):
            raise GraphError(
                f"{self.title}: {key} is {text!r}, not a number", hint="write it in digits"
            )
        return int(text)

    def of_kind(self, *kinds: StreamKind) -> list[SamEdge]:
        return [edge for edge in self.inputs if edge.kind in kinds]


@dataclass(frozen=True)
class SamFile:
    """A file's nodes in an order in which producers come first, and its tensors.

    Attributes
    ----------
    results : tuple of SamTensor
        What is written, the first of the graph's comment first.
    operands : mapping
        What is read.
    listed : tuple of str
        The tensors of the graph's comment, in its order.
    """

    name: str
    results: tuple[SamTensor, ...]
    operands: Mapping[str, SamTensor]
    nodes: Mapping[str, SamNode]
    order: tuple[str, ...]
    listed: tuple[str, ...]


def read_sam(text: str, source: str | None = None) -> SamFile:
    """Read a graph in the DOT dialect of the Custard compiler.

    Raises
    ------
    ParseError
        If the text is not DOT.
    GraphError
        If it is not a graph of the dialect, naming node or edge, rule and way out.
    """
    return sam_file(parse_dot(text, source))


def sam_file(dot: DotGraph) -> SamFile:
    """The typed form of a parsed file (see :func:`read_sam`)."""
    if len(dot.nodes) > MAX_NODES:
        raise GraphError(
            f"the graph has more than {MAX_NODES:,} nodes",
            hint="split it into graphs that hand their results on",
        )
    nodes = {name: _node(name, given) for name, given in dot.nodes.items()}
    for number, edge in enumerate(dot.edges):
        made = _edge(number, edge.tail, edge.head, edge.attributes)
        nodes[edge.tail].outputs.append(made)
        nodes[edge.head].inputs.append(made)
    order = _order(nodes)
    listed = _tensors(dot.attributes.get("comment", ""))
    names = tuple(tensor.name for tensor in listed)
    tensors = _with_lookup_formats([*listed, *_unlisted(names, nodes)], nodes)
    reads = {n.attributes.get("tensor") for n in nodes.values() if n.type in _READERS}
    writes = {n.attributes.get("tensor") for n in nodes.values() if n.type == "fiberwrite"}
    for name in (name for name in names if name in reads & writes):
        raise GraphError(f"the graph reads and writes {name}",
                         hint="give the result a name of its own")  # fmt: skip
    results = tuple(t for k, t in enumerate(tensors) if not k or t.name in writes)
    operands = {t.name: t for t in tensors if t.name in reads}
    return SamFile(dot.name, results, operands, nodes, order, names)


def _unlisted(names: tuple[str, ...], nodes: Mapping[str, SamNode]) -> list[SamTensor]:
    """Tensors that the graph's comment lacks, as their lookups read them."""
    found: dict[str, dict[int, int | None]] = {}
    known: dict[int, SamNode | None] = {}
    for node in nodes.values():
        name = node.attributes.get("tensor", "")
        if node.type != "fiberlookup" or name in names:
            continue
        if "format" not in node.attributes:
            raise _no_declaration(node, name)
        mode, above = node.number("mode"), _lookup_above(nodes, node, known)
        outer = above.number("mode") if above is not None else None
        if found.setdefault(name, {}).setdefault(mode, outer) != outer:
            raise _no_declaration(node, name)
    made: list[SamTensor] = []
    for name, outside in found.items():
        inside = {outer: mode for mode, outer in outside.items()}
        order: list[int] = []
        last: int | None = None
        while last in inside and len(order) <= len(outside):
            last = inside[last]
            order.append(last)
        if sorted(order) != list(range(len(outside))) or len(order) > MAX_RANK:
            node = next(n for n in nodes.values() if n.attributes.get("tensor") == name)
            raise _no_declaration(node, name)
        levels = (LevelFormat.COMPRESSED,) * len(order)
        made.append(SamTensor(name, Format(levels, tuple(order))))
    return made


def _no_declaration(node: SamNode, name: str) -> GraphError:
    return GraphError(
        f"{node.title} reads {name!r}, which the graph's comment does not list, and the lookups of "
        f"{name} do not say how it is stored",
        hint=f'add it to the comment, as in comment="X=ss01,{name}=ss01"',
    )


def _lookup_above(
    nodes: Mapping[str, SamNode], node: SamNode, known: dict[int, SamNode | None]
) -> SamNode | None:
    """The lookup that a lookup's references come from; None at the root.

    Parameters
    ----------
    known : dict
        Answers by edge, filled on the way.
    """
    way: list[int] = []
    edges, above = node.of_kind(StreamKind.REF), None
    while edges:
        edge = edges[0]
        if edge.number in known:
            above = known[edge.number]
            break
        way.append(edge.number)
        home = nodes[edge.tail]
        if home.type == "fiberlookup":
            above = home
            break
        inputs = home.of_kind(StreamKind.REF)
        edges = [e for e in inputs if e.index == edge.index] or inputs
    known.update(dict.fromkeys(way, above))
    return above


def _node(name: str, given: Mapping[str, str]) -> SamNode:
    """Attributes stand both apart and packed in the comment; those apart win."""
    attributes: dict[str, str] = {}
    for item in given.get("comment", "").split(","):
        key, equals, value = item.partition("=")
        if equals:
            attributes[key.strip()] = value.strip()
    attributes.update({k: v for k, v in given.items() if k not in _COSMETIC})
    attributes["label"] = " ".join(given.get("label", "").replace("\\n", " ").split())
    kind = attributes.get("type", "")
    if not kind:
        raise GraphError(
            f"node {name} has no type",
            hint="only graphs of the SAM/Custard dialect can be read; drawings have no meaning",
        )
    return SamNode(name, kind, attributes)


def _edge(number: int, tail: str, head: str, given: Mapping[str, str]) -> SamEdge:
    label, _, port = given.get("label", "").partition("_")
    written = given.get("type") or label
    kind = written if written in EDGE_KINDS else label
    if kind not in EDGE_KINDS:
        raise GraphError(
            f"edge {tail} -> {head} has type {written!r}",
            hint=f"the dialect's streams are {', '.join(EDGE_KINDS)}",
        )
    misnamed = "" if kind == written else written
    return SamEdge(number, tail, head, EDGE_KINDS[kind], given.get("comment", port), misnamed)


def _tensors(comment: str) -> list[SamTensor]:
    tensors = [_tensor(item.strip()) for item in comment.split(",") if item.strip()]
    if not tensors:
        raise GraphError(
            f"the graph's comment {comment[:60]!r} does not name a result and its operands",
            hint='write comment="X=ss01,B=ss01,C=ss10", the result first',
        )
    names = [t.name for t in tensors]
    again = [name for k, name in enumerate(names) if name in names[:k]]
    if again and any(t != u for t in tensors for u in tensors if t.name == u.name):
        raise GraphError(
            f"the graph's comment gives {again[0]} two formats",
            hint="call one of the two tensors otherwise",
        )
    return list(dict.fromkeys(tensors))


def _tensor(item: str) -> SamTensor:
    name, equals, text = item.partition("=")
    if not equals or not name.isidentifier():
        raise GraphError(f"the graph's comment has {item!r}", hint="write B=ss01, or b=none")
    if text in ("none", ""):
        return SamTensor(name, Format((), ()))
    match = re.fullmatch(r"([a-z]+)(\d+)", text)
    rank = len(match[1]) if match else 0
    if match is None or rank > min(MAX_RANK, 10) or sorted(match[2]) != sorted("0123456789"[:rank]):
        raise GraphError(
            f"tensor {name} has format {text!r}",
            hint="one letter per level, then the dimension each level stores: ss01",
        )
    for letter in match[1]:
        if letter not in LETTERS:
            what = _REFUSED_LETTERS.get(letter, "unknown")
            raise GraphError(
                f"tensor {name} has a level of format {letter!r} ({what}), which cannot be read",
                hint="store it dense (d) or compressed (s)",
            )
    levels = tuple(LETTERS[letter] for letter in match[1])
    return SamTensor(name, Format(levels, tuple(map(int, match[2]))), "z" in match[1])


def _with_lookup_formats(tensors: list[SamTensor], nodes: Mapping[str, SamNode]) -> list[SamTensor]:
    """Apply the formats that lookups state for their levels, which precede the graph's comment."""
    said: dict[tuple[str, int], tuple[LevelFormat, SamNode]] = {}
    for node in nodes.values():
        if node.type != "fiberlookup" or "format" not in node.attributes:
            continue
        word = node.attributes["format"]
        if word not in FORMAT_WORDS:
            raise GraphError(
                f"{node.title} reads a level of format {word!r}",
                hint=f"supported: {', '.join(FORMAT_WORDS)}",
            )
        key = node.get("tensor"), node.number("mode")
        before = said.setdefault(key, (FORMAT_WORDS[word], node))
        if before[0] is not FORMAT_WORDS[word]:
            raise GraphError(
                f"{before[1].title} and {node.title} read one level in two formats",
                hint="write the same format for both",
            )
    made: list[SamTensor] = []
    for tensor in tensors:
        levels = tuple(
            said[tensor.name, mode][0] if (tensor.name, mode) in said else level
            for level, mode in zip(tensor.format.levels, tensor.format.mode_order, strict=True)
        )
        made.append(
            SamTensor(tensor.name, Format(levels, tensor.format.mode_order), tensor.zeroless)
        )
    return made


def _order(nodes: Mapping[str, SamNode]) -> tuple[str, ...]:
    """Producers first; otherwise as in the file."""
    waiting = {name: len(node.inputs) for name, node in nodes.items()}
    ready = [name for name in waiting if not waiting[name]][::-1]
    order: list[str] = []
    while ready:
        name = ready.pop()
        order.append(name)
        for edge in nodes[name].outputs:
            waiting[edge.head] -= 1
            if not waiting[edge.head]:
                ready.append(edge.head)
    if len(order) < len(nodes):
        stuck = sorted(set(nodes) - set(order))
        raise GraphError(
            f"the graph has a cycle through node {stuck[0]}", hint="leave out an edge of the cycle"
        )
    return tuple(order)
