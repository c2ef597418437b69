"""Protobuf graphs built by hand, and damage done to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.exchange import (
    TensorFolder,
    import_tortilla,
)
from fuseloom.dataflow.samml.exchange.schema import pb
from fuseloom.dataflow.sim.imported_runs import ImportedRun, run_imported

SEED = 20_251_103


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
    """docs/spec/machine.md §12.3: X = 2·B, references forked, results joined."""
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
