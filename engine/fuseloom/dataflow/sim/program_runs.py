"""Running a compiled program: its regions one after another, checked against the dense meaning."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.fusion.repair import traffic
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import RegionActions
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.checking import CheckStep, check_outputs
from fuseloom.dataflow.sim.energy import run_actions
from fuseloom.dataflow.sim.engines import Engine, compile_kernels
from fuseloom.dataflow.sim.explain.critical import CriticalPath, explained
from fuseloom.dataflow.sim.explain.diagnose import run_diagnosed
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.output import in_declared_format, output_tensor
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.sim.result import EngineResult, measured_work
from fuseloom.dataflow.sim.trace import Trace
from fuseloom.display import shown, tag
from fuseloom.errors import SimulationError
from fuseloom.program.functions import Op
from fuseloom.program.inputs import check_data
from fuseloom.program.reference import evaluate
from fuseloom.program.relayout import reshaped
from fuseloom.program.sparse_reference import Masked
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program
from fuseloom.results.check import Check
from fuseloom.results.display import figures_html
from fuseloom.results.energy import EnergyUse
from fuseloom.results.work import Work
from fuseloom.wording import counted, described

Progress = Callable[[float, str], bool | None]
"""Called with the share of the work done (0 to 1) and what runs now; False cancels.

Every region counts the same, and inside it the share of its input that is consumed.
"""


@dataclass(frozen=True)
class RegionRun:
    """One region's run.

    Attributes
    ----------
    cycles : int
        Elapsed clock cycles.
    work : Work
        FLOPs and bytes moved to and from memory, those of permuted copies included.
    actions : RegionActions
        What its nodes did, as energy counts it.
    energy : EnergyUse
        Joules by kind of action, those of permuted copies included.
    path : CriticalPath or None
        What determined the cycles, if the run was observed with a log.
    """

    region: CompiledRegion
    result: EngineResult
    work: Work
    seconds: float
    machine: Machine = field(repr=False)
    copied: float = 0.0
    path: CriticalPath | None = None

    def __repr__(self) -> str:
        return described(self, f"of {self.name}: {counted(self.cycles, 'cycle')}")

    @property
    def name(self) -> str:
        return self.region.name

    @property
    def cycles(self) -> int:
        return self.result.cycles

    @cached_property
    def trace(self) -> Trace:
        return Trace.of(self.result)

    @cached_property
    def actions(self) -> RegionActions:
        return run_actions(self.result, self.machine, self.copied)

    @property
    def energy(self) -> EnergyUse:
        return self.actions.use(self.cycles / self.machine.clock_hz)


@dataclass(frozen=True)
class Run:
    """A simulated program.

    Attributes
    ----------
    outputs : dict
        Every tensor a region wrote, by name, as the machine writes it: all levels compressed.
        See :attr:`results` for declared formats.
    cycles : int
        Sum over the regions, which run one after another.
    """

    compilation: Compilation
    machine: Machine
    data: Mapping[str, StoredTensor] = field(repr=False)
    regions: tuple[RegionRun, ...] = field(repr=False)
    outputs: Mapping[str, StoredTensor] = field(repr=False)

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.compilation.program.name}: "
            f"{counted(len(self.regions), 'region')}, {counted(self.cycles, 'cycle')}; "
            f"{self.__dict__.get('_checked', 'not checked')}",
        )

    @property
    def cycles(self) -> int:
        return sum(r.cycles for r in self.regions)

    @property
    def tokens(self) -> int:
        return sum(r.result.total_tokens for r in self.regions)

    @property
    def work(self) -> Work:
        return sum((r.work for r in self.regions), Work())

    @property
    def energy(self) -> EnergyUse:
        """Joules by kind of action, and the time on the machine (``docs/spec/energy.md``)."""
        return sum((r.energy for r in self.regions), EnergyUse())

    @property
    def seconds(self) -> float:
        """Wall time spent simulating."""
        return sum(r.seconds for r in self.regions)

    @property
    def trace(self) -> tuple[Trace, ...]:
        return tuple(r.trace for r in self.regions)

    @cached_property
    def results(self) -> Mapping[str, StoredTensor]:
        """The program's outputs in the formats they are declared in, converted after the run."""
        program = self.compilation.program
        return {
            name: in_declared_format(self.outputs[name], program.tensor(name))
            for name in program.outputs
        }

    @cached_property
    def reference(self) -> Mapping[str, Masked]:
        """The dense meaning of every tensor of the program."""
        return evaluate(self.compilation.program, self.data)

    def _repr_html_(self) -> str:
        rows = [(r.name, r.cycles, r.work.flops, r.work.bytes) for r in self.regions]
        asked = tag("code", "check()")
        return shown(
            tag("h4", f"run: {counted(self.cycles, 'cycle')} on machine {self.machine.name}"),
            figures_html(
                rows, (self.cycles, self.work.flops, self.work.bytes), self._memory_columns()
            ),
            tag(
                "p",
                f"{counted(self.tokens, 'token')}; ",
                asked,
                " compares with the dense meaning.",
            ),
        )

    def _memory_columns(self) -> list[tuple[str, list[str]]]:
        """Return columns of the memory's activity in each region, if the machine has one."""
        found = [r.result.memory for r in self.regions]
        known = [stats for stats in found if stats is not None and isfinite(stats.peak)]
        if len(known) < len(found) or not found:
            return []
        return [
            ("of the memory's peak", [*(f"{stats.share:.1%}" for stats in known), ""]),
            ("row hits", [*(f"{stats.hit_rate:.1%}" for stats in known), ""]),
            ("wait of a read, cycles", [*(f"{stats.read_latency:.1f}" for stats in known), ""]),
        ]

    def check(self, memory: int | None = None) -> Check:
        """Compare every tensor that was written with what the program means.

        Parameters
        ----------
        memory : int, optional
            Bytes that the check may hold; by default it goes by the size of the tensors.

        See Also
        --------
        fuseloom.dataflow.sim.checking : what is compared, and how exactly.
        """
        check = check_outputs(
            self.compilation.program, self._steps(), self.data, self.outputs, memory=memory
        )
        self.__dict__["_checked"] = str(check)  # for the representation
        return check

    def _steps(self) -> tuple[CheckStep, ...]:
        """Return the steps that wrote the outputs: regions, and the reshapes between them."""
        regions = [
            CheckStep(r.name, r.region.region.statements, r.region.region.outputs, r.seconds)
            for r in self.regions
        ]
        live = self.compilation.program.live
        reshapes = [CheckStep(s.out.tensor, (s,), (s.out.tensor,)) for s in live if not s.op.fuses]
        return (*regions, *reshapes)


