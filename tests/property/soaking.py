"""Simulations without end in a worker process: random graphs, long products, cancels, kills.

What a job gives is compared with an oracle in another process: the golden models for random
graphs, scipy for products.  All numbers in products are small integers, so sums are exact.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from fuseloom.program import check_data
from fuseloom_workbench.base.child import Child, ChildError, Send
from tests.property.random_graphs import random_graph
from tests.waiting import until

CAPACITIES = (1, 2, 3, 4, 16, 64, None)
ENOUGH = CAPACITIES[2:]
"""With fewer slots a product deadlocks."""
TARGET = f"{__name__}:serve"
COLUMNS = 64
INTERVAL = 0.2
"""Seconds between two looks at the memory."""
_TEXT = """
B: {rows}x{rows} csr
C: {rows}x{columns} dense
T[i,j] = B[i,k] * C[k,j]
output T
"""


@dataclass(frozen=True)
class Job:
    """The request to a worker.

    Attributes
    ----------
    seed : int
        Of the graph or of the product's data.
    capacity : int or None
        Slots of every channel.
    rows : int
        0: a random graph; otherwise the rows of a product.
    until : float
        Share of the input after which the run cancels itself; 1: never.
    """

    seed: int
    capacity: int | None
    rows: int = 0
    until: float = 1.0

    def machine(self) -> Machine:
        make = Machine.comal if not self.rows and self.seed % 3 == 0 else Machine.default
        return make(self.capacity)


# ---------------------------------------------------------------------------- in the worker


def operands(job: Job) -> tuple[sp.csr_matrix, np.ndarray]:
    """A sparse matrix with three entries per row, and a dense one."""
    rng = np.random.default_rng(job.seed)
    count = 3 * job.rows
    at = np.repeat(np.arange(job.rows), 3), rng.integers(job.rows, size=count)
    values = rng.integers(-3, 4, count).astype(np.float32)
    matrix = sp.csr_matrix((values, at), (job.rows, job.rows))
    matrix.sum_duplicates()
    return matrix, rng.integers(-3, 4, (job.rows, COLUMNS)).astype(np.float32)


def graph_of(job: Job) -> BoundGraph:
    if not job.rows:
        return random_graph(job.seed)
    program = fl.parse(_TEXT.format(rows=job.rows, columns=COLUMNS))
    matrix, dense = operands(job)
    stored = check_data(program, {"B": matrix, "C": dense})
    return bind(fl.compile(program).regions[0].graph, stored)


def digest(values: np.ndarray) -> str:
    """Of numbers: zeros and NaN of either sign are alike."""
    numbers = np.where(np.isnan(values), np.float32(np.nan), values) + np.float32(0)
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()


def summary(result: EngineResult) -> dict[str, Any]:
    """Return the values that must be equal: counters, clocks, structure, and numbers written."""
    counts = ("tokens", "values", "taken", "clocks", "stall_input", "stall_output", "first")
    arrays = [
        (node, name, array)
        for node, written in sorted(result.outputs.items())
        for name, array in sorted(written.items())
    ]
    return {
        "counts": {name: np.asarray(getattr(result, name)).tolist() for name in counts},
        "structure": [[n, x, a.tolist()] for n, x, a in arrays if a.dtype != np.float32],
        "numbers": [[n, x, a.shape, a.ravel().tolist()] for n, x, a in arrays
                    if a.dtype == np.float32],
    }  # fmt: skip


def outcome(job: Job) -> dict[str, Any]:
    """Return the outcome of a job on the compiled engine; runs inside the worker."""

    def progress(tokens: int, share: float) -> bool:
        return job.until >= 1 or share < job.until

    try:
        run = compiled.run(graph_of(job), job.machine(), progress=progress)
    except SimulationError as error:
        cancelled = str(error).startswith("run cancelled")
        return {"error": "cancelled" if cancelled else type(error).__name__}
    if not job.rows:
        return summary(run)
    (values,) = (a for w in run.outputs.values() for a in w.values() if a.dtype == np.float32)
    return {"digest": digest(values), "cycles": int(run.cycles)}


def serve(request: dict[str, Any], send: Send) -> None:
    """Answer a job with its outcome and the worker's memory in bytes."""
    send([outcome(Job(**request)), psutil.Process().memory_info().rss])


# ---------------------------------------------------------------------------- beside it


def expected(job: Job) -> dict[str, Any]:
    """Return the oracle's outcome of a job that is not cancelled."""
    if job.rows:
        matrix, dense = operands(job)
        return {"digest": digest((matrix @ dense).astype(np.float32))}
    try:
        return summary(interpreter.run(random_graph(job.seed), job.machine()))
    except SimulationError as error:
        return {"error": type(error).__name__}


