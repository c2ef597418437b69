"""Operands and partial products: multiplied as matrices, and summed.

By BLAS where both are grids, by scipy.sparse otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from fuseloom.program.distinct import distinct
from fuseloom.program.late import scipy_sparse
from fuseloom.program.rounded.budget import EvaluationBudget
from fuseloom.program.rounded.tensors import (
    Elements,
    Floats,
    Grid,
    Ints,
    Listed,
    keys,
    numbered,
    positions,
    same_axis,
)


@dataclass(frozen=True, eq=False)
class Factor:
    """An operand or a partial product.

    Attributes
    ----------
    indices : tuple of str
        One per dimension.
    terms : float array or float
        How many products each element sums up, at most.
    size : float array or None
        Sum of the magnitudes of the products; None where it is that of the value.
    """

    indices: tuple[str, ...]
    elements: Elements
    size: Floats | None = None
    terms: Floats | float = 1.0

    @property
    def magnitude(self) -> Floats:
        return np.abs(self.elements.values) if self.size is None else self.size

    @property
    def upper(self) -> Floats:
        """Magnitudes with every operand as large as its bound allows."""
        if self.elements.bounds is None:
            return self.magnitude
        return self.magnitude + self.elements.bounds

    def listed(self) -> Factor:
        if isinstance(self.elements, Listed):
            return self
        size = None if self.size is None else self.size.ravel()
        terms = self.terms
        if not isinstance(terms, float):
            terms = np.broadcast_to(terms, self.elements.values.shape).ravel()
        return Factor(self.indices, self.elements.listed(), size, terms)

    def ordered(self, indices: Sequence[str]) -> Factor:
        """The dimensions in another order."""
        if tuple(indices) == self.indices:
            return self
        order = [self.indices.index(x) for x in indices]
        if isinstance(self.elements, Listed):
            return Factor(tuple(indices), self.elements.transposed(order), self.size, self.terms)
        size = None if self.size is None else self.size.transpose(order)
        terms = self.terms
        if not isinstance(terms, float):
            terms = np.broadcast_to(terms, self.elements.values.shape).transpose(order)
        return Factor(tuple(indices), self.elements.transposed(order), size, terms)


def summed(term: Factor, wanted: set[str], budget: EvaluationBudget) -> Factor:
    """Sum over the indices that nobody wants."""
    gone = [k for k, x in enumerate(term.indices) if x not in wanted]
    if not gone:
        return term
    kept = [k for k in range(len(term.indices)) if k not in gone]
    indices = tuple(term.indices[k] for k in kept)
    elements = term.elements
    if isinstance(elements, Grid) and elements.size:
        axes = tuple(gone)
        bounds = None if elements.bounds is None else elements.bounds.sum(axis=axes)
        terms = np.broadcast_to(term.terms, elements.values.shape).sum(axis=axes)
        grid = Grid(tuple(elements.axes[k] for k in kept), elements.values.sum(axis=axes), bounds)
        return Factor(indices, grid, term.magnitude.sum(axis=axes), terms)
    term = term.listed()
    elements = term.elements
    assert isinstance(elements, Listed)
    budget.take(elements.size, 8)
    coords, group, count = groups(elements.coords[kept], bool(kept))

    def add(weights: Floats | None) -> Floats | None:
        if weights is None:
            return None
        return np.bincount(group, np.broadcast_to(weights, group.shape), count).astype(np.float64)

    values = add(elements.values)
    assert values is not None
    made = Listed(coords, values, add(elements.bounds))
    counts = add(np.asarray(term.terms, dtype=float))
    return Factor(indices, made, add(term.magnitude), 1.0 if counts is None else counts)


def groups(coords: Ints, any_left: bool) -> tuple[Ints, Ints, int]:
    """Distinct tuples, which of them each tuple is, and how many there are.

    Without a dimension, all tuples are one group; no tuple makes none.
    """
    if not any_left:
        some = min(coords.shape[1], 1)
        return np.zeros((0, some), np.int64), np.zeros(coords.shape[1], np.int64), some
    (key,) = keys(coords)
    names = distinct(key)
    top = int(names[-1]) + 1 if len(names) else 0
    if top > 4 * len(key):
        group = np.searchsorted(names, key)
    else:
        place = np.empty(top, np.int64)
        place[names] = np.arange(len(names))
        group = place[key]
    one = np.empty(len(names), np.int64)
    one[group] = np.arange(len(key))
    return coords[:, one], group, len(names)


def maximum(indices: tuple[str, ...], elements: Elements, out: tuple[str, ...]) -> Elements:
    """The largest element over the indices that the output lacks; NaN if there is one."""
    kept = [indices.index(x) for x in out]
    if isinstance(elements, Grid) and elements.size:
        gone = tuple(k for k in range(len(indices)) if k not in kept)
        elements = elements.transposed([*kept, *gone])
        axes = tuple(range(len(kept), len(indices)))
        bounds = None if elements.bounds is None else elements.bounds.max(axis=axes)
        return Grid(elements.axes[: len(kept)], elements.values.max(axis=axes), bounds)
    every = elements.listed()
    coords, group, count = groups(every.coords[kept], bool(kept))
    if not every.size:
        return Listed(coords[:, :0], np.zeros(0))
    order = np.argsort(group, kind="stable")
    heads = np.searchsorted(group[order], np.arange(count))
    values = np.maximum.reduceat(every.values[order], heads)
    if every.bounds is None:
        return Listed(coords, values)
    return Listed(coords, values, np.maximum.reduceat(every.bounds[order], heads))


def plus(a: Factor, b: Factor, budget: EvaluationBudget) -> Factor:
    """Two partial sums with the same indices."""
    budget.take(a.elements.size + b.elements.size, 8)
    bounds: Floats | None
    if isinstance(a.elements, Grid) and isinstance(b.elements, Grid):
        pairs = zip(a.elements.axes, b.elements.axes, strict=True)
        if all(same_axis(x, y) for x, y in pairs):
            bounds = _sum_of(a.elements.bounds, b.elements.bounds)
            grid = Grid(a.elements.axes, a.elements.values + b.elements.values, bounds)
            return Factor(a.indices, grid, a.magnitude + b.magnitude, a.terms + b.terms)
    a, b = a.listed(), b.listed()
    assert isinstance(a.elements, Listed) and isinstance(b.elements, Listed)
    coords = np.concatenate([a.elements.coords, b.elements.coords], axis=1)
    coords, group, count = groups(coords, bool(a.indices))

    def add(x: Floats | float, y: Floats | float) -> Floats:
        both = [np.broadcast_to(v, t.elements.values.shape) for v, t in ((x, a), (y, b))]
        return np.bincount(group, np.concatenate(both), count).astype(np.float64)

    bounds = None
    if a.elements.bounds is not None or b.elements.bounds is not None:
        bounds = add(*(0.0 if e.bounds is None else e.bounds for e in (a.elements, b.elements)))
    listed = Listed(coords, add(a.elements.values, b.elements.values), bounds)
    return Factor(a.indices, listed, add(a.magnitude, b.magnitude), add(a.terms, b.terms))


def _sum_of(a: Floats | None, b: Floats | None) -> Floats | None:
    return b if a is None else a if b is None else a + b


def multiplied(left: Factor, right: Factor, later: set[str], budget: EvaluationBudget) -> Factor:
    """The product of two, summed over what both have and nobody wants later."""
    dense = isinstance(left.elements, Grid) and isinstance(right.elements, Grid)
    if dense and left.elements.size and right.elements.size:
        found = _grids(left, right, later, budget)
        if found is not None:
            return found
    if isinstance(left.elements, Grid) and not isinstance(right.elements, Grid):
        left, right = right, left  # scipy multiplies a sparse matrix by a dense one
    shared = [x for x in left.indices if x in right.indices]
    rows = [x for x in left.indices if x in later]
    columns = [x for x in right.indices if x in later and x not in left.indices]
    if isinstance(right.elements, Grid):
        return _by_grid(left.listed(), right, shared, rows, columns, budget)
    return _by_list(left.listed(), right, shared, rows, columns, budget)


def _grids(left: Factor, right: Factor, later: set[str], budget: EvaluationBudget) -> Factor | None:
    """Two grids by einsum; None if they do not hold the same coordinates of what they share."""
    a, b = left.elements, right.elements
    assert isinstance(a, Grid) and isinstance(b, Grid)
    axes = dict(zip(left.indices, a.axes, strict=True))
    for x, axis in zip(right.indices, b.axes, strict=True):
        if x in axes and not same_axis(axes[x], axis):
            return None
        axes[x] = axis
    space = tuple(dict.fromkeys((*left.indices, *right.indices)))
    indices = tuple(x for x in space if x in later)
    budget.take(prod(len(axes[x]) for x in indices), 6)
    budget.work(prod(len(axes[x]) for x in space) // 16)
    place = {x: k for k, x in enumerate(space)}
    at = [[place[x] for x in t.indices] for t in (left, right)]
    to = [place[x] for x in indices]

    def einsum(x: Floats, y: Floats) -> Floats:
        parts: list[Any] = [x, at[0], y, at[1], to]
        return np.asarray(np.einsum(*parts, optimize=True))

    values = einsum(a.values, b.values)
    size = einsum(left.magnitude, right.magnitude)
    bounds = _bounds(left, right, size, einsum)
    gone = prod(len(axes[x]) for x in space if x not in later)
    terms = gone * np.max(left.terms, initial=1.0) * np.max(right.terms, initial=1.0)
    return Factor(
        indices, Grid(tuple(axes[x] for x in indices), values, bounds), size, float(terms)
    )


def _bounds(
    left: Factor, right: Factor, size: Floats, product: Callable[[Floats, Floats], Floats]
) -> Floats | None:
    """Bound the error of a product by those of its factors, given the product of magnitudes."""
    if left.elements.bounds is None and right.elements.bounds is None:
        return None
    return np.asarray(np.maximum(product(left.upper, right.upper) - size, 0.0) + 1e-15 * size)


def _by_list(
    left: Factor,
    right: Factor,
    shared: list[str],
    rows: list[str],
    columns: list[str],
    budget: EvaluationBudget,
) -> Factor:
    """A product of sparse matrices: rows by shared indices, times shared indices by columns."""
    a, b = left.elements, right.elements
    assert isinstance(a, Listed) and isinstance(b, Listed)
    row_names, row, row_count = _named(left, rows)
    inner_a = a.coords[[left.indices.index(x) for x in shared]]
    inner_b = b.coords[[right.indices.index(x) for x in shared]]
    column_names, column, column_count = _named(right, columns)
    (ia, ib), inner = numbered(inner_a, inner_b)
    products = float(np.bincount(ia, minlength=inner) @ np.bincount(ib, minlength=inner))
    budget.work(products)
    budget.take(min(products, float(row_count) * column_count), 16)

    first = _Pattern.of(row, ia, (row_count, inner))
    second = _Pattern.of(ib, column, (inner, column_count))

    def product(x: Floats, y: Floats) -> Any:
        made = first.matrix(x) @ second.matrix(y)
        made.sort_indices()
        return made

    terms_a = np.broadcast_to(left.terms, a.values.shape).astype(float)
    terms_b = np.broadcast_to(right.terms, b.values.shape).astype(float)
    counts = product(terms_a, terms_b)  # positive, so that none is dropped as a zero
    at = np.repeat(np.arange(row_count), np.diff(counts.indptr))
    to = counts.indices

    def values(made: Any) -> Floats:
        """In the places of ``counts``; scipy may have dropped what is 0."""
        if made.nnz == counts.nnz:
            return np.asarray(made.data)
        every = at * np.int64(column_count) + to
        some = np.repeat(np.arange(row_count), np.diff(made.indptr)) * np.int64(column_count)
        spread_out = np.zeros(counts.nnz)
        spread_out[np.searchsorted(every, some + made.indices)] = made.data
        return spread_out

    total = values(product(a.values, b.values))
    size = values(product(left.magnitude, right.magnitude))
    bounds = _bounds(left, right, size, lambda x, y: values(product(x, y)))
    coords = np.concatenate([row_names[:, at], column_names[:, to]])
    return Factor((*rows, *columns), Listed(coords, total, bounds), size, np.asarray(counts.data))


@dataclass(frozen=True, eq=False)
class _Pattern:
    """The pattern of a sparse matrix; several matrices share it.

    Attributes
    ----------
    order : (nnz,) array or None
        Of the elements as given, row by row; None where they are so already.
    columns : (nnz,) array
        Of the elements in that order.
    first : (rows + 1,) array
        Where the elements of each row begin.
    """

    order: Ints | None
    columns: Any
    first: Any
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: Ints, columns: Ints, shape: tuple[int, int]) -> _Pattern:
        order: Ints | None = None
        if (rows[1:] < rows[:-1]).any():
            order = by_counting(rows, shape[0])
            columns = columns[order]
        counts = np.bincount(rows, minlength=shape[0])
        narrow = np.int32 if max(*shape, len(rows)) < 2**31 else np.int64
        first = np.zeros(shape[0] + 1, narrow)
        np.cumsum(counts, out=first[1:])
        return cls(order, columns.astype(narrow), first, shape)

    def matrix(self, data: Floats) -> Any:
        """The matrix with these elements, in the order of the coordinates given."""
        sorted_data = data if self.order is None else data[self.order]
        return scipy_sparse.csr_array((sorted_data, self.columns, self.first), shape=self.shape)


def by_counting(numbers: Ints, count: int) -> Ints:
    """The stable order of numbers below ``count``, in time that grows with both."""
    every = np.arange(len(numbers))
    row = scipy_sparse.csr_array((every, numbers, [0, len(numbers)]), shape=(1, count))
    return np.asarray(row.tocsc().data)


def _named(term: Factor, indices: list[str]) -> tuple[Ints, Ints, int]:
    """Of a listed term the groups of coordinates of some of its indices."""
    assert isinstance(term.elements, Listed)
    coords = term.elements.coords[[term.indices.index(x) for x in indices]]
    return groups(coords, bool(indices))


def _by_grid(
    left: Factor,
    right: Factor,
    shared: list[str],
    rows: list[str],
    columns: list[str],
    budget: EvaluationBudget,
) -> Factor:
    """A sparse matrix times a dense one: every column of a row that meets anything is there."""
    a, grid = left.elements, right.elements
    assert isinstance(a, Listed) and isinstance(grid, Grid)
    names, number, count = _named(left, rows)
    order = [right.indices.index(x) for x in (*shared, *columns)]
    axes = [grid.axes[k] for k in order]
    column_axes = axes[len(shared) :]
    inner = a.coords[[left.indices.index(x) for x in shared]]
    at, here = positions(inner, axes[: len(shared)])
    width = prod(len(axis) for axis in column_axes)
    depth = prod(len(axis) for axis in axes[: len(shared)])
    budget.work(float(np.count_nonzero(here)) * width)
    budget.take(float(count) * width, 8)

    def dense(values: Floats) -> Floats:
        made = np.broadcast_to(values, grid.values.shape).transpose(order)
        return np.ascontiguousarray(made).reshape(depth, width)

    inside: Any = np.s_[:] if here.all() else here
    number, at = number[inside], at[inside]
    by_columns = (number[1:] < number[:-1]).any() and not (at[1:] < at[:-1]).any()
    if by_columns:  # in order as they are
        pattern = _Pattern.of(at, number, (depth, count))
    else:
        pattern = _Pattern.of(number, at, (count, depth))

    def product(x: Floats, y: Floats) -> Floats:
        made = pattern.matrix(x[inside])
        return np.asarray((made.T if by_columns else made) @ dense(y))

    values = product(a.values, grid.values)
    size = product(left.magnitude, right.magnitude)
    bounds = _bounds(left, right, size, product)
    many = np.broadcast_to(left.terms, a.values.shape)[inside]
    terms = np.bincount(number, many, minlength=count) * np.max(right.terms, initial=1.0)
    met = np.bincount(number, minlength=count) > 0
    shape = [len(axis) for axis in column_axes]
    if len(rows) <= 1:
        tops = [names[0][met]] if rows else []
        lead = [int(met.sum())] if rows else []
        if rows or (count and met.all()):

            def box(x: Floats) -> Floats:
                return x[met].reshape(lead + shape)

            made = Grid((*tops, *column_axes), box(values), None if bounds is None else box(bounds))
            spread = np.repeat(terms[met], width).reshape(lead + shape)
            return Factor((*rows, *columns), made, box(size), spread)
    kept = np.flatnonzero(met)
    every = Grid(tuple(column_axes), np.zeros(shape)).listed().coords
    coords = np.concatenate([np.repeat(names[:, kept], width, axis=1), np.tile(every, len(kept))])
    listed = Listed(coords, values[kept].ravel(), None if bounds is None else bounds[kept].ravel())
    return Factor((*rows, *columns), listed, size[kept].ravel(), np.repeat(terms[kept], width))
