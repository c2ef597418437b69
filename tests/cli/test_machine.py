"""``fuseloom machine`` and ``--machine``: what is printed is taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuseloom.cli.machine import machine_of
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.errors import SimulationError
from tests.cli.commands import error, file, output


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_printed_is_that_machine(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path, "m.toml", output(capsys, "machine", name))
    assert machine_of(path) == Machine.preset(name)
    shown = json.loads(output(capsys, "machine", name, "--json"))
    assert shown["fingerprint"] == Machine.preset(name).fingerprint
    assert shown["modelled_energy"] is None
    del shown["fuseloom"], shown["version"], shown["fingerprint"], shown["modelled_energy"]
    assert Machine.from_dict(shown) == Machine.preset(name)


def test_a_technology_is_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    told = error(capsys, "machine", "hbm2", "--technology", "22")
    assert told.endswith("(hint: add --energy-from hwcomponents)\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"a = " + b"[" * 30_000, "machine: "),
        (b"alu_latency = 0", "alu_latency is 0"),
        (b"#" * 2_000_000, "is larger than 65,536 bytes"),
    ],
)
def test_files_that_are_no_machine(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=message):
        machine_of(file(tmp_path, "m.toml", content))
