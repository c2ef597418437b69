"""Sums that repeat an operand over an outer index, and what they need to be built.

In ``T[i,j,k] + B[j,k]`` the operand ``B`` brings rows ``j`` in which ``T`` may store nothing.  A
sparse sum cannot tell those from rows that ``T`` lacks altogether, unless ``T`` is stored dense.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fuseloom.program.completeness import complete_tensors
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.types import BroadcastAdd, Program, Statement


def settled(
    program: Program, orders: Iterable[Sequence[str]], stated: bool
) -> tuple[Program, tuple[str, ...]]:
    """A program whose sums can be built as they stand, and what there is to say of it.

    Intermediates that have every element are stored dense where such a sum reads them.  If another
    operand may lack elements, sums act everywhere, as in MLIR they do.

    Parameters
    ----------
    orders : iterable of sequence of str
        The indices of each statement, outermost first.
    stated : bool
        Whether the text says what such sums mean: then they mean that.
    """
    if program.broadcast_add is not BroadcastAdd.SPARSE:
        return program, ()
    pairs = zip(program.statements, orders, strict=True)
    wide = {x for statement, order in pairs for x in _repeated_into(statement, order)}
    wide = {x for x in wide if not program.tensor(x).format.all_dense}
    if not wide:
        return program, ()
    whole = complete_tensors(program)
    if stated:
        wide &= whole
    if not wide <= whole:
        names = ", ".join(sorted(wide - whole)[:3])
        note = (
            f"broadcast sums act everywhere, as rows of {names} may hold nothing: "
            "the program has broadcast_add dense"
        )
        return replace(program, broadcast_add=BroadcastAdd.DENSE), (note,)
    tensors = tuple(
        replace(t, format=Format((LevelFormat.DENSE,) * t.rank, t.format.mode_order))
        if t.name in wide
        else t
        for t in program.tensors
    )
    return replace(program, tensors=tensors), ()


def _repeated_into(statement: Statement, order: Sequence[str]) -> set[str]:
    """Operands with every index, where another lacks one, and has a later one before the last."""
    if not statement.op.joins_by_union:
        return set()
    short = False
    for operand in statement.operands:
        lacked = [k for k, x in enumerate(order) if x not in operand.indices]
        if lacked and any(x in operand.indices for x in order[lacked[0] + 1 : -1]):
            short = True
    if not short:
        return set()
    return {o.tensor for o in statement.operands if set(o.indices) >= set(order)}
