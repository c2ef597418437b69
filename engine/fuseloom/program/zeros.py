"""Test whether removing the stored zeros of a tensor leaves every other value unchanged."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.program.completeness import presences
from fuseloom.program.functions import Op
from fuseloom.program.types import BroadcastAdd, Program, Statement

_LINEAR = (Op.MUL, Op.SUM, Op.SCALE, Op.CONCAT, Op.RESHAPE)
"""Operations of which a result is zero, or the same, without an operand's element that is zero."""


def zeros_are_absent(program: Program, name: str) -> bool:
    """Return whether leaving out the zeros of a tensor changes no value of the program.

    So it is unless something that is computed of it acts on the elements that there are: an
    exponential, a maximum, the addition of a constant or of a row.  What has an element everywhere
    even so is as it was.  Factors are taken as finite.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 3x3 csr\\nB[i,j] = relu(A[i,j])\\nx: 3 dense\\ny[i] = B[i,j] * x[j]")
    >>> zeros_are_absent(program, "B")
    True
    >>> zeros_are_absent(parse("A: 3x3 csr\\nB[i,j] = relu(A[i,j])\\nE[i,j] = exp(B[i,j])"), "B")
    False
    """
    changed = replace(program.producers[name], nonzero=True)
    statements = tuple(changed if s.out == changed.out else s for s in program.statements)
    found = presences(replace(program, statements=statements))
    reached = {name}
    for statement in program.statements:
        if any(access.tensor in reached for access in statement.operands):
            if not _keeps_zeros(program, statement):
                return False
            if not found[statement.out.tensor].whole:
                reached.add(statement.out.tensor)
    return True


def _keeps_zeros(program: Program, s: Statement) -> bool:
    if s.op in (Op.ADD, Op.SUB):  # what lacks an index is added to the rows that there are
        alike = len({frozenset(access.indices) for access in s.operands}) == 1
        return alike or program.broadcast_add is BroadcastAdd.DENSE
    return s.op in _LINEAR or s.op.keeps_zero
