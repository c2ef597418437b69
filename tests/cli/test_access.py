"""``fuseloom access``: kernels, terms, networks, rules, what is refused."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fuseloom.access.text import read_term
from fuseloom.cli.main import main
from fuseloom.exploration.store.location import VARIABLE
from fuseloom.program import parse

CONV = ("conv2d", "--extents", "n=1,c=3,h=32,w=32,o=8,r=3,s=3")


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["access", *arguments, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


def test_a_convolution_becomes_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    made = _json(capsys, *CONV, "--array", "64x64")
    assert made["calls"] == [{"rows": 27, "columns": 8, "batch": 900, "cycles": 960}]
    assert made["rules"] == [
        "flatten-operands", "cartProd-of-reshapes", "dotProd-of-reshape", "systolic-array",
    ]  # fmt: skip
    assert made["cycles"] == 960
    assert made["utilisation"] == pytest.approx(27 * 8 * 900 / (960 * 64 * 64))
    assert made["max_rel_error"] < 1e-12
    assert "cartProd" in made["before"]
    assert "systolicArray 27 8" in made["after"]
    read_term(made["after"])
    assert made["nodes"] <= 40
    assert made["iterations"] <= 6


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        (("matmul", "--extents", "m=32,k=32,n=32", "--array", "16x16"), 4),
        (("dense", "--extents", "batch=2,inputs=16,outputs=8", "--array", "16x16"), 1),
        (("batched-matmul", "--extents", "batch=3,m=4,k=4,n=4"), 3),
        (("conv2d", "--extents", "n=1,c=4,h=6,w=6,o=4,r=3,s=3,stride=2,padding=1,groups=4"), 4),
        (("max-pool", "--extents", "n=1,c=4,h=6,w=6,r=2,s=2,stride=2"), 0),
        (("mean-pool", "--extents", "n=1,c=4,h=6,w=6,r=2,s=2"), 0),
    ],
)
def test_every_kernel(
    arguments: tuple[str, ...], calls: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(_json(capsys, *arguments)["calls"]) == calls


def test_people_read_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("matmul", "--extents", "m=32,k=32,n=32", "--array", "8x8")
    assert main(["access", *arguments, "--explain", "--optimal"]) == 0
    said = capsys.readouterr().out
    for words in ("proved to be optimal", "split-vectors", "step 1: ", "16 calls", "4 more calls"):
        assert words in said


def test_a_term_of_a_file_and_rules_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    term = tmp_path / "own.sexp"
    term.write_text("(tensor A 8 8) (compute dotProd (cartProd (access A 1) (access A 1)))")
    made = _json(capsys, "--term", str(term), "--array", "8x8", "--rules", "paper", "--iterations",
                 "3")  # fmt: skip
    assert made["layers"][0]["name"] == "own.sexp"
    assert len(made["calls"]) == 1
    rules = tmp_path / "own.rules"
    rules.write_text('(rule wrong "x" (cartProd ?a ?b) => (cartProd ?b ?a))')
    assert main(["access", "--term", str(term), "--rules", str(rules), "--check-rules"]) == 2
    assert "wrong is unsound" in capsys.readouterr().err
    assert main(["access", "--term", str(term), "--rules", "laws", "--check-rules", "20"]) == 0
    said = capsys.readouterr().out
    assert "transposes-compose held in 20 random instances" in said
    assert "not mapped" in said


def test_terms_as_programs(capsys: pytest.CaptureFixture[str]) -> None:
    matmul = ("matmul", "--extents", "m=8,k=8,n=8")
    assert main(["access", *matmul, "--as-program", "given"]) == 0
    said = capsys.readouterr().out
    assert "R[i,j] = activations[i,k] * weights[k,j]\noutput R\n# Which dim" in said
    assert parse(said).outputs == ("R",)
    assert main(["access", *matmul, "--array", "4x4", "--as-program", "mapped"]) == 0
    said = capsys.readouterr().out
    assert len(parse(said).statements) > 4
    assert "# 4 calls of a systolic array (4 × 4) are products" in said


@pytest.mark.deep  # needs PyTorch
def test_layers_of_a_network_as_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["access", "--torch", "lenet", "--as-program", "given"]) == 0
    assert capsys.readouterr().out.count("program layer_") == 7


def test_a_wrong_rule_makes_a_wrong_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "own.rules"
    rules.write_text(
        '(rule wrong "x" (compute dotProd (cartProd ?a ?b))\n'
        " => (systolicArray 8 8 ?b (access ?a 0)))"
    )
    arguments = ["access", "matmul", "--extents", "m=8,k=8,n=8", "--rules", str(rules)]
    assert main(arguments) == 1
    assert "largest error" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "a kernel, a term, a network or a program"),
        (("matmul", "--torch", "lenet"), "kernel and torch"),
        (("matmul",), "no m and no k"),
        (("matmul", "--extents", "m=8,k=8,q=8"), "no extent q"),
        (("matmul", "--extents", "m=8,m=9"), "two extents"),
        (("matmul", "--extents", "m:8"), "no extent"),
        (("matmul", "--extents", "m=0,k=1,n=1"), "m is 0"),
        (("matmull",), "no kernel"),
        ((*CONV, "--as-program", "given", "--json"), "prints text"),
        ((*CONV, "--array", "64"), "no array"),
        ((*CONV, "--array", "0x64"), "1 to 4096 rows"),
        ((*CONV, "--rules", "boxen"), "neither a set of rules nor a file"),
        ((*CONV, "--without", "boxen"), "there is no rule boxen"),
        (("--term", "nowhere.sexp"), "nowhere.sexp"),
        (("--program", "nowhere.loom"), "nowhere.loom"),
        (("ij,jk->ik", "--extents", "i=2,j=2"), "no extent of k"),
        (("ij->i",), "no einsum string of two operands"),
        (("--torch", "resnet19"), "resnet19"),
        (("--torch", "lenet", "--extents", "m=1"), "those of a kernel"),
        ((*CONV, "--seconds", "0"), "more than 0"),
        ((*CONV, "--array", "64x64,"), "'' is no array"),
        ((*CONV, "--buffer", "64KiB,many"), "--buffer: 'many' is no size"),
        ((*CONV, "--buffer", "64KiB,"), "--buffer: '' is no size"),
        ((*CONV, "--buffer", "0"), "--buffer: '0' is no size"),
        ((*CONV, "--bandwidth", "32,fast"), "--bandwidth: 'fast' is no bandwidth"),
        ((*CONV, "--bandwidth", "0"), "--bandwidth: '0' is no bandwidth"),
        ((*CONV, "--bandwidth", "1e-300"), "--bandwidth: '1e-300' is no bandwidth"),
        ((*CONV, "--bandwidth", "8,,16"), "--bandwidth: '' is no bandwidth"),
        ((*CONV, "--bandwidth", "inf"), "--bandwidth: 'inf' is no bandwidth"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["access", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_products_of_a_program_and_of_an_einsum_string(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.loom"
    file.write_text("A: 8x4 dense\nB: 4x5 dense\nC[i,j] = A[i,k] * B[k,j]\nD[i,j] = relu(C[i,j])\n")
    made = _json(capsys, "--program", str(file))
    assert [layer["name"] for layer in made["layers"]] == ["C"]
    assert made["others"][0]["name"] == "D"
    made = _json(capsys, "bij,bjk->bik", "--extents", "b=3,i=4,j=5,k=6")
    assert len(made["calls"]) == 3


def test_of_several_arrays_the_best_within_an_area_is_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("matmul", "--extents", "m=64,k=64,n=64", "--array", "8x8,16x16,32x32")
    made = _json(capsys, *arguments, "--area", "300", "--single-buffered", "--bandwidth", "8")
    assert made["array"] == {"rows": 16, "columns": 16}
    assert [design["area"] for design in made["designs"]] == [64.0, 256.0, 1024.0]
    assert made["designs"][1]["traffic"] == made["traffic"]
    assert made["traffic"]["cycles"] > made["cycles"]
    assert main(["access", *arguments]) == 0
    assert "32 × 32" in capsys.readouterr().out
    assert main(["access", *arguments, "--area", "1"]) == 2
    assert "the smallest design has 64" in capsys.readouterr().err


SWEEP = (
    "matmul", "--extents", "m=64,k=64,n=64", "--array", "16x16,32x32",
    "--buffer", "4KiB,16384", "--bandwidth", "8,32.5",
)  # fmt: skip


def test_every_array_with_every_memory_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """In one command as in a command for each; of the same size twice there is one."""
    made = _json(capsys, *SWEEP, "--byte-area", "0.01", "--area", "1100")
    combinations = list(product((16, 32), (4096, 16384), (8, 32.5)))
    assert [
        (design["array"]["rows"], design["buffer"], design["bandwidth"])
        for design in made["designs"]
    ] == combinations
    for (rows, buffer, bandwidth), design in zip(combinations, made["designs"], strict=True):
        alone = _json(
            capsys, *SWEEP[:3], "--array", f"{rows}x{rows}", "--buffer", str(buffer),
            "--bandwidth", str(bandwidth), "--byte-area", "0.01",
        )  # fmt: skip
        assert alone["designs"] == [design]
        assert (alone["buffer"], alone["bandwidth"]) == (buffer, bandwidth)
    within = [design for design in made["designs"] if design["area"] <= 1100]
    best = min(within, key=lambda design: (design["traffic"]["cycles"], design["area"]))
    for key in ("array", "buffer", "bandwidth", "traffic"):
        assert made[key] == best[key]
    again = _json(capsys, *SWEEP[:3], "--array", "8x8,8x8", "--buffer", "64KiB,65536")
    assert len(again["designs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        (SWEEP, ["array", "buffer", "bandwidth", "area"]),
        ((*SWEEP, "--bandwidth", "8"), ["array", "buffer", "area"]),
        ((*SWEEP, "--buffer", "1MiB"), ["array", "bandwidth", "area"]),
        ((*SWEEP, "--buffer", "1MiB", "--bandwidth", "8"), ["array", "area"]),
        ((*SWEEP, "--array", "8x8"), ["array", "buffer", "bandwidth", "area"]),
    ],
)
def test_the_table_has_columns_of_what_is_compared(
    arguments: tuple[str, ...], titles: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["access", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    (head,) = (line for line in lines if line.startswith("array "))
    assert head.split()[: len(titles)] == titles
    rows = [line for line in lines if re.match(r"\d+ × \d+ ", line)]
    assert sum(line.endswith("  best") for line in rows) == 1
    if "buffer" in titles:
        assert any(" 16,384 " in line for line in rows)
    if "bandwidth" in titles:
        assert any(" 32.5 " in line for line in rows)


def test_designs_of_several_memories_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "runs.sqlite"))
    for _ in range(2):
        assert main(["access", *SWEEP, "--keep"]) == 0
    capsys.readouterr()
    assert main(["runs", "list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert len(runs) == 8


def test_designs_are_kept_as_runs(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("matmul", "--extents", "m=16,k=16,n=16", "--array", "8x8,16x16", "--keep")
    made = _json(capsys, *arguments)
    assert main(["runs", "list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    machines = {run["machine"] for run in runs}
    assert machines >= {"systolic array 8 × 8", "systolic array 16 × 16"}
    assert made["array"] == {"rows": 16, "columns": 16}
