"""A simulation in a process that a seat forks: it has the design as it is then, and waits to start.

It is given away to the nursery, so that it goes on when its seat is ended.  To the server go
``{"pid": n}``, ``{"progress": [share, text]}`` and at the end ``{"done": run}`` or
``{"refused": reason}``; ``{"go": true}`` comes from it.  A search comes first where it is asked
for; what it found goes along, ``{"done": run, "found": [schedule, told]}``.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from engine.errors import FuseloomError
from engine.explore import limiting
from engine.results.record import RunRecord
from workbench import machines, saving
from workbench.design import Built
from workbench.records import KeptRun, source_of
from workbench.search import found
from workbench.service.budgets import MIB, Budgets
from workbench.service.keeping import keep
from workbench.service.wire import Closed, Wire
from workbench.worker import Job, work


def fork_runner(
    built: Built, explain: bool, budgets: Budgets, nursery: int, *, search: bool = False
) -> int:
    """Fork a runner; the server's end of its socket comes back.

    Parameters
    ----------
    search : bool
        Whether to look for a better schedule, and simulate that.
    """
    server, its = socket.socketpair()
    between = os.fork()
    if between == 0:
        try:
            if os.fork() == 0:
                server.close()
                _run(Wire(its), built, explain, budgets, nursery, search)
        finally:
            os._exit(0)
    os.waitpid(between, 0)
    its.close()
    return server.detach()


def _run(
    wire: Wire, built: Built, explain: bool, budgets: Budgets, nursery: int, search: bool
) -> None:
    """Simulate when told to; never returns."""
    try:
        while os.getppid() not in (nursery, 1):  # until the process between is gone
            os.sched_yield()
        limiting.end_with(nursery)
        os.nice(1)  # answers come first
        limiting.limit_memory(budgets.run_memory * MIB)
        wire.send({"pid": os.getpid()})
        wire.receive()
        limiting.limit_cpu(budgets.run_time)
        wire.send(_outcome(wire, built, explain, budgets, search))
    except Closed:
        pass
    finally:
        os._exit(0)


def _outcome(
    wire: Wire, built: Built, explain: bool, budgets: Budgets, search: bool = False
) -> dict[str, Any]:
    """What comes of a simulation, or of a search and the simulation of what it found."""
    end: dict[str, Any] = {}

    def send(message: Any) -> None:
        match message:
            case ("progress", share, text):
                wire.send({"progress": [share, text]})
            case ("found", schedule, told):
                end["found"] = [schedule, told]
            case ("done", record):
                run = RunRecord.from_dict(record)
                end["done"] = json.dumps(saving.kept_to_dict(KeptRun.of(built, run)))
                end["unkept"] = keep(built, run, budgets.kept * MIB)
            case ("refused", text):
                end["refused"] = text

    try:
        if search:
            built = found(built, send)
            explain = explain or built.tokens <= machines.SMALL
        job = Job(built.compilation, built.data, built.design.machine, explain, source_of(built))
        work(job, send)
    except MemoryError:
        return {"refused": "this run needs more memory than a run may use here"}
    except RecursionError:
        return {"refused": "this program is too long to be run here"}
    except FuseloomError as reason:
        return {"refused": str(reason)}
    except Closed:
        raise
    except Exception as problem:
        return {"refused": f"the simulator failed: {type(problem).__name__}: {problem}"}
    return end
