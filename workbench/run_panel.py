"""Simulating the current configuration: run, cancel, and what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel as pn

from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.design import Built
from workbench.quantities import count, ratio, scientific, seconds, signed
from workbench.session import Session
from workbench.worker import Job, Runner, warm_up


class RunPanel(SessionComponent):
    """A Run button with progress, and the result with its check against the dense reference."""

    _esm = script("run_panel")
    _stylesheets = [style("run_panel")]

    def __init__(self, session: Session | None = None, **params: Any) -> None:
        self.runner = Runner()
        super().__init__(session, **params)

    def _follow(self) -> None:
        super()._follow()
        self.session.param.watch(lambda *_: self.refresh(), ["records", "latest"])
        self.runner.param.watch(lambda *_: self.refresh(), ["running", "share", "status", "failed"])
        if pn.state.curdoc and pn.state.curdoc.session_context:
            pn.state.onload(warm_up)
            # a closed page is noticed only after a while, but then its run must end
            pn.state.on_session_destroyed(lambda *_: self.runner.cancel())

    def make_view(self) -> dict[str, Any]:
        session, runner = self.session, self.runner
        record = session.record
        shown = record or session.latest
        result: dict[str, Any] = {}
        if shown is not None:
            base = session.baseline_of(shown.problem)
            error = f"max. rel. error {scientific(shown.max_rel_error)}"
            result = {
                "name": shown.name,
                "cycles": count(shown.cycles, "cycles"),
                "estimate": count(shown.estimated, "cycles"),
                "off": signed(shown.estimated / shown.cycles - 1) if shown.cycles else "",
                "ok": shown.ok,
                "badge": f"matches the dense reference ({error})" if shown.ok else shown.check,
                "stale": record is None,
                "took": seconds(shown.seconds),
                "speedup": ratio(base.cycles / shown.cycles) if base and shown.cycles else "",
                "work": f"{count(shown.flops, 'FLOPs')} · {count(shown.bytes, 'bytes')}",
            }
        return {
            "running": runner.running,
            "share": runner.share,
            "status": runner.status if runner.running or runner.failed else "",
            "failed": runner.failed,
            "done": record is not None,
            "cancelled": runner.status == "cancelled" and not runner.running,
            "estimate": count(session.estimate.cycles, "cycles"),
            "result": result,
        }

    def handle(self, request: Mapping[str, Any]) -> None:
        match request["kind"]:
            case "run":
                pn.state.execute(self.run)
            case "cancel":
                self.runner.cancel()

    async def run(self) -> None:
        """Simulate the current configuration and keep the record."""
        built = self.session.built
        job = Job(built.compilation, built.data, self.session.machine)
        outcome = await self.runner.run(job)
        warm_up()
        if outcome is not None:
            # scheduled, because a run is awaited without the document's lock
            pn.state.execute(lambda: self._finish(built, outcome), schedule=True)

    def _finish(self, built: Built, outcome: Mapping[str, Any]) -> None:
        self.session.finish(built, outcome)
