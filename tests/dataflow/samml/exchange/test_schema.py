"""The generated protobuf classes are those of the schema; run as a script, regenerates them.

They are generated with grpcio-tools 1.62 (protoc 4.25): what later ones generate refuses older
runtimes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from google.protobuf import descriptor_pb2

from fuseloom.dataflow.samml.exchange.schema import pb

SCHEMA = Path(pb.__file__).with_name("tortilla.proto")


def protoc(*options: str) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{SCHEMA.parent}", *options]
    subprocess.run([*command, SCHEMA.name], check=True, capture_output=True)


def test_the_classes_are_those_of_the_schema(tmp_path: Path) -> None:
    protoc(f"--descriptor_set_out={tmp_path / 'set'}")
    fresh = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "set").read_bytes()).file[0]
    committed = descriptor_pb2.FileDescriptorProto()
    pb.DESCRIPTOR.CopyToProto(committed)
    assert without_json_names(committed) == without_json_names(fresh)


def without_json_names(file: descriptor_pb2.FileDescriptorProto) -> str:
    """Only protoc fills them in."""
    return "\n".join(line for line in str(file).split("\n") if "json_name" not in line)


def test_the_classes_accept_every_runtime_that_the_project_allows() -> None:
    text = Path(pb.__file__).read_text(encoding="utf-8")
    assert "# Protobuf Python Version: 4.25." in text
    assert "runtime_version" not in text


def test_field_numbers() -> None:
    """The numbers are the format; a few that are easily mistaken (docs/spec/comal.md §5.1)."""
    numbers = {
        ("Operation", "root"): 11,
        ("Operation", "concat"): 31,
        ("FiberLookup", "input_ref"): 2,
        ("Joiner", "output_crd"): 6,
        ("ALU", "scalar"): 8,
        ("SparseAccumulator", "output_outer_crds"): 10,
        ("Repeat", "rep_val"): 6,
        ("ComalGraph", "graph"): 3,
    }
    for (message, field), number in numbers.items():
        fields = pb.DESCRIPTOR.message_types_by_name[message].fields_by_name
        assert fields[field].number == number


if __name__ == "__main__":
    protoc(f"--python_out={SCHEMA.parent}")
