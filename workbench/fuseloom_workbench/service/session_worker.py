"""The process that holds one page's session, and computes all that the page shows.

From the server come ``{"ask": n, "name": ..., "args": [...]}``, ``{"open": saved, "kept": [...]}``,
``{"run": n, "explain": bool, "search": bool, "events": bool, "settings": {...}}``, the settings of
a search, and ``{"keep": run}``, of a search with ``"found": [schedule, told]``, some with
``others``, whether other pages are in use; to it go ``{"parts": {...}, "saved": text,
"version": n, "answer": n}`` with the parts that changed, each as JSON text, and ``{"runner": n}``
with its socket; ``{"unread": reason}`` if runs cannot be read.
"""

from __future__ import annotations

import gc
import json
import os
import select
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from fuseloom.dataflow.orders import RankedOrder
from fuseloom.dataflow.sim.compiled.warmup import ready
from fuseloom.dataflow.sim.explain.data import observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.exploration import limiting
from fuseloom.wording import counted
from fuseloom_workbench.graph import layout
from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.graph.sheet import sheet_of
from fuseloom_workbench.orders import view as orders
from fuseloom_workbench.orders.view import candidates
from fuseloom_workbench.parts import PARTS
from fuseloom_workbench.search.wishes import SearchSettings
from fuseloom_workbench.service.budgets import KEEP_RUNS, MIB, Budgets
from fuseloom_workbench.service.later import BackgroundTask
from fuseloom_workbench.service.priority import LOOK
from fuseloom_workbench.service.running import RunRequest, fork_runner
from fuseloom_workbench.service.sharing import POLL, Sharing
from fuseloom_workbench.service.wire import Closed, WorkerSocket
from fuseloom_workbench.state import commands, machines, saving, sources
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.streams import view as streams
from fuseloom_workbench.why import finding
from fuseloom_workbench.why import view as why
from fuseloom_workbench.why.finding import Findings

STEP = 0.3
"""Seconds between two reports of a ranking."""
QUICK = 0.07
"""Seconds that a drawing may be expected to take if an answer is to wait for it."""
REMEMBERED = 100
"""Rankings and drawings that are kept for a quick return."""


