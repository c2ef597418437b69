"""``fuseloom compile --export``: files for other tools, and back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import error, output


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("form", ["sam", "json"])
def test_export_and_back(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"g.{form}"
    printed = output(capsys, "compile", "--model", "spmm", "--export", form, "--output", str(path))
    assert printed.startswith(f"T: {path}\n")
    rng = np.random.default_rng(1)
    a, x = rng.integers(0, 2, (8, 8)) * 1.0, rng.normal(size=(8, 4))
    np.savez(tmp_path / "d.npz", A=a, X=x, expected=a @ x)
    option = "--sam" if form == "sam" else "--graph"
    made = json.loads(output(capsys, "simulate", option, str(path), "--tensors",
                             str(tmp_path / "d.npz"), "--json"))  # fmt: skip
    assert made["check"]["ok"]
    assert made["outputs"]["T"]["shape"] == [8, 4]


@pytest.mark.parametrize("form", ["sam", "json"])
@pytest.mark.parametrize(
    "statement", ["y[i] = x[p[i]]", "y[i] = x[2*i]", "y[i] = A[i,i]", "y[i] = x[(3, 1)[i]]"]
)
def test_what_a_program_reads_at_places_need_not_be_given_again(
    form: str, statement: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, path = tmp_path / "p.loom", tmp_path / f"g.{form}"
    given = "A: 4x4 csr" if "A" in statement else "x: 5 dense"
    program.write_text(f"{given}\np: list 3, 1, 1\n{statement}\n")
    output(capsys, "compile", str(program), "--export", form, "--output", str(path))
    x, a = np.arange(5.0) + 1, np.arange(16.0).reshape(4, 4)
    want = {"p": x[[3, 1, 1]], "2": x[::2], "i": np.diag(a), "(": x[[3, 1]]}[statement[9]]
    data = {"A": a} if "A" in statement else {"x": x}
    np.savez(tmp_path / "d.npz", **data, expected=want)
    option = "--sam" if form == "sam" else "--graph"
    tensors = ("--tensors", str(tmp_path / "d.npz"))
    made = json.loads(output(capsys, "simulate", option, str(path), *tensors, "--json"))
    assert made["check"]["ok"]


def test_export_tortilla_with_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--export", "tortilla", "--output", str(tmp_path / "g"))
    output(capsys, "compile", "--model", "spmm", "--data", "random", *where)
    theirs = json.loads(
        output(capsys, "simulate", "--tortilla", str(tmp_path / "g" / "op.bin"), "--json")
    )
    ours = json.loads(output(capsys, "simulate", "--model", "spmm", "--json"))
    assert theirs["outputs"]["T"]["shape"] == [8, 4]
    assert abs(theirs["cycles"] - ours["cycles"]) < 10


def test_several_regions_are_numbered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--model", "gcn", "--preset", "partial", "--json")
    where = ("--export", "sam", "--output", str(tmp_path / "g.gv"))
    made = json.loads(output(capsys, "compile", *options, *where))
    assert [Path(w["path"]).name for w in made["written"]] == ["g-1.gv", "g-2.gv"]
    assert all(Path(w["path"]).exists() for w in made["written"])
    assert any(note.startswith("extension: ") for note in made["written"][0]["notes"])


def test_later_regions_get_what_earlier_ones_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.loom"
    program.write_text("A: 3x3 dense\nx: 3 dense\ny[i] = A[i,j] * x[j]\nz[i] = relu(y[i])\n")
    where = ("--export", "tortilla", "--output", str(tmp_path / "g"))
    output(capsys, "compile", str(program), "--data", "random", *where)
    second = ("simulate", "--tortilla", str(tmp_path / "g-2" / "op.bin"), "--json")
    assert json.loads(output(capsys, *second))["outputs"]["z"]["shape"] == [3]


def test_nothing_is_written_if_a_region_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.loom"
    program.write_text("A: 3 compressed\ny[i] = relu(A[i])\nz[i] = gelu(y[i])\n")
    where = ("--export", "tortilla", "--output", str(tmp_path / "g"))
    assert "has no function gelu" in error(capsys, "compile", str(program), *where)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.loom"]


def test_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--export", "sam", "--output", str(tmp_path / "g.gv"), "--strict")
    text = error(capsys, "compile", "--model", "spmm", *where)
    assert "cannot be written in the SAM dialect" in text
    assert not (tmp_path / "g.gv").exists()


def test_export_options_go_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for given in (["--export", "sam"], ["--output", str(tmp_path / "x")], ["--strict"]):
        assert "--export and --output go together" in error(
            capsys, "compile", "--model", "spmm", *given
        )


def test_output_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "g.json").mkdir()
    where = ("--export", "json", "--output", str(tmp_path / "g.json"))
    assert "cannot write" in error(capsys, "compile", "--model", "spmm", *where)


@pytest.mark.parametrize("form", ["sam", "tortilla", "json"])
def test_no_folder_is_made_for_a_mistyped_one(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``--trace-out`` does it."""
    where = ("--export", form, "--output", str(tmp_path / "none" / "g"))
    text = error(capsys, "compile", "--model", "spmm", *where)
    assert f"{tmp_path / 'none'} is no folder (hint: make it first)" in text
    assert not list(tmp_path.iterdir())
