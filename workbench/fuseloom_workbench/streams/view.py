"""A recorded run of the region shown, as plain data: its drawing, its tokens, a node's story.

It comes in three parts.  ``streams`` is the drawing and the outline of the recording;
``streams_chunk`` the tokens of the cycles around the one looked at; ``streams_story`` the
sentences of the node looked at around that cycle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.display import TOKENS
from fuseloom.dataflow.samml.dot import to_dot
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.samml.traits import Stored
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.steps import (
    NEVER,
    Recording,
    RecordingLimits,
    bound_region,
    chunks,
    record,
)
from fuseloom.dataflow.why.spots import spots
from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.parts import LATER, Draw, LaterPart
from fuseloom_workbench.graph.drawing import edge_list, is_copy, node_key
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.session import Session

NAMES = ("streams", "streams_chunk", "streams_story")
"""The parts."""
RECORDINGS = 3
"""Recordings that a session keeps for a quick return; one may take tens of MB."""
BEGINNING = RecordingLimits(cycles=1_000)
"""The first recorded part of a long run, with which stepping can begin."""
KEPT = 32
"""Nodes whose stories are kept for a quick return."""


def wanted(session: Session) -> bool:
    """Return whether somebody steps through the region shown."""
    return session.moment[0] >= 0


def key(session: Session) -> str:
    """Return the identity of a recording: the same key needs no new one."""
    text = f"{session.built.configuration}\n{session.region}"
    return sha256(text.encode()).hexdigest()[:16]


def ported(graph: Graph, machine: Machine) -> Graph:
    """The graph with the machine's memory ports, as it runs; their addresses mean nothing.

    Raises
    ------
    SimulationError
        If the machine's memory does not know one of its primitives.
    """
    nothing = {stored.value: np.zeros(0, np.int64) for stored in Stored}
    return with_ports(BoundGraph(graph, {n.id: nothing for n in graph.nodes}), machine).graph


def dot(graph: Graph) -> str:
    """The graph in Graphviz's language, with room for tokens on its edges."""
    drawing = to_dot(graph, rankdir="LR")
    drawing.attr(ranksep="0.8", nodesep="0.36")
    return str(drawing.source)


class Shown:
    """The display of one region's run: first its drawing, then its tokens.

    Attributes
    ----------
    key, name : str
        What identifies it (:func:`key`), and the region's name.
    statements : sequence of str
        The statement that each node of the region serves, those of memory ports left out.
    problem : str
        Why there is no drawing, or no recording.
    more : bool
        Whether the recording is a beginning, and a longer one will come.
    """

    def __init__(
        self,
        named: tuple[str, str],
        graph: Graph,
        picture: str = "",
        recording: Recording | None = None,
        problem: str = "",
        more: bool = False,
        statements: Sequence[str] = (),
    ) -> None:
        self.key, self.name = named
        self.graph = graph
        self.statements = statements
        self.picture = picture
        self.recording = recording
        self.problem = problem
        self.more = more
        self._outline = json.dumps(self._drawn())
        self._chunks: dict[int, str] = {}
        self._stories: dict[int, list[tuple[int, int, str]]] = {}
        self._bounds = chunks.bounds(recording) if recording is not None else [0, 1]

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without what is kept for a quick return."""
        return {**vars(self), "_chunks": {}, "_stories": {}}

    @property
    def whole(self) -> bool:
        """True if nothing more will come."""
        return (self.recording is not None and not self.more) or bool(self.problem)

    def parts(self, moment: tuple[int, int], selected: int) -> dict[str, str]:
        """The parts as JSON text, for a cycle and node looked at and the node selected."""
        if self.recording is None:
            return {"streams": self._outline}
        cycle = min(max(moment[0], 0), self.recording.last)
        number = max(k for k, first in enumerate(self._bounds[:-1]) if first <= cycle)
        if number not in self._chunks:
            self._chunks[number] = self._chunk(number)
        return {
            "streams": self._outline,
            "streams_chunk": self._chunks[number],
            "streams_story": self._story(self.told_of(moment[1], selected), cycle),
        }

    def told_of(self, node: int, selected: int) -> int:
        """Whose story is told: the node looked at, the one selected, or the first scanner."""
        assert self.recording is not None
        recording = self.recording
        for number in (node, selected):
            if 0 <= number < len(self.graph.nodes):
                return number
        scanners = [n.id for n in self.graph.nodes if primitive(n.op).family is Family.SCAN]
        every = scanners or [n.id for n in self.graph.nodes]
        return min(every, key=lambda number: (*recording.acts(number)[:1], NEVER))

    def _drawn(self) -> dict[str, Any]:
        recording = self.recording
        return {
            "key": self.key,
            "name": self.name,
            "svg": self.picture,
            "problem": self.problem,
            "more": self.more,
            "edges": edge_list(self.graph),
            "statements": list(self.statements),
            "colours": {
                node_key(n.id): "copy" if is_copy(n) else TOKENS[primitive(n.op).family]
                for n in self.graph.nodes
            },
            "outline": None if recording is None else chunks.outline(recording),
        }

    def _chunk(self, number: int) -> str:
        assert self.recording is not None
        made = chunks.chunk(self.recording, *self._bounds[number : number + 2])
        return json.dumps({"key": self.key, "number": number, **made}, ensure_ascii=False)

    def _story(self, node: int, cycle: int) -> str:
        for first, stop, text in self._stories.get(node, ()):
            if first <= cycle < stop:
                return text
        assert self.recording is not None
        told = chunks.moments(self.recording, node, cycle)
        acts = chunks.acts(self.recording, node)
        text = json.dumps({"key": self.key, "acts": acts, **told}, ensure_ascii=False)
        if len(self._stories) >= KEPT:
            self._stories.clear()
        self._stories.setdefault(node, []).append((told["first"], told["stop"], text))
        return text


def recordings(session: Session, draw: Draw) -> Iterator[Shown]:
    """The drawing of the region shown, then with tokens of the beginning, then with all tokens.

    The session may change meanwhile.
    """
    named = key(session), session.current.name
    return _recordings(named, session.built, session.region, draw)


def _recordings(
    named: tuple[str, str], built: BuiltDesign, region: int, draw: Draw
) -> Iterator[Shown]:
    graph, machine = built.regions[region].graph, built.design.machine
    statements = [spot.statement for spot in spots(built.regions[region])]
    try:
        graph = ported(graph, machine)
        picture = draw(dot(graph), "svg")
    except (FuseloomError, RuntimeError) as reason:
        yield Shown(named, graph, problem=str(reason))
        return
    yield Shown(named, graph, picture, statements=statements)
    try:
        bound = bound_region(built.compilation, region, built.data, machine)
        first = record(bound, machine, BEGINNING)
        if first.last == BEGINNING.cycles and not first.complete:
            yield Shown(named, graph, picture, first, more=True, statements=statements)
            first = record(bound, machine)
        yield Shown(named, graph, picture, first, statements=statements)
    except FuseloomError as reason:
        yield Shown(named, graph, picture, problem=str(reason), statements=statements)


def _asked(session: Session) -> str:
    return key(session) if wanted(session) else ""


def _given_up(session: Session, _: Shown | None, seconds: float) -> Shown:
    problem = f"recording this run took more than {seconds:g} s and was given up"
    return Shown((key(session), session.current.name), session.current.graph, problem=problem)


def _parts(session: Session, shown: Shown | None) -> dict[str, str]:
    return {} if shown is None else shown.parts(session.moment, session.node)


LATER["streams"] = LaterPart(_asked, recordings, _parts, _given_up, most=RECORDINGS)
