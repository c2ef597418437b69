"""Accesses at computed places, against loops in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.errors import FuseloomError
from fuseloom.program import program_from_json, program_to_json
from fuseloom.program.completeness import complete_tensors

RNG = np.random.default_rng(8)
X1, W1 = RNG.normal(size=10), RNG.normal(size=3)
X2, W2 = RNG.normal(size=(7, 6)), RNG.normal(size=(3, 2))
IMAGES, KERNELS = RNG.normal(size=(2, 6, 5)), RNG.normal(size=(3, 2, 3, 3))
SPARSE = RNG.normal(size=(6, 6)) * (RNG.random((6, 6)) < 0.5)


def convolved(x: np.ndarray, w: np.ndarray, out: int, stride: int, dilation: int, pad: int) -> Any:
    padded = np.pad(x, 3 * len(x))
    start = 3 * len(x) - pad
    return [
        sum(padded[start + stride * i + dilation * k] * w[k] for k in range(len(w)))
        for i in range(out)
    ]


def images(stride: int, pad: int) -> np.ndarray:
    padded = np.pad(IMAGES, ((0, 0), (pad, pad), (pad, pad)))
    high, wide = ((n + 2 * pad - 3) // stride + 1 for n in IMAGES.shape[1:])
    out = np.zeros((3, high, wide))
    for f, i, j in np.ndindex(out.shape):
        window = padded[:, stride * i : stride * i + 3, stride * j : stride * j + 3]
        out[f, i, j] = (window * KERNELS[f]).sum()
    return out


CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "convolution": ("y[i] = x[i+k] * w[k]", lambda: convolved(X1, W1, 8, 1, 1, 0)),
    "stride": ("y[i] = x[2*i+k] * w[k]", lambda: convolved(X1, W1, 4, 2, 1, 0)),
    "dilation": ("y[i] = w[k] * x[i + 3*k]", lambda: convolved(X1, W1, 4, 1, 3, 0)),
    "padding": ("y: 10 csf\ny[i] = x[i+k-1] * w[k]", lambda: convolved(X1, W1, 10, 1, 1, 1)),
    "all of them": (
        "y: 5 csf\ny[i] = x[2*i + 2*k - 2] * w[k]",
        lambda: convolved(X1, W1, 5, 2, 2, 2),
    ),
    "far padding": (
        "i: index 14\ny[i] = x[i + k - 4] * w[k]",
        lambda: convolved(X1, W1, 14, 1, 1, 4),
    ),
    "two dimensions": (
        "y[i,j] = A[i+k,j+l] * W[k,l]",
        lambda: [[(X2[i : i + 3, j : j + 2] * W2).sum() for j in range(5)] for i in range(5)],
    ),
    "images": ("y[f,i,j] = I[c,i+k,j+l] * K[f,c,k,l]", lambda: images(1, 0)),
    "images, stride and padding": (
        "y: 3x3x3 csf\ny[f,i,j] = I[c,2*i+k-1,2*j+l-1] * K[f,c,k,l]",
        lambda: images(2, 1),
    ),
    "pooling": (
        "q: index 2\ny[i] = max[q] x[2*i+q]",
        lambda: np.maximum(X1[0::2], X1[1::2]),
    ),
    "smallest of a window": (
        "k: index 3\ny[i] = min[k] x[3*i+k]",
        lambda: [X1[3 * i : 3 * i + 3].min() for i in range(3)],
    ),
    "mean of a window": (
        "k: index 2\nl: index 3\ny[i,j] = A[2*i+k,2*j+l] / 6",
        lambda: [
            [X2[2 * i : 2 * i + 2, 2 * j : 2 * j + 3].sum() / 6 for j in range(2)] for i in range(3)
        ],
    ),
    "stencil": (
        "y[i] = x[i+2] - 2 * x[i+1] + x[i+0]\ni: index 8\nx: 10 dense",
        lambda: X1[2:] - 2 * X1[1:-1] + X1[:-2],
    ),
    "stencil alone": ("y[i] = x[i+2] - 2 * x[i+1]", lambda: X1[2:] - 2 * X1[1:-1]),
    "backwards": ("y[i] = x[9-i]", lambda: X1[::-1]),
    "diagonal": ("y[i] = S[i,i]", lambda: np.diag(SPARSE)),
    "diagonal of an intermediate": (
        "P[i,j] = S[i,k] * S[k,j]\ny[i] = P[i,i]",
        lambda: np.diag(SPARSE @ SPARSE),
    ),
    "trace": ("y = S[i,i]", lambda: np.trace(SPARSE)),
    "next to the diagonal": ("y[i] = S[i,i+1]", lambda: np.append(np.diag(SPARSE, 1), 0)),
    "rows": ("p: list 3, 0, 3\ny[i,c] = S[p[i],c]", lambda: SPARSE[[3, 0, 3]]),
    "rows, written out": ("y[i,c] = S[(3, 0, 3)[i],c]", lambda: SPARSE[[3, 0, 3]]),
    "rows and columns": (
        "p: list 3, 0, 3\nq: list 5, 1\ny[i,j] = S[p[i],q[j]]",
        lambda: SPARSE[np.ix_([3, 0, 3], [5, 1])],
    ),
    "every other entry": (
        "p: list 3, 0, 5, 2\ny[i,c] = S[p[2*i+1],c]",
        lambda: SPARSE[[0, 2]],
    ),
    "matrix times gathered vector": (
        "p: list 9, 2, 2, 0, 7, 1\ny[i] = S[i,j] * x[p[j]]",
        lambda: SPARSE @ X1[[9, 2, 2, 0, 7, 1]],
    ),
    "one row": ("y[c] = A[2,c]", lambda: X2[2]),
    "one element": ("y = A[2,4]", lambda: X2[2, 4]),
    "windows of a sparse matrix": (
        "k: index 2\ny[i,c] = S[i+k,c]",
        lambda: SPARSE[:-1] + SPARSE[1:],
    ),
    "inside a function": ("y[i] = exp(x[i+1]) * x[i+2]", lambda: np.exp(X1[1:9]) * X1[2:]),
}
DATA = {"x": X1, "w": W1, "A": X2, "W": W2, "I": IMAGES, "K": KERNELS, "S": SPARSE}
DECLARED = {
    "x": "x: 10 dense", "w": "w: 3 dense", "A": "A: 7x6 dense", "W": "W: 3x2 dense",
    "I": "I: 2x6x5 dense", "K": "K: 3x2x3x3 dense", "S": "S: 6x6 csr",
}  # fmt: skip


def program_of(text: str) -> fl.Program:
    head = [line for name, line in DECLARED.items() if f"{name}[" in text and line not in text]
    return fl.parse("\n".join([*head, text]))


def data_of(program: fl.Program) -> dict[str, Any]:
    return {name: DATA[name] for name in program.given}


@pytest.mark.parametrize("name", CASES)
def test_computed_places_mean_what_loops_do(name: str) -> None:
    text, wanted = CASES[name]
    program = program_of(text)
    assert fl.parse(str(program)) == program
    assert program_from_json(program_to_json(program)) == program
    first, last = program.statements[0].out.tensor, program.statements[-1].out.tensor
    for schedule in ("", f"fuse {first}..{last} where possible"):
        run = fl.simulate(fl.compile(program, schedule), data_of(program))
        assert run.check().ok, schedule
        np.testing.assert_allclose(run.results["y"].to_dense(), wanted(), rtol=1e-5, atol=1e-6)


def test_what_is_made_is_shared_between_statements() -> None:
    program = fl.parse("x: 6 dense\nz: 6 dense\ny[i] = x[i+1] * z[i+1]\nv[i] = z[i+1] + y[i]")
    assert [t.name for t in program.tensors if t.made] == ["x_at"]
    assert program.given == ("x", "z")
    assert program.inputs == ("x", "z", "x_at")


def test_a_result_is_complete_where_no_place_is_left_out() -> None:
    program = fl.parse(
        "x: 6 dense\nX: 4x4 dense\ninside[i] = x[i+1]\nd[i] = X[i,i]\nnext[i] = X[i,i+1]\n"
        "z[i] = 1 - x[5-i]"
    )
    assert {"inside", "d", "z"} <= complete_tensors(program)
    assert "next" not in complete_tensors(program)
    with pytest.raises(FuseloomError, match="X_at_2 is stored sparse"):
        fl.parse("X: 4x4 dense\nd[i] = X[i,i]\nz[i] = 1 - X[i,i+1]")


def test_absent_elements_stay_absent() -> None:
    program = fl.parse("x: 4 compressed\ni: index 6\ny[i] = x[i-1]\nz[i] = exp(y[i])")
    run = fl.simulate(fl.compile(program), {"x": np.array([0.0, 1, 0, 2])})
    np.testing.assert_allclose(run.results["z"].to_dense(), [0, 0, np.e, 0, np.e**2, 0], rtol=1e-6)


@pytest.mark.parametrize("text", [
    "X: 8x8 csr block 2\ny[i,c] = X[2*i,c]",
    "X: 8x8 csr block 2\ny[i] = X[i,i]",
    "X: 8x8 csr\ny[i,c] = X[7-i,c]",
])  # fmt: skip
def test_blocks(text: str) -> None:
    program = fl.parse(text)
    assert fl.parse(str(program)) == program
    x = np.where(np.arange(64).reshape(8, 8) % 5 < 2, np.arange(64.0).reshape(8, 8), 0)
    for schedule in ("", "" if program.block > 1 else "block 4"):
        assert fl.simulate(fl.compile(program, schedule), {"X": x}).check().ok


def test_a_declared_relation_says_where_results_go() -> None:
    program = fl.parse(
        "x: 4 dense\nS[i,j]: 4x8 csr where j = 2*i\nD[i,j]: 4x4 csr where j = i\n"
        "y[j] = x[i] * S[i,j]\nd[i,j] = x[i] * D[i,j]"
    )
    x = np.arange(1.0, 5)
    run = fl.simulate(fl.compile(program), {"x": x})
    np.testing.assert_array_equal(run.results["y"].to_dense(), [1, 0, 2, 0, 3, 0, 4, 0])
    np.testing.assert_array_equal(run.results["d"].to_dense(), np.diag(x))


REFUSED = {
    "y[2*i] = x[i]": (2, 3, "something else than a plain index"),
    "y[i,i] = x[i]": (2, 5, "index occurs twice in the result"),
    "y[i] = x[j+k]": (2, 10, "index j of x has no size"),
    "h[t] = h[t-1] + x[t]": (2, 8, "a recurrence"),
    "y[i] = x[p[i]]": (2, 10, "no list is called p"),
    "y[i] = x[x[i]]": (2, 10, "cannot depend on data"),
    "y[i] = x[i-1]": (2, 10, "has no size: 0 lies outside"),
    "k: index 3\ny[k] = x[k+10]": (3, 10, "never lies inside the dimension of size 10"),
    "p: list 2, 11\ny[i] = x[p[i]]": (3, 10, "entry 1 of the list is 11"),
    "p: list -1\ny[i] = x[p[i]]": (3, 10, "entry 0 of the list is -1"),
    "p: list 2\ni: index 1\ny[i] = x[p[i+1]]": (4, 10, "never lies inside the list of 1"),
    "p: list 2\ny[i] = p[i] * x[i]": (3, 8, "p is a list of numbers"),
    "p: list 2\np: list 3\ny[i] = x[p[i]]": (3, 1, "p is declared twice"),
    "x: list 2\ny[i] = x[i]": (2, 1, "x is declared twice"),
    "y[i] = x[p[p[i]]]": (2, 12, "a list at the entries of a list"),
    "y[i] = x[p[i]+1]": (2, 10, "an index by itself"),
    "y[i] = x[3-p[i]]": (2, 12, "an index by itself"),
    "k: index 0\ny[i] = x[i+k]": (2, 1, "index k runs over 0"),
    "k: index 3\nk: index 2\ny[i] = x[i+k]": (3, 1, "index k is declared twice"),
    "k: index 3\ny[i] = x[i+k] * x[k]": (3, 1, "declared with size 3, and has 10"),
    "y[i] = concat[i](x[i+1], x[i])": (2, 20, "the index of the concat"),
    "y[i] = z[i+1]": (2, 8, "neither declared nor assigned"),
    "y[i] = x[i+1,i]": (2, 8, "has 2 indices"),
    "y[i] = max[i+1] x[i]": (2, 12, "names its indices"),
    "y[i] = x[99999999999*i]": (2, 10, "larger than"),
    "k: index 2\ny[i] = exp(x[i+k])": (3, 16, "missing from the result of exp"),
    "S[i,j]: 10x4 csr where k = i\ny[j] = x[i] * S[i,j]": (2, 24, "none of S"),
    "S[i,j]: 10x4 csr where j = j\ny[j] = x[i] * S[i,j]": (2, 28, "follows from itself"),
    "S[i,i]: 10x4 csr where j = i\ny[j] = x[i] * S[i,j]": (2, 5, "names two dimensions"),
    "S[i,j]: 10x4 csr where j = i\nS[i,j] = x[i]": (3, 1, "says what it holds"),
    "S[i,j]: 10x4 coo where j = i\ny[j] = x[i] * S[i,j]": (2, 14, "may lack a coordinate"),
    "S[i,j]: list 3\ny[i] = x[i]": (2, 15, "ends too early"),
    "S[i,j]: 10x4 csr where j = p[i]\ny[j] = x[i] * S[i,j]": (2, 28, "no list is called p"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_place(text: str) -> None:
    line, column, message = REFUSED[text]
    with pytest.raises(FuseloomError, match=message) as caught:
        fl.parse(f"x: 10 dense\n{text}")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.hint


def test_data_of_what_is_made_are_not_asked_for_and_not_changed() -> None:
    program = fl.parse("x: 4 dense\ny[i] = x[i+1]")
    x = np.arange(4.0)
    compiled = fl.compile(program)
    assert fl.simulate(compiled, {"x": x}).check().ok
    assert fl.simulate(compiled, {"x": x, "x_at": np.eye(3, 4, 1)}).check().ok
    with pytest.raises(FuseloomError, match="follow from its declaration"):
        fl.simulate(compiled, {"x": x, "x_at": np.eye(3, 4)})
    with pytest.raises(FuseloomError, match=r"data of input x are missing \(hint: inputs: x\)"):
        fl.simulate(compiled, {})
