"""The plot of costs, and the table beside it."""

from __future__ import annotations

from workbench.cost_plot import CostPlot
from workbench.runs_table import RunsTable
from workbench.shared import Judged, Shared, SharedRun

from .outcomes import outcome


def test_the_plot_and_the_table_hold_every_run(session):
    plot, table = CostPlot(session), RunsTable(session)
    session.finish(session.built, outcome(200, session=session))
    session.preset("unfused")
    session.finish(session.built, outcome(300, session=session))
    session.add_boundary(3)
    session.remove_boundary(2)
    session.finish(session.built, outcome(250, session=session))
    names = {n: list(s.data["name"]) for n, s in plot.sources.items()}
    assert names == {
        "unfused": ["unfused"],
        "partial": ["partial"],
        "full": [],
        "other preset": [],
        "yours": ["yours 1"],
        "kept": [],
    }
    assert [r["speedup"] for r in table.view["runs"]] == ["1.50×", "1.00×", "1.20×"]
    table.handle({"kind": "recall", "number": 0})
    assert session.built.preset_name == "partial"


def test_runs_of_others_are_points_that_can_be_clicked(session):
    plot = CostPlot(session)
    schedule = session.built.resolved
    session.preset("full")
    runs = (
        SharedRun("a" * 64, schedule, 5_000, 4_000.0, "", 0.0),
        SharedRun("b" * 64, "fuse T1..T2", 6_000, 5_000.0, "0.0.1+elder", 0.0),
        SharedRun("c" * 64, "fuse T1..T3", 7_000, None, "", 0.0),
    )
    session.take_in(Shared(session.built.problem, runs=runs, total=3))
    kept = plot.sources["kept"]
    assert kept.data["simulated"] == [5_000, 6_000]
    assert kept.data["name"] == ["kept aaaaaa", "kept bbbbbb, engine 0.0.1+elder"]
    session.judged = Judged(session.built.problem, {schedule: "partial"}, {"c" * 64: 6_500.0})
    assert kept.data["estimated"] == [4_000.0, 5_000.0, 6_500.0]
    assert kept.data["name"][0] == "partial"
    assert kept.data["target"][2] == "c" * 64
    kept.selected.indices = [0]
    assert session.built.resolved == schedule
    assert kept.selected.indices == []  # so that it can be clicked again
    session.finish(session.built, outcome(5_000, session=session))
    session.undo()
    assert session.built.preset_name == "full"
    plot.sources["yours"].selected.indices = [0]
    assert session.built.resolved == schedule
    kept.selected.indices = [99]
    assert session.built.resolved == schedule


def test_points_are_not_sent_again_unless_they_have_changed(session):
    plot = CostPlot(session)
    session.finish(session.built, outcome(200, session=session))
    before = plot.sources["partial"].data
    session.preset("full")
    assert plot.sources["partial"].data is before
