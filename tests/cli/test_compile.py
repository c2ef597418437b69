"""``fuseloom compile``: what it shows of regions, tables and graphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuseloom.cli import main
from fuseloom.dataflow.samml.graph import Graph
from tests.cli.commands import file, output


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
        ("passes", "clean "),
    ],
)
def test_compile_shows(
    what: str, first: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output(capsys, "compile", program, "--show", what).startswith(first)


def test_compile_runs_the_passes_named(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = output(capsys, "compile", program, "--passes", "clean,size-buffers", "--show", "graph")
    assert "%0:ref0/4 = root()" in shown
    told = json.loads(output(capsys, "compile", program, "--passes", "clean", "--json"))
    assert [[p["name"] for p in region["passes"]] for region in told["regions"]] == [["clean"]] * 2
    assert main(["compile", program, "--passes", "cleen"]) == 2
    assert "no pass is called 'cleen'" in capsys.readouterr().err


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
    assert [line.split(":")[0] for line in lines[:2]] == ["T1..H", "T5..Y"]
    assert lines[2:] == ["H is stored [compressed, dense]"]


@pytest.mark.deep  # takes seconds
def test_what_is_stored_dense_is_an_entry_of_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = output(capsys, "compile", "--model", "gcn", "--preset", "partial", "--json")
    assert json.loads(shown)["stored"] == {"H": "[compressed, dense]"}
    assert "store H compressed,dense" in json.loads(shown)["schedule"]
    first = output(
        capsys, "compile", "--model", "gcn", "--preset", "partial", "--json", "--orders", "first"
    )
    assert json.loads(first)["stored"] == {}


@pytest.mark.deep
def test_the_regions_of_a_model_with_reshapes(capsys) -> None:
    assert main(["compile", "--model", "gpt3", "--preset", "partial", "--show", "regions"]) == 0
    assert "region S1..O1 -> O1" in capsys.readouterr().out


@pytest.mark.deep  # takes seconds
def test_compile_names_a_schedule_that_gives_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The orders are those that a simulation has; the text is what --schedule takes."""
    model = ("--model", "attention", "--preset", "full")
    shown = output(capsys, "compile", *model, "--show", "schedule")
    assert shown.splitlines()[0].startswith("fuse ")
    assert "order " in shown
    named = ("--model", "attention", "--schedule", file(tmp_path, "named", shown))
    cycles = [
        json.loads(output(capsys, "simulate", *given, "--json"))["cycles"]
        for given in (model, named, (*named, "--orders", "first"))
    ]
    assert len(set(cycles)) == 1
    first = json.loads(output(capsys, "simulate", *model, "--orders", "first", "--json"))
    assert first["cycles"] > 2 * cycles[0]
    graph = output(capsys, "compile", *model, "--show", "graph")
    assert graph == output(capsys, "compile", *named, "--show", "graph")
    assert graph != output(capsys, "compile", *model, "--orders", "first", "--show", "graph")


def test_compile_takes_the_first_orders_where_data_would_be_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "A: 99999x99999 csr\nx: 99999 dense\ny[i] = A[i,j] * x[j]\n"
    assert main(["compile", file(tmp_path, "large", text)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("y: order i,j (of 1)")
    assert "the first orders are taken" in told.err
    assert main(["compile", file(tmp_path, "large", text), "--orders", "first"]) == 0
    assert capsys.readouterr().err == ""
