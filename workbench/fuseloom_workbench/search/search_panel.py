"""Searching for a schedule: settings, the best so far and its bound, what fell, and why not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fuseloom.dataflow.machine.text import parse_machine, print_machine
from fuseloom.dataflow.space.requirements import RULE
from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.search.parameters import machine_space
from fuseloom_workbench.search.wishes import SearchSettings
from fuseloom_workbench.state.session import Session


class SearchPanel(SessionComponent):
    """The Search tab.

    What a search finds is shown while it goes on, and stays when it is cancelled; each schedule
    found can be taken over.

    Examples
    --------
    >>> panel = SearchPanel(Session("spmv"))
    >>> panel.handle({"kind": "start", "values": {"strategy": "luck"}})
    >>> panel.view["wrong"]["field"]
    'strategy'
    """

    _esm = script("base/scales", "search/search_panel")
    _stylesheets = [style("search/search_panel")]
    part = "search"

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        self._wrong: dict[str, str] = {}
        super().__init__(session, **params)
        watched = ["running", "share", "status", "failed", "searched"]
        self.runner.param.watch(lambda *_: self.refresh(), watched)

    @property
    def runner(self) -> Any:
        """State of the simulation, or the search."""
        return self.backend.runner

    def text(self) -> str | None:
        view, runner = self.backend.part("search"), self.runner
        return view and json.dumps(
            {
                **view,
                "running": runner.running,
                "share": runner.share,
                "status": runner.status,
                "failed": runner.failed,
                "searched": runner.searched,
                "wrong": self._wrong or self._refused(),
            }
        )

    def _refused(self) -> dict[str, str]:
        """The field that the last search was refused for, once it had read program and machine."""
        text = str(self.runner.status)
        if not self.runner.failed or self.runner.running:
            return {}
        if text.startswith(RULE):
            return {"field": "rules", "message": text}
        field, _, rest = text.partition(": ")
        known = {"parameters", *(p["name"] for p in self.backend.part("search")["parameters"])}
        return {"field": field, "message": rest} if field in known else {}

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "start", "values": dict(values)}:
                self._start(values)
            case {"kind": "cancel"}:
                self.backend.cancel()
            case {"kind": "take", "schedule": str(schedule)}:
                found = self.runner.searched
                as_written = SearchSettings.of(found.get("wishes")).designs
                self.backend.ask("take_found", found.get("problem", ""), schedule, as_written)
            case {"kind": "use", "number": int(number)}:
                self._use(number)
            case {"kind": "why", "text": str(text)}:
                self._ask_why(text)

    def _start(self, values: Mapping[str, Any]) -> None:
        try:
            wishes = SearchSettings.of(values, float(self.runner.limit))
            if view := self.backend.part("search"):
                wishes = wishes.on(parse_machine(view["machine"]), view["lanes"])
        except FuseloomError as reason:
            field, _, rest = str(reason).partition(": ")
            self._wrong = {"field": field, "message": rest}
            self.refresh()
            return
        self._wrong = {}
        self.refresh()
        self.backend.search(wishes.to_dict())

    def _use(self, number: int) -> None:
        """Take over a machine and its schedule, in one step, if found for what is shown."""
        shown, told = (self.backend.part("search") or {}).get("problem"), self.runner.searched
        found = [best for best in told.get("bests") or [] if "machine" in best]
        if not 0 <= number < len(found):
            return
        best, machine = found[number], found[number]["machine"]
        if shown not in (told["problem"], *(other["machine"]["problem"] for other in found)):
            return
        if shown == machine["problem"]:
            self.backend.ask("take_found", shown, best["schedule"], True)
            return
        parameters = SearchSettings.of(told["wishes"]).parameters
        space = machine_space(parse_machine(told["machine"]), told["lanes"], parameters)
        chosen = print_machine(space.point(machine["settings"]).machine)
        self.backend.ask("take_design", shown, chosen, best["schedule"])

    def _ask_why(self, text: str) -> None:
        view, told = self.backend.part("search") or {}, self.runner.searched
        same = bool(told) and told.get("problem") == view.get("problem") and told.get("bests")
        wishes = SearchSettings.of(told.get("wishes"))
        if same and not wishes.designs and not wishes.rules:
            best = float(told["bests"][0]["cycles"])
            self.backend.ask("why_not", text, best, told["lanes"], told["copies"], told["kept"])
        else:
            self.backend.ask("why_not", text, 0, 0, 0, "")
