"""From a protobuf graph of the Comal simulator to ours (``docs/spec/comal.md`` §5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from google.protobuf.message import DecodeError

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.exchange.levels import origin
from fuseloom.dataflow.samml.exchange.record import ImportedGraph
from fuseloom.dataflow.samml.exchange.schema import pb
from fuseloom.dataflow.samml.exchange.tensor_folder import TensorFolder, format_of
from fuseloom.dataflow.samml.exchange.tortilla_ops import BLOCKS, Message, Parsed, parse_operation
from fuseloom.dataflow.samml.exchange.wiring import MAX_NODES, port_depth
from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream, StreamKind
from fuseloom.dataflow.samml.verify import verify
from fuseloom.errors import DataError, GraphError
from fuseloom.program.formats import Format
from fuseloom.program.limits import MAX_RANK
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

_CAPACITY = re.compile(r"capacity (\d{1,9})")


@dataclass(frozen=True)
class TortillaImport:
    """An imported graph, and what its tensors' files are called."""

    imported: ImportedGraph
    files: Mapping[str, str]


@check_arguments
def import_tortilla(data: bytes, folder: TensorFolder, block: int | None = None) -> TortillaImport:
    """Read a serialised ``ComalGraph``.

    Parameters
    ----------
    folder : TensorFolder
        Where its tensors lie; sizes come from there.
    block : int, optional
        Edge of the blocks whose timing the run copies (16, 32 or 64); the data stay scalar.

    Raises
    ------
    GraphError
        If it is no such graph, or one the machine cannot run: naming operation, rule, way out.
    DataError
        If a tensor's files are missing or do not fit.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fuseloom.dataflow.samml.exchange import TensorFolder
    >>> spmm, data = fl.load("spmm")
    >>> graph = fl.compile(spmm.program).regions[0].graph
    >>> tensors = {tensor.name: tensor for tensor in spmm.program.tensors}
    >>> with TemporaryDirectory() as made:
    ...     folder = Path(made)
    ...     fl.export_tortilla(graph, tensors).save(folder, data)
    ...     read = fl.import_tortilla((folder / "op.bin").read_bytes(), TensorFolder(folder))
    >>> sorted(read.imported.tensors)
    ['A', 'X']
    """
    if block is not None and block not in BLOCKS:
        raise GraphError(f"blocks of edge {block} have no timing", hint=f"known: {BLOCKS}")
    message = pb.ComalGraph()
    try:
        message.ParseFromString(data)
    except DecodeError as problem:
        raise GraphError(f"not a protobuf graph: {problem}",
                         hint="give a serialised ComalGraph (op.bin)") from None  # fmt: skip
    if not message.graph.operators:
        raise GraphError("the file holds no operations",
                         hint="give a serialised ComalGraph (op.bin)")  # fmt: skip
    graph = _graph(message)
    if block is not None:
        graph = _with_block(graph, block)
    elif unknown := [n for n in graph.nodes if n.params.get("block") == 0]:
        name = unknown[0].label or unknown[0].op
        raise GraphError(f"{name} works on blocks, whose size the file does not say",
                         hint="choose the block timing: --block 16, 32 or 64")  # fmt: skip
    return _Binder(graph, folder).run()


def _graph(message: Message) -> Graph:
    """The graph without what only the data tell."""
    operations = message.graph.operators
    if len(operations) > MAX_NODES:
        raise GraphError(f"the graph has more than {MAX_NODES:,} operations")
    parsed: list[tuple[str, Parsed]] = []
    for number, operation in enumerate(operations):
        title = f"operation {operation.id or number + 1} ({operation.name or 'unnamed'})"
        parsed += ((title, p) for p in parse_operation(operation, title, -1 - number))
    streams, ids = _streams([p for _, p in parsed])
    nodes: list[Node] = []
    for title, p in parsed:
        if any(not end.id for end in p.inputs):
            raise GraphError(f"{title} has an input with id 0, which nothing can feed",
                             hint="ids of streams start at 1; 0 is a void output")  # fmt: skip
        inputs = tuple(ids[end.kind, end.id] for end in p.inputs)
        outputs = tuple(ids[end.kind, end.id] if end.id else None for end in p.outputs)
        nodes.append(Node(len(nodes), p.op, inputs, outputs, p.params, p.label))
    _check_ends([(title, p) for title, p in parsed])
    graph = Graph(message.graph.name or message.name, tuple(nodes), streams)
    return with_depths(graph)


