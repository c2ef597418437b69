"""From :class:`~fuseloom.program.types.Program` to text that reads back to an equal program."""

from __future__ import annotations

from fuseloom.program.formats import Format, format_text
from fuseloom.program.functions import Op
from fuseloom.program.types import BroadcastAdd, Program, Statement, Tensor


def print_program(program: Program) -> str:
    """Text of a verified program; ``parse(print_program(p)) == p``.

    Only declarations that say something are printed: an intermediate whose shape and format
    follow from its statement has none.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> print(print_program(parse("A: 4x4 csr\\ny[i] = A[i,j]")), end="")
    program unnamed
    A: 4x4 csr
    y[i] = A[i,j]
    output y
    """
    lines = [f"program {program.name}"]
    lines += [declaration(tensor) for tensor in _declared(program)]
    if program.broadcast_add is not BroadcastAdd.SPARSE:
        lines.append(f"option broadcast_add {program.broadcast_add.value}")
    lines += [statement_text(statement) for statement in program.statements]
    lines.append("output " + ", ".join(program.outputs))
    return "\n".join(lines) + "\n"


def statement_text(statement: Statement) -> str:
    """One statement as the text language writes it."""
    right = _expression(statement)
    return f"{statement.out} = {f'nonzero({right})' if statement.nonzero else right}"


def _expression(s: Statement) -> str:
    first = s.operands[0]
    match s.op:
        case Op.MUL if len(s.operands) > 2:
            return f"product({', '.join(map(str, s.operands))})"
        case Op.CONCAT:
            return f"concat[{s.axis}]({', '.join(map(str, s.operands))})"
        case Op.MUL | Op.ADD | Op.SUB | Op.DIV:
            return f"{first} {s.op.value} {s.operands[1]}"
        case Op.SUM:
            return str(first)
        case Op.MAX:
            return f"max[{','.join(s.reduced)}] {first}"
        case Op.MAXIMUM:
            return f"max({first}, {s.operands[1]})"
        case Op.AT_LEAST:
            return f"max({first}, {s.constant!r})"
        case Op.SCALE:
            return f"{s.constant!r} * {first}"
        case Op.SHIFT if s.constant is not None and s.constant < 0:
            return f"{first} - {-s.constant!r}"
        case Op.SHIFT:
            return f"{first} + {s.constant!r}"
        case _:
            return f"{s.op.value}({first})"


def declaration(tensor: Tensor) -> str:
    """A tensor as the text language declares it."""
    if tensor.rank == 0:
        return f"{tensor.name}: scalar"
    stored = f"{'x'.join(map(str, tensor.shape))} {format_text(tensor.format)}"
    if tensor.made is None:
        return f"{tensor.name}: {stored}"
    names = tuple(f"d{k}" for k in range(tensor.rank))
    return f"{tensor.name}[{','.join(names)}]: {stored} where {tensor.made.text(names)}"


def _declared(program: Program) -> tuple[Tensor, ...]:
    """All but the longest tail that the parser infers by itself, in the same order."""
    assigned = [s.out.tensor for s in program.statements]
    start = len(program.tensors)
    later = len(assigned)
    for tensor in reversed(program.tensors):
        plain = Format(tensor.format.levels, tensor.format.mode_order)  # blocks are inferred
        if tensor.name not in assigned or plain != Format.compressed(tensor.rank):
            break
        position = assigned.index(tensor.name)
        if not program.statements[position].op.fuses:
            break  # the shape of a reshape follows from nothing
        if position >= later:
            break
        later = position
        start -= 1
    return program.tensors[:start]
