"""Graphs as the Custard compiler wrote them, on data with the dense result to expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import (
    TensorFolder,
    export_sam,
    export_tortilla,
    import_sam,
    import_tortilla,
)
from fuseloom.dataflow.sim.imported_runs import run_imported
from fuseloom.program.arrays import operand_shapes, read_npz, store_operand

HERE = Path(__file__).parent / "sam"
RUNS = json.loads((HERE / "index.json").read_text())


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("case", RUNS, ids=lambda case: Path(case["data"]).stem)
def test_the_graph_computes_what_is_expected(case: dict[str, Any]) -> None:
    arrays = read_npz(HERE / case["data"])
    imported = import_sam((HERE / case["graph"]).read_text(), operand_shapes(arrays))
    data = {name: store_operand(t, arrays) for name, t in imported.tensors.items()}
    run = run_imported(imported, data, engine="interpreter")
    assert run.check(arrays["expected"]).ok
    repairs = {f"{r.rule.name} {r.change}" for r in imported.repairs if r.rule.name != "R5"}
    assert repairs == set(case["graph_repairs"])
    assert {r.rule.name == "R5" for r in imported.repairs} <= {False, "sub" in str(imported.graph)}
    # Another timing model, but of the same kind: a cycle per token and node.
    assert abs(run.cycles - case["cycles"]) <= 0.03 * case["cycles"] + 6


SMALL = [case for case in RUNS if case["size"] == "small"]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: Path(case["data"]).stem)
def test_the_graph_goes_to_other_formats_and_back(case: dict[str, Any], tmp_path: Path) -> None:
    arrays = read_npz(HERE / case["data"])
    shapes = operand_shapes(arrays)
    imported = import_sam((HERE / case["graph"]).read_text(), shapes)
    data = {name: store_operand(t, arrays) for name, t in imported.tensors.items()}
    declared = {**imported.tensors, **{t.name: t for t in imported.outputs}}
    sam = export_sam(imported.graph, declared)
    assert import_sam(sam.text, shapes).graph == imported.graph.bare()

    comal = export_tortilla(imported.graph, declared)
    comal.save(tmp_path, data)
    folder = TensorFolder(tmp_path)
    again = import_tortilla((tmp_path / "op.bin").read_bytes(), folder)
    assert again.imported.graph == comal.graph
    loaded = {n: folder.load(again.imported.tensors[n], f) for n, f in again.files.items()}
    for machine in (Machine.default(), Machine.comal()):
        if machine.quirks.active and comal.warnings:
            continue  # the warnings say why it may fail there
        run = run_imported(again.imported, loaded, machine, engine="interpreter")
        assert run.check(arrays["expected"]).ok


def test_graphs_without_pitfalls_are_exported_without_warnings() -> None:
    quiet = {"mat_identity_dense", "vec_elemadd", "vec_scalar_mul", "matmul_kij"}
    for case in SMALL:
        arrays = read_npz(HERE / case["data"])
        imported = import_sam((HERE / case["graph"]).read_text(), operand_shapes(arrays))
        warnings = export_tortilla(imported.graph, imported.tensors).warnings
        if case["kernel"] in quiet:
            assert warnings == ()
        if case["kernel"] == "mat_elemmul":
            assert "records a first fiber that is empty" in str(*warnings)
