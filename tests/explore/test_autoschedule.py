"""The best schedule of a program: never worse than its presets, and reasons that are numbers."""

from __future__ import annotations

import pytest

import fuseloom as fl
from engine.errors import FuseloomError
from engine.explore.autoschedule import autoschedule
from engine.models import load


@pytest.mark.parametrize(("name", "data"), [("gcn", "karate"), ("gpt3", "random")])
def test_never_worse_than_a_preset(name: str, data: str) -> None:
    model, tensors = load(name, data)
    found = autoschedule(model.program, tensors, presets=model.presets, gap=0.5, time_limit=3)
    assert found.run is not None
    assert found.run.check().ok
    for text in model.presets.values():
        made = fl.best_orders(fl.compile(model.program, text), tensors)
        assert found.cycles <= fl.simulate(made.compilation, tensors).cycles
    assert found.cycles == fl.simulate(fl.compile(model.program, found.schedule), tensors).cycles
    assert any("one by one take" in reason for reason in found.reasons)


def test_why_not_another() -> None:
    model, tensors = load("gcn", "karate")
    found = autoschedule(model.program, tensors, presets=model.presets, gap=0.5, time_limit=2)
    assert "cycles" in found.why(model.presets["unfused"])
    assert found.why(model.presets["unfused"]).startswith("removed by its")
    assert "'fuse Y..T1' runs backwards" in found.why("fuse Y..T1")
    assert found.why("order T1..T1: k,p").startswith("not legal")
    assert found.why(found.schedule).startswith("as good as the best")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 0}, "a budget of 0 lanes"),
        ({"on_chip": -1.0}, "bytes on chip"),
        ({"gap": 1.0}, "a gap of 1.0"),
        ({"time_limit": 0.0}, "a time limit of 0.0 s"),
        ({"on_chip": 0.0, "time_limit": 0.5}, "no schedule was found .on-chip: T1"),
    ],
)
def test_errors(options: dict[str, float], message: str) -> None:
    model, tensors = load("gcn", "karate")
    with pytest.raises(FuseloomError, match=message):
        autoschedule(model.program, tensors, **options)  # type: ignore[arg-type]


def test_it_can_be_cancelled() -> None:
    model, tensors = load("gcn", "karate")
    with pytest.raises(FuseloomError, match="cancelled"):
        autoschedule(model.program, tensors, progress=lambda cycles, text: False)
