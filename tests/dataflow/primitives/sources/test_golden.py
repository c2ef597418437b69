"""The sources of streams: the worked example of docs/spec/machine.md §3.1."""

from __future__ import annotations

from fuseloom.dataflow.sim.conformance.bench import bench


def test_root() -> None:
    run = bench("root")
    assert run.outputs == ("0@1 D@2",)
    assert run.clock == 2
