"""The documents of a compiled region: its orders, its fusion table, its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from fuseloom.results.declarations import Count, Positive


class IndexVariable(TypedDict):
    """An index variable."""

    name: Annotated[str, "Its name."]
    size: Annotated[Count, "Coordinates it runs over."]


class OrderEdge(TypedDict):
    """One index variable must stay outside another."""

    outer: Annotated[str, "The outer one."]
    inner: Annotated[str, "The inner one."]
    hard: Annotated[bool, "Whether it cannot be repaired."]
    origin: Annotated[str, "Where the constraint comes from."]
    reason: Annotated[str, "Why, in words."]


class RegionDocument(TypedDict):
    """A fused region, as its own versioned document."""

    fuseloom: Literal["region"]
    version: Literal[1]
    name: Annotated[str, "Name of the region."]
    outputs: Annotated[Sequence[str], "Tensors it writes."]
    inputs: Annotated[Sequence[str], "Tensors it reads."]
    views: Annotated[Sequence[str], "Accesses of tensors, as text."]
    indices: Annotated[Sequence[IndexVariable], "Index variables."]
    edges: Annotated[Sequence[OrderEdge], "Constraints on the order."]
    orders: Annotated[Count, "Legal orders."]
    chosen: Annotated[Sequence[str] | None, "The order that the schedule names, outermost first."]
    repairs: Annotated[Sequence[str], "What broke cycles of constraints, in words."]


class TableColumn(TypedDict):
    """One view of a tensor."""

    name: Annotated[str, "Name of the column."]
    tensor: Annotated[str, "The tensor."]
    indices: Annotated[Sequence[str], "Index variables of the access, in logical order."]
    nest: Annotated[Sequence[str], "Index variables under which it is used, outermost first."]
    leaf: Annotated[bool, "Whether it is read from memory, not computed."]
    statement: Annotated[str, "The tensor whose statement computes or reads it."]


class TableCell(TypedDict):
    """A cell that a step changed."""

    column: Annotated[str, "Column."]
    row: Annotated[str, "Row: an index variable, or val."]
    kind: Annotated[str, "What it holds."]
    text: Annotated[str, "Its content."]
    target: Annotated[str, "The cell it refers to, as column.row; empty for none."]


class TableStepData(TypedDict):
    """A step."""

    phase: Annotated[str, "Phase of construction."]
    title: Annotated[str, "What is done."]
    cells: Annotated[Sequence[TableCell], "Cells it changed."]


class TableDocument(TypedDict):
    """A fusion table, as its own versioned document."""

    fuseloom: Literal["table"]
    version: Literal[1]
    region: Annotated[str, "Name of the region."]
    rows: Annotated[Sequence[str], "Rows, outermost first."]
    columns: Annotated[Sequence[TableColumn], "Columns."]
    accumulators: Annotated[Sequence[str], "Sparse accumulators, as text."]
    steps: Annotated[Sequence[TableStepData], "Steps of construction."]


GraphNode = TypedDict(
    "GraphNode",
    {
        "op": Annotated[str, "Its primitive."],
        "in": Annotated[Sequence[Count], "Streams it reads."],
        "out": Annotated[
            Sequence[Count | None], "Streams it writes; null is a port that is not used."
        ],
        "params": Annotated[Mapping[str, str | float | bool], "Parameters of the primitive."],
        "label": Annotated[str, "What people call it."],
        "origin": Annotated[str, "The cell it came from, as column.row; empty for none."],
    },
)
"""A node."""


class GraphDocument(TypedDict):
    """A dataflow graph, as its own versioned document."""

    fuseloom: Literal["graph"]
    version: Literal[1]
    name: Annotated[str, "Name of the graph."]
    streams: Annotated[
        Sequence[
            tuple[Literal["crd", "ref", "val", "sig"], Count, str, Positive | None, Sequence[str]]
        ],
        "Streams by number: kind, depth, label, capacity in tokens (null: the machine's), "
        "index variables.",
    ]
    nodes: Annotated[Sequence[GraphNode], "Nodes by number."]


class PassEffect(TypedDict):
    """The effect of a pass on the size of a graph."""

    name: Annotated[str, "Name of the pass."]
    nodes: Annotated[tuple[Count, Count], "Nodes before and after."]
    streams: Annotated[tuple[Count, Count], "Streams before and after."]


class CompiledRegionData(TypedDict):
    """A compiled region."""

    name: Annotated[str, "Name of the region."]
    order: Annotated[Sequence[str], "Index variables, outermost first."]
    recomputed: Annotated[
        Mapping[str, Annotated[int, Meta(ge=2)]],
        "Statements that the graph computes more than once, and how often.",
    ]
    region: RegionDocument
    table: TableDocument
    graph: GraphDocument
    passes: Annotated[Sequence[PassEffect], "Passes that ran over the graph, in order."]
