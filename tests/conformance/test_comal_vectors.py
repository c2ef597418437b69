"""Protobuf graphs with the cycles and results of the reference simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import (
    TensorFolder,
    export_sam,
    export_tortilla,
    import_sam,
    import_tortilla,
)
from fuseloom.dataflow.sim.imported_runs import ImportedRun, run_imported

HERE = Path(__file__).parent / "comal"
CASES = json.loads((HERE / "index.json").read_text())


def run_folder(
    folder: Path, machine: Machine, engine: str, block: int | None = None
) -> ImportedRun:
    tensors = TensorFolder(folder)
    made = import_tortilla((folder / "op.bin").read_bytes(), tensors, block)
    data = {n: tensors.load(made.imported.tensors[n], f) for n, f in made.files.items()}
    return run_imported(made.imported, data, machine, engine=engine, lenient=True)


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_cycles_and_results(case: dict[str, Any], engine: str) -> None:
    run = run_folder(HERE / case["case"], Machine.comal(), engine)
    assert {r["cycles"] for r in case["runs"] if not r["hbm"]} == {run.cycles}
    levels, values = run.written("X")
    out = HERE / case["case"] / "out"
    for k, level in enumerate(levels):
        for part, numbers in level.items():
            assert numbers == [int(n) for n in (out / f"out_X_{k}_{part}").read_text().split()]
    expected = np.array((out / "out_X_vals").read_text().split(), dtype=float)
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert not run.problems


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_cycles_with_memory(case: dict[str, Any], engine: str) -> None:
    """The reference's memory node ends up to three cycles after the rest.

    Rules: docs/spec/comal.md §1.
    """
    run = run_folder(HERE / case["case"], Machine.comal(memory=True), engine)
    reported = {r["cycles"] for r in case["runs"] if r["hbm"]}
    assert reported
    assert all(0 <= cycles - run.cycles <= 3 for cycles in reported)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_bounded_channels_never_take_fewer_cycles(case: dict[str, Any]) -> None:
    free = run_folder(HERE / case["case"], Machine.comal(), "interpreter").cycles
    bounded = run_folder(HERE / case["case"], Machine.comal(1024), "interpreter").cycles
    assert free <= bounded


def test_block_timing_takes_longer() -> None:
    """A load takes B² cycles, a product B² and one every B (docs/spec/machine.md §5.5)."""
    folder = HERE / "matmul_ikj_34_0.1_None_1"
    scalar = run_folder(folder, Machine.comal(), "interpreter").cycles
    times = [run_folder(folder, Machine.comal(), "interpreter", b).cycles for b in (16, 32, 64)]
    assert scalar < times[0] < times[1] < times[2]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_the_graph_is_written_as_it_was_read(case: dict[str, Any]) -> None:
    folder = HERE / case["case"]
    imported = import_tortilla((folder / "op.bin").read_bytes(), TensorFolder(folder)).imported
    declared = {**imported.tensors, **{t.name: t for t in imported.outputs}}
    made = export_tortilla(imported.graph, declared)
    assert made.graph == imported.graph
    again = import_tortilla(made.data, TensorFolder(folder)).imported
    assert again.graph == imported.graph
    sam = export_sam(imported.graph, declared).text
    shapes = {name: t.shape for name, t in imported.tensors.items()}
    assert import_sam(sam, shapes).graph == imported.graph.bare()
