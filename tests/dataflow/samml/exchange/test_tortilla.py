"""Protobuf graphs of the Comal simulator: built by hand, exported, damaged."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.dataflow.compiler import Compilation, compile_program
from engine.dataflow.fusion.schedule import Schedule
from engine.dataflow.samml.exchange import (
    TensorFolder,
    TortillaExport,
    export_tortilla,
    import_tortilla,
)
from engine.dataflow.samml.exchange.schema import pb
from engine.dataflow.samml.graph import Graph, StreamKind
from engine.dataflow.sim.imported_runs import ImportedRun, run_imported
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.program_runs import simulate
from engine.dataflow.sim.reports import Limits
from engine.errors import FuseloomError
from engine.models import MODELS, load, load_model
from engine.program import Program, StoredTensor, parse
from tests.property.programs import make_case

SEED = 20_251_103
CASE = Path(__file__).parents[3] / "conformance" / "comal" / "matmul_ikj_34_0.1_None_1"


class Builder:
    """A graph message; streams are named by letters and numbers, ``0`` is void."""

    def __init__(self) -> None:
        self.message = pb.ComalGraph(name="test")
        self.ids: dict[str, int] = {"0": 0}

    def op(self, kind: str, **fields: Any) -> Any:
        operation = self.message.graph.operators.add()
        operation.name = kind
        operation.id = len(self.message.graph.operators)
        message = getattr(operation, kind)
        message.SetInParent()
        for name, value in fields.items():
            self.fill(message, name, value)
        return message

    def fill(self, message: Any, name: str, value: Any) -> None:
        field = message.DESCRIPTOR.fields_by_name[name]
        if field.message_type is None:
            setattr(message, name, value)
        elif isinstance(value, dict):
            child = getattr(message, name)
            for key, item in value.items():
                self.fill(child, key, item)
        elif isinstance(value, list):
            for item in value:
                child = getattr(message, name).add()
                if isinstance(item, dict):
                    for key, part in item.items():
                        self.fill(child, key, part)
                else:
                    child.id.id = self.number(item)
        else:
            getattr(message, name).id.id = self.number(value)

    def number(self, name: str) -> int:
        return self.ids.setdefault(name, len(self.ids))

    def lookup(self, tensor: str, mode: int, ref: str, crd: str, out: str, dense: bool = False):
        form = "dense" if dense else "compressed"
        self.op("fiber_lookup", input_ref=ref, output_crd=crd, output_ref=out, tensor=tensor,
                mode=mode, format=form)  # fmt: skip

    def write(self, crds: list[str], val: str, tensor: str = "X") -> None:
        for mode, crd in enumerate(crds):
            self.op("fiber_write", input_crd=crd, tensor=tensor, mode_val=str(mode))
        self.op("val_write", input_val=val, tensor=tensor)

    def run(self, folder: Path, machine: Machine | None = None) -> ImportedRun:
        return run_bytes(self.message.SerializeToString(), folder, machine or Machine.comal())


def run_bytes(content: bytes, folder: Path, machine: Machine) -> ImportedRun:
    tensors = TensorFolder(folder)
    made = import_tortilla(content, tensors)
    data = {n: tensors.load(made.imported.tensors[n], f) for n, f in made.files.items()}
    return run_imported(made.imported, data, machine, engine="interpreter", lenient=True)


def files(folder: Path, tensor: str, shape: str, levels: list[tuple[str, str] | None], vals: str):
    """Write a tensor's files; numbers are separated by spaces."""

    def put(name: str, numbers: str) -> None:
        (folder / f"tensor_{tensor}_mode_{name}").write_text(numbers.replace(" ", "\n") + "\n")

    put("shape", shape)
    put("vals", vals)
    for mode, level in enumerate(levels):
        if level is not None:
            put(f"{mode}_seg", level[0])
            put(f"{mode}_crd", level[1])


