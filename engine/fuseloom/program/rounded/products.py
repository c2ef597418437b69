"""Sums of products, with bounds: by BLAS where both operands are grids, by scipy.sparse otherwise.

A product of more than two factors is taken factor by factor, and an index is summed as soon as no
later factor and not the output has it; values and patterns are the same (multiplication
distributes), and so are the bounds.  Infinities do not distribute: ``1 * inf + -2 * inf`` is no
number.  Products with a factor that is no finite number are formed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from fuseloom.program.float32 import LARGEST, SMALLEST
from fuseloom.program.rounded.budget import EvaluationBudget, TooMuchError
from fuseloom.program.rounded.rounding import Rounding, settled, undetermined
from fuseloom.program.rounded.tensors import (
    Elements,
    Floats,
    Grid,
    Ints,
    Listed,
    numbered,
    positions,
)
from fuseloom.program.rounded.terms import Factor, maximum, multiplied, plus, summed


def sum_of_products(
    out: tuple[str, ...],
    factors: Sequence[tuple[tuple[str, ...], Elements]],
    rounding: Rounding,
    budget: EvaluationBudget,
) -> Elements:
    """``out = sum of the products of the factors``, over all indices that ``out`` lacks."""
    finite = [(indices, _finite(elements)) for indices, elements in factors]
    made = _distributed(out, finite, rounding, budget)
    for k, (indices, elements) in enumerate(factors):
        if elements is not finite[k][1]:
            others = [*factors[:k], *factors[k + 1 :]]
            single = [(indices, _undefined(elements)), *others]
            made = _with_undefined(made, out, single, budget)
    return made


def _finite(elements: Elements) -> Elements:
    """The same elements, 0 where one is no finite number."""
    there = np.isfinite(elements.values)
    return (
        elements if there.all() else replace(elements, values=np.where(there, elements.values, 0.0))
    )


def _undefined(elements: Elements) -> Listed:
    """The elements that are no finite numbers."""
    listed = elements.listed()
    return listed.taken(~np.isfinite(listed.values))


def _with_undefined(
    made: Elements,
    out: tuple[str, ...],
    factors: Sequence[tuple[tuple[str, ...], Elements]],
    budget: EvaluationBudget,
) -> Elements:
    """Add products to what the finite factors made, none of which is a finite number.

    Where float32 may see the sign of a factor otherwise, anything may come out.
    """
    every = {*out, *(x for indices, _ in factors for x in indices)}

    def products(of: Callable[[Elements], Floats]) -> Factor:
        terms = [Factor(x, replace(e, values=of(e), bounds=None)) for x, e in factors]
        left = terms[0]
        for right in terms[1:]:
            left = multiplied(left, right, every, budget)
        return summed(left.ordered((*out, *sorted({*left.indices} - {*out}))), {*out}, budget)

    values = products(lambda e: e.values).listed().elements.listed()
    certain = made.bounds is None or not any(_unsigned(e).any() for _, e in factors)
    bounds = np.zeros(made.size) if made.bounds is None else made.bounds.ravel().copy()
    flat = made.values.ravel().copy()
    at = _places(values, made)
    flat[at] += values.values
    if not certain:  # products of 1, and of more where a sign is not certain
        signs = products(lambda e: 1.0 + _unsigned(e)).listed()
        counts = products(lambda e: np.ones_like(e.values)).listed().elements.values
        unsure = signs.elements.listed()
        bounds[_places(unsure, made)[unsure.values > counts]] = np.inf
    shape = made.values.shape
    kept = None if made.bounds is None else bounds.reshape(shape)
    return replace(made, values=flat.reshape(shape), bounds=kept)


def _unsigned(elements: Elements) -> Floats:
    """1 where the sign of an element is not certain."""
    if elements.bounds is None:
        return np.zeros_like(elements.values)
    wide = (elements.bounds > 0) & ~(np.abs(elements.values) > elements.bounds)
    return np.asarray(wide, dtype=float)


def _places(some: Listed, elements: Elements) -> Ints:
    """Return the positions of coordinates among the elements; all of them are there."""
    if isinstance(elements, Grid):
        return positions(some.coords, elements.axes)[0]
    (known, asked), count = numbered(elements.coords, some.coords)
    place = np.zeros(count, np.int64)
    place[known] = np.arange(len(known))
    return place[asked]


def _distributed(
    out: tuple[str, ...],
    factors: Sequence[tuple[tuple[str, ...], Elements]],
    rounding: Rounding,
    budget: EvaluationBudget,
) -> Elements:
    """A sum of products of finite numbers."""
    underflow = SMALLEST if len(factors) > 1 else 0.0
    if len(factors) > 2:  # what one product loses, the next ones multiply
        underflow *= prod(max(1.0, _largest(elements)) for _, elements in factors)
    terms = [Factor(indices, elements) for indices, elements in factors]
    left, rest = terms[0], terms[1:]
    left = summed(left, {*out, *(x for t in rest for x in t.indices)}, budget)
    while rest:
        # A factor that shares an index keeps the partial product small.
        k = next((k for k, t in enumerate(rest) if set(t.indices) & set(left.indices)), 0)
        right = rest.pop(k)
        later = {*out, *(x for t in rest for x in t.indices)}
        right = summed(right, {*later, *left.indices}, budget)
        left = multiplied(left, right, later, budget)
    made = rounded(left.ordered(out), len(factors), rounding, underflow)
    if len(factors) > 2:
        return _with_partial_products(made, out, factors, rounding, budget)
    return made


def _with_partial_products(
    made: Elements,
    out: tuple[str, ...],
    factors: Sequence[tuple[tuple[str, ...], Elements]],
    rounding: Rounding,
    budget: EvaluationBudget,
) -> Elements:
    """The products, undetermined where one of some of the factors may overflow float32."""
    if prod(max(1.0, _largest(elements)) for _, elements in factors) <= LARGEST:
        return made
    least_one = [
        (indices, replace(e, values=np.maximum(np.abs(e.values), 1.0), bounds=None))
        for indices, e in factors
    ]
    every = {*out, *(x for indices, _ in factors for x in indices)}
    partial = Factor(*least_one[0])
    for factor in least_one[1:]:
        partial = multiplied(partial, Factor(*factor), every, budget)
    most = maximum(partial.indices, partial.elements, out).listed()
    unsure = np.zeros(made.size, dtype=bool)
    unsure[_places(most.taken(most.values > LARGEST), made)] = True
    values, bounds = undetermined(
        made.values, made.bounds, unsure.reshape(made.values.shape), rounding
    )
    return replace(made, values=values, bounds=bounds)


def sum_of_slices(
    out: tuple[str, ...],
    slices: Iterable[Sequence[tuple[tuple[str, ...], Elements]]],
    rounding: Rounding,
    budget: EvaluationBudget,
) -> Elements:
    """A sum of products of two factors, of which only a slice along a summed index is held.

    Raises
    ------
    TooMuchError
        More than the budget; or a factor is no finite number, and all would have to be multiplied
        one by one.
    """
    total: Factor | None = None
    for first, second in slices:
        if not all(np.isfinite(e.values).all() for _, e in (first, second)):
            raise TooMuchError(work=True)
        left = summed(Factor(*first), {*out, *second[0]}, budget)
        right = summed(Factor(*second), {*out, *left.indices}, budget)
        part = multiplied(left, right, set(out), budget).ordered(out)
        total = part if total is None else plus(total, part, budget)
    assert total is not None
    return rounded(total, 2, rounding, SMALLEST)


def _largest(elements: Elements) -> float:
    finite = np.abs(elements.values[np.isfinite(elements.values)])
    return float(finite.max(initial=0.0))


def rounded(total: Factor, factors: int, rounding: Rounding, underflow: float = 0.0) -> Elements:
    """A sum with the error that its products and additions add.

    Its terms are added in any order.  If those of one sign overflow together, some order may give
    an infinity where others do not, and NaN if those of the other sign do, too.
    """
    elements = total.elements
    upper = total.upper
    terms = np.asarray(total.terms) + (factors - 1)
    fresh = terms * (rounding.unit * upper + underflow)
    values, bounds = settled(elements.values, elements.bounds, fresh, rounding)
    if np.any(upper > LARGEST):
        size = np.abs(elements.values)
        overflows = upper + size > 2 * LARGEST
        both = upper - size > 2 * LARGEST
        unsure = overflows & (both | np.isfinite(values))
        values, bounds = undetermined(values, bounds, unsure, rounding)
    if isinstance(elements, Grid):
        return Grid(elements.axes, values, bounds)
    return Listed(elements.coords, values, bounds)
