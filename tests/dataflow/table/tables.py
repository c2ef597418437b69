"""Fusion tables from text, for tests."""

from __future__ import annotations

from engine.dataflow.compilation import CompiledRegion
from engine.dataflow.compiler import compile_region
from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.schedule import Schedule
from engine.program import parse


def compiled(program: str, schedule: str = "", order: str | None = None) -> CompiledRegion:
    """The one region of a program under a schedule, in the order given as ``i,k,j``."""
    (region,) = fuse(parse(program), Schedule.parse(schedule))
    return compile_region(region, order.split(",") if order else None)


def table(program: str, schedule: str = "", order: str | None = None) -> str:
    return str(compiled(program, schedule, order).table)
