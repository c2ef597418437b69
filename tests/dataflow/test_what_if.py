"""Other channels, latencies and lanes: what is told is what a run takes, and no run deadlocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.cost.estimate import EstimateContext
from fuseloom.dataflow.what_if import CAPACITIES, Variant
from fuseloom.errors import DataError, GraphError, SimulationError
from fuseloom.models import load

GCN, KARATE = load("gcn", "karate")


@pytest.fixture(scope="module")
def partial() -> fl.Compilation:
    return fl.compile(GCN.program, GCN.presets["partial"])


def run(variant: Variant) -> int:
    assert variant.compilation is not None
    return fl.simulate(variant.compilation, KARATE, variant.machine).cycles


def test_each_change_is_told_as_it_runs(partial: fl.Compilation) -> None:
    found = fl.what_if(
        partial, KARATE, capacities=(2, 16), lanes=(("i", 2), ("i", 4)),
        settings=(("load_latency", 40), ("alu_latency", 8)),
    )  # fmt: skip
    assert [v.change for v in found.variants] == [
        "channels of 2", "channels of 16", "load_latency 40", "alu_latency 8", "i by 2 lanes",
        "i by 4 lanes",
    ]  # fmt: skip
    assert found.base.cycles == pytest.approx(run(found.base), rel=0.02)
    for variant in found.variants:
        share = 0.15 if "channels" in variant.change else 0.02
        assert variant.cycles == pytest.approx(run(variant), rel=share), variant.change
        assert ("channels" in variant.change) == (variant.on_chip is not None)
    assert len(str(found).splitlines()) == 8


def test_another_machine_executes_nothing_again(
    partial: fl.Compilation, monkeypatch: pytest.MonkeyPatch
) -> None:
    fl.estimate(partial, KARATE)

    def executed(*_: object) -> None:
        raise AssertionError("executed again")

    monkeypatch.setattr("fuseloom.dataflow.cost.executed.execute", executed)
    found = fl.what_if(partial, KARATE, capacities=(3, 5), settings=(("alu_latency", 77),))
    assert all(v.cycles is not None for v in found.variants)
    with pytest.raises(AssertionError):
        fl.what_if(partial, KARATE, lanes=(("i", 3),))


def test_lanes_that_cannot_be_made_are_told(partial: fl.Compilation) -> None:
    (variant,) = fl.what_if(partial, KARATE, lanes=(("i", 5000),)).variants
    assert variant.cycles is None
    assert "5000 lanes" in variant.reason


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("any_data", [False, True])
def test_nothing_on_the_front_deadlocks_or_is_beaten(
    partial: fl.Compilation, any_data: bool
) -> None:
    front = fl.capacity_pareto(partial, KARATE, any_data=any_data)
    assert len(front) > 2
    size = [v.on_chip or 0.0 for v in front]
    cycles = [v.cycles or 0.0 for v in front]
    assert size == sorted(size)
    assert cycles == sorted(cycles, reverse=True)
    assert len(set(size)) == len(set(cycles)) == len(front)
    for variant in front:
        assert variant.cycles == pytest.approx(run(variant), rel=0.15)
    assert cycles[-1] == fl.estimate(partial, KARATE).cycles


def test_channels_for_these_data_are_smaller_than_for_any() -> None:
    text = "A: 40x40 csr\nB: 40x40 csr\nT[i,j] = A[i,k] * B[k,j]\nm[i] = max[j] T[i,j]"
    compiled = fl.compile(fl.parse(text + "\nZ[i,j] = T[i,j] - m[i]"), "fuse T..Z")
    rng = np.random.default_rng(3)
    data = {name: rng.random((40, 40)) * (rng.random((40, 40)) < 0.04) for name in "AB"}
    these = fl.capacity_pareto(compiled, data)[0]
    every = fl.capacity_pareto(compiled, data, any_data=True)[0]
    assert (these.on_chip or 0) < (every.on_chip or 0)
    assert these.compilation is not None
    run = fl.simulate(these.compilation, data)
    assert run.check().ok


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"lanes": (("z", 2),)}, DataError, "no region has an index 'z'"),
        ({"lanes": (("i", 0),)}, DataError, "0 lanes are too few"),
        ({"settings": (("colour", 2),)}, DataError, "no size 'colour'"),
        ({"settings": (("alu_latency", 0),)}, SimulationError, "alu_latency is 0"),
        ({"capacities": (1,)}, GraphError, "too small"),
        ({"mode": "wild"}, DataError, "no estimate is called 'wild'"),
    ],
)
def test_what_cannot_be_asked(
    partial: fl.Compilation, given: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        fl.what_if(partial, KARATE, **given)


def test_statistics_alone_know_nothing_of_the_chip(partial: fl.Compilation) -> None:
    assert fl.what_if(partial, KARATE, mode="metadata", capacities=(4,)).variants[0].on_chip is None
    assert fl.capacity_pareto(partial, KARATE, mode="metadata") == ()
    assert CAPACITIES[0] == 2


def test_known_on_another_machine_shares_what_was_executed(partial: fl.Compilation) -> None:
    context = EstimateContext.shared(partial.program, KARATE)
    other = context.on(fl.Machine(alu_latency=5))
    assert other.on(fl.Machine.default()) is context
    assert (other.kept, other.patterns) == (context.kept, context.patterns)
    assert other.done is not context.done


def test_a_notebook_shows_bars_and_what_cannot_be_built():
    model, data = load("spmm")
    found = fl.what_if(fl.compile(model.program), data, lanes=[("i", 2)], capacities=[4])
    html = found._repr_html_()
    assert html.count('class="bar"') == 3
    assert "1.00×" in html
    refused = replace(found.variants[1], estimate=None, reason="a < b")
    assert "a &lt; b" in replace(found, variants=(refused,))._repr_html_()
