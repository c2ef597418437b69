"""The check of a run: correct runs match, however badly conditioned, and faults never do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim import checking
from fuseloom.dataflow.sim.checking import CheckStep, check_outputs
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.errors import LoweringError, ScheduleError
from fuseloom.program import parse
from fuseloom.program.inputs import check_data
from fuseloom.program.storage import StoredTensor
from fuseloom.results.check import Check
from tests.property.test_everything_at_once import draw
from tests.tiers import counts

NORM = """{y}s[i] = sum[j] {x}[i,j]
{y}m[i] = {mean} * {y}s[i]
{y}c[i,j] = {x}[i,j] - {y}m[i]
{y}q[i,j] = {y}c[i,j] * {y}c[i,j]
{y}v[i] = sum[j] {y}q[i,j]
{y}w[i] = {mean} * {y}v[i]
{y}e[i] = {y}w[i] + 1e-5
{y}r[i] = rsqrt({y}e[i])
{y}[i,j] = {y}c[i,j] * {y}r[i]
"""
SOFTMAX = """{y}t[i] = max[j] {x}[i,j]
{y}d[i,j] = {x}[i,j] - {y}t[i]
{y}e[i,j] = exp({y}d[i,j])
{y}z[i] = sum[j] {y}e[i,j]
{y}[i,j] = {y}e[i,j] / {y}z[i]
"""
PRODUCT = "{y}[i,j] = {x}[i,k] * W[k,j]\n"
LARGER = "{y}[i,j] = 30 * {x}[i,j]\n"
CANCEL = "{y}g[i,j] = {x}[i,j] + W[i,j]\n{y}[i,j] = {y}g[i,j] - {x}[i,j]\n"
LAYERS = (NORM, SOFTMAX, PRODUCT, LARGER, CANCEL)


def deep(seed: int, layers: int) -> tuple[str, dict[str, Any], str]:
    """A deep program with norms, softmaxes of large logits and cancellation; its last tensor."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    text, x = f"X: {n}x{n} dense\nW: {n}x{n} dense\n", "X"
    for k in range(layers):
        layer = LAYERS[rng.integers(len(LAYERS))]
        text += layer.format(x=x, y=(y := f"T{k}"), mean=1 / n)
        x = y
    data = {name: rng.normal(size=(n, n)) * 10.0 ** rng.integers(-2, 3) for name in "XW"}
    if rng.integers(4) == 0:
        data["X"] = np.full((n, n), rng.normal())  # without variance
    return text, data, x


def run_deep(seed: int, layers: int) -> Run:
    """The program run: statement by statement, or fused as far as can be built."""
    text, data, last = deep(seed, layers)
    program = parse(text)
    names = [s.out.tensor for s in program.statements]
    middle = names.index(f"T{layers // 2}")
    schedules = [f"fuse {names[0]}..{last}"]
    schedules.append(f"fuse {names[0]}..{names[middle]}; fuse {names[middle + 1]}..{last}")
    for schedule in schedules if seed % 2 else []:
        try:
            return simulate(compile_program(program, schedule), data, engine="interpreter")
        except (LoweringError, ScheduleError):
            continue
    return simulate(compile_program(program), data, engine="interpreter")


def faults(run: Run, rng: np.random.Generator) -> Iterator[tuple[str, Run]]:
    """The run with one value wrong: one per kind of fault, each in any output.

    No fault is smaller than what rounding does to the run anyway.
    """
    noise = run.check().max_rel_error
    names = [name for name, stored in run.outputs.items() if stored.values.size]
    for kind in ("percent", "sign", "zero", "large", "nan"):
        name = names[rng.integers(len(names))]
        stored = run.outputs[name]
        values = stored.values.copy()
        flat = values.reshape(-1)
        k = int(np.argmax(np.abs(np.nan_to_num(flat))))  # a value with digits, if any has
        x = flat[k]
        flat[k] = {
            "percent": x * (1.01 + 100 * noise),
            "sign": -x,
            "zero": 0,
            "large": x + 100 * (1 + abs(x)),
            "nan": np.nan,
        }[kind]
        if not np.array_equal(flat[k], x, equal_nan=True):
            wrong = replace(stored, values=values)
            yield f"{kind} in {name}", replace(run, outputs={**run.outputs, name: wrong})


def search(seeds: range, layers: int) -> tuple[int, int]:
    """Check correct runs of deep programs, and the same with faults."""
    injected = caught = 0
    for seed in seeds:
        run = run_deep(seed, layers)
        check = run.check()
        assert check.ok, f"seed {seed}: {check}"
        assert not check.unchecked
        assert check.rows is None
        for what, wrong in faults(run, np.random.default_rng(seed)):
            found = wrong.check()
            injected += 1
            caught += not found.ok
            assert not found.ok, f"seed {seed}, {what}: {found}"
    return injected, caught


@counts(small=12, deep=24)
def test_deep_programs_match_and_their_faults_are_caught(count: int) -> None:
    injected, caught = search(range(count), 3)
    assert injected == caught > 3.3 * count


