"""Which engine runs a graph."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.errors import SimulationError
from tests.dataflow.sim.circles import OURS


def test_unknown_engine() -> None:
    with pytest.raises(SimulationError, match="no engine"):
        run_graph(bench_graph("root"), OURS, "quick")
