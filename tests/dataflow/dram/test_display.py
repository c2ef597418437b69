"""The activity of a memory, in a notebook."""

from __future__ import annotations

import fuseloom as fl


def run_on(machine: str) -> fl.dataflow.sim.program_runs.Run:
    model, data = fl.load("spmm")
    return fl.simulate(fl.compile(model.program), data, fl.Machine.preset(machine))


def test_a_memory_tells_its_share_row_hits_and_waits() -> None:
    run = run_on("ddr4")
    stats = run.regions[0].result.memory
    assert stats is not None
    html = stats._repr_html_()
    for said in (f"{stats.hit_rate:.1%}", f"{stats.read_latency:.1f} cycles", f"{stats.bytes:,}"):
        assert said in html
    assert html.count("<tr>") > 9  # and how many reads took how long
    assert f"{stats.share:.1%}" in run._repr_html_()


def test_a_memory_without_limits_has_no_shares() -> None:
    run = run_on("ideal")
    stats = run.regions[0].result.memory
    assert stats is not None
    assert "no limit" in stats._repr_html_()
    assert "row hits" not in run._repr_html_()
