"""What the components of a page talk to: parts to show, and requests to make.

A desk has the parts of one version of the design, as JSON text, and ``turn`` counts how often they
were replaced.  All components draw from it at the same turn, so a design appears whole or not at
all.  :class:`LocalDesk` computes in this process, for notebooks and tests;
:class:`workbench.service.desk.ServedDesk` has it done elsewhere, for servers.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import panel as pn
import param

from engine.dataflow.orders import RankedOrder
from engine.results.record import RunRecord
from workbench import commands, layout, machines
from workbench.child import ChildError
from workbench.design import Built
from workbench.ranking import candidates
from workbench.records import source_of
from workbench.session import Session
from workbench.views import PARTS, graph, orders
from workbench.worker import Job, Runner, warm_up
from workbench.writing import write_every_message

SLICE = 0.03
"""Seconds of ranking between two chances for other callbacks to run."""
REMEMBERED = 200


class Desk(param.Parameterized):
    """What there is to show, and whom to ask.

    Attributes
    ----------
    parts : dict of str to str
        Names of :mod:`workbench.views` to JSON text; replaced as a whole.
    runner : param.Parameterized
        ``running``, ``share``, ``status``, ``failed`` and ``limit`` of the simulation.
    """

    turn = param.Integer(0, doc="Counts how often the parts were replaced; set last.")
    working = param.Boolean(False, doc="Whether a request is being carried out.")
    notice = param.String("", doc="What a visitor must know of the service: waiting, lost.")

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
        """Make a request of :data:`workbench.commands.COMMANDS`; the answer is a turn."""
        raise NotImplementedError

    def run(self, explain: bool = False) -> None:
        """Simulate the design; small ones are explained in any case."""
        raise NotImplementedError

    def search(self) -> None:
        """Look for a better schedule, and simulate it; the design takes it over."""
        raise NotImplementedError

    def cancel(self) -> None:
        """End the simulation, or the search."""
        raise NotImplementedError

    def close(self) -> None:
        """The page is gone."""

    def _publish(self, parts: dict[str, str]) -> None:
        self.parts = {**self.parts, **parts}
        self.turn += 1


class LocalDesk(Desk):
    """A desk that computes in this process.

    Examples
    --------
    >>> desk = LocalDesk(Session("gcn", "karate"))
    >>> desk.want("chain")
    >>> [region["name"] for region in desk.part("chain")["regions"]]
    ['T1..H', 'T5..Y']
    """

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(Runner(), **params)
        self.session = session
        self._wanted: set[str] = set()
        self._pictures: dict[str, tuple[str, str]] = {}
        self._rankings: dict[str, list[RankedOrder]] = {}
        self._under_way: dict[str, str] = {}
        session.param.watch(
            lambda *_: self._refresh(),
            ["answers", "region", "cell", "node", "records", "latest", "clusters", "direction",
             "activity", "shared", "judged"],
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
        later = {"graph": False, "orders": False}
        if "graph" in self._wanted:
            dot = graph.dot(session)
            picture = self._pictures.get(dot)
            later["graph"] = picture is None
            if picture is not None:
                parts["graph"] = json.dumps(graph.view(session, *picture))
        if "orders" in self._wanted:
            found = self._rankings.get(orders.key(session))
            later["orders"] = found is None
            parts["orders"] = json.dumps(orders.view(session, found or []))
        self._publish({**parts, "later": json.dumps(later)})
        if later["graph"] and self._under_way.get("graph") != dot:
            self._under_way["graph"] = dot
            pn.state.execute(self._draw)
        if later["orders"] and self._under_way.get("orders") != orders.key(session):
            self._under_way["orders"] = orders.key(session)
            pn.state.execute(self._rank)

    async def _draw(self) -> None:
        dot = self._under_way["graph"]
        try:
            picture = await asyncio.to_thread(layout.svg, dot), ""
        except ChildError as end:
            picture = "", str(end)
        # scheduled, because what is awaited goes on without the document's lock
        pn.state.execute(
            partial(self._finish, "graph", self._pictures, dot, picture), schedule=True
        )

    async def _rank(self) -> None:
        key = self._under_way["orders"]
        found: list[RankedOrder] = []
        until = time.monotonic() + SLICE
        work: Iterator[RankedOrder] = candidates(
            self.session.built, self.session.region, orders.LIMIT
        )
        for entry in work:
            found.append(entry)
            if time.monotonic() > until:
                await asyncio.sleep(0.001)
                if self._under_way.get("orders") != key:
                    return
                until = time.monotonic() + SLICE
        pn.state.execute(partial(self._finish, "orders", self._rankings, key, found), schedule=True)

    def _finish(self, name: str, known: dict[str, Any], key: str, value: Any) -> None:
        if len(known) >= REMEMBERED:
            known.clear()
        known[key] = value
        if self._under_way.get(name) == key:
            del self._under_way[name]
            self._refresh()

    def ask(self, name: str, *arguments: Any) -> None:
        _locked(lambda: commands.carry_out(self.session, name, arguments))

    def run(self, explain: bool = False) -> None:
        async def work() -> None:
            await self._run(explain)

        # after the requests before it
        _locked(lambda: pn.state.execute(work))

    async def _run(self, explain: bool) -> None:
        built = self.session.built
        explain = explain or built.tokens <= machines.SMALL
        job = Job(built.compilation, built.data, built.design.machine, explain, source_of(built))
        record = await self.runner.run(job)
        warm_up()
        if record is not None:
            # scheduled, because a run is awaited without the document's lock
            pn.state.execute(lambda: self.session.finish(built, record) and None, schedule=True)

    def search(self) -> None:
        _locked(lambda: pn.state.execute(self._search))

    async def _search(self) -> None:
        built = self.session.built
        record = await self.runner.run(built.design, "workbench.search:answer")
        warm_up()
        if record is not None and self.runner.found is not None:
            pn.state.execute(partial(self._take, built, *self.runner.found, record), schedule=True)

    def _take(self, searched: Built, schedule: str, told: str, record: RunRecord) -> None:
        if self.session.take(searched.problem, schedule, told):
            self.session.finish(self.session.built, record)

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


def desk_of(shown: Session | Desk | None) -> Desk:
    """The desk that components on one session share; a new session's by default."""
    if isinstance(shown, Desk):
        return shown
    session = shown if shown is not None else Session()
    known = vars(session).get("_desk")
    if known is None:
        known = vars(session)["_desk"] = LocalDesk(session)
    return known
