"""Notebook 8: what holds a run up, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.explain.critical import CriticalPath, PathCause
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.models import load
from fuseloom.program.types import Program
from fuseloom_workbench.notebook.exercises import Exercise, names, number, schedule

LAYERS = "fuse T1..H; fuse T5..Y"
"""Each layer of the network is a region."""
LANES = f"{LAYERS}; parallel i by 4"
FEWER_BYTES = f"{LANES}; order T1..H: i,k,p,n; store H compressed,dense"


@cache
def network() -> tuple[Program, Mapping[str, Any]]:
    """A graph convolution of two layers on the Karate Club, and its data."""
    model, data = load("gcn", "karate")
    return model.program, data


@cache
def compiled(text: str = LAYERS) -> Compilation:
    """The network under a schedule, each region in its best order."""
    program, data = network()
    return best_orders(compile_program(program, text), data).compilation


@cache
def run(text: str = LAYERS, machine: str = "default") -> Run:
    """A run with the log of everything that happens."""
    on = Machine.preset(machine)
    return simulate(compiled(text), network()[1], on, observe=Observe(log=True))


@cache
def _fewer_bytes() -> int:
    program, data = network()
    made = compile_program(program, FEWER_BYTES)
    return simulate(made, data, Machine.preset("ddr4")).cycles


def _path(machine: str = "default") -> CriticalPath:
    path = run(machine=machine).regions[0].path
    assert path is not None
    return path


def _busiest() -> str:
    return max(run().trace[0].nodes, key=lambda node: node.busy).label


def _slowest() -> int:
    node = _path().bottleneck
    assert node is not None
    return node


def _waited_for() -> str:
    """The tensor whose level the path waits for longest on a machine with slow memory."""
    path = _path("ddr4")
    share = next(s for s in path.summary() if s.why is PathCause.MEMORY)
    return path.graph.nodes[share.node].label.split()[1].partition(".")[0]


def _least_by_memory() -> float:
    machine = Machine.preset("ddr4")
    assert machine.memory is not None
    return run().work.bytes / machine.memory.peak_per_cycle(machine.clock_hz)


EXERCISES = {
    "8.1": Exercise(
        "What percentage of the run's cycles does region T1..H take?",
        number(lambda: 100 * run().regions[0].cycles / run().cycles, "%", 0.01),
        "100 * run.regions[0].cycles / run.cycles",
    ),
    "8.2": Exercise(
        "Which node of T1..H is busy for the most cycles?",
        names(lambda: {_busiest()}),
        "the first row of the trace",
    ),
    "8.3": Exercise(
        "For how many cycles does that node work on the critical path?",
        number(lambda: _path().own(_slowest()), "cycles"),
        "the first row of run.regions[0].path",
    ),
    "8.4": Exercise(
        "How many cycles does the whole program take at least if that node is twice as fast?",
        number(lambda: run().cycles - _path().what_if(_slowest()).gain, "cycles", 1e-3),
        "half of its cycles on the path are saved at most, in one region of the two",
    ),
    "8.5": Exercise(
        "How many cycles will the program take if index i is dealt to 4 lanes?",
        number(lambda: run(LANES).cycles, "cycles", 0.02),
        "fl.what_if(compiled, data, lanes=[('i', 4)])",
    ),
    "8.6": Exercise(
        "How many cycles does it take ddr4 at least to move the program's bytes?",
        number(_least_by_memory, "cycles", 2e-3),
        "bytes of the run over 25.6 bytes a cycle",
    ),
    "8.7": Exercise(
        "For a level of which tensor does the critical path wait longest?",
        names(lambda: {_waited_for()}),
        "the row that waits for memory; its node is named after tensor and index",
    ),
    "8.8": Exercise(
        "Write a schedule in 4 lanes that takes on ddr4 no more than fewer bytes make possible.",
        schedule(network, _fewer_bytes, machine="ddr4"),
        "fl.best_orders(..., machine=ddr4) finds one; its text is .compilation.resolved",
    ),
}
