"""Figures that the graph is coloured by."""

from __future__ import annotations

from fuseloom_workbench.graph import heat


def test_figures_are_those_of_the_run(explained):
    found = heat.view(explained)
    region = explained.record.run.regions[0]
    assert found["heat"]["busy"] == {f"n{n.id}": region.rows[n.id]["busy"]
                                     for n in explained.current.graph.nodes}  # fmt: skip
    assert found["measured"]
    assert found["cycles"] == region.cycles
    own = {s.id for s in explained.current.graph.streams}
    tokens = {f"e{row['stream']}": row["tokens"] for row in region.channels}
    assert (
        found["streams"].items() >= {k: v for k, v in tokens.items() if int(k[1:]) in own}.items()
    )
    assert found["critical"]["nodes"]


def test_without_a_run_figures_are_estimates_and_of_all_regions_if_these_are_drawn(session):
    found = heat.view(session)
    assert found["heat"]["busy"] == {}
    assert not found["measured"]
    estimate = session.estimate.regions[0].nodes
    assert found["heat"]["bytes"]["n8"] == round(float(estimate[8].bytes), 1)
    session.draw_whole(True)
    every = heat.view(session)["heat"]["expected"]
    assert len(every) == sum(len(r.graph.nodes) for r in session.regions)
    assert "r1n3" in every
