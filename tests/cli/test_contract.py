"""``fuseloom contract``: networks, what is asked of them, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.cli import main

EXAMPLE = ("ipq,jpr,kqr,jkr->ijk", "--extents", "i=7,j=6,k=5,p=6,q=5,r=4", "--density", "0.3")


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["contract", *arguments, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


@pytest.mark.deep  # takes seconds
def test_the_running_example(capsys: pytest.CaptureFixture[str]) -> None:
    made = document(capsys, *EXAMPLE, "--seed", "4", "--measure", "4", "--most", "40")
    assert made["bound"] == 1
    assert [a["verdict"] for a in made["answers"]] == ["unsat", "sat"]
    assert (made["answers"][1]["variables"], made["answers"][1]["constraints"]) == (29, 117)
    times = [s["measured"] for s in made["solutions"] if s["measured"] is not None]
    assert len(times) in (4, 5)
    assert times == sorted(times)
    ran = [s["measured"] is not None for s in made["solutions"]]
    assert all(ran[: len(times)])
    errors = [s["max_rel_error"] for s in made["solutions"] if s["measured"] is not None]
    assert max(errors) < 1e-9
    assert {s["way"] for s in made["solutions"]} == {"fused", "unfused", "n-ary"}
    fused = [s for s in made["solutions"] if s["way"] == "fused"]
    assert min(max(i["order"] for i in s["intermediates"].values()) for s in fused) == 1
    assert sum(s["first"] for s in made["solutions"]) == 1


@pytest.mark.deep  # takes seconds
def test_what_is_asked_holds_of_every_fused_nest(capsys: pytest.CaptureFixture[str]) -> None:
    made = document(
        capsys, *EXAMPLE, "--bound", "2", "--pin", "outermost r", "--bytes", "300", "--measure", "0"
    )
    fused = [s for s in made["solutions"] if s["way"] == "fused"]
    assert fused
    for solution in fused:
        assert {loops[0] for loops in solution["loops"].values()} == {"r"}
        assert all(8 * i["elements"] <= 300 for i in solution["intermediates"].values())


@pytest.mark.parametrize("by", ["opt_einsum", "cotengra"])
def test_trees_of_optimisers(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = document(
        capsys, "ij,jk,kl->il", "--extents", "i=9,j=2,k=9,l=2", "--optimiser", by, "--measure", "0"
    )
    assert made["contractions"][0] == "X1[j,l] = B[j,k] * C[k,l]"


def test_people_read_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contract", "MTTKRP", "--measure", "1", "--nest", "--encoding", "released"]) == 0
    said = capsys.readouterr().out
    assert "X1[i,j,r] = A[i,j,k] * B[k,r]" in said
    assert "variables" in said
    assert "(the solver's first)" in said
    assert "for " in said


def test_operands_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tns").write_text("1 1 2 0.1\n3 2 1 5\n3 2 1 1\n2 2 2 4\n")
    np.save(tmp_path / "b.npy", np.full((2, 6), 0.1))
    given = ("--tensors", f"A={tmp_path / 'a.tns'}", "--tensors", f"B={tmp_path / 'b.npy'}")
    more = ("--density", "C=1", "--extents", "i=4", "--measure", "2")
    assert main(["contract", "ijk,kr,jr->ir", *given, *more, "--json"]) == 0
    told = capsys.readouterr()
    made = json.loads(told.out)
    assert made["extents"] == {"i": 4, "j": 2, "k": 2, "r": 6}
    assert made["solutions"][0]["max_rel_error"] < 1e-9
    assert made["solutions"][0]["products"] == pytest.approx(3 * 6 * 2, rel=0.4)
    assert "the values of the same place are added" in told.err
    assert "float32" not in told.err


def test_an_outer_product_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contract", "i,j,ij->i", "--extents", "i=3,j=3", "--measure", "0"]) == 0
    assert "X1[i,j] = A[i] * B[j] is an outer product" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "no einsum string, no network that is shipped"),
        (("ij,jk->ik", "--extents", "i=2"), "no size is given for j, k"),
        (("MTTKRP", "--extents", "i=2"), "has its own sizes and tree"),
        (("ij,jk,kl->il", "--extents", "i=2,j=2,k=2,l=2", "--tree", "(A B)"), "does not cover C"),
        (
            ("ij,jk->ik", "--extents", "i=2,j=2,k=2", "--tree", "(A B)", "--optimiser", "cotengra"),
            "both choose the tree",
        ),
        (("MTTKRP", "--tensors", "A=nowhere.tns"), "nowhere.tns"),
        (("MTTKRP", "--tensors", "A"), "names no operand"),
        (("MTTKRP", "--tensors", "Z=random"), "has no operand Z"),
        (("MTTKRP", "--bound", "4"), "no intermediate has 4 dimensions"),
        (("MTTKRP", "--density", "Z=1"), "no operand Z"),
        (("MTTKRP", "--density", "much"), "is no density"),
        (("ij,jk->ii", "--extents", "i=2,j=2,k=2"), "has the index i twice"),
        (("...ij,jk", "--extents", "i=2,j=2,k=2"), "no size is given for [.]{3}"),
        (("ij,jk->il", "--extents", "i=2,j=2,k=2"), "result's index l is in no operand"),
        (("MTTKRP", "--density", "0"), "a density is above 0"),
        (("MTTKRP", "--density", "nan"), "a density is above 0"),
        (("running example", "--bound", "0"), "no fused structure has what is asked"),
        (("MTTKRP", "--pin", "outermost z"), "no loop is called z"),
        (
            ("ij,jk->ik", "--extents", "i=900000000,j=900000000,k=900000000"),
            "elements|takes .* bytes",
        ),
    ],
)
def test_refusals(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["contract", *arguments, "--measure", "0"]) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("text", ["ij,jk", "iij,jk->ik", "...ij,jk->...ik", ",ij,jk->ik"])
def test_strings_as_numpy_reads_them(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    extents = ("--extents", "i=2,j=3,k=2,...=2")
    assert main(["contract", text, *extents, "--measure", "1"]) == 0
    assert re.search(r"\d+ nests?", capsys.readouterr().out)


def test_a_programs_file_and_runs_that_are_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    file = tmp_path / "chain.loom"
    file.write_text(
        "A: 4x5 csf\nB: 5x6 csf\nC: 6x3 csf\nX[i,k] = A[i,j] * B[j,k]\nR[i,l] = X[i,m] * C[m,l]\n"
    )
    made = document(capsys, str(file), "--measure", "2", "--keep")
    assert made["contractions"] == ["X[i,m] = A[i,j] * B[j,m]", "R[i,l] = X[i,m] * C[m,l]"]
    measured = [s for s in made["solutions"] if s["measured"] is not None]
    assert main(["runs", "list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert len(runs) == len(measured)
    assert {run["machine"].split()[0] for run in runs} == {"CPU"}
    assert main(["contract", str(file), "--tree", "((A B) C)"]) == 2
    assert "a tree already" in capsys.readouterr().err
    assert main(["contract", str(file), "--extents", "i=4"]) == 2
    assert "declares its sizes" in capsys.readouterr().err
    one = tmp_path / "one.loom"
    one.write_text("A: 4x5 csf\nB: 5x6 csf\nC: 6x3 csf\nR[i,l] = A[i,j] * (B[j,k] * C[k,l])\n")
    made = document(capsys, str(one), "--measure", "0")
    assert made["contractions"][0].endswith("= B[j,k] * C[k,l]")
    one.write_text("A: 4x5 csf\nR[i] = relu(A[i,j])\n")
    assert main(["contract", str(one)]) == 2
    assert main(["contract", str(tmp_path)]) == 2
    assert "no file with a program" in capsys.readouterr().err
