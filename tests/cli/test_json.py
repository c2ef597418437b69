"""Every ``--json`` of every command is one document that follows its schema."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.cli import main
from fuseloom.cli.registry import COMMANDS
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.machine.text import print_machine
from fuseloom.dataflow.sim.conformance.judge import PRIMITIVES
from fuseloom.exploration.store import RunStore
from fuseloom.exploration.store.table import export_runs
from fuseloom.results.document import DocumentKind
from fuseloom.results.record import RunRecord
from tests.cli.commands import wrong_by
from tests.exploration.store.samples import LABEL, identity, outcome
from tests.schemas import check_document, validator
from tests.stitch.gpu.test_times import result_of

VECTORS = Path(__file__).parent.parent / "conformance"
SAM = ("--sam", str(VECTORS / "sam" / "matmul_ikj.gv"))
TENSORS = VECTORS / "sam" / "matmul_ikj__small.npz"
COMAL = ("--tortilla", str(VECTORS / "comal" / "elemadd_34_0.1_None_1"), "--machine", "comal")
SMALL = ("--model", "spmm")
GCN = ("--model", "gcn", "--preset", "partial")
INTERPRETER = ("--engine", "interpreter")
UNKNOWN = (
    '[{"kind": "x", "cap": 3, "clocks": {}, "outputs": {}, "dequeued": {},'
    ' "nodes": [{"op": "genref", "name": "g"}]}]'
)

CASES: dict[str, tuple[DocumentKind, int, tuple[str, ...]]] = {
    "compile": (DocumentKind.COMPILATION, 0, ("compile", *GCN)),
    "compile, data": (DocumentKind.COMPILATION, 0, ("compile", *GCN, "--data", "cora")),
    "compile, scheduled": (
        DocumentKind.COMPILATION, 0, ("compile", "--model", "gcn", "--schedule", "{schedule}")
    ),
    "compile, attention": (
        DocumentKind.COMPILATION, 0, ("compile", "--model", "attention", "--preset", "full")
    ),
    "compile, blocks": (DocumentKind.COMPILATION, 0, ("compile", "--model", "gpt3")),
    "compile, --show": (DocumentKind.COMPILATION, 0, ("compile", *SMALL, "--show", "dot")),
    "export sam": (
        DocumentKind.EXPORT, 0, ("compile", *GCN, "--export", "sam", "--output", "{folder}/g.gv")
    ),
    "export tortilla": (
        DocumentKind.EXPORT, 0,
        ("compile", *SMALL, "--export", "tortilla", "--output", "{folder}/g")
    ),
    "export json": (
        DocumentKind.EXPORT, 0,
        ("compile", *SMALL, "--export", "json", "--output", "{folder}/g.json")
    ),
    "estimate": (DocumentKind.ESTIMATE, 0, ("estimate", *GCN)),
    "estimate, program": (DocumentKind.ESTIMATE, 0, ("estimate", "{program}")),
    "estimate, --area": (DocumentKind.ESTIMATE, 0, ("estimate", *GCN, "--area")),
    "estimate, --statistics": (DocumentKind.ESTIMATE, 0, ("estimate", *GCN, "--statistics")),
    "what-if": (
        DocumentKind.WHAT_IF, 0,
        ("what-if", *GCN, "--capacities", "2,8", "--lanes", "i=2,5000", "--set",
                          "load_latency=9")
    ),
    "what-if, --pareto": (DocumentKind.WHAT_IF, 0, ("what-if", *GCN, "--pareto")),
    "simulate": (DocumentKind.RUN, 0, ("simulate", *SMALL)),
    "simulate, program": (DocumentKind.RUN, 0, ("simulate", "{program}", "--seed", "3")),
    "simulate, --area": (DocumentKind.RUN, 0, ("simulate", *SMALL, "--area")),
    "simulate, --trace": (DocumentKind.RUN, 0, ("simulate", *SMALL, "--trace")),
    "simulate, --explain": (DocumentKind.RUN, 0, ("simulate", *GCN, "--explain")),
    "simulate, everything": (
        DocumentKind.RUN, 0,
        ("simulate", *SMALL, "--explain", "--trace", "--machine", "hbm2", "--trace-out",
         "{folder}/trace.json"),
    ),
    "simulate, --capacity": (
        DocumentKind.RUN, 0,
        ("simulate", *SMALL, "--capacity", "3", "--explain"),
    ),
    "simulate, sized": (
        DocumentKind.RUN, 0,
        ("simulate", *SMALL, "--capacity", "sized", "--explain"),
    ),
    **{
        f"simulate, {machine}": (DocumentKind.RUN, 0, ("simulate", *SMALL, "--machine", machine))
        for machine in PRESETS
    },
    "simulate, own machine": (DocumentKind.RUN, 0, ("simulate", *SMALL, "--machine", "{machine}")),
    "graph": (DocumentKind.RUN, 0, ("simulate", *SAM, "--tensors", str(TENSORS))),
    "graph, everything": (
        DocumentKind.RUN, 0,
        ("simulate", *SAM, "--tensors", str(TENSORS), "--explain", "--trace", "--machine", "ddr4"),
    ),
    "graph, unchecked": (DocumentKind.RUN, 0, ("simulate", *COMAL)),
    "graph, block": (DocumentKind.RUN, 0, ("simulate", *COMAL, "--block", "16")),
    "graph, wrong": (DocumentKind.RUN, 1, ("simulate", *SAM, "--tensors", "{wrong}")),
    "graph, other shape": (DocumentKind.RUN, 1, ("simulate", *SAM, "--tensors", "{shape}")),
    "graph, infinite": (DocumentKind.RUN, 1, ("simulate", *SAM, "--tensors", "{infinite}")),
    "explore": (DocumentKind.ORDERS, 0, ("explore", "--model", "gcn", "--preset", "full")),
    "explore, --limit": (DocumentKind.ORDERS, 0, ("explore", *GCN, "--limit", "1")),
    "explore, --vary": (
        DocumentKind.SWEEP, 0,
        ("explore", *SMALL, "--vary", "capacity=2,none", "--vary", "order=all", "--simulate",
         "--jobs", "0", "--store", "{folder}/sweep.sqlite"),
    ),
    "explore, estimates": (
        DocumentKind.SWEEP, 0,
        ("explore", "{program}", "--vary", "lanes.i=1,2,3", "--store", "{folder}/sweep.sqlite"),
    ),
    "error, axis": (DocumentKind.ERROR, 2, ("explore", *SMALL, "--vary", "frob=2")),
    "autoschedule": (
        DocumentKind.AUTOSCHEDULE, 0,
        ("autoschedule", "--model", "spmv", "--data", "random"),
    ),
    "codesign": (
        DocumentKind.CODESIGN, 0,
        ("autoschedule", "--model", "spmv", "--data", "random", "--objective", "edp", "--pareto",
         "--budget", "lanes=2", "--time-limit", "3s"),
    ),
    "compare": (
        DocumentKind.COMPARISON, 0,
        ("compare", "gcn_layer", "--time-limit", "200ms", "--rounds", "1", "--system", "dataflow",
         "--system", "contraction", "--system", "calls"),
    ),
    "data": (DocumentKind.DATA, 0, ("data", "list")),
    "compare, conversions": (
        DocumentKind.CONVERSIONS, 0, ("compare", "gcn_layer", "--conversions"),
    ),
    "why": (
        DocumentKind.WHY, 0,
        ("why", "--model", "gcn", "--preset", "unfused", "--time-limit", "500ms")
    ),
    "models": (DocumentKind.MODELS, 0, ("models",)),
    "models, one": (DocumentKind.MODELS, 0, ("models", "gpt3")),
    "estimate, --with": (
        DocumentKind.ESTIMATE, 0,
        ("estimate", "--model", "gpt3", "--with", "sequence=32,block=8,layers=1")
    ),
    **{f"machine {name}": (DocumentKind.MACHINE, 0, ("machine", name)) for name in PRESETS},
    "machine, file": (DocumentKind.MACHINE, 0, ("machine", "{machine}")),
    "simulate, --keep": (DocumentKind.RUN, 0, ("simulate", "{program}", "--keep", *INTERPRETER)),
    "simulate, kept": (DocumentKind.RUN, 0, ("simulate", "{program}", "--keep", *INTERPRETER)),
    "runs list": (DocumentKind.RUNS, 0, ("runs", "list")),
    "runs list, none": (DocumentKind.RUNS, 0, ("runs", "list", "--state", "failed")),
    "runs show": (DocumentKind.RUNS, 0, ("runs", "show", "{key}")),
    "runs export": (DocumentKind.UPKEEP, 0, ("runs", "export", "{folder}/runs.json")),
    "runs import": (DocumentKind.UPKEEP, 0, ("runs", "import", "{folder}/runs.json")),
    "runs gc": (DocumentKind.UPKEEP, 0, ("runs", "gc", "--older-than", "1d", "--dry-run")),
    "figures": (
        DocumentKind.FIGURES, 0,
        ("figures", "18", "table4", "--size", "smoke", "--jobs", "0"),
    ),
    "figures, ours": (
        DocumentKind.FIGURES, 0,
        ("figures", "18", "--size", "smoke", "--mode", "ours", "--jobs", "0")
    ),
    "contract": (
        DocumentKind.CONTRACTION, 0,
        ("contract", "ij,jk->ik", "--extents", "i=4,j=5,k=6"),
    ),
    "access": (
        DocumentKind.ACCESS, 0,
        ("access", "matmul", "--extents", "m=8,k=8,n=8", "--array", "4x4"),
    ),
    "calls": (
        DocumentKind.CALLS, 0,
        ("calls", "blur", "--extents", "h=40,w=30", "--tile", "8", "--rounds", "1"),
    ),
    "rtl": (
        DocumentKind.RTL, 0,
        ("rtl", "--model", "attention", "--preset", "full", "--run", "--simulator", "icarus"),
    ),
    "stitch": (DocumentKind.STITCH, 0, ("stitch", "word2vec")),
    "stitch, code": (
        DocumentKind.STITCH, 0,
        ("stitch", "attention", "--emit", "c", "--output", "{folder}/c"),
    ),
    "stitch, job": (
        DocumentKind.STITCH, 0,
        ("stitch", "logistic_regression", "--end-to-end", "--gpu", "--output", "{folder}/job"),
    ),
    "stitch --import-times": (
        DocumentKind.STITCH_TIMES, 0, ("stitch", "--import-times", "{times}"),
    ),
    "contract, not run": (DocumentKind.CONTRACTION, 0, ("contract", "MTTKRP", "--measure", "0")),
    "notebooks": (DocumentKind.NOTEBOOKS, 0, ("notebooks", "{folder}/course", "--force")),
    "doctor": (DocumentKind.DOCTOR, 0, ("doctor",)),
    "conform": (DocumentKind.CONFORMANCE, 0, ("conform", str(PRIMITIVES), *INTERPRETER)),
    "conform, failing": (DocumentKind.CONFORMANCE, 1, ("conform", "{vectors}", *INTERPRETER)),
    "error, hint": (DocumentKind.ERROR, 2, ("compile", "--model", "gnc")),
    "error, place": (DocumentKind.ERROR, 2, ("estimate", "{typo}")),
    "error, usage": (DocumentKind.ERROR, 2, ("simulate", "--capacity", "0")),
    "error, command": (DocumentKind.ERROR, 2, ("fuse",)),
    "error, file": (
        DocumentKind.ERROR, 2,
        ("simulate", "--graph", "none.json", "--tensors", "none.npz"),
    ),
    "error, machine": (DocumentKind.ERROR, 2, ("machine", "abacus")),
    "error, vectors": (DocumentKind.ERROR, 2, ("conform", "none.json")),
    "error, order": (DocumentKind.ERROR, 2, ("explore", "{program}", "--schedule", "{illegal}")),
    "error, strict": (
        DocumentKind.ERROR, 2,
        ("compile", *SMALL, "--export", "sam", "--output", "{folder}/g.gv", "--strict"),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files that the commands name."""
    folder = tmp_path_factory.mktemp("json")
    program = "program chain\nA: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\nz[i] = relu(y[i])\n"
    machine = print_machine(Machine.preset("hbm2")).replace('"hbm2"', '"mine"', 1)
    texts = {
        "program": ("p.loom", program),
        "typo": ("t.loom", "A: 4x4 csr\ny[i] = = A[i,j]"),
        "schedule": ("a.sched", "fuse T1..H; fuse T5..Y; parallel i by 2"),
        "illegal": ("b.sched", "fuse y..z; order y..z: j,i"),
        "machine": ("mine.toml", machine),
        "vectors": ("vectors.json", UNKNOWN),
        "times": ("times.json", json.dumps(result_of())),
    }
    made = {"folder": str(folder), "key": identity(1).key}
    with RunStore(folder / "runs.sqlite") as store:
        export_runs(store.whole(), folder / "runs.json")
    for name, (file, text) in texts.items():
        (folder / file).write_text(text)
        made[name] = str(folder / file)
    with np.load(TENSORS) as arrays:
        given = dict(arrays)
    expected = {
        "wrong": given["expected"] + 1,
        "shape": np.zeros((2, 2)),
        "infinite": np.full(given["expected"].shape, np.inf),
    }
    for name, array in expected.items():
        np.savez(folder / f"{name}.npz", **{**given, "expected": array})
        made[name] = str(folder / f"{name}.npz")
    return made


