"""Every class that names what shows it names something that is there."""

from __future__ import annotations

from importlib import import_module

import pytest

import fuseloom.dataflow.compiler
import fuseloom.dataflow.sim.program_runs
import fuseloom.results.record  # noqa: F401 -- so that all classes are known
from fuseloom.display.shows import Shows


@pytest.mark.parametrize("kind", Shows.__subclasses__(), ids=lambda kind: kind.__name__)
def test_the_function_is_there(kind: type[Shows]) -> None:
    module, _, name = kind._html.partition(":")
    assert callable(getattr(import_module(module), name))


def test_there_are_such_classes() -> None:
    names = {kind.__name__ for kind in Shows.__subclasses__()}
    assert {"Program", "Schedule", "PartialOrderGraph", "FusionTable", "Graph"} <= names