class Rendering:
    """The parts of a page, as JSON text, and what changed since they were last sent."""

    def __init__(self, session: Session, budgets: Budgets) -> None:
        self.session = session
        self.budgets = budgets
        self.sent: dict[str, str] = {}
        self.pictures: dict[str, tuple[str, str]] = {}
        self.rankings: dict[str, list[RankedOrder]] = {}
        self.recordings: dict[str, streams.Shown] = {}
        self.reasons: dict[str, Findings] = {}
        self.version = 0

    def changes(self, found: list[RankedOrder] | None = None) -> dict[str, str]:
        """Parts that differ from what was sent, all of one version.

        ``found`` are the orders of an unfinished ranking.
        """
        session = self.session
        drawn = self.pictures.get(graph.dot(session))
        ranked = self.rankings.get(orders.key(session))
        parts = {name: json.dumps(make(session)) for name, make in PARTS.items()}
        if drawn is not None:
            parts["graph"] = json.dumps(graph.view(session, *drawn))
        parts["orders"] = json.dumps(orders.view(session, ranked or found or []))
        reasons = self.reasons.get(finding.key(session))
        session.suggested = {} if reasons is None else {s.text: s for s in reasons.suggestions}
        parts["why"] = json.dumps(why.view(session, reasons))
        later = {
            "graph": drawn is None and not graph.stopped(session),
            "orders": ranked is None,
            "streams": False,
        }
        if streams.wanted(session):
            steps = self.recordings.get(streams.key(session))
            later["streams"] = steps is None or not steps.whole
            if steps is not None:
                parts |= steps.parts(session.moment, session.node)
        parts["later"] = json.dumps(later)
        changed = {name: text for name, text in parts.items() if self.sent.get(name) != text}
        self.sent.update(changed)
        self.version += 1
        return changed

    def draw_quickly(self) -> None:
        """Have the picture of the region shown, if that takes no longer than a child's start."""
        session = self.session
        dot = graph.dot(session)
        known = dot in self.pictures or graph.stopped(session)
        if not known and sheet_of(session).seconds <= QUICK:
            for picture in self.draw():
                _kept(self.pictures, dot, picture)

    def draw(self) -> Iterator[tuple[str, str]]:
        """The picture of the region shown, or what is wrong; runs in a child."""
        nodes, most = graph.wanted(self.session)["nodes"], self.budgets.graph_nodes
        if nodes > most:
            yield (
                "",
                f"a graph of {counted(nodes, 'node')}; here, graphs up to "
                f"{counted(most, 'node')} are drawn",
            )
            return
        try:
            yield layout.draw(graph.dot(self.session), "places"), ""
        except (OSError, ValueError, RuntimeError) as problem:
            yield "", f"graph layout failed: {problem}"
        except MemoryError:
            yield "", "graph layout needs more memory than there is for it"

    def record(self) -> Iterator[streams.Shown]:
        """The drawing of the region shown, then with every token of its run; runs in a child."""
        return streams.recordings(self.session, partial(layout.draw, form="svg"))

    def reason(self) -> Iterator[Findings]:
        """Yield suggestions for the design shown; runs in a child."""
        yield from finding.find(self.session)

    def rank(self) -> Iterator[list[RankedOrder]]:
        """Orders of the region shown, reported now and then; runs in a child."""
        found: list[RankedOrder] = []
        said = time.monotonic()
        for entry in candidates(self.session.built, self.session.region, orders.LIMIT):
            found.append(entry)
            if time.monotonic() > said + STEP:
                yield found
                said = time.monotonic()
        yield found


def _kept(known: dict[str, Any], key: str, value: Any) -> None:
    if key not in known and len(known) >= REMEMBERED:
        del known[next(iter(known))]
    known[key] = value


class Template:
    """The state that is prepared before the first page is opened.

    Attributes
    ----------
    compiled : bool
        Whether the simulator's kernels are in the cache.
    """

    def __init__(self, budgets: Budgets) -> None:
        self.budgets = budgets
        sources.keep_programs(budgets.programs)
        session = Session("gcn", "karate")
        session.run_limit = budgets.run_time
        session.most_records = budgets.records
        session.most_text = budgets.text
        session.most_file = budgets.upload_file * MIB
        session.most_statements = budgets.statements
        self.rendering = Rendering(session, budgets)
        for picture in self.rendering.draw():
            self.rendering.pictures[graph.dot(session)] = picture
        for found in self.rendering.rank():
            self.rendering.rankings[orders.key(session)] = found
        for reasons in self.rendering.reason():
            self.rendering.reasons[finding.key(session)] = reasons
        self.parts = self.rendering.changes()
        gc.freeze()  # what is collected in a fork would be copied
        data, machine = session.built.data, session.machine
        run = simulate(session.compilation, data, machine, observe=observation(True))
        run.check()  # kernels and the reference are loaded now
        self.compiled = ready()
        self.rehearsal = self._rehearse()

    def _rehearse(self) -> Iterator[None]:
        """Go through what visitors do first, step by step, so that it is remembered in all forks.

        The fork server does this while it has nothing else to do.
        """
        session = Session("gcn", "karate")
        other = Rendering(session, self.budgets)
        other.pictures, other.rankings = self.rendering.pictures, self.rendering.rankings
        cuts = [[gap] for gap in (3, 5, 2, 6, 1, 7)]
        steps = [*(partial(session.preset, name) for name in session.presets),
                 *(partial(session.set_cuts, gaps) for gaps in cuts)]  # fmt: skip
        for step in steps:
            step()
            yield
            for region in range(min(2, len(session.regions))):
                session.select_region(region)
                for picture in other.draw():
                    _kept(other.pictures, graph.dot(session), picture)
                yield
                for found in other.rank():
                    _kept(other.rankings, orders.key(session), found)
                yield
        gc.freeze()

    @property
    def state(self) -> dict[str, Any]:
        """The state of a page that has made no request yet."""
        saved = json.dumps(saving.save(self.rendering.session))
        return {"parts": self.parts, "saved": saved, "compiled": self.compiled}

    def sit(self, wire: WorkerSocket, fork_server: int) -> None:
        """Serve a page, inside a fork."""
        limiting.limit_memory(self.budgets.memory * MIB)
        SessionWorker(wire, self.rendering, fork_server).serve()


