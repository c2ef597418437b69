"""A simulation in a process that a session worker forks with its design; it waits to start.

It is given away to the fork server, so that it goes on when its session worker is ended.  To the
server go ``{"pid": n}``, ``{"progress": [share, text]}`` and at the end ``{"done": run}`` or
``{"refused": reason}``; ``{"go": true}`` comes from it.  A search comes first where it is asked
for; what it found goes along, ``{"done": run, "found": [schedule, told]}``.
"""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass, replace
from typing import Any

from fuseloom.errors import FuseloomError
from fuseloom.exploration import limiting
from fuseloom_workbench.running.worker import SimulationJob, simulated
from fuseloom_workbench.search.searching import found
from fuseloom_workbench.search.wishes import SearchSettings
from fuseloom_workbench.service import process
from fuseloom_workbench.service.budgets import MIB, Budgets
from fuseloom_workbench.service.keeping import keep
from fuseloom_workbench.service.wire import Closed, WorkerSocket
from fuseloom_workbench.state import machines, saving
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.records import KeptRun, source_of


@dataclass(frozen=True)
class RunRequest:
    """The request for a simulation.

    Attributes
    ----------
    explain : bool
        Find the critical paths.
    search : bool
        Look for a better schedule first, and simulate that.
    settings : fuseloom_workbench.search.wishes.SearchSettings, optional
        Of that search.
    events : bool
        Keep every wait of every node.
    """

    explain: bool = False
    search: bool = False
    settings: SearchSettings | None = None
    events: bool = False


def fork_runner(built: BuiltDesign, wishes: RunRequest, budgets: Budgets, fork_server: int) -> int:
    """Fork a runner; the server's end of its socket comes back."""
    server, its = socket.socketpair()

    def runner() -> None:
        server.close()
        _run(WorkerSocket(its), built, wishes, budgets, fork_server)

    def between() -> None:
        process.fork(runner, lasts=True)

    os.waitpid(process.fork(between), 0)
    its.close()
    return server.detach()


def _run(
    wire: WorkerSocket, built: BuiltDesign, wishes: RunRequest, budgets: Budgets, fork_server: int
) -> None:
    """Simulate when told to."""
    while os.getppid() not in (fork_server, 1):  # until the process between is gone
        os.sched_yield()
    limiting.end_with(fork_server)
    os.nice(1)  # answers come first
    limiting.limit_memory(budgets.run_memory * MIB)
    with contextlib.suppress(Closed):
        wire.send({"pid": os.getpid()})
        wire.receive()
        limiting.limit_cpu(budgets.run_time)
        wire.send(_outcome(wire, built, wishes, budgets))


def _outcome(
    wire: WorkerSocket, built: BuiltDesign, wishes: RunRequest, budgets: Budgets
) -> dict[str, Any]:
    """Run a simulation, or a search and the simulation of its result, and return the outcome."""
    end: dict[str, Any] = {}

    def send(message: Any) -> None:
        match message:
            case ("progress", share, text):
                wire.send({"progress": [share, text]})
            case ("searched", state):
                wire.send({"searched": state})
            case ("found", schedule, told):
                end["found"] = [schedule, told]

    try:
        explain = wishes.explain
        if wishes.search:
            built = found(built, send, wishes.settings)
            explain = explain or built.tokens <= machines.SMALL
        machine, source = built.design.machine, source_of(built)
        job = SimulationJob(built.compilation, built.data, machine, explain, source, wishes.events)
        run = simulated(job, send)
        kept = replace(KeptRun.of(built, run), searched=wishes.search)
        end["done"] = saving.packed(kept)
        end["unkept"] = keep(built, run, budgets.kept * MIB)
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
