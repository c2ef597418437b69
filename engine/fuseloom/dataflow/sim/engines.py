"""Run a bound graph on whichever engine is at hand."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from types import ModuleType

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import Limits, Progress
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

SMALL = 20_000
"""Array elements up to which the interpreter is done before kernels could be compiled."""

_COMPILED = "fuseloom.dataflow.sim.compiled"


class Engine(Enum):
    """Which form of the primitives runs; both give the same result, exactly."""

    AUTO = "auto"
    COMPILED = "compiled"
    INTERPRETER = "interpreter"

    @classmethod
    def of(cls, name: str | Engine) -> Engine:
        """The engine of that name.

        Raises
        ------
        SimulationError
            If there is none.
        """
        try:
            return cls(name)
        except ValueError:
            raise SimulationError(
                f"no engine is called {name!r}", hint=f"known: {', '.join(e.value for e in cls)}"
            ) from None


def run_graph(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine = Engine.AUTO,
    *,
    log: bool = False,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> EngineResult:
    """Run a bound graph to its end.

    Parameters
    ----------
    engine : Engine or str
        ``"interpreter"`` runs the golden models, ``"compiled"`` the kernels.  ``"auto"``
        takes the kernels when they are compiled already or the data are large, and have the
        primitives the graph needs; otherwise the golden models.
    log : bool
        Keep every token taken from every stream, with its timestamp.
    observe : Observe, optional
        What to observe besides; the result's ``observed`` holds it.
    progress : callable, optional
        See :data:`fuseloom.dataflow.sim.reports.Progress`.
    limits : Limits, optional
        What the run may use.

    Raises
    ------
    DeadlockError
        If nodes wait for each other in a circle; the message names it
        (:func:`fuseloom.dataflow.sim.explain.diagnose.run_diagnosed` also says what ends it).
    SimulationError
        If tokens contradict each other, a limit is reached or the run is cancelled.
    """
    return run_ported(
        with_ports(bound, machine),
        machine,
        engine,
        log=log,
        observe=observe,
        progress=progress,
        limits=limits,
    )


def run_ported(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine = Engine.AUTO,
    *,
    log: bool = False,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> EngineResult:
    """Run a graph that has the machine's memory ports; otherwise as :func:`run_graph`."""
    kernels = _chosen(bound, machine, Engine.of(engine), observe)
    engine_run = interpreter.run if kernels is None else kernels.run
    result: EngineResult = engine_run(
        bound, machine, log=log, observe=observe, progress=progress, limits=limits
    )
    return result


def _chosen(
    bound: BoundGraph, machine: Machine, engine: Engine, observe: Observe | None
) -> ModuleType | None:
    """The compiled engine, if that is to run the graph; None for the golden models."""
    if engine is Engine.INTERPRETER:
        return None
    kernels = _compiled_engine(required=engine is Engine.COMPILED)
    if engine is Engine.AUTO and kernels is not None and not worthwhile(bound, machine, observe):
        return None
    return kernels


def _compiled_engine(required: bool) -> ModuleType | None:
    """The compiled engine, if this installation can import it; the first import costs a second."""
    try:
        return import_module(f"{_COMPILED}.simulation")
    except ImportError as problem:
        if not required:
            return None
        raise SimulationError(
            f"the compiled engine cannot be loaded: {problem}", hint="use the interpreter"
        ) from problem


def worthwhile(bound: BoundGraph, machine: Machine, observe: Observe | None = None) -> bool:
    """Return whether the kernels can run the graph, and finish before the golden models would."""
    needed = _needed(bound, machine, observe)
    warmup = import_module(f"{_COMPILED}.warmup")
    if not needed <= set(warmup.KERNELS):
        return False
    if warmup.ready(needed):
        return True
    return sum(a.size for arrays in bound.arrays.values() for a in arrays.values()) > SMALL


def _needed(bound: BoundGraph, machine: Machine, observe: Observe | None) -> set[str]:
    choice = import_module(f"{_COMPILED}.choice")
    names: set[str] = choice.kernels_of(bound.graph, machine, observed=observe is not None)
    return names


def compile_kernels(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine,
    report: Callable[[str], bool | None] | None = None,
    observe: Observe | None = None,
) -> None:
    """Compile the kernels that running a graph with ports will need and the cache lacks.

    The first run after an installation may take a quarter of a minute for this, so ``report`` is
    told which kernel was compiled, of how many; returning False cancels.  Later runs find them in
    the cache.  Where nothing can be kept they are compiled for this process, which a line on the
    standard error says.

    Raises
    ------
    SimulationError
        If it is cancelled, or the kernels cannot be compiled.
    """
    if _chosen(bound, machine, Engine.of(engine), observe) is None:
        return
    warmup = import_module(f"{_COMPILED}.warmup")
    needed = _needed(bound, machine, observe) & set(warmup.KERNELS)
    names = {name for name in needed if not warmup.ready([name])}
    if not names:
        return

    def say(text: str) -> None:
        if report is not None and report(f"compiling the simulator, once: {text}") is False:
            raise SimulationError("the run was cancelled while its kernels were compiled")

    def tell(name: str, done: int, total: int, seconds: float) -> None:
        say(f"{name} ({done} of {counted(total, 'kernel')})")

    say("this takes up to a minute")
    if all(warmup.KERNELS[name].storable for name in names):
        try:
            warmup.warmup(tell, names=names)
            return
        except warmup.UnkeptError:  # compiling them says why
            names = {name for name in names if not warmup.ready([name])}
    for done, name in enumerate(sorted(names), 1):  # nowhere to keep it: compiled for this process
        tell(name, done, len(names), 0.0)
        _ = warmup.KERNELS[name].compiled
