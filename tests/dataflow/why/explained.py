"""The GCN on the Karate Club graph, compiled, estimated and run with its path: made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, EstimateContext, estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.sim.explain.data import PAGE
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.why.suggestions import SuggestionRequest
from fuseloom.models import gcn, karate
from fuseloom.program.storage import StoredTensor
from fuseloom.results.record import RunRecord

FULL = "fuse T1..Y; order T1..Y: i,k,k',p,n,m"
PARTIAL = "fuse T1..H; fuse T5..Y; order T1..H: i,k,p,n; order T5..Y: i,k,n,m"
KERNELS = {
    **{"T1": "A·X", "T2": "·W1", "T3": "+b1", "H": "relu"},
    **{"T5": "A·H", "T6": "·W2", "T7": "+b2"},
    **dict.fromkeys(("x", "d", "e", "s", "Y"), "softmax"),
}
"""Kernels as they are drawn."""


@cache
def data() -> dict[str, StoredTensor]:
    return karate()


@dataclass(frozen=True)
class Explained:
    """A schedule of the GCN and its run."""

    compilation: Compilation
    estimate: Estimate
    run: Run
    record: RunRecord

    @property
    def context(self) -> EstimateContext:
        return EstimateContext.of(self.compilation.program, data())

    @property
    def asked(self) -> SuggestionRequest:
        machine = Machine.default()
        return SuggestionRequest(
            self.compilation, data(), machine, self.estimate, self.record, KERNELS
        )


@cache
def explained(schedule: str, explain: bool = True) -> Explained:
    """The GCN under a schedule; where it names no order, under the best one."""
    compiled = compile_program(gcn().program, schedule)
    compiled = best_orders(compiled, data()).compilation
    observe = Observe(log=True) if explain else None
    run = simulate(compiled, data(), observe=observe)
    made = estimate(compiled, data())
    return Explained(compiled, made, run, program_record(run, None, PAGE))
