"""The order in which statements are carried out: any in which each comes after what it reads.

A region is a run of neighbouring statements.  In a program that branches there are orders in which
statements are neighbours that are not so in the program::

    T[i,j] = A[i,k] * B[k,j]                T[i,j] = A[i,k] * B[k,j]
    U[i,j] = A[i,k] * C[k,j]                V[i,j] = relu(T[i,j])
    V[i,j] = relu(T[i,j])                   U[i,j] = A[i,k] * C[k,j]
    Y[i,j] = U[i,j] + V[i,j]                Y[i,j] = U[i,j] + V[i,j]

Under ``sequence V, U`` the program on the left is carried out as the one on the right, so that
``fuse T..V`` fuses T and V, and U is another region.  What a program means does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuseloom.dataflow.fusion.directives import Sequenced, blamed
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import ScheduleError
from fuseloom.program.formats import suggestion
from fuseloom.program.types import Program

SHOWN = 12
"""Statements of a sequence that an error names."""


def sequenced(program: Program, schedule: Schedule) -> Program:
    """The program with its statements in the order that a schedule has for them.

    The statements that ``sequence`` names take each other's places; those that no output needs
    come last, as nothing else reads them.

    Raises
    ------
    ScheduleError
        If there is no such statement, or one would come before another that it reads.
    """
    for wanted in schedule.of(Sequenced):
        with blamed(wanted):
            return _sequenced(program, wanted)
    return program


def _sequenced(program: Program, wanted: Sequenced) -> Program:
    live, told = program.live, _told(wanted)
    place = {s.out.tensor: k for k, s in enumerate(live)}
    for name in wanted.tensors:
        if name not in place:
            raise ScheduleError(
                f"'{told}': {_absent(program, name)}", hint=suggestion(name, list(place))
            )
    places = sorted(place[name] for name in wanted.tensors)
    order = list(live)
    for at, name in zip(places, wanted.tensors, strict=True):
        order[at] = live[place[name]]
    now = {s.out.tensor: k for k, s in enumerate(order)}
    for statement in order:
        reader = statement.out.tensor
        for access in statement.operands:
            if now.get(access.tensor, -1) > now[reader]:
                raise ScheduleError(
                    f"'{told}': {reader} would come before {access.tensor}, which it reads",
                    hint=f"name {reader} after {access.tensor} in the sequence",
                )
    if order == list(live):
        return program
    dead = [s for s in program.statements if s.out.tensor not in place]
    return replace(program, statements=(*order, *dead))


def _told(wanted: Sequenced) -> str:
    """Its text, or how that begins."""
    more = ", ..." if len(wanted.tensors) > SHOWN else ""
    return f"{Sequenced(wanted.tensors[:SHOWN])}{more}"


def _absent(program: Program, name: str) -> str:
    if name in program.producers:
        return f"{name} is not carried out, as no output of the program needs it"
    if name in program.inputs:
        return f"{name} is an input, which no statement assigns"
    return f"no statement assigns {name}"


def sequence_to(program: Program, order: Sequence[str]) -> Sequenced | None:
    """The shortest ``sequence`` under which a program is carried out in an order; None if it is so.

    Parameters
    ----------
    order : sequence of str
        What its live statements assign, each once.

    Examples
    --------
    >>> from fuseloom.program import parse
    >>> program = parse("A: 2x2 csr\\nT[i,j] = relu(A[i,j])\\nU[i,j] = exp(A[i,j])\\noutput T, U")
    >>> str(sequence_to(program, ["U", "T"]))
    'sequence U, T'
    """
    moved = [name for s, name in zip(program.live, order, strict=True) if s.out.tensor != name]
    return Sequenced(tuple(moved)) if moved else None
