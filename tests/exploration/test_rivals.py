"""The alternatives outside the space of a search: presets within a budget, and dense levels."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.directives import Store
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.method import Dataflow
from fuseloom.exploration.rivals import presets_of, stored_dense
from fuseloom.models import load
from fuseloom.program.formats import LevelFormat
from fuseloom.results.method import Budget


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("sized", [False, True])
def test_presets_are_estimated_once_with_the_channels_that_all_have(sized: bool) -> None:
    model, data = load("attention", "random")
    method = Dataflow(model.program, data, sized=sized)
    found = list(presets_of(method, model.presets, Budget()))
    assert [cost.name for cost, _ in found] == list(model.presets)
    for cost, rival in found:
        assert rival is not None
        assert rival.name == f"the preset {cost.name}"
        assert rival.expected.cycles == cost.cycles
        assert (rival.built is rival.made) == (not sized)
    none = list(presets_of(method, model.presets, Budget(on_chip=0.0)))
    assert [(cost, None) for cost, _ in found] == none
    ((cost, rival),) = presets_of(method, {"wrong": "fuse Q..R"}, Budget())
    assert (cost.cycles, rival) == (None, None)
    assert "'Q'" in cost.reason


@pytest.mark.deep  # takes seconds
def test_presets_do_not_go_with_settings_that_hold_throughout() -> None:
    model, data = load("gcn", "karate")
    kept = Dataflow(model.program, data, base=Schedule.parse("strict on"))
    assert not list(presets_of(kept, model.presets, Budget()))
    assert not list(stored_dense(Dataflow(model.program, data, base=Schedule.parse("global")),
                                 compile_program(model.program, "global")))  # fmt: skip
    levels = (LevelFormat.COMPRESSED, LevelFormat.DENSE)
    stored = Dataflow(model.program, data, stores=[Store("H", levels)])
    assert len(list(presets_of(stored, model.presets, Budget()))) == len(model.presets)


def test_complete_levels_are_stored_dense_where_that_helps() -> None:
    model, data = load("gcn", "karate")
    method = Dataflow(model.program, data)
    compiled = compile_program(model.program, model.presets["partial"])
    found = list(stored_dense(method, compiled))
    assert [rival.name for rival in found] == ["H stored dense"]
    assert "store H compressed,dense" in str(found[0].made.resolved)
