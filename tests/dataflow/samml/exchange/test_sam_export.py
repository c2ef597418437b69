"""Our graphs in the SAM dialect: what is written, and that it reads back."""

from __future__ import annotations

import random

import numpy as np
import pygraphviz
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.samml.exchange import export_sam, import_sam
from fuseloom.dataflow.samml.exchange.dotfile import parse_dot
from fuseloom.dataflow.samml.exchange.sam_exact import marked_graph
from fuseloom.dataflow.samml.exchange.sam_export import MARK
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.imported_runs import run_imported
from fuseloom.errors import FuseloomError
from fuseloom.models import MODELS, load_model
from fuseloom.program import evaluate, parse
from fuseloom.program.arrays import store_operand
from tests.dataflow.samml.exchange.exports import PRODUCT, exported
from tests.property.programs import make_case
from tests.tiers import counts

SEED = 20_251_102


def round_trip(compilation: Compilation) -> int:
    """Write and read every region, with and without bounded channels; how many there were."""
    tensors = compilation.program.by_name
    for region in compilation.regions:
        for graph in (region.graph, region.graph.with_capacity(3)):
            text = export_sam(graph, tensors).text
            again, declared = marked_graph(parse_dot(text))
            assert again == graph.bare()
            assert declared == {name: tensors[name] for name in declared}
    return len(compilation.regions)


@pytest.mark.parametrize("model", MODELS)
def test_models_round_trip(model: str) -> None:
    made = load_model(model)
    for preset in (None, *made.presets):
        schedule = Schedule() if preset is None else Schedule.parse(made.presets[preset])
        assert round_trip(compile_program(made.program, schedule))


@counts(small=30, deep=48, fuzz=120)
def test_random_programs_round_trip(count: int) -> None:
    print(f"seeds from {SEED}")
    regions = 0
    for seed in range(SEED, SEED + count):
        case = make_case(random.Random(seed))
        regions += round_trip(case.compilation) if case else 0
    assert regions > 0.8 * count


SPMM = "A: 4x5 csr\nX: 5x3 csr\nT[i,j] = A[i,k] * X[k,j]"


def arrays(*shapes: tuple[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    return {n: rng.integers(1, 4, s) * (rng.random(s) < 0.5) * 1.0 for n, s in shapes}


def unmarked(text: str) -> str:
    """The file as another tool would have written it: without our attributes."""
    dot = parse_dot(text)
    lines = [f'comment="{dot.attributes["comment"]}"']
    for name, given in dot.nodes.items():
        items = " ".join(f'{k}="{v}"' for k, v in given.items() if k != MARK)
        lines.append(f"{name} [{items}]")
    for edge in dot.edges:
        items = " ".join(f'{k}="{v}"' for k, v in edge.attributes.items() if k != MARK)
        lines.append(f"{edge.tail} -> {edge.head} [{items}]")
    return "digraph SAM {\n" + "\n".join(lines) + "\n}\n"


def test_a_product_is_written_in_the_dialect_alone() -> None:
    compiled, text, notes = exported(PRODUCT, strict=True)
    assert notes == []
    drawn = pygraphviz.AGraph(string=text)  # Graphviz reads it
    assert {drawn.get_node(n).attr["type"] for n in drawn.nodes()} == {
        "fiberlookup", "intersect", "arrayvals", "mul", "crddrop", "fiberwrite",
    }  # fmt: skip
    data = arrays(("A", (4, 5)), ("B", (4, 5)))
    shapes = {n: a.shape for n, a in data.items()}
    plain = import_sam(unmarked(text), shapes)
    stored = {n: store_operand(t, data) for n, t in plain.tensors.items()}
    ours = run_imported(import_sam(text, shapes), stored, engine="interpreter")
    assert ours.imported.graph == compiled.regions[0].graph.bare()
    theirs = run_imported(plain, stored, engine="interpreter")
    assert ours.check(data["A"] * data["B"]).ok
    assert theirs.check(data["A"] * data["B"]).ok
    assert plain.repairs == ()


def test_extensions_are_named() -> None:
    _, text, notes = exported(SPMM)
    assert (
        "extension: other tools will not run this node: Acc1_k: accumulates fibers; "
        "the dialect's accumulator takes points" in notes
    )
    data = arrays(("A", (4, 5)), ("X", (5, 3)))
    imported = import_sam(text, {n: a.shape for n, a in data.items()})
    stored = {n: store_operand(t, data) for n, t in imported.tensors.items()}
    run = run_imported(imported, stored, engine="interpreter")
    assert run.check(data["A"] @ data["X"]).ok
    assert run.outputs["T"].tensor.shape == (4, 3)


@pytest.mark.parametrize("schedule", ["fuse T..Y", "fuse T..H"])
def test_zeros_are_left_out_by_the_dialect_too(schedule: str) -> None:
    program = parse(
        "A: 9x8 csr\nX: 8x7 dense\nW: 7x4 dense\nT[i,k] = A[i,j] * X[j,k]\n"
        "H[i,k] = nonzero(relu(T[i,k]))\nY[i,l] = H[i,k] * W[k,l]"
    )
    rng = np.random.default_rng(2)
    data = {n: rng.integers(-2, 3, program.tensor(n).shape) * 1.0 for n in program.given}
    (region, *_) = compile_program(program, schedule).regions
    assert any(node.op == "zerodrop" for node in region.graph.nodes)
    text = export_sam(region.graph, program.by_name).text
    imported = import_sam(text, {n: a.shape for n, a in data.items()})
    run = run_imported(imported, {n: store_operand(t, data) for n, t in imported.tensors.items()})
    expected = evaluate(program, data)
    (name,) = run.outputs
    assert (run.outputs[name].to_dense() == expected[name].dense()).all()
    assert (run.outputs[name].pattern() == expected[name].present).all()


def test_strict_refuses_them() -> None:
    with pytest.raises(
        FuseloomError, match=r"node .* cannot be written in the SAM dialect: .*hint"
    ):
        exported(SPMM, strict=True)


def test_roots_have_no_nodes() -> None:
    _, text, _ = exported(PRODUCT)
    assert not any(given["type"] == "root" for given in parse_dot(text).nodes.values())
    assert 'root="true"' in text


def test_damaged_exports_give_errors_and_nothing_else() -> None:
    _, text, _ = exported(SPMM)
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    refused = sum(is_refused(damage(text, rng)) for _ in range(200))
    assert refused > 100


def damage(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    if rng.random() < 0.3:
        return text[:at]
    return text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]


def is_refused(text: str) -> bool:
    try:
        made = import_sam(text, {"A": (4, 5), "X": (5, 3)})
    except FuseloomError:
        return True
    return not isinstance(made.graph, Graph)


LAYER = "A: 6x5 dcsr\nB: 5x4 dense\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])"


def test_dense_levels_of_results_are_an_extension() -> None:
    made = compile_program(
        parse(LAYER),
        "store T compressed,dense",
    )
    graph, tensors = made.regions[0].graph, made.program.by_name
    notes = [str(note) for note in export_sam(graph, tensors).notes]
    assert any("T is stored dense in level 1; the dialect writes all" in note for note in notes)
    assert round_trip(made) == 2
