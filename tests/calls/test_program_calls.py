"""Statements as calls: whole and in tiles of every size they equal the program's meaning."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.calls.measuring import TiledSchedule, measure
from fuseloom.calls.program_calls import TILE, program_case
from fuseloom.calls.whole_calls import WholeCalls
from fuseloom.errors import ProgramError
from fuseloom.program.functions import FUNCTIONS

GIVEN = "A: 9x6 dense\nB: 6x5 dense\nC: 9x6 dense\nT: 4x3x5 dense\nv: 9 dense\nc: scalar\n"
STATEMENTS = {
    "product": "Z[i,j] = A[i,k] * B[k,j]",
    "transposed": "Z[j,i] = A[i,k] * B[k,j]",
    "row by column": "Z[i,j] = A[i,k] * C[j,k]",
    "same twice": "Z[i,j] = A[i,k] * A[j,k]",
    "three": "Z[i,j] = A[i,k] * C[i,k] * B[k,j]",
    "elementwise product": "Z[i,k] = A[i,k] * C[i,k]",
    "of a vector": "Z[i,k] = A[i,k] * v[i]",
    "a number": "z = v[i] * v[i]",
    "by a number": "Z[i,k] = A[i,k] * c",
    "third order": "Z[p,q] = T[p,q,r] * T[p,q,r]",
    "third order kept": "Z[r,p,q] = T[p,q,r] * T[p,q,r]",
    "sum": "Z[k] = A[i,k]",
    "sum of all": "z = A[i,k]",
    "maximum": "Z[i] = max[k] A[i,k]",
    "sum of two": "Z[k,i] = A[i,k] + C[i,k]",
    "summed sum": "Z[i] = A[i,k] + C[i,k]",
    "difference": "Z[i,k] = A[i,k] - v[i]",
    "quotient": "Z[i,k] = A[i,k] / v[i]",
    "larger": "Z[i,k] = max(A[i,k], C[i,k])",
    "scaled": "Z[i,k] = 0.25 * A[i,k]",
    "shifted": "Z[i,k] = A[i,k] + 2",
    "at least": "Z[i,k] = max(A[i,k], 0.5)",
    "joined rows": "Z[n,k] = concat[n](A[n,k], C[n,k])",
    "joined columns": "Z[i,n] = concat[n](A[i,n], C[i,n])",
    **{function.name: f"Z[i,k] = {function.name}(A[i,k])" for function in FUNCTIONS.values()},
}


def data_of(text: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    program = fl.parse(text)
    return {  # within the domain of every function
        name: rng.uniform(0.1, 0.9, program.tensor(name).shape) for name in program.given
    }


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_whole_and_in_tiles(statement):
    name = statement.split("[")[0].split(" ")[0]
    text = f"{GIVEN}{statement}\noutput {name}\n"
    case = program_case(fl.parse(text), data_of(text))
    WholeCalls(case.composition, case.arguments)()
    np.testing.assert_allclose(case.result, case.expected, rtol=2e-6, atol=2e-6)
    for made in measure(case, TILE, [TiledSchedule(n) for n in (1, 2, 4, 20)], rounds=1):
        assert made.max_rel_error < 2e-6, made.schedule
        assert set(made.counts.recomputation.values()) == {1.0}


CHAIN = """A: 12x6 dense
B: 6x6 dense
H[i,j] = A[i,k] * B[k,j]
R[i,j] = relu(H[i,j])
G[i,j] = R[i,k] * B[k,j]
s[j] = G[i,j]
Z[i,j] = G[i,j] / s[j]
output Z
"""


@pytest.mark.parametrize("breaks", [(), (3,), (1, 3)])
def test_what_every_tile_needs_whole_is_computed_again(breaks):
    """The sum over rows needs all of G: tiles of Z compute it again unless it is kept whole."""
    case = program_case(fl.parse(CHAIN), data_of(CHAIN))
    (made,) = measure(case, TILE, [TiledSchedule(4, breaks)], rounds=1)
    assert made.max_rel_error < 2e-6
    again = made.counts.recomputation
    assert again["Z"] == 1.0
    assert again["G"] == (1.0 if 3 in breaks else 3.0)


WINDOWS = {
    "one dimension": ("x: 11 dense\nw: 3 dense\ny[i] = x[i+k] * w[k]", [1, 2, 4, 20]),
    "strided": ("x: 15 dense\nw: 3 dense\ny[i] = x[2*i+k] * w[k]", [1, 2, 3, 20]),
    "dilated": ("x: 15 dense\nw: 3 dense\ny[i] = x[i+2*k] * w[k]", [1, 4, 20]),
    "two dimensions": ("x: 9x8 dense\nw: 3x2 dense\ny[i,j] = x[i+r,j+s] * w[r,s]", [1, 3, 20]),
    "channels": (
        "x: 2x9x8 dense\nw: 4x2x3x3 dense\ny[o,i,j] = x[c,i+r,j+s] * w[o,c,r,s]", [1, 3, 20],
    ),
    "pooled": ("x: 8x6 dense\nk: index 2\ny[i,j] = max[k] x[2*i+k,j]", [1, 2, 20]),
    "summed": ("x: 8x6 dense\nk: index 2\ny[i,j] = sum[k] x[i,j+k]", [1, 3, 20]),
    "of the second index": ("x: 9 dense\nw: 3 dense\ny[j,i] = x[i+k] * w[k] * w[j]", [1, 2, 20]),
    "beside a place": ("x: 9x4 dense\nw: 3 dense\ny[i] = x[i+k,2] * w[k]", [1, 2, 20]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "tiles"), WINDOWS.values(), ids=WINDOWS)
def test_windows_whole_and_in_tiles(text, tiles):
    case = program_case(fl.parse(text), data_of(text))
    assert len(case.calls) == len(fl.parse(text).live) - 1
    WholeCalls(case.composition, case.arguments)()
    np.testing.assert_allclose(case.result, case.expected, rtol=2e-6, atol=2e-6)
    for made in measure(case, TILE, [TiledSchedule(n) for n in tiles], rounds=1):
        assert made.max_rel_error < 2e-6, made.schedule


def test_windows_over_rows_compute_a_halo_again():
    """Two convolutions in tiles of 4 rows: each but the last computes 2 rows of the first twice."""
    text = "x: 16x5 dense\nw: 3 dense\ny[i,j] = x[i+k,j] * w[k]\nz[i,j] = y[i+k,j] * w[k]\noutput z"
    case = program_case(fl.parse(text), data_of(text))
    made = measure(case, TILE, [TiledSchedule(4), TiledSchedule(12)], rounds=1)
    again = {one.schedule.tile: one.counts.recomputation["y"] for one in made}
    assert again == {4: 18 / 14, 12: 1.0}
    assert all(one.max_rel_error < 2e-6 for one in made)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A: 4 dense\nB[i] = exp(A[i])\nC[i] = relu(A[i])\noutput B\noutput C", "one result"),
        ("x: 9 dense\nw: 3 dense\ny: 9 dense\ny[i] = x[i+k-1] * w[k]", "windows reach beyond x"),
        ("x: 9 dense\nw: 3 dense\ny[i] = x[i+k+1] * w[k]", "begin behind the first element"),
        ("x: 9 dense\np: list 2, 0, 5\ny[i] = x[p[i]]", "places in a list"),
        ("A: 4x4 dense\ny[i] = A[i,i]", "diagonal"),
        ("x: 9 dense\nk: index 3\ny[i,k] = x[2*i+k]", "it is the result, and only reads"),
        ("A: 4 dense\nB[i] = nonzero(relu(A[i]))", "leaves zeros out"),
        ("A: 2x2x2x2x2 dense\nB[i,j,k,l,m] = relu(A[i,j,k,l,m])", "at most 4"),
    ],
)
def test_what_is_no_call_names_rule_and_place(text, message):
    program = fl.parse(text)
    data = {name: np.ones(program.tensor(name).shape) for name in program.given}
    with pytest.raises(ProgramError, match=message):
        program_case(program, data)
