"""The choices of the importer: names, formats, orders, regions, sizes; the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fuseloom.cli import main
from tests.frontends.mlir.texts import OPEN

from .files import CORPUS


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def regions(printed: str) -> list[str]:
    return [line.partition(":")[0] for line in printed.splitlines() if ": order " in line]


def test_compile(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(CORPUS / "two_regions.mlir")
    assert regions(output(capsys, "compile", path)) == ["t0..t1", "t0_2..t1_2"]
    unfused = output(capsys, "compile", path, "--preset", "unfused")
    assert regions(unfused) == ["t0", "t1", "t0_2", "t1_2"]


def test_simulate_with_constants_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(output(capsys, "simulate", str(CORPUS / "constants.mlir"), "--json"))
    assert shown["check"]["ok"]
    assert output(capsys, "estimate", str(CORPUS / "constants.mlir"))


def test_tensors_give_open_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, tensors = tmp_path / "open.mlir", tmp_path / "data.npz"
    program.write_text(OPEN, encoding="utf-8")
    np.savez(tensors, A=np.eye(3, 4), x=np.arange(4.0))
    shown = output(capsys, "simulate", str(program), "--tensors", str(tensors), "--json")
    assert json.loads(shown)["check"]["ok"]


def test_errors_name_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f(%A: memref<4xf32>) { return }", encoding="utf-8")
    assert main(["compile", str(path)]) == 2
    assert (
        "bad.mlir: line 1, column 18: %A is outside the subset: it is a memref"
        in capsys.readouterr().err
    )


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "mlir.md").read_text(encoding="utf-8")
    shown = page.partition("$ fuseloom compile docs/examples/gcn.mlir\n")[2].partition("```")[0]
    assert output(capsys, "compile", str(root / "docs" / "examples" / "gcn.mlir")) == shown
