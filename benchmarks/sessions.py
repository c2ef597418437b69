"""Several visitors at once: how long a drag and a run take, and whether every answer is right.

    python benchmarks/sessions.py [--visitors 10] [--minutes 10] [--hostile] [--pause 1.0]
    python benchmarks/sessions.py --visits 100

Each visitor drags the boundary of Karate GCN to a place of its own choice, and now and then runs;
the cycles are compared with those of the same design simulated here.  With ``--hostile`` one more
visitor sends the worst there is, all the time (:mod:`benchmarks.hostile`).  At the end the server
is told to end, and nothing of it may be left.  With ``--visits`` so many visitors come one after
another, each drags, runs and goes, and the server's memory is told.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from benchmarks.hostile import harass
from benchmarks.visitors import Server, Visitor
from engine.dataflow.sim.program_runs import simulate
from workbench.state.session import Session


@cache
def cycles(cuts: tuple[int, ...]) -> str:
    """What a run of Karate GCN under these cuts takes, computed here."""
    session = Session("gcn", "karate")
    session.set_cuts(cuts)
    run = simulate(session.compilation, session.built.data, session.machine)
    return f"{run.cycles:,} cycles"


@dataclass
class Outcome:
    """Seconds of drags and runs, and what was wrong."""

    drags: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    hostile: Counter[str] = field(default_factory=Counter)
    """Of each kind how many requests the hostile visitor sent."""

    def __str__(self) -> str:
        return "\n".join(
            [
                f"drags: {len(self.drags):,}, {quantiles(self.drags)}",
                f"runs:  {len(self.runs):,}, {quantiles(self.runs)}",
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


async def visit(visitor: Visitor, seed: int, until: float, pause: float, outcome: Outcome) -> None:
    """What one visitor does until the time is over."""
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
                outcome.runs.append(await visitor.run())
                shown = visitor.view("RunPanel")["result"]["cycles"]
                if shown != cycles(visitor.cuts):
                    outcome.wrong.append(f"{visitor.cuts}: {shown}, not {cycles(visitor.cuts)}")
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


async def measure(
    server: Server, visitors: int, seconds: float, pause: float = 1.0, hostile: bool = False
) -> Outcome:
    """Let visitors come, one after another, and then stay so long."""
    outcome = Outcome()
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
            while server.health()["pages"]:
                await asyncio.sleep(1)
            await asyncio.sleep(20)  # it collects what is left some seconds after
            memory[number] = server.health()["memory"] / 1e6
            print(f"after {number} visits: {memory[number]:.1f} MB", flush=True)
    return memory


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
                if line["event"] not in ("run",):
                    print(line)
        print("faults in the log:", server.faults() or "none")
        took, left = server.end()
        print(f"ended in {took:.2f} s, {len(left)} processes left")


if __name__ == "__main__":
    main()
