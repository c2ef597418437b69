"""The bench: one screen of panes that a visitor sizes, folds and walks through by keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param
from panel.custom import Child, Children

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import ScriptComponent
from fuseloom_workbench.running.run_panel import RunPanel


class Bench(ScriptComponent):
    """Panes on a grid: rail, result, chain, three views beside each other, and tabs below.

    Sizes, what is folded and the open tab are kept in the browser.  Where there is too little room
    for one screen, the panes stand one below the other, and the page scrolls.

    Parameters
    ----------
    runs : RunPanel
        Whose Run the keys press.

    Attributes
    ----------
    top, rail, result, chain, table, orders, details : viewable
        What stands in the pane of that name.
    tabs : list of viewable
        What the tabs show, named by ``titles``.
    """

    _esm = script("shell/tour", "shell/bench")
    _stylesheets = [style("shell/bench")]

    top = Child()
    rail = Child()
    result = Child()
    chain = Child()
    table = Child()
    orders = Child()
    details = Child()
    tabs = Children()
    titles = param.List([], doc="Names of the tabs.")
    tab = param.Integer(0, doc="The open tab.")
    fullscreen = param.Boolean(True, doc="Whether the bench fills the window; else its place.")

    def __init__(self, runs: RunPanel, **params: Any) -> None:
        self.runs = runs
        super().__init__(**params)

    def _handle_msg(self, data: Any) -> None:
        # a browser may send anything; what is not a request is not answered
        if isinstance(data, dict) and isinstance(data.get("kind"), str):
            self.handle(data)

    def handle(self, request: Mapping[str, Any]) -> None:
        """Carry out what a key asked for."""
        match request["kind"]:
            case "undo" | "redo" as name:
                self.runs.backend.ask(name)
            case "run":  # what takes long is asked about first, as at the button
                self.runs.handle({"kind": "cancel" if self.runs.runner.running else "run"})
