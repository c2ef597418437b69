"""The shape and the value of a term: what every rewriting must keep."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.access.constructs import CONSTRUCTS, ShapeError
from fuseloom.access.constructs.construct import Array
from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import TENSOR, Path, Term, subterms, tensors
from fuseloom.errors import DataError
from fuseloom.wording import counted

MOST_BYTES = 2**32
"""The most memory that evaluating one construct may take."""


def shapes_of(term: Term) -> Mapping[Term, AccessShape]:
    """The shape of every part of a term.

    Raises
    ------
    ShapeError
        If operands do not fit their construct; ``path`` leads to that part.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> term = matmul(4, 3, 2)
    >>> print(shapes_of(term)[term])
    ((4, 2), ())
    """
    found: dict[Term, AccessShape] = {}
    extents: dict[Any, Any] = {}
    for part in subterms(term):
        construct = CONSTRUCTS.get(part.construct)
        try:
            if construct is None:
                raise ShapeError(f"{part.construct} is no construct")
            shape = construct.shape([found[x] for x in part.operands], part.attributes)
            if part.construct == TENSOR and extents.setdefault(*part.attributes) != shape.compute:
                raise ShapeError(f"tensor {part.attributes[0]} has two shapes")
        except ShapeError as error:
            error.path = path_to(term, part)
            raise
        found[part] = shape
    return found


def shape_of(term: Term) -> AccessShape:
    """The shape of a term.

    Raises
    ------
    ShapeError
        If operands do not fit their construct.

    Examples
    --------
    >>> from fuseloom.access.terms import Term, tensor
    >>> print(shape_of(Term("access", (1,), (tensor("A", (3, 4)),))))
    ((3), (4))
    """
    return shapes_of(term)[term]


def path_to(term: Term, part: Term) -> Path:
    """The way to the first occurrence of a part of a term.

    Examples
    --------
    >>> from fuseloom.access.terms import Term, tensor
    >>> a, b = tensor("A", (3,)), tensor("B", (3,))
    >>> path_to(Term("pair", (), (a, b)), b)
    (1,)
    """
    ways: dict[Term, Path] = {term: ()}
    queue = [term]
    for above in queue:
        if above == part:
            break
        for number, operand in enumerate(above.operands):
            if operand not in ways:
                ways[operand] = (*ways[above], number)
                queue.append(operand)
    return ways[part]


def evaluate(term: Term, data: Mapping[str, npt.ArrayLike]) -> Array:
    """The value of a term.

    Parameters
    ----------
    data : mapping
        Per tensor an array of its extents, of floats or of integers.

    Returns
    -------
    array of float64
        Its dimensions are the access and the compute dimensions.

    Raises
    ------
    ShapeError
        If operands do not fit their construct.
    DataError
        If an array is missing, of other extents or of no real numbers, or a step needs too much
        memory.

    Notes
    -----
    The operands of a dot product are multiplied as matrices, without their Cartesian product,
    which would hold every operand as often as the other has positions.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> evaluate(matmul(2, 2, 1), {"activations": [[1, 2], [3, 4]], "weights": [[1], [1]]})
    array([[3.],
           [7.]])
    """
    shapes = shapes_of(term)
    given = read_data(tensors(term), data)
    uses = _uses(term)
    values: dict[Term, Array] = {}

    def operand_values(part: Term) -> list[Array]:
        found = [values[x] for x in part.operands]
        for operand in part.operands:
            uses[operand] -= 1
            if not uses[operand]:
                del values[operand]
        return found

    for part in subterms(term, _evaluated):
        if part.construct == TENSOR:
            values[part] = given[str(part.attributes[0])]
            continue
        require_room(part.construct, shapes[part].elements)
        inner = _product_within(part)
        if inner is not None:
            left, right = (shapes[x] for x in inner.operands)
            first, second = operand_values(inner)
            values[part] = _dot_product(first, second, left, right, inner.construct)
            continue
        construct = CONSTRUCTS[part.construct]
        operand_shapes = [shapes[x] for x in part.operands]
        values[part] = construct.meaning(operand_values(part), operand_shapes, part.attributes)
    return np.ascontiguousarray(values[term]).reshape(shapes[term].dims)


def require_room(what: str, elements: int) -> None:
    """Refuse arrays that would take too much memory.

    Raises
    ------
    DataError
        If so many elements are more than 4 GiB.

    Examples
    --------
    >>> require_room("a buffer", 1_000)
    """
    if elements * 8 > MOST_BYTES:
        raise DataError(
            f"{what} would hold {counted(elements * 8, 'byte')}, more than the {MOST_BYTES:,} that "
            "are used",
            hint="use smaller extents",
        )


def random_data(term: Term, seed: int = 0) -> dict[str, Array]:
    """Normally distributed arrays for the tensors of a term.

    Raises
    ------
    DataError
        If one would take too much memory.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> {name: array.shape for name, array in random_data(matmul(4, 3, 2)).items()}
    {'activations': (4, 3), 'weights': (3, 2)}
    """
    random = np.random.default_rng(seed)
    extents = tensors(term)
    for name, dims in extents.items():
        require_room(f"tensor {name}", prod(dims))
    return {name: random.standard_normal(dims) for name, dims in extents.items()}


def _product_within(part: Term) -> Term | None:
    """The pairing whose tuples a part multiplies and sums; None of other parts."""
    if part.construct == "compute" and part.attributes == (DOT_PRODUCT,):
        inner = part.operands[0]
        if inner.construct in ("cartProd", "pair"):
            return inner
    return None


def _evaluated(part: Term) -> tuple[Term, ...]:
    """The operands whose values a part is computed of: those of a pairing within a dot product."""
    return (_product_within(part) or part).operands


def _uses(term: Term) -> dict[Term, int]:
    uses: dict[Term, int] = {term: 1}
    for part in subterms(term, _evaluated):
        for operand in _evaluated(part):
            uses[operand] = uses.get(operand, 0) + 1
    return uses


def _dot_product(
    first: Array, second: Array, left: AccessShape, right: AccessShape, pairing: str
) -> Array:
    if pairing == "pair":
        axes = tuple(range(len(left.access), first.ndim))
        return np.asarray((first * second).sum(axis=axes))
    count = int(np.prod(left.compute, dtype=np.int64))
    product = first.reshape(-1, count) @ second.reshape(-1, count).T
    return product.reshape((*left.access, *right.access))


def read_data(
    extents: Mapping[str, tuple[int, ...]], data: Mapping[str, npt.ArrayLike]
) -> dict[str, Array]:
    """Arrays of float64, as the tensors' declarations want them.

    Raises
    ------
    DataError
        If an array is missing, of other extents, or does not hold real numbers that float64 holds.

    Examples
    --------
    >>> read_data({"A": (2,)}, {"A": [1, 2]})
    {'A': array([1., 2.])}
    """
    read: dict[str, Array] = {}
    for name, dims in extents.items():
        if name not in data:
            raise DataError(f"tensor {name} is not given", hint=f"give an array of shape {dims}")
        array = np.asarray(data[name])
        if array.shape != dims:
            raise DataError(
                f"tensor {name} has shape {dims}, the array that is given {array.shape}"
            )
        if array.dtype.kind not in "fiu":
            raise DataError(
                f"tensor {name} holds {array.dtype}, which are no real numbers",
                hint="give floats or integers",
            )
        if array.dtype.kind in "iu" and not _is_exact(array):
            raise DataError(f"tensor {name} holds integers that float64 would round")
        read[name] = array.astype(np.float64)
    return read


def _is_exact(array: npt.NDArray[Any]) -> bool:
    """Whether float64 holds each of these integers."""
    return array.size == 0 or max(abs(int(array.min())), abs(int(array.max()))) <= 2**53
