"""Several visitors at once: how long a drag and a run take, and whether every answer is right.

    python -m benchmarks.sessions [--visitors 10] [--minutes 10] [--hostile] [--pause 1.0]
    python -m benchmarks.sessions --visits 100

Each visitor drags the boundary of Karate GCN to a place of its own choice, and now and then runs,
half of the time with events, and then zooms into the timeline; the cycles, and those of every
column, are compared with those of the same design simulated here.  When all have left, the
server's memory is compared with that after one visitor.  With ``--hostile`` one more visitor sends
the worst there is, all the time (:mod:`benchmarks.hostile`).  At the end the server is told to
end, and nothing of it may be left.  With ``--visits`` so many visitors come one after
another, each drags, runs and goes, and the server's memory is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from benchmarks.hostile import harass
from benchmarks.visitors import Server, Visitor
from fuseloom.dataflow.sim.events.files import new_file
from fuseloom.dataflow.sim.explain.data import PAGE, observation
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom_workbench.state.look import Window
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.timeline import windows

WIDTH = 600
"""Columns of a timeline, as a browser asks for them."""


@cache
def ran(cuts: tuple[int, ...]) -> Session:
    """Karate GCN under these cuts, run here."""
    session = Session("gcn", "karate")
    session.set_cuts(cuts)
    built = session.built
    machine = session.machine
    run = simulate(built.compilation, built.data, machine, observe=observation(True, new_file()))
    session.finish(built, program_record(run, run.check(), PAGE))
    return session


@cache
def cycles(cuts: tuple[int, ...]) -> str:
    """Return the cycles of a run of Karate GCN under these cuts, computed here."""
    return f"{ran(cuts).record.run.cycles:,} cycles"


def window(cuts: tuple[int, ...], seen: dict[str, Any]) -> dict[str, Any]:
    """Return a window of that run's timeline, computed here."""
    session = ran(cuts)
    asked = Window("window", seen["number"], seen["from"], seen["to"], WIDTH, tuple(seen["rows"]))
    session.look_into(asked)
    return json.loads(json.dumps(windows.answer(session)))


@dataclass
class VisitOutcome:
    """Seconds of drags, runs and zooms into timelines, and what was wrong."""

    drags: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    hostile: Counter[str] = field(default_factory=Counter)
    """Of each kind how many requests the hostile visitor sent."""

    def __str__(self) -> str:
        return "\n".join(
            [
                f"drags: {len(self.drags):,}, {quantiles(self.drags)}",
                f"runs:  {len(self.runs):,}, {quantiles(self.runs)}",
                f"looks: {len(self.looks):,}, {quantiles(self.looks)}",
                f"wrong: {len(self.wrong)} {self.wrong[:3]}",
                f"hostile: {dict(self.hostile) or 'nobody'}",
            ]
        )


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def quantiles(values: list[float]) -> str:
    p50, p95, most = (quantile(values, share) for share in (0.5, 0.95, 1.0))
    return f"median {p50:.2f} s, p95 {p95:.2f} s, most {most:.2f} s"


async def visit(
    visitor: Visitor, seed: int, until: float, pause: float, outcome: VisitOutcome
) -> None:
    """Act as one visitor until the time is over."""
    rng = random.Random(seed)
    wanted = ""
    try:
        while time.monotonic() < until:
            await asyncio.sleep(rng.random() * 2 * pause)
            (gap,) = visitor.cuts
            to = rng.choice([g for g in range(1, 8) if g != gap])
            wanted = f"boundary {gap} to {to}"
            outcome.drags.append(await visitor.drag(gap, to))
            wanted = "run"
            if rng.random() < 0.25:
                events = rng.random() < 0.5
                outcome.runs.append(await visitor.run(events))
                shown = visitor.view("RunPanel")["result"]["cycles"]
                if shown != cycles(visitor.cuts):
                    outcome.wrong.append(f"{visitor.cuts}: {shown}, not {cycles(visitor.cuts)}")
                if events:
                    wanted = "timeline"
                    await look(visitor, rng, outcome)
    except (TimeoutError, AssertionError) as problem:
        chain, line = visitor.view("FusionChain"), visitor.data("Connection")
        outcome.wrong.append(
            f"visitor {seed}: {problem!r} {problem.__cause__!r}, "
            f"wanted {wanted}, cuts {visitor.cuts}, "
            f"shown {chain['shown']}, run {visitor.view('RunPanel')['status']}, "
            f"graph {visitor.view('GraphView').get('name')} "
            f"busy {visitor.data('GraphView').get('busy')}, working {line.get('working')}, "
            f"said {visitor.data('FusionChain').get('status')}"
        )
    finally:
        await visitor.close()