@pytest.fixture(scope="module", autouse=True)
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A store of runs for this module's commands, with one run."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUSELOOM_RUNS", str(folder / "runs.sqlite"))
        patch.setenv("FUSELOOM_TIMES", str(folder / "times.sqlite"))
        with RunStore() as store:
            store.put(identity(1), outcome(1), LABEL)
        yield


def strictly(text: str) -> Any:
    """JSON as other readers have it, without NaN and infinities."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def printed(
    arguments: tuple[str, ...], code: int, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> Any:
    assert main([*(a.format(**files) for a in arguments), "--json"]) == code
    text = capsys.readouterr().out
    assert text.count("\n") == 1
    return strictly(text)


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """Documents that cases have printed."""
    return {}


@pytest.mark.parametrize("case", CASES)
def test_what_is_printed_follows_the_schema(
    case: str,
    files: dict[str, str],
    known: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind, code, arguments = CASES[case]
    made = known[case] = printed(arguments, code, files, capsys)
    check_document(made, kind)
    if kind is DocumentKind.RUN:
        record = RunRecord.from_dict(made)
        assert record.to_dict() == made
        assert record.ok is (code == 0)


def test_warmup(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuseloom.dataflow.sim.compiled.warmup.warmup", lambda progress: None)
    made = printed(("warmup",), 0, {}, capsys)
    check_document(made, DocumentKind.WARMUP)


def test_a_wrong_program_run(
    files: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, shown in ((0.5, pytest.approx(0.5)), (float("inf"), None)):
        wrong_by(error, monkeypatch)
        made = printed(("simulate", *SMALL), 1, files, capsys)
        check_document(made, DocumentKind.RUN)
        assert made["check"]["ok"] is False
        assert made["check"]["max_rel_error"] == shown


def test_both_kinds_of_run_are_told_alike(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same names and types, for a program and for its graph from a file."""
    folder = Path(files["folder"]) / "alike"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    export = ("compile", *SMALL, "--data", "random", "--export", "tortilla")
    assert main([*export, "--output", str(folder / "g")]) == 0
    capsys.readouterr()
    options = ("--explain", "--trace", "--machine", "hbm2")
    ours = printed(("simulate", *SMALL, *options), 0, files, capsys)
    graph = ("simulate", "--tortilla", str(folder / "g"), *options)
    theirs = printed(graph, 0, files, capsys)
    assert ours.keys() == theirs.keys()
    (mine,), (imported,) = ours["regions"], theirs["regions"]
    assert {k: type(v) for k, v in mine.items()} == {k: type(v) for k, v in imported.items()}
    assert mine["path"].keys() == imported["path"].keys()
    assert mine["memory"].keys() == imported["memory"].keys()


