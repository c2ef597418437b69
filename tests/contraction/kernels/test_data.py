"""Data of networks in all their forms, and errors of results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.errors import DataError
from fuseloom.program import StoredTensor
from tests.contraction.kernels.nests import C, D, one

EXTENTS = {"i": 4, "j": 5}
FORMS: dict[str, Any] = {
    "dense": lambda a: a,
    "lists": lambda a: a.tolist(),
    "integers": lambda a: a.astype(int),
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_matrix,
    "coo": lambda a: (np.argwhere(a)[::-1], a[a != 0][::-1]),
    "explicit zeros": lambda a: (np.argwhere(a > -1), a.reshape(-1)),
    "columns backwards": lambda a: np.asfortranarray(a[::-1])[::-1],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [(C, C), (D, C), (D, D)], ids=["csf", "csr", "dense"])
def test_data_as_people_have_them(form: str, levels: tuple) -> None:
    text = "forall(j, forall(i, R(i) += A(j,i) * B(j)))"
    kernel = one(text, "ij,j->i", EXTENTS, {"A": levels})
    a = np.array([[0, 1, 0, 2, 0], [0] * 5, [0, 3, 4, 0, 5], [6, 0, 0, 0, 0.0]])
    b = np.array([1.0, 0, 2, 3, 4])
    np.testing.assert_array_equal(kernel({"A": FORMS[form](a), "B": b}), a @ b)


def test_a_stored_tensor_is_taken_in_any_format() -> None:
    kernel = one("forall(i, forall(j, R(i) += A(i,j) * B(j)))", "ij,j->i", EXTENTS)
    a = np.arange(20.0).reshape(4, 5) % 3
    stored = StoredTensor.from_dense(kernel.tree.program.tensor("A"), a).with_mode_order((1, 0))
    np.testing.assert_array_equal(kernel({"A": stored, "B": np.ones(5)}), a.sum(axis=1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"A": np.ones((4, 4)), "B": np.ones(5)}, "has shape 4x5, its data 4x4"),
        ({"A": np.ones((4, 5))}, "data of B are missing"),
        ({"A": np.ones((4, 5)), "B": np.ones(5), "X": 1}, "no tensor 'X' to be given"),
        ({"A": np.full((4, 5), np.nan), "B": np.ones(5)}, "value nan at .0,0. is not finite"),
        ({"A": np.full((4, 5), 1j), "B": np.ones(5)}, "complex128, which is not a real"),
        ({"A": ([[0, 1], [0, 1]], [1, 2]), "B": np.ones(5)}, "element .0,1. is given twice"),
        ({"A": ([[0, 5]], [1]), "B": np.ones(5)}, "coordinate 5 of element 0 is outside 0..4"),
        ({"A": ([[-1, 0]], [1]), "B": np.ones(5)}, "coordinate -1 of element 0"),
        ({"A": ([[0.0, 1.0]], [1]), "B": np.ones(5)}, "dtype float64, not integer"),
        ({"A": ([[0, 1, 2]], [1]), "B": np.ones(5)}, "coordinates of shape 1x2, found 1x3"),
        (
            {"A": (np.array([[0, 2**63]], dtype=np.uint64), [1]), "B": np.ones(5)},
            "which no int64 holds",
        ),
        ({"A": ([[0, 2**70]], [1]), "B": np.ones(5)}, "dtype object, not integer"),
        ({"A": [[1, 2], [3]], "B": np.ones(5)}, "the data of A are no array"),
        ({"A": "text", "B": np.ones(5)}, "which is not a real number"),
    ],
)
def test_data_that_contradict_their_declaration(given: dict[str, Any], message: str) -> None:
    kernel = one("forall(i, forall(j, R(i) += A(i,j) * B(j)))", "ij,j->i", EXTENTS)
    with pytest.raises(DataError, match=message):
        kernel(given)


def test_errors_are_relative_to_what_is_added() -> None:
    tree = binary(from_einsum("i,i->", {"i": 3}))
    data = Data(tree, {"A": [1e16, 1.0, -1e16], "B": np.ones(3)})
    assert data.error(np.array(0.0)) < 1e-15
    assert data.error(np.array(1e9)) > 1e-9
    empty = Data(tree, {"A": np.zeros(3), "B": np.ones(3)})
    assert empty.error(np.array(0.0)) == 0.0
    assert empty.error(np.array(1e-300)) == float("inf")
    assert empty.error(np.array(np.nan)) == float("inf")
