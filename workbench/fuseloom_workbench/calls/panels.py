"""The panels of the page of library calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class CallsPanel(SessionComponent):
    """A panel whose requests are those of the page's backend, by their kind."""

    __abstract = True

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "change", "changes": dict(changes)}:
                self.backend.ask("change", changes)
            case {"kind": "command", "text": str(text)}:
                self.backend.ask("command", text)
            case {"kind": "annotate" | "write" as what, "number": int(number), "text": text}:
                self.backend.ask(what, number, text)
            case {"kind": "check", "number": int(number)}:
                self.backend.ask("check", number)
            case {"kind": "measure" | "tune" | "sweep" | "undo" as what}:
                self.backend.ask(what)
            case {"kind": "cancel"}:
                self.backend.cancel()


class CallsForm(CallsPanel):
    """Composition, extents, size of tiles, threads.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> form = CallsForm(backend)
    >>> form.handle({"kind": "change", "changes": {"tile": 0}})
    >>> form.status["message"]
    'tile is an integer from 1 to 67,108,864'
    >>> backend.close()
    """

    _esm = script("calls/calls_form")
    _stylesheets = [style("base/form")]
    part = "composition"
    topics = ("calls",)


class CallsGraph(CallsPanel):
    """The calls, and what passes between them.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> backend.wait()
    >>> [x["kind"] for x in CallsGraph(backend).view["connections"]]
    ['straight', 'straight', 'fork', 'merge']
    >>> backend.close()
    """

    _esm = script("calls/calls_graph")
    _stylesheets = [style("calls/calls_graph")]
    part = "calls_graph"


class AnnotationsPanel(CallsPanel):
    """The annotation of each call, and the parts that it stands for.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> backend.wait()
    >>> AnnotationsPanel(backend).view["calls"][0]["produced"]["text"]
    'start i, len n_len'
    >>> backend.close()
    """

    _esm = script("base/marked_text", "calls/annotations_panel")
    _stylesheets = [style("input/text_editor", "calls/annotations_panel")]
    part = "annotations"


class CommandsPanel(CallsPanel):
    """The commands of the schedule, and those that could come next.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> backend.wait()
    >>> CommandsPanel(backend).view["menu"][0]
    {'text': 'parallelize 0', 'reason': ''}
    >>> backend.close()
    """

    _esm = script("calls/commands_panel")
    _stylesheets = [style("calls/commands_panel")]
    part = "commands"


class CallsCode(CallsPanel):
    """The pipeline and the generated Python.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> backend.wait()
    >>> CallsCode(backend).view["python"][0]["text"]
    'def fused(A, t5, n, m):'
    >>> backend.close()
    """

    _esm = script("calls/calls_code")
    _stylesheets = [style("calls/calls_code")]
    part = "calls_code"


class TilesView(CallsPanel):
    """The parts that calls compute, tile by tile.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> backend.wait()
    >>> TilesView(backend).view["steps"][0]["box"]
    [0, 0, 32, 1]
    >>> backend.close()
    """

    _esm = script("calls/tiles_view")
    _stylesheets = [style("calls/tiles_view")]
    part = "tiles"


class FusionCosts(CallsPanel):
    """Room against caches, work that is done twice, times beside whole calls.

    Examples
    --------
    >>> from fuseloom_workbench.calls.backend import CallsBackend
    >>> backend = CallsBackend()
    >>> backend.wait()
    >>> FusionCosts(backend).view["counts"]["calls"]
    80
    >>> backend.close()
    """

    _esm = script("base/units", "base/scales", "calls/sweep_curve", "calls/fusion_costs")
    _stylesheets = [style("calls/fusion_costs")]
    part = "fusion_costs"
