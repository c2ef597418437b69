"""Stepping through a run: tokens move along the edges, and the selected node tells what it did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import param

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.steps import Recording, RecordingLimits, record_graph
from fuseloom.program.storage import StoredTensor
from fuseloom_workbench.base.assets import asset, script
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.graph import layout
from fuseloom_workbench.streams.view import Shown, dot

MOST = 1 << 31


class StreamsView(SessionComponent):
    """The run of the region shown, cycle by cycle.

    It records the run itself, when it is seen first and whenever the design has changed since, up
    to 10,000 cycles and 200,000 tokens.  Stepping and playing are the browser's; the tokens come
    in chunks of cycles.

    Examples
    --------
    >>> from fuseloom_workbench.state.session import Session
    >>> view = StreamsView(Session("spmv"))
    >>> view.handle({"kind": "step", "cycle": 3, "node": 4})
    >>> view.session.moment
    (3, 4)
    """

    _esm = script("base/light", "streams/recording", "streams/picture", "streams/streams_view")
    _stylesheets = [asset("base/tokens.css", "base/help.css", "streams/streams_view.css")]
    part = "streams"
    more = ("streams_chunk", "streams_story", "selection")

    chunk = param.String("", doc="Tokens of some cycles, as JSON.")
    story = param.String("", doc="What the node looked at did, as JSON.")
    selected = param.Integer(-1, doc="The node selected on the page; -1 is none.")
    busy = param.Boolean(False, doc="Whether the run is being recorded.")
    answers = param.Integer(0, doc="Counts answers of the page backend; set last.")

    def refresh(self) -> None:
        backend = self.backend
        changes = self.changes()
        changes |= {
            "chunk": backend.parts.get("streams_chunk", ""),
            "story": backend.parts.get("streams_story", ""),
            "busy": bool((backend.part("later") or {}).get("streams")),
            "selected": (backend.part("selection") or {}).get("node", -1),
        }
        self.param.update(**{k: v for k, v in changes.items() if getattr(self, k) != v})
        self.answers += 1

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "step", "cycle": int(cycle), "node": int(node)}:
                if -1 <= cycle < MOST and -1 <= node < MOST:
                    self.backend.ask("step_to", cycle, node)


class RecordedBackend(PageBackend):
    """A page backend with one recording and nothing else."""

    def __init__(self, recording: Recording, **params: Any) -> None:
        super().__init__(None, **params)
        graph = recording.graph
        picture = layout.draw_elsewhere(dot(graph), "svg")
        self._shown = Shown((f"recording {id(recording)}", graph.name), graph, picture, recording)
        self._look(0, -1)

    def ask(self, name: str, *arguments: Any) -> None:
        if name == "step_to":
            self._look(*arguments)

    def _look(self, cycle: int, node: int) -> None:
        selection = json.dumps({"node": node})
        self._publish({**self._shown.parts((cycle, node), -1), "selection": selection})


def streams(
    graph: Graph,
    data: Mapping[str, StoredTensor],
    machine: Machine | None = None,
    kept: RecordingLimits | None = None,
) -> StreamsView:
    """A graph's run on data, to step through; it is recorded here and now.

    Parameters
    ----------
    data : mapping
        Stored tensors by name, those that the nodes read.
    machine : Machine, optional
        By default ``Machine.default()``.
    kept : RecordingLimits, optional
        Most cycles and tokens.

    Raises
    ------
    DataError, SimulationError
        If the graph cannot be run on them.
    ChildError
        If it cannot be drawn.

    Examples
    --------
    >>> from fuseloom_workbench.state.session import Session
    >>> session = Session("spmv")
    >>> view = streams(session.current.graph, session.built.data)
    >>> view.view["outline"]["cycles"]
    38
    """
    return StreamsView(RecordedBackend(record_graph(graph, data, machine, kept)))
