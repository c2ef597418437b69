"""Directives that change the program itself, applied before anything is fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fuseloom.dataflow.fusion.directives import Block, Global, Nonzero, Sequenced, Store, blamed
from fuseloom.dataflow.fusion.global_iteration import merge_products
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.sequence import sequenced
from fuseloom.errors import ScheduleError
from fuseloom.program import block_program
from fuseloom.program.completeness import ElementPresence, presences
from fuseloom.program.dense_levels import dense_problem, densest, intermediates, with_levels
from fuseloom.program.formats import Format, LevelFormat, suggestion
from fuseloom.program.types import Program, Tensor
from fuseloom.program.zeros import zeros_are_absent
from fuseloom.wording import counted

CHANGES = (Block, Global, Sequenced, Nonzero)
"""Directives of which nothing is left once the program is changed."""


def prepare(program: Program, schedule: Schedule) -> tuple[Program, Schedule]:
    """The program that a schedule makes of another one, and what is left of the schedule.

    ``sequence`` comes first, so that the spans of all that follows are of that order; then
    ``nonzero``, ``block``, ``global`` and ``store``.

    Raises
    ------
    ScheduleError, ProgramError
        If a directive does not fit the program.
    """
    program = sequenced(program, schedule)
    for dropped in schedule.of(Nonzero):
        with blamed(dropped):
            program = without_zeros(program, dropped)
    for block in schedule.of(Block):
        with blamed(block):
            program = block_program(program, block.edge)
    for wanted in schedule.of(Global):
        with blamed(wanted):
            program, schedule = merge_products(program, schedule, wanted.region)
    if stores := schedule.of(Store):
        program = stored(program, sorted(stores, key=lambda s: s.tensor is not None))
    rest = tuple(s for s in schedule.settings if not isinstance(s, CHANGES))
    return program, replace(schedule, settings=rest)


def without_zeros(program: Program, wanted: Nonzero) -> Program:
    """The program with the zeros of a result left out.

    Raises
    ------
    ScheduleError
        If there is no such result, or another value would change.
    """
    name = wanted.tensor
    statement = program.producers.get(name)
    problem, hint = "", ""
    if statement is None:
        given = name in program.inputs
        problem = f"{name} is an input" if given else f"no statement assigns {name}"
        hint = suggestion(name, list(program.producers))
    elif not statement.out.indices or not statement.op.fuses:
        problem = f"{name} is a {'reshape' if statement.out.indices else 'scalar'}"
        hint = "which is stored with its zeros"
    elif not zeros_are_absent(program, name):
        problem = "what is computed of it takes its zeros for elements"
        hint = f"write nonzero(...) in the program if {name} is to have none all the same"
    else:
        levels = dict.fromkeys(program.tensor(name).format.levels)
        if set(levels) != {LevelFormat.COMPRESSED}:
            problem, hint = f"{name} is declared dense", "leave the declaration out"
    if problem or statement is None:
        raise ScheduleError(f"'{wanted}': {problem}", hint=hint)
    changed = replace(statement, nonzero=True)
    statements = tuple(changed if s is statement else s for s in program.statements)
    return replace(program, statements=statements)


def stored(program: Program, stores: Sequence[Store]) -> Program:
    """The program with the levels that some ``store`` ask for, one after another.

    What tensors hold does not depend on their levels, so that is found out once.

    Raises
    ------
    ScheduleError
        If there is no such tensor to store, or a level cannot be dense.
    """
    possible, found = dict.fromkeys(intermediates(program)), presences(program)
    tensors = dict(program.by_name)
    for store in stores:
        with blamed(store):
            if store.tensor is not None:
                tensors[store.tensor] = _stored(program, store, store.tensor, possible, found)
                continue
            dense = store.levels == (LevelFormat.DENSE,)
            for name, levels in densest(program).items():
                plain = Format.compressed(len(levels)).levels
                tensors[name] = with_levels(tensors[name], levels if dense else plain)
    return replace(program, tensors=tuple(tensors[t.name] for t in program.tensors))


def _stored(
    program: Program,
    store: Store,
    name: str,
    possible: Mapping[str, None],
    found: Mapping[str, ElementPresence],
) -> Tensor:
    """One tensor in the levels that a ``store`` asks for."""
    if name not in possible:
        if name in program.inputs:
            reason, hint = f"{name} is an input", "declare it in that format"
        elif name not in program.producers:
            reason, hint = f"no statement assigns {name}", suggestion(name, list(possible))
        elif not program.producers[name].op.fuses:
            reason, hint = f"{name} is a reshape", "declare it in that format"
        else:
            reason, hint = f"no statement reads {name}", "what nothing reads is written compressed"
        raise ScheduleError(f"'{store}': {reason}", hint=hint)
    rank = program.tensor(name).rank
    levels = store.levels * rank if len(store.levels) == 1 else store.levels
    if len(levels) != rank:
        raise ScheduleError(
            f"'{store}' names {counted(len(levels), 'level')}, and {name} has {rank}",
            hint="name each level, outermost first, or one word for all",
        )
    made = with_levels(program.tensor(name), levels)
    if problem := dense_problem(program, made, found):
        raise ScheduleError(f"'{store}': {problem[0]}", hint=problem[1])
    return made
