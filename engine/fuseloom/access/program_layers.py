"""The dense products of a program as terms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from fuseloom.access.kernels import apply, dot_products, grouped_products
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.meaning import random_data
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term, tensor
from fuseloom.errors import ProgramError
from fuseloom.program import Access, LevelFormat, Op, Program, Statement


def layers_of_program(
    program: Program, seed: int = 0
) -> tuple[tuple[Layer, ...], tuple[OtherCall, ...]]:
    """The products of two dense tensors, each with random data of its own.

    A result counts as dense if all that it is made of is.

    Parameters
    ----------
    seed : int
        Of the random data.

    Returns
    -------
    tuple of Layer
        In order of the statements.
    tuple of OtherCall
        The other statements, each with its reason.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 dense\\nB: 4x5 dense\\nC[i,j] = A[i,k] * B[k,j]")
    >>> layers, others = layers_of_program(program)
    >>> layers[0].name, layers[0].result.shape
    ('C', (8, 5))
    """
    layers: list[Layer] = []
    others: list[OtherCall] = []
    dense = {
        name
        for name in program.inputs
        if all(level is LevelFormat.DENSE for level in program.tensor(name).format.levels)
    }
    for statement, extents in zip(program.statements, _extents(program), strict=True):
        name = statement.out.tensor
        if all(operand.tensor in dense for operand in statement.operands):
            dense.add(name)
        try:
            term = product_term(statement, extents, dense, program)
        except ProgramError as error:
            others.append(OtherCall(name, error.message))
            continue
        data = random_data(term, seed)
        layers.append(Layer(name, term, data, _einsum(statement, data)))
    return tuple(layers), tuple(others)


def _extents(program: Program) -> list[dict[str, int]]:
    """Extents of the indices of each statement."""
    return [
        {
            index: extent
            for access in (statement.out, *statement.operands)
            for index, extent in zip(
                access.indices, program.tensor(access.tensor).shape, strict=True
            )
        }
        for statement in program.statements
    ]


def product_term(
    statement: Statement, extents: dict[str, int], dense: set[str], program: Program
) -> Term:
    """A product of two dense tensors as dot products.

    Indices of the result that both operands have number groups; indices that the result lacks are
    summed.

    Raises
    ------
    ProgramError
        Of a statement that is no such product, with the reason.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 dense\\nB: 4x5 dense\\nC[i,j] = A[i,k] * B[k,j]")
    >>> sizes = {"i": 8, "j": 5, "k": 4}
    >>> product_term(program.statements[0], sizes, {"A", "B"}, program).construct
    'transpose'
    """
    if statement.op is not Op.MUL or len(statement.operands) != 2 or statement.constant is not None:
        raise ProgramError("no product of two tensors: computed beside the array")
    left, right = statement.operands
    for operand in statement.operands:
        if program.tensor(operand.tensor).made is not None:
            raise ProgramError(f"{operand.tensor} says which elements of another are read")
        if operand.tensor not in dense:
            raise ProgramError(
                f"{operand.tensor} is sparse: the dataflow machine skips what an array multiplies"
            )
        if len(set(operand.indices)) != len(operand.indices):
            raise ProgramError(f"{operand.tensor} is read along a diagonal")
    out = statement.out.indices
    groups = [x for x in out if x in left.indices and x in right.indices]
    summed = [x for x in left.indices if x in right.indices and x not in out]
    rows = [x for x in left.indices if x not in right.indices and x in out]
    columns = [x for x in right.indices if x not in left.indices and x in out]
    if not summed:
        raise ProgramError("nothing is summed: computed beside the array")
    if len(groups) + len(rows) + len(columns) != len(out) or any(
        x not in out and x not in summed for x in (*left.indices, *right.indices)
    ):
        raise ProgramError("an operand is summed by itself first")
    same = left.tensor == right.tensor
    first = _pattern(left, "left" if same else left.tensor, groups, rows, summed, extents)
    second = _pattern(right, "right" if same else right.tensor, groups, columns, summed, extents)
    order = [*groups, *rows, *columns]
    product = grouped_products(first, second) if groups else dot_products(first, second)
    shaped = apply("reshape", product, AccessShape(_dims(order, extents), ()))
    return apply("transpose", shaped, tuple(order.index(x) for x in out))


def _dims(indices: Sequence[str], extents: dict[str, int]) -> Dims:
    return tuple(extents[x] for x in indices)


def _pattern(
    access: Access,
    name: str,
    groups: Sequence[str],
    own: Sequence[str],
    summed: Sequence[str],
    extents: dict[str, int],
) -> Term:
    """An operand that iterates over groups and its own indices, and computes on the summed ones."""
    order = [*groups, *own, *summed]
    split = apply("access", tensor(name, _dims(access.indices, extents)), len(groups) + len(own))
    term = apply("transpose", split, tuple(access.indices.index(x) for x in order))
    own_extent, group_extent = prod(_dims(own, extents)), prod(_dims(groups, extents))
    rows = (group_extent, own_extent) if groups else (own_extent,)
    return apply("reshape", term, AccessShape(rows, _dims(summed, extents)))


def _einsum(statement: Statement, data: dict[str, Any]) -> Any:
    left, right = statement.operands
    letters: dict[str, str] = {}
    words = [
        "".join(letters.setdefault(x, chr(97 + len(letters))) for x in access.indices)
        for access in (left, right, statement.out)
    ]
    names = ("left", "right") if left.tensor == right.tensor else (left.tensor, right.tensor)
    return np.einsum(f"{words[0]},{words[1]}->{words[2]}", *(data[name] for name in names))