def test_every_command_that_has_json_is_tested() -> None:
    with_json = {c.name for c in COMMANDS if c.name not in ("serve", "completion")}
    tested = {
        arguments[0] for kind, _, arguments in CASES.values() if kind is not DocumentKind.ERROR
    }
    assert with_json == tested | {"warmup"}
    assert {kind for kind, _, _ in CASES.values()} | {DocumentKind.WARMUP} == set(DocumentKind)


# Schemas refuse what is not right -------------------------------------------------------------

RICHEST = {
    DocumentKind.COMPILATION: "compile, data",
    DocumentKind.EXPORT: "export sam",
    DocumentKind.ESTIMATE: "estimate, --statistics",
    DocumentKind.RUN: "graph, everything",
    DocumentKind.ORDERS: "explore, --limit",
    DocumentKind.AUTOSCHEDULE: "autoschedule",
    DocumentKind.CODESIGN: "codesign",
    DocumentKind.WHY: "why",
    DocumentKind.RUNS: "runs show",
    DocumentKind.UPKEEP: "runs gc",
    DocumentKind.MODELS: "models, one",
    DocumentKind.MACHINE: "machine hbm2",
    DocumentKind.DOCTOR: "doctor",
    DocumentKind.CONFORMANCE: "conform, failing",
    DocumentKind.DATA: "data",
    DocumentKind.COMPARISON: "compare",
    DocumentKind.CONVERSIONS: "compare, conversions",
    DocumentKind.CONTRACTION: "contract, not run",
    DocumentKind.ACCESS: "access",
    DocumentKind.CALLS: "calls",
    DocumentKind.RTL: "rtl",
    DocumentKind.STITCH: "stitch, job",
    DocumentKind.STITCH_TIMES: "stitch --import-times",
    DocumentKind.ERROR: "error, place",
}


