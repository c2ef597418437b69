"""Protobuf graphs of Comal: built by hand, imported, run, damaged."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import (
    TensorFolder,
    export_tortilla,
    import_tortilla,
)
from fuseloom.dataflow.samml.exchange.schema import pb
from fuseloom.dataflow.sim.imported_runs import run_imported
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import FuseloomError
from fuseloom.program import parse
from tests.dataflow.samml.exchange.protobuf import SEED, Builder, files, two_lanes
from tests.tiers import counts

CASE = Path(__file__).parents[3] / "conformance" / "comal" / "matmul_ikj_34_0.1_None_1"


def test_two_lanes(tmp_path: Path) -> None:
    run = two_lanes(tmp_path).run(tmp_path)
    assert run.cycles == 19
    expected = [[2, 4, 0], [6, 0, 0], [0, 8, 0], [10, 0, 12]]
    assert run.check(expected).ok


def test_a_located_level_has_no_lookup(tmp_path: Path) -> None:
    """SpMV with a locator, docs/spec/machine.md §12.1: 14 cycles."""
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
    assert b.run(tmp_path, Machine.comal()).check([-1, 0, 0]).ok  # restarts at 0


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
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
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


@counts(small=60, deep=100, fuzz=250)
def test_changed_graphs_give_errors_and_nothing_else(count: int) -> None:
    """Graphs the schema allows, but that make no sense: a FuseloomError, or a run."""
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    outcomes = [is_run(changed(rng)) for _ in range(count)]
    assert 0.18 * count < sum(outcomes) < 0.82 * count


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
