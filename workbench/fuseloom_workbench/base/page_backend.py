"""The interface between a page's components and its session: parts to show, requests to make.

A page backend has the parts of one version of the design, as JSON text, and ``version`` counts how
often they were replaced.  All components draw from it at the same turn, so a design appears whole
or not at all.  :class:`LocalBackend` computes in this process, for notebooks and tests;
:class:`fuseloom_workbench.service.served_backend.ServedBackend` has it done elsewhere, for servers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import panel as pn
import param

from fuseloom.results.record import RunRecord
from fuseloom_workbench.base.parts import LaterResult, LaterResults, Pace
from fuseloom_workbench.base.writing import write_every_message
from fuseloom_workbench.graph import layout
from fuseloom_workbench.running.worker import Runner, SimulationJob, warm_up
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings
from fuseloom_workbench.state import commands, machines, saving
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.records import KeptRun, source_of
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.views import LATER, PARTS


class PageBackend(param.Parameterized):
    """The parts to show, and the receiver of requests.

    Attributes
    ----------
    parts : dict of str to str
        Names of :mod:`fuseloom_workbench.base.parts` to JSON text; replaced as a whole.
    runner : param.Parameterized
        ``running``, ``share``, ``status``, ``failed`` and ``limit`` of the simulation.
    """

    version = param.Integer(0, doc="Counts how often the parts were replaced; set last.")
    working = param.Boolean(False, doc="Whether a request is being carried out.")
    notice = param.String("", doc="What a visitor must know of the service: waiting, lost.")
    session_token = param.String(
        "", doc="What a page loaded anew says, to go on with this one's runs."
    )

    def __init__(self, runner: Any, **params: Any) -> None:
        super().__init__(**params)
        write_every_message()
        self.runner = runner
        self.parts: dict[str, str] = {}
        self._read: dict[str, tuple[str, Any]] = {}

    def want(self, *names: str) -> None:
        """Say which parts are shown."""

    def part(self, name: str) -> Any:
        """A part as plain data; None while it is not known.  Not to be changed."""
        text = self.parts.get(name)
        if text is None:
            return None
        known = self._read.get(name)
        if known is None or known[0] is not text:
            known = self._read[name] = text, json.loads(text)
        return known[1]

    def ask(self, name: str, *arguments: Any) -> None:
        """Make a request of :mod:`fuseloom_workbench.state.commands`; the answer is a turn."""
        raise NotImplementedError

    def resume(self, session_token: str, saved: dict[str, Any]) -> None:
        """Resume the page of a session token with its runs, or else what the browser has saved."""
        self.ask("restore", saved)

    def run(self, explain: bool = False, events: bool = False) -> None:
        """Simulate the design; small ones are explained in any case.

        With ``events`` every wait of every node is kept, too.
        """
        raise NotImplementedError

    def search(self, wishes: Mapping[str, Any] | None = None) -> None:
        """Look for a better schedule, and simulate it; the design takes it over.

        How far it is comes in ``runner.searched`` (:mod:`fuseloom_workbench.search.story`).

        Parameters
        ----------
        wishes : mapping, optional
            Settings, as :class:`fuseloom_workbench.search.wishes.SearchSettings` has them.
        """
        raise NotImplementedError

    def cancel(self) -> None:
        """End the simulation, or the search."""
        raise NotImplementedError

    def close(self) -> None:
        """The page is gone."""

    def _publish(self, parts: dict[str, str]) -> None:
        self.parts = {**self.parts, **parts}
        self.version += 1


class LocalBackend(PageBackend):
    """A page backend that computes in this process.

    Examples
    --------
    >>> backend = LocalBackend(Session("gcn", "karate"))
    >>> backend.want("chain")
    >>> [region["name"] for region in backend.part("chain")["regions"]]
    ['T1..H', 'T5..Y']
    """

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(Runner(), **params)
        self.session = session
        self._wanted: set[str] = set()
        self._later = LaterResults()
        self._under_way: dict[str, str] = {}
        session.param.watch(
            lambda *_: self._refresh(),
            ["answers", "region", "cell", "node", "records", "latest", "pinned", "clusters",
             "direction", "drawing", "window", "shared", "judged", "moment",
             "promises", "menu", "verdict", "checked", "received", "comparand",
             "mapped", "kernel"],
        )  # fmt: skip

    def want(self, *names: str) -> None:
        new = set(names) - self._wanted
        self._wanted |= new
        if new:
            self._refresh()

    def _refresh(self) -> None:
        """Make the parts anew, and begin what takes longer."""
        session = self.session
        parts = {name: json.dumps(PARTS[name](session)) for name in self._wanted & set(PARTS)}
        if "saved" in self._wanted:
            parts["saved"] = json.dumps(saving.save(session))
        self._go_on(parts)

    def _go_on(self, parts: Mapping[str, str]) -> None:
        """Show these parts and all that came later, and begin what is missing of it."""
        session, later = self.session, self._wanted & set(LATER)
        missing = self._later.missing(session, later)
        for name, key in [*self._under_way.items()]:
            if missing.get(name) != key:
                del self._under_way[name]
                LATER[name].end(key)
        self._publish({**parts, **self._later.parts(session, later)})
        for name, key in missing.items():
            if name not in self._under_way:
                self._under_way[name] = key
                pn.state.execute(partial(self._work, name, key))

    async def _work(self, name: str, key: str) -> None:
        """Work on a part that comes later, until something else is shown."""
        if self._under_way.get(name) != key:
            return
        part = LATER[name]
        results, pace = part.work(self.session, layout.draw_elsewhere), Pace(part.pace)
        while self._under_way.get(name) == key:
            if part.threaded:
                result = await asyncio.to_thread(next, results, None)
            else:
                result = next(results, None)
                await asyncio.sleep(0.001)
            if result is None:
                return
            if not pace.lets(result):
                continue
            # scheduled, because what is awaited goes on without the document's lock
            pn.state.execute(partial(self._finish, name, key, result), schedule=True)

    def _finish(self, name: str, key: str, result: LaterResult) -> None:
        if self._under_way.get(name) != key:
            return  # something else is shown now
        self._later.keep(name, key, result)
        self._go_on({})  # the other parts depend on the session alone

    def ask(self, name: str, *arguments: Any) -> None:
        _locked(lambda: commands.carry_out(self.session, name, arguments))

    def run(self, explain: bool = False, events: bool = False) -> None:
        async def work() -> None:
            await self._run(explain, events)

        # after the requests before it
        _locked(lambda: pn.state.execute(work))

    async def _run(self, explain: bool, events: bool) -> None:
        built = self.session.built
        explain = explain or built.tokens <= machines.SMALL
        machine, source = built.design.machine, source_of(built)
        job = SimulationJob(built.compilation, built.data, machine, explain, source, events)
        record = await self.runner.run(job)
        warm_up()
        if record is not None:
            # scheduled, because a run is awaited without the document's lock
            finish = partial(self.session.finish, built, record)
            pn.state.execute(lambda: finish() and None, schedule=True)

    def search(self, wishes: Mapping[str, Any] | None = None) -> None:
        _locked(lambda: pn.state.execute(partial(self._search, wishes)))

    async def _search(self, wishes: Mapping[str, Any] | None = None) -> None:
        built = self.session.built
        asked = SearchRequest(built.design, SearchSettings.of(wishes, self.runner.limit))
        record = await self.runner.run(asked, "fuseloom_workbench.search.searching:answer")
        warm_up()
        if record is not None and self.runner.found is not None:
            take = partial(self._take, built, *self.runner.found, asked.wishes.designs, record)
            pn.state.execute(take, schedule=True)

    def _take(
        self, searched: BuiltDesign, schedule: str, told: str, as_written: bool, record: RunRecord
    ) -> None:
        if self.session.take(searched.problem, schedule, told, as_written):
            found = KeptRun.of(self.session.built, record)
            self.session.keep(replace(found, searched=True))

    def cancel(self) -> None:
        self.runner.cancel()

    def close(self) -> None:
        self.runner.cancel()


def _locked(what: Callable[[], None]) -> None:
    """Do it where the page may be changed: on a server, at its next tick, under its lock.

    An event from a browser that comes while a change from there is under way, which Panel waits
    with, reaches its component in a coroutine, and those run without the lock.
    """
    pn.state.execute(what, schedule=True)


def backend_of(shown: Session | PageBackend | None) -> PageBackend:
    """The page backend that components on one session share; a new session's by default."""
    if isinstance(shown, PageBackend):
        return shown
    session = shown if shown is not None else Session()
    known = vars(session).get("_backend")
    if known is None:
        known = vars(session)["_backend"] = LocalBackend(session)
    return known
