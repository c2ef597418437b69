"""Our graphs as protobuf for Comal."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import (
    TensorFolder,
    TortillaExport,
    export_tortilla,
    import_tortilla,
)
from fuseloom.dataflow.samml.graph import Graph, StreamKind
from fuseloom.dataflow.sim.imported_runs import ImportedRun
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError, GraphError
from fuseloom.models import MODELS, load, load_model
from fuseloom.program import Program, StoredTensor, parse
from tests.dataflow.samml.exchange.protobuf import SEED, run_bytes
from tests.property.programs import make_case


def read_back(made: TortillaExport, folder: Path) -> Graph:
    made.save(folder)
    return import_tortilla(made.data, TensorFolder(folder)).imported.graph


def exports(compilation: Compilation, folder: Path) -> tuple[int, int]:
    """Export every region that can be; how many could, and how many were refused."""
    done = refused = 0
    for region in compilation.regions:
        made = try_export(region.graph, compilation.program)
        if made is None:
            refused += 1
            continue
        done += 1
        assert read_back(made, folder / region.name) == made.graph
        tensors = {t.name: t for t in made.tensors.values()}
        again = export_tortilla(made.graph, tensors)
        assert (again.graph, again.data) == (made.graph, made.data)
    return done, refused


def try_export(graph: Graph, program: Program) -> TortillaExport | None:
    try:
        return export_tortilla(graph, program.by_name)
    except FuseloomError as problem:
        return None if problem.hint else pytest.fail(f"{problem} has no hint")


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("model", MODELS)
def test_models_export(model: str, tmp_path: Path) -> None:
    made = load_model(model)
    done = 0
    for k, preset in enumerate((None, *made.presets)):
        schedule = Schedule() if preset is None else Schedule.parse(made.presets[preset])
        done += exports(compile_program(made.program, schedule), tmp_path / str(k))[0]
    assert done


@pytest.mark.deep  # takes seconds
def test_random_programs_export(tmp_path: Path) -> None:
    print(f"seeds from {SEED}")
    done = refused = 0
    for seed in range(SEED, SEED + 100):
        case = make_case(random.Random(seed))
        if case:
            a, b = exports(case.compilation, tmp_path / str(seed))
            done, refused = done + a, refused + b
    assert done > 60
    assert refused > 5


def run_export(
    made: TortillaExport, folder: Path, data: dict[str, StoredTensor], machine: Machine
) -> ImportedRun:
    made.save(folder, data)
    return run_bytes((folder / "op.bin").read_bytes(), folder, machine)


@pytest.mark.deep  # takes seconds
def test_exports_without_warnings_run_in_the_target(tmp_path: Path) -> None:
    """On the copied machine with all its quirks they give what ours gave."""
    print(f"seeds from {SEED}")
    compared = 0
    for seed in range(SEED, SEED + 80):
        case = make_case(random.Random(seed))
        if case is None or any(not np.any(t.values) or not len(t.values)
                               for t in case.data.values()):  # fmt: skip
            continue
        ours = simulate(case.compilation, case.data, engine="interpreter")
        known = {**ours.data, **ours.outputs}
        for region in case.compilation.regions:
            made = try_export(region.graph, case.program)
            if made is None or made.warnings:
                continue
            run = run_export(made, tmp_path / f"{seed}{region.name}", known, Machine.comal())
            for name in region.region.outputs:
                expected = ours.outputs[name].to_dense()
                got = run.outputs[name].to_dense()[tuple(map(slice, expected.shape))]
                np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
            compared += 1
    assert compared >= 15


def test_a_model_with_its_data(tmp_path: Path) -> None:
    model, data = load("spmm", "random")
    compiled = compile_program(model.program)
    made = export_tortilla(compiled.regions[0].graph, model.program.by_name)
    run = run_export(made, tmp_path, data, Machine.default())
    expected = simulate(compiled, data).outputs["T"]
    assert run.check(expected.to_dense()).ok
    kinds = [n.params["fn"] for n in made.graph.nodes if n.op == "binary"]
    assert kinds == ["mul"]  # its result is accumulated


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("A: 4 compressed\nT[i] = gelu(A[i])", "the target has no function gelu"),
        ("A: 4x4 dense\nB: 4x4x3 [compressed, dense, dense]\nT[i,j,k] = A[i,j] * B[i,j,k]",
         "cannot be exported: it locates below a level other than the root"),
        ("A: 4 compressed\nB: 4 compressed\nC: 4 compressed\nT[i] = exp(A[i]) + B[i]\n"
         "option broadcast_add dense", ""),
    ],
)  # fmt: skip
def test_export_refusals(program: str, message: str) -> None:
    text = "\n".join(sorted(program.split("\n"), key=lambda line: "option" not in line))
    compiled = compile_program(parse(text))
    for region in compiled.regions:
        if not message:
            assert export_tortilla(region.graph, compiled.program.by_name).data
            continue
        with pytest.raises(FuseloomError) as caught:
            export_tortilla(region.graph, compiled.program.by_name)
        assert message in str(caught.value)
        assert caught.value.hint


def test_results_keep_their_dimensions_apart(tmp_path: Path) -> None:
    """A result stored by columns comes back the right way round."""
    text = "A: 3x2 csc\nB: 3x2 csc\nT: 3x2 csc\nT[i,j] = A[i,j] * B[i,j]"
    compiled = compile_program(parse(text))
    assert compiled.regions[0].order == ("j", "i")
    made = export_tortilla(compiled.regions[0].graph, compiled.program.by_name)
    assert read_back(made, tmp_path) == made.graph
    tensors = compiled.program.by_name
    a, b = np.array([[1, 2], [0, 3], [4, 0]]), np.array([[5, 0], [6, 7], [8, 9]])
    data = {"A": StoredTensor.from_dense(tensors["A"], a),
            "B": StoredTensor.from_dense(tensors["B"], b)}  # fmt: skip
    assert run_export(made, tmp_path, data, Machine.comal()).check(a * b).ok


def test_capacities_are_kept(tmp_path: Path) -> None:
    compiled = compile_program(parse("A: 4 dense\nB: 4 compressed\nT[i] = A[i] * B[i]"))
    graph = compiled.regions[0].graph.with_capacity(7)
    made = export_tortilla(graph, compiled.program.by_name)
    kinds = {(s.kind is StreamKind.SIG, s.capacity) for s in made.graph.streams}
    assert kinds <= {(False, 7), (True, None)}  # signals are inside the target's repeaters
    assert (False, 7) in kinds
    assert read_back(made, tmp_path) == made.graph
    assert "the target does not read channel capacities" in str(made.warnings[0])


def test_dense_levels_of_results_are_refused() -> None:
    text = "A: 6x5 dcsr\nB: 5x4 dcsr\nC: 4 dense\nT[i,j] = A[i,j] + C[j]\nY[i,j] = relu(T[i,j])"
    text = text.replace("A: 6x5", "A: 6x4").replace("B: 5x4 dcsr\n", "")
    made = compile_program(parse(text), "store T compressed,dense")
    with pytest.raises(GraphError, match="stores T dense in level 1") as refused:
        export_tortilla(made.regions[0].graph, made.program.by_name)
    assert refused.value.hint == "write 'store T compressed' in the schedule"
    assert export_tortilla(made.regions[1].graph, made.program.by_name).data