class SessionWorker:
    """Answers one page."""

    def __init__(self, wire: WorkerSocket, rendering: Rendering, fork_server: int) -> None:
        self.wire = wire
        self.rendering = rendering
        self.session = rendering.session
        self.budgets = rendering.budgets
        self._fork_server = fork_server
        self._others = False  # whether there are pages to give way to
        self._drawing: BackgroundTask | None = None
        self._ranking: BackgroundTask | None = None
        self._recording: BackgroundTask | None = None
        self._reasoning: BackgroundTask | None = None
        path = os.environ.get(KEEP_RUNS)
        seconds = self.budgets.draw_time
        self._sharing = Sharing(self.session, path, seconds) if path else None

    def serve(self) -> None:
        """Work until the server closes the socket."""
        while True:
            shared: list[BackgroundTask] = []
            if self._sharing is not None:
                if not self.wire.waiting:
                    self._sharing.begin()
                shared = self._sharing.works
            if self.wire.waiting:
                ready: list[Any] = [self.wire]
            else:
                own = (self._drawing, self._ranking, self._recording, self._reasoning)
                works = [work for work in (*own, *shared) if work is not None]
                wait = LOOK if works else None if self._sharing is None else POLL
                ready, _, _ = select.select([self.wire, *works], [], [], wait)
                for work in works if self._others else ():
                    work.give_way()
            try:
                if self.wire in ready:
                    with limiting.limited(cpu=self.budgets.cpu_time):
                        self._obey(self.wire.receive())
                elif self._drawing in ready:
                    self._take_picture()
                elif self._ranking in ready:
                    self._take_orders()
                elif self._recording in ready:
                    self._take_recording()
                elif self._reasoning in ready:
                    self._take_reasons()
                elif done := [work for work in shared if work in ready]:
                    self._take_shared(done[0])
            except Closed:
                return

    def _obey(self, order: dict[str, Any]) -> None:
        self._others = order.get("others", self._others)
        match order:
            case {"ask": int(number), "name": str(name), "args": list(arguments)}:
                commands.carry_out(self.session, name, arguments)
                self._answer(answer=number)
            case {"open": str(saved), "kept": list(kept), "answer": int(number)}:
                self._open(saved, kept)
                self._answer(answer=number)
            case {"run": int(number), "explain": bool(explain), "search": bool(search), **more}:
                built = self.session.built
                explain = explain or (built.tokens <= machines.SMALL and not search)
                settings = SearchSettings.of(more.get("settings"), self.budgets.run_time)
                wishes = RunRequest(explain, search, settings, more.get("events") is True)
                file = fork_runner(built, wishes, self.budgets, self._fork_server)
                self.wire.send({"runner": number}, (file,))
                os.close(file)
            case {"keep": str(run), "answer": int(number)}:
                self._keep(saving.unpacked(run), order.get("found"))
                self._answer(answer=number)

    def _keep(self, kept: KeptRun, found: Any) -> None:
        match found:
            case [str(schedule), str(told)]:
                self.session.take(kept.problem, schedule, told)
        self.session.keep(kept)

    def _open(self, saved: str, kept: list[str]) -> None:
        self.rendering.sent.clear()  # what the page has is not known here
        try:
            runs = [saving.unpacked(run) for run in kept]
            saving.restore(self.session, json.loads(saved), runs)
        except FuseloomError as reason:
            self.session.refuse(reason)

    def _answer(self, answer: int = 0, found: list[RankedOrder] | None = None) -> None:
        """Send what changed, and begin what comes later."""
        rendering = self.rendering
        if answer and self._ranking is not None and self._ranking.key == orders.key(self.session):
            found = self._ranking.result
        if answer:
            rendering.draw_quickly()
        message = {"parts": rendering.changes(found), "version": rendering.version}
        if answer:
            message |= {"answer": answer, "saved": json.dumps(saving.save(self.session))}
        self.wire.send(message)
        if answer:
            self._begin()

    def _begin(self) -> None:
        """Begin to draw, to rank and to explain what is shown now; what is out of date ends."""
        seconds = self.budgets.draw_time
        dot, order = graph.dot(self.session), orders.key(self.session)
        stopped = graph.stopped(self.session)
        if self._drawing is not None and (self._drawing.key != dot or stopped):
            self._drawing.end()
            self._drawing = None
        if self._ranking is not None and self._ranking.key != order:
            self._ranking.end()
            self._ranking = None
        steps = streams.key(self.session) if streams.wanted(self.session) else ""
        if self._recording is not None and self._recording.key != steps:
            self._recording.end()
            self._recording = None
        reasons = finding.key(self.session)
        if self._reasoning is not None and self._reasoning.key != reasons:
            self._reasoning.end()
            self._reasoning = None
        if self._drawing is None and not stopped and dot not in self.rendering.pictures:
            self._drawing = BackgroundTask(dot, self.rendering.draw, seconds)
        known = self.rendering.reasons.get(reasons)
        if self._reasoning is None and (known is None or not known.whole):
            self._reasoning = BackgroundTask(reasons, self.rendering.reason, seconds)
        if self._ranking is None and order not in self.rendering.rankings:
            self._ranking = BackgroundTask(order, self.rendering.rank, seconds)
        shown = self.rendering.recordings.get(steps)
        if self._recording is None and steps and not (shown is not None and shown.whole):
            self._recording = BackgroundTask(steps, self.rendering.record, seconds)

    def _take_shared(self, work: BackgroundTask) -> None:
        assert self._sharing is not None
        new, reason = self._sharing.take(work)
        if new:
            self._answer()
        if reason:
            self.wire.send({"unread": reason})

    def _take_picture(self) -> None:
        work = self._drawing
        assert work is not None
        if work.take():
            return
        self._drawing = None
        limit = self.budgets.draw_time
        late = "", f"drawing this graph took more than {limit} s and was given up"
        _kept(self.rendering.pictures, work.key, work.result or late)
        self._answer()

    def _take_orders(self) -> None:
        work = self._ranking
        assert work is not None
        if work.take():
            self._answer(found=work.result)
            return
        self._ranking = None
        _kept(self.rendering.rankings, work.key, work.result or [])
        self._answer()

    def _take_recording(self) -> None:
        work = self._recording
        assert work is not None
        known = self.rendering.recordings
        if not work.take():
            self._recording = None
            if work.result is not None and work.result.whole:
                return
            limit = self.budgets.draw_time
            work.result = streams.given_up(
                self.session, f"recording this run took more than {limit} s and was given up"
            )
        if len(known) >= streams.RECORDINGS and work.key not in known:
            known.clear()
        known[work.key] = work.result
        self._answer()

    def _take_reasons(self) -> None:
        work = self._reasoning
        assert work is not None
        if not work.take():
            self._reasoning = None
            if work.result is not None and work.result.whole:
                return
            work.result = replace(work.result or Findings((), ()), whole=True)
        _kept(self.rendering.reasons, work.key, work.result)
        self._answer()
