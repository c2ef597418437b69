"""Writers on the worked examples of docs/spec/machine.md §9."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.sim.conformance.bench import bench


def test_level_writer() -> None:
    run = bench("crdwrite", "4 7 S0 S0 9 S1 D", params={"tensor": "X", "level": 1})
    assert run.written["crd"].tolist() == [4, 7, 9]
    assert run.written["seg"].tolist() == [0, 2, 3]
    assert run.clock == 7


def test_values_writer_pays_for_the_end() -> None:
    run = bench("valwrite", "4 7 S0 D", params={"tensor": "X"})
    assert run.written["vals"].dtype == np.float32
    assert run.written["vals"].tolist() == [4, 7]
    assert run.clock == 5
