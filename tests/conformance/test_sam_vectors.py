"""Graphs as the Custard compiler wrote them, on data with the dense result to expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.program.arrays import operand_shapes, read_npz, store_operand
from engine.samml.exchange import import_sam_text
from engine.sim.imported import run_imported

HERE = Path(__file__).parent / "sam"
RUNS = json.loads((HERE / "index.json").read_text())


@pytest.mark.parametrize("case", RUNS, ids=lambda case: Path(case["data"]).stem)
def test_the_graph_computes_what_is_expected(case: dict[str, Any]) -> None:
    arrays = read_npz(HERE / case["data"])
    imported = import_sam_text((HERE / case["graph"]).read_text(), operand_shapes(arrays))
    data = {name: store_operand(t, arrays) for name, t in imported.tensors.items()}
    run = run_imported(imported, data, engine="interpreter")
    assert run.check(arrays["expected"]).ok
    repairs = {f"{r.rule.name} {r.change}" for r in imported.repairs if r.rule.name != "R5"}
    assert repairs == set(case["graph_repairs"])
    assert {r.rule.name == "R5" for r in imported.repairs} <= {False, "sub" in str(imported.graph)}
    # Another timing model, but of the same kind: a cycle per token and node.
    assert abs(run.cycles - case["cycles"]) <= 0.03 * case["cycles"] + 6
