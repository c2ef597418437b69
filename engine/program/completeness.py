"""Which tensors have an element at every coordinate, whatever the data, and where it matters.

A summand behind its operand, ``v[i] + 1``, acts on the elements that there are.  One in front,
``1 - v[i]``, reads as a number at every coordinate, and is refused where elements may be absent.

A tensor that is computed may be stored dense where it is complete, level by level: a matrix product
has whole rows, even if it lacks some, where its second factor is dense.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import ProgramError
from engine.program.formats import Format, LevelFormat
from engine.program.syntax import Place
from engine.program.types import Access, BroadcastAdd, Op, Program, Statement

Free = Mapping[str, frozenset[int]]
"""Per tensor the dimensions that are free in it (see :func:`free_dimensions`)."""


def free_dimensions(program: Program) -> dict[str, frozenset[int]]:
    """Per tensor, the dimensions along which it has all elements or none, whatever the data.

    Whether there is an element at a coordinate does not depend on the coordinate's place in these
    dimensions.  Where all dimensions of a tensor are free it has every element.

    =================  ============================================================================
    an input           its dense levels, if all are dense; else those inside its last other level
    product, quotient  an index that is free in each operand that has it
    sum, difference    the same; and, where an operand has every element, its indices: all of them
                       (equal indices, or ``broadcast_add dense``), else those that no index of the
                       output's order follows that is in no such operand
    concat             as a product; its own index if every operand has every element
    reshape            as an input, by the declared format; all, if the operand has every element
    other operations   as their operand
    =================  ============================================================================

    A reduction leaves free what was.

    Examples
    --------
    >>> from engine.program.parser import parse
    >>> program = parse("A: 4x5 csr\\nX: 5x3 dense\\nb: 3 dense\\n"
    ...                 "T[i,p] = A[i,k] * X[k,p]\\nZ[i,p] = T[i,p] + b[p]")
    >>> {name: sorted(free) for name, free in free_dimensions(program).items()}
    {'A': [], 'X': [0, 1], 'b': [0], 'T': [1], 'Z': [1]}
    """
    found = {name: _free_as_stored(program.tensor(name).format) for name in program.inputs}
    for statement in program.statements:
        names = _free_indices(program, statement, found)
        indices = statement.out.indices
        found[statement.out.tensor] = frozenset(k for k, x in enumerate(indices) if x in names)
    return found


def _free_as_stored(fmt: Format) -> frozenset[int]:
    """What a format says: a stored fiber of dense levels is whole."""
    free: set[int] = set()
    for level, dimension in zip(reversed(fmt.levels), reversed(fmt.mode_order), strict=True):
        if level is not LevelFormat.DENSE:
            break
        free.add(dimension)
    return frozenset(free)


def _free_indices(program: Program, s: Statement, free: Free) -> set[str]:
    """Indices of a statement that are free in its result."""
    if s.op is Op.RESHAPE:
        if _whole(s.operands[0], free):
            return set(s.out.indices)
        stored = _free_as_stored(program.tensor(s.out.tensor).format)
        return {s.out.indices[k] for k in stored}
    everywhere = {
        x for x in s.indices if all(x in _free(a, free) for a in s.operands if x in a.indices)
    }
    whole = [access for access in s.operands if _whole(access, free)]
    match s.op:
        case Op.CONCAT if len(whole) < len(s.operands):
            everywhere.discard(s.axis or "")
        case Op.CONCAT:
            everywhere |= {*s.out.indices}
        case Op.ADD | Op.SUB if whole and program.broadcast_add is BroadcastAdd.DENSE:
            everywhere |= {*s.indices}
        case Op.ADD | Op.SUB:  # an index is walked where an operand that has it is there
            given = {x for access in whole for x in access.indices}
            for x in reversed((*s.out.indices, *s.reduced)):
                if x not in given:
                    break
                everywhere.add(x)
    return everywhere


def _free(access: Access, free: Free) -> set[str]:
    return {access.indices[k] for k in free[access.tensor]}


def _whole(access: Access, free: Free) -> bool:
    return len(free[access.tensor]) == len(access.indices)


def complete_tensors(program: Program) -> frozenset[str]:
    """Tensors with an element at every coordinate.

    >>> from engine.program.parser import parse
    >>> program = parse("A: 4x4 csr\\nb: 4 dense\\ny[i] = A[i,j] * b[j]\\nz[i] = y[i] + b[i]")
    >>> sorted(complete_tensors(program))
    ['b', 'z']
    """
    free = free_dimensions(program)
    return frozenset(name for name in free if len(free[name]) == program.tensor(name).rank)


def complete_levels(program: Program, name: str, known: Free | None = None) -> tuple[bool, ...]:
    """Which levels of a tensor have every coordinate below each position outside them.

    In storage order.  Where all dimensions are free all have, also if nothing is stored otherwise;
    else a level of a free dimension has, below one that is not: it has no fiber where there is no
    element at all.

    Parameters
    ----------
    known : mapping, optional
        What :func:`free_dimensions` gives, for those who ask for many tensors.

    Examples
    --------
    >>> from engine.program.parser import parse
    >>> program = parse("A: 4x5 csr\\nX: 5x3 dense\\nT[i,p] = A[i,k] * X[k,p]")
    >>> complete_levels(program, "T")
    (False, True)
    """
    order, free = program.tensor(name).format.mode_order, (known or free_dimensions(program))[name]
    if len(free) == len(order):
        return (True,) * len(order)
    return tuple(
        dimension in free and any(outer not in free for outer in order[:level])
        for level, dimension in enumerate(order)
    )


def check_everywhere(program: Program, number: int, place: Place) -> None:
    """Refuse a constant in front of an operand that may lack elements.

    Parameters
    ----------
    number : int
        Of the statement that adds the constant.
    place : Place
        Of the constant.

    Raises
    ------
    ProgramError
        Naming the operand, and why elements may be absent.
    """
    statement, complete = program.statements[number], complete_tensors(program)
    name = statement.operands[0].tensor
    if name in complete:
        return
    shown, sign = statement.operands[0], "+"
    made = program.producers.get(name)
    if made is not None and made.op is Op.SCALE and made.constant == -1.0:
        shown, sign = made.operands[0], "-"
    constant = f"{statement.constant:g}"
    ones = "ones" if "ones" not in program.by_name else "other"
    indices = ",".join(shown.indices)
    sizes = "x".join(str(program.sizes[statement.out.tensor][x]) for x in shown.indices)
    behind = f"{shown} + {constant}" if sign == "+" else f"-{shown} + {constant}"
    raise ProgramError(
        f"'{constant} {sign} {shown}' is a number at every coordinate, but "
        f"{why_incomplete(program, shown.tensor, complete)}",
        hint=f"take the number from a tensor ('{ones}: {sizes} dense', {ones}[{indices}] {sign} "
        f"{shown}), or write {behind} for the elements that there are",
        line=place[0],
        column=place[1],
    )


def why_incomplete(program: Program, name: str, complete: frozenset[str]) -> str:
    """Why a tensor that is not among the complete ones may lack elements: the sparse input."""
    while name in program.producers:
        statement = program.producers[name]
        name = next(a.tensor for a in statement.operands if a.tensor not in complete)
    levels = [level.value for level in program.tensor(name).format.levels]
    return f"{name} is stored sparse ({', '.join(levels)}) and may lack elements"
