"""Results whose zeros are worth leaving out: what a chain costs without them, and the search."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from benchmarks.certificates import best_of, space, wrong
from fuseloom.dataflow.without_zeros import choose_nonzero
from fuseloom.errors import LoweringError, ScheduleError
from fuseloom.results.archive import ModelArchive
from tests.tiers import counts

ROWS, INNER, COLUMNS = 60, 50, 8
CHAIN = f"""
X: {ROWS}x{INNER} dense
W: {INNER}x{COLUMNS} dense
H[i,k] = relu(X[i,k])
Y[i,j] = H[i,k] * W[k,j]
"""


def chain(density: float) -> tuple[fl.Program, dict[str, np.ndarray]]:
    rng = np.random.default_rng(11)
    x = np.where(rng.random((ROWS, INNER)) < density, 1.0, -1.0)
    return fl.parse(CHAIN), {"X": x, "W": rng.integers(1, 4, (INNER, COLUMNS)) * 1.0}


@pytest.mark.parametrize("schedule", ["nonzero H", "fuse H..Y; nonzero H"])
def test_a_product_behind_a_relu_costs_what_its_elements_cost(schedule: str) -> None:
    program, data = chain(0.097)
    left = int((data["X"] > 0).sum())
    whole = fl.simulate(fl.compile(program, None, data), data)
    assert whole.work.flops == ROWS * INNER + 2 * ROWS * INNER * COLUMNS
    compiled = fl.compile(program, schedule, data)
    for engine in ("compiled", "interpreter"):
        run = fl.simulate(compiled, data, engine=engine)
        assert run.check().ok
        assert run.work.flops <= ROWS * INNER + 2 * left * COLUMNS
        assert run.cycles < whole.cycles / 3
    assert "nonzero H" in str(compiled.resolved)
    again = fl.compile(program, compiled.resolved)
    assert [r.graph for r in again.regions] == [r.graph for r in compiled.regions]


def test_what_pays_is_chosen() -> None:
    (found,) = choose_nonzero(*chain(0.1))
    assert found.directive == "nonzero H"
    assert found.density == pytest.approx(0.1, abs=0.03)
    assert found.cycles < found.cycles_before / 3
    assert "H leaves out its zeros: " in str(found)


def test_what_holds_already_is_not_chosen_again() -> None:
    program, data = chain(0.1)
    assert not choose_nonzero(program, data, base="nonzero H")
    found = fl.autoschedule(program, data, base="nonzero H", nonzero=True)
    assert found.schedule.count("nonzero H") == 1
    (blocked,) = choose_nonzero(program, data, base="block 2")
    (plain,) = choose_nonzero(program, data)
    assert blocked.cycles_before != plain.cycles_before


def test_what_does_not_pay_is_not() -> None:
    assert not choose_nonzero(*chain(1.0))
    assert not choose_nonzero(*chain(0.97))


def test_what_is_computed_again_inside_cannot_leave_zeros_out() -> None:
    program = fl.parse("A: 4x4 dense\nS[i] = nonzero(A[i,j])\nY[i,j] = A[i,j] / S[i]")
    with pytest.raises(LoweringError, match="S leaves its zeros out along i, and would be comp"):
        fl.compile(program, "fuse S..Y; order S..Y: i,j,j'")
    data = {"A": np.arange(16.0).reshape(4, 4) * [[1], [0], [1], [1]]}
    compiled = fl.compile(program, "fuse S..Y where possible", data)
    assert fl.simulate(compiled, data).check().ok


def test_zeros_that_mean_something_stay() -> None:
    program, data = chain(0.1)
    soft = fl.parse(
        f"{program}".replace("Y[i,j] = H[i,k]", "E[i,k] = exp(H[i,k])\nY[i,j] = E[i,k]")
    )
    assert not choose_nonzero(soft, data)
    with pytest.raises(ScheduleError, match="takes its zeros for elements"):
        fl.compile(soft, "nonzero H")


def test_the_best_schedule_leaves_zeros_out_where_that_is_better() -> None:
    program, data = chain(0.1)
    stored = fl.compile(program, None, data).program
    model = ModelArchive(program, {n: fl.StoredTensor.from_dense(stored.tensor(n), data[n])
                                   for n in data}, {"full": "fuse H..Y"})  # fmt: skip
    found = fl.best(model, time_limit=10)
    plain = fl.best(model, time_limit=10, nonzero=False)
    assert "nonzero H" in found.schedule.split("; ")
    assert found.cycles < plain.cycles / 3
    assert any(reason.startswith("H leaves out its zeros") for reason in found.found.reasons)
    assert [preset.name for preset in found.presets] == ["full"]
    assert fl.simulate(found.compilation, data).check().ok


@counts(small=3, deep=5, fuzz=20)
def test_the_search_is_optimal_where_results_have_no_zeros(count: int) -> None:
    """Every candidate of every part is run: no bound is above, and the best is found."""
    seed = done = 0
    while done < count:
        given = space(seed, nonzero=True)
        if any(s.nonzero for s in given.program.statements):
            found = best_of(given, given.method())
            if found is not None:
                assert not wrong(given, given.method(), found[0], seed), f"seed {seed}"
                done += 1
        seed += 1
