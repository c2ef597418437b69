"""Sums of products: values, bounds and budgets of every way they are computed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as combinations

import numpy as np
import pytest
import scipy.sparse as sp

from fuseloom.program.rounded.budget import EvaluationBudget, TooMuchError
from fuseloom.program.rounded.products import sum_of_products, sum_of_slices
from fuseloom.program.rounded.rounding import UNIT, Rounding
from fuseloom.program.rounded.tensors import Elements, Grid, Listed

SIZES = {"i": 4, "j": 5, "k": 3, "l": 2}


def operand(
    rng: np.random.Generator, indices: str, kind: str
) -> tuple[Elements, np.ndarray, np.ndarray]:
    """Elements with bounds, and the same as arrays of values and bounds (NaN where absent)."""
    shape = tuple(SIZES[x] for x in indices)
    values = rng.normal(size=shape)
    bounds = rng.uniform(0, 1e-3, size=shape)
    if kind == "grid":
        return Grid(tuple(map(np.arange, shape)), values, bounds), values, bounds
    there = rng.uniform(size=shape) < 0.5
    coords = np.stack(np.nonzero(there)) if shape else np.zeros((0, int(there)), np.int64)
    listed = Listed(coords, values[there], bounds[there])
    return listed, np.where(there, values, np.nan), bounds


def expected(
    out: str, factors: list[tuple[str, np.ndarray, np.ndarray]]
) -> dict[tuple[int, ...], tuple[float, float, float, int]]:
    """Per element the value, the inherited error, the upper sum and the number of terms."""
    made: dict[tuple[int, ...], tuple[float, float, float, int]] = {}
    space = "".join(dict.fromkeys("".join(x for x, _, _ in factors)))
    for point in combinations(*(range(SIZES[x]) for x in space)):
        at = dict(zip(space, point, strict=False))
        parts = [(v[tuple(at[x] for x in xs)], e[tuple(at[x] for x in xs)]) for xs, v, e in factors]
        if any(np.isnan(v) for v, _ in parts):
            continue
        value = float(np.prod([v for v, _ in parts]))
        upper = float(np.prod([abs(v) + e for v, e in parts]))
        key = tuple(at[x] for x in out)
        before = made.get(key, (0.0, 0.0, 0.0, 0))
        made[key] = (
            before[0] + value, before[1] + upper - abs(value), before[2] + upper, before[3] + 1,
        )  # fmt: skip
    return made


CASES = [
    ("ij", ["ik", "kj"]),
    ("ji", ["ik", "kj"]),
    ("ijk", ["ik", "kj"]),
    ("i", ["ik", "k"]),
    ("", ["ik", "k"]),
    ("ij", ["ij", "ij"]),
    ("ij", ["i", "j"]),
    ("kij", ["kil", "klj"]),
    ("il", ["ij", "jk", "kl"]),
    ("i", ["ij", "jk", "l"]),
    ("", ["ij", "ij", "kl"]),
    ("li", ["ijk", "l"]),
]


@pytest.mark.parametrize(("out", "factors"), CASES)
def test_values_and_bounds(out: str, factors: list[str]) -> None:
    rng = np.random.default_rng(4)
    for kinds in combinations(["grid", "listed"], repeat=len(factors)):
        made = [operand(rng, x, kind) for x, kind in zip(factors, kinds, strict=False)]
        given = [(tuple(x), elements) for x, (elements, _, _) in zip(factors, made, strict=False)]
        got = sum_of_products(tuple(out), given, Rounding(), EvaluationBudget(1e9, 1e9)).listed()
        want = expected(out, [(x, v, e) for x, (_, v, e) in zip(factors, made, strict=False)])
        assert {tuple(c) for c in got.coords.T.tolist()} == set(want), kinds
        assert got.bounds is not None
        for key, value, bound in zip(got.coords.T.tolist(), got.values, got.bounds, strict=False):
            exact, inherited, upper, terms = want[tuple(key)]
            assert value == pytest.approx(exact, rel=1e-9, abs=1e-12)
            own = UNIT * upper
            least, most = inherited + own * terms, inherited + own * 2 * (terms * 9 + len(factors))
            assert least * (1 - 1e-6) <= bound <= most * (1 + 1e-6), (kinds, key)


def test_absent_elements_do_not_meet_infinities() -> None:
    a = Listed(np.array([[0, 1], [0, 1]]), np.array([1.0, 2.0]))
    x = Grid((np.arange(2), np.arange(1)), np.array([[np.inf], [3.0]]))
    with np.errstate(all="ignore"):
        got = sum_of_products(
            ("i", "j"), [(("i", "k"), a), (("k", "j"), x)], Rounding(), EvaluationBudget(1e9, 1e9)
        )
    assert got.listed().values.tolist() == [np.inf, 6.0]


@pytest.mark.parametrize("kinds", ["gg", "gl", "lg", "ll"])
def test_infinities_are_multiplied_before_anything_is_summed(kinds: str) -> None:
    """The sum of ``[1, 2, -4]`` times infinity is no number, nor is any that meets a 0."""
    a = Grid((np.arange(3), np.arange(3)), np.array([[1.0, 2, 1], [2, 2, 0], [-4, 2, 1]]))
    x = Grid((np.arange(3),), np.array([np.inf, np.inf, np.inf]))
    y = Grid((np.arange(3),), np.array([-np.inf, 2.0, np.nan]))
    made = [e if kind == "g" else e.listed() for e, kind in zip((a, x), kinds, strict=True)]
    given = [(("i", "j"), made[0]), (("j",), made[1])]
    for factors, want in (
        (given, [np.nan, np.inf, np.nan]),
        (given[::-1], [np.nan, np.inf, np.nan]),
        ([given[0], (("j",), y)], [np.nan, 12.0, np.nan]),
        ([*given, (("j",), y)], [np.nan, np.inf, np.nan]),
        ([(("k",), y), *given], [np.nan] * 3),
    ):
        with np.errstate(all="ignore"):
            got = sum_of_products(("j",), factors, Rounding(), EvaluationBudget(1e9, 1e9)).listed()
        np.testing.assert_array_equal(got.values[np.argsort(got.coords[0])], want)


def test_what_infinity_is_multiplied_by_has_a_sign() -> None:
    """Anything comes out where rounding decides on the sign; nothing else does elsewhere."""
    infinite = Grid((np.arange(2),), np.array([np.inf, np.inf]), np.zeros(2))
    near = Grid((np.arange(2),), np.array([1e-9, 1.0]), np.full(2, 1e-7))
    with np.errstate(all="ignore"):
        got = sum_of_products(
            ("i",), [(("i",), infinite), (("i",), near)], Rounding(), EvaluationBudget(1e9, 1e9)
        )
    assert got.values.tolist() == [np.inf, np.inf]
    assert got.bounds is not None
    assert np.isfinite(got.bounds).tolist() == [False, True]


def test_a_product_of_zeros_is_an_element() -> None:
    a = Listed(np.array([[0], [0]]), np.array([0.0]))
    b = Listed(np.array([[0], [3]]), np.array([0.0]))
    got = sum_of_products(
        ("i", "j"), [(("i", "k"), a), (("k", "j"), b)], Rounding(), EvaluationBudget(1e9, 1e9)
    )
    assert got.listed().coords.T.tolist() == [[0, 3]]


@pytest.mark.parametrize("kind", ["grid", "listed"])
def test_budgets_are_kept_before_anything_is_made(kind: str) -> None:
    n = 2000
    a = Listed(np.stack([np.arange(n), np.zeros(n, np.int64)]), np.ones(n))
    b: Elements = Listed(np.stack([np.zeros(n, np.int64), np.arange(n)]), np.ones(n))
    if kind == "grid":
        b = Grid((np.arange(1), np.arange(n)), np.ones((1, n)))
    factors = [(("i", "k"), a), (("k", "j"), b)]
    with pytest.raises(TooMuchError):
        sum_of_products(("i", "j"), factors, Rounding(), EvaluationBudget(1e6, 1e9))
    with pytest.raises(TooMuchError):
        sum_of_products(("i", "j"), factors, Rounding(), EvaluationBudget(1e9, 1e6))
    assert (
        sum_of_products(("i", "j"), factors, Rounding(), EvaluationBudget(1e9, 1e9)).size == n * n
    )


def test_a_product_in_slices_is_the_product() -> None:
    rng = np.random.default_rng(4)
    a = sp.random_array((30, 40), density=0.2, rng=rng)
    b = sp.random_array((40, 20), density=0.2, rng=rng)
    x, y = (Listed(np.stack(m.coords).astype(np.int64), m.data) for m in (a, b))
    given = [(("i", "k"), x), (("k", "j"), y)]
    whole = sum_of_products(("i", "j"), given, Rounding(), EvaluationBudget(1e9, 1e9)).listed()

    def slices() -> Iterator[list[tuple[tuple[str, ...], Listed]]]:
        for part in np.array_split(np.arange(40), 7):
            yield [
                (("i", "k"), x.restricted((None, part))),
                (("k", "j"), y.restricted((part, None))),
            ]

    parts = sum_of_slices(("i", "j"), slices(), Rounding(), EvaluationBudget(1e9, 1e9)).listed()
    order, other = (np.lexsort(e.coords[::-1]) for e in (whole, parts))
    assert np.array_equal(whole.coords[:, order], parts.coords[:, other])
    assert np.allclose(whole.values[order], parts.values[other], rtol=1e-14)
    assert whole.bounds is not None
    assert parts.bounds is not None
    assert np.allclose(whole.bounds[order], parts.bounds[other], rtol=1e-9)
