"""Terms of energies: they add up to what runs and estimates take, and each has its source."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

import fuseloom as fl
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.machine.actions import Action, RegionActions
from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.machine.energy_terms import SOURCES, energy_terms
from fuseloom.dataflow.machine.text import parse_machine
from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.results.energy import ActionKind, EnergyTerm

MODELS = [("spmv", "random"), ("gcn", "karate"), ("attention", "random")]


def ran(model: str, data: str, machine: fl.Machine) -> Run:
    given, tensors = fl.load(model, data)
    run: Run = fl.simulate(fl.compile(given.program), tensors, machine)
    return run


def by_kind(terms: tuple[EnergyTerm, ...]) -> dict[str, float]:
    """Joules of each kind."""
    found: dict[str, float] = {}
    for term in terms:
        found[term.kind] = found.get(term.kind, 0.0) + term.joules
    return found


@pytest.mark.parametrize("preset", ["default", "hbm2", "ddr4"])
@pytest.mark.parametrize(("model", "data"), MODELS)
def test_terms_add_up_to_the_energy_of_the_run(model: str, data: str, preset: str) -> None:
    machine = fl.Machine.preset(preset)
    for region in ran(model, data, machine).regions:
        terms = energy_terms(region.actions, machine)
        assert by_kind(terms) == pytest.approx(dict(region.energy.actions), rel=1e-12)
        assert sum(term.joules for term in terms) == pytest.approx(region.energy.joules, rel=1e-12)
        assert all(term.count > 0 and term.source for term in terms)
        assert len({(term.kind, term.picojoules, term.source) for term in terms}) == len(terms)


@pytest.mark.parametrize("preset", ["default", "hbm2"])
@pytest.mark.parametrize(("model", "data"), MODELS)
def test_what_an_estimate_calls_exact_is_what_the_run_counts(
    model: str, data: str, preset: str
) -> None:
    machine = fl.Machine.preset(preset)
    given, tensors = fl.load(model, data)
    compiled = fl.compile(given.program)
    run = fl.simulate(compiled, tensors, machine)
    expected = estimate(compiled, tensors, mode="exact", machine=machine)
    exact = set()
    for region, measured in zip(expected.regions, run.regions, strict=True):
        why = region.why_energy()
        *terms, product = why.inputs
        assert sum(term.value for term in terms) == pytest.approx(why.value, rel=1e-12)
        assert why.value == region.energy.joules
        assert product.value == region.energy.edp
        counted: dict[str, float] = {}
        for term in terms:
            count, each = term.inputs
            assert term.value == pytest.approx(1e-12 * count.value * each.value)
            assert count.formula.startswith(("exact", "expected"))
            if count.formula.startswith("exact"):
                counted[term.what] = counted.get(term.what, 0.0) + term.value
        actions = measured.energy.actions
        assert counted == pytest.approx({kind: actions[kind] for kind in counted})
        exact |= set(counted)
    assert {"multiply", "integer", "channel"} <= exact
    assert ("memory" in exact) is (machine.memory is None)
    assert "activate" not in exact


def test_statistics_give_expected_counts() -> None:
    given, tensors = fl.load("spmv")
    (region,) = estimate(fl.compile(given.program), tensors, mode="metadata").regions
    *terms, _ = region.why_energy().inputs
    assert all(term.inputs[0].formula.startswith("expected") for term in terms)


def test_a_machine_s_own_energy_is_shown_as_its_own() -> None:
    machine = parse_machine('base = "ddr4"\n[energy]\nmultiply = 2.5\nunbounded_depth = 16\n')
    (region,) = ran("spmv", "random", machine).regions
    terms = {term.kind: term for term in energy_terms(region.actions, machine)}
    assert terms["multiply"].picojoules == 2.5
    assert terms["multiply"].source == "the machine's own: [energy] multiply = 2.5"
    assert terms["add"].source.startswith("default: ")
    assert "the machine's own: [energy] unbounded_depth = 16" in " ".join(
        term.source for term in energy_terms(region.actions, machine) if term.kind == "channel"
    )
    assert "DDR4" in terms["memory"].source
    assert "DDR4" in terms["activate"].source
    own = replace(machine, energy=replace(machine.energy, memory_bit=1.0))
    again = {term.kind: term for term in energy_terms(region.actions, own)}
    assert again["memory"].source == "the machine's own: [energy] memory_bit = 1"


def test_every_parameter_has_a_source() -> None:
    assert set(SOURCES) == {field.name for field in fields(Energy)}


def test_sizes_of_memories_are_told_apart() -> None:
    machine = fl.Machine.default()
    small = Action(ActionKind.CHANNEL, 2.0, 2.5, ("sram_word",), 512)
    large = Action(ActionKind.CHANNEL, 4.0, 5.0, ("sram_word",), 2048)
    terms = energy_terms(RegionActions(((large, small), (small,)), ()), machine)
    assert [(term.count, term.picojoules) for term in terms] == [(4.0, 2.5), (4.0, 5.0)]
    assert "√(512 / 8,192 bytes)" in terms[0].source
    assert "√(2,048 / 8,192 bytes)" in terms[1].source
