"""Data on the command line: graphs by name, folder and file, and single tensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from fuseloom.cli import main
from fuseloom.cli.models import presets_text
from fuseloom.models import MODELS, PRESETS, load_model
from tests.cli.commands import INTERPRETER as ENGINE
from tests.cli.commands import file, output
from tests.frontends.files import Citation

PRODUCT = "program p\nA: 9x7 dcsr\nX: 7x4 dense\nT[i,j] = A[i,k] * X[k,j]\n"


def record(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(output(capsys, *arguments, "--json"))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with a small graph in Cora's files."""
    Citation().write(tmp_path, "cora")
    return str(tmp_path)


@pytest.mark.parametrize("model", ["gcn", "graphsage"])
def test_real_files(folder: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ("--model", model, "--data", "cora", "--data-dir", folder, "--preset", "partial")
    lines = output(capsys, "simulate", *chosen, *ENGINE).splitlines()
    assert lines[0] == "data: Cora"
    assert "matches the dense reference" in lines[-1]
    shown = record(capsys, "simulate", *chosen, *ENGINE)
    assert shown["check"]["ok"]
    assert shown["data"] == {
        "label": "Cora", "origin": str(Path(folder) / "ind.cora"), "standin": False,
        "options": {"nodes": 9, "features": 5, "hidden": 16, "classes": 3, "density": 0.5},
        "drawn": "weights: random numbers, seed 0",
    }  # fmt: skip
    by_path = record(capsys, "simulate", "--model", model, "--data", folder, "--preset",
                     "partial", *ENGINE)  # fmt: skip
    assert by_path["cycles"] == shown["cycles"]


@pytest.mark.deep
def test_standins_are_labelled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ("--model", "gcn", "--data", "cora", "--preset", "full", "--seed", "3")
    label = "Cora (stand-in, seed 3)"
    for place in ((), ("--data-dir", str(tmp_path))):
        text = output(capsys, "estimate", *chosen, *place)
        assert text.startswith(f"data: {label}: NOT the real graph")
        shown = record(capsys, "estimate", *chosen, *place)
        assert shown["data"]["label"] == label
        assert shown["data"]["standin"] is True
    # Two-hop paths times features bound a fully fused GCN (docs/spec/accounting.md §2).
    assert shown["regions"][0]["mode"] == "sampled"
    assert shown["cycles"] == pytest.approx(115_158 * 1_433, rel=0.15)
    whole = record(capsys, "estimate", *chosen, "--mode", "metadata")
    assert whole["cycles"] == pytest.approx(115_158 * 1_433, rel=0.02)


def test_compile_takes_the_sizes_of_a_graph(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("compile", "--model", "gcn", "--preset", "full")
    shown = record(capsys, *chosen, "--data", "cora", "--data-dir", folder)
    sizes = {index["name"]: index["size"] for index in shown["regions"][0]["region"]["indices"]}
    assert (sizes["i"], sizes["p"], sizes["n"], sizes["m"]) == (9, 5, 16, 3)
    assert shown["data"]["label"] == "Cora"
    assert record(capsys, *chosen)["data"] is None
    text = output(capsys, *chosen, "--data", "cora", "--data-dir", folder)
    assert text.startswith("data: Cora\n")


def test_data_without_a_graph_have_no_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "estimate", "--model", "gcn").startswith("region")
    shown = record(capsys, "estimate", "--model", "gcn")
    assert shown["data"] == {
        "label": "karate", "origin": "", "standin": False,
        "options": {"nodes": 34, "features": 34, "hidden": 16, "classes": 4, "density": 0.5},
        "drawn": "weights: random numbers, seed 0",
    }  # fmt: skip


def test_statistics_of_the_inputs(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ("estimate", "--model", "gcn", "--data", "cora", "--data-dir", folder, "--statistics")
    degrees = Citation().adjacency.sum(axis=1)
    degrees = degrees[degrees > 0]
    inner = record(capsys, *chosen)["statistics"]["A"][1]
    assert inner["positions"] == degrees.sum()
    assert inner["second_moment"] == pytest.approx((degrees**2).mean())
    rows = [line.split() for line in output(capsys, *chosen).splitlines()]
    assert ["A", "1", "9", str(len(degrees)), str(int(degrees.sum()))] in [row[:5] for row in rows]


def test_single_tensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    a = scipy.sparse.random_array((9, 7), density=0.4, rng=rng)
    x = rng.standard_normal((7, 4))
    scipy.io.mmwrite(tmp_path / "a.mtx", a)
    np.savez(tmp_path / "x.npz", X=x)
    np.savez(tmp_path / "both.npz", A=a.toarray(), X=x)
    program = tmp_path / "p.loom"
    program.write_text(PRODUCT)
    run = ("simulate", str(program), *ENGINE)
    mixed = record(capsys, *run, "--tensors", f"A={tmp_path}/a.mtx", "--tensors",
                   f"{tmp_path}/x.npz")  # fmt: skip
    whole = record(capsys, *run, "--tensors", f"{tmp_path}/both.npz")
    assert mixed["check"]["ok"]
    assert (mixed["cycles"], mixed["flops"]) == (whole["cycles"], whole["flops"])
    made_up = record(capsys, *run, "--tensors", f"A={tmp_path}/a.mtx", "--tensors", "X=random")
    assert made_up["cycles"] == whole["cycles"]  # X is dense


def test_what_became_of_a_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.loom"
    program.write_text("A: 2x2 csr\nx: 2 dense\ny[i] = A[i,j] * x[j]\n")
    edges = file(tmp_path, "a.txt", "1 2\n2 1\n1 2\n")
    arguments = ("--tensors", f"A={edges}", "--tensors", "x=random", *ENGINE)
    assert main(["simulate", str(program), *arguments]) == 0
    said = capsys.readouterr().err
    assert f"fuseloom: {edges}: nodes count from 1, as there is no node 0\n" in said
    assert "1 edge repeats one that was given before: the first counts\n" in said
    graph = file(tmp_path, "g.edges", "1 2\n2 3\n")
    assert main(["estimate", "--model", "gcn", "--data", graph, "--with", "hidden=2"]) in (0, 2)
    features = tmp_path / "g.npz"
    np.savez(features, edge_index=[[0, 0], [1, 1]], x=np.ones((2, 3)))
    assert main(["estimate", "--model", "gcn", "--data", str(features)]) == 0
    assert "1 edge repeats" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{p}", "--tensors", "B={a}"], "no input is called 'B'"),
        (["{p}", "--tensors", "A={a}"], "data of input X are missing"),
        (["{p}", "--tensors", "A={a}", "--tensors", "A={a}"], "gives A twice"),
        (["{p}", "--tensors", "X={a}", "--tensors", "A={a}"], "X has shape 7x4"),
        (["{p}", "--tensors", "A={p}"], "format of"),
        (["{p}", "--tensors", "A=none.mtx"], "cannot read none.mtx: No such file"),
        (["{p}", "--data-dir", "{folder}"], "--data-dir goes with a model"),
        (["{p}", "--with", "nodes=3"], "--with goes with a model"),
        (["--model", "gcn", "--data", "cora", "--data-dir", "{folder}/none"], "no folder"),
        (["--model", "gcn", "--data", "corra"], "did you mean 'cora'"),
        (["--model", "spmm", "--data", "cora"], "does not fit model spmm"),
        (["--model", "gcn", "--data", "{a}"], "adjacency matrix of a is 9x7"),
        (["--sam", "g.gv", "--data-dir", "{folder}"], "takes no --data-dir"),
        (["--sam", "g.gv", "--tensors", "a", "--tensors", "b"], "given twice"),
        (["--sam", "g.gv", "--with", "block=4"], "takes no --with"),
    ],
)
def test_errors(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", scipy.sparse.csr_array(np.ones((9, 7))))
    (tmp_path / "p.loom").write_text(PRODUCT)
    names = {"p": tmp_path / "p.loom", "a": tmp_path / "a.mtx", "folder": tmp_path}
    assert main(["simulate", *(argument.format(**names) for argument in arguments)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_orders_of_many_regions_are_not_ranked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"T{k + 1}[i] = relu(T{k}[i])\n" for k in range(401))
    path = file(tmp_path, "long.loom", f"T0: 4 dense\n{lines}")
    assert main(["compile", path]) == 0
    shown = capsys.readouterr()
    assert shown.err == (
        "fuseloom: the program has 401 regions, of more than 400 the first orders are taken; "
        "fuse more, or name orders in the schedule\n"
    )
    assert len(shown.out.splitlines()) == 401


LOOKUP = """
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%ids: tensor<?xi64>, %table: tensor<9x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %0 = tensor.empty(%n) : tensor<?x3xf32>
  %y = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
    ins(%ids : tensor<?xi64>) outs(%0 : tensor<?x3xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<9x3xf32>
    %z = arith.mulf %x, %x : f32
    linalg.yield %z : f32
  } -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""


def test_index_tensors_of_mlir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = file(tmp_path, "lookup.mlir", LOOKUP)
    np.save(tmp_path / "ids.npy", np.array([8, 0, 0, 3, 1]))
    np.savez(tmp_path / "both.npz", ids=np.array([8, 2]), table=np.ones((9, 3)))
    ids, both = f"ids={tmp_path / 'ids.npy'}", str(tmp_path / "both.npz")
    rows = {
        (): 4, ("--tensors", ids, "--tensors", "table=random"): 5, ("--tensors", both): 2,
        ("--tensors", "ids=random", "--tensors", "table=random"): 4,
    }  # fmt: skip
    for given, count in rows.items():
        shown = record(capsys, "simulate", program, *given, *ENGINE)
        assert shown["check"]["ok"]
        assert shown["flops"] == 9 * count


def test_index_tensors_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = file(tmp_path, "lookup.mlir", LOOKUP)
    np.save(tmp_path / "ids.npy", np.array([8, 9]))
    for given, message in {
        f"ids={tmp_path / 'ids.npy'}": "index ids has entries outside of a dimension of size 9",
        "rows=random": "no input is called 'rows' (hint: inputs: table, ids)",
        "table=random": "data of input ids are missing (hint: inputs: table, ids)",
    }.items():
        assert main(["simulate", program, "--tensors", given]) == 2
        assert message in capsys.readouterr().err


BLOCKS = """
#B = #sparse_tensor.encoding<{ map = (i, j) ->
  (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
func.func @f(%a: tensor<4x4xf32, #B>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.exp ins(%a : tensor<4x4xf32, #B>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
"""


def test_tensors_in_blocks_and_tensors_that_nothing_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A block is four elements, three of them zeros."""
    program = file(tmp_path, "blocks.mlir", BLOCKS)
    a = np.zeros((4, 4))
    a[0, 0] = 1
    np.savez(tmp_path / "both.npz", a=a, b=a)
    np.save(tmp_path / "a.npy", a)
    one = str(tmp_path / "a.npy")
    for given in ([str(tmp_path / "both.npz")], [f"a={one}", "--tensors", f"b={one}"]):
        shown = record(capsys, "simulate", program, "--tensors", *given, *ENGINE)
        assert shown["check"]["ok"]
        assert shown["flops"] == 4


def test_the_help_names_every_preset() -> None:
    words = presets_text().replace(",", " ").replace(";", " ").split()
    for name in MODELS:
        made = load_model(name).presets
        assert {*made} <= {*words}
        assert {*made} == {preset for preset, models in PRESETS.items() if name in models}


def test_random_numbers_are_said_to_be_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result on numbers that were made up is never taken for one on a user's own."""
    program = file(tmp_path, "p.loom", PRODUCT)
    np.save(tmp_path / "x.npy", np.ones((7, 4)))
    seeded = ("--seed", "4", *ENGINE)
    text = output(capsys, "simulate", program, *seeded)
    said = "random numbers, seed 4, 30% of the elements of sparse tensors"
    assert text.startswith(f"data: {said}; give --tensors\n")
    assert record(capsys, "simulate", program, *seeded)["data"] == {
        "label": "random", "origin": said, "standin": False, "options": {},
        "drawn": "A, X: random numbers, seed 4",
    }  # fmt: skip
    own = ("--tensors", f"X={tmp_path / 'x.npy'}", "--tensors", "A=random")
    shown = record(capsys, "simulate", program, *own, *seeded)
    assert shown["data"]["origin"] == f"A: {said}"
    dense = ("--tensors", f"A={tmp_path / 'a.npy'}", "--tensors", "X=random")
    np.save(tmp_path / "a.npy", np.eye(9, 7))
    shown = record(capsys, "simulate", program, *dense, *seeded)
    assert shown["data"]["origin"] == "X: random numbers, seed 4"
    whole = ("--tensors", f"A={tmp_path / 'a.npy'}", "--tensors", f"X={tmp_path / 'x.npy'}")
    assert record(capsys, "simulate", program, *whole, *seeded)["data"] is None
