"""Absent operands; looked-up elements are used only where their coordinates are present.

A locator finds a dense level's element at every coordinate that it is given.  Behind a union the
element is empty wherever only the other operands brought the coordinate, though the tensor has one
there.  That is right as long as it is multiplied by something that is empty there, too; anything
else would lack elements (``docs/spec/fusion.md`` §6.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node, StreamKind
from fuseloom.dataflow.samml.traits import Arithmetic, Role, Traversal
from fuseloom.dataflow.table.monotone import TRUE, Formula, Implications, joined
from fuseloom.errors import GraphError

NEUTRAL: Mapping[str, float] = {"add": 0.0, "sub": 0.0, "max": -math.inf}
"""Binary functions of what there is, and what an absent operand is to them; to the others it makes
the result absent."""


def neutral(node: Node) -> float:
    """Return the value that a binary function takes for an absent operand."""
    return NEUTRAL.get(str(node.params["fn"]), 0.0)


def required_operands(node: Node) -> str:
    """The operands (``a``, ``b``) without which there is no result; parameter ``needs`` adds.

    A product needs both; a sum takes what there is, unless an operand is there everywhere only
    because it was repeated and so says nothing about where the sum has elements.
    """
    return str(node.params.get("needs", "")) if node.params["fn"] in NEUTRAL else "ab"


def check_presence(graph: Graph) -> None:
    """Check that looked-up elements are where they are used.

    What is behind a reduction or an alignment of fibers is not followed.

    Raises
    ------
    GraphError
        Naming the node that takes values computed of an element that is not there.
    """
    nodes = [graph.nodes[k] for k in graph.topological()]
    roles = {primitive(node.op).role for node in nodes}
    if roles >= {Role.LOCATOR, Role.UNIONER}:
        following = _Presence(graph)
        for node in nodes:
            following.follow(node)


class _Presence:
    """The places of tokens, as formulas of the scanned levels that have a coordinate.

    Atoms are streams of scanned coordinates.  ``at`` says where a stream has coordinates,
    ``wanted`` at which of these it should have elements (absent: nothing is known), and
    ``there`` where the looked-up elements are that they are computed of (absent: everywhere).
    ``rows`` says which fibers of a stream of coordinates are entered (absent: all).
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.at: dict[int, Formula] = {}
        self.wanted: dict[int, Formula] = {}
        self.there: dict[int, Formula] = {}
        self.rows: dict[int, Formula] = {}
        self.found: set[int] = set()
        self.implications = Implications()

    def follow(self, node: Node) -> None:
        entry = primitive(node.op)
        match entry.role:
            case Role.COPY:
                for s in node.outputs:
                    self._put(s, node.inputs[0], node.inputs[0])
            case Role.SIGNAL:
                self._put(node.outputs[0], node.inputs[0], None)
            case Role.REPEATER:
                self._put(node.outputs[0], node.inputs[1], node.inputs[0])
            case Role.LOCATOR:
                self._put(node.outputs[-1], *node.inputs)
                self.found.update(s for s in node.outputs[-1:] if s is not None)
            case Role.INTERSECTER:
                self._join(node, some=False)
            case Role.UNIONER:
                self._join(node, some=True)
            case _ if entry.traversal in (Traversal.DENSE_FIBER, Traversal.STORED_FIBER):
                self._scan(node)
            case _ if entry.traversal is Traversal.STARTS:
                self.at |= {s: TRUE for s in node.outputs if s is not None}
                self.wanted |= {s: TRUE for s in node.outputs if s is not None}
            case _ if entry.arithmetic in (Arithmetic.LOAD, Arithmetic.UNARY):
                self._put(node.outputs[0], node.inputs[0], node.inputs[0])
            case _ if entry.arithmetic is Arithmetic.BINARY:
                self._compute(node)
            case _:
                self._take(node)

    def _put(self, stream: int | None, at: int, like: int | None) -> None:
        """Give a stream the coordinates of one stream and the elements of another."""
        if stream is None:
            return
        if at in self.at:
            self.at[stream] = self.at[at]
        if like is None:
            return
        for known in (self.wanted, self.there, self.rows):
            if like in known:
                known[stream] = known[like]
        if like in self.found:
            self.found.add(stream)

    def _scan(self, node: Node) -> None:
        parent = node.inputs[0]
        if parent not in self.at or parent not in self.wanted:
            return
        terms = [self.at[parent], self.wanted[parent], self.there.get(parent, TRUE)]
        if node.outputs[0] is not None:
            self.rows[node.outputs[0]] = joined(False, terms)
        if primitive(node.op).traversal is Traversal.STORED_FIBER:
            terms.append(-1 - node.id if node.outputs[0] is None else node.outputs[0])
        at = joined(False, terms)
        for s in node.outputs:
            if s is not None:
                self.at[s], self.wanted[s] = at, TRUE

    def _join(self, node: Node, some: bool) -> None:
        pairs = list(zip(node.inputs[::2], node.inputs[1::2], strict=True))
        if any(crd not in self.at for crd, _ in pairs):
            return
        rows = [self.rows.get(crd, TRUE) for crd, _ in pairs]
        gate = joined(True, rows[: int(node.params["gate"] or len(rows))]) if some else TRUE
        at = joined(False, [joined(some, [self.at[crd] for crd, _ in pairs]), gate])
        for s in node.outputs:
            if s is not None:
                self.at[s] = at
        if node.outputs[0] is not None:
            self.rows[node.outputs[0]] = gate if some else joined(False, rows)
        for s, (crd, payload) in zip(node.outputs[1:], pairs, strict=True):
            if s is None or payload not in self.wanted:
                continue
            brought = joined(False, [self.at[crd], gate])
            there = self.there.get(payload, TRUE)
            if payload in self.found:
                self.found.add(s)
                self.wanted[s] = self.wanted[payload]
                self._set_there(s, joined(False, (brought, there)))
            else:
                self.wanted[s] = joined(False, (brought, self.wanted[payload]))
                self._set_there(s, there)

    def _compute(self, node: Node) -> None:
        out, (a, b) = node.outputs[0], node.inputs
        if out is None or a not in self.at or a not in self.wanted or b not in self.wanted:
            return
        self.at[out] = self.at[a]
        required = required_operands(node)
        wanted = {"a": self.wanted[a], "b": self.wanted[b]}
        self.wanted[out] = joined(not required, [wanted[x] for x in required or "ab"])
        if a in self.there or b in self.there:
            there = joined(False, (self.there.get(a, TRUE), self.there.get(b, TRUE)))
            self._set_there(out, there)

    def _set_there(self, stream: int, there: Formula) -> None:
        """Say where the looked-up elements of a stream are, unless that is wherever they should."""
        wanted = joined(False, (self.at[stream], self.wanted[stream]))
        if not self.implications.implies(wanted, there):
            self.there[stream] = there

    def _take(self, node: Node) -> None:
        """Refuse values computed of elements that are not there."""
        if self.implications.steps >= self.implications.max_steps:
            return  # too long to prove
        for s in node.inputs:
            stream = self.graph.streams[s]
            if stream.kind is StreamKind.VAL and s in self.there:
                raise GraphError(
                    f"node {node.id} ({node.label or node.op}) takes stream %{s} "
                    f"({stream.label}), computed of an element that was looked up in front of a "
                    "union and is empty where only the union's other operands have a coordinate",
                    hint="look the element up behind the union",
                )