async def look(visitor: Visitor, rng: random.Random, outcome: VisitOutcome) -> None:
    """Zoom into the timeline of the run that is shown."""
    timeline = visitor.view("Timeline")
    total = timeline["runs"]["b"]["cycles"]
    start = rng.randrange(total)
    stop = rng.randrange(start, total) + 1
    rows = sorted(rng.sample(range(len(timeline["rows"])), 12))
    asked = time.monotonic()
    seen = await visitor.look(start, stop, WIDTH, rows)
    outcome.looks.append(time.monotonic() - asked)
    if seen != window(visitor.cuts, seen):
        outcome.wrong.append(f"{visitor.cuts}: cycles {start} to {stop} of rows {rows}: {seen}")


async def measure(
    server: Server, visitors: int, seconds: float, pause: float = 1.0, hostile: bool = False
) -> VisitOutcome:
    """Let visitors come, one after another, and then stay so long."""
    outcome = VisitOutcome()
    there = [await Visitor(server).open() for _ in range(visitors)]
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        worst = group.create_task(harass(server, until)) if hostile else None
        for seed, visitor in enumerate(there):
            group.create_task(visit(visitor, seed, until, pause, outcome))
    if worst is not None:
        outcome.hostile = worst.result()
    return outcome


async def come_and_go(server: Server, visits: int) -> dict[int, float]:
    """Memory of the server, in MB, after some of so many visits, when their pages are gone."""
    memory = {}
    for number in range(1, visits + 1):
        visitor = await Visitor(server).open()
        await visitor.drag(4, 1 + number % 3)
        await visitor.run()
        await visitor.close()
        if number in (1, 10, visits // 2, visits):
            memory[number] = await left_alone(server)
            print(f"after {number} visits: {memory[number]:.1f} MB", flush=True)
    return memory


async def left_alone(server: Server) -> float:
    """Memory of the server, in MB, when all pages are gone and what they left is collected."""
    while server.health()["pages"]:
        await asyncio.sleep(1)
    await asyncio.sleep(20)
    return server.health()["memory"] / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between actions")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--visits", type=int, default=0, help="memory after so many visitors")
    options = parser.parse_args()
    if options.visits:
        with Server() as server:
            memory = asyncio.run(come_and_go(server, options.visits))
            print(f"{memory[options.visits] / memory[min(10, options.visits)] - 1:+.1%}")
            print("faults in the log:", server.faults() or "none")
        return
    for gap in range(1, 8):
        cycles((gap,))
    with Server() as server:
        before = asyncio.run(come_and_go(server, 1))[1]
        outcome = asyncio.run(
            measure(server, options.visitors, 60 * options.minutes, options.pause, options.hostile)
        )
        print(outcome)
        print(
            f"CPU time: server {server.cpu():.0f} s, visitors {time.process_time():.0f} s; "
            f"load of the machine {os.getloadavg()[0]:.1f}"
        )
        print("health:", {k: v for k, v in server.health().items() if k != "limits"})
        if outcome.wrong:
            for line in server.log()[-400:]:
                if line["event"] not in ("run", "request"):
                    print(line)
        after = asyncio.run(left_alone(server))
        print(f"memory when all have left: {after:.1f} MB, {after / before - 1:+.1%}")
        print("faults in the log:", server.faults() or "none")
        took, left = server.end()
        print(f"ended in {took:.2f} s, {len(left)} processes left")


if __name__ == "__main__":
    main()
