"""The definition of a pass, and the execution of several passes one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.errors import GraphError
from fuseloom.program.formats import suggestion


@dataclass(frozen=True)
class Setting:
    """The settings of the region whose graph a pass rewrites.

    Attributes
    ----------
    lanes : tuple of (str, int)
        Indices that the schedule deals to lanes and how many, outer ones first.
    extents : callable
        Gives the size of each index variable.
    """

    lanes: tuple[tuple[str, int], ...]
    extents: Callable[[], Mapping[str, int]]


class PassStage(Enum):
    """The stage of compilation at which a pass runs.

    ``DEFAULT``: compiling runs it, in the table's order.  ``ON_REQUEST``: only where asked for.
    ``LAST``: likewise, and no pass may follow, because it says something of every stream.
    """

    DEFAULT = "by default"
    ON_REQUEST = "on request"
    LAST = "on request, last"


def _never(graph: Graph) -> bool:
    return False


def _not_asked(setting: Setting) -> bool:
    return False


@dataclass(frozen=True)
class Pass:
    """A pass under the name that users give it.

    Attributes
    ----------
    text : str
        What it does, in one line.
    run : callable
        The graph it makes of a graph.
    idle : callable
        Whether it would leave a graph as it is that comes straight from lowering; it is not run
        then.
    required : callable
        Whether the schedule asks for it, so that a graph without it would be another design's.
    """

    name: str
    text: str
    place: PassStage
    run: Callable[[Graph, Setting], Graph]
    idle: Callable[[Graph], bool] = _never
    required: Callable[[Setting], bool] = _not_asked


@dataclass(frozen=True)
class PassChange:
    """The changes that one pass made to one graph: its nodes and streams before and after."""

    name: str
    nodes: tuple[int, int]
    streams: tuple[int, int]


def selected(table: Mapping[str, Pass], names: Sequence[str] | None) -> tuple[Pass, ...]:
    """The passes of those names, in that order; those by default, if none are given.

    Raises
    ------
    GraphError
        If there is no such pass, or one stands behind the last.
    """
    if names is None:
        return tuple(p for p in table.values() if p.place is PassStage.DEFAULT)
    unknown = [name for name in names if name not in table]
    if unknown:
        raise GraphError(
            f"no pass is called {unknown[0]!r}", hint=suggestion(unknown[0], list(table))
        )
    chosen = tuple(table[name] for name in names)
    for before, after in pairwise(chosen):
        if before.place is PassStage.LAST:
            raise GraphError(
                f"pass {after.name} comes after {before.name}",
                hint=f"put {before.name} last: what later passes make would go without",
            )
    return chosen


def run_passes(
    graph: Graph, table: Mapping[str, Pass], passes: Sequence[Pass], setting: Setting
) -> tuple[Graph, tuple[PassChange, ...]]:
    """Run passes over a graph as lowering made it; the graph, and what each of them did.

    Raises
    ------
    GraphError
        If a pass is left out that the schedule asks for.
    FuseloomError
        What a pass raises.
    """
    for known in table.values():
        if known.required(setting) and known not in passes:
            raise GraphError(
                f"graph {graph.name}: the schedule asks for the pass {known.name}",
                hint=f"name it among the passes: it is to {known.text}",
            )
    changes = []
    lowered = graph
    for each in passes:
        before = graph
        if graph is not lowered or not each.idle(graph):
            graph = each.run(graph, setting)
        sizes = [(len(g.nodes), len(g.streams)) for g in (before, graph)]
        nodes, streams = zip(*sizes, strict=True)
        changes.append(PassChange(each.name, nodes, streams))
    return graph, tuple(changes)
