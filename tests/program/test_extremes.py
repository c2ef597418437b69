"""The larger and smaller of operands: which elements there are, and what NaN does."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl

TEXT = """
A: 3x4 csr
B: 3x4 csr
b: 3 compressed
T[i,j] = max(A[i,j], B[i,j])
U[i,j] = min(A[i,j], B[i,j])
V[i,j] = max(A[i,j], b[i])
W[i,j] = min(A[i,j], 0.5)
m[i] = min[j] A[i,j]
"""


def absent_as(array: np.ndarray, value: float) -> np.ndarray:
    return np.where(array == 0, value, array)


@pytest.mark.parametrize("schedule", ["", "fuse T..m where possible"])
@pytest.mark.parametrize("broadcast", ["sparse", "dense"])
def test_an_absent_operand_is_no_rival(schedule: str, broadcast: str) -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.normal(size=(3, 4)) * (rng.random((3, 4)) < 0.5) for _ in "AB")
    a[1] = 0
    row = np.array([0.5, -3.0, 0.0])
    program = fl.parse(f"option broadcast_add {broadcast}\n{TEXT}")
    run = fl.simulate(fl.compile(program, schedule), {"A": a, "B": b, "b": row})
    assert run.check().ok
    got = {name: tensor.to_dense() for name, tensor in run.results.items()}
    there = (a != 0) | (b != 0)
    larger = np.maximum(absent_as(a, -np.inf), absent_as(b, -np.inf))
    smaller = np.minimum(absent_as(a, np.inf), absent_as(b, np.inf))
    np.testing.assert_allclose(got["T"], np.where(there, larger, 0), rtol=1e-6)
    np.testing.assert_allclose(got["U"], np.where(there, smaller, 0), rtol=1e-6)
    rows = np.broadcast_to(absent_as(row, -np.inf)[:, None], a.shape)
    there = (a != 0) | ((row != 0)[:, None] if broadcast == "dense" else False)
    larger = np.maximum(absent_as(a, -np.inf), rows)
    np.testing.assert_allclose(got["V"], np.where(there, larger, 0), rtol=1e-6)
    np.testing.assert_allclose(got["W"], np.where(a != 0, np.minimum(a, 0.5), 0), rtol=1e-6)
    least = absent_as(a, np.inf).min(axis=1)
    np.testing.assert_allclose(got["m"], np.where(np.isfinite(least), least, 0), rtol=1e-6)


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_nan_and_infinities_win_as_in_numpy(engine: str) -> None:
    a = np.array([-1.0, 0.0, 2.0, 3.0])
    program = fl.parse(
        "a: 4 dense\nc: 4 dense\nl[i] = log(a[i])\nt[i] = max(l[i], c[i])\nu[i] = max(c[i], l[i])"
        "\nv[i] = min(l[i], c[i])\ns = min[i] l[i]\nw[i] = max(l[i], 0)"
    )
    c = np.array([7.0, 1.0, 1.0, -5.0])
    run = fl.simulate(fl.compile(program), {"a": a, "c": c}, engine=engine)
    assert run.check().ok
    with np.errstate(all="ignore"):
        logs = np.log(a)
    wanted = {"t": np.maximum(logs, c), "u": np.maximum(logs, c), "v": np.minimum(logs, c)}
    wanted |= {"w": np.maximum(logs, 0), "s": logs.min()}
    for name, expected in wanted.items():
        np.testing.assert_allclose(run.results[name].to_dense(), expected, rtol=1e-6)


def test_absent_blocks_are_no_rivals() -> None:
    program = fl.parse(
        "A: 4x4 csr block 2\nB: 4x4 csr block 2\nT[i,j] = max(A[i,j], B[i,j])\n"
        "U[i,j] = min(A[i,j], B[i,j])"
    )
    a, b = np.zeros((4, 4)), np.zeros((4, 4))
    a[:2, :2], b[:2, :2] = [[-1, 2], [0, 4]], [[3, -4], [-5, 0]]
    a[:2, 2:], b[2:, :2] = -6, 7
    for engine in ("interpreter", "compiled"):
        run = fl.simulate(fl.compile(program), {"A": a, "B": b}, engine=engine)
        assert run.check().ok
        alone = a + b
        both = np.s_[:2, :2]
        for name, function in (("T", np.maximum), ("U", np.minimum)):
            wanted = alone.copy()
            wanted[both] = function(a[both], b[both])
            np.testing.assert_array_equal(run.results[name].to_dense(), wanted)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T[i] = max[j](a[i], a[i])", "reduces one operand"),
        ("T[i] = max(1, 2)", "only a number"),
        ("T[i] = min(a[i])", "does not say which index"),
        ("T[i] = min[] a[i]", r"min\[\] names no index"),
        ("T[i] = tanh[i] a[i]", "reduces no index"),
        ("min[i] = a[i]", "word of the language"),
    ],
)
def test_refusals_say_what_was_written(line: str, message: str) -> None:
    with pytest.raises(fl.FuseloomError, match=message):
        fl.parse(f"a: 4 dense\n{line}")


@pytest.mark.parametrize("bound", ["0.7", "-0.7", "1e-12"])
@pytest.mark.parametrize("word", ["max", "min"])
def test_a_bound_that_float32_rounds_is_within_what_rounding_allows(word: str, bound: str) -> None:
    program = fl.parse(f"X: 2x3 dense\nY[i,j] = {word}(X[i,j], {bound})")
    run = fl.simulate(fl.compile(program), {"X": [[0.5, -2.0, 0.0], [3.0, -0.25, 1.0]]})
    assert run.check().ok
