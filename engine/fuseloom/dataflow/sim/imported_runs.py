"""Running a graph that came from a file, on the data that came with it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.actions import RegionActions
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.exchange.record import ImportedGraph
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.energy import run_actions, run_energy
from fuseloom.dataflow.sim.engines import Engine
from fuseloom.dataflow.sim.explain.critical import CriticalPath, explained
from fuseloom.dataflow.sim.explain.diagnose import run_diagnosed
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.output import output_tensor
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.sim.result import EngineResult, measured_work
from fuseloom.dataflow.sim.trace import Trace
from fuseloom.errors import SimulationError
from fuseloom.program.inputs import as_stored, made_tensor
from fuseloom.program.late import is_scipy
from fuseloom.program.storage import StoredTensor
from fuseloom.results.check import Against, Check, relative_error
from fuseloom.results.energy import EnergyUse
from fuseloom.results.run_parts import WrittenLevel
from fuseloom.results.work import Work
from fuseloom.wording import counted, described


@dataclass(frozen=True)
class ImportedRun:
    """One run of an imported graph.

    Attributes
    ----------
    cycles : int
        Elapsed clock cycles.
    outputs : mapping
        What the writers wrote, by tensor name.
    seconds : float
        Wall time of the simulation.
    problems : mapping
        By tensor name, why what was written is no tensor.
    path : CriticalPath or None
        What determined the cycles, if the run was observed with a log.
    """

    imported: ImportedGraph
    machine: Machine
    result: EngineResult = field(repr=False)
    outputs: Mapping[str, StoredTensor] = field(repr=False)
    seconds: float
    problems: Mapping[str, str] = field(default_factory=dict)
    path: CriticalPath | None = None

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.imported.graph.name}: {counted(self.cycles, 'cycle')}, "
            f"{counted(len(self.outputs), 'output')}; "
            f"{self.__dict__.get('_checked', 'not checked')}",
        )

    @property
    def cycles(self) -> int:
        return self.result.cycles

    @property
    def tokens(self) -> int:
        return self.result.total_tokens

    @property
    def work(self) -> Work:
        return measured_work(self.result)

    @property
    def actions(self) -> RegionActions:
        """The actions of its nodes."""
        return run_actions(self.result, self.machine)

    @property
    def energy(self) -> EnergyUse:
        """Joules by kind of action."""
        return run_energy(self.result, self.machine)

    def written(self, tensor: str) -> tuple[list[WrittenLevel], list[float]]:
        """Return the contents of a tensor's writers: ``seg`` and ``crd`` by level, and values."""
        levels: dict[int, WrittenLevel] = {}
        values: list[float] = []
        for node in self.result.graph.nodes:
            if node.id not in self.result.outputs or node.params.get("tensor") != tensor:
                continue
            arrays = self.result.outputs[node.id]
            if primitive(node.op).memory.writes_level:
                level = int(node.params["level"])
                levels[level] = {"seg": arrays["seg"].tolist(), "crd": arrays["crd"].tolist()}
            else:
                values = arrays["vals"].tolist()
        return [levels[k] for k in sorted(levels)], values

    @cached_property
    def trace(self) -> Trace:
        return Trace.of(self.result)

    def check(self, expected: npt.ArrayLike) -> Check:
        """Compare the first output with a dense array."""
        first = self.imported.outputs[0].name
        if first not in self.outputs:
            raise SimulationError(f"{first} is no tensor: {self.problems[first]}")
        got = self.outputs[first]
        want = np.asarray(expected, dtype=np.float64)
        shape = got.tensor.shape
        error = relative_error(got.to_dense(), want) if want.shape == shape else float("inf")
        check = Check(error, against=Against.EXPECTED, shape=shape, expected_shape=want.shape)
        self.__dict__["_checked"] = str(check)  # for the representation
        return check


LARGE_TABLE = 1 << 24
"""Entries of an accumulator's table from which the kernels, which keep all of it, do not pay."""


def has_large_tables(imported: ImportedGraph) -> bool:
    tables = ((n, primitive(n.op).kernels.table) for n in imported.graph.nodes)
    return any(int(n.params[name]) > LARGE_TABLE for n, name in tables if name is not None)


def _operands(imported: ImportedGraph, data: Mapping[str, Any]) -> dict[str, StoredTensor]:
    """The operands of a graph as its nodes read them: given data, and selections that it makes."""
    found = {n: made_tensor(t) for n, t in imported.tensors.items() if t.made is not None}
    for name, given in data.items():
        if isinstance(given, StoredTensor):
            found[name] = given
        elif name in imported.tensors:
            tensor = imported.tensors[name]
            if name in imported.zeroless and is_scipy(given):
                given = given.copy()
                given.eliminate_zeros()
            found[name] = as_stored(tensor, given)
    return found


@check_arguments
def run_imported(
    imported: ImportedGraph,
    data: Mapping[str, Any],
    machine: Machine | None = None,
    *,
    engine: str | Engine = Engine.AUTO,
    observe: Observe | None = None,
    limits: Limits | None = None,
    lenient: bool = False,
) -> ImportedRun:
    """Simulate an imported graph.

    Parameters
    ----------
    data : mapping
        Stored tensors, numpy arrays or scipy sparse matrices by the names in ``imported.tensors``.
    machine : Machine, optional
        By default ``Machine.default()``.
    observe : Observe, optional
        What to observe in the run.
    limits : Limits, optional
        What the run may use.
    lenient : bool
        Note in the result, instead of failing, where writers' levels make no tensor.

    Raises
    ------
    DataError
        If a tensor is missing, or an array does not fit its declaration.
    SimulationError
        If the run fails: tokens that contradict each other, a deadlock, a limit.

    Examples
    --------
    >>> import fuseloom as fl
    >>> spmv, data = fl.load("spmv")
    >>> tensors = {tensor.name: tensor for tensor in spmv.program.tensors}
    >>> text = fl.export_sam(fl.compile(spmv.program).regions[0].graph, tensors).text
    >>> run = fl.run_imported(fl.import_sam(text, {"A": (8, 8), "x": (8,)}), data)
    >>> run.cycles, run.tokens
    (38, 342)
    """
    machine = machine or Machine.default()
    bound = bind(imported.graph, _operands(imported, data))
    if machine.channel_capacity is not None:
        bound = type(bound)(imported.graph.with_capacity(machine.channel_capacity), bound.arrays)
    if engine in (Engine.AUTO, Engine.AUTO.value) and has_large_tables(imported):
        engine = Engine.INTERPRETER
    bound = with_ports(bound, machine)
    started = time.perf_counter()
    result = run_diagnosed(bound, machine, engine, observe=observe, limits=limits)
    seconds = time.perf_counter() - started
    path = None
    if observe is not None and observe.log:
        path = explained(bound, machine, engine, result, observe)
    outputs: dict[str, StoredTensor] = {}
    problems: dict[str, str] = {}
    for tensor in imported.outputs:
        try:
            outputs[tensor.name] = output_tensor(result, tensor)
        except SimulationError as problem:
            if not lenient:
                raise
            problems[tensor.name] = problem.message
    return ImportedRun(imported, machine, result, outputs, seconds, problems, path)
