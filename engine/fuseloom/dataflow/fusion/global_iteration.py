"""Global iteration: the baseline that the published predecessors of fusion use.

Custard and Stardust compile one tensor-algebra expression at a time over a single nest of all
its indices.  The same region is brought to that form by merging every chain of products into one
product of many factors; whatever is not multilinear ends an expression, and what it computes goes
through memory.  Rules: ``docs/spec/fusion.md`` §4.
"""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.fusion.directives import Span, Store
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import ScheduleError
from fuseloom.program.functions import Op
from fuseloom.program.primes import unused
from fuseloom.program.types import Access, Program, Statement


def merge_products(
    program: Program, schedule: Schedule, region: Span | None
) -> tuple[Program, Schedule]:
    """Rewrite statements to global iteration and leave them unfused.

    Before::

        T[i,j] = A[i,k] * B[k,j]          # read by D alone
        D[i,l] = T[i,j] * C[j,l]

    After::

        D[i,l] = product(A[i,k], B[k,j], C[j,l])

    Parameters
    ----------
    region : Span or None
        Which statements; None for all.  Fusions, orders and settings of these statements are
        left out, because their regions are no more.

    Raises
    ------
    ScheduleError
        If the region names no statements, or runs backwards.
    """
    live = [s.out.tensor for s in program.live]
    first, last = (live[0], live[-1]) if region is None else (region.first, region.last)
    for name in (first, last):
        if name not in live:
            raise ScheduleError(
                f"'global {first}..{last}': no statement that is needed assigns {name}",
                hint=f"statements assign: {', '.join(live)}",
            )
    if live.index(first) > live.index(last):
        raise ScheduleError(
            f"'global {first}..{last}' runs backwards", hint=f"write global {last}..{first}"
        )
    span = set(live[live.index(first) : live.index(last) + 1])
    merged: dict[str, Statement] = {}
    gone: set[str] = set()
    readers = dict.fromkeys(span, 0)
    for statement in program.statements:
        for access in statement.operands:
            if access.tensor in readers:
                readers[access.tensor] += 1
    for statement in program.statements:
        name = statement.out.tensor
        if name not in span or not _multilinear(statement):
            continue
        operands: list[Access] = []
        taken = set(statement.indices)
        for access in statement.operands:
            inner = merged.get(access.tensor)
            # A scalar is there even if nothing was summed, a product with no factor is not.
            if (
                inner is None
                or not inner.out.indices
                or inner.nonzero
                or readers[access.tensor] > 1
                or access.tensor in program.outputs
            ):
                operands.append(access)
                continue
            operands += _renamed(inner, access, taken)
            gone.add(access.tensor)
        op = Op.MUL if len(operands) > 1 else Op.SUM
        merged[name] = replace(statement, op=op, operands=tuple(operands))
    statements = tuple(
        merged.get(s.out.tensor, s) for s in program.statements if s.out.tensor not in gone
    )
    tensors = tuple(t for t in program.tensors if t.name not in gone)
    kept = replace(program, tensors=tensors, statements=statements)
    return kept, _without(schedule, span, gone)


def _multilinear(statement: Statement) -> bool:
    """Products and sums over indices; everything else ends an expression."""
    return statement.op in (Op.MUL, Op.SUM)


def _renamed(inner: Statement, access: Access, taken: set[str]) -> list[Access]:
    """The factors of an operand in the indices of its reader; its own reductions are fresh."""
    rename = dict(zip(inner.out.indices, access.indices, strict=True))
    for x in inner.reduced:
        fresh = unused(x, taken)
        taken.add(fresh)
        rename[x] = fresh
    return [Access(a.tensor, tuple(rename[x] for x in a.indices)) for a in inner.operands]


def _without(schedule: Schedule, span: set[str], gone: set[str]) -> Schedule:
    """The schedule less what speaks of fused regions of the span, or of statements gone."""

    def outside(*names: str | None) -> bool:
        return not any(name in span for name in names)

    settings = []
    for setting in schedule.settings:
        region = getattr(setting, "region", None)
        names = (getattr(setting, "tensor", None),) if region is None else (region.first,)
        # What is left of the statements is stored as before.
        if setting.tensor not in gone if isinstance(setting, Store) else outside(*names):
            settings.append(setting)
    return Schedule(
        tuple(f for f in schedule.fusions if outside(f.first, f.last)),
        tuple(
            o
            for o in schedule.orders
            if (o.first not in gone if o.last is None else outside(o.first, o.last))
        ),
        tuple(settings),
    )
