"""``fuseloom rtl``: files that any simulator runs, a run beside the simulator, clear refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.results.document import DocumentKind
from tests.schemas import check_document

needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")
pytestmark = pytest.mark.deep


@needs_icarus
def test_a_run_is_compared_with_the_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "--model", "spmv", "--run", "--simulator", "icarus", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    check_document(made, DocumentKind.RTL)
    assert (made["cycles"], made["simulated"], made["machine"]) == (38, 38, "rtl")
    assert made["max_rel_error"] < 1e-7
    (region,) = made["regions"]
    assert region["run"]["passed"]
    assert region["run"]["differences"] == []
    assert region["nodes"] == 18
    assert region["folder"] is None
    assert made["area"] == {key: region["area"][key] for key in made["area"]}
    assert min(made["area"].values()) > 0
    assert 0 < region["area"]["channel_luts"] < made["area"]["luts"]


@needs_icarus
def test_the_files_are_whole_and_their_readme_is_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hardware"
    assert main(["rtl", "--model", "spmv", "--output", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "1 folder" in shown.out
    (region,) = folder.iterdir()
    lines = (region / "README").read_text().splitlines()
    commands = [line.strip() for line in lines if line.startswith("    ")]
    compiled, run = commands[:2]
    subprocess.run(compiled.split(), cwd=region, check=True)
    done = subprocess.run(run.split(), cwd=region, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "PASS: 38 cycles"


@needs_icarus
def test_a_word_that_is_wrong_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "--model", "spmv", "--output", str(tmp_path / "hardware")]) == 0
    (region,) = (tmp_path / "hardware").iterdir()
    expected = next(region.glob("*vals.expected.hex"))
    words = expected.read_text().split()
    expected.write_text("\n".join(["3f800001", *words[1:]]) + "\n")
    commands = [
        line.split() for line in (region / "README").read_text().splitlines() if line[:4] == "    "
    ]
    subprocess.run(commands[0], cwd=region, check=True)
    done = subprocess.run(commands[1], cwd=region, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "FAIL: 38 cycles"
    assert "_vals 0 " in next(line for line in done.stdout.splitlines() if "wrong" in line)


def test_block_memories_beyond_the_device_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["rtl", "--model", "spmv", "--output", str(tmp_path / "hardware")]
    assert main([*command, "--block-ram", "2"]) == 2
    told = capsys.readouterr().err
    assert "region y needs 4 block memories of 36 kbit, and the device has 2" in told
    assert "(hint: a device with more block memories, smaller data" in told
    assert main([*command, "--block-ram", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["area"]["block_rams"] == 4


def test_refusals_name_a_way_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, told in (
        ([], "nothing to do (hint: give --output DIR, --run or both)"),
        (["--output", "x", "--simulator", "icarus"], "--simulator goes with --run"),
        (["--run", "--machine", "hbm2"], "has a memory, which has no hardware"),
    ):
        assert main(["rtl", "--model", "spmv", *arguments]) == 2
        assert told in capsys.readouterr().err
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert main(["rtl", "--model", "spmv", "--run"]) == 2
    assert "neither Icarus Verilog nor Verilator is installed" in capsys.readouterr().err
