"""Which tensors have an element at every coordinate, whatever the data, and where it matters.

A summand behind its operand, ``v[i] + 1``, acts on the elements that there are.  One in front,
``1 - v[i]``, reads as a number at every coordinate, and is refused where elements may be absent.

A tensor that is computed may be stored dense where it is complete, level by level: a matrix product
has whole rows, even if it lacks some, where its second factor is dense.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from fuseloom.errors import ProgramError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.printer import declaration
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor


@dataclass(frozen=True)
class ElementPresence:
    """The presence of a tensor's elements, whatever the data.

    Attributes
    ----------
    free : frozenset of int
        Dimensions along which it has all elements or none: whether there is an element does not
        depend on the coordinate in these.
    whole : bool
        It has every element.  Not so where all dimensions are free, but there may be nothing.
    """

    free: frozenset[int]
    whole: bool


def presences(program: Program) -> dict[str, ElementPresence]:
    """Per tensor, where it has elements whatever the data.

    =================  ============================================================================
    tensor             free
    =================  ============================================================================
    an input           its dense levels, if all are dense; else those inside its last other level
    product, quotient  an index that is free in each operand that has it
    sum, difference,   the same; and, where an operand is whole, its indices: all of them with
                       ``broadcast_add dense``, else those that no index follows, in the output's
                       order, that no such operand has
    maximum of two
    concat             as a product; its own index if every operand is whole
    reshape            as an input, by the declared format; all, if the operand is whole
    other operations   as their operand
    =================  ============================================================================

    What is nonzero has none.  A product with tensors that only say where others are read, and leave
    no place out, is whole if the others are.  A reduction leaves free what was.  Whole is a tensor
    of which all operands are; of a sum, one is enough that has all indices, or several that have
    them together.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 4x5 csr\\nX: 5x3 dense\\nb: 3 dense\\n"
    ...                 "T[i,p] = A[i,k] * X[k,p]\\nZ[i,p] = T[i,p] + b[p]\\ns[p] = Z[i,p]")
    >>> found = presences(program)
    >>> {name: sorted(found[name].free) for name in found}
    {'A': [], 'X': [0, 1], 'b': [0], 'T': [1], 'Z': [1], 's': [0]}
    >>> [name for name in found if found[name].whole]
    ['X', 'b']
    """
    found = {name: _as_stored(program.tensor(name).format) for name in program.inputs}
    for statement in program.statements:
        found[statement.out.tensor] = presence_of(program, statement, found)
    return found


def _as_stored(fmt: Format) -> ElementPresence:
    """Return the presence that a format implies: a stored fiber of dense levels is whole."""
    free: set[int] = set()
    for level, dimension in zip(reversed(fmt.levels), reversed(fmt.mode_order), strict=True):
        if level is not LevelFormat.DENSE:
            break
        free.add(dimension)
    return ElementPresence(frozenset(free), len(free) == len(fmt.levels))


def presence_of(
    program: Program, s: Statement, found: Mapping[str, ElementPresence]
) -> ElementPresence:
    """The presence of a statement's result, by the table of :func:`presences`.

    Parameters
    ----------
    found : mapping
        Of each operand: whatever the data, or as some data have it.
    """
    if s.nonzero:
        return ElementPresence(frozenset(), False)
    out, indices = s.out.indices, {*s.indices}
    whole = [access for access in s.operands if found[access.tensor].whole]
    rest = [access for access in s.operands if not found[access.tensor].whole]
    everything = not rest or not out or (s.op is Op.MUL and _placed(program, s, rest))
    free = {x for x in indices if all(x in _free(a, found) for a in s.operands if x in a.indices)}
    match s.op:
        case Op.RESHAPE if not everything:
            return _as_stored(program.tensor(s.out.tensor).format)
        case Op.CONCAT:
            free.discard(s.axis or "")
        case Op.ADD | Op.SUB | Op.MAXIMUM if program.broadcast_add is BroadcastAdd.DENSE:
            everything = everything or bool(whole)
        case (
            Op.ADD | Op.SUB | Op.MAXIMUM
        ):  # an index is walked where an operand that has it is there
            given = {x for access in whole for x in access.indices}
            inner = takewhile(given.__contains__, reversed((*out, *s.reduced)))
            free |= {*inner}
            everything = everything or given == indices
    if everything:
        free |= {*out}
    return ElementPresence(frozenset(k for k, x in enumerate(out) if x in free), everything)


def _placed(program: Program, s: Statement, relations: list[Access]) -> bool:
    """Return whether these factors only relate indices, and every place has a coordinate.

    Then each of them has one coordinate of an index of its own, over which the product sums.
    """
    own: set[str] = set()
    for access in relations:
        tensor = program.tensor(access.tensor)
        if tensor.made is None or not tensor.made.total(tensor.shape):
            return False
        target = access.indices[tensor.made.target]
        if target in s.out.indices or target in own:
            return False
        own.add(target)
    others = {
        x
        for access in relations
        for k, x in enumerate(access.indices)
        if k != getattr(program.tensor(access.tensor).made, "target", None)
    }
    return not own & others


def _free(access: Access, found: Mapping[str, ElementPresence]) -> set[str]:
    return {access.indices[k] for k in found[access.tensor].free}


def complete_tensors(program: Program) -> frozenset[str]:
    """Tensors with an element at every coordinate.

    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 4x4 csr\\nb: 4 dense\\ny[i] = A[i,j] * b[j]\\nz[i] = y[i] + b[i]")
    >>> sorted(complete_tensors(program))
    ['b', 'z']
    """
    return frozenset(name for name, presence in presences(program).items() if presence.whole)


def complete_levels(tensor: Tensor, presence: ElementPresence) -> tuple[bool, ...]:
    """Which levels of a tensor have every coordinate below each position outside them.

    In storage order.  All, if it is whole; else those of free dimensions but the outermost level,
    which may have none.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 4x5 csr\\nX: 5x3 dense\\nT[i,p] = A[i,k] * X[k,p]")
    >>> complete_levels(program.tensor("T"), presences(program)["T"])
    (False, True)
    """
    order, free = tensor.format.mode_order, presence.free
    return tuple(
        presence.whole or (level > 0 and dimension in free) for level, dimension in enumerate(order)
    )


def check_everywhere(
    program: Program, number: int, place: SourcePlace, complete: frozenset[str]
) -> None:
    """Refuse a constant in front of an operand that may lack elements.

    Parameters
    ----------
    number : int
        Of the statement that adds the constant.
    place : SourcePlace
        Of the constant.
    complete : frozenset of str
        The program's :func:`complete_tensors`.

    Raises
    ------
    ProgramError
        Naming the operand, and why elements may be absent.
    """
    statement = program.statements[number]
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
    operand, behind = str(shown), f"{shown} + {constant}"
    source = program.producers.get(shown.tensor)
    if source is not None and source.line is not None and source.line == statement.line:
        operand = behind = "..."  # a part of the line, which has no name in it
        behind += f" + {constant}"
    if sign == "-":
        behind = f"-{behind}"
    tensor = program.tensor(shown.tensor)
    plain = Format.dense(tensor.rank)
    blocks = replace(plain, block=tensor.format.block, blocked=tensor.format.blocked)
    declared = declaration(Tensor(ones, tensor.shape, blocks))
    raise ProgramError(
        f"'{constant} {sign} {operand}' is a number at every coordinate, but "
        f"{why_incomplete(program, shown.tensor, complete)}",
        hint=f"take the number from a tensor ('{declared}', {ones}[{indices}] {sign} {operand}), "
        f"or write {behind} for the elements that there are",
        line=place[0],
        column=place[1],
    )


def why_incomplete(program: Program, name: str, complete: frozenset[str]) -> str:
    """Why a tensor that is not among the complete ones may lack elements: what it is made of."""
    while name in program.producers:
        statement = program.producers[name]
        if statement.nonzero:
            return f"{name} has only elements that are not zero"
        name = next(a.tensor for a in statement.operands if a.tensor not in complete)
    levels = [level.value for level in program.tensor(name).format.levels]
    return f"{name} is stored sparse ({', '.join(levels)}) and may lack elements"


def dense_refusal(s: Statement, whole: Container[str], mode: BroadcastAdd) -> str | None:
    """Return why a statement differs where an operand's element is absent and where it is 0.

    Parameters
    ----------
    whole : container of str
        Names of the tensors that have every element.
    mode : BroadcastAdd
        That of the program.

    Returns
    -------
    str or None
        None if dense arrays, whose absent elements are zeros, give the same result.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("A: 4x5 csr\\ne[i,j] = exp(A[i,j])")
    >>> dense_refusal(program.statements[0], (), program.broadcast_add)
    'exp is applied to those elements that A has'
    """
    absent = [x for x in s.operands if x.tensor not in whole]
    if not absent:
        return None
    name = absent[0].tensor
    match s.op:
        case Op.MUL | Op.SUM | Op.SCALE | Op.CONCAT | Op.RESHAPE:
            return None
        case Op.MAX | Op.MAXIMUM:
            return f"a maximum skips elements that {name} lacks"
        case Op.DIV:
            last = s.operands[1].tensor
            return None if last in whole else f"it divides by {last}, which may lack elements"
        case Op.ADD | Op.SUB:
            every = {*s.indices}
            if mode is BroadcastAdd.DENSE or all({*x.indices} == every for x in s.operands):
                return None
            if any({*x.indices} == every for x in s.operands if x.tensor in whole):
                return None
            return f"it has elements only where {name} has, which may lack some"
        case Op.SHIFT if s.constant:
            return f"it adds a number to those elements that {name} has"
        case Op.AT_LEAST if (s.constant or 0.0) > 0:
            return f"it raises those elements that {name} has"
        case Op.SHIFT | Op.AT_LEAST:
            return None
        case _ if s.op.keeps_zero:
            return None
        case _:
            return f"{FUNCTIONS[s.op].name} is applied to those elements that {name} has"
