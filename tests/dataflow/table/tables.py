"""Fusion tables from text, for tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.models import MODELS
from fuseloom.program import parse


def compiled(program: str, schedule: str = "", order: str | None = None) -> CompiledRegion:
    """The one region of a program under a schedule, in the order given as ``i,k,j``."""
    (region,) = fuse(parse(program), Schedule.parse(schedule))
    return compile_region(region, order.split(",") if order else None)


def table(program: str, schedule: str = "", order: str | None = None) -> str:
    return str(compiled(program, schedule, order).table)


PRESETS = [
    (name, preset) for name, build in MODELS.items() for preset in ("single", *build().presets)
]


@cache
def regions_of(model: str, preset: str) -> tuple[CompiledRegion, ...]:
    """The regions of a model under one of its presets, or with every statement alone."""
    built = MODELS[model]()
    return compile_program(built.program, {"single": "", **built.presets}[preset]).regions


def of_all_models(check: Callable[[CompiledRegion], None]) -> Callable[[str, str], None]:
    """A test of every region of every model."""

    @pytest.mark.parametrize(("model", "preset"), PRESETS)
    def test(model: str, preset: str) -> None:
        for region in regions_of(model, preset):
            check(region)

    test.__doc__ = check.__doc__
    return test