def _streams(parsed: list[Parsed]) -> tuple[tuple[Stream, ...], dict[tuple[StreamKind, int], int]]:
    """Streams in the order of their ids, private signals last."""
    names: dict[tuple[StreamKind, int], str] = {}
    for p in parsed:
        for end in (*p.outputs, *p.inputs):
            if end.id:
                names[end.kind, end.id] = names.get((end.kind, end.id)) or end.name
    kinds = list(StreamKind)
    keys = sorted(names, key=lambda key: (key[1] < 0, abs(key[1]), kinds.index(key[0])))
    streams = []
    for number, key in enumerate(keys):
        capacity = _CAPACITY.fullmatch(names[key])
        size = int(capacity[1]) if capacity else None
        streams.append(Stream(number, kind=key[0], depth=0, capacity=size or None))
    return tuple(streams), {key: number for number, key in enumerate(keys)}


def _check_ends(parsed: list[tuple[str, Parsed]]) -> None:
    """One sender and one receiver per channel; ids of each kind count apart."""
    writers: dict[tuple[StreamKind, int], str] = {}
    readers: dict[tuple[StreamKind, int], str] = {}
    for title, p in parsed:
        for ends, what, found in ((p.outputs, "written", writers), (p.inputs, "read", readers)):
            for end in ends:
                key = end.kind, end.id
                if end.id and key in found:
                    raise GraphError(
                        f"{end.kind.value} stream {end.id} is {what} by {found[key]} and {title}",
                        hint="a channel has one sender and one receiver; fan out by a Broadcast",
                    )
                found[key] = title
    for key, title in (*writers.items(), *readers.items()):
        if key[1] and (key in writers) != (key in readers):
            what = "written but never read" if key in writers else "read but never written"
            raise GraphError(f"{key[0].value} stream {key[1]} of {title} is {what}",
                             hint="give unused outputs the id 0")  # fmt: skip


def with_depths(graph: Graph) -> Graph:
    """The same graph with the depth of every stream, which follows from the roots.

    Raises
    ------
    GraphError
        If a node has no level left to work on, or the streams form a cycle.
    """
    depths: dict[int, int] = {}
    for number in graph.topological():
        node = graph.nodes[number]
        entry = primitive(node.op)
        ins = entry.input_ports(len(node.inputs))
        base = depths[node.inputs[0]] - port_depth(ins[0], node.params) if node.inputs else 0
        for port, s in zip(entry.output_ports(len(node.outputs)), node.outputs, strict=True):
            depth = base + port_depth(port, node.params)
            if depth < 0:
                raise GraphError(f"{node.label or node.op} has no level left to work on",
                                 hint=entry.doc)  # fmt: skip
            if s is not None:
                depths[s] = depth
    return replace(graph, streams=tuple(replace(s, depth=depths[s.id]) for s in graph.streams))


def _with_block(graph: Graph, block: int) -> Graph:
    """Block timing: loads and arithmetic take longer, the data stay scalar."""
    nodes = []
    for node in graph.nodes:
        if node.op == "spacc2":
            raise GraphError(
                f"{node.label or node.op} has order 2, which block graphs have not",
                hint="run it without --block",
            )
        if node.op in ("array", "binary", "unary"):
            node = replace(node, params={**node.params, "block": block})
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


