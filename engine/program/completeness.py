"""Which tensors have an element at every coordinate, whatever the data, and where it matters.

A summand behind its operand, ``v[i] + 1``, acts on the elements that there are.  One in front,
``1 - v[i]``, reads as a number at every coordinate, and is refused where elements may be absent.
"""

from __future__ import annotations

from engine.errors import ProgramError
from engine.program.formats import LevelFormat
from engine.program.syntax import Place
from engine.program.types import BroadcastAdd, Op, Program, Statement


def complete_tensors(program: Program) -> frozenset[str]:
    """Tensors with an element at every coordinate.

    >>> from engine.program.parser import parse
    >>> program = parse("A: 4x4 csr\\nb: 4 dense\\ny[i] = A[i,j] * b[j]\\nz[i] = y[i] + b[i]")
    >>> sorted(complete_tensors(program))
    ['b', 'z']
    """
    found = {name for name in program.inputs if _dense(program, name)}
    for statement in program.statements:
        if _completes(program, statement, found):
            found.add(statement.out.tensor)
    return frozenset(found)


def _dense(program: Program, name: str) -> bool:
    return all(level is LevelFormat.DENSE for level in program.tensor(name).format.levels)


def _completes(program: Program, s: Statement, complete: set[str]) -> bool:
    """Whether a statement gives an element at every coordinate."""
    there = [access for access in s.operands if access.tensor in complete]
    if not s.out.indices or len(there) == len(s.operands):
        return True
    match s.op:
        case Op.RESHAPE:
            return _dense(program, s.out.tensor)
        case Op.ADD | Op.SUB if program.broadcast_add is BroadcastAdd.DENSE:
            return bool(there)
        case Op.ADD | Op.SUB:  # an index is walked where an operand that has it is there
            return {x for access in there for x in access.indices} == set(s.indices)
    return False


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
        f"{_why(program, shown.tensor, complete)}",
        hint=f"take the number from a tensor ('{ones}: {sizes} dense', {ones}[{indices}] {sign} "
        f"{shown}), or write {behind} for the elements that there are",
        line=place[0],
        column=place[1],
    )


def _why(program: Program, name: str, complete: frozenset[str]) -> str:
    """Why a tensor may lack elements: the sparse input behind it."""
    while name in program.producers:
        statement = program.producers[name]
        name = next(a.tensor for a in statement.operands if a.tensor not in complete)
    levels = [level.value for level in program.tensor(name).format.levels]
    return f"{name} is stored sparse ({', '.join(levels)}) and may lack elements"
