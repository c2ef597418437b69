"""Rooflines."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.errors import DataError
from fuseloom_workbench.notebook.roofs import roofline


def run_on(machine):
    model, data = fl.load("spmm")
    return fl.simulate(fl.compile(model.program), data, fl.Machine.preset(machine))


def test_each_memory_is_a_roof_and_each_run_a_point():
    runs = {name: run_on(name) for name in ("default", "hbm2", "ddr4")}
    text = str(roofline(runs, title="three machines"))
    assert "three machines" in text
    assert "hbm2: 256 bytes a cycle" in text
    assert "ddr4: 25.6 bytes a cycle" in text
    assert "every node computes" in text
    assert text.count("FLOPs per byte") == 3
    assert "ideal" not in str(roofline({"a": run_on("ideal")}))


def test_a_run_that_computes_nothing_is_no_point():
    run = run_on("default")
    idle = replace(run, regions=())
    with pytest.raises(DataError, match="no run computes"):
        roofline({"idle": idle})
    assert "idle" not in str(roofline({"idle": idle, "run": run}, title="t"))
