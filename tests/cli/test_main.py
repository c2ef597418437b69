"""The command line: what each command prints, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import __version__
from engine.cli import main
from engine.dataflow.samml.graph import Graph

HERE = Path(__file__).parent.parent
CHAIN = """
program chain
A: 4x4 csr
x: 4 dense
y[i] = A[i,j] * x[j]
z[i] = relu(y[i])
"""
INTERPRETER = ("--engine", "interpreter")


@pytest.fixture
def program(tmp_path: Path) -> str:
    return file(tmp_path, "chain.loom", CHAIN)


def file(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def tensors(folder: Path, **arrays: Any) -> str:
    path = folder / "tensors.npz"
    np.savez(path, **arrays)
    return str(path)


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that succeeds prints."""
    assert main(arguments) == 0
    return capsys.readouterr().out


# compile --------------------------------------------------------------------------------------


def test_compile(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "compile", program) == (
        "y: order i,j (of 1), 18 nodes\nz: order i (of 1), 6 nodes\n"
    )


@pytest.mark.parametrize(
    ("what", "first"),
    [
        ("regions", "region y -> y"),
        ("table", "y\n    | A[i,j]"),
        ("graph", "graph y\n  %0:ref0 = root()"),
        ("dot", "digraph y {"),
    ],
)
def test_compile_shows(
    what: str, first: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output(capsys, "compile", program, "--show", what).startswith(first)


def test_compile_with_a_schedule(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schedule = file(tmp_path, "a.sched", "fuse y..z; order y..z: i,j")
    shown = json.loads(output(capsys, "compile", program, "--schedule", schedule, "--json"))
    assert shown["schedule"] == "fuse y..z; order y..z: i,j"
    (region,) = shown["regions"]
    assert region["name"] == "y..z"
    assert region["order"] == ["i", "j"]
    assert region["region"]["outputs"] == ["z"]
    assert region["region"]["orders"] == 1
    assert region["table"]["rows"] == ["i", "j", "val"]
    graph = Graph.from_json(json.dumps(region["graph"]))
    assert [node.op for node in graph.nodes] == [node["op"] for node in region["graph"]["nodes"]]


def test_compiling_needs_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program of any size compiles; only what runs on data makes some up."""
    huge = file(tmp_path, "huge.loom", "A: 1000000000x1000000000 dcsr\nT[i] = A[i,j]")
    assert output(capsys, "compile", huge).startswith("T: order i,j (of 1)")
    assert main(["estimate", huge]) == 2
    assert "too many to make up at random" in capsys.readouterr().err


def test_compile_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "compile", "--model", "gcn", "--preset", "partial").splitlines()
    assert [line.split(":")[0] for line in lines] == ["T1..H", "T5..Y"]


# estimate and simulate ------------------------------------------------------------------------


def test_estimate(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.eye(4), x=np.ones(4))
    lines = output(capsys, "estimate", program, "--tensors", given).splitlines()
    assert [line.split()[0] for line in lines] == ["region", "y", "z", "total"]
    shown = json.loads(output(capsys, "estimate", program, "--tensors", given, "--json"))
    assert shown["statistics"] is None
    assert shown["flops"] == 4 + 4 + 4  # products, sums, relus
    assert [region["name"] for region in shown["regions"]] == ["y", "z"]


def test_simulate(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.diag([1, -1, 2, 0]), x=np.ones(4))
    arguments = ("simulate", program, "--tensors", given, *INTERPRETER)
    shown = json.loads(output(capsys, *arguments, "--json"))
    assert shown["name"] == "chain"
    assert shown["check"]["ok"] is True
    assert shown["check"]["max_rel_error"] <= 1e-5
    assert shown["flops"] == 3 + 3 + 3
    assert shown["cycles"] == sum(region["cycles"] for region in shown["regions"])
    assert shown["seconds"] > 0
    lines = output(capsys, *arguments).splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["region", "y", "z", "total"]
    assert lines[-1].startswith("matches the dense reference (largest relative error ")
    assert f"{shown['cycles']:,}" in lines[-2]


def test_simulate_prints_the_trace(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "simulate", program, *INTERPRETER, "--trace")
    assert "LS A.i" in text
    assert "y: " in text


def test_a_seed_fixes_random_data(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    def run(seed: str) -> Any:
        arguments = ("simulate", program, "--seed", seed, "--json", *INTERPRETER)
        shown = json.loads(output(capsys, *arguments))
        del shown["seconds"]
        return shown

    assert run("1") == run("1")
    assert run("1") != run("2")


def test_machines_differ(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.ones((4, 4)), x=np.ones(4))

    def run(*options: str) -> Any:
        arguments = ("simulate", program, "--tensors", given, "--json", *INTERPRETER, *options)
        return json.loads(output(capsys, *arguments))

    assert run("--machine", "comal")["machine"]["name"] == "comal"
    assert run()["machine"]["name"] == "default"
    assert run("--capacity", "2")["cycles"] > run("--capacity", "64")["cycles"]


def test_simulate_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("simulate", "--model", "spmm", "--json", *INTERPRETER)
    shown = json.loads(output(capsys, *arguments))
    assert [region["name"] for region in shown["regions"]] == ["T"]
    assert shown["check"]["ok"] is True


# Errors ---------------------------------------------------------------------------------------


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


def test_a_wrong_result_is_code_1(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.dataflow.sim.program_runs.relative_error", lambda got, want: 0.5)
    assert main(["simulate", program, *INTERPRETER]) == 1
    assert "MISMATCH: relative error 5.0e-01 exceeds 1e-05" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"fuseloom {__version__}\n"


def test_computed_capacities(capsys) -> None:
    command = ["simulate", "--model", "attention", "--preset", "full", "--capacity", "sized"]
    assert main(command) == 0
    assert "matches the dense reference" in capsys.readouterr().out
    assert main(["simulate", "--sam", "x.gv", "--tensors", "x.npz", "--capacity", "sized"]) == 2
    assert "'sized' goes with a program" in capsys.readouterr().err


def test_the_regions_of_a_model_with_reshapes(capsys) -> None:
    assert main(["compile", "--model", "gpt3", "--preset", "partial", "--show", "regions"]) == 0
    assert "region S1..O1 -> O1" in capsys.readouterr().out
