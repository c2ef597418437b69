"""Which indices of a region's statements are one, whatever the program calls them.

An index is carried from statement to statement by the tensors that the region computes: what the
producer writes along a dimension is what its readers iterate there.  Nothing else makes indices of
different statements one, so renaming those of a statement changes nothing (``docs/spec/fusion.md``
§2.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from fuseloom.program.types import Statement

Carriers = dict[str, dict[str, int]]
"""Per statement, by the tensor it assigns, a number for each of its indices."""


def carriers(statements: Iterable[Statement]) -> Carriers:
    """Number the indices of a region's statements; equal numbers for what one tensor carries.

    Where two operands bring different numbers for one index, the first has its way; where one
    number is brought for two indices, the first has it.  Along the axis of a concat an operand is
    only a part, so nothing is carried there.

    Examples
    --------
    >>> from fuseloom.program import parse
    >>> text = "A: 4x3 dcsr\\nB: 3x4 dcsr\\nC[i,j] = A[i,k] * B[k,j]\\nD[a,b] = exp(C[a,b])"
    >>> carriers(parse(text).statements)
    {'C': {'i': 0, 'k': 1, 'j': 2}, 'D': {'a': 0, 'b': 2}}
    """
    fresh = count()
    written: dict[str, tuple[int, ...]] = {}
    found: Carriers = {}
    for statement in statements:
        number: dict[str, int] = {}
        for access in statement.operands:
            for x, known in zip(access.indices, written.get(access.tensor, ()), strict=False):
                if x != statement.axis and x not in number and known not in number.values():
                    number[x] = known
        mine = {x: number[x] if x in number else next(fresh) for x in statement.indices}
        found[statement.out.tensor] = mine
        written[statement.out.tensor] = tuple(mine[x] for x in statement.out.indices)
    return found
