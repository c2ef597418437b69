"""Results of which every value is an integer, whatever the data."""

from __future__ import annotations

from fuseloom.program.functions import FUNCTIONS, Integers, Op
from fuseloom.program.types import Program, Statement

_KEEP = frozenset(
    (
        *(op for op, row in FUNCTIONS.items() if row.integers is Integers.KEEPS),
        *(Op.MAX, Op.MAXIMUM, Op.SUM, Op.MUL, Op.ADD, Op.SUB),
        *(Op.CONCAT, Op.RESHAPE, Op.SCALE, Op.SHIFT, Op.AT_LEAST),
    )
)
"""Operations whose results are whole where operands and constant are: float32 rounds sums and
products of integers to integers."""


def integral_tensors(program: Program) -> frozenset[str]:
    """Return the tensors that hold integers only, or infinities and NaN.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> text = "x: 3 dense\\ny[i] = floor(x[i])\\nz[i] = 2 * y[i]\\nw[i] = 0.5 * y[i]"
    >>> sorted(integral_tensors(parse(text)))
    ['y', 'z']
    """
    found: set[str] = set()
    for statement in program.statements:
        if statement.op.steps or _keeps(statement, found):
            found.add(statement.out.tensor)
    return frozenset(found)


def _keeps(statement: Statement, found: set[str]) -> bool:
    constant = statement.constant
    return (
        statement.op in _KEEP
        and (constant is None or float(constant).is_integer())
        and all(access.tensor in found for access in statement.operands)
    )
