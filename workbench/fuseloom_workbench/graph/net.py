"""The graph that is drawn: nodes of one region or of all, with their kernels, and what is compared.

Keys: ``n3`` is node 3 of the region shown, ``r2n3`` of region 2, ``m3`` a node that only the graph
compared with has; ``e3``, ``r2e3`` and ``x3`` are streams likewise, ``t3`` is a tensor that goes
through memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.display import TOKENS
from fuseloom.dataflow.samml.graph import Node, Stream
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.why.spots import spots
from fuseloom.program.primes import bare
from fuseloom.program.types import Statement
from fuseloom_workbench.graph.drawing import is_copy
from fuseloom_workbench.graph.folding import FoldableGraph, Group, GroupEdge, GroupLevel, Item
from fuseloom_workbench.graph.matching import Marked, NodeSignature, match
from fuseloom_workbench.state.design import BuiltDesign

MEMORY = "mem"
"""The kind of lines that are tensors in memory."""
NEW, MISSING, SAME = "new", "missing", ""


@dataclass(frozen=True)
class Face:
    """The appearance of a node.

    Attributes
    ----------
    token : str
        Colour of its family.
    region : int
        Number of its region, or -1 for a node that only the graph compared with has.
    state : str
        ``new``, ``missing``, or empty for what both graphs have, or where none is compared.
    """

    label: str
    token: str
    glyph: str
    copy: bool
    region: int
    node: int
    mark: NodeSignature
    state: str = SAME


@dataclass(frozen=True)
class Thread:
    """The appearance of a line.

    Attributes
    ----------
    kind : str
        Of the stream, or :data:`MEMORY`.
    region, stream : int
        -1 for what is no stream of the design.
    """

    kind: str
    label: str
    region: int
    stream: int
    state: str = SAME


@dataclass(frozen=True)
class DrawnGraph:
    """A graph to draw."""

    net: FoldableGraph
    faces: Mapping[str, Face]
    threads: Mapping[str, Thread]
    counts: Mapping[str, int] = field(default_factory=dict)


GLYPHS = {
    "scan": "≡", "repeat": "↻", "join": "∩", "locate": "@", "values": "v",
    "compute": "×", "acc": "Σ", "write": "↓",
}  # fmt: skip


def drawn_of(built: BuiltDesign, shown: int, whole: bool = False) -> DrawnGraph:
    """The graph of a region, or with ``whole`` those of all regions with the tensors between."""
    numbers = range(len(built.regions)) if whole else (shown,)
    homes = _homes(built)
    items: list[Item] = []
    lines: list[GroupEdge] = []
    groups: dict[str, Group] = {}
    faces: dict[str, Face] = {}
    threads: dict[str, Thread] = {}
    for number in numbers:
        before = "" if number == shown else f"r{number}"
        region = built.regions[number]
        outer = (_region_group(region, number, groups),) if whole else ()
        for face in faces_of(region, number):
            key = f"{before}n{face.node}"
            faces[key] = face
            items.append(Item(key, (*outer, _kernel_group(homes, face.mark.statement, groups))))
        for start, end, stream in region.graph.edges():
            key = f"{before}e{stream.id}"
            lines.append(GroupEdge(key, f"{before}n{start}", f"{before}n{end}"))
            threads[key] = Thread(stream.kind.value, stream.label, number, stream.id)
    for line, thread in _tensors(built, faces) if whole else ():
        lines.append(line)
        threads[line.key] = thread
    return DrawnGraph(FoldableGraph(tuple(items), tuple(lines), groups), faces, threads)


def faces_of(region: CompiledRegion, number: int) -> Iterator[Face]:
    """Yield the appearance of a region's nodes, in the order of its graph."""
    for node, spot in zip(region.graph.nodes, spots(region), strict=True):
        entry = primitive(node.op)
        token = TOKENS[entry.family]
        mark = NodeSignature(
            node.op, spot.statement, spot.index, _tensor(node), _detail(node), node.label
        )
        glyph = (
            "∪" if "union" in node.op else "•" if entry.family is Family.ROUTE else GLYPHS[token]
        )
        label = node.label or entry.short
        yield Face(label, token, glyph, is_copy(node), number, node.id, mark)


def _tensor(node: Node) -> str:
    named = node.params.get("tensor")
    return str(named) if named is not None else bare(node.origin.partition(".")[0])


def _detail(node: Node) -> str:
    return " ".join(str(node.params[name]) for name in ("fn", "level") if name in node.params)


@dataclass(frozen=True)
class _Homes:
    """The owners of statements: the kernel, and the region."""

    kernels: Mapping[str, tuple[str, str]]
    regions: Mapping[str, int]


def _homes(built: BuiltDesign) -> _Homes:
    kernels = {
        name: (f"k:{unit.statements[0]}", unit.name)
        for unit in built.units
        for name in unit.statements
    }
    regions = {s.out.tensor: k for k, r in enumerate(built.regions) for s in r.region.statements}
    return _Homes(kernels, regions)


def _region_group(region: CompiledRegion, number: int, groups: dict[str, Group]) -> str:
    key = f"r:{region.region.statements[0].out.tensor}"
    groups.setdefault(key, Group(key, f"{number + 1} · {region.name}", GroupLevel.REGION))
    return key


def _kernel_group(homes: _Homes, statement: str, groups: dict[str, Group]) -> str:
    key, name = homes.kernels.get(statement, (f"k:{statement}", statement))
    groups.setdefault(key, Group(key, name, GroupLevel.KERNEL))
    return key


# Through memory -------------------------------------------------------------------------------


