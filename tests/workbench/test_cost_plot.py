"""The plot of costs, and the table beside it."""

from __future__ import annotations

from workbench.cost_plot import CostPlot
from workbench.runs_table import RunsTable

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
    }
    assert [r["speedup"] for r in table.view["runs"]] == ["1.50×", "1.00×", "1.20×"]
    table.handle({"kind": "recall", "number": 0})
    assert session.built.preset_name == "partial"