def objects(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all objects in a document; of a list, the first item stands for all."""
    if isinstance(part, dict):
        yield path
        for name, inner in part.items():
            yield from objects(inner, (*path, name))
    elif isinstance(part, list) and part:
        yield from objects(part[0], (*path, 0))


FREE = {
    "counts", "params", "shares", "statistics", "outputs", "not_implemented", "options", "defaults",
    "stored", "settings", "bounds", "extents", "intermediates", "loops", "modes", "recompute",
    "left_out", "functions", "refused", "actions",
}  # fmt: skip
"""Objects whose names are data."""


@pytest.mark.parametrize("kind", RICHEST)
def test_leaving_out_any_key_fails(
    kind: DocumentKind,
    files: dict[str, str],
    known: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = RICHEST[kind]
    _, code, arguments = CASES[case]
    made = known.get(case) or printed(arguments, code, files, capsys)
    valid = validator(kind)
    assert valid.is_valid(made)
    removed, seen = 0, set()
    for path in objects(made):
        kind_of = tuple("*" if isinstance(place, int) else place for place in path)
        if kind_of in seen:  # of objects in a list the first
            continue
        seen.add(kind_of)
        whole: Any = made
        for place in path:
            whole = whole[place]
        if path and (path[-1] in FREE or "record" in path):
            continue
        for name in [*whole, None]:
            changed = copy.deepcopy(made)
            inner: Any = changed
            for place in path:
                inner = inner[place]
            if name is None:
                inner["unheard of"] = 1
            else:
                del inner[name]
                removed += 1
            assert not valid.is_valid(changed), (path, name)
    assert removed >= 5
