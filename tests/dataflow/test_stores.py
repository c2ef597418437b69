"""Complete levels that are stored dense by default: which, what it saves, what is left alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.fusion.directives import Store
from fuseloom.dataflow.look_ups import LookUps
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.stores import stored_otherwise
from fuseloom.errors import ScheduleError
from fuseloom.models import load
from fuseloom.program.formats import LevelFormat, format_text

LAYERS = fl.parse("""
A: 40x40 csr
X: 40x8 dense
W: 8x4 csr
H[i,n] = relu(A[i,k] * product(X[k,p], W[p,n]) + b[n])
b: 4 dense
T[i,n] = A[i,k] * H[k,n]
Y[i,n] = T[i,n] * T[i,n]
""")


@pytest.fixture(scope="module")
def data() -> dict[str, object]:
    rng = np.random.default_rng(4)
    return {
        "A": sp.random(40, 40, density=0.1, format="csr", random_state=4),
        "X": rng.random((40, 8)),
        "W": sp.random(8, 4, density=0.5, format="csr", random_state=5),
        "b": rng.random(4),
    }


def stored(compilation: Compilation) -> dict[str, str]:
    return {name: format_text(fmt) for name, fmt in compilation.dense_levels.items()}


def test_complete_levels_are_stored_dense_where_that_is_no_worse(data: dict[str, object]) -> None:
    plain = fl.best_orders(fl.compile(LAYERS, "store compressed"), data).compilation
    best = fl.best_orders(fl.compile(LAYERS), data).compilation
    assert stored(plain) == {}
    assert stored(best)["H"] == "[compressed, dense]"
    assert stored(best)["T"] == "[compressed, dense]"
    before, after = fl.simulate(plain, data), fl.simulate(best, data)
    assert after.check().ok
    assert after.cycles <= before.cycles
    assert after.work.flops == before.work.flops
    assert after.work.bytes < 0.95 * before.work.bytes
    assert [x.value for x in after.outputs["H"].tensor.format.levels] == ["compressed", "dense"]
    expected = fl.estimate(best, data)
    assert expected.bytes == after.work.bytes
    assert expected.cycles == pytest.approx(after.cycles, rel=0.01)


def test_the_schedule_names_what_was_chosen(data: dict[str, object]) -> None:
    best = fl.best_orders(fl.compile(LAYERS), data).compilation
    text = str(best.resolved)
    assert "store H compressed,dense" in text
    again = fl.compile(LAYERS, text)
    assert [r.graph for r in again.regions] == [r.graph for r in best.regions]
    assert str(again.resolved) == text


def test_both_engines_give_one_result(data: dict[str, object]) -> None:
    best = fl.best_orders(fl.compile(LAYERS), data).compilation
    runs = [fl.simulate(best, data, engine=e) for e in ("compiled", "interpreter")]
    assert runs[0].cycles == runs[1].cycles
    for name in runs[0].outputs:
        assert np.array_equal(runs[0].outputs[name].values, runs[1].outputs[name].values)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("schedule", "machine", "dense"),
    [
        ("", "default", True),
        ("store compressed", "default", False),
        ("store H compressed", "default", False),
        ("store H compressed,dense", "default", True),
        ("order T..T: i,k,n", "default", False),  # what reads it has a named order
        ("", "comal", False),  # the reference writes all levels
    ],
)
def test_what_the_schedule_says_or_the_machine_lacks(
    schedule: str, machine: str, dense: bool, data: dict[str, object]
) -> None:
    compiled = fl.compile(LAYERS, schedule)
    best = fl.best_orders(compiled, data, machine=Machine.preset(machine)).compilation
    assert ("H" in stored(best)) is dense


def test_where_levels_are_stored_dense(data: dict[str, object]) -> None:
    named = fl.compile(LAYERS, "order T..T: i,k,n")
    found = [
        "H" in stored(fl.best_orders(named, data, look_ups=LookUps.NONE, stores=where).compilation)
        for where in LookUps
    ]
    assert found == [False, True, False]
    assert "H" not in stored(fl.best_orders(named, data, look_ups=LookUps.NONE).compilation)


def test_a_tensor_inside_a_region_is_not_stored_at_all(data: dict[str, object]) -> None:
    with pytest.raises(ScheduleError, match="T never leaves the region"):
        fl.compile(LAYERS, "fuse T..Y; store T compressed,dense")
    assert "T" not in stored(fl.best_orders(fl.compile(LAYERS, "fuse T..Y"), data).compilation)


def test_a_dense_level_is_looked_up_where_a_compressed_one_would_be_searched() -> None:
    program = fl.parse(
        "A: 60x200 csr\nX: 200x4 dense\nW: 4x8 dense\n"
        "H[k,j] = X[k,p] * W[p,j]\nY[i,j] = A[i,k] * H[k,j]"
    )
    rng = np.random.default_rng(1)
    data = {
        "A": sp.random(60, 200, density=0.03, format="csr", random_state=4),
        "X": rng.random((200, 4)),
        "W": rng.random((4, 8)),
    }
    plain = fl.best_orders(fl.compile(program, "store compressed"), data).compilation
    best = fl.best_orders(fl.compile(program), data).compilation
    assert stored(best) == {"H": "dense"}
    assert any(n.op == "search" for n in plain.regions[1].graph.nodes)
    assert not any(n.op == "search" for n in best.regions[1].graph.nodes)
    assert any(n.op == "locate" for n in best.regions[1].graph.nodes)
    assert "locate" not in str(best.resolved)
    before, after = fl.simulate(plain, data), fl.simulate(best, data)
    assert after.check().ok
    assert after.cycles <= before.cycles
    assert after.work.bytes < before.work.bytes


def test_a_dense_tensor_is_read_in_any_order_without_a_copy() -> None:
    program = fl.parse(
        "A: 30x6 dense\nB: 6x30 dense\nC: 30x30 csr\n"
        "T[i,j] = A[i,k] * B[k,j]\nY[i,j] = C[i,k] * T[j,k]"
    )
    rng = np.random.default_rng(2)
    data = {
        "A": rng.random((30, 6)),
        "B": rng.random((6, 30)),
        "C": sp.random(30, 30, density=0.05, format="csr", random_state=4),
    }
    runs = [
        fl.simulate(fl.best_orders(fl.compile(program, s), data).compilation, data)
        for s in ("store compressed", "")
    ]
    assert all(run.check().ok for run in runs)
    assert runs[1].cycles <= runs[0].cycles
    assert runs[1].work.bytes < runs[0].work.bytes


def test_a_region_that_looking_up_makes_worse_scans_its_dense_levels() -> None:
    model, data = load("gcn", "karate")
    best = fl.best_orders(fl.compile(model.program, model.presets["unfused"]), data).compilation
    assert "T1" in stored(best)
    assert "locate T2..T2: T1.p off" in str(best.resolved)


def test_what_was_put_together_by_hand_stays_as_it_is(data: dict[str, object]) -> None:
    made = fl.compile(LAYERS)
    by_hand = Compilation(made.program, made.schedule, made.regions)
    store = Store("H", (LevelFormat.COMPRESSED, LevelFormat.DENSE))
    assert stored_otherwise(by_hand, [store]) is None
    assert stored(fl.best_orders(by_hand, data).compilation) == {}
    assert stored_otherwise(made, [store]) is not None


@pytest.mark.parametrize("mode", ["sampled", "metadata"])
def test_estimates_of_every_kind_know_dense_levels(mode: str, data: dict[str, object]) -> None:
    plain, dense = (fl.compile(LAYERS, s) for s in ("store compressed", "store dense"))
    before, after = (fl.estimate(c, data, mode=mode) for c in (plain, dense))
    assert after.bytes < before.bytes
    assert after.flops == pytest.approx(before.flops, rel=0.01)
    assert after.cycles == pytest.approx(before.cycles, rel=0.3)
