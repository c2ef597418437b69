"""The command line on graphs of other tools: what it prints, and how it fails."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from fuseloom.cli import main
from fuseloom.dataflow.sim.conformance.judge import PRIMITIVES
from tests.cli.commands import INTERPRETER, error, output

VECTORS = Path(__file__).parent.parent / "conformance"
SAM = str(VECTORS / "sam" / "matmul_ikj.gv")
TENSORS = str(VECTORS / "sam" / "matmul_ikj__small.npz")
COMAL = VECTORS / "comal" / "elemadd_34_0.1_None_1"


def test_sam(capsys: pytest.CaptureFixture[str]) -> None:
    printed = output(capsys, "simulate", "--sam", SAM, "--tensors", TENSORS, *INTERPRETER)
    lines = printed.split("\n")
    assert [line[:12] for line in lines[:3]] == ["repaired: R3", "repaired: R1", "repaired: R2"]
    assert lines[3].startswith("SAM: 57 cycles, ")
    assert re.fullmatch(
        r"energy: 18.21 nJ, 91% memory, 4% buffer, 4% channel; energy-delay product: \S+ J s",
        lines[4],
    )
    assert lines[5] == "X: 5x6, 11 values"
    assert "matches the expected values" in printed


def test_sam_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    made = json.loads(output(capsys, "simulate", "--sam", SAM, "--tensors", TENSORS, "--json"))
    with np.load(TENSORS) as arrays:
        expected = arrays["expected"]
    dense = np.zeros(made["outputs"]["X"]["shape"])
    for point, value in zip(made["outputs"]["X"]["coordinates"], made["outputs"]["X"]["values"],
                            strict=True):  # fmt: skip
        dense[tuple(point)] = value
    np.testing.assert_allclose(dense, expected)
    assert made["cycles"] == 57
    assert made["check"]["ok"] is True
    assert {r["rule"] for r in made["repairs"]} == {"R1", "R2", "R3"}
    assert all(r["node"] and r["change"] and r["why"] for r in made["repairs"])


def test_a_wrong_result_gives_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with np.load(TENSORS) as arrays:
        changed = {**arrays, "expected": arrays["expected"] + 1}
    np.savez(tmp_path / "d.npz", **changed)
    arguments = ("simulate", "--sam", SAM, "--tensors", str(tmp_path / "d.npz"))
    assert "MISMATCH: relative error" in output(capsys, *arguments, *INTERPRETER, code=1)
    assert json.loads(output(capsys, *arguments, "--json", code=1))["check"]["ok"] is False
    changed["expected"] = np.zeros((2, 2))
    np.savez(tmp_path / "d.npz", **changed)
    assert "MISMATCH: shape (5, 6), expected (2, 2)" in output(capsys, *arguments, code=1)


def test_dense_arrays_are_operands_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    b, c = rng.integers(0, 3, (3, 4)) * 1.0, rng.integers(0, 3, (4, 2)) * 1.0
    np.savez(tmp_path / "d.npz", B=b, C=c, expected=b @ c)
    arguments = ("simulate", "--sam", SAM, "--tensors", str(tmp_path / "d.npz"), *INTERPRETER)
    assert "X: 3x2" in output(capsys, *arguments)


def test_tortilla(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("simulate", "--tortilla", str(COMAL / "op.bin"), "--machine", "comal")
    made = json.loads(output(capsys, *arguments, "--tensors", str(COMAL), "--json"))
    assert made["cycles"] == 264
    out = (COMAL / "out" / "out_X_vals").read_text().split()
    assert made["outputs"]["X"]["level_values"] == [float(v) for v in out]
    assert made["check"] is None
    assert output(capsys, *arguments).startswith("mat_elemadd: 264 cycles")  # its own folder
    folder = ("simulate", "--tortilla", str(COMAL), "--machine", "comal")
    assert output(capsys, *folder).startswith("mat_elemadd: 264 cycles")
    bounded = json.loads(output(capsys, *arguments, "--capacity", "1", "--json"))
    assert bounded["cycles"] > 264
    blocks = json.loads(output(capsys, *arguments, "--block", "16", "--json"))
    assert blocks["cycles"] > 264
    assert "busy" in output(capsys, *arguments, "--trace")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sam", SAM], "the graph needs data"),
        (["--sam", "missing.gv", "--tensors", TENSORS], "cannot read missing.gv"),
        (["--sam", SAM, "--tensors", "missing.npz"], "cannot read missing.npz: No such file"),
        (["--sam", SAM, "--tensors", SAM], "cannot read tensors from"),
        (["--sam", TENSORS, "--tensors", TENSORS], "is not UTF-8 text"),
        (["--sam", SAM, "--graph", SAM, "--tensors", TENSORS], "give one of --sam, --graph"),
        (["--sam", SAM, "--tensors", TENSORS, "--model", "gcn"], "takes no --model"),
        (["--sam", SAM, "--tensors", TENSORS, "--block", "16"], "--block goes with --tortilla"),
        (["--block", "16", "--model", "gcn"], "--block goes with --tortilla"),
        (["--tortilla", SAM], "not a protobuf graph"),
        (["--tortilla", str(COMAL / "op.bin"), "--tensors", TENSORS], "is no folder"),
        (["--tortilla", str(COMAL / "op.bin"), "--tensors", str(VECTORS)], "cannot read"),
        (["--graph", SAM, "--tensors", TENSORS], "malformed graph JSON"),
        (["--graph", str(PRIMITIVES), "--tensors", TENSORS], "graph"),
    ],
)
def test_errors(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = error(capsys, "simulate", *arguments)
    assert text.startswith("fuseloom: error: ")
    assert message in text


@pytest.mark.parametrize("trials", [24, pytest.param(60, marks=pytest.mark.fuzz)])
def test_damaged_data_files(
    trials: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any damage to an .npz file gives one line and exit code 2, or the data are still whole."""
    content = Path(TENSORS).read_bytes()
    path = tmp_path / "d.npz"
    rng = random.Random(20_251_104)
    codes = set()
    for trial in range(trials):
        at = rng.randrange(len(content))
        changed = content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        path.write_bytes(content[:at] if trial % 3 == 0 else changed)
        codes.add(main(["simulate", "--sam", SAM, "--tensors", str(path), *INTERPRETER]))
        assert capsys.readouterr().err.count("\n") <= 1
    assert 2 in codes
    assert codes <= {0, 1, 2}


