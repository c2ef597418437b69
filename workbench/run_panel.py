"""Simulating the current configuration: run, cancel, and what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel as pn

from engine.results.record import RunRecord
from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.design import Built
from workbench.machines import PATIENCE, SMALL, expected_seconds
from workbench.quantities import about, count, ratio, scientific, seconds, short, signed
from workbench.records import source_of
from workbench.session import Session
from workbench.worker import Job, Runner, warm_up


class RunPanel(SessionComponent):
    """A Run button with progress, and the result with its check against the dense reference.

    What is expected to take long is asked about first.
    """

    _esm = script("run_panel")
    _stylesheets = [style("run_panel")]

    def __init__(self, session: Session | None = None, **params: Any) -> None:
        self.runner = Runner()
        self._asked = ""  # the configuration whose run waits for a yes
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
            run, base = shown.run, session.baseline_of(shown.problem)
            error = f"max. rel. error {scientific(shown.max_rel_error)}"
            check = run.check
            whole = check is not None and check.ok and not check.rows and not check.unchecked
            result = {
                "name": shown.name,
                "cycles": count(run.cycles, "cycles"),
                "estimate": count(shown.estimated, "cycles"),
                "off": signed(shown.estimated / run.cycles - 1) if run.cycles else "",
                "ok": run.ok,
                "badge": f"matches the dense reference ({error})" if whole else shown.verdict,
                "stale": record is None,
                "took": seconds(run.seconds),
                "speedup": ratio(base.run.cycles / run.cycles) if base and run.cycles else "",
                "work": f"{count(run.flops, 'FLOPs')} · {count(run.bytes, 'bytes')}",
                "note": "the estimate knows no memory" if shown.design.machine.memory else "",
                "machine": shown.machine,
                "standin": shown.standin,
            }
        return {
            "running": runner.running,
            "share": runner.share,
            "status": self._status(),
            "asking": self._question() if self._asked == session.configuration else "",
            "failed": runner.failed,
            "done": record is not None,
            "cancelled": runner.status == "cancelled" and not runner.running,
            "estimate": count(session.estimate.cycles, "cycles"),
            "result": result,
        }

    def handle(self, request: Mapping[str, Any]) -> None:
        match request["kind"]:
            case "run" if self.expected > PATIENCE and not request.get("sure"):
                self._asked = self.session.configuration
                self.refresh()
            case "run":
                self._asked = ""
                pn.state.execute(self.run)
            case "leave":
                self._asked = ""
                self.refresh()
            case "cancel":
                self.runner.cancel()

    @property
    def expected(self) -> float:
        """Seconds that a run of the current configuration may take, very roughly."""
        return self.expect(self.session.built.tokens <= SMALL)

    def expect(self, explain: bool) -> float:
        """The same, with or without the log that explains it."""
        return expected_seconds(self.session.built.tokens, self.session.machine, explain)

    def _question(self) -> str:
        takes = about(self.expected)
        if self.expected > self.runner.limit:
            takes += f", more than the limit of {about(self.runner.limit)} for a run here"
        tokens = short(self.session.built.tokens, "tokens")
        return f"This may take {takes}: the estimate expects {tokens} to simulate."

    def _status(self) -> str:
        runner = self.runner
        if not runner.running:
            return runner.status if runner.failed else ""
        return f"{runner.share:.0%} · {runner.status}" if runner.share else runner.status

    def explain(self) -> None:
        """Simulate the current configuration once more, with a log of every wait."""
        self._asked = ""
        pn.state.execute(self._run_explained)

    async def _run_explained(self) -> None:
        await self.run(explain=True)

    async def run(self, explain: bool = False) -> None:
        """Simulate the current configuration and keep the record; small ones are explained too."""
        built = self.session.built
        explain = explain or built.tokens <= SMALL
        job = Job(built.compilation, built.data, built.design.machine, explain, source_of(built))
        record = await self.runner.run(job)
        warm_up()
        if record is not None:
            # scheduled, because a run is awaited without the document's lock
            pn.state.execute(lambda: self._finish(built, record), schedule=True)

    def _finish(self, built: Built, record: RunRecord) -> None:
        self.session.finish(built, record)