@pytest.mark.fuzz
def test_three_hundred_deep_programs() -> None:
    injected, caught = search(range(1000, 1300), 6)
    assert injected == caught > 1000


@counts(small=20, deep=28, fuzz=70)
def test_faults_in_random_programs_are_caught(count: int) -> None:
    injected = 0
    for seed in range(41_000_000, 41_000_000 + count):
        if (case := draw(seed)) is None:
            continue
        run = simulate(case.compilation, case.data, engine="interpreter")
        assert run.check().ok
        if not any(stored.values.size for stored in run.outputs.values()):
            continue
        for what, wrong in faults(run, np.random.default_rng(seed)):
            assert not wrong.check().ok, (seed, what)
            injected += 1
    assert injected >= 2.8 * count


def ran(text: str, schedule: str = "", **data: Any) -> Run:
    return simulate(compile_program(parse(text), schedule), data, engine="interpreter")


def test_a_sum_that_cancels_is_no_mismatch() -> None:
    """The sum of a norm is 0: what is left of it is rounding."""
    text = "X: 5x8 dense\n" + NORM.format(x="X", y="Y", mean=1 / 8) + "s[i] = sum[j] Y[i,j]"
    run = ran(text, X=np.random.default_rng(0).normal(size=(5, 8)))
    check = run.check()
    assert check.ok
    assert check.max_rel_error < 1e-5
    stored = run.outputs["s"]
    wrong = replace(stored, values=stored.values + np.float32(1e-3))
    assert not replace(run, outputs={**run.outputs, "s": wrong}).check().ok


def test_constant_data_round_in_one_direction() -> None:
    """Rounding errors of equal numbers do not average out."""
    n = 3000
    run = simulate(
        compile_program(parse(f"A: 2x{n} csr\nx: {n} dense\ny[i] = A[i,j] * x[j]")),
        {"A": np.full((2, n), 0.1), "x": np.ones(n)},
    )
    check = run.check()
    assert check.ok
    assert check.max_rel_error > 1e-6


def test_what_float32_does_not_determine_is_told() -> None:
    """A cancelled sum below a division: no digit of the quotient is certain."""
    text = (
        "X: 4x6 dense\ns[i] = sum[j] X[i,j]\nm[i] = 0.16666666 * s[i]\n"
        "c[i,j] = X[i,j] - m[i]\nd[i] = sum[j] c[i,j]\nq[i] = s[i] / d[i]"
    )
    x = np.random.default_rng(2).normal(size=(4, 6))
    check = ran(text, "fuse s..q", X=x).check()
    assert check.ok
    assert check.pattern_equal


def test_overflow_is_followed() -> None:
    text = "X: 3 dense\ne[i] = exp(X[i])\nq[i] = e[i] * e[i]\nr[i] = q[i] / e[i]"
    for schedule in ("", "fuse e..r"):
        check = ran(text, schedule, X=np.array([1.0, 60.0, 100.0])).check()
        assert check.ok, check
        assert check.undetermined == 0


def test_a_fault_is_found_in_the_region_that_made_it() -> None:
    """The regions after a fault are compared with their own inputs, so no fault hides another."""
    run = ran("X: 4x4 dense\na[i,j] = 2 * X[i,j]\nb[i,j] = relu(a[i,j])", X=np.eye(4))
    doubled = {
        name: replace(stored, values=stored.values * np.float32(2))
        for name, stored in run.outputs.items()
    }
    assert not replace(run, outputs=doubled).check().ok  # b is right for the a it read


def judged(text: str, outputs: dict[str, np.ndarray], **data: Any) -> Check:
    program = parse(text)
    inputs = check_data(program, data)
    written = {
        name: StoredTensor.from_dense(program.tensor(name), array)
        for name, array in outputs.items()
    }
    (statement,) = program.live
    step = CheckStep("region", program.live, (statement.out.tensor,))
    return check_outputs(program, [step], inputs, written)


MATRIX = "A: 400x400 csr\nX: 400x50 dense\nT[i,j] = A[i,k] * X[k,j]"


@pytest.fixture
def large() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "A": sp.random_array((400, 400), density=0.05, rng=rng, format="csr", dtype=np.float64),
        "X": rng.normal(size=(400, 50)),
    }


def product(data: dict[str, Any]) -> np.ndarray:
    a = data["A"].toarray().astype(np.float32).astype(float)
    return np.asarray(a @ data["X"].astype(np.float32))