def two_lanes(folder: Path) -> Builder:
    """The worked example of samml.md §8.6: X = 2·B, references forked, results joined."""
    files(folder, "B", "4 3", [("0 4", "0 1 2 3"), ("0 2 3 4 6", "0 1 0 1 0 2")], "1 2 3 4 5 6")
    b = Builder()
    b.op("root", output_ref="r")
    b.lookup("B", 0, "r", "i", "ri")
    b.op("fork", ref={"input": "ri", "outputs": ["l0", "l1"]})
    for lane in "01":
        b.lookup("B", 1, f"l{lane}", f"j{lane}", f"rj{lane}")
        b.op("array", tensor="B", input_ref=f"rj{lane}", output_val=f"v{lane}")
        b.op("alu", vals={"inputs": [f"v{lane}"], "output": f"w{lane}"}, scalar=2.0)
        stage = b.message.graph.operators[-1].alu.stages.add()
        stage.op = pb.ALU.SCALARMUL
    b.op("join", crd={"inputs": ["j0", "j1"], "output": "j"})
    b.op("join", val={"inputs": ["w0", "w1"], "output": "w"})
    b.write(["i", "j"], "w")
    return b


def test_two_lanes(tmp_path: Path) -> None:
    run = two_lanes(tmp_path).run(tmp_path)
    assert run.cycles == 19
    expected = [[2, 4, 0], [6, 0, 0], [0, 8, 0], [10, 0, 12]]
    assert run.check(expected).ok


def test_a_located_level_has_no_lookup(tmp_path: Path) -> None:
    """SpMV with a locator, samml.md §8.2: 14 cycles."""
    files(tmp_path, "B", "3 3", [None, ("0 2 2 3", "0 2 1")], "1 2 3")
    files(tmp_path, "C", "3", [None], "10 20 30")
    b = Builder()
    b.op("root", output_ref="r")
    b.lookup("B", 0, "r", "i", "ri", dense=True)
    b.lookup("B", 1, "ri", "j", "rj")
    b.op("locate", input_crd="j", input_ref="rj", output_ref1="c", output_ref2="b", output_crd="0")
    b.op("array", tensor="B", input_ref="b", output_val="vb")
    b.op("array", tensor="C", input_ref="c", output_val="vc")
    alu = b.op("alu", vals={"inputs": ["vb", "vc"], "output": "p"})
    alu.stages.add().op = pb.ALU.MUL
    b.op("reduce", input_val="p", output_val="s")
    b.write(["i"], "s")
    run = b.run(tmp_path)
    assert run.cycles == 14
    assert run.check([70, 0, 60]).ok


def test_order_two_accumulator_and_hold(tmp_path: Path) -> None:
    """Sum over the outermost of three levels; the file is read back as written."""
    files(tmp_path, "B", "2 2 3", [("0 2", "0 1"), ("0 1 3", "1 0 1"), ("0 2 3 4", "0 2 1 2")],
          "1 2 3 4")  # fmt: skip
    b = Builder()
    b.op("root", output_ref="r")
    b.lookup("B", 0, "r", "i", "ri")
    b.lookup("B", 1, "ri", "j", "rj")
    b.lookup("B", 2, "rj", "k", "rk")
    b.op("array", tensor="B", input_ref="rk", output_val="v")
    b.op("spacc", order=2, input_inner_crd="k", input_outer_crds=["j", "i"], input_val="v",
         output_inner_crd="k2", output_outer_crds=["j2"], output_val="w")  # fmt: skip
    b.write(["j2", "k2"], "w")
    for machine in (Machine.comal(), Machine.default()):
        assert b.run(tmp_path, machine).check([[0, 3, 0], [1, 0, 6]]).ok


