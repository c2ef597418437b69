"""The interface between a page's components and its session: parts to show, requests to make.

A page backend has the parts of one version of the design, as JSON text, and ``version`` counts how
often they were replaced.  All components draw from it at the same turn, so a design appears whole
or not at all.  :class:`LocalBackend` computes in this process, for notebooks and tests;
:class:`fuseloom_workbench.service.served_backend.ServedBackend` has it done elsewhere, for servers.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import panel as pn
import param

from fuseloom.dataflow.orders import RankedOrder
from fuseloom.results.record import RunRecord
from fuseloom_workbench.base.child import ChildError
from fuseloom_workbench.base.writing import write_every_message
from fuseloom_workbench.graph import layout
from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.orders import view as orders
from fuseloom_workbench.orders.view import candidates
from fuseloom_workbench.parts import PARTS
from fuseloom_workbench.running.worker import Runner, SimulationJob, warm_up
from fuseloom_workbench.search.wishes import SearchRequest, SearchSettings
from fuseloom_workbench.state import commands, machines, saving
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.records import KeptRun, source_of
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.streams import view as streams
from fuseloom_workbench.why import finding
from fuseloom_workbench.why import view as why
from fuseloom_workbench.why.finding import Findings

SLICE = 0.03
"""Seconds of ranking between two chances for other callbacks to run."""
REMEMBERED = 200


class PageBackend(param.Parameterized):
    """The parts to show, and the receiver of requests.

    Attributes
    ----------
    parts : dict of str to str
        Names of :mod:`fuseloom_workbench.parts` to JSON text; replaced as a whole.
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
        self._pictures: dict[str, tuple[str, str]] = {}
        self._rankings: dict[str, list[RankedOrder]] = {}
        self._recordings: dict[str, streams.Shown] = {}
        self._reasons: dict[str, Findings] = {}
        self._under_way: dict[str, str] = {}
        session.param.watch(
            lambda *_: self._refresh(),
            ["answers", "region", "cell", "node", "records", "latest", "pinned", "clusters",
             "direction", "drawing", "window", "shared", "judged", "moment",
             "promises", "menu", "verdict", "checked", "received"],
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
        later = {"graph": False, "orders": False, "streams": False}
        if "graph" in self._wanted:
            dot = graph.dot(session)
            picture = self._pictures.get(dot)
            later["graph"] = picture is None and not graph.stopped(session)
            before = self._under_way.get("graph")
            if before is not None and (before != dot or not later["graph"]):
                self._under_way.pop("graph")
                layout.end(before)
            if picture is not None:
                parts["graph"] = json.dumps(graph.view(session, *picture))
        if "orders" in self._wanted:
            found = self._rankings.get(orders.key(session))
            later["orders"] = found is None
            parts["orders"] = json.dumps(orders.view(session, found or []))
        if "why" in self._wanted:
            reasons = self._reasons.get(finding.key(session))
            later["why"] = reasons is None or not reasons.whole
            session.suggested = {} if reasons is None else {s.text: s for s in reasons.suggestions}
            parts["why"] = json.dumps(why.view(session, reasons))
        if "saved" in self._wanted:
            parts["saved"] = json.dumps(saving.save(session))
        if "streams" in self._wanted and streams.wanted(session):
            steps = streams.key(session)
            shown = self._recordings.get(steps)
            later["streams"] = shown is None or not shown.whole
            if shown is not None:
                parts |= shown.parts(session.moment, session.node)
        self._publish({**parts, "later": json.dumps(later)})
        if later["graph"] and self._under_way.get("graph") != dot:
            self._under_way["graph"] = dot
            pn.state.execute(partial(self._draw, dot))
        if later["orders"] and self._under_way.get("orders") != orders.key(session):
            self._under_way["orders"] = orders.key(session)
            pn.state.execute(partial(self._rank, orders.key(session)))
        if later["streams"] and self._under_way.get("streams") != steps:
            self._under_way["streams"] = steps
            pn.state.execute(partial(self._record, steps))
        if later.get("why") and self._under_way.get("why") != finding.key(session):
            self._under_way["why"] = finding.key(session)
            pn.state.execute(partial(self._reason, finding.key(session)))

    def _dropped(self, name: str, key: str) -> bool:
        """Return whether work to be begun is obsolete: something else changed before."""
        return self._under_way.get(name) != key

    async def _reason(self, key: str) -> None:
        if self._dropped("why", key):
            return
        work = finding.find(self.session)
        while (found := await asyncio.to_thread(next, work, None)) is not None:
            if finding.key(self.session) != key:
                return
            pn.state.execute(partial(self._finish, "why", self._reasons, key, found), schedule=True)

    async def _draw(self, dot: str) -> None:
        if self._dropped("graph", dot):
            return
        try:
            picture = await asyncio.to_thread(layout.places, dot), ""
        except ChildError as end:
            if self._dropped("graph", dot):
                return  # it was ended from here
            picture = "", str(end)
        # scheduled, because what is awaited goes on without the document's lock
        pn.state.execute(
            partial(self._finish, "graph", self._pictures, dot, picture), schedule=True
        )

    async def _rank(self, key: str) -> None:
        if self._dropped("orders", key):
            return
        found: list[RankedOrder] = []
        until = time.monotonic() + SLICE
        work: Iterator[RankedOrder] = candidates(
            self.session.built, self.session.region, orders.LIMIT
        )
        for entry in work:
            found.append(entry)
            if time.monotonic() > until:
                await asyncio.sleep(0.001)
                if self._dropped("orders", key):
                    return
                until = time.monotonic() + SLICE
        pn.state.execute(partial(self._finish, "orders", self._rankings, key, found), schedule=True)

    async def _record(self, steps: str) -> None:
        if self._dropped("streams", steps):
            return
        session = self.session
        work = streams.recordings(session, layout.svg)
        while (shown := await asyncio.to_thread(next, work, None)) is not None:
            finish = partial(self._finish, "streams", self._recordings, steps, shown)
            pn.state.execute(finish, schedule=True)

    def _finish(self, name: str, known: dict[str, Any], key: str, value: Any) -> None:
        most = streams.RECORDINGS if name == "streams" else REMEMBERED
        if key not in known and len(known) >= most:
            known.clear()
        known[key] = value
        if self._under_way.get(name) == key:
            if getattr(value, "whole", True):
                del self._under_way[name]
            self._refresh()

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
            pn.state.execute(lambda: self.session.finish(built, record) and None, schedule=True)

    def search(self, wishes: Mapping[str, Any] | None = None) -> None:
        _locked(lambda: pn.state.execute(partial(self._search, wishes)))

    async def _search(self, wishes: Mapping[str, Any] | None = None) -> None:
        built = self.session.built
        asked = SearchRequest(built.design, SearchSettings.of(wishes, self.runner.limit))
        record = await self.runner.run(asked, "fuseloom_workbench.search.searching:answer")
        warm_up()
        if record is not None and self.runner.found is not None:
            pn.state.execute(partial(self._take, built, *self.runner.found, record), schedule=True)

    def _take(self, searched: BuiltDesign, schedule: str, told: str, record: RunRecord) -> None:
        if self.session.take(searched.problem, schedule, told):
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