def agree(given: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Return whether two outcomes are the same; sums inside tiles may round differently."""
    if "numbers" not in wanted or "numbers" not in given:
        return all(given.get(key) == value for key, value in wanted.items())
    if given["counts"] != wanted["counts"] or given["structure"] != wanted["structure"]:
        return False
    return len(given["numbers"]) == len(wanted["numbers"]) and all(
        a[:2] == b[:2]
        and list(a[2]) == list(b[2])
        and np.allclose(a[3], b[3], rtol=1e-6, atol=1e-6, equal_nan=True)
        for a, b in zip(given["numbers"], wanted["numbers"], strict=True)
    )


@dataclass
class Soak:
    """The course of it: how many jobs of each kind, and how the worker's memory went."""

    rng: random.Random
    child: Child = field(default_factory=lambda: Child(TARGET))
    graphs: int = 0
    refused: int = 0
    products: int = 0
    cancelled: int = 0
    killed: int = 0
    slowest_kill: float = 0.0
    memory: list[tuple[float, int, int]] = field(default_factory=list)
    """Seconds since the start, bytes of the worker, bytes of this process."""
    started: float = field(default_factory=time.monotonic)
    ended: set[int] = field(default_factory=set)

    def ask(self, job: Job) -> dict[str, Any]:
        self.child.send(vars(job))
        given, memory = self.child.receive()
        seconds = time.monotonic() - self.started
        if not self.memory or seconds - self.memory[-1][0] >= INTERVAL:
            self.memory.append((seconds, memory, psutil.Process().memory_info().rss))
        return given

    def step(self) -> None:
        """One job, and what must hold after it."""
        dice = self.rng.random()
        seed = self.rng.randrange(1 << 40)
        slots = self.rng.choice(ENOUGH)
        if dice < 0.002:
            self.kill(Job(seed, slots, 20_000))
        elif dice < 0.02:
            self.product(Job(seed, slots, self.rng.randint(100, 3_000)))
        elif dice < 0.04:
            self.cancel(Job(seed, slots, 3_000, self.rng.random() * 0.6))
        else:
            self.graph(Job(seed, self.rng.choice(CAPACITIES)))

    def graph(self, job: Job) -> None:
        given = self.ask(job)
        assert agree(given, expected(job)), f"{job} differs from the golden models"
        self.graphs += 1
        self.refused += "error" in given

    def product(self, job: Job) -> None:
        assert agree(self.ask(job), expected(job)), f"{job} differs from scipy"
        self.products += 1

    def cancel(self, job: Job) -> None:
        given = self.ask(job)
        done = "digest" in given
        assert done or given == {"error": "cancelled"}, f"{job}: {given}"
        assert not done or agree(given, expected(job)), f"{job} differs from scipy"
        self.cancelled += not done

    def kill(self, job: Job) -> None:
        """End another worker in the middle of its work; nothing of it remains."""
        other = Child(TARGET)
        other.send(vars(job))
        time.sleep(self.rng.random() * 3)
        asked = time.monotonic()
        other.end()
        self.wait_for_end_of(other)
        self.slowest_kill = max(self.slowest_kill, time.monotonic() - asked)
        with contextlib.suppress(ChildError):
            other.receive()
        self.killed += 1

    def end(self) -> None:
        self.child.end()
        self.wait_for_end_of(self.child)

    def wait_for_end_of(self, worker: Child) -> None:
        """Give a process that was ended, and what it may have started, a moment to be gone."""
        self.ended.add(worker.pid)
        until(
            lambda: not ({pid for pid in self.ended if psutil.pid_exists(pid)} | orphans()),
            "no process is left over",
        )

    def growth(self) -> list[float]:
        """Memory of the worker and of this process: most in the last third of the time over most
        in the second.  (In the first, kernels are loaded and pools find their size.)"""
        third = self.memory[-1][0] / 3
        second = [m for m in self.memory if third <= m[0] < 2 * third]
        last = [m for m in self.memory if m[0] >= 2 * third]
        return [max(m[k] for m in last) / max(m[k] for m in second) for k in (1, 2)]

    def __str__(self) -> str:
        seconds, worker, own = self.memory[-1]
        return (
            f"{seconds:6.0f} s: {self.graphs:,} graphs ({self.refused:,} refused), "
            f"{self.products:,} products, {self.cancelled:,} cancelled, {self.killed:,} killed "
            f"(at most {self.slowest_kill:.2f} s); memory of the worker {worker / 2**20:.0f} MiB, "
            f"beside it {own / 2**20:.0f} MiB"
        )


def orphans() -> set[int]:
    """Workers whose parent is gone."""
    found = psutil.process_iter(["ppid", "cmdline"])
    gone = 1 if os.getpid() != 1 else None
    return {p.pid for p in found if p.info["ppid"] == gone and TARGET in (p.info["cmdline"] or ())}
