"""The space of schedules: what is found in it is the best there is, by running all of it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchmarks.autoschedule import paths, problem
from benchmarks.certificates import cuts, space
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.exploration.search import Search
from fuseloom.models import load
from fuseloom.program import parse
from fuseloom.results.method import Budget, Part, Refusal, every
from fuseloom.results.order_ideals import Units

SMALL, SEED = 12, 7
"""Rows of the matrices, and the seed that they are drawn with."""


def everything(method: Dataflow, budget: Budget) -> dict[Units, list[Part]]:
    """Every way of every part that there may be, of few statements first."""
    return {
        units: [
            candidate
            for candidate in every(method.candidates(units, budget))
            if isinstance(candidate, Part)
        ]
        for units in method.ideals.parts()
    }


@pytest.mark.parametrize("family", ["uniform", "power law", "bipartite"])
@pytest.mark.parametrize("name", ["chain", "masked", "edge"])
def test_the_search_finds_what_running_everything_finds(name: str, family: str) -> None:
    program, data = problem(name, family, SMALL, SEED)
    method, budget = Dataflow(program, data), Budget()
    schedules = {method.schedule(path) for path in paths(method, budget) or ()}
    assert 2 <= len(schedules) <= 2_000
    runs = {}
    for text in schedules:
        run = simulate(compile_program(program, text), data)
        runs[text] = run.cycles
    best = Search(Dataflow(program, data), budget).run()
    assert best.cost.cycles == min(runs.values())
    assert runs[best.schedule] == best.cost.cycles
    assert best.certificate.gap == 0
    tolerant = Search(Dataflow(program, data), budget, gap=0.05).run()
    assert tolerant.certificate.bound <= best.cost.cycles
    assert runs[tolerant.schedule] * 0.95 <= best.cost.cycles


def test_a_part_runs_as_its_schedule_does() -> None:
    """Parts alone add up to what the whole schedule takes, lanes and look-ups included."""
    model, data = load("gcn", "karate")
    method = Dataflow(model.program, data, presets=model.presets)
    best = Search(method, Budget(lanes=2), gap=0.5).run()
    run = simulate(compile_program(model.program, best.schedule), data)
    assert run.cycles == best.cost.cycles
    assert run.check().ok
    assert max(part.expected.lanes for part in best.parts) == 2


@pytest.mark.parametrize(
    ("name", "lanes"),
    [
        *((name, 1) for name in ("edge", "masked", "chain")),
        ("edge", 2),
        ("edge", 4),
        pytest.param("masked", 4, marks=pytest.mark.deep),
        pytest.param("chain", 4, marks=pytest.mark.deep),
    ],
)
def test_bounds_are_below_runs(name: str, lanes: int) -> None:
    """Every candidate keeps its bound; the largest share of the least run tells its sharpness."""
    program, data = problem(name, "clustered", SMALL, SEED)
    method, budget = Dataflow(program, data), Budget(lanes=lanes, copies=1)
    lower_bounds, sharp = method.lower_bounds(budget), 0.0
    for units, candidates in everything(
        method, budget
    ).items():  # first what others read is written
        begin, end = (int(found[0]) for found in method.ideals.edges(units))
        closer = method.lower_bound(units, budget)
        for part in candidates[:: lanes * lanes]:
            cost = method.measure((part,))
            assert cost is not None
            assert part.least <= cost.cycles
            assert lower_bounds[begin, end] <= cost.cycles
            assert closer <= cost.cycles
            sharp = max(sharp, closer / cost.cycles)
    assert sharp > 0.25 / lanes


def test_a_budget_of_memory_refuses_what_holds_more() -> None:
    program, data = problem("chain", "uniform", SMALL, SEED)
    method = Dataflow(program, data)
    all_of_it = everything(method, Budget())
    most = max(part.expected.on_chip for candidates in all_of_it.values() for part in candidates)
    refused = [
        candidate
        for units in all_of_it
        for candidate in every(method.candidates(units, Budget(on_chip=most - 1)))
        if isinstance(candidate, Refusal)
    ]
    assert any(candidate.rule == "on-chip" for candidate in refused)


def test_a_reshape_is_memory_s() -> None:
    program = parse(
        "A: 6x4 csr\nB: 4x6 dense\nX: 4x6 csr\nT[i,j] = A[i,k] * X[k,j]\n"
        "R: 4x9 csr\nR[m,n] = reshape(T[i,j])\nY[m,n] = relu(R[m,n])\noutput Y"
    )
    rng = np.random.default_rng(1)
    data = {name: (rng.random(program.tensor(name).shape) < 0.5) * 1.0 for name in program.inputs}
    method = Dataflow(program, data)
    assert [*method.ideals.parts()] == [(0,), (1,), (2,)]
    best = Search(method).run()
    run = simulate(compile_program(program, best.schedule), data)
    assert run.cycles == best.cost.cycles
    assert run.check().ok


def test_settings_of_the_base_hold() -> None:
    program, data = problem("chain", "uniform", SMALL, SEED)
    method = Dataflow(program, data, base=Schedule.parse("block 2; fuse T..Y"))
    best = Search(method, gap=0.5).run()
    assert "block 2" in best.schedule.split("; ")


def test_a_machine_without_searchers_has_no_look_ups() -> None:
    program, data = problem("chain", "uniform", SMALL, SEED)
    machine = Machine.preset("comal-hbm")
    candidates = everything(Dataflow(program, data, machine), Budget())
    assert not any("looked up" in part.text for found in candidates.values() for part in found)


def test_regions_of_statements_that_are_not_neighbours_run_as_parts() -> None:
    """Every cut of small programs that branch, as a whole and as the sum of its parts."""
    apart = 0
    for seed in (101, 105):
        given = space(seed)
        method, program = given.method(), given.program
        for cut in sorted(cuts(program), key=lambda cut: sorted(cut))[::5]:
            ordered = method.ideals.sorted(cut)
            candidates = [
                list(islice(every(method.candidates(u, given.budget)), 1)) for u in ordered
            ]
            parts = [
                candidate
                for found in candidates
                for candidate in found
                if isinstance(candidate, Part)
            ]
            if len(parts) < len(ordered):
                continue
            made = compile_program(program, method.schedule(parts))
            made = made.sized() if given.sized else made
            run = simulate(made, given.data, given.machine)
            assert run.check().ok
            for number in range(len(parts)):
                cost = method.measure(parts[: number + 1])
                assert cost is not None
                assert cost.cycles == run.regions[number].cycles
            apart += any(u[-1] - u[0] >= len(u) for u in ordered)
    assert apart >= 2


def test_the_schedules_of_a_long_chain_are_counted() -> None:
    """The first region has two candidates, one that reads another's result three: 2 (1 + 3)^47."""
    length = 48
    lines = [f"T{k + 1}[i] = relu(T{k}[i])" for k in range(length)]
    method = Dataflow(parse("\n".join(["T0: 2 dense", *lines])), {"T0": np.ones(2)})
    assert method.size(Budget()) == (2 * 4 ** (length - 1), True)
    assert method.size(Budget(), seconds=-1.0) == (0, False)
