"""Our graphs in the SAM dialect: what is written, and that it reads back."""

from __future__ import annotations

import random

import numpy as np
import pygraphviz
import pytest

from engine.dataflow.compiler import Compilation, compile_program
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.samml.exchange import export_sam, import_sam_text
from engine.dataflow.samml.exchange.dotfile import parse_dot
from engine.dataflow.samml.exchange.sam_exact import marked_graph
from engine.dataflow.samml.exchange.sam_export import MARK
from engine.dataflow.samml.graph import Graph
from engine.dataflow.sim.imported_runs import run_imported
from engine.errors import FuseloomError
from engine.models import MODELS, load_model
from engine.program import parse
from engine.program.arrays import store_operand
from tests.property.programs import make_case

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


def test_random_programs_round_trip() -> None:
    print(f"seeds from {SEED}")
    regions = 0
    for seed in range(SEED, SEED + 120):
        case = make_case(random.Random(seed))
        regions += round_trip(case.compilation) if case else 0
    assert regions > 100


PRODUCT = "A: 4x5 dcsr\nB: 4x5 dcsr\nT[i,j] = A[i,j] * B[i,j]"
SPMM = "A: 4x5 csr\nX: 5x3 csr\nT[i,j] = A[i,k] * X[k,j]"


def exported(text: str, strict: bool = False) -> tuple[Compilation, str, list[str]]:
    compiled = compile_program(parse(text))
    made = export_sam(compiled.regions[0].graph, compiled.program.by_name, strict=strict)
    return compiled, made.text, list(map(str, made.notes))


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
    plain = import_sam_text(unmarked(text), shapes)
    stored = {n: store_operand(t, data) for n, t in plain.tensors.items()}
    ours = run_imported(import_sam_text(text, shapes), stored, engine="interpreter")
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
    imported = import_sam_text(text, {n: a.shape for n, a in data.items()})
    stored = {n: store_operand(t, data) for n, t in imported.tensors.items()}
    run = run_imported(imported, stored, engine="interpreter")
    assert run.check(data["A"] @ data["X"]).ok
    assert run.outputs["T"].tensor.shape == (4, 3)


def test_strict_refuses_them() -> None:
    with pytest.raises(
        FuseloomError, match=r"node .* cannot be written in the SAM dialect: .*hint"
    ):
        exported(SPMM, strict=True)


def test_roots_have_no_nodes() -> None:
    _, text, _ = exported(PRODUCT)
    assert not any(given["type"] == "root" for given in parse_dot(text).nodes.values())
    assert 'root="true"' in text


def test_a_changed_file_is_refused_with_the_way_out() -> None:
    _, text, _ = exported("a: 4 compressed\nb: 4 compressed\nt[i] = a[i] - b[i]")
    with pytest.raises(FuseloomError, match=r"changed after it was written: node \d+.*take out"):
        import_sam_text(text.replace('sub="1"', 'sub="0"'), {"a": (4,), "b": (4,)})
    without = "\n".join(line for line in text.split("\n") if "->" not in line or "val" not in line)
    with pytest.raises(FuseloomError, match="changed after it was written"):
        import_sam_text(without, {"a": (4,), "b": (4,)})


def test_broken_marks_are_refused() -> None:
    _, text, _ = exported(PRODUCT)
    changes = {
        r"version\":1": r"version\":9",
        r"\"id\":3,": r"\"id\":\"x\",",
        r"\"op\"": r"\"oq\"",
        r"hidden\":[": r"hidden\":[7,",
        r"\"streams\":[[": r"\"streams\":[[1,",
    }
    for old, new in changes.items():
        assert old in text
        with pytest.raises(FuseloomError, match="marks are broken"):
            import_sam_text(text.replace(old, new, 1), {"A": (4, 5), "B": (4, 5)})


def test_shapes_are_checked() -> None:
    _, text, _ = exported(PRODUCT)
    with pytest.raises(FuseloomError, match="data of operand B are missing"):
        import_sam_text(text, {"A": (4, 5)})
    with pytest.raises(FuseloomError, match="operand B has shape 4x5 in the graph, 4 in its data"):
        import_sam_text(text, {"A": (4, 5), "B": (4,)})


def test_undeclared_tensors() -> None:
    compiled = compile_program(parse(PRODUCT))
    with pytest.raises(FuseloomError, match="which is not declared"):
        export_sam(compiled.regions[0].graph, {})


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
        made = import_sam_text(text, {"A": (4, 5), "X": (5, 3)})
    except FuseloomError:
        return True
    return not isinstance(made.graph, Graph)
