"""Simulating a design in a process of its own: progress on the way, cancel at any time."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

import param

from fuseloom import interpreter
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import FuseloomError
from fuseloom.program import StoredTensor
from fuseloom.results.record import DataSource, RunRecord
from fuseloom_workbench.base.child import Child, ChildError, Send
from fuseloom_workbench.state.areas import load_hardware

INTERVAL = 0.1
"""Seconds between progress messages."""
TOLD = ("progress", "searched", "found")
"""Kinds of messages after which more come."""


@dataclass(frozen=True)
class SimulationJob:
    """The input of a simulation worker.

    Attributes
    ----------
    explain : bool
        Whether to find critical paths and the occupancy of channels too.
    source : DataSource, optional
        Where the data came from, for the record.
    events : bool
        Whether to keep every wait, in a new file of the cache.
    """

    compilation: Compilation
    data: Mapping[str, StoredTensor]
    machine: Machine
    explain: bool = False
    source: DataSource | None = None
    events: bool = False


def work(job: SimulationJob, send: Send) -> None:
    """Simulate a job; runs inside the worker.

    Sends ``("progress", share, text)`` now and then, and at the end ``("done", record)``,
    both plain data, or ``("refused", text)`` with the engine's reason.
    """
    try:
        send(("done", simulated(job, send).to_dict()))
    except FuseloomError as reason:
        send(("refused", str(reason)))


def simulated(job: SimulationJob, send: Send) -> RunRecord:
    """Simulate a job, check it, add the area of its hardware, and send its progress on the way.

    Raises
    ------
    FuseloomError
        The engine's reason why it cannot be simulated.
    """
    # the server shall not load the simulator's kernels
    from fuseloom.dataflow.sim.events.files import new_file
    from fuseloom.dataflow.sim.explain.data import PAGE, observation
    from fuseloom.dataflow.sim.program_runs import simulate
    from fuseloom.dataflow.sim.records import program_record
    from fuseloom.dataflow.space.design_costs import region_areas

    last = time.monotonic()

    def progress(share: float, text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= INTERVAL:
            last = time.monotonic()
            send(("progress", share, text))

    started = time.perf_counter()
    run = simulate(
        job.compilation,
        job.data,
        job.machine,
        observe=observation(job.explain, new_file() if job.events else None),
        progress=progress,
    )
    seconds = time.perf_counter() - started
    send(("progress", 1.0, "comparing with the dense reference"))
    check = run.check()
    areas = region_areas(job.compilation, job.machine, {**run.data, **run.outputs})
    record = program_record(run, check, PAGE, job.source).with_areas(areas)
    return replace(record, seconds=seconds)


def prepare() -> None:
    """Load the simulator, and what areas need, before the first job comes; inside the worker."""
    import_module("fuseloom.dataflow.sim.records")
    load_hardware()


class _Spare:
    """A worker that is started ahead of need, one for the whole server.

    Loading the simulator takes longer than simulating a small model.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None

    def fill(self, target: str) -> None:
        with self._lock:
            if self._child is None or not self._child.alive:
                self._child = Child(target)

    def take(self, target: str) -> Child:
        with self._lock:
            child, self._child = self._child, None
        if child is not None and child.alive and child.target == target:
            return child
        if child is not None:
            child.end()
        return Child(target)


_spare = _Spare()


@cache
def compile_kernels() -> subprocess.Popen[bytes]:
    """Compile the simulator's kernels beside, once per server and at low priority.

    Right after an installation this takes up to a minute; until then small programs run on the
    golden models, with the same result.  Afterwards it finds everything in the cache.
    """
    quiet = subprocess.DEVNULL
    polite = ["nice", "-n", "10"] if shutil.which("nice") else []
    command = [*polite, *interpreter.command("-m", "fuseloom", "warmup", "--json")]
    environment = interpreter.environment()
    return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment)


def warm_up() -> None:
    """Start a worker, so that the first run does not wait for it, and compile the kernels."""
    _spare.fill(Runner.target)
    compile_kernels()


class Runner(param.Parameterized):
    """At most one running simulation.

    Examples
    --------
    >>> import asyncio
    >>> from fuseloom_workbench.state.session import Session
    >>> built = Session("spmv").built
    >>> job = SimulationJob(built.compilation, built.data, Machine.default())
    >>> record = asyncio.run(Runner().run(job))
    >>> record.ok
    True
    """

    running = param.Boolean(False)
    share = param.Number(0.0, bounds=(0, 1), doc="Part of the simulation that is done.")
    status = param.String("", doc="What runs now, or how the last run ended.")
    failed = param.Boolean(False, doc="Whether the last run ended without a result.")
    searched = param.Dict({}, doc="How far the last search came; kept when it is cancelled.")

    limit = param.Number(900.0, bounds=(0, None), doc="Seconds after which a run is ended.")

    target = "fuseloom_workbench.running.worker:work"

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.found: tuple[str, str] | None = None  # by a search: a schedule, and what to say
        self._child: Child | None = None
        self._cancelled = False

    async def run(self, job: Any, target: str = "") -> RunRecord | None:
        """Simulate, and return the record, or None when cancelled or failed.

        Parameters
        ----------
        job : SimulationJob
            Or what another ``module:function`` takes that answers alike.
        """
        if self.running:
            return None
        self._cancelled, self.found = False, None
        self.param.update(running=True, failed=False, share=0.0, status="starting the simulator")
        try:
            async with asyncio.timeout(self.limit):
                return await self._converse(job, target or self.target)
        except TimeoutError:
            self.param.update(
                failed=True,
                status=f"stopped after {self.limit:g} s, the limit for a run in the workbench; "
                "use the command line for longer ones",
            )
            return None
        except ChildError as end:
            self.param.update(
                failed=not self._cancelled,
                status="cancelled" if self._cancelled else f"the simulator stopped: {end}",
            )
            return None
        finally:
            self._drop()
            self.running = False

    async def _converse(self, job: Any, target: str) -> RunRecord | None:
        loop = asyncio.get_running_loop()
        child = self._child = await loop.run_in_executor(None, _spare.take, target)
        if self._cancelled:
            raise ChildError("cancelled")
        answers: asyncio.Queue[Any] = asyncio.Queue()

        def listen() -> None:
            # a thread per run: reading a pipe blocks, and the pool's threads are shared
            while True:
                try:
                    message = child.receive()
                except ChildError as end:
                    message = end
                try:
                    loop.call_soon_threadsafe(answers.put_nowait, message)
                except RuntimeError:  # the loop is closed: nobody listens any more
                    return
                if isinstance(message, ChildError) or message[0] not in TOLD:
                    return

        threading.Thread(target=listen, daemon=True).start()
        await loop.run_in_executor(None, child.send, job)
        while True:
            match await answers.get():
                case ChildError() as end:
                    raise end
                case ["progress", share, text]:
                    self.param.update(share=min(share, 1.0), status=text)
                case ["searched", dict(state)]:
                    self.searched = state
                case ["found", str(schedule), str(told)]:
                    self.found = schedule, told
                case ["refused", text]:
                    self.param.update(failed=True, status=text)
                    return None
                case ["done", record]:
                    self.param.update(share=1.0, status="done")
                    return RunRecord.from_dict(record)

    def cancel(self) -> None:
        """End the running simulation; returns within a fraction of a second."""
        self._cancelled = True
        self._drop()

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()
