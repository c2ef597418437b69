"""Every configuration run so far, here or by others: plots on one set of runs, and a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.assets import style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.costs.export import chosen_runs, page, panel_script
from fuseloom_workbench.running.presets import PresetRuns
from fuseloom_workbench.state.session import Session


class CostsPanel(SessionComponent):
    """Estimate and simulation, Pareto front, memory, roofline, breakdown, ranking, importance.

    All runs are in the browser, so plots and table stay linked in a saved page, too.  A click on
    a run loads its configuration; filters apply to everything.

    Parameters
    ----------
    session : Session or PageBackend, optional
        Shared by the components of a page; a new one by default.

    Examples
    --------
    >>> panel = CostsPanel(Session("gcn", "karate"))
    >>> panel.view["runs"]
    []
    """

    _esm = panel_script()
    _stylesheets = [style("costs/costs_panel")]
    part = "costs"
    topics = ("fusion",)
    more = ("costs_look",)

    look = param.String("{}", doc="Which runs are shown and pinned, and the problem; JSON.")
    presets = param.String("", doc="What the runs of all presets have to say.")

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        if "sizing_mode" not in params and "height" not in params:
            params["height"] = 620
        super().__init__(session, **params)
        self._presets = PresetRuns(self.backend, lambda said: self.param.update(presets=said))

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        text = self.backend.parts.get("costs_look")
        if text is not None and text != self.look:
            changes["look"] = text
        return changes

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "recall", "number": int(number)}:
                self.backend.ask("recall", number)
            case {"kind": "take", "key": str(key)}:
                self.backend.ask("take_kept", key)
            case {"kind": "presets"}:
                self._presets.start()
            case {"kind": "export", "runs": list(wanted)}:
                self._export(wanted)

    def _export(self, wanted: list[Any]) -> None:
        """Send the browser a page of these runs, to save."""
        view, look = self.backend.part("costs"), self.backend.part("costs_look")
        if view is None or look is None:
            return
        try:
            text = page(chosen_runs(view, {x for x in wanted if isinstance(x, str)}), look)
        except FuseloomError as reason:
            self._send_msg({"kind": "export", "refused": str(reason)})
            return
        self._send_msg({"kind": "export", "text": text})