@pytest.mark.parametrize("trials", [30, pytest.param(120, marks=pytest.mark.fuzz)])
def test_damaged_graph_json(
    trials: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "g.json"
    output(capsys, "compile", "--model", "spmv", "--export", "json", "--output", str(good))
    np.savez(tmp_path / "d.npz", A=np.eye(8), x=np.ones(8))
    text = good.read_text()
    bad = tmp_path / "bad.json"
    rng = random.Random(20_251_105)
    for trial in range(trials):
        at = rng.randrange(len(text))
        changed = text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]
        bad.write_text(text[:at] if trial % 3 == 0 else changed)
        data = str(tmp_path / "d.npz")
        code = main(["simulate", "--graph", str(bad), "--tensors", data, *INTERPRETER])
        assert code in (0, 2)
        assert capsys.readouterr().err.count("\n") <= 1


def test_graph_json_without_declarations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A graph's own JSON: formats come from its nodes, shapes from the data."""
    program = tmp_path / "p.loom"
    program.write_text("A: 3x4 dcsr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n")
    made = json.loads(output(capsys, "compile", str(program), "--json"))
    path = tmp_path / "g.json"
    path.write_text(json.dumps(made["regions"][0]["graph"]))
    rng = np.random.default_rng(3)
    a, x = rng.integers(0, 2, (3, 4)) * 1.0, rng.normal(size=4)
    np.savez(tmp_path / "d.npz", A=a, x=x, expected=a @ x)
    output(capsys, "simulate", "--graph", str(path), "--tensors", str(tmp_path / "d.npz"))
    np.savez(tmp_path / "e.npz", A=a)
    arguments = ("simulate", "--graph", str(path), "--tensors", str(tmp_path / "e.npz"))
    assert "data of operand x are missing" in error(capsys, *arguments)


def test_huge_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dimension that no table fits is fine where it is sparse, and refused where dense."""
    side = 2**31 - 1
    parts = {
        name: np.array(value)
        for t, at in (("B", [0, 5]), ("C", [5, 7]))
        for name, value in ((f"{t}_coords", [at]), (f"{t}_vals", [2.0]), (f"{t}_shape", [side] * 2))
    }
    np.savez(tmp_path / "d.npz", **parts)
    data = ("--tensors", str(tmp_path / "d.npz"))
    made = json.loads(output(capsys, "simulate", "--sam", SAM, *data, "--json"))
    assert made["outputs"]["X"]["coordinates"] == [[0, 7]]
    assert made["outputs"]["X"]["values"] == [4.0]
    dense = tmp_path / "dense.gv"
    dense.write_text((VECTORS / "sam" / "mat_identity_dense.gv").read_text())
    assert "the limit is" in error(capsys, "simulate", "--sam", str(dense), *data)
    parts["B_shape"] = np.array([2**40, 3])
    np.savez(tmp_path / "d.npz", **parts)
    assert "has a size outside" in error(capsys, "simulate", "--sam", SAM, *data)


def test_programs_take_tensors_by_coordinates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.loom"
    program.write_text("A: 3x4 dcsr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n")
    parts = {"A_coords": [[0, 1], [2, 3]], "A_vals": [1.0, 2.0], "A_shape": [3, 4]}
    np.savez(tmp_path / "d.npz", x=np.ones(4), **{k: np.array(v) for k, v in parts.items()})
    printed = output(capsys, "simulate", str(program), "--tensors", str(tmp_path / "d.npz"))
    assert "matches the dense reference" in printed


def test_a_folder_may_lie_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(COMAL / "op.bin", tmp_path / "op.bin")
    arguments = ("simulate", "--tortilla", str(tmp_path / "op.bin"), "--machine", "comal")
    assert "cannot read" in error(capsys, *arguments)
    assert "264 cycles" in output(capsys, *arguments, "--tensors", str(COMAL))


def test_help_explains(capsys: pytest.CaptureFixture[str]) -> None:
    for command, words in {
        "simulate": ("--sam", "--tortilla", "--graph", "--block", "every repair is listed"),
        "compile": ("--export", "--output", "--strict", "Comal's protobuf"),
    }.items():
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = " ".join(capsys.readouterr().out.split())
        assert all(word in text for word in words)
