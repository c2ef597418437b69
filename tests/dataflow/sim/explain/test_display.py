"""Critical paths in a notebook."""

from __future__ import annotations

from dataclasses import replace

import fuseloom as fl
from fuseloom.dataflow.sim.explain.critical import CriticalPath, PathCause, Segment
from fuseloom.dataflow.sim.explain.display import SHOWN


def path() -> CriticalPath:
    model, data = fl.load("spmm")
    run = fl.simulate(fl.compile(model.program), data, observe=fl.Observe(log=True))
    found = run.regions[0].path
    assert found is not None
    return found


def test_a_path_tells_nodes_reasons_and_a_bound() -> None:
    found = path()
    html = found._repr_html_()
    first = found.summary()[0]
    assert f"critical path: {found.cycles:,} cycles" in html
    assert found.graph.nodes[first.node].label in html
    assert f"{found.what_if(found.bottleneck or 0).cycles:,} or more" in html
    assert html.count("<tr>") <= SHOWN + 2


def test_what_is_not_known_is_told() -> None:
    found = path()
    assert "known from cycle 5" in replace(found, start=5)._repr_html_()
    empty = replace(found, segments=())
    assert empty.bottleneck is None
    assert "twice as fast" not in empty._repr_html_()
    waits = tuple(Segment(0, k, k + 1, PathCause.TOKEN, k, 1) for k in range(SHOWN + 3))
    assert "3 others" in replace(found, segments=waits)._repr_html_()
