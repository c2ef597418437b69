"""Directives that change the program itself, applied before anything is fused."""

from __future__ import annotations

from dataclasses import replace

from engine.dataflow.fusion.directives import Block, Global, blamed
from engine.dataflow.fusion.global_iteration import merge_products
from engine.dataflow.fusion.schedule import Schedule
from engine.program import block_program
from engine.program.types import Program


def prepare(program: Program, schedule: Schedule) -> tuple[Program, Schedule]:
    """The program that a schedule's ``block`` and ``global`` make, and what is left to do.

    Raises
    ------
    ScheduleError, ProgramError
        If a directive does not fit the program.
    """
    for block in schedule.of(Block):
        with blamed(block):
            program = block_program(program, block.edge)
    for wanted in schedule.of(Global):
        with blamed(wanted):
            program, schedule = merge_products(program, schedule, wanted.region)
    rest = tuple(s for s in schedule.settings if not isinstance(s, Block | Global))
    return program, replace(schedule, settings=rest)