def test_drop_and_maximum(tmp_path: Path) -> None:
    files(tmp_path, "B", "3 3", [("0 2", "0 2"), ("0 2 3", "0 1 2")], "-1 -2 -3")
    b = Builder()
    b.op("root", output_ref="r")
    b.lookup("B", 0, "r", "i", "ri")
    b.lookup("B", 1, "ri", "j", "rj")
    b.op("coord_drop", in_inner="j", in_outer="i", out_inner="0", out_outer="kept")
    b.op("array", tensor="B", input_ref="rj", output_val="v")
    b.op("reduce", input_val="v", output_val="m", reduce_type=pb.Reduce.MAX)
    b.write(["kept"], "m")
    assert b.run(tmp_path, Machine.default()).check([-1, 0, -3]).ok
    assert b.run(tmp_path, Machine.comal()).check([-1, 0, 0]).ok  # restarts at 0 (§9.4)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("genref", {"input_crd": "i", "output_ref": "x"}, "is a genref, which cannot be run"),
        ("func", {}, "is a func, which cannot be run"),
        ("concat", {}, "is a concat, which cannot be run"),
        ("coord_mask", {}, "is a coord_mask, which cannot be run"),
        ("spacc", {"order": 3}, "has order 3; the simulator accumulates over one or two levels"),
        ("spacc", {"order": 0}, "has order 0"),
        ("alu", {"crds": {"output": "x"}}, "computes on coordinates"),
        ("joiner", {}, "has 0 operands"),
        ("repeat", {}, "has no input stream"),
        ("broadcast", {}, "has no streams"),
        ("fiber_write", {"tensor": "X"}, "writes no coordinates"),
        ("fork", {"repsig": {"input": "q", "outputs": ["z"]}}, "routes a repeat signal"),
        ("root", {"output_ref": "r"}, "ref stream 1 is written by operation 1 (root) and"),
        ("root", {"output_ref": "unread"}, "ref stream 9 of operation 15 (root) is written but"),
        ("val_write", {"input_val": "0"}, "has an input with id 0, which nothing can feed"),
        ("val_write", {"input_val": "nowhere"}, "is read but never written"),
        ("array", {"tensor": "../../etc/passwd"}, "has an input with id 0"),
    ],
)
def test_refusals(tmp_path: Path, kind: str, fields: dict[str, Any], message: str) -> None:
    b = two_lanes(tmp_path)
    b.ids |= {"unread": 9} if "unread" in str(fields) else {}
    if "unread" in str(fields):
        b.ids["unread"] = 99
        message = message.replace("stream 9", "stream 99")
    b.op(kind, **fields)
    with pytest.raises(FuseloomError) as caught:
        b.run(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("B_mode_0_crd", None, "cannot read"),
        ("B_mode_0_crd", "0\nx\n", "is not a list of numbers"),
        ("B_mode_1_seg", "0\n9\n", "level 1 (dimension 1): seg has shape 2"),
        ("B_mode_vals", "1\n2\n", "stores 6 positions, but 2 values"),
        ("B_mode_vals", "1\n" * 6 * 256, "has 16x16 blocks as values, which cannot be run"),
        ("B_mode_shape", "4\n", "B has 1 dimensions, the graph reads 2"),
        ("B_mode_shape", "4\n99999999999\n", "is no shape"),
        ("B_mode_1_crd", "0\n1\n0\n1\n0\n7\n", "is outside 0..2"),
    ],
)
def test_bad_data(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    b = two_lanes(tmp_path)
    path = tmp_path / f"tensor_{name}"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(FuseloomError) as caught:
        b.run(tmp_path)
    assert message in str(caught.value)


def test_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    b = two_lanes(tmp_path)
    for operation in b.message.graph.operators:
        if operation.WhichOneof("op") in ("array", "fiber_lookup"):
            getattr(operation, operation.WhichOneof("op")).tensor = "../secret"
    with pytest.raises(FuseloomError, match="cannot name a tensor's files"):
        b.run(tmp_path)


def test_blocks_need_a_size(tmp_path: Path) -> None:
    b = two_lanes(tmp_path)
    for operation in b.message.graph.operators:
        if operation.WhichOneof("op") == "array":
            operation.array.blocked = True
    with pytest.raises(FuseloomError, match="works on blocks, whose size the file does not say"):
        b.run(tmp_path)
    content = b.message.SerializeToString()
    made = import_tortilla(content, TensorFolder(tmp_path), 16).imported.graph
    assert {n.params["block"] for n in made.nodes if n.op in ("array", "unary")} == {16}
    with pytest.raises(FuseloomError, match="blocks of edge 5 have no timing"):
        import_tortilla(content, TensorFolder(tmp_path), 5)


def test_damaged_files_give_errors_and_nothing_else() -> None:
    """Cut off or with bits flipped: a FuseloomError, or a graph that runs or fails as one."""
    content = (CASE / "op.bin").read_bytes()
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    refused = sum(is_refused(damage(content, rng)) for _ in range(300))
    assert refused > 150


def damage(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content))
    if rng.random() < 0.4:
        return content[:at]
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def is_refused(content: bytes) -> bool:
    tensors = TensorFolder(CASE)
    try:
        made = import_tortilla(content, tensors)
        for name, file in made.files.items():
            tensors.load(made.imported.tensors[name], file)
    except FuseloomError as problem:
        return "\n" not in problem.message
    return False


