"""Judges of what students build: graphs, programs, data and machines, each by running it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isinf
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.text import parse_machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import FuseloomError
from fuseloom.program import Program, parse
from fuseloom.wording import counted
from fuseloom_workbench.notebook.exercises import Judge
from fuseloom_workbench.notebook.wiring import uses, wired

LIMITS = Limits(tokens=2_000_000, cycles=2_000_000)
"""Limits of the run of an answer."""

Data = Mapping[str, Any]
Given = Callable[[], tuple[Program, Mapping[str, Data]]]
"""Gives a program, and data to run it on, each set with words that say what is special in it."""
Rule = Callable[[Graph], str]
"""Says what a graph breaks that it was to keep to; an empty text where nothing."""


def by_hand(program: Program, graph: Graph, schedule: str = "") -> Compilation:
    """Return a program of one region, with a graph of one's own in place of the compiler's.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from fuseloom_workbench.notebook import by_hand, wired
    >>> program = fl.parse("a: 4 compressed\\ny[i] = relu(a[i])")
    >>> graph = wired('''
    ...     start = root()
    ...     i, place = scan(start) tensor=a level=0
    ...     number = array(place) tensor=a
    ...     result = unary(number) fn=relu
    ...     crdwrite(i) tensor=y level=0
    ...     valwrite(result) tensor=y
    ... ''')
    >>> run = fl.simulate(by_hand(program, graph), {"a": [0.0, -1.0, 2.0, 0.0]})
    >>> run.check().ok, run.cycles
    (True, 8)
    """
    made = compile_program(program, schedule)
    (region,) = made.regions
    return replace(made, regions=(replace(region, graph=graph),))


def run_by_hand(program: Program, text: str, data: Data) -> Run:
    """Run a graph that is written by hand on data of a program.

    Raises
    ------
    FuseloomError
        If the graph cannot be read, does not write the program's result, or fails when it runs.

    Examples
    --------
    >>> import fuseloom as fl
    >>> from fuseloom_workbench.notebook import run_by_hand
    >>> program = fl.parse("a: 4 compressed\\ny[i] = 2 * a[i]")
    >>> text = '''
    ...     start = root()
    ...     i, place = scan(start) tensor=a level=0
    ...     number = array(place) tensor=a
    ...     double = unary(number) fn=scalarmul scalar=2
    ...     crdwrite(i) tensor=y level=0
    ...     valwrite(double) tensor=y
    ... '''
    >>> run_by_hand(program, text, {"a": [0.0, -1.0, 2.0, 0.0]}).outputs["y"].to_dense()
    array([ 0., -2.,  4.,  0.])
    """
    graph = wired(text)
    if problem := _misfit(program, graph):
        raise FuseloomError(problem)
    return simulate(by_hand(program, graph), data, limits=LIMITS)


def graph(given: Given, *rules: Rule) -> Judge:
    """Judge a graph that is written by hand: it computes a program's result, and keeps to rules."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, str):
            return f"{_short(answer)} is no graph: write it as text, a line per primitive"
        program, sets = given()
        made = wired(answer)
        if problem := _misfit(program, made):
            return problem
        for what, data in sets.items():
            try:
                run = simulate(by_hand(program, made), data, limits=LIMITS)
            except FuseloomError as reason:
                return f"on {what}: {reason}"
            if not run.check().ok:
                return f"on {what}: {run.check()}"
        return next(filter(None, (rule(made) for rule in rules)), "")

    return wrong


def _misfit(program: Program, graph: Graph) -> str:
    """Say where a graph names tensors or levels that the program does not have."""
    (result,) = program.outputs
    levels = len(program.tensor(result).shape)
    written = []
    for node in graph.nodes:
        if "tensor" not in node.params:
            continue
        name, level = str(node.params["tensor"]), node.params.get("level", 0)
        where = f"{node.op} of {name}"
        if primitive(node.op).family is Family.WRITE:
            if name != result:
                return f"{where}: the result is called {result}"
            written.append(node.params.get("level", -1))
        elif name not in program.inputs:
            return f"{where}: the tensors to be read are {', '.join(program.inputs)}"
        most = len(program.tensor(name).shape)
        if not isinstance(level, int) or not 0 <= level < most:
            return f"{where} has no level {level}: levels are counted from 0 to {most - 1}"
    for level in (*range(levels), -1):
        if written.count(level) != 1:
            what = "values of the result are" if level < 0 else f"level {level} of the result is"
            return f"the {what} written {counted(written.count(level), 'time')}, and not once"
    return ""


def contains(op: str, times: int = 1, why: str = "") -> Rule:
    """Ask for so many nodes of a primitive, neither more nor fewer."""

    def rule(graph: Graph) -> str:
        found = uses(graph).get(op, 0)
        if found == times:
            return ""
        told = f"it has {counted(found, f'node {op}', f'nodes {op}')}, and should have {times}"
        return told + (f": {why}" if why else "")

    return rule


def at_most(nodes: int) -> Rule:
    """Allow so many nodes, not counting copies."""

    def rule(graph: Graph) -> str:
        found = sum(uses(graph).values())
        return "" if found <= nodes else f"it has {found} nodes, more than {nodes}"

    return rule


def program(judged: Callable[[Program], str]) -> Judge:
    """Judge a program that is written as text."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, str):
            return f"{_short(answer)} is no program: write it as text"
        return judged(parse(answer))

    return wrong


def compiled(given: Callable[[], tuple[Program, Data]], judged: Callable[[Run], str]) -> Judge:
    """Judge a schedule by its run; the result has to be right before anything else counts."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, str):
            return f"{_short(answer)} is no schedule: write it as text"
        source, data = given()
        run = simulate(compile_program(source, answer), data, limits=LIMITS)
        return judged(run) if run.check().ok else str(run.check())

    return wrong


def machine(
    price: Callable[[Machine], float], most: float, judged: Callable[[Machine], str]
) -> Judge:
    """Judge a machine that is written as TOML: within a budget, and then by runs on it."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, str):
            return f"{_short(answer)} is no machine: write it as text, a line per field"
        made = parse_machine(answer)
        costs = price(made)
        if isinf(costs):
            return "its channels are unbounded: give channel_capacity a number"
        if costs > most:
            return f"it costs {costs:,.0f}, more than the budget of {most:,.0f}"
        return judged(made)

    return wrong


def _short(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= 60 else text[:59] + "…"
