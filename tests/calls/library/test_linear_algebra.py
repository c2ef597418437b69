"""Products of matrices and vectors, each against sums in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.calls.library.linear_algebra import ROWS
from tests.calls.library.computed import SEEDS, close, computed


def dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def product(a: Any, b: Any) -> Any:
    """The product of two matrices, by sums of products."""
    columns = list(zip(*b.tolist(), strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns]
            for row in a.tolist()]  # fmt: skip


MEANT: dict[str, Callable[..., Any]] = {
    "gemm_rows": lambda a, b, **_: product(a, b),
    "gemm": lambda a, b, **_: product(a, b),
    "gemm_transposed": lambda a, b, **_: product(a, b.T),
    "gemm_left_transposed": lambda a, b, **_: product(a.T, b),
    "gemv": lambda a, x, **_: np.ravel(product(a, x[:, None])),
    "gemv_transposed": lambda a, x, **_: np.ravel(product(a.T, x[:, None])),
    "ger": lambda alpha, x, y, **_: [[p * q * alpha for q in y] for p in x],
    "ger_update": lambda alpha, x, y, a, **_: a + [[p * q * alpha for q in y] for p in x],
    "outer_difference": lambda x, y, **_: [[p - q for q in y] for p in x],
    "squared_distances": lambda a, b, **_: [[((p - q) ** 2).sum() for q in b] for p in a],
    "sparse_times_dense": lambda s, b, **_: product(s, b),
    "sparse_times_vector": lambda s, x, **_: np.ravel(product(s, x[:, None])),
    "sparse_row_sums": lambda s, **_: [sum(row) for row in s.tolist()],
}


@pytest.mark.parametrize("name", MEANT)
@pytest.mark.parametrize("seed", SEEDS)
def test_products(name: str, seed: int) -> None:
    out, arguments = computed(name, seed)
    assert close(out, MEANT[name](**{key: dense(value) for key, value in arguments.items()}))


def test_all_rows_are_compared() -> None:
    assert {row.name for row in ROWS} == MEANT.keys()


def test_a_product_of_a_matrix_with_itself() -> None:
    a = np.arange(12.0).reshape(4, 3)
    out, _ = computed("gemm_transposed", 0, a=a, b=a, depth=3, out=np.zeros((4, 4)))
    assert (out == out.T).all()
    assert out[3, 3] == 9 * 9 + 10 * 10 + 11 * 11


def test_sparse_examples_have_entries() -> None:
    for row in ROWS:
        if row.name.startswith("sparse"):
            assert row.example(1)["s"].nnz > 3