def test_all_rows_in_parts_where_memory_is_short(
    large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    want = product(large)
    monkeypatch.setattr(checking, "LEAST_BYTES", 2**18)
    for memory in (None, 2**18):
        program = parse(MATRIX)
        written = {"T": StoredTensor.from_dense(program.tensor("T"), want)}
        step = CheckStep("T", program.live, ("T",))
        check = check_outputs(program, [step], check_data(program, large), written, memory=memory)
        assert check.ok
        assert check.rows is None
    for row in range(0, 400, 57):
        wrong = want.copy()
        wrong[row, 3] += 1
        assert not judged(MATRIX, {"T": wrong}, **large).ok


def test_some_rows_where_work_would_be_too_much(
    large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "LEAST_PRODUCTS", 2e5)
    want = product(large)
    check = judged(MATRIX, {"T": want}, **large)
    assert check.ok
    assert check.rows is not None
    assert 50 <= check.rows[0] < check.rows[1] == 400
    assert not judged(MATRIX, {"T": want * 1.001}, **large).ok
    shifted = np.roll(want, 1, axis=0)
    assert not judged(MATRIX, {"T": shifted}, **large).ok


def test_what_takes_too_much_altogether_is_told(
    large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "LEAST_PRODUCTS", 10)
    check = judged(MATRIX, {"T": product(large)}, **large)
    assert check.ok
    assert check.unchecked == ("region (its meaning takes more than the check may)",)
    assert str(check).startswith("not compared; not checked: region")


def test_a_million_by_a_million_with_three_elements() -> None:
    at = ([5, 5, 999_999], [0, 7, 7])
    run = simulate(
        compile_program(
            parse("A: 1000000x1000000 coo\nx: 1000000 compressed\ny[i] = A[i,j] * x[j]")
        ),
        {
            "A": sp.coo_array(([1.0, 2.0, 3.0], at), shape=(10**6, 10**6)),
            "x": np.eye(1, 10**6, 7)[0],
        },
        engine="interpreter",
    )
    check = run.check()
    assert check.ok
    assert check.rows is None
    stored = run.outputs["y"]
    wrong = replace(stored, values=stored.values * np.float32(1.5))
    assert not replace(run, outputs={"y": wrong}).check().ok


def test_a_missing_row_is_a_mismatch() -> None:
    text = "A: 3x3 csr\nx: 3 dense\ny[i] = A[i,j] * x[j]"
    data = {"A": np.diag([1.0, 2.0, 3.0]), "x": np.ones(3)}
    assert judged(text, {"y": np.array([1.0, 2, 3])}, **data).ok
    for wrong in ([1.0, 0, 3], [1.0, 2, 0]):
        check = judged(text, {"y": np.array(wrong)}, **data)
        assert not check.ok
        assert check.pattern_equal is False
        missing = 1 if wrong[1] == 0 else 2
        assert check.wrong == f"y[{missing}] is not stored, and should be"


def test_reshapes_between_regions_are_compared_too() -> None:
    text = "A: 2x6 csr\nR: 3x4 csr\nT[i,j] = relu(A[i,j])\nR[x,y] = reshape(T[i,j])\nZ[x] = R[x,y]"
    run = ran(text, A=np.arange(12.0).reshape(2, 6))
    assert run.check().ok
    stored = run.outputs["R"]
    wrong = replace(stored, values=stored.values * np.float32(3))
    after = replace(run.outputs["Z"], values=run.outputs["Z"].values * np.float32(3))
    assert not replace(run, outputs={**run.outputs, "R": wrong, "Z": after}).check().ok


def test_a_longer_run_may_be_checked_longer(
    large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "LEAST_PRODUCTS", 2e5)
    program = parse(MATRIX)
    inputs = check_data(program, large)
    written = {"T": StoredTensor.from_dense(program.tensor("T"), product(large))}
    compared = []
    for seconds in (0.0, 0.006, 0.1):
        step = CheckStep("region", program.live, ("T",), seconds)
        rows = check_outputs(program, [step], inputs, written).rows
        compared.append(400 if rows is None else rows[0])
    assert compared == sorted(compared)
    assert compared[0] < compared[-1] == 400


def test_columns_where_one_row_takes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of X @ W needs all of W, which is more than the check may hold."""
    rng = np.random.default_rng(2)
    data = {
        "X": rng.normal(size=(4, 3000)),
        "W": sp.random_array((3000, 64), density=0.5, rng=rng, format="csr", dtype=np.float64),
    }
    want = data["X"].astype(np.float32).astype(float) @ data["W"].toarray().astype(np.float32)
    monkeypatch.setattr(checking, "LEAST_BYTES", 2**20)
    text = "X: 4x3000 dcsr\nW: 3000x64 dcsr\nT[i,j] = X[i,k] * W[k,j]"
    check = judged(text, {"T": want}, **data)
    assert check.ok
    assert check.unchecked == ()
    wrong = want.copy()
    wrong[2, :] *= 1.001
    assert not judged(text, {"T": wrong}, **data).ok


def test_one_row_is_compared_however_long_all_of_them_took(
    large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that went far beyond the deadline leaves time for a part."""
    clock = [0.0]
    evaluate = checking.evaluate_rounded

    def slow(program: Any, statements: Any, stored: Any, boxes: Any, *rest: Any) -> Any:
        whole = all(side is None for box in boxes.values() for side in box)
        clock[0] += 100.0 if whole else 0.9 * checking.LEAST_SECONDS
        return evaluate(program, statements, stored, boxes, *rest)

    monkeypatch.setattr("time.process_time", lambda: clock[0])
    monkeypatch.setattr(checking, "evaluate_rounded", slow)
    check = judged(MATRIX, {"T": product(large)}, **large)
    assert check.ok
    assert check.rows is not None
    assert 1 <= check.rows[0] < 400
