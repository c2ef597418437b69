"""A primitive's name means nothing: under other names all runs, rewrites and estimates are equal.

What tells primitives apart is in their catalogue entries; here every entry, golden model and cost
rule is there a second time, and graphs are made of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.exact import execution
from fuseloom.dataflow.cost.rules import RULES
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml import catalogue
from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.dot import to_dot
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.samml.passes.cleanup import clean
from fuseloom.dataflow.samml.passes.lookups import insert_locators, remove_locators
from fuseloom.dataflow.samml.passes.parallelise import parallelise
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled.pacing import paced_streams
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.explain.critical import critical_path
from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import InputStreams
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import DeadlockError, FuseloomError, SimulationError
from fuseloom.models import gcn, random_data
from tests.property.random_graphs import random_graph
from tests.tiers import counts

SEED = 20_262_200
MACHINES = (
    Machine.default(3),
    Machine.comal(),
    Machine.comal(memory=True),
    Machine.preset("hbm2"),
)
OTHER = "other_"


@pytest.fixture(autouse=True)
def _every_entry_twice(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The catalogue, the golden models and the cost rules under other names as well."""
    others = {OTHER + name: replace(e, name=OTHER + name) for name, e in CATALOGUE.items()}
    monkeypatch.setattr(catalogue, "CATALOGUE", {**CATALOGUE, **others})
    with ExitStack() as stack:
        for registry in (IMPLEMENTATIONS, RULES, execution.RULES):
            twice = {OTHER + name: item for name, item in registry.items() if name in CATALOGUE}
            stack.enter_context(registry.instead(twice))
        yield


def named(graph: Graph) -> Graph:
    """The graph with labels, so that nothing is called by its op."""
    nodes = (replace(n, label=n.label or f"node {n.id}") for n in graph.nodes)
    return replace(graph, nodes=tuple(nodes))


def renamed(graph: Graph) -> Graph:
    """The graph with every primitive under its other name."""
    return replace(graph, nodes=tuple(replace(n, op=OTHER + n.op) for n in graph.nodes))


def back(graph: Graph) -> Graph:
    nodes = (replace(n, op=n.op.removeprefix(OTHER)) for n in graph.nodes)
    return replace(graph, nodes=tuple(nodes))


def facts(bound: BoundGraph, machine: Machine, engine: str) -> list[Any]:
    """All that a run tells, for comparing."""
    ported = with_ports(bound, machine)
    inputs = InputStreams.of(ported)
    found: list[Any] = [
        str(back(ported.graph)),
        paced_streams(ported.graph, machine),
        (inputs.streams.tolist(), inputs.expected.tolist()),
        to_dot(ported.graph).source,
    ]
    try:
        result = run_graph(bound, machine, engine, observe=Observe(log=True))
    except (SimulationError, DeadlockError) as problem:
        return [*found, type(problem), problem.message]
    observed = result.observed
    assert observed is not None
    assert observed.log is not None
    arrays = [
        getattr(result, name)
        for name in ("clocks", "stall_input", "stall_output", "stall_memory", "first", "tokens")
    ]
    arrays += [observed.residence, observed.occupancy_max, observed.tokens]
    if engine == "interpreter":  # the kernels' timelines depend on when nodes were visited
        arrays.append(observed.nodes)
    for log in observed.log:
        arrays += [log.puts.expanded(), log.takes.expanded(), np.array([log.latency, log.peeked])]
    written = {
        node: {name: array.tobytes() for name, array in each.items()}
        for node, each in result.outputs.items()
    }
    return [*found, [a.tolist() for a in arrays], written, path_of(result)]


def path_of(result: EngineResult) -> list[Any]:
    return [(s.node, s.start, s.stop, s.why) for s in critical_path(result).segments]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@counts(small=15, deep=24, fuzz=60)
def test_runs_are_equal_under_other_names(count: int, engine: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed)
        bound = replace(bound, graph=named(bound.graph))
        other = replace(bound, graph=renamed(bound.graph))
        for machine in MACHINES:
            try:
                expected = facts(bound, machine, engine)
            except FuseloomError as problem:  # tiles and a memory of queues do not go together
                with pytest.raises(type(problem)):
                    facts(other, machine, engine)
                continue
            assert facts(other, machine, engine) == expected, f"graph {seed}"
            seen.update(n.op for n in bound.graph.nodes)
    assert len(seen) > (30 if count >= 60 else 20)


def compiled() -> Compilation:
    return compile_program(gcn(nodes=5, features=4, hidden=3, classes=2).program, "")


def test_rewrites_are_equal_under_other_names() -> None:
    changed = 0
    for region in compiled().regions:
        for rewrite in (
            clean,
            remove_locators,
            lambda graph: insert_locators(remove_locators(graph)),
            lambda graph, r=region: parallelise(graph, r.order[0], 2),
            lambda graph, r=region: size_buffers(graph, r.region.extents),
        ):
            try:
                expected = rewrite(region.graph)
            except FuseloomError as problem:
                with pytest.raises(type(problem)):
                    rewrite(renamed(region.graph))
                continue
            assert back(rewrite(renamed(region.graph))) == expected
            changed += expected != region.graph
    assert changed > 5


def test_estimates_are_equal_under_other_names() -> None:
    compilation = compiled()
    other = replace(
        compilation,
        regions=tuple(replace(r, graph=renamed(r.graph)) for r in compilation.regions),
    )
    data = random_data(gcn(nodes=5, features=4, hidden=3, classes=2))
    assert estimate(other, data) == estimate(compilation, data)
