"""Run a bound graph on whichever engine is at hand."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from types import ModuleType

from engine.errors import DeadlockError, SimulationError
from engine.sim import interpreter
from engine.sim.bound import BoundGraph
from engine.sim.machine import Machine
from engine.sim.observe import Observe
from engine.sim.ports import with_ports
from engine.sim.primitives import implementation
from engine.sim.reports import Limits, Progress
from engine.sim.result import EngineResult

SMALL = 20_000
"""Array elements up to which the interpreter is done before kernels could be compiled."""


class Engine(Enum):
    """Which form of the primitives runs; both give the same result, exactly."""

    AUTO = "auto"
    COMPILED = "compiled"
    INTERPRETER = "interpreter"


def run_graph(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine = Engine.AUTO,
    *,
    log: bool = False,
    observe: Observe | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    diagnose: bool = True,
) -> EngineResult:
    """Run a bound graph to its end.

    Parameters
    ----------
    engine : Engine or str
        ``"interpreter"`` runs the generator twins, ``"compiled"`` the kernels.  ``"auto"``
        takes the kernels when they are compiled already or the data are large, and have the
        primitives the graph needs; otherwise the twins.
    log : bool
        Keep every token taken from every stream, with its timestamp.
    observe : Observe, optional
        What to observe besides; the result's ``observed`` holds it.
    progress : callable, optional
        See :data:`engine.sim.reports.Progress`.
    limits : Limits, optional
        What the run may use.
    diagnose : bool
        After a deadlock of a small run, or of one observed with a log, search the least
        capacities that end it, for the error's hint.

    Raises
    ------
    DeadlockError
        If nodes wait for each other in a circle; the message names it.
    SimulationError
        If tokens contradict each other, a limit is reached or the run is cancelled.
    """
    try:
        chosen = Engine(engine)
    except ValueError:
        raise SimulationError(
            f"no engine is called {engine!r}", hint=f"known: {', '.join(e.value for e in Engine)}"
        ) from None
    bound = with_ports(bound, machine)
    kernels = None if chosen is Engine.INTERPRETER else _kernels(chosen is Engine.COMPILED)
    if chosen is Engine.AUTO and kernels is not None and not worthwhile(bound, machine, observe):
        kernels = None
    engine_run = interpreter.run if kernels is None else kernels.run
    try:
        result: EngineResult = engine_run(
            bound, machine, log=log, observe=observe, progress=progress, limits=limits
        )
    except DeadlockError as error:
        if not diagnose:
            raise
        search = import_module("engine.sim.diagnose")
        most = search.SMALL_RUN
        if observe is not None and observe.log:
            most = limits.tokens if limits is not None else None
        raise search.with_remedy(error, bound, machine, engine, most) from None
    return result


def _kernels(required: bool) -> ModuleType | None:
    """The compiled engine, if this installation can import it; the first import costs a second."""
    try:
        return import_module("engine.sim.compiled")
    except ImportError as problem:
        if not required:
            return None
        raise SimulationError(
            f"the compiled engine cannot be loaded: {problem}", hint="use the interpreter"
        ) from problem


def worthwhile(bound: BoundGraph, machine: Machine, observe: Observe | None = None) -> bool:
    """Whether the kernels can run the graph, and sooner than the twins would be done."""
    if any(implementation(node.op).kernel is None for node in bound.graph.nodes):
        return False
    if import_module("engine.sim.cache").ready(_needed(bound, machine, observe)):
        return True
    return sum(a.size for arrays in bound.arrays.values() for a in arrays.values()) > SMALL


def _needed(bound: BoundGraph, machine: Machine, observe: Observe | None) -> set[str]:
    choice = import_module("engine.sim.choice")
    names: set[str] = choice.kernels_of(bound.graph, machine, observed=observe is not None)
    return names


def prepare(
    bound: BoundGraph,
    machine: Machine,
    engine: str | Engine,
    report: Callable[[str], bool | None] | None = None,
    observe: Observe | None = None,
) -> None:
    """Compile the kernels that running a graph will need and the cache lacks.

    The first run after an installation may take a quarter of a minute for this, so ``report`` is
    told which kernel was compiled, of how many; returning False cancels.  Later runs find them in
    the cache.

    Raises
    ------
    SimulationError
        If it is cancelled, or the kernels cannot be compiled.
    """
    chosen = Engine(engine)
    if chosen is Engine.INTERPRETER or _kernels(chosen is Engine.COMPILED) is None:
        return
    if chosen is Engine.AUTO and not worthwhile(bound, machine, observe):
        return
    cache = import_module("engine.sim.cache")
    names = {
        name
        for name in _needed(bound, machine, observe) & set(cache.KERNELS)
        if not cache.ready([name])
    }
    if not names:
        return

    def say(text: str) -> None:
        if report is not None and report(f"compiling the simulator, once: {text}") is False:
            raise SimulationError("the run was cancelled while its kernels were compiled")

    def tell(name: str, done: int, total: int, seconds: float) -> None:
        say(f"{name} ({done} of {total} kernels)")

    say("this takes up to a minute")
    if all(cache.KERNELS[name].storable for name in names):
        cache.warmup(tell, names=names)
        return
    for done, name in enumerate(sorted(names), 1):  # nowhere to keep it: compiled for this process
        tell(name, done, len(names), 0.0)
        _ = cache.KERNELS[name].compiled
