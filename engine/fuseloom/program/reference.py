"""The meaning of a program, computed densely in float64 with numpy.

Every other level of the engine is tested against this one.  Products of a sparse input and a dense
matrix are computed by scipy.sparse, in float64 too.  Values are *masked*: an element is
present or absent, and operations act on stored elements only (``docs/spec/program.md`` §2).
Division by zero, logarithms of negative numbers and the like leave inf or nan behind, as on the
machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.arguments import check_arguments
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.inputs import check_data
from fuseloom.program.sparse_reference import (
    Evaluated,
    Masked,
    check_space,
    sparse_operand,
    sparse_product,
    spreads,
)
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


JOINED: Mapping[Op, Callable[[Floats, Floats], Floats]] = {
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MAXIMUM: np.maximum,
}


@check_arguments
def evaluate(program: Program, data: Mapping[str, Any]) -> Evaluated:
    """Every tensor of a program.

    Parameters
    ----------
    data : mapping
        Inputs as :func:`~fuseloom.program.inputs.check_data` takes them.

    Returns
    -------
    Evaluated
        Inputs, intermediates and outputs by name; ``values`` in float64.  Inputs that take part
        only in products of matrices stay sparse until they are asked for.

    Raises
    ------
    DataError
        Data that contradict the program, or an iteration space too large to hold densely.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 2x2 csr\\ne[i,j] = exp(A[i,j])")
    >>> evaluate(program, {"A": np.array([[0.0, 1.0], [0.0, 0.0]])})["e"].present
    array([[False,  True],
           [False, False]])
    """
    stored = check_data(program, data)
    needed = {name for s in program.statements for name in spreads(s, stored)}
    for tensor in program.tensors:
        if tensor.name not in stored or tensor.name in needed:
            check_space(f"tensor {tensor.name}", tensor.shape)
    known = Evaluated(stored)
    with np.errstate(all="ignore"):
        for statement, extents in zip(program.statements, program.extents, strict=True):
            result = _sparse(statement, known, stored)
            if result is None:
                operands = [known[a.tensor] for a in statement.operands]
                result = _statement(statement, operands, extents, program.broadcast_add)
            # A scalar is stored always: nothing to sum is 0, and so is the maximum of nothing.
            present = result.present if statement.out.indices else np.asarray(True)
            tensor = program.tensor(statement.out.tensor)
            if statement.nonzero:
                present = present & (result.values != 0)
            if not statement.op.fuses or (statement.nonzero and tensor.format.blocked):
                present = _stored(tensor, Masked(result.values, present))
            known[statement.out.tensor] = Masked(result.dense(), present)
    return known


def _sparse(s: Statement, known: Evaluated, stored: Mapping[str, StoredTensor]) -> Masked | None:
    """The product of a sparse input and a finite matrix; None if the statement is none."""
    operands = sparse_operand(s, stored)
    matrix = None if operands is None else known.matrix(operands[0].tensor)
    if operands is None or matrix is None:
        return None
    sparse, dense = operands
    operand = known[dense.tensor]
    if not np.isfinite(operand.values).all():
        return None
    return sparse_product(s, sparse, dense, matrix, operand)


def _stored(tensor: Tensor, m: Masked) -> Bools:
    """Which elements memory holds in a tensor's format: dense levels fill their fibers."""
    coords = np.argwhere(m.present)
    return StoredTensor.from_coo(tensor, coords, np.zeros(len(coords))).pattern()


def _statement(
    s: Statement, operands: list[Masked], extents: dict[str, int], broadcast_add: BroadcastAdd
) -> Masked:
    constant = s.constant if s.constant is not None else 0.0  # verified: given where used
    match s.op:
        case Op.MUL if all(np.isfinite(m.values).all() for m in operands):
            return _contract(s, operands)
        case Op.MUL | Op.DIV:
            return _intersection(s, operands, extents)
        case Op.CONCAT:
            return _concatenation(s, operands)
        case Op.RESHAPE:
            shape = tuple(extents[x] for x in s.out.indices)
            return Masked(operands[0].values.reshape(shape), operands[0].present.reshape(shape))
        case Op.ADD | Op.SUB | Op.MAXIMUM:
            return _union(s, operands, extents, broadcast_add)
        case Op.SUM | Op.MAX:
            return _reduced(s, _aligned(operands[0], s.operands[0], _space(s)), s.op)
        case Op.SCALE:
            values = operands[0].values * constant
        case Op.SHIFT:
            values = operands[0].values + constant
        case Op.AT_LEAST:
            values = np.maximum(operands[0].values, constant)
        case _:
            # An absent element must not reach the function: exp(0) is not 0.
            values = np.zeros_like(operands[0].values)
            present = operands[0].present
            values[present] = FUNCTIONS[s.op].exact(operands[0].values[present])
    return _aligned(Masked(values, operands[0].present), s.operands[0], _space(s))


