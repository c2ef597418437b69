"""Writers and readers of one run store at once: is anything lost, doubled, or made to wait?

    python -m benchmarks.store [--runs 10000] [--writers 2] [--shared 0.1] [--after 5]

Writers keep runs of Karate GCN, each of a schedule of its own; a tenth of them are the same in
all, and exactly one writer may keep each of those.  Meanwhile ``fuseloom runs list --follow`` says
what it sees, and a visitor of ``fuseloom serve --keep-runs`` has the page open that shows them, and
drags.  At the end the store, what was printed and what the page says are compared with what was
written.  Target: the page's drags take less than a second (p95).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.sessions import quantile, quantiles
from benchmarks.visitors import ROOT, Server, Visitor

TARGET = 1.0


@dataclass
class StoreOutcome:
    """The measurements, and the faults.

    Attributes
    ----------
    alone, drags : list of float
        Seconds of drags before anybody wrote, and meanwhile: what other work the machine has makes
        both of them longer.
    """

    runs: int
    seconds: float = 0.0
    alone: list[float] = field(default_factory=list)
    drags: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def p95(self) -> float:
        return quantile(self.drags, 0.95)

    def __str__(self) -> str:
        return "\n".join(
            [
                f"kept:  {self.runs:,} runs in {self.seconds:.1f} s "
                f"({self.runs / max(self.seconds, 1e-9):,.0f} a second)",
                f"drags: {len(self.alone):,} before, {quantiles(self.alone)}",
                f"drags: {len(self.drags):,} meanwhile, {quantiles(self.drags)}",
                f"wrong: {len(self.wrong)} {self.wrong[:5]}",
            ]
        )


def schedule(number: int) -> str:
    """The text of a schedule that differs from those of other numbers; nobody has to build it."""
    return f"fuse T1..H; fuse T5..Y; order T1..H: i,k,p,n; order T5..Y: i,k,n,m # {number}"


def write(path: str, *numbers: str) -> None:
    """Keep runs as a writer, the first ones of all writers the same; print their number.

    Parameters
    ----------
    numbers : str
        The first of its own, the one after the last, and how many are the same in all.
    """
    from dataclasses import replace

    from fuseloom.dataflow.sim.explain.data import Detail
    from fuseloom.dataflow.sim.program_runs import simulate
    from fuseloom.dataflow.sim.records import program_record
    from fuseloom.exploration.store import Outcome as Kept
    from fuseloom.exploration.store import RunLabel, RunStore, data_hash
    from fuseloom.exploration.sweep.plan import run_identity
    from fuseloom_workbench.state.records import source_of
    from fuseloom_workbench.state.session import Session
    from fuseloom_workbench.state.shared import slim

    begin, end, shared = map(int, numbers)
    session = Session("gcn", "karate")
    built = session.built
    run = simulate(built.compilation, built.data, session.machine)
    record = slim(program_record(run, run.check(), Detail(), source_of(built)))
    program = built.compilation.source or built.compilation.program
    first = run_identity(program, built.resolved, data_hash(built.data), session.machine)
    label = RunLabel("gcn", "karate", "default", 14_000.0)
    kept = 0
    with RunStore(path) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in [*range(shared), *range(begin, end)]:
            identity = replace(first, schedule=schedule(number))
            if number % 2:
                kept += store.put(identity, Kept.of(record), label)
            elif (lease := store.claim(identity, label)) is not None:
                kept += store.finish(lease, Kept.of(record))
    print(kept, flush=True)


class Follower:
    """``fuseloom runs list --follow``: the keys it has printed, and what it complained of."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-m", "fuseloom", "runs", "list", "--follow", "--limit", "1"]
        self._process = subprocess.Popen(
            [*command, "--state", "done", "--store", str(path)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        self.keys: list[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            word = line.split(maxsplit=1)[0] if line.strip() else ""
            if len(word) == 12 and set(word) <= set("0123456789abcdef"):
                self.keys.append(word)

    def wait(self, number: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        while len(self.keys) < number and time.monotonic() < until:
            time.sleep(0.1)

    def end(self) -> str:
        """End it; what it wrote to its standard error."""
        self._process.terminate()
        assert self._process.stderr is not None
        said = self._process.stderr.read()
        self._process.wait(10)
        return said


class Writer:
    """A process that keeps runs."""

    def __init__(self, path: Path, begin: int, end: int, shared: int) -> None:
        code = "import sys; from benchmarks.store import write; write(*sys.argv[1:])"
        numbers = map(str, (begin, end, shared))
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(path), *numbers],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=ROOT,
        )  # fmt: skip

    def ready(self) -> None:
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(self.end()[1])

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    @property
    def going(self) -> bool:
        return self.process.poll() is None

    def end(self) -> tuple[int, str]:
        """Runs it has kept, and what went wrong."""
        out, problem = self.process.communicate(timeout=600)
        words = out.split()
        return (int(words[-1]) if words and words[-1].isdigit() else 0), problem


async def drag(visitor: Visitor, writers: list[Writer], after: float) -> list[float]:
    """Drag from place to place while anybody writes, and some seconds more; what each took."""
    until = float("inf")
    took = []
    while time.monotonic() < until:
        if until == float("inf") and not any(writer.going for writer in writers):
            until = time.monotonic() + after
        (gap,) = visitor.cuts
        took.append(await visitor.drag(gap, 1 + gap % 7))
        await asyncio.sleep(0.2)
    return took


async def measure(
    server: Server, path: Path, runs: int, writers: int, shared: int, after: float
) -> StoreOutcome:
    """Let writers write ``runs`` each, of which ``shared`` are the same in all."""
    expected = writers * (runs - shared) + shared
    outcome = StoreOutcome(expected)
    follower = Follower(path)
    made = [
        Writer(path, shared + k * (runs - shared), shared + (k + 1) * (runs - shared), shared)
        for k in range(writers)
    ]
    loop = asyncio.get_running_loop()
    visitor = await Visitor(server).open()
    await visitor.until(lambda: "runs" in visitor.view("CostsPanel"))
    for writer in made:
        await loop.run_in_executor(None, writer.ready)
    outcome.alone = await drag(visitor, [], after)
    began = time.monotonic()
    for writer in made:
        writer.go()
    ends = [loop.run_in_executor(None, writer.end) for writer in made]
    dragging = asyncio.create_task(drag(visitor, made, after))
    kept = 0
    for end in ends:
        number, problem = await end
        kept += number
        outcome.seconds = time.monotonic() - began
        if problem:
            outcome.wrong.append(f"a writer: {problem[-500:]}")
    outcome.drags = await dragging
    if kept != expected:
        outcome.wrong.append(f"the writers have kept {kept:,} of {expected:,} runs")
    await _compare(visitor, follower, path, expected, outcome)
    await visitor.close()
    return outcome


async def _compare(
    visitor: Visitor, follower: Follower, path: Path, expected: int, outcome: StoreOutcome
) -> None:
    from fuseloom.exploration.store import RunStore, State

    with RunStore(path) as store:
        counts = store.counts()
        keys = {run.key[:12] for run in store.runs()}
    if counts != {State.DONE: expected} or len(keys) != expected:
        outcome.wrong.append(f"the store has {counts}")
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, follower.wait, expected, 60.0)
    said = await loop.run_in_executor(None, follower.end)
    if sorted(follower.keys) != sorted(keys):
        double = len(follower.keys) - len(set(follower.keys))
        lost = len(keys - set(follower.keys))
        outcome.wrong.append(f"--follow has doubled {double:,} and lost {lost:,}")
    if said:
        outcome.wrong.append(f"--follow: {said[-500:]}")

    def shown() -> bool:
        view: dict[str, Any] = visitor.view("CostsPanel")
        note = f" of {expected:,} kept runs" if expected > 60 else ""
        kept = [run for run in view["runs"] if run["key"]]
        return len(kept) >= min(expected, 60) and note in view["note"]

    try:
        await visitor.until(shown, 60)
    except TimeoutError:
        view = visitor.view("CostsPanel")
        outcome.wrong.append(f"the page shows {len(view['runs'])} runs and says {view['note']!r}")
    trouble = visitor.view("CostsPanel")["trouble"]
    if trouble:
        outcome.wrong.append(f"the page says {trouble!r}")


def together(runs: int, writers: int = 2, shared: int = 0, after: float = 1.0) -> StoreOutcome:
    """All of it, on a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        before = os.environ.get("FUSELOOM_RUNS")
        os.environ["FUSELOOM_RUNS"] = str(path)
        try:
            with Server("--keep-runs") as server:
                outcome = asyncio.run(measure(server, path, runs, writers, shared, after))
                outcome.wrong += server.faults()
                unread = [line for line in server.log() if line["event"] == "runs_not_read"]
                outcome.wrong += [str(line) for line in unread]
        finally:
            del os.environ["FUSELOOM_RUNS"]
            if before is not None:
                os.environ["FUSELOOM_RUNS"] = before
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000, help="of each writer")
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--shared", type=float, default=0.1, help="share that is the same in all")
    parser.add_argument("--after", type=float, default=5.0, help="seconds to drag afterwards")
    options = parser.parse_args()
    shared = int(options.shared * options.runs)
    outcome = together(options.runs, options.writers, shared, options.after)
    print(outcome)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    good = not outcome.wrong and outcome.p95 < TARGET
    print("as wanted" if good else "NOT as wanted")
    sys.exit(not good)


if __name__ == "__main__":
    main()