def change(message: Any, rng: random.Random) -> None:
    """Change one field, somewhere, to something the schema allows."""
    fields = list(message.DESCRIPTOR.fields)
    if not fields:
        return
    field = rng.choice(fields)
    value = getattr(message, field.name)
    if field.is_repeated:
        if field.message_type is not None and len(value):
            match rng.randrange(8):
                case 0:
                    del value[rng.randrange(len(value))]
                case 1:
                    value.add().CopyFrom(rng.choice(list(value)))
                case _:
                    change(rng.choice(list(value)), rng)
    elif field.message_type is not None:
        if rng.random() < 0.1:
            message.ClearField(field.name)
        elif message.HasField(field.name) or rng.random() < 0.1:
            change(value, rng)
    elif field.enum_type is not None:
        setattr(message, field.name, rng.randrange(15))
    elif isinstance(value, bool):
        setattr(message, field.name, not value)
    elif isinstance(value, int):
        setattr(message, field.name, rng.choice([0, 1, 2, 3, rng.randrange(25), 2**31 - 1]))
    elif isinstance(value, str):
        words = ["B", "C", "X", "compressed", "dense", "", "1", "B-1,0", "B@1,0", "C@0", "@"]
        setattr(message, field.name, rng.choice(words))


def test_changed_graphs_give_errors_and_nothing_else() -> None:
    """Graphs the schema allows, but that make no sense: a FuseloomError, or a run."""
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    outcomes = [is_run(changed(rng)) for _ in range(250)]
    assert 50 < sum(outcomes) < 200


def changed(rng: random.Random) -> bytes:
    message = pb.ComalGraph.FromString((CASE / "op.bin").read_bytes())
    for _ in range(rng.randint(1, 4)):
        change(rng.choice(list(message.graph.operators)), rng)
    content: bytes = message.SerializeToString()
    return content


def is_run(content: bytes) -> bool:
    tensors = TensorFolder(CASE)
    try:
        made = import_tortilla(content, tensors)
        data = {n: tensors.load(made.imported.tensors[n], f) for n, f in made.files.items()}
        run_imported(made.imported, data, Machine.comal(), engine="interpreter",
                     limits=Limits(30_000), lenient=True)  # fmt: skip
    except FuseloomError:
        return False
    return True


# Export -------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("model", MODELS)
def test_models_export(model: str, tmp_path: Path) -> None:
    made = load_model(model)
    done = 0
    for k, preset in enumerate((None, *made.presets)):
        schedule = Schedule() if preset is None else Schedule.parse(made.presets[preset])
        done += exports(compile_program(made.program, schedule), tmp_path / str(k))[0]
    assert done


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


def test_exports_without_warnings_run_in_the_target(tmp_path: Path) -> None:
    """On the copied machine with all its quirks they give what ours gave."""
    print(f"seeds from {SEED}")
    compared = 0
    for seed in range(SEED, SEED + 60):
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


def test_relu_is_a_maximum_with_one_input() -> None:
    compiled = compile_program(parse("A: 4 compressed\nT[i] = relu(A[i])"))
    made = export_tortilla(compiled.regions[0].graph, compiled.program.by_name)
    message = pb.ComalGraph.FromString(made.data)
    (alu,) = [o.alu for o in message.graph.operators if o.WhichOneof("op") == "alu"]
    assert (alu.stages[0].op, len(alu.vals.inputs), alu.scalar) == (pb.ALU.MAX, 1, 0)


def test_a_product_that_nobody_sums_is_elementwise() -> None:
    compiled = compile_program(parse("A: 4 dense\nB: 4 compressed\nT[i] = A[i] * B[i]"))
    made = export_tortilla(compiled.regions[0].graph, compiled.program.by_name)
    message = pb.ComalGraph.FromString(made.data)
    codes = [o.alu.stages[0].op for o in message.graph.operators if o.WhichOneof("op") == "alu"]
    assert codes == [pb.ALU.ELEMMUL]
    ids = [s.id for o in message.graph.operators for s in [o]]
    assert ids == list(range(1, len(ids) + 1))


def test_capacities_are_kept(tmp_path: Path) -> None:
    compiled = compile_program(parse("A: 4 dense\nB: 4 compressed\nT[i] = A[i] * B[i]"))
    graph = compiled.regions[0].graph.with_capacity(7)
    made = export_tortilla(graph, compiled.program.by_name)
    kinds = {(s.kind is StreamKind.SIG, s.capacity) for s in made.graph.streams}
    assert kinds <= {(False, 7), (True, None)}  # signals are inside the target's repeaters
    assert (False, 7) in kinds
    assert read_back(made, tmp_path) == made.graph
    assert "the target does not read channel capacities" in str(made.warnings[0])