@check_arguments
def simulate(
    compilation: Compilation,
    data: Mapping[str, Any],
    machine: Machine | None = None,
    *,
    engine: str | Engine = Engine.AUTO,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Run:
    """Simulate a compiled program on data, region by region.

    Parameters
    ----------
    data : mapping
        Every input by name: stored tensors, numpy arrays or scipy sparse matrices.
    machine : Machine, optional
        By default ``Machine.default()``.  Its channel capacity holds for streams that have
        none of their own.
    observe : Observe, optional
        What to observe in each region's run.
    progress : callable, optional
        See :data:`Progress`.
    limits : Limits, optional
        What the run of one region may use.

    Raises
    ------
    DataError
        If the data do not fit the program (before anything runs).
    SimulationError
        If a run deadlocks, exceeds a limit, or is cancelled.

    Examples
    --------
    >>> import fuseloom as fl
    >>> gcn, data = fl.load("gcn", "karate")
    >>> run = fl.simulate(fl.compile(gcn.program, gcn.presets["full"]), data)
    >>> run.cycles, run.check().ok
    (49474, True)
    >>> run.outputs["Y"].to_dense().shape
    (34, 4)
    """
    machine = machine or Machine.default()
    program = compilation.program
    inputs = check_data(program, data)
    known: dict[str, StoredTensor] = dict(inputs)
    runs: list[RegionRun] = []
    written: dict[str, StoredTensor] = {}
    do_reshapes(program, known, written)
    for number, compiled in enumerate(compilation.regions):
        report = _Reporter(progress, number, len(compilation.regions))
        run = simulate_region(
            compiled,
            known,
            machine,
            engine=engine,
            observe=None if observe is None else observe.part(number),
            report=report,
            limits=limits,
        )
        runs.append(run)
        for name in compiled.region.outputs:
            known[name] = written[name] = output_tensor(run.result, program.tensor(name))
        do_reshapes(program, known, written)
    if progress is not None:
        progress(1.0, "done")
    return Run(compilation, machine, inputs, tuple(runs), written)


@dataclass(frozen=True)
class _Reporter:
    """Tells how far the run of one region is, as a share of the run of all."""

    progress: Progress | None
    region: int
    regions: int

    def __call__(self, share: float, text: str) -> bool | None:
        if self.progress is None:
            return None
        return self.progress((self.region + share) / self.regions, text)


def simulate_region(
    compiled: CompiledRegion,
    known: Mapping[str, StoredTensor],
    machine: Machine,
    *,
    engine: str | Engine = Engine.AUTO,
    observe: Observe | None = None,
    report: Progress | None = None,
    limits: Limits | None = None,
) -> RegionRun:
    """Simulate one region alone.

    Parameters
    ----------
    known : mapping
        At least the tensors that it reads, as the program declares them.

    Raises
    ------
    SimulationError
        As :func:`simulate`.
    """

    def tell(share: float, text: str) -> bool | None:
        return None if report is None else report(share, text)

    def tick(tokens: int, share: float) -> bool | None:
        return tell(share, f"{compiled.name}: {counted(tokens, 'token')}")

    if tick(0, 0.0) is False:
        raise SimulationError("the run was cancelled")
    bound = with_ports(bind(compiled.graph, known), machine)
    compile_kernels(bound, machine, engine, lambda text: tell(0.0, text), observe)
    started = time.perf_counter()
    result = run_diagnosed(bound, machine, engine, observe=observe, progress=tick, limits=limits)
    seconds = time.perf_counter() - started
    path = None
    if observe is not None and observe.log:
        path = explained(bound, machine, engine, result, observe)
    program = compiled.region.program
    copied = sum(traffic(program.tensor(name), known[name].nnz) for name in compiled.copies)
    work = measured_work(result) + Work(bytes=copied)
    return RegionRun(compiled, result, work, seconds, machine, float(copied), path)


def do_reshapes(
    program: Program, known: dict[str, StoredTensor], written: dict[str, StoredTensor]
) -> None:
    """Do the reshapes whose operand is there by now; memory does them, no region."""
    for statement in program.statements:
        name, source = statement.out.tensor, statement.operands[0].tensor
        if statement.op is Op.RESHAPE and name not in known and source in known:
            known[name] = written[name] = reshaped(known[source], program.tensor(name))
