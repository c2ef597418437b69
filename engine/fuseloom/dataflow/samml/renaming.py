"""The graph of a region, under the names of another one that is equal but for names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from fuseloom.dataflow.samml.graph import Graph, Node, Scalar, Stream
from fuseloom.program.types import Statement

_T = TypeVar("_T")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def renamed(graph: Graph, name: str, tensors: Mapping[str, str]) -> Graph:
    """A graph with tensors called otherwise, in what nodes read and write and in all labels.

    Before::

        LS A.i {tensor: A, level: 0}    Rep x'.i

    After, with ``{"A": "B", "x": "y"}``::

        LS B.i {tensor: B, level: 0}    Rep y'.i

    Parameters
    ----------
    name : str
        What the graph is called then.
    tensors : mapping
        New names by old ones.
    """
    texts: dict[str, str] = {}

    def word(match: re.Match[str]) -> str:
        return tensors.get(match[0], match[0])

    def text(old: str) -> str:
        if old not in texts:
            texts[old] = _WORD.sub(word, old)
        return texts[old]

    def parameters(given: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
        return {k: text(str(v)) if k in ("tensor", "of") else v for k, v in given.items()}

    nodes = tuple(
        Node(
            n.id,
            n.op,
            n.inputs,
            n.outputs,
            parameters(n.params),
            text(n.label),
            text(n.origin),
        )
        for n in graph.nodes
    )
    streams = tuple(
        s
        if (label := text(s.label)) == s.label
        else Stream(s.id, s.kind, s.depth, label, s.capacity, s.indices)
        for s in graph.streams
    )
    return replace(graph, name=name, nodes=nodes, streams=streams)


@dataclass
class RegionClass(Generic[_T]):
    """Regions that are equal but for names, and the graph of the first of them.

    Attributes
    ----------
    compiled : object
        What the first one compiled to.
    seen : frozenset of str or None
        Names of the first that renaming is known to find wherever a graph has them, and nowhere
        else; None before that was looked at.
    """

    graph: Graph
    statements: Sequence[Statement]
    compiled: _T
    seen: frozenset[str] | None = None

    def graph_of(
        self, name: str, statements: Sequence[Statement], built: Callable[[], Graph]
    ) -> Graph:
        """The graph of another region of the kind.

        The first time it is built, and compared with what renaming gives: a label may have a word
        that is also the name of a tensor.  Renaming is relied on for names that were seen so.

        Parameters
        ----------
        built : callable
            Builds it.
        """
        tensors = {
            old.tensor: new.tensor
            for a, b in zip(self.statements, statements, strict=True)
            for old, new in zip((a.out, *a.operands), (b.out, *b.operands), strict=True)
            if old.tensor != new.tensor
        }
        if self.seen is not None and tensors.keys() <= self.seen:
            return renamed(self.graph, name, tensors)
        graph = built()
        if self.seen is None:
            right = renamed(self.graph, name, tensors) == graph
            self.seen = frozenset(tensors if right else ())
        return graph