def _space(s: Statement) -> tuple[str, ...]:
    """The output's indices, then the reduced ones in order of appearance."""
    return (*s.out.indices, *s.reduced)


def _aligned(m: Masked, access: Access, space: tuple[str, ...]) -> Masked:
    """``m`` with its axes in the order of ``space``, of length 1 where it lacks an index."""
    order = [access.indices.index(x) for x in space if x in access.indices]
    missing = tuple(n for n, x in enumerate(space) if x not in access.indices)
    return Masked(
        np.expand_dims(np.transpose(m.values, order), missing),
        np.expand_dims(np.transpose(m.present, order), missing),
    )


def _reduced(s: Statement, m: Masked, op: Op) -> Masked:
    """Reduce the trailing axes of an array over :func:`_space`."""
    axes = tuple(range(len(s.out.indices), len(s.out.indices) + len(s.reduced)))
    present = np.asarray(m.present.any(axis=axes))
    if op is Op.MAX:
        values = np.where(m.present, m.values, -np.inf).max(axis=axes)
    else:
        values = np.where(m.present, m.values, 0.0).sum(axis=axes)
    return Masked(np.asarray(values), present)


def _contract(s: Statement, operands: list[Masked]) -> Masked:
    """A sum of products by matrix multiplication; an output is present iff some product is."""
    axis = {x: n for n, x in enumerate(s.indices)}
    at = [[axis[x] for x in a.indices] for a in s.operands]
    out = [axis[x] for x in s.out.indices]

    def einsum(factors: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        pairs = [part for pair in zip(factors, at, strict=True) for part in pair]
        result: npt.NDArray[Any] = np.einsum(*pairs, out, optimize=True)
        return result

    values = einsum([m.dense() for m in operands])
    # Counts in float32 may be rounded but never become 0.
    counts = einsum([m.present.astype(np.float32) for m in operands])
    return Masked(np.asarray(values), np.asarray(counts > 0))


def _intersection(s: Statement, operands: list[Masked], extents: dict[str, int]) -> Masked:
    """Product or quotient, present where both operands are, then summed."""
    space = _space(s)
    check_space(f"the iteration space of {s.out}", tuple(extents[x] for x in space))
    first, *rest = (_aligned(m, a, space) for m, a in zip(operands, s.operands, strict=True))
    values, present = first.values, first.present
    for m in rest:
        values = values / m.values if s.op is Op.DIV else values * m.values
        present = present & m.present
    return _reduced(s, Masked(values, present), Op.SUM)


def _concatenation(s: Statement, operands: list[Masked]) -> Masked:
    """The operands one after another along the axis."""
    parts = [_aligned(m, a, s.out.indices) for m, a in zip(operands, s.operands, strict=True)]
    assert s.axis is not None
    along = s.out.indices.index(s.axis)
    return Masked(
        np.concatenate([m.values for m in parts], axis=along),
        np.concatenate([m.present for m in parts], axis=along),
    )


def _union(
    s: Statement, operands: list[Masked], extents: dict[str, int], broadcast_add: BroadcastAdd
) -> Masked:
    """A sum, difference or maximum where either operand is present, then summed."""
    space = _space(s)
    shape = tuple(extents[x] for x in space)
    check_space(f"the iteration space of {s.out}", shape)
    aligned = [_aligned(m, a, space) for m, a in zip(operands, s.operands, strict=True)]
    if broadcast_add is BroadcastAdd.DENSE:
        alive = [m.present for m in aligned]
        exists = alive[0] | alive[1]
    else:
        alive, exists = _co_iterate(space, s.operands, aligned)
    absent = -np.inf if s.op is Op.MAXIMUM else 0.0
    a, b = (np.where(live, m.values, absent) for live, m in zip(alive, aligned, strict=True))
    values = JOINED[s.op](a, b)
    return _reduced(
        s, Masked(np.broadcast_to(values, shape), np.broadcast_to(exists, shape)), Op.SUM
    )


def _co_iterate(
    space: tuple[str, ...], accesses: tuple[Access, ...], aligned: list[Masked]
) -> tuple[list[Bools], Bools]:
    """Walk the union level by level; which operands live at each point, and which points exist.

    An operand that has an index stays alive where its pattern, projected on the indices so far,
    has the coordinate; one that lacks the index stays as it was.  A coordinate exists where an
    alive operand that has the index has it, so an operand never adds rows it knows nothing of.
    With equal index sets this is the plain union.
    """
    # An operand of rank 0 is alive iff it is present; the others start alive.
    alive = [
        np.asarray(True) if access.indices else m.present
        for access, m in zip(accesses, aligned, strict=True)
    ]
    exists: Bools = np.asarray(True)
    for depth, index in enumerate(space):
        inner = tuple(range(depth + 1, len(space)))
        found: Bools = np.asarray(False)
        for k, access in enumerate(accesses):
            if index in access.indices:
                alive[k] = alive[k] & aligned[k].present.any(axis=inner, keepdims=True)
                found = found | alive[k]
        exists = exists & found
    return alive, exists