def _tensors(built: BuiltDesign, faces: Mapping[str, Face]) -> Iterator[tuple[GroupEdge, Thread]]:
    """Tensors that one region writes and another one reads: values to values, level to level."""
    writers: dict[tuple[str, str], str] = {}
    for key, face in faces.items():
        if primitive(face.mark.op).family is Family.WRITE:
            writers[face.mark.tensor, _level(face.mark)] = key
    origins = _origins(built)
    number = 0
    for key, face in faces.items():
        reads = primitive(face.mark.op).family in (Family.SCAN, Family.VALUE)
        for origin in origins.get(face.mark.tensor, (face.mark.tensor,)) if reads else ():
            writer = writers.get((origin, _level(face.mark)))
            if writer is not None and faces[writer].region != face.region:
                yield (
                    GroupEdge(f"t{number}", writer, key),
                    Thread(MEMORY, face.mark.tensor, -1, -1),
                )
                number += 1


def _level(mark: NodeSignature) -> str:
    return mark.detail.rpartition(" ")[2]


def _origins(built: BuiltDesign) -> dict[str, tuple[str, ...]]:
    """For tensors that memory makes of others (reshapes): those that they are made of."""
    found: dict[str, tuple[str, ...]] = {}
    for s in built.live:
        if not s.op.fuses:
            found[s.out.tensor] = tuple(
                origin for a in s.operands for origin in found.get(a.tensor, (a.tensor,))
            )
    return found


# Compared ---------------------------------------------------------------------------------------


def compared(
    drawn: DrawnGraph, built: BuiltDesign, others: Sequence[CompiledRegion], shown: int, whole: bool
) -> DrawnGraph:
    """The graph with what is new in it, and what only the other regions have, marked.

    Of the other regions, those nodes count that serve statements of the graph.
    """
    wanted = _statements(built.regions) if whole else _statements((built.regions[shown],))
    theirs = _Others(others, wanted)
    keys = list(drawn.faces)
    place = {key: k for k, key in enumerate(keys)}
    ends = [(place[x.start], place[x.end]) for x in drawn.net.lines if not x.key.startswith("t")]
    pairs = match(Marked([drawn.faces[k].mark for k in keys], ends), theirs.marked)
    back = {b: keys[a] for a, b in pairs.items()}
    faces = {
        key: face if k in pairs else replace(face, state=NEW)
        for k, (key, face) in enumerate(drawn.faces.items())
    }
    homes = _homes(built)
    groups = dict(drawn.net.groups)
    items = list(drawn.net.items)
    for number, face in enumerate(theirs.faces):
        if number not in back:
            key = back[number] = f"m{number}"
            faces[key] = replace(face, region=-1, state=MISSING)
            items.append(
                Item(key, _groups(built, homes, face.mark.statement, shown, whole, groups))
            )
    lines, threads = _merged(drawn, theirs, back)
    counts = {
        "same": len(pairs),
        NEW: len(keys) - len(pairs),
        MISSING: len(theirs.faces) - len(pairs),
        "own": len(keys),
        "theirs": len(theirs.faces),
    }
    return DrawnGraph(FoldableGraph(tuple(items), tuple(lines), groups), faces, threads, counts)


def _groups(
    built: BuiltDesign,
    homes: _Homes,
    statement: str,
    shown: int,
    whole: bool,
    groups: dict[str, Group],
) -> tuple[str, ...]:
    kernel = _kernel_group(homes, statement, groups)
    if not whole:
        return (kernel,)
    number = homes.regions.get(statement, shown)
    return (_region_group(built.regions[number], number, groups), kernel)


def _merged(
    drawn: DrawnGraph, theirs: _Others, back: Mapping[int, str]
) -> tuple[list[GroupEdge], dict[str, Thread]]:
    """Lines of both graphs: one for what both have between the same ends."""
    free: dict[tuple[str, str, str], int] = {}
    streams = [(back[a], back[b], stream) for a, b, stream in theirs.lines]
    for start, end, stream in streams:
        at = start, end, stream.kind.value
        free[at] = free.get(at, 0) + 1
    lines: list[GroupEdge] = []
    threads: dict[str, Thread] = {}
    used: dict[tuple[str, str, str], int] = {}
    for line in drawn.net.lines:
        thread = drawn.threads[line.key]
        at = line.start, line.end, thread.kind
        both = used.get(at, 0) < free.get(at, 0) or thread.kind == MEMORY
        used[at] = used.get(at, 0) + both
        lines.append(line)
        threads[line.key] = thread if both else replace(thread, state=NEW)
    for number, (start, end, stream) in enumerate(streams):
        at = start, end, stream.kind.value
        if used.get(at, 0) > 0:
            used[at] -= 1
            continue
        key = f"x{number}"
        lines.append(GroupEdge(key, start, end))
        threads[key] = Thread(stream.kind.value, stream.label, -1, -1, MISSING)
    return lines, threads


def _statements(regions: Sequence[CompiledRegion]) -> set[str]:
    own: list[Statement] = [s for region in regions for s in region.region.statements]
    return {s.out.tensor for s in own}


class _Others:
    """Nodes of other regions that serve the statements wanted, and the streams between them."""

    def __init__(self, regions: Sequence[CompiledRegion], wanted: set[str]) -> None:
        self.faces: list[Face] = []
        self.lines: list[tuple[int, int, Stream]] = []
        for number, region in enumerate(regions):
            place: dict[int, int] = {}
            for face in faces_of(region, number):
                if face.mark.statement in wanted:
                    place[face.node] = len(self.faces)
                    self.faces.append(face)
            for start, end, stream in region.graph.edges():
                if start in place and end in place:
                    self.lines.append((place[start], place[end], stream))

    @property
    def marked(self) -> Marked:
        return Marked([f.mark for f in self.faces], [(a, b) for a, b, _ in self.lines])