class _Binder:
    """Fills in what the data tell: storage levels, sizes of dense levels and accumulators."""

    def __init__(self, graph: Graph, folder: TensorFolder) -> None:
        self.graph = graph
        self.folder = folder
        self.tensors: dict[str, Tensor] = {}
        self.files: dict[str, str] = {}

    def run(self) -> TortillaImport:
        levels = {n.id: self._level(n) for n in self.graph.nodes if n.op in ("scan", "dense_scan")}
        keys = dict.fromkeys(
            str(n.params["tensor"])
            for n in self.graph.nodes
            if n.op in ("scan", "dense_scan", "array")
        )
        modes: dict[str, dict[int, tuple[int, bool]]] = {key: {} for key in keys}
        for number, level in levels.items():
            node = self.graph.nodes[number]
            key = str(node.params["tensor"])
            found = int(node.params["level"]), node.op == "dense_scan"
            if modes[key].setdefault(level, found) != found:
                raise GraphError(f"{node.label or node.op} reads level {level} of {key} "
                                 "in another format or dimension than another lookup")  # fmt: skip
        views = {key: self._tensor(key, modes[key]) for key in keys}
        for key, tensor in views.items():
            read = any(n.op in ("scan", "array") and n.params["tensor"] == key
                       for n in self.graph.nodes)  # fmt: skip
            if read and (key == tensor.name or tensor.name not in views):
                self.tensors[tensor.name] = tensor
                self.files[tensor.name] = key
        nodes = []
        for node in self.graph.nodes:
            params: dict[str, Scalar] = dict(node.params)
            if node.id in levels:
                tensor = views[str(params["tensor"])]
                level = levels[node.id]
                params["level"] = level
                if node.op == "dense_scan":
                    params["dim"] = tensor.shape[tensor.format.mode_order[level]]
            nodes.append(replace(node, params=params))
        self.graph = replace(self.graph, nodes=tuple(nodes))
        self.graph = replace(self.graph, nodes=tuple(self._sized(n, views) for n in nodes))
        outputs = self._outputs(views)
        verify(self.graph)
        return TortillaImport(ImportedGraph(self.graph, self.tensors, outputs), self.files)

    def _level(self, node: Node) -> int:
        """The storage level a lookup reads: how many levels its references have come through."""
        key, level, stream = node.params["tensor"], 0, node.inputs[0]
        while True:
            parent = self.graph.nodes[self.graph.producer[stream]]
            match parent.op:
                case "root":
                    break
                case "scan" | "dense_scan":
                    if parent.params["tensor"] != key:
                        raise GraphError(
                            f"{node.label or node.op} looks up {key} by references into "
                            f"{parent.params['tensor']}",
                            hint="a tensor's levels are looked up one below the other",
                        )
                    level, stream = level + 1, parent.inputs[0]
                case "sam_locate":
                    if parent.outputs[0] == stream:
                        level += 1
                        break  # the coordinate has become the reference: a level at the root
                    stream = parent.inputs[0]
                case "intersect" | "union":
                    stream = parent.inputs[2 * parent.outputs.index(stream) - 1]
                case _:
                    stream = parent.inputs[0]
        if level >= MAX_RANK:
            raise GraphError(f"{key} has more than {MAX_RANK} levels")
        return level

    def _tensor(self, key: str, levels: dict[int, tuple[int, bool]]) -> Tensor:
        """Declaration of a tensor: formats from the lookups, sizes from its shape file."""
        shape = self.folder.shape(key)
        known = max((m for m, _ in levels.values()), default=-1)
        rank = max([known, *levels], default=-1) + 1
        if shape is None:
            dense = [level for level, (_, is_dense) in levels.items() if is_dense]
            if dense or len(levels) < rank:
                raise DataError(f"the shape of {key} is missing: no file tensor_{key}_mode_shape",
                                hint="sizes of dense levels are read from there")  # fmt: skip
            sizes = {mode: self.folder.largest_coordinate(key, mode) + 1
                     for mode, _ in levels.values()}  # fmt: skip
            shape = tuple(max(1, sizes.get(mode, 1)) for mode in range(rank))
        if rank > len(shape) or len({m for m, _ in levels.values()}) < len(levels):
            raise DataError(f"{key} has {counted(len(shape), 'dimension')}, the graph reads {rank}",
                            hint=f"tensor_{key}_mode_shape has a line per dimension")  # fmt: skip
        return Tensor(key.partition("@")[0], shape, format_of(levels, len(shape)))

    def _sized(self, node: Node, views: Mapping[str, Tensor]) -> Node:
        """An accumulator's table is as large as the index it accumulates by."""
        if node.op != "spacc1":
            return node
        home = origin(self.graph, node.inputs[1])
        largest = max((n for t in views.values() for n in t.shape), default=1)
        dim = largest
        if home is not None:
            tensor = views[str(home.node.params["tensor"])]
            dim = tensor.shape[tensor.format.mode_order[int(home.node.params["level"])]]
        return replace(node, params={**node.params, "dim": dim})

    def _outputs(self, views: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Return the outputs; a level's place follows from its depth, its size from the file."""
        modes: dict[str, dict[int, int]] = {}
        sizes: dict[str, dict[int, int]] = {}
        nodes = list(self.graph.nodes)
        for node in self.graph.nodes:
            if node.op == "valwrite":
                modes.setdefault(str(node.params["tensor"]), {})
            if node.op != "crdwrite":
                continue
            key = str(node.params["tensor"])
            level = self.graph.streams[node.inputs[0]].depth - 1
            if level in modes.setdefault(key, {}):
                raise GraphError(f"{node.label or node.op} writes level {level} of {key}, "
                                 "which another one writes too")  # fmt: skip
            modes[key][level] = int(node.params["level"])
            home = origin(self.graph, node.inputs[0])
            if home is not None:
                tensor = views[str(home.node.params["tensor"])]
                mode = tensor.format.mode_order[int(home.node.params["level"])]
                sizes.setdefault(key, {})[level] = tensor.shape[mode]
            nodes[node.id] = replace(node, params={"tensor": key, "level": level})
        self.graph = replace(self.graph, nodes=tuple(nodes))
        outputs = []
        for key, found in modes.items():
            rank = max(found, default=-1) + 1
            order = tuple(found.get(level, -1) for level in range(rank))
            if sorted(order) != list(range(rank)):
                order = tuple(range(rank))
            shape = [2**31 - 1] * rank
            for level, size in sizes.get(key, {}).items():
                shape[order[level]] = size
            outputs.append(Tensor(key, tuple(shape), Format.compressed(rank, order)))
        return tuple(outputs)
