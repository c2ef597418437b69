"""Plans are what every other command would run."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import fuseloom as fl
from fuseloom.cli.inputs import inputs
from fuseloom.cli.keeping import identity_of
from fuseloom.cli.main import read_options
from fuseloom.dataflow.fusion.classes import nest_classes
from fuseloom.exploration.store import State
from fuseloom.exploration.sweep import Base, ProgramWithData, Space
from fuseloom.exploration.sweep.plan import Plan, Planner
from fuseloom.models import Model, random_data

CHAIN = """
A: 6x6 csr
X: 6x3 dense
W: 3x2 dense
T[i,p] = A[i,k] * X[k,p]
H[i,p] = relu(T[i,p])
Y[i,n] = H[i,p] * W[p,n]
"""


def plans(folder: Path, base: Base, axes: dict[str, Any], **more: Any) -> list[Plan]:
    return list(Planner(Space(base, axes, **more), folder).plans())


@pytest.fixture
def chain() -> ProgramWithData:
    program = fl.parse(CHAIN)
    return ProgramWithData.of(program, random_data(Model(program, ()), 0))


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("options", "base", "axes"),
    [
        (["--preset", "full"], Base("gcn"), {"preset": "full"}),
        (["--machine", "hbm2", "--capacity", "8"], Base("gcn"), {"machine": "hbm2", "capacity": 8}),
        (["--capacity", "sized", "--seed", "3"], Base("gcn", seed=3), {"capacity": "sized"}),
        (["--orders", "first"], Base("gcn"), {"order": "first"}),
        (["--with", "hidden=4", "--data", "random"], Base("gcn", "random"), {"with.hidden": 4}),
    ],
)
def test_a_run_is_the_same_as_of_simulate(
    options: list[str], base: Base, axes: dict[str, Any], tmp_path: Path
) -> None:
    given = read_options(["simulate", "--model", "gcn", *options])
    (plan,) = plans(tmp_path, base, axes)
    assert plan.identity == identity_of(inputs(given), given)


def test_cuts_are_of_the_sequence(tmp_path: Path) -> None:
    program = fl.parse("A: 3x3 csr\nT[i,j] = relu(A[i,j])\nU[i,j] = exp(A[i,j])\noutput T, U")
    given = ProgramWithData.of(program, random_data(Model(program, ()), 0))
    axes = {"cuts": ["all"], "order": ["first"]}
    made = plans(tmp_path, Base(given, schedule="sequence U, T"), axes)
    assert [plan.values["cuts"] for plan in made] == ["U..T", "U; T"]
    assert all(plan.refused is None for plan in made)
    (plan,) = plans(tmp_path, Base(given, schedule="sequence U, Q"), axes)
    assert plan.refused is not None


def test_cuts_and_orders_are_all_there_are(chain: ProgramWithData, tmp_path: Path) -> None:
    made = plans(tmp_path, Base(chain), {"cuts": ["all"], "order": ["first"]})
    assert [plan.values["cuts"] for plan in made] == ["T..Y", "T; H..Y", "T..H; Y", "T; H; Y"]
    assert len({plan.identity.key for plan in made if plan.identity}) == 4
    made = plans(tmp_path, Base(chain), {"order": ["all"]})
    regions = fl.compile(chain.program).regions
    orders = [[",".join(n.order) for n in nest_classes(r.region)] for r in regions]
    wanted = {
        "; ".join(f"{r.name}: {w}" for r, w in zip(regions, order, strict=True))
        for order in product(*orders)
    }
    assert len(wanted) == 4
    assert {plan.values["order"] for plan in made if plan.refused is None} == wanted
    assert len({plan.identity.key for plan in made if plan.identity}) == len(made)


def test_axes_change_schedule_and_machine(tmp_path: Path) -> None:
    axes = {"lanes.i": [1, 2], "load_latency": [9], "order": ["first"]}
    base = Base("spmm", schedule="parallel i by 4")
    one, two = plans(tmp_path, base, axes)
    assert "parallel" not in one.asked
    assert two.asked == "parallel i by 2"
    assert one.machine.load_latency == 9
    assert one.subject is two.subject
    (plan,) = plans(tmp_path, Base("spmm"), {"schedule": ["a"]}, schedules={"a": "order T: i,j,k"})
    assert plan.compiled is not None
    assert plan.compiled.regions[0].own_order == ("i", "j", "k")


def test_what_cannot_be_has_a_reason(tmp_path: Path) -> None:
    base = Base("spmm")
    (lanes,) = plans(tmp_path, base, {"lanes.z": [2]})
    assert lanes.refused is not None
    assert lanes.refused.state is State.REFUSED
    assert "no region has an index" in lanes.refused.reason
    assert lanes.identity is not None
    assert lanes.identity.schedule == "parallel z by 2"
    data, fits = plans(tmp_path, base, {"data": ["karate", "random"]})
    assert data.refused is not None
    assert data.identity is None
    assert fits.refused is None
    (preset,) = plans(tmp_path, Base("gcn"), {"preset": ["none"]})
    assert preset.refused is not None
    assert "presets: unfused" in preset.refused.reason
    assert preset.identity is None
