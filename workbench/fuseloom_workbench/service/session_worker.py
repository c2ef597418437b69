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
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from fuseloom.dataflow.sim.compiled.warmup import ready
from fuseloom.dataflow.sim.explain.data import observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.exploration import limiting
from fuseloom_workbench.base.parts import LaterResults
from fuseloom_workbench.graph import layout
from fuseloom_workbench.graph.sheet import sheet_of
from fuseloom_workbench.search.wishes import SearchSettings
from fuseloom_workbench.service.budgets import KEEP_RUNS, MIB, Budgets
from fuseloom_workbench.service.later import BackgroundTask, SplitTask
from fuseloom_workbench.service.priority import LOOK
from fuseloom_workbench.service.running import RunRequest, fork_runner
from fuseloom_workbench.service.sharing import POLL, Sharing
from fuseloom_workbench.service.wire import Closed, WorkerSocket
from fuseloom_workbench.state import commands, machines, saving, sources
from fuseloom_workbench.state.areas import load_hardware
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.views import LATER, PARTS

QUICK = 0.07
"""Seconds that a drawing may be expected to take if an answer is to wait for it."""
SHARES = min(2, os.cpu_count() or 1)
"""Processes that work on one part that comes later, while no other page is in use."""


class Rendering:
    """The parts of a page, as JSON text, and what changed since they were last sent."""

    def __init__(self, session: Session, budgets: Budgets) -> None:
        self.session = session
        self.budgets = budgets
        self.sent: dict[str, str] = {}
        self.later = LaterResults()
        self.version = 0

    def changes(self) -> dict[str, str]:
        """Parts that differ from what was sent, all of one version."""
        parts = {name: json.dumps(make(self.session)) for name, make in PARTS.items()}
        return self._changed(parts | self.later.parts(self.session, LATER))

    def later_changes(self) -> dict[str, str]:
        """The same of those that come later; the others depend on the session alone."""
        return self._changed(self.later.parts(self.session, LATER))

    def _changed(self, parts: dict[str, str]) -> dict[str, str]:
        changed = {name: text for name, text in parts.items() if self.sent.get(name) != text}
        self.sent.update(changed)
        self.version += 1
        return changed

    def draw_quickly(self) -> None:
        """Have the picture of the region shown, if that takes no longer than a child's start."""
        if sheet_of(self.session).seconds <= QUICK:
            self.make("graph")

    def make(self, name: str) -> None:
        """Make a part that comes later, here and now, if it is not whole yet."""
        for key in self.later.missing(self.session, [name]).values():
            for result in self.work(name):
                self.later.keep(name, key, result)

    def work(self, name: str) -> Iterator[Any]:
        """Give the results of a part that comes later."""
        return LATER[name].work(self.session, layout.draw)

    def begin(self, name: str, key: str, seconds: float, shares: int) -> SplitTask:
        """Begin to work on a part that comes later, in as many children as it has shares."""
        later = LATER[name]
        works, merge = [later.work], _first
        if shares > 1 and later.split is not None:
            works = [later.split.share(number, shares) for number in range(shares)]
            merge = later.split.merge
        bound = [partial(work, self.session, layout.draw) for work in works]
        return SplitTask(key, bound, seconds, later.pace, merge)


def _first(results: Sequence[Any], _: bool) -> Any:
    return results[0]


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
        session.most_nodes = budgets.graph_nodes
        self.rendering = Rendering(session, budgets)
        for name in ("graph", "orders", "why", "prices"):
            self.rendering.make(name)
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
        load_hardware()
        yield
        session = Session("gcn", "karate")
        other = Rendering(session, self.budgets)
        other.later = self.rendering.later
        cuts = [[gap] for gap in (3, 5, 2, 6, 1, 7)]
        steps = [*(partial(session.preset, name) for name in session.presets),
                 *(partial(session.set_cuts, gaps) for gaps in cuts)]  # fmt: skip
        for step in steps:
            step()
            yield
            for region in range(min(2, len(session.regions))):
                session.select_region(region)
                for name in ("graph", "orders", "prices"):
                    other.make(name)
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
        self._tasks: dict[str, SplitTask] = {}  # by the part that comes later
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
                works = [*(w for task in self._tasks.values() for w in task.running), *shared]
                wait = LOOK if works else None if self._sharing is None else POLL
                ready, _, _ = select.select([self.wire, *works], [], [], wait)
                for work in works if self._others else ():
                    work.give_way()
            try:
                if self.wire in ready:
                    with limiting.limited(cpu=self.budgets.cpu_time):
                        self._obey(self.wire.receive())
                elif come := [
                    (name, share)
                    for name, task in self._tasks.items()
                    for share in task.running
                    if share in ready
                ]:
                    self._take(*come[0])
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
                self.session.take(kept.problem, schedule, told, kept.design.as_written)
        self.session.keep(kept)

    def _open(self, saved: str, kept: list[str]) -> None:
        self.rendering.sent.clear()  # what the page has is not known here
        try:
            runs = [saving.unpacked(run) for run in kept]
            saving.restore(self.session, json.loads(saved), runs)
        except FuseloomError as reason:
            self.session.refuse(reason)

    def _answer(self, answer: int = 0) -> None:
        """Send what changed, and begin what comes later."""
        rendering = self.rendering
        if answer:
            rendering.draw_quickly()
        message = {"parts": rendering.changes(), "version": rendering.version}
        if answer:
            message |= {"answer": answer, "saved": json.dumps(saving.save(self.session))}
        self.wire.send(message)
        if answer:
            self._begin()

    def _begin(self) -> None:
        """Begin to work on what is shown now and not whole; what is out of date ends."""
        missing = self.rendering.later.missing(self.session, LATER)
        for name in [name for name, task in self._tasks.items() if task.key != missing.get(name)]:
            self._tasks.pop(name).end()
        for name in missing.keys() - self._tasks.keys():
            shares = 1 if self._others else SHARES
            task = self.rendering.begin(name, missing[name], self._seconds(name), shares)
            self._tasks[name] = task

    def _seconds(self, name: str) -> int:
        """CPU time that a part may take which comes later."""
        return self.budgets.draw_time * LATER[name].times

    def _take(self, name: str, share: BackgroundTask) -> None:
        task = self._tasks[name]
        going = task.take(share)
        result = task.result
        if not going:
            del self._tasks[name]
            if result is None or not result.whole:
                result = LATER[name].given_up(self.session, result, self._seconds(name))
        self.rendering.later.keep(name, task.key, result)
        parts = self.rendering.later_changes()
        self.wire.send({"parts": parts, "version": self.rendering.version})

    def _take_shared(self, work: BackgroundTask) -> None:
        assert self._sharing is not None
        new, reason = self._sharing.take(work)
        if new:
            self._answer()
        if reason:
            self.wire.send({"unread": reason})
