"""The command line as a whole: how it fails, and how it is used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine import __version__
from engine.cli import main
from tests.cli.commands import file, tensors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compile"], "name a program file or a model, one of them"),
        (["compile", "{program}", "--model", "gcn"], "name a program file or a model, one of them"),
        (["compile", "{folder}/none.loom"], "cannot read the program {folder}/none.loom: No such"),
        (["compile", "{folder}"], "cannot read the program {folder}: Is a directory"),
        (["compile", "{latin}"], "the program {latin} is not UTF-8 text"),
        (["compile", "{wrong}"], "{wrong}: line 2, column 8"),
        (["compile", "--model", "gnc"], "did you mean 'gcn'"),
        (["compile", "--model", "gcn", "--preset", "ful"], "no preset is called 'ful'"),
        (["compile", "{program}", "--preset", "full"], "no preset is called 'full' (hint: presets: "
         "none)"),
        (["compile", "--model", "gcn", "--preset", "full", "--schedule", "x"], "not both"),
        (["compile", "{program}", "--schedule", "{folder}/none"], "cannot read the schedule"),
        (["compile", "{program}", "--schedule", "{schedule}"], "{schedule}: line 1, column 11: "
         "cannot read the directive 'merge z'"),
        (["compile", "{program}", "--schedule", "{illegal}"], "i must stay outside j"),
        (["estimate", "--model", "spmv", "--data", "karate"], "does not fit model spmv"),
        (["estimate", "--model", "spmv", "--tensors", "{tensors}"], "goes with a program file"),
        (["estimate", "{program}", "--data", "karate"], "karate does not fit a program file"),
        (["estimate", "{program}", "--data", "random", "--tensors", "{tensors}"], "not both"),
        (["estimate", "{program}", "--tensors", "{tensors}"], "A"),
        (["estimate", "{program}", "--tensors", "{folder}/none.npz"], "No such file"),
        (["estimate", "{program}", "--tensors", "{program}"], "cannot read tensors from {program}"),
        (["estimate", "{program}", "--tensors", "{empty}"], "cannot read tensors from {empty}"),
        (["estimate", "{program}", "--tensors", "{torn}"], "cannot read tensors from {torn}"),
        (["estimate", "{program}", "--tensors", "{single}"], "one array without a name"),
        (["simulate", "{program}", "--machine", "abacus"], "abacus"),
        (["conform", "{program}"], "chain.loom"),
        (["conform", "{folder}/none.json"], "none.json"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_errors_are_one_line(
    arguments: list[str],
    message: str,
    as_json: bool,
    program: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.save(tmp_path / "single.npy", np.eye(4))
    files = {
        "program": program,
        "folder": str(tmp_path),
        "latin": file(tmp_path, "latin.loom", b"# na\xefve"),
        "wrong": file(tmp_path, "wrong.loom", "A: 4x4 csr\ny[i] = = A[i,j]"),
        "schedule": file(tmp_path, "a.sched", "fuse y..z; merge z".replace("; ", ";")),
        "illegal": file(tmp_path, "b.sched", "fuse y..z; order y..z: j,i"),
        "tensors": tensors(tmp_path, A=np.eye(3), x=np.ones(4)),
        "empty": file(tmp_path, "empty.npz", b""),
        "torn": file(tmp_path, "torn.npz", b"PK\x03\x04 and then nothing"),
        "single": str(tmp_path / "single.npy"),
    }
    given = [argument.format(**files) for argument in arguments]
    if as_json:
        given.append("--json")
    assert main(given) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert line.startswith("fuseloom: error: ")
    assert message.format(**files) in line
    if "--json" in given:
        assert json.loads(shown.out)["text"] == line.removeprefix("fuseloom: error: ")
    else:
        assert shown.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["fuse"], "invalid choice: 'fuse'"),
        (["compile", "--show", "ast"], "invalid choice: 'ast'"),
        (["simulate", "--model", "spmv", "--capacity", "0"], "must be at least 1"),
        (["simulate", "--model", "spmv", "--seed", "-1"], "must not be negative"),
        (["simulate", "--model", "spmv", "--engine", "steam"], "invalid choice: 'steam'"),
    ],
)
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"fuseloom {__version__}\n"
