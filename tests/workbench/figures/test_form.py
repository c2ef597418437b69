"""The parts of a configuration that a visitor may change."""

from __future__ import annotations

import pytest

from fuseloom.experiments.configuration import Configuration
from fuseloom_workbench.figures.form import changed_by, lanes_of, offered, value_of, widgets_of

GCN = Configuration(
    "gcn", "collab", (("density", 0.5),), "full", "repeat references; order T1..Y: i,k,p,n,m"
)


def test_what_may_be_changed() -> None:
    graph = offered(Configuration("gcn", "karate"))
    assert {"data", "preset", "machine", "density", "lanes"} <= set(graph)
    assert "sparsity" in offered(Configuration("gcn", "uniform"))
    assert "block" in offered(Configuration("heads"))
    assert len(offered(Configuration("nested", "ikjl"))["order"]) == 15


def test_nothing_changes_by_itself() -> None:
    values = {name: value_of(GCN, name) for name in ("data", "preset", "density", "lanes")}
    assert changed_by(GCN, values) == GCN


def test_what_a_change_makes_meaningless_goes() -> None:
    made = changed_by(GCN, {"preset": "partial"})
    assert (made.preset, made.settings) == ("partial", "repeat references")
    made = changed_by(GCN, {"data": "uniform", "density": 0.3})
    assert dict(made.options) == {"density": 0.3, "nodes": 200, "features": 64}
    again = changed_by(made, {"data": "karate"})
    assert dict(again.options) == {"density": 0.3}


@pytest.mark.parametrize(("workload", "index"), [("gcn", "i"), ("images", "b")])
def test_lanes(workload, index) -> None:
    one = Configuration(workload, "", (), "full", "locate off")
    four = changed_by(one, {"lanes": 4})
    assert four.settings == f"locate off; parallel {index} by 4"
    assert lanes_of(four) == value_of(four, "lanes") == 4
    assert changed_by(four, {"lanes": 1}) == one


def test_orders_of_a_nested_product() -> None:
    one = Configuration("nested", "ikjl", (), "full", "order T..D: i,k,j,l; locate off")
    made = changed_by(one, {"order": "jkil"})
    assert made.data == "jkil"
    assert made.settings == "order T..D: j,k,i,l; locate off"


def test_widgets_tell_of_changes() -> None:
    told: list[Configuration] = []
    widgets = {w.label: w for w in widgets_of(GCN, told.append)}
    assert widgets["data set"].value == "collab"
    widgets["preset"].value = "unfused"
    assert told[-1].preset == "unfused"
    widgets["density of weights"].param.update(value=0.7, value_throttled=0.7)
    assert dict(told[-1].options)["density"] == 0.7
